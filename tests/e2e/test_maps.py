# SPDX-License-Identifier: Apache-2.0
"""perf-<pid>.map is complete, well-formed and safe, even after the collector was killed."""

import os
import signal
import stat
import time

from harness import collector, processes, settings
from harness.case import Case
from harness.perf_map import EXCUSED, PerfMap


class Maps(Case):
    def missing(self, jvm, daemon, pid):
        """Methods that existed all the time while fgcollect's map was read, and are not in that
        map."""
        before = PerfMap(jvm.jcmd_map())
        ours = PerfMap(daemon.read_map(pid))
        after = PerfMap(jvm.jcmd_map()).ranges()
        known = ours.ranges()
        self.assertEqual(ours.overlaps(), [])
        self.assertGreater(len(before.methods()), 50)
        alive = [entry for entry in before.entries if entry[:2] in after]
        missing = [entry for entry in alive if entry[:2] not in known]
        self.compared = f"{len(alive)} entries alive in the JVM's map, {len(ours.entries)} in ours"
        methods = {entry[:2] for entry in before.methods()}
        return ([entry for entry in missing if entry[:2] in methods],
                [entry for entry in missing if entry[:2] not in methods])

    def restart(self, jdk):
        # On a busy machine the JVM may be idle before it is looked at: then once more, longer.
        for seconds in (14, 100):
            if self.restarts_while_it_compiles(jdk, seconds):
                return
        self.fail("the JVM should still have been compiling")

    def restarts_while_it_compiles(self, jdk, seconds):
        daemon = self.watch()
        jvm = self.container("Churn", seconds, "20", "600", jdk=jdk).wait_for_line("ready")
        pid = jvm.pid
        daemon.wait_for_jvm(pid)
        processes.wait_until(lambda: "Churn" in daemon.read_map(pid), "Churn in our map")
        daemon.child.send_signal(signal.SIGKILL)
        daemon.wait()
        # The JVM goes on compiling and dropping code that nobody hears of.
        time.sleep(2)
        daemon = self.watch()
        daemon.wait_for_jvm(pid)

        # While it compiles a few of the newest may be under way; they must come in at once.
        processes.wait_until(lambda: not self.missing(jvm, daemon, pid)[0],
                             lambda: f"no method missing: {self.missing(jvm, daemon, pid)[0][:20]}")
        if "idle" in jvm.logs():
            daemon.stop()
            return False
        jvm.wait_for_line("idle")
        processes.wait_until(lambda: not self.missing(jvm, daemon, pid)[0],
                             lambda: f"no method missing: {self.missing(jvm, daemon, pid)[0][:20]}")
        _, others = self.missing(jvm, daemon, pid)
        print(self.compared)
        print("not methods, and not in ours:", sorted({name for _, _, name in others}))
        ours = PerfMap(daemon.read_map(pid))
        self.assertEqual([entry for entry in others if not EXCUSED.fullmatch(entry[2]) and
                          not ours.has_parts_of(entry)], [])
        return True

    def test_collector_killed_and_restarted_misses_no_method_17(self):
        self.restart(17)

    def test_collector_killed_and_restarted_misses_no_method_25(self):
        self.restart(25)

    def test_shadowing_map_in_the_container_is_reported(self):
        daemon = self.watch()
        jvm = self.container("KnownShare").wait_for_line("ready")
        daemon.wait_for_jvm(jvm.pid)
        self.assertNotIn("perf-1.map", daemon.list().text)
        jvm.exec("jcmd", "1", "Compiler.perfmap")
        processes.wait_until(lambda: "perf-1.map" in daemon.list().text,
                             lambda: f"list names the map in the container:\n{daemon.list().text}")
        processes.wait_until(lambda: "perf-1.map" in daemon.text,
                             lambda: f"the log names the map in the container:\n{daemon.text}")
        (jvm.root / "tmp" / "perf-1.map").unlink()
        processes.wait_until(lambda: "perf-1.map" not in daemon.list().text,
                             lambda: f"list no longer names it:\n{daemon.list().text}")

    def test_map_is_a_plain_file_of_ours_in_the_form_perf_reads(self):
        daemon = self.watch()
        jvm = self.container("Mixed").wait_for_line("ready")
        pid = jvm.pid
        processes.wait_until(lambda: "Mixed$" in daemon.read_map(pid), "Mixed in our map")
        status = os.lstat(self.place.map_file(pid))
        self.assertTrue(stat.S_ISREG(status.st_mode))
        self.assertEqual((stat.S_IMODE(status.st_mode), status.st_uid), (0o644, os.getuid()))
        text = daemon.read_map(pid)
        # The mark by which the collector knows its own files again; perf skips names so short.
        self.assertEqual(text.splitlines()[0], "0 0 fg")
        for line in text.splitlines()[1:]:
            self.assertRegex(line, r"^([0-9a-f]+ [0-9a-f]+ \S.{2,}|0{2,} 0 fg)$")
        rows = PerfMap(text)
        self.assertEqual(rows.overlaps(), [])
        # Beside it the file for the next one, as long as code keeps coming.
        others = [p.name for p in self.place.maps.iterdir() if p.name != f"perf-{pid}.map"]
        self.assertLessEqual(len(others), 1)
        for other in others:
            self.assertRegex(other, rf"^perf-{pid}\.map\.[0-9a-f]{{16}}$")

    def test_map_outlives_the_jvm(self):
        daemon = self.watch()
        jvm = self.container("KnownShare").wait_for_line("ready")
        pid = jvm.pid
        processes.wait_until(lambda: "KnownShare" in daemon.read_map(pid), "KnownShare in our map")
        jvm.rm()
        processes.wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "the JVM is gone")
        time.sleep(1)
        self.assertIn("KnownShare", daemon.read_map(pid))

    def test_planted_symlink_is_neither_followed_nor_replaced(self):
        jvm = self.container("KnownShare").wait_for_line("ready")
        victim = self.directory / "victim"
        victim.write_text("mine\n")
        planted = self.place.map_file(jvm.pid)
        planted.symlink_to(victim)
        beside = planted.with_name(planted.name + ".fgcollect")
        daemon = self.watch()
        processes.wait_until(lambda: beside.exists() and "KnownShare" in beside.read_text(),
                             lambda: f"our map is beside the symlink:\n{daemon.text}")
        self.assertTrue(planted.is_symlink())
        self.assertEqual(victim.read_text(), "mine\n")

    def names_all_code_of_both(self):
        self.recording = collector.record(self.place, seconds=3)
        folded = self.recording.folded
        return (folded.count(lambda frame: frame.startswith("second_jit_piece_")) > 0 and
                folded.with_method("SecondJit.runJava") > 0 and
                folded.count(lambda frame: frame.endswith("generated code]")) == 0)

    def test_second_code_generator_of_a_jvm_keeps_its_map_and_has_its_names(self):
        """It opens the map when ours is in its place already, and writes on in the same file."""
        daemon = self.watch()
        program = settings.SOURCE / "tests" / "java" / "SecondJit.java"
        jvm = self.background(
            self.java("--enable-native-access=ALL-UNNAMED", program, jdk=25,
                      agent=f"socket={self.place.socket}"),
            "jvm", env={"TMPDIR": str(self.place.maps)})
        processes.wait_until(lambda: "ready" in jvm.text, lambda: f"the JVM is ready:\n{jvm.text}")
        daemon.wait_for_jvm(jvm.pid)
        processes.wait_until(self.names_all_code_of_both,
                             lambda: f"the code of both has names:\n{self.recording}")
        theirs = self.place.map_file(jvm.pid)
        beside = theirs.with_name(theirs.name + ".fgcollect")
        processes.wait_until(lambda: beside.exists() and "SecondJit;::runJava" in beside.read_text(),
                             "our map beside it has Java")
        lines = [line for line in theirs.read_text().splitlines() if "second_jit" in line]
        self.assertEqual([line.rpartition("_")[2] for line in lines],
                         [str(number) for number in range(1, len(lines) + 1)])
        self.assertNotIn("runJava", theirs.read_text())
        self.assertEqual(daemon.jvm(jvm.pid)["shadowed_by"], str(theirs))
        jvm.stop()
        processes.wait_until(lambda: not os.path.exists(f"/proc/{jvm.pid}"), "the JVM is gone")
        self.assertTrue(theirs.exists())
