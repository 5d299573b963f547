# SPDX-License-Identifier: Apache-2.0
"""The time of a slow instruction goes to its own method, even if that method is inlined and ends
there."""

from harness import collector, processes
from harness.case import Case
from harness.folded import printed_shares
from slow_halves import C1, CASES, FLAGS, halves

SECONDS = 2.5  # of each case
HZ = 999
POINTS = 0.05
# On a processor that retires late, which its atomics tell, what follows a slow instruction is partly
# done before the slow one has retired, and then no timer sees it.
LATE_POINTS = 0.1
# What of cheap() is done meanwhile may be counted for either. An atomic hands its result on before it
# retires, on some processors long before: there all samples until then are the atomic's. At most
# this share may be counted for slow().
OVERLAPPING = {"beside": 1, "atomic": 0.55}


def points_of(atomic):
    """By how much shares may be off on a processor that gives the atomic these."""
    true, slow, _ = atomic
    return LATE_POINTS if slow > true + POINTS else POINTS


class SlowInstructions(Case):
    def recorded(self, jdk, cases, flags=()):
        """Records cases: {case: (true share of slow(), recorded shares of slow() and cheap())}."""
        seconds = SECONDS * len(cases)
        jvm = self.background(self.java(*FLAGS, *flags, "SlowInstructions", ",".join(cases), seconds,
                                        agent=f"socket={self.place.socket}", jdk=jdk),
                              f"java-{jdk}")
        processes.wait_until(lambda: "ready" in jvm.text, lambda: f"it is warm:\n{jvm.text}")
        stacks = collector.record(self.place, "-p", jvm.pid, seconds=seconds, hz=HZ).folded.stacks
        jvm.wait()
        said, found = printed_shares(jvm.text), {}
        for case in cases:
            slow, cheap, samples = halves(stacks, case)
            parts = [said[f"{case}_{half}"] for half in ("slow", "cheap")]
            found[case] = parts[0] / sum(parts), slow, cheap
            print(f"{case}: {parts[0]:.3f} and {parts[1]:.3f}, recorded {slow:.3f} and {cheap:.3f} "
                  f"of {samples} samples")
            self.assertGreater(samples, SECONDS * HZ / 4)
        return found

    def check_compiled_by_c2(self, jdk):
        found = self.recorded(jdk, CASES)
        points = points_of(found["atomic"])
        for case, (true, slow, cheap) in found.items():
            if case in OVERLAPPING:
                self.assertGreater(slow, true - POINTS, case)
                self.assertLess(slow, OVERLAPPING[case], case)
            else:
                self.assertAlmostEqual(slow, true, delta=points, msg=case)
                self.assertAlmostEqual(cheap, 1 - true, delta=points, msg=case)

    def test_slow_instructions_have_their_time_17(self):
        self.check_compiled_by_c2(17)

    def test_slow_instructions_have_their_time_25(self):
        self.check_compiled_by_c2(25)

    def test_slow_instructions_of_c1_have_their_time_17(self):
        """Only cases that C1 tells about: C1 tells nothing about arithmetic and atomics."""
        points = points_of(self.recorded(17, ("atomic",))["atomic"])
        cases = self.recorded(17, ("division", "miss", "call"), [C1])
        for case, (true, slow, _) in cases.items():
            self.assertAlmostEqual(slow, true, delta=points, msg=case)
