# SPDX-License-Identifier: Apache-2.0
"""Allocations: bytes, objects, classes and sites are what a program knows of itself.

The JVM chooses the samples. JDK 17 gives objects of a quarter of the interval or more too few of
them, and small objects in the same program as many too many, so what it allocates here is small
beside the interval. JDK 25 does neither, and gets objects of all sizes.
"""

import math

from harness import collector, processes, truth
from harness.case import Case
from harness.marks import counted

SMALL = "sizes=64,256,1024,4096"
ALL = "sizes=64,1024,16384,262144,4194304"
POINTS = 2          # that a share is off; 50,000 samples have four standard deviations of 0.9
PER_CENT = 3        # that a total is off; they have four standard deviations of 1.8 %
OTHERS_PER_CENT = 1 # what other threads and the program's own upkeep allocate meanwhile


@counted
class Alloc(Case):
    def setUp(self):
        super().setUp()
        self.daemon = self.watch()

    def program(self, *args, jdk=17, gc="G1"):
        container = self.container("-Xmx512m", f"-XX:+Use{gc}GC", "AllocTruth", *args, jdk=jdk)
        container.wait_for_line("ready")
        self.daemon.wait_for_jvm(container.pid)
        return container.pid, truth.Program(container.logs, container.root / "tmp")

    def record(self, pid, program, *args):
        """What the program knows of a turn, and the bytes and objects that were recorded of it."""
        recorder = truth.Recorder(self.place, pid, "--kind", "alloc", *args)
        self.addCleanup(recorder.stop)
        recorder.wait_until_it_records(
            lambda: self.daemon.jvm(pid)["probes"]["alloc"] == "on")
        turn = program.turn()
        print(recorder.finish().text.splitlines()[-1])
        return turn, recorder.folded("alloc"), recorder.folded("objects")

    def assert_is_true(self, turn, alloc, objects, samples):
        known, found = turn.rows("alloc"), truth.found(turn.sites(), objects, alloc)
        # The JVM's own count of what these threads have allocated.
        self.assertAlmostEqual(known.amount, turn.rows("thread").amount,
                               delta=0.002 * known.amount)
        chance = 4 / math.sqrt(samples)
        for column in ("class", "site"):
            names, got = known.amounts(column), found.amounts(column)
            print(f"{column}: {truth.shares(names)}, found {truth.shares(got)}")
            self.assertEqual(set(got), set(names))
            self.assertLess(truth.worst_share(names, got), max(POINTS, 50 * chance), column)
        print(f"bytes {found.amount / known.amount:.4f}, objects {found.count / known.count:.4f}")
        within = max(PER_CENT / 100, chance)
        self.assertAlmostEqual(found.amount / known.amount, 1, delta=within)
        self.assertAlmostEqual(found.count / known.count, 1, delta=2 * within)
        self.assertLess(alloc.samples - found.amount, OTHERS_PER_CENT / 100 * alloc.samples)
        self.assertTrue(all(frames[-1].endswith(truth.CLASS_SUFFIX) for frames, _ in alloc.stacks),
                        alloc.top())
        self.assertLess(alloc.with_unknown(), 0.001 * alloc.samples, alloc.top())

    def check(self, *args, jdk=17, gc="G1", interval=64):
        pid, program = self.program("mb=400", "seconds=8", *args, jdk=jdk, gc=gc)
        recorded = self.record(pid, program, "--alloc-interval", f"{interval}k")
        known = recorded[0].rows("alloc").amount
        self.assert_is_true(*recorded, samples=known / (interval << 10))

    def test_shares_and_totals_are_the_programs_17_g1(self):
        self.check(SMALL)

    def test_shares_and_totals_are_the_programs_17_serial(self):
        self.check(SMALL, gc="Serial")

    def test_shares_and_totals_are_the_programs_17_zgc(self):
        self.check(SMALL, gc="Z")

    def test_shares_and_totals_are_the_programs_25_g1(self):
        self.check(ALL, jdk=25)

    def test_shares_and_totals_are_the_programs_25_serial(self):
        self.check(ALL, jdk=25, gc="Serial")

    def test_shares_and_totals_are_the_programs_25_zgc(self):
        self.check(ALL, jdk=25, gc="Z")

    def test_the_default_interval_is_right_too(self):
        pid, program = self.program("mb=800", "seconds=8", SMALL)
        turn, alloc, objects = self.record(pid, program)
        processes.wait_until(lambda: self.daemon.jvm(pid)["probes"]["alloc"] == "off",
                             "the event is off after the recording")
        self.assert_is_true(turn, alloc, objects,
                            samples=turn.rows("alloc").amount / (512 << 10))

    def test_several_threads_are_summed_up(self):
        self.check(SMALL, "threads=4")

    def test_a_part_of_the_work_has_its_part_of_the_bytes(self):
        """A recording of fixed length in the midst of a program that allocates all the time."""
        pid, program = self.program("mb=300", "seconds=20", SMALL)
        program.ask()
        recording = collector.record(self.place, "-p", pid, "--kind", "alloc", "--alloc-interval",
                                     "64k", seconds=10)
        turn = program.told()
        rate = turn.rows("alloc").amount / turn.ns
        # The event is on a tenth of a second after the recording has begun.
        found = truth.found(turn.sites(), amounts=recording.folded).amount / 10e9
        print(f"{found / rate:.4f} of the rate")
        self.assertAlmostEqual(found / rate, 1, delta=PER_CENT / 100)
