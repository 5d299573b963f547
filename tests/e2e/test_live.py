# SPDX-License-Identifier: Apache-2.0
"""Living objects: what a program knows to keep is there, and what it has dropped is not.

The program has the JVM collect garbage at the end of a turn. The agent watches 4,096 objects at most,
so a share has four standard deviations of 3 to 5 points here.
"""

import math
import re
import signal
import time

from harness import processes, truth, usdt
from harness.case import Case
from harness.marks import counted

INTERVAL = 64 << 10
POINTS = 2
LIVING = re.compile(r"quality of live: .*, ([\d,]+) of ([\d,]+) watched objects live")


@counted
class Live(Case):
    def setUp(self):
        super().setUp()
        self.daemon = self.watch()

    def program(self, *args, jdk=17, gc="G1"):
        container = self.container("-Xmx768m", f"-XX:+Use{gc}GC", "LiveTruth", *args, jdk=jdk)
        container.wait_for_line("ready")
        self.daemon.wait_for_jvm(container.pid)
        return container.pid, truth.Program(container.logs, container.root / "tmp")

    def probes(self, pid):
        return self.daemon.jvm(pid)["probes"]

    def recorder(self, pid, *args):
        recorder = truth.Recorder(self.place, pid, "--kind", "alloc", "--live", *args)
        self.addCleanup(recorder.stop)
        recorder.wait_until_it_records(lambda: self.probes(pid)["alloc"] == "on")
        return recorder

    def wait_for_deaths(self, pid):
        """Until the agent has looked twice from now on: the first look may have begun before."""
        path = f"/proc/{pid}/root/opt/fgcollect/libfgagent.so"
        tracer = usdt.Tracer(path, "alloc_dead__sample")
        self.addCleanup(tracer.close)
        for _ in range(2):
            count = tracer.count()
            processes.wait_until(lambda: tracer.count() > count, "the agent looks")
            time.sleep(0.5)     # a look is over in some milliseconds, and the next is a second away

    def record(self, pid, program):
        recorder = self.recorder(pid, "--alloc-interval", f"{INTERVAL >> 10}k")
        turn = program.turn()
        self.wait_for_deaths(pid)
        level = self.probes(pid)["alloc_watch_level"]
        text = recorder.finish().text
        print(text, f"level {level}")
        living = int(LIVING.search(text)[1].replace(",", ""))
        return turn, living, recorder.folded("live"), recorder.folded("live_objects")

    def assert_is_true(self, turn, living, live, objects):
        known = turn.rows("live")
        found = truth.found({*turn.sites()}, objects, live)
        chance = 4 / math.sqrt(living)
        self.assertGreater(living, 500)
        for column in ("class", "site"):
            names, got = known.amounts(column), found.amounts(column)
            print(f"{column}: {truth.shares(names)}, found {truth.shares(got)}")
            self.assertEqual(set(got), set(names))
            self.assertLess(truth.worst_share(names, got), max(POINTS, 50 * chance), column)
        print(f"bytes {found.amount / known.amount:.4f}, objects {found.count / known.count:.4f}")
        self.assertAlmostEqual(found.amount / known.amount, 1, delta=chance)
        self.assertAlmostEqual(found.count / known.count, 1, delta=2 * chance)
        self.assertFalse([frames for frames, _ in live.stacks if "Dropped" in frames[-1]],
                         live.top())

    def check(self, jdk, gc):
        pid, program = self.program("keep=150", "drop=4", jdk=jdk, gc=gc)
        self.assert_is_true(*self.record(pid, program))
        processes.wait_until(lambda: self.probes(pid)["alloc_watched"] == 0,
                             lambda: f"all references are deleted: {self.probes(pid)}")
        counts = self.daemon.list_json()["collector"]["recordings"]["probes"]["live"]
        self.assertEqual((counts["left_out"], counts["lost"]), (0, 0), counts)
        self.assertGreater(counts["dead"], 0)

    def test_references_go_when_the_collector_is_killed(self):
        pid, program = self.program("keep=50", "drop=4")
        recorder = self.recorder(pid, "--alloc-interval", "16k")
        program.turn()
        processes.wait_until(lambda: self.probes(pid)["alloc_watched"] > 1000,
                             lambda: f"objects are watched: {self.probes(pid)}")
        before = self.probes(pid)["alloc_events"]
        self.daemon.stop(signal.SIGKILL)
        recorder.stop()
        self.daemon = self.watch()
        self.daemon.wait_for_jvm(pid)
        processes.wait_until(lambda: self.probes(pid)["alloc"] == "off",
                             lambda: f"the event is off: {self.probes(pid)}")
        row = self.probes(pid)
        self.assertGreaterEqual(row["alloc_events"], before, row)
        self.assertEqual((row["alloc_watched"], row["alloc_watch_level"]), (0, 0), row)

    def test_a_recording_without_a_daemon_and_with_other_kinds(self):
        pid, program = self.program("keep=50", "drop=4", jdk=25)
        self.daemon.stop()
        recorder = truth.Recorder(self.place, pid, "--kind", "cpu,alloc,lock", "--live",
                                  "--alloc-interval", f"{INTERVAL >> 10}k")
        self.addCleanup(recorder.stop)
        recorder.wait_until_it_records()
        processes.wait_until(lambda: recorder.text.count("recording ") >= 4, "the JVM is armed")
        turn = program.turn()
        self.wait_for_deaths(pid)
        text = recorder.finish().text
        print(text)
        self.assertIn("quality of live: ", text)
        self.assertIn("quality of lock: ", text)
        known = turn.rows("live").amount
        self.assertAlmostEqual(recorder.folded("live").samples / known, 1, delta=0.15)
        self.assertGreater(recorder.folded("cpu").samples, 10)

    def test_each_bpf_program_tells_of_deaths(self):
        pid, program = self.program("keep=40", "drop=4")
        for sampler in ("bpf-slices", "bpf-scratch"):
            with self.subTest(sampler=sampler):
                recorder = self.recorder(pid, "--alloc-interval", "64k", "--sampler", sampler)
                known = program.turn().rows("live").amount
                self.wait_for_deaths(pid)
                print(recorder.finish().text.splitlines()[-1])
                live = recorder.folded("live")
                self.assertFalse([frames for frames, _ in live.stacks if "Dropped" in frames[-1]])
                self.assertAlmostEqual(live.samples / known, 1, delta=0.25)

    def test_what_is_kept_is_there_17_g1(self):
        self.check(17, "G1")

    def test_what_is_kept_is_there_17_serial(self):
        self.check(17, "Serial")

    def test_what_is_kept_is_there_17_zgc(self):
        self.check(17, "Z")

    def test_what_is_kept_is_there_25_g1(self):
        self.check(25, "G1")

    def test_what_is_kept_is_there_25_serial(self):
        self.check(25, "Serial")

    def test_what_is_kept_is_there_25_zgc(self):
        self.check(25, "Z")
