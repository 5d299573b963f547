#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the agent in a real JVM and asserts what arrives, and that the JVM does not mind.

usage: run_jvms.py --agent libfgagent.so --listener PROGRAM --stack-methods PROGRAM --jdk HOME
                   --confined PROGRAM [--javac PROGRAM] [--java DIR] [test ...]

A JDK without javac needs another one's, of the same version or later.
"""

import argparse
import contextlib
import os
import pathlib
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

from jvm_code import AgentTellsCode
from jvm_frames import AgentTellsFrames
from jvm_harness import OPTIONS, PATIENCE_S, Jvm, JvmTestCase, is_hot
from jvm_interpreted import InterpretedMethodsAreNamed

__all__ = ["AgentInJvm", "AgentTellsCode", "AgentTellsFrames", "InterpretedMethodsAreNamed"]


class AgentInJvm(JvmTestCase):
    def test_the_whole_story_is_told(self):
        listener = self.listen()
        jvm = self.start(",label=team:red", env={"POD_NAME": "pod-7"})
        listener.wait_for_kind("resync end")
        jvm.ask("hot")
        listener.wait_for(is_hot)
        pid = jvm.process.pid
        self.finish(jvm)
        listener.wait_for_kind("bye")
        records = listener.find(lambda line: line[1] not in
                                ("listening", "connected", "disconnected", "message"))
        self.assertEqual(records[0][1], "hello")
        self.assertEqual(records[-1][1], "bye")
        self.assertEqual(listener.find(lambda line: line[1] in ("broken", "loss")), [])
        (end,) = listener.find(lambda line: line[1] == "resync end")
        self.assertEqual(end[4:], ["1", "1"])
        self.check_hello(records[0], pid)
        self.check_times(records)
        self.check_load(listener.find(is_hot)[0])
        stubs = listener.find(lambda line: line[1] == "stub")
        self.assertGreater(len(stubs), 200)
        self.assertTrue(any(line[-1] == "Interpreter" for line in stubs))

    def check_hello(self, line, pid):
        words = dict(word.split("=", 1) for word in line[3:])
        self.assertEqual(words["pid"], str(pid))
        self.assertEqual(words["flags"], "4")
        self.assertEqual(words["label.team"], "red")
        self.assertEqual(words["env.POD_NAME"], "pod-7")
        self.assertEqual(words["host.name"], socket.gethostname())
        self.assertIn("-XX:+UseSerialGC", words["command"])
        self.assertEqual(words["java.command"], "Subject")
        self.assertTrue(words["jvm.version"])
        for name in ("CodeBlob::_frame_size", "CodeCache::_low_bound", "CodeHeap::_segmap",
                     "Method::_constMethod", "sizeof(ConstMethod)", "Symbol::_length",
                     "OSThread::_thread_id", "StubRoutines::_call_stub_return_address",
                     "constant frame::entry_frame_call_wrapper_offset"):
            self.assertIn(name, words)

    def check_times(self, records):
        times = [int(line[3]) for line in records
                 if line[1] in ("method load", "method unload", "stub")]
        self.assertEqual(times, sorted(times))

    def check_load(self, line):
        self.assertEqual(line[10:12], ["(J)J", "Subject.java"])
        self.assertGreater(int(line[4], 16), 0x1000)
        self.assertGreater(int(line[5], 16), 16)
        self.assertIn(line[6], ("1", "2", "3", "4"))
        self.assertIn(line[7], ("1", "3"))

    def test_dropped_classes_are_unloaded(self):
        listener = self.listen()
        jvm = self.start()
        listener.wait_for_kind("resync end")
        jvm.ask("churn 60")
        jvm.ask("churn 1")
        listener.wait_for_kind("method unload", 20)
        self.finish(jvm)
        listener.wait_for_kind("bye")
        live = {}
        for line in listener.find(lambda line: line[1] in ("method load", "method unload")):
            if line[1] == "method load":
                live[line[4]] = line[9]
            else:
                self.assertIn(line[4], live)
                del live[line[4]]
        loads = listener.find(lambda line: line[1] == "method load" and line[9] == "churnedMethod")
        self.assertGreater(len(loads), 20)
        self.assertLess(list(live.values()).count("churnedMethod"), len(loads))

    def test_exit_statuses_are_the_jvms_own(self):
        listener = self.listen()
        for count, (line, status) in enumerate((("exit 0", 0), ("exit 3", 3), ("halt 4", 4)), 1):
            jvm = self.start()
            listener.wait_for_kind("hello", count)
            self.finish(jvm, line, status)
            listener.wait_for_kind("bye", count)

    def test_no_socket_is_no_trouble(self):
        jvm = self.start()
        jvm.ask("hot")
        self.finish(jvm, "exit 3", 3)

    def test_a_late_collector_learns_everything(self):
        jvm = self.start()
        jvm.ask("hot")
        listener = self.listen()
        listener.wait_for_kind("resync end")
        (hot,) = listener.find(is_hot)[-1:]
        self.assertEqual(hot[2], "1")
        self.finish(jvm)

    def test_a_restarted_collector_learns_everything(self):
        first = self.listen()
        jvm = self.start()
        first.wait_for_kind("resync end")
        jvm.ask("threads 3 more-than-fifteen-bytes-")
        self.check_thread_names(first, jvm, "more-than-fifteen-bytes-")
        first.stop(signal.SIGKILL)
        jvm.ask("hot")
        os.unlink(self.path)
        second = self.listen()
        (end,) = second.wait_for_kind("resync end")
        self.assertEqual(end[5], "1")
        self.assertTrue(second.find(is_hot))
        self.check_thread_names(second, jvm, "more-than-fifteen-bytes-")
        self.finish(jvm)
        second.wait_for_kind("bye")

    def listen_raw(self, answer):
        """A socket that answers each connection with bytes, or not at all if answer is None."""
        server = socket.socket(socket.AF_UNIX)
        server.bind(self.path)
        server.listen(1)
        dialled = threading.Semaphore(0)

        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    dialled.release()
                    connection.sendall(answer)
                    while connection.recv(1 << 16):
                        pass

        if answer is not None:
            threading.Thread(target=serve, daemon=True).start()

        def stop():
            server.shutdown(socket.SHUT_RDWR)
            server.close()
        self.addCleanup(stop)
        return dialled

    def test_a_stranger_on_the_socket_is_no_trouble(self):
        dialled = self.listen_raw(b"220 smtp.example.org ready\r\n")
        jvm = self.start()
        for _ in range(3):
            self.assertTrue(dialled.acquire(timeout=PATIENCE_S))
        jvm.ask("hot")
        self.finish(jvm, "exit 3", 3)

    def test_a_socket_that_never_accepts_is_no_trouble(self):
        self.listen_raw(None)
        jvm = self.start()
        jvm.ask("hot")
        self.finish(jvm, "exit 3", 3)

    def test_an_unknown_option_is_one_line(self):
        jvm = self.start(",colour=red")
        self.finish(jvm, warnings=['fgagent: -agentpath: unknown option "colour" is ignored'])

    def test_the_environment_wins(self):
        listener = self.listen()
        jvm = Jvm("socket=/nonexistent/x,buffer=x", env={
            "FGAGENT_OPTS": f"socket={self.path},buffer=32k"})
        self.addCleanup(jvm.kill)
        (hello,) = listener.wait_for_kind("hello")
        self.assertIn("buffer=32768", hello)
        self.finish(jvm, warnings=["fgagent: -agentpath: bad value for buffer: expected 16k to 16m"])

    def test_off_is_off(self):
        listener = self.listen()
        jvm = self.start(env={"FGAGENT_OPTS": "off"})
        self.assertEqual(jvm.ask("flag PreserveFramePointer"), "false DEFAULT")
        self.assertNotIn("fgagent", jvm.thread_names())
        self.finish(jvm)
        self.assertEqual(listener.find(lambda line: line[1] == "hello"), [])

    def check_frame_pointer(self, extra, flags, answer, hello_flags):
        listener = self.listen()
        jvm = self.start(extra, flags=flags)
        self.assertEqual(jvm.ask("flag PreserveFramePointer"), answer)
        (hello,) = listener.wait_for_kind("hello")
        self.assertIn(f"flags={hello_flags}", hello)
        self.finish(jvm)
        listener.stop()
        pathlib.Path(self.path).unlink(missing_ok=True)

    def test_frame_pointers_are_switched_on_if_asked_unless_the_user_objects(self):
        check = self.check_frame_pointer
        check("", (), "false DEFAULT", 4)
        check("", ("-XX:+PreserveFramePointer",), "true VM_CREATION", 6)
        check(",framepointer=auto", (), "true ERGONOMIC", 5)
        check(",framepointer=auto", ("-XX:-PreserveFramePointer",), "false VM_CREATION", 4)
        check(",framepointer=auto", ("-XX:+PreserveFramePointer",), "true VM_CREATION", 6)
        check(",framepointer=on", ("-XX:-PreserveFramePointer",), "true ERGONOMIC", 5)

    def read_hot_code(self, extra):
        """The first bytes of each compiled hotMethod."""
        listener = self.listen()
        jvm = self.start(extra)
        jvm.ask("hot")
        loads = listener.wait_for(is_hot)
        with open(f"/proc/{jvm.process.pid}/mem", "rb", buffering=0) as memory:
            code = [os.pread(memory.fileno(), 64, int(line[4], 16)) for line in loads]
        self.finish(jvm)
        listener.stop()
        pathlib.Path(self.path).unlink(missing_ok=True)
        return code

    @unittest.skipUnless(platform.machine() == "x86_64", "knows the bytes of x86_64 only")
    def test_compiled_code_keeps_frame_pointers(self):
        # After "push rbp" with C1, after "sub rsp, N; mov [rsp+N-8], rbp" with C2.
        prologue = b"\x48\x8b\xec"  # mov rbp, rsp
        self.assertTrue(all(prologue in code
                            for code in self.read_hot_code(",framepointer=auto")))
        self.assertFalse(any(prologue in code
                             for code in self.read_hot_code("")))

    def test_checked_jni_has_nothing_to_say(self):
        listener = self.listen()
        jvm = self.start(flags=("-Xcheck:jni",))
        jvm.ask("threads 3 more-than-fifteen-bytes-")
        self.check_thread_names(listener, jvm, "more-than-fifteen-bytes-")
        self.finish(jvm)

    def test_the_agent_is_one_thread(self):
        listener = self.listen()
        jvm = self.start()
        listener.wait_for_kind("resync end")
        self.assertEqual(jvm.thread_names().count("fgagent"), 1)
        self.finish(jvm)

    def check_thread_names(self, listener, jvm, prefix):
        def is_one(line):
            return line[1] == "thread" and line[4].startswith(prefix)
        lines = listener.wait_for(is_one, 3)
        self.assertEqual(sorted(line[4] for line in lines), [prefix + n for n in "012"])
        for line in lines:
            comm = pathlib.Path(f"/proc/{jvm.process.pid}/task/{line[3]}/comm").read_text()
            self.assertEqual(len(comm), 16)
            self.assertEqual(comm[:7], prefix[:7])

    def test_long_thread_names_are_told_in_full(self):
        jvm = self.start()
        jvm.ask("threads 3 before-the-collector-came-")
        jvm.ask("threads 3 short-")
        listener = self.listen()
        self.check_thread_names(listener, jvm, "before-the-collector-came-")
        jvm.ask("threads 3 after-the-collector-came-")
        self.check_thread_names(listener, jvm, "after-the-collector-came-")
        self.finish(jvm)
        listener.wait_for_kind("bye")
        names = [line[4] for line in listener.find(lambda line: line[1] == "thread")]
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(all(len(name) > 15 for name in names), names)

    def test_thread_names_can_be_switched_off(self):
        listener = self.listen()
        jvm = self.start(",threads=off")
        jvm.ask("threads 3 a-name-that-is-too-long-")
        listener.wait_for_kind("resync end")
        self.finish(jvm)
        listener.wait_for_kind("bye")
        self.assertEqual(listener.find(lambda line: line[1] == "thread"), [])

    def check_taken(self, what, options, listener):
        """Descriptors are closed under the agent, and become what the program opens."""
        jvm = self.start(options, flags=("--add-opens=java.base/java.io=ALL-UNNAMED",))
        listener.wait_for_kind("resync end")
        for count in (2, 3):
            self.assertEqual(jvm.ask(f"take {what}"), "ok")
            for _ in range(3):
                jvm.ask("churn 5")
                jvm.ask("threads 1 short-")
                self.assertEqual(jvm.ask("taken"), "0 bytes, 0 broken")
            listener.wait_for_kind("resync end", count)
            jvm.ask("churn 5")
            self.assertEqual(jvm.ask("taken"), "0 bytes, 0 broken")
        hellos = listener.find(lambda line: line[1] == "hello")
        self.assertLessEqual(len(hellos), 4)
        self.finish(jvm)
        listener.wait_for_kind("bye")
        self.assertEqual(listener.find(lambda line: line[1] == "broken"), [])

    def test_files_of_a_program_that_closed_the_agents_are_left_alone(self):
        self.check_taken("files", "", self.listen())

    def test_sockets_of_a_program_that_closed_the_agents_are_left_alone(self):
        self.check_taken("sockets", "", self.listen())

    def test_calls_that_hotspot_does_not_make_are_not_made(self):
        """A seccomp profile ends whoever makes one of them."""
        listener = self.listen()
        jvm = self.start(prefix=(OPTIONS.confined, "kill:process_vm_readv,socketpair,poll,ppoll,"
                                                   "sendmsg,memfd_create"))
        listener.wait_for_kind("resync end")
        jvm.ask("threads 3 more-than-fifteen-bytes-")
        self.check_thread_names(listener, jvm, "more-than-fifteen-bytes-")
        jvm.ask("churn 20")
        self.finish(jvm, "exit 3", 3)
        listener.wait_for_kind("bye")

    def test_few_descriptors_are_the_jvms_own(self):
        for limit in range(4, 12):
            statuses = []
            for agent in ([], [f"-agentpath:{OPTIONS.agent}=socket={self.path}"]):
                command = [f"{OPTIONS.jdk}/bin/java", *agent, "-XX:+UseSerialGC", "-cp",
                           OPTIONS.classes, "Subject"]
                done = subprocess.run(["prlimit", f"--nofile={limit}:{limit}", *command],
                                      input="exit 5\n", text=True, capture_output=True)
                statuses.append(done.returncode)
            if statuses[0] == 5:
                self.assertEqual(statuses[1], 5, f"with {limit} descriptors: {done}")
        self.assertEqual(statuses, [5, 5])

    def test_agents_of_two_files_are_one(self):
        other = os.path.join(self.directory, "other.so")
        shutil.copy(OPTIONS.agent, other)
        listener = self.listen()
        jvm = self.start(flags=(f"-agentpath:{other}=socket={self.path}",))
        listener.wait_for_kind("resync end")
        jvm.ask("hot")
        listener.wait_for(is_hot)
        self.assertEqual(jvm.thread_names().count("fgagent"), 1)
        self.finish(jvm, warnings=["fgagent: given twice: the second one is ignored"])
        listener.wait_for_kind("bye")
        self.assertEqual(len(listener.find(lambda line: line[1] == "hello")), 1)

    def test_a_killed_jvm_is_a_closed_connection(self):
        listener = self.listen()
        jvm = self.start()
        listener.wait_for_kind("resync end")
        jvm.process.kill()
        jvm.process.wait()
        listener.wait_for_kind("disconnected")
        self.assertEqual(listener.find(lambda line: line[1] == "bye"), [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", required=True)
    parser.add_argument("--listener", required=True)
    parser.add_argument("--stack-methods", required=True)
    parser.add_argument("--confined", required=True)
    parser.add_argument("--jdk", required=True)
    parser.add_argument("--javac")
    parser.add_argument("--java", default=os.path.join(os.path.dirname(__file__), "java"))
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    OPTIONS.classes = tempfile.mkdtemp(prefix="fgagent-classes-")
    for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "FGAGENT_OPTS"):
        os.environ.pop(name, None)
    try:
        compiler = ([OPTIONS.javac, "--release", "11", "-Xlint:-options"] if OPTIONS.javac
                    else [f"{OPTIONS.jdk}/bin/javac"])
        subprocess.run([*compiler, "-encoding", "UTF-8", "-d", OPTIONS.classes,
                        os.path.join(OPTIONS.java, "Nest.java"),
                        os.path.join(OPTIONS.java, "Subject.java"),
                        os.path.join(OPTIONS.java, "Taken.java")], check=True)
        program = unittest.main(argv=[sys.argv[0], *rest], exit=False)
        return 0 if program.result.wasSuccessful() else 1
    finally:
        shutil.rmtree(OPTIONS.classes)


if __name__ == "__main__":
    sys.exit(main())
