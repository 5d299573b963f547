# SPDX-License-Identifier: Apache-2.0
"""The commands record, list and --watch, used as users type them."""

import json
import re
import signal
import stat
import xml.etree.ElementTree

from harness import collector, processes, settings
from harness.case import Case


class Commands(Case):
    def test_record_alone_leaves_a_graph_and_no_socket(self):
        self.container("KnownShare").wait_for_line("ready")
        svg, text = self.directory / "graph.svg", self.directory / "graph.folded"
        finished = collector.fgcollect("record", "-d", 4, "-o", svg, "-o", text, "--dump",
                                       "events,records,stacks,frames", *self.place.options())
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("KnownShare$Hot.run", text.read_text())
        for line in (r"event +\S+ \d+ load .*LKnownShare\$Hot;",
                     r"record \S+ \d+/\d+ cpu \d+ sample cpu",
                     r"stack +\S+ \d+/\d+ \d+ frames, whole", r"frames \S+ .*KnownShare\$Hot\.run"):
            self.assertRegex(finished.err, rf"(?m)^{line}")
        self.assertIn("KnownShare$Hot.run", svg.read_text())
        self.assertTrue(xml.etree.ElementTree.parse(svg).getroot().tag.endswith("svg"))
        self.assertEqual([path.name for path in self.place.run.iterdir()], [])

    def test_record_uses_the_running_daemon(self):
        daemon = self.watch()
        jvm = self.container("KnownShare").wait_for_line("ready")
        daemon.wait_for_jvm(jvm.pid)
        for _ in range(2):
            recording = collector.record(self.place, seconds=3)
            self.assertIn("KnownShare", recording.folded.roots(), str(recording))
        finished = collector.fgcollect("record", "-d", 1, "--dump", "frames", *self.place.options())
        self.assert_fails(finished, 1, "give --dump to fgcollect --watch")
        self.assertIsNone(daemon.code, daemon.text)
        self.assertIsNotNone(daemon.jvm(jvm.pid))

    def test_ctrl_c_keeps_what_was_recorded(self):
        self.container("KnownShare").wait_for_line("ready")
        out = self.directory / "cut.folded"
        recorder = self.background(
            [collector.settings.COLLECTOR, "record", "-d", "600", "-o", out,
             *self.place.options()], "record")
        processes.wait_until(lambda: list(self.place.maps.iterdir()), "an agent has connected")
        try:
            recorder.child.wait(4)
        except processes.subprocess.TimeoutExpired:
            pass
        finished = recorder.stop(signal.SIGINT)
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("KnownShare$Hot.run", out.read_text(), str(finished))
        self.assertIn("quality:", finished.text)

    def test_walking_along_frame_pointers_says_which_jvms_have_none(self):
        for given, has_any in (("", False), ("framepointer=auto", True)):
            with self.subTest(given or "as it is"):
                jvm = self.container("KnownShare", env={"FGAGENT_OPTS": given}).wait_for_line("ready")
                recording = collector.record(self.place, "-p", jvm.pid, "--unwind=fp", seconds=3)
                said = f"PID {jvm.pid} first, were started without frame pointers"
                self.assertEqual(said in recording.finished.text, not has_any, str(recording))
                jvm.rm()

    def test_what_threads_begin_with_is_a_box_for_their_pool(self):
        self.container("Threads", "8").wait_for_line("ready")
        recording, drawing = self.directory / "a.fgrec", self.directory / "a.svg"
        recorded = collector.fgcollect("record", "-d", 3, "-o", drawing, "-o", recording,
                                       *self.place.options(), timeout=settings.DEADLINE_SEC)
        self.assertEqual(recorded.code, 0, str(recorded))

        def drawn():
            return set(re.findall(r"<title>(.*?) \(", drawing.read_text()))

        def frames(*command):
            finished = collector.fgcollect(*command, "-o", drawing)
            self.assertEqual(finished.code, 0, str(finished))
            return drawn()

        workers, start = {"worker-*"}, {"start_thread", "call_stub"}
        self.assertEqual({name for name in drawn() if name.startswith("worker")}, workers)
        for command in (("render", recording), ("diff", recording, recording)):
            with self.subTest(command[0]):
                shown = frames(*command)
                self.assertEqual((shown & workers, shown & {"call_stub"}), (workers, set()))
                shown = frames(*command, "--thread-starts")
                self.assertEqual((shown & workers, shown & start), (set(), start))

    def test_threads_and_pids_can_be_told_apart(self):
        jvm = self.container("KnownShare").wait_for_line("ready")
        recording = collector.record(self.place, "--threads", "--show-pid", seconds=3)
        texts = [";".join(frames) for frames, _ in recording.folded.stacks]
        self.assertTrue(any(str(jvm.pid) in text for text in texts), str(recording))
        self.assertTrue(any("java" in frames[1] or "main" in frames[1]
                            for frames, _ in recording.folded.stacks if len(frames) > 1),
                        str(recording))

    def test_list_names_pid_container_and_program(self):
        daemon = self.watch()
        jvm = self.container("KnownShare").wait_for_line("ready")
        pid = jvm.pid
        row = daemon.wait_for_jvm(pid)
        self.assertEqual((row["pid"], row["inner_pid"], row["container"]), (pid, 1, jvm.id))
        self.assertIn("KnownShare", row["command"])
        self.assertGreater(row["code_ranges"], 100)
        text = daemon.list().out
        for part in (str(pid), jvm.id[:12], "KnownShare", "current"):
            self.assertIn(part, text)
        jvm.rm()
        processes.wait_until(
            lambda: (daemon.jvm(pid) or {"state": "ended"})["state"] == "ended",
            lambda: f"the JVM has ended:\n{daemon.list('--json').out}")

    def test_list_alone_waits_for_agents_and_leaves_no_socket(self):
        finished = collector.fgcollect("list", *self.place.options())
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn(str(self.place.socket), finished.text)
        jvm = self.container("KnownShare").wait_for_line("ready")
        finished = collector.fgcollect("list", "--json", *self.place.options())
        self.assertEqual([row["pid"] for row in json.loads(finished.out)["jvms"]], [jvm.pid])
        self.assertEqual([path.name for path in self.place.run.iterdir()], [])

    def test_sockets_have_the_modes_that_are_promised(self):
        self.place.run.rmdir()
        self.watch()
        self.assertEqual([path.name for path in self.place.run.iterdir()], ["agent.sock"])
        modes = [stat.S_IMODE(path.stat().st_mode)
                 for path in (self.place.run, self.place.socket, self.place.control)]
        self.assertEqual([oct(mode) for mode in modes], ["0o755", "0o666", "0o600"])

    def test_stopped_daemon_leaves_no_socket_and_exits_0(self):
        daemon = self.watch()
        finished = daemon.stop(signal.SIGTERM)
        self.assertEqual(finished.code, 0, str(finished))
        self.assertEqual([path.name for path in self.place.run.iterdir()], [])
        self.assertFalse(self.place.control.exists())

    def test_version_and_help(self):
        version = collector.fgcollect("--version")
        self.assertEqual(version.code, 0)
        self.assertRegex(version.out, r"fgcollect \d+\.\d+")
        usage = collector.fgcollect("--help")
        self.assertEqual(usage.code, 0)
        for word in ("--watch", "record", "list", "--socket", "-agentpath"):
            self.assertIn(word, usage.out)

