# SPDX-License-Identifier: Apache-2.0
"""A collector's stand-in and a JVM under the agent, for run_jvms.py."""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

PATIENCE_S = 60
OPTIONS = argparse.Namespace()  # agent, listener, stack_methods, jdk, java, classes


class Listener:
    """The collector's stand-in; its lines as lists of words."""

    def __init__(self, path):
        self.path = path
        self.lines = []
        self.changed = threading.Condition()
        self.process = subprocess.Popen([OPTIONS.listener, path, "tables"], stdout=subprocess.PIPE,
                                        text=True, errors="replace")
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        self.wait_for(lambda line: line[1] == "listening")

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n").split("\t"))
                self.changed.notify_all()

    def find(self, wanted):
        with self.changed:
            return [line for line in self.lines if wanted(line)]

    def wait_for(self, wanted, count=1):
        """The lines that are wanted, once there are that many."""
        end = time.monotonic() + PATIENCE_S
        seen = 0
        found = []
        with self.changed:
            while True:
                found += [line for line in self.lines[seen:] if wanted(line)]
                seen = len(self.lines)
                if len(found) >= count:
                    return found
                if time.monotonic() > end:
                    raise AssertionError(f"not seen within {PATIENCE_S} s; last lines: "
                                         f"{self.lines[-5:]}")
                self.changed.wait(1)

    def wait_for_kind(self, kind, count=1):
        return self.wait_for(lambda line: line[1] == kind, count)

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait()
        self.thread.join()
        self.process.stdout.close()


class Jvm:
    """A Subject under an agent, spoken to line by line."""

    def __init__(self, options, flags=(), env=None, main=("Subject",), prefix=()):
        agent = f"-agentpath:{OPTIONS.agent}" + (f"={options}" if options else "")
        command = [*prefix, f"{OPTIONS.jdk}/bin/java", agent, "-XX:+UseSerialGC", *flags, "-cp",
                   OPTIONS.classes, *main]
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True,
                                        env={**os.environ, **(env or {})})
        self.answer = self.process.stdout.readline().strip()

    def ask(self, line):
        self.tell(line)
        answer = self.process.stdout.readline()
        if not answer:
            raise AssertionError(f"no answer to {line!r}: {self.warnings()}")
        return answer.strip()

    def thread_names(self):
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task")
        return [(task / "comm").read_text().rstrip("\n") for task in tasks.iterdir()]

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self, line=None):
        """The exit status, after that last line or the end of the input."""
        if line:
            self.tell(line)
        self.process.stdin.close()
        status = self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        return status

    def warnings(self):
        self.errors.seek(0)
        return self.errors.read().splitlines()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.errors.close()
        self.process.stdin.close()
        self.process.stdout.close()


def is_hot(line):
    return line[1] == "method load" and line[8:10] == ["LSubject;", "hotMethod"]


class JvmTestCase(unittest.TestCase):
    """A socket's path for the test, and what runs on its two ends."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="fgagent-test-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.path = os.path.join(self.directory, "agent.sock")

    def listen(self):
        listener = Listener(self.path)
        self.addCleanup(listener.stop, signal.SIGKILL)
        return listener

    def start(self, extra="", **kwargs):
        jvm = Jvm(f"socket={self.path}{extra}", **kwargs)
        self.addCleanup(jvm.kill)
        self.assertEqual(jvm.answer, "ready")
        return jvm

    def finish(self, jvm, line=None, status=0, warnings=()):
        self.assertEqual(jvm.end(line), status)
        self.assertEqual(jvm.warnings(), list(warnings))
