# SPDX-License-Identifier: Apache-2.0
"""What fgcollect says when it is asked for something impossible.

Recordings here are asked for ten minutes. They end within the harness's deadline, which shows that
the mistake was found before anything was recorded.
"""

import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import time

from harness import collector, processes, settings
from harness.case import Case

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
          "--bounding-set=-all"]


class BadInput(Case):
    def record(self, *args, out="graph.svg", prefix=()):
        return collector.fgcollect("record", "-d", 600, "-o", self.directory / out,
                                   *self.place.options(), *args, prefix=prefix)

    def test_socket_directory_that_cannot_be_made(self):
        plain = self.directory / "file"
        plain.write_text("")
        for command in (["--watch"], ["record", "-d", "600", "-o", self.directory / "x.svg"]):
            finished = collector.fgcollect(*command, "--socket", plain / "agent.sock", "--map-dir",
                                           self.place.maps)
            self.assert_fails(finished, 1, plain, "not a directory", "--socket")

    def test_other_collector_is_named_by_its_pid(self):
        first = self.watch()
        second = collector.fgcollect("--watch", *self.place.options())
        self.assert_fails(second, 1, first.pid, self.place.socket)
        self.assertIsNone(first.code, first.text)
        self.assertEqual(first.list().code, 0)

    def test_socket_of_a_dead_collector_is_replaced(self):
        first = self.watch()
        first.child.send_signal(signal.SIGKILL)
        first.wait()
        self.assertTrue(self.place.socket.exists())
        jvm = self.container("KnownShare").wait_for_line("ready")
        self.watch().wait_for_jvm(jvm.pid)

    def test_peer_that_hangs_up_at_once_does_not_stop_the_collector(self):
        daemon = self.watch()
        for path, kind in ((self.place.socket, socket.SOCK_STREAM),
                           (self.place.control, socket.SOCK_SEQPACKET)):
            for greeting in (b"", bytes.fromhex("0053500000500000")):
                with socket.socket(socket.AF_UNIX, kind) as peer:
                    peer.connect(str(path))
                    peer.sendall(greeting)
        jvm = self.container("KnownShare").wait_for_line("ready")
        daemon.wait_for_jvm(jvm.pid)
        # Nor does it spin over the connections that are gone.
        before = processes.cpu_seconds(daemon.pid)
        time.sleep(4)
        self.assertLess(processes.cpu_seconds(daemon.pid) - before, 2)

    def test_no_permission_for_perf_events_names_the_remedy(self):
        paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
        if paranoid < 1:
            self.skipTest(f"perf_event_paranoid is {paranoid}: everybody may read perf events")
        # A copy that nobody may run, wherever the build folder is.
        program = self.directory / "fgcollect"
        program.write_bytes(settings.COLLECTOR.read_bytes())
        program.chmod(0o755)
        for path in (self.place.run, self.place.maps):
            os.chown(path, 65534, 65534)
        finished = processes.run([*NOBODY, program, "record", "-a", "-d", 600, "-o",
                                  self.place.maps / "x.svg", *self.place.options()])
        self.assert_fails(finished, 1, "perf_event_paranoid", "CAP_PERFMON")

    def test_pid_that_does_not_exist(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.assert_fails(self.record("-p", gone.pid), 1, gone.pid, "does not exist")

    def test_container_that_does_not_exist(self):
        self.assert_fails(self.record("--container", "feedfacefeed"), 1, "feedfacefeed")

    def test_duration_and_rate_of_0(self):
        for option in ("-d", "-F"):
            for value in ("0", "-1", "x", ""):
                finished = collector.fgcollect("record", option, value, "-o",
                                               self.directory / "x.svg", *self.place.options())
                self.assert_fails(finished, 2, option)

    def test_stack_size_and_unwind_that_cannot_be(self):
        for value in ("0", "1023", "1028", "65k", "x", ""):
            self.assert_fails(self.record("--stack-size", value), 2, "--stack-size", "64000")
        self.assert_fails(self.record("--unwind", "dwarf"), 2, "--unwind", "full", "fp")
        self.assert_fails(self.record("--unwind=fp", "--stack-size=8k"), 2, "--unwind=full")

    def test_unknown_option_command_and_event(self):
        self.assert_fails(self.record("--frobnicate"), 2, "frobnicate")
        self.assert_fails(self.record("4711"), 2, "4711", "-p PID")
        self.assert_fails(self.record("-F", "100001"), 2, "100001", "to 100000")
        self.assert_fails(collector.fgcollect("frobnicate"), 2, "frobnicate")
        finished = self.record("-e", "frobnicate")
        self.assertIn(finished.code, (1, 2), str(finished))
        self.assertIn("frobnicate", finished.text)

    def test_output_folder_that_does_not_exist_before_recording(self):
        self.container("KnownShare").wait_for_line("ready")
        self.assert_fails(self.record(out="nowhere/graph.svg"), 1, self.directory / "nowhere")

    def test_output_suffix_that_is_unknown(self):
        self.container("KnownShare").wait_for_line("ready")
        finished = self.record(out="graph.xyz")
        self.assertIn(finished.code, (1, 2), str(finished))
        for text in ("xyz", ".svg", ".folded"):
            self.assertIn(text, finished.text)

    def test_refused_recordings_leave_nothing(self):
        self.record(out="nowhere/graph.svg")
        self.record("-p", "1")
        self.assertEqual(list(self.place.run.iterdir()) + list(self.place.maps.iterdir()), [])

    def without(self, library):
        """The prefix of a command that runs where this library is an empty file."""
        where = next(line.split()[-1] for line in processes.run(
            ["/sbin/ldconfig", "-p"], check=True).out.splitlines()
            if line.split()[0] == library)
        return ["unshare", "--mount", "sh", "-c", 'mount --bind /dev/null "$1"; shift; exec "$@"',
                "sh", where]

    def test_libraries_that_are_missing_cost_what_needs_them(self):
        folded = self.directory / "one.folded"
        folded.write_text("main;work 1\n")
        rules, push = self.directory / "rules.yaml", ["--push", "otlp+http://127.0.0.1:4318"]
        rules.write_text("- action: drop\n")
        notes = processes.run(["readelf", "--string-dump=.note.dlopen", settings.COLLECTOR],
                              check=True).out
        for name, code, args in (
                ("libcurl", 2, push),
                ("libmicrohttpd", 1, ["--http", "127.0.0.1:0"]),
                ("libgnutls", 1, ["--http", "127.0.0.1:0"]), ("libsystemd", 1, []),
                ("libsqlite3", 1, ["--store", self.directory / "store"]),
                ("libnng", 1, ["--publish", f"ipc://{self.directory}/events"]),
                ("libyaml-0", 2, [f"--push-relabel={rules}", *push])):
            library = re.search(rf"{name}\.so\.\d+", notes).group()
            prefix = self.without(library)
            with self.subTest(library):
                started = [] if args else ["env", f"NOTIFY_SOCKET={self.directory}/notify"]
                refused = collector.fgcollect("--watch", *self.place.options(), *args,
                                              prefix=[*prefix, *started])
                said = [arg.rpartition("=")[2] for arg in args[:1]]
                self.assert_fails(refused, code, *said, library, "install")
                drawn = collector.fgcollect("render", folded, "-o", self.directory / "one.svg",
                                            prefix=prefix)
                self.assertEqual(drawn.code, 0, str(drawn))

    def test_top_without_ncurses_prints_what_its_screen_would_show(self):
        notes = processes.run(["readelf", "--string-dump=.note.dlopen", settings.COLLECTOR],
                              check=True).out
        library = re.search(r"libncursesw\.so\.\d+", notes).group()
        jvm = self.background(self.java("KnownShare", agent=f"socket={self.place.socket}"), "jvm")
        processes.wait_until(lambda: "ready" in jvm.text, lambda: jvm.text)
        top = self.background([*self.without(library), "script", "--quiet", "--return", "--command",
                               shlex.join(map(str, (settings.COLLECTOR, "top",
                                                    *self.place.options()))), "/dev/null"], "top")
        processes.wait_until(lambda: "KnownShare$Hot.run" in top.text, lambda: top.text)
        self.assertRegex(top.text, f"there is no screen: .*{library}.*: install this library")
        self.assertNotIn("\x1b[?1049h", top.text)

    def test_full_disk_for_maps_stops_neither_side(self):
        small = self.directory / "small"
        small.mkdir()
        processes.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], check=True)
        self.addCleanup(processes.run, ["umount", "-l", small])
        filler = os.open(small / "filler", os.O_CREAT | os.O_WRONLY)
        self.addCleanup(os.close, filler)
        with self.assertRaises(OSError):
            while True:
                os.write(filler, b"x" * 4096)
        self.place.maps = small
        daemon = self.watch()
        jvm = self.container("Mixed", "4")
        daemon.wait_for_jvm(jvm.pid)
        self.assertIn("share compress", jvm.wait_end())
        self.assertIsNone(daemon.code, daemon.text)
        self.assertIn(os.strerror(28), daemon.text)

