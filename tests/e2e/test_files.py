# SPDX-License-Identifier: Apache-2.0
"""Samples in files that are gone by then are named. A large file makes nobody wait."""

import collections
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

from harness import collector, folded, library, processes, settings
from harness.case import Case
from harness.marks import counted, measured
from harness.side_by_side import SideBySide

SILENT_FILES = pathlib.Path(__file__).with_name("silent_files.py")
CALL_FILE = settings.BUILD / "tests" / "e2e" / "call_file"


class Files(Case):
    def start_recording(self, *args, seconds=4, hz=199):
        """Starts a recording, and returns when sampling is about to begin. Returns a function that
        waits for the recording's end."""
        out = self.directory / "recorded.folded"
        running = self.background([settings.COLLECTOR, "record", "-d", seconds, "-F", hz, *args,
                                   "-o", out, *self.place.options()], "record")

        def end():
            finished = running.wait()
            self.assertEqual(finished.code, 0, str(finished))
            return collector.Recording(finished, out)
        return end

    def call_file(self, path, mapped, *prefix):
        if not library.can_run():
            self.skipTest("the library is machine code of x86_64")
        program = self.background([*prefix, CALL_FILE, path, library.TEXT_OFFSET, mapped],
                                  f"call_file-{path.name}")
        processes.wait_until(lambda: "ready" in program.text, lambda: program.text)
        return program

    def answer_seconds(self, daemon):
        """The time that the daemon needs to answer an empty request."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.connect(str(daemon.place.control))
            began = time.monotonic()
            client.send(b"{}")
            client.recv(4096)
            return time.monotonic() - began

    def assert_named(self, stacks, least, percent=99.9):
        unknown = collections.Counter()
        for frames, count in stacks.stacks:
            # What is not mapped is of no file: a frame that the kernel's walk made up.
            reason = [frame for frame in frames
                      if frame.startswith("[unknown") and frame != "[unknown: not mapped]"]
            if reason:
                unknown[reason[-1]] += count
        print(f"{stacks.samples} samples, {unknown.total()} with a frame that is not named")
        self.assertGreater(stacks.samples, least)
        self.assertGreaterEqual(100 * (1 - unknown.total() / stacks.samples), percent,
                                str(unknown.most_common(9)))

    @counted
    def test_a_container_killed_right_after_the_recording_is_named(self):
        jvm = self.container("Mixed").wait_for_line("ready")
        pid = jvm.pid
        daemon = self.watch()
        daemon.wait_for_jvm(pid)
        # The daemon has read no file yet: tables are made for those who record.
        # Of more than 1,000 samples one may be unnamed.
        end = self.start_recording(seconds=4, hz=399)
        sides = SideBySide(self, 4, hz=399)
        time.sleep(4.1)
        os.kill(pid, signal.SIGKILL)
        jvm.rm()
        recording = end()
        print(recording.quality.line)
        stacks = recording.folded.of_root("Mixed")
        self.assert_named(stacks, 20)
        sides.compare("container that was killed", stacks, pid)
        for name in ("libjvm.so", "libz.so"):
            self.assertEqual(0, stacks.count(lambda frame, n=name: frame.startswith(f"[unknown: {n}")),
                             str(recording))
        files = json.loads(daemon.list("--json").out)["collector"]["files"]
        print(files)
        self.assertGreater(files["opened"], 5)

    @counted
    def test_a_library_deleted_while_it_runs_is_named(self):
        path = self.directory / "libdeleted.so"
        program = self.call_file(path, library.write(path))
        end = self.start_recording("-a", "--show-pid", seconds=1.5, hz=399)
        sides = SideBySide(self, 1.5, hz=399)
        path.unlink()
        stacks = end().folded.of_root(f"call_file-{program.pid}")
        self.assert_named(stacks, 20)
        sides.compare("library that was deleted", stacks, program.pid)
        self.assertGreater(stacks.with_method("function_00000000"), stacks.samples * 0.9)

    @counted
    def test_a_library_replaced_while_it_runs_keeps_its_own_names(self):
        path, other = self.directory / "libreplaced.so", self.directory / "libother.so"
        mapped = library.write(path)
        library.write(other, name_bytes=30)
        program = self.call_file(path, mapped)
        other.rename(path)
        stacks = self.start_recording("-a", "--show-pid", seconds=1.5, hz=399)().folded.of_root(
            f"call_file-{program.pid}")
        self.assert_named(stacks, 20)
        self.assertGreater(stacks.with_method("function_00000000"), stacks.samples * 0.9)

    @counted
    def test_a_program_that_ends_at_once_is_named(self):
        """Each program lives for a tenth of a second, and is gone before its samples are named."""
        path = self.directory / "libbrief.so"
        mapped = library.write(path)
        if not library.can_run():
            self.skipTest("the library is machine code of x86_64")
        end = self.start_recording("-a", seconds=6)
        until = time.monotonic() + 8
        while time.monotonic() < until:
            processes.run(["timeout", "-s", "KILL", "0.1", CALL_FILE, path, library.TEXT_OFFSET,
                           mapped])
        recording = end()
        stacks = recording.folded.of_root("call_file")
        self.assert_named(stacks, 20, percent=99.0)

    def silent_files(self, path, count):
        """A directory where the file lies so many times, and a function that makes it silent."""
        directory = pathlib.Path(tempfile.mkdtemp(prefix="fgsilent-"))
        directory.chmod(0o755)
        self.addCleanup(directory.rmdir)
        self.addCleanup(subprocess.run, ["umount", "--lazy", directory], check=True)
        program = self.silent_program([sys.executable, SILENT_FILES, directory, path, count],
                                      "silent")
        processes.wait_until(lambda: "ready" in program.text, lambda: program.text)

        def fall_silent():
            os.kill(program.pid, signal.SIGUSR1)
            processes.wait_until(lambda: "silent" in program.text, lambda: program.text)
        return directory, program, fall_silent

    @counted
    def test_libraries_that_never_answer_hold_nobody_up(self):
        """There are more of them than threads may wait for one user."""
        path = self.directory / "lib.so"
        mapped = library.write(path)
        directory, _, fall_silent = self.silent_files(path, 6)
        for i in range(6):
            self.call_file(directory / f"file{i}", mapped,
                           "nice", "setpriv", "--reuid", "65534", "--regid", "65534",
                           "--clear-groups")
        fall_silent()
        daemon = self.watch()
        victims = []
        for i in range(4):
            own = self.directory / f"lib{i}.so"
            victims.append(self.call_file(own, library.write(own)))
        recording = self.start_recording("-a", "--show-pid", seconds=8)()
        for victim in victims:
            self.assert_named(recording.folded.of_root(f"call_file-{victim.pid}"), 20, percent=99)
        counters = daemon.list_json()["collector"]
        stuck = sum(counters[f"{kind}_tables"]["stuck"] for kind in ("symbol", "unwind"))
        self.assertGreater(stuck, 0)
        self.assertLessEqual(stuck, 4)      # of one user, wherever the machine itself may be
        self.assertEqual(daemon.stop().code, 0)

    @measured
    def test_a_library_of_500_mb_stalls_nothing(self):
        path = self.directory / "liblarge.so"
        began = time.monotonic()
        mapped = library.write(path, count=1_200_000, name_bytes=159, total_bytes=520 << 20)
        print(f"{path.stat().st_size >> 20} MiB, made in {time.monotonic() - began:.1f} s")
        jvm = self.container("Churn", "60").wait_for_line("ready")
        daemon = self.watch("--symbol-cache", "2G")
        daemon.wait_for_jvm(jvm.pid)
        program = self.call_file(path, mapped)

        def counters():
            return json.loads(daemon.list("--json").out)["collector"]
        end = self.start_recording("-a", "--show-pid", seconds=15, hz=99)
        written, answers, loaded = [], [], lambda: counters()["symbol_tables"]["bytes"] > 200 << 20
        until = time.monotonic() + settings.DEADLINE_SEC
        while time.monotonic() < until and not (len(written) % 20 == 19 and loaded()):
            change = daemon.place.map_file(jvm.pid).stat().st_mtime_ns
            if not written or change != written[-1]:
                written.append(change)
            answers.append(self.answer_seconds(daemon))
            time.sleep(0.01)
        recording = end()
        longest = max(b - a for a, b in zip(written, written[1:])) / 1e9
        print(recording.quality.line)
        print(f"the map was written {len(written)} times, at most {longest:.3f} s apart")
        print({key: counters()[key] for key in ("symbol_tables", "recordings")})
        self.assertEqual(recording.quality.lost, 0, str(recording))
        print(f"the daemon answered {len(answers)} times, at most after {max(answers):.3f} s")
        # What does the one goes round in the same loop as the other; how often a JVM has something
        # new for its map is its own affair.
        self.assertLess(max(answers), 1.0)
        self.assertLess(longest, 5.0)
        self.assertTrue(loaded())
        large = recording.folded.of_root(f"call_file-{program.pid}")
        self.assertGreater(large.count(lambda name: name.startswith("function_00000000")), 10,
                           large.top(3))
        # Who has nothing to do with it does not wait for it in vain.
        others = recording.folded.of_root(f"Churn-{jvm.pid}")
        self.assert_named(others, 20, percent=99.0)
