# SPDX-License-Identifier: Apache-2.0
"""Probes of real JVMs: whoever opens one switches the event on, and off by going."""

import pathlib
import signal
import sys
import time

from harness import processes, settings, usdt
from harness.case import Case
from harness.marks import measured

INTERVAL = 512 << 10
HEED_SEC = 5                    # for the agent to heed a tracer; it takes 0.1 s
TRUTH_SEC = 4
# Of 6,000 samples four standard deviations are 5 %; the program and the agent speak ten times a
# second, and not at the same time: 5 % of 4 s.
TOLERANCE = 0.1
CHILD = """import sys, time
sys.path.insert(0, sys.argv[1])
from harness import usdt
tracer = usdt.Tracer(sys.argv[2], sys.argv[3], pid=int(sys.argv[4]))
print("open", flush=True)
time.sleep(1000)
"""


class Probes(Case):
    def setUp(self):
        super().setUp()
        if not usdt.UPROBE_TYPE.exists():
            self.skipTest("the kernel has no uprobes for perf_event_open (CONFIG_UPROBE_EVENTS)")
        self.daemon = self.watch()

    def jvm(self, *args, jdk=17, name="jvm", flags=()):
        """A JVM of this host whose code is known; its program is past its begin."""
        command = self.java(*flags, "Probed", *args, agent=f"socket={self.place.socket}", jdk=jdk)
        jvm = self.background(command, name)
        self.daemon.wait_for_jvm(jvm.pid)
        processes.wait_until(lambda: "told" in jvm.text, lambda: f"it tells: {jvm.text}")
        return jvm

    def tracer(self, name, pid=None, path=None):
        tracer = usdt.Tracer(path or settings.AGENT, name, pid=pid)
        self.addCleanup(tracer.close)
        return tracer

    def probes(self, jvm):
        return self.daemon.jvm(jvm.pid)["probes"]

    def wait_for(self, jvm, probe, state, seconds=None, after=None):
        """Until list --json says so, and within those seconds if any; after: what is done first."""
        begin = time.monotonic()
        if after:
            after()
        row = processes.wait_until(
            lambda: self.probes(jvm) if self.probes(jvm)[probe] == state else None,
            lambda: f"{probe} is {state}: {self.probes(jvm)}", every=0.02)
        took = time.monotonic() - begin
        print(f"{probe} is {state} after {took:.2f} s")
        if seconds:
            self.assertLess(took, seconds, row)
        return row

    def truth(self, jvm):
        """What the program has told last, and what its agent has: bytes, waits and their time."""
        words = [line.split() for line in jvm.text.splitlines() if line.startswith("told ")][-1]
        return [int(word) for word in words[1:]], self.probes(jvm)

    def assert_switches(self, jdk):
        jvm = self.jvm(jdk=jdk)
        row = self.probes(jvm)
        self.assertEqual((row["alloc"], row["lock"]), ("off", "off"), row)
        tracer = self.tracer("alloc__arm", pid=jvm.pid)
        row = self.wait_for(jvm, "alloc", "on")
        self.assertEqual((row["alloc_interval_bytes"], row["lock"]), (INTERVAL, "off"), row)
        processes.wait_until(lambda: self.probes(jvm)["alloc_events"] > 10, "events are counted")
        locks = self.tracer("lock__arm", pid=jvm.pid)
        self.wait_for(jvm, "lock", "on")
        processes.wait_until(lambda: self.probes(jvm)["lock_events"] > 10, "waits are counted")
        self.wait_for(jvm, "alloc", "off", after=tracer.close)
        self.wait_for(jvm, "lock", "off", after=locks.close)
        row = self.probes(jvm)
        self.assertEqual(row["alloc_interval_bytes"], 0)
        time.sleep(1)
        self.assertEqual(self.probes(jvm), row)

    def assert_truth(self, jdk, *args):
        jvm = self.jvm(*args, jdk=jdk)
        arms = {"alloc": self.tracer("alloc__arm_64k", pid=jvm.pid),
                "lock": self.tracer("lock__arm", pid=jvm.pid)}
        allocs, waits = self.tracer("alloc__sample"), self.tracer("lock_entered__sample")
        begins = self.tracer("lock_enter__sample")
        self.wait_for(jvm, "alloc", "on", HEED_SEC)
        self.wait_for(jvm, "lock", "on", HEED_SEC)
        time.sleep(0.3)
        before, row_before = self.truth(jvm)
        hits_before = [tracer.count() for tracer in (allocs, waits, begins)]
        time.sleep(TRUTH_SEC)
        after, row = self.truth(jvm)
        hits = [tracer.count() - n for tracer, n in zip((allocs, waits, begins), hits_before)]
        known = [b - a for a, b in zip(before, after)]
        found = {key: row[key] - row_before[key] for key in row if key.endswith(("events", "ns"))}
        print(f"known {known}, counted {found}, seen by tracers {hits}")
        self.assertEqual(row["alloc_interval_bytes"], 64 << 10)
        self.assert_near(found["alloc_events"] * (64 << 10), known[0])
        self.assert_near(found["lock_ns"], known[2])
        self.assert_near(hits[0], found["alloc_events"])
        self.assert_near(hits[1], found["lock_events"])
        self.assert_near(hits[2], found["lock_events"])
        for probe, arm in arms.items():
            self.wait_for(jvm, probe, "off", HEED_SEC, after=arm.close)

    def assert_near(self, found, known):
        self.assertLess(abs(found - known), TOLERANCE * known, (found, known))

    def test_a_tracer_switches_events_on_and_off_17(self):
        self.assert_switches(17)

    def test_a_tracer_switches_events_on_and_off_25(self):
        self.assert_switches(25)

    @measured
    def test_counts_are_the_programs_17(self):
        self.assert_truth(17)

    @measured
    def test_counts_are_the_programs_25(self):
        self.assert_truth(25)

    @measured
    def test_waits_of_virtual_threads_are_timed(self):
        self.assert_truth(25, "virtual")

    def test_one_process_alone_is_armed(self):
        """By an event of that process at an instruction that never runs."""
        meant, other = self.jvm(name="meant"), self.jvm(name="other")
        arm = self.tracer("alloc__arm_16k", pid=meant.pid)
        self.wait_for(meant, "alloc", "on")
        time.sleep(1)
        row = self.probes(other)
        self.assertEqual((row["alloc"], row["alloc_events"]), ("off", 0), row)
        self.assertEqual(arm.count(), 0)

    def test_whoever_opens_a_probe_of_all_arms_all(self):
        jvms = self.jvm(name="first"), self.jvm(name="second", jdk=25)
        tracer = self.tracer("alloc")
        for jvm in jvms:
            self.wait_for(jvm, "alloc", "on")
        late = self.jvm(name="late")
        self.wait_for(late, "alloc", "on")
        processes.wait_until(lambda: tracer.count() > 0, "there are hits")
        tracer.close()
        for jvm in (*jvms, late):
            self.wait_for(jvm, "alloc", "off")

    def test_another_profiler_keeps_the_capability(self):
        other = settings.BUILD / "tests" / "e2e" / "libother_profiler.so"
        jvm = self.jvm(flags=(f"-agentpath:{other}",))
        self.assertIn("taken", jvm.text)
        arm = self.tracer("alloc__arm", pid=jvm.pid)
        self.tracer("lock__arm", pid=jvm.pid)
        row = self.wait_for(jvm, "alloc", "refused")
        self.assertEqual((row["alloc_interval_bytes"], row["alloc_events"]), (0, 0), row)
        self.wait_for(jvm, "lock", "on")
        self.wait_for(jvm, "alloc", "off", after=arm.close)

    def test_a_tracer_that_is_killed_switches_off(self):
        jvm = self.jvm()
        tracer = self.background([sys.executable, "-B", "-c", CHILD, settings.SOURCE / "tests/e2e",
                                  settings.AGENT, "lock__arm", jvm.pid], "tracer")
        processes.wait_until(lambda: "open" in tracer.text, lambda: f"it traces: {tracer.text}")
        self.wait_for(jvm, "lock", "on")
        self.wait_for(jvm, "lock", "off",
                      after=lambda: tracer.child.send_signal(signal.SIGKILL))

    def test_a_jvm_in_a_container_is_traced_through_its_root(self):
        container = self.container("Probed").wait_for_line("ready")
        self.daemon.wait_for_jvm(container.pid)
        agents = list((container.root / "opt/fgcollect").glob("libfgagent.so"))
        self.assertEqual(len(agents), 1, list((container.root / "opt").iterdir()))
        self.tracer("alloc__arm", pid=container.pid, path=agents[0])
        self.wait_for(container, "alloc", "on")
        hits = self.tracer("alloc__sample", path=agents[0])
        status = pathlib.Path(f"/proc/{container.pid}/status").read_text(encoding="ascii")
        self.assertRegex(status, r"\nSeccomp:\s+2\n")   # the engine's filter lets no uprobe(2) pass
        processes.wait_until(lambda: hits.count() > 100, "there are hits")
        self.assertTrue(container.is_running())

    def test_a_jvm_ends_while_it_is_traced(self):
        jvm = self.jvm()
        self.tracer("alloc")
        self.tracer("lock_enter")
        self.wait_for(jvm, "lock", "on")
        self.assertEqual(jvm.stop().code, 143)
        processes.wait_until(lambda: self.daemon.jvm(jvm.pid) is None or
                             self.daemon.jvm(jvm.pid)["state"] == "ended", "its end is known")
