# SPDX-License-Identifier: Apache-2.0
"""Exceptions: each that fills in a stack trace is counted, with its class and where it was made."""

from harness import truth
from harness.case import Case
from harness.marks import counted

# In all of the JVM, beside the program's own: what is thrown while classes are found, and so on.
OTHERS = 100
# Below 2,000 a second and process each exception has a sample. Past it, one stands for many: the
# sum lacks at most what came behind the last sample of each CPU, and shares are off by chance, of
# some 2,000 samples a second.
FEW = "rate=1000"
MANY_PER_CENT, MANY_POINTS = 0.5, 2
# Past 20,000 the events are closed for 95 % of the time, and the rest is taken for all of it. While
# they are open, a program that does nothing but throw is slower, and so throws less: by how much,
# depends on what else runs on the machine.
FLOOD_FOUND, FLOOD_POINTS = (0.3, 1.1), 4


@counted
class ExceptionsOfJvms(Case):
    def record(self, *args, jdk=17, flags=()):
        """What the program knows of a turn, and the exceptions that were recorded."""
        daemon = self.watch()
        container = self.container(*flags, "ExceptionTruth", "seconds=6", *args, jdk=jdk)
        container.wait_for_line("ready")
        daemon.wait_for_jvm(container.pid)
        program = truth.Program(container.logs, container.root / "tmp")
        recorder = truth.Recorder(self.place, container.pid, "--kind", "exceptions")
        self.addCleanup(recorder.stop)
        recorder.wait_until_it_records()
        turn = program.turn()
        self.text = recorder.finish().text
        print(self.text.splitlines()[-1])
        return turn, recorder.folded("exceptions")

    def check(self, *args, jdk=17, flags=()):
        """Exact in count, by class and site; what has no stack trace has no sample."""
        turn, folded = self.record(*args, jdk=jdk, flags=flags)
        known, found = turn.rows("exceptions"), truth.found(turn.sites(), folded)
        silent = turn.rows("silent")
        print(f"known {known.counts()}, silent {silent.counts()}, others "
              f"{folded.samples - found.count}")
        self.assertGreater(silent.count, 1000)
        self.assertEqual(found.counts(), known.counts(), folded.top())
        self.assertLess(folded.samples - found.count, OTHERS, folded.top())
        return turn

    def test_counts_are_exact_17(self):
        self.check(FEW, jdk=17)

    def test_counts_are_exact_25(self):
        self.check(FEW, jdk=25)

    def test_counts_are_exact_where_code_is_interpreted(self):
        """Nor does HotSpot keep an exception then, so that there is one site more."""
        turn = self.check(FEW, flags=("-Xint",))
        self.assertIn(("java.lang.NullPointerException", "ExceptionTruth.dereferenceOften"),
                      turn.rows("exceptions").counts())

    def test_a_storm_has_its_number_and_its_shares(self):
        turn, folded = self.record("rate=20000")
        known, found = turn.rows("exceptions"), truth.found(turn.sites(), folded)
        print(f"{found.count} of {known.count}: {truth.shares(found.counts())}")
        self.assertAlmostEqual(found.count / known.count, 1, delta=MANY_PER_CENT / 100)
        self.assertEqual(set(found.counts()), set(known.counts()))
        self.assertLess(truth.worst_share(known.counts(), found.counts()), MANY_POINTS)

    def test_a_flood_is_looked_at_for_a_part_of_the_time(self):
        turn, folded = self.record("rate=1000000")
        known, found = turn.rows("exceptions"), truth.found(turn.sites(), folded)
        print(f"{found.count} of {known.count}: {truth.shares(found.counts())}")
        self.assertGreater(known.count / turn.ns * 1e9, 40000)
        self.assertRegex(self.text, r"\d+ pauses? because of more than 20000 hits a second")
        self.assertGreater(found.count / known.count, FLOOD_FOUND[0])
        self.assertLess(found.count / known.count, FLOOD_FOUND[1])
        self.assertLess(truth.worst_share(known.counts(), found.counts()), FLOOD_POINTS)
