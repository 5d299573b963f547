# SPDX-License-Identifier: Apache-2.0
"""Waits for locks: their number and time are what the threads that wait know of themselves."""

from harness import truth
from harness.case import Case
from harness.marks import measured

# A thread notes the time around its acquisition. HotSpot tries a monitor for some microseconds
# before it waits, and a lock of java.util.concurrent runs Java code around its wait. Waits take
# some 4 to 10 ms here.
MONITOR_PER_CENT, LOCK_PER_CENT = 1, 2
POINTS = 1              # that a site's share of the time is off
COUNT_PER_CENT = 3      # a lock may be free by chance, and a thread may be woken for nothing
IDLE_PER_CENT = 1       # pools have locks of their own, for microseconds
IDLE = ("ThreadPoolExecutor", "ForkJoinPool", "LinkedBlockingQueue", "CountDownLatch",
        "DelayedWorkQueue", "LockTruth.lambda$idle")


@measured
class Locks(Case):
    def setUp(self):
        super().setUp()
        self.daemon = self.watch()

    def record(self, *args, jdk=17):
        """What the program knows of a turn, and the microseconds and waits that were recorded."""
        container = self.container("LockTruth", "seconds=8", jdk=jdk)
        container.wait_for_line("ready")
        self.daemon.wait_for_jvm(container.pid)
        program = truth.Program(container.logs, container.root / "tmp")
        recorder = truth.Recorder(self.place, container.pid, "--kind", "lock", *args)
        self.addCleanup(recorder.stop)
        recorder.wait_until_it_records(
            lambda: self.daemon.jvm(container.pid)["probes"]["lock"] == "on")
        turn = program.turn()
        print(recorder.finish().text.splitlines()[-1])
        return turn, recorder.folded("lock"), recorder.folded("contentions")

    def assert_sums(self, known, found, per_cent):
        times, waits = found.amount * 1000 / known.amount, found.count / known.count
        sites, got = known.amounts("site"), found.amounts("site")
        print(f"{times:.4f} of the time, {waits:.4f} of the waits; sites {truth.shares(sites)}, "
              f"found {truth.shares(got)}")
        self.assertAlmostEqual(times, 1, delta=per_cent / 100)
        self.assertAlmostEqual(waits, 1, delta=COUNT_PER_CENT / 100)
        self.assertEqual(set(got), set(sites))
        self.assertLess(truth.worst_share(sites, got), POINTS)

    def check(self, jdk):
        turn, lock, contentions = self.record(jdk=jdk)
        found = truth.found(turn.sites(), contentions, lock)
        monitors, locks = (truth.Rows(row for row in found.rows if row[1] in known.amounts("site"))
                           for known in (turn.rows("monitor"), turn.rows("lock")))
        self.assert_sums(turn.rows("monitor"), monitors, MONITOR_PER_CENT)
        self.assert_sums(turn.rows("lock"), locks, LOCK_PER_CENT)
        self.assertEqual(set(monitors.counts()), set(turn.rows("monitor").counts()))
        self.assertTrue(all(frames[-1].endswith(truth.CLASS_SUFFIX) for frames, _ in lock.stacks),
                        lock.top())
        self.assert_idle_threads_wait_for_no_lock(lock, monitors.amount + locks.amount)

    def assert_idle_threads_wait_for_no_lock(self, lock, of_sites):
        idle = lock.count(lambda frame: any(text in frame for text in IDLE))
        print(f"of {lock.samples / 1e6:.2f} s: idle {idle / 1e6:.4f} s")
        self.assertLess(idle, IDLE_PER_CENT / 100 * lock.samples, lock.top())
        self.assertGreater(of_sites, (1 - IDLE_PER_CENT / 100) * lock.samples, lock.top())

    def test_times_and_numbers_are_the_threads_17(self):
        self.check(17)

    def test_times_and_numbers_are_the_threads_25(self):
        self.check(25)
