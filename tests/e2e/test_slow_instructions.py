# SPDX-License-Identifier: Apache-2.0
"""The time of a slow instruction goes to its own method, even if that method is inlined and ends
there."""

from harness import processes, truth
from harness.case import Case
from harness.folded import printed_shares
from harness.marks import measured
from slow_halves import C1, CASES, FLAGS, halves

SECONDS = 2.5  # of each case
HZ = 999
POINTS = 0.05
# On a processor that retires late, which its atomics tell, what follows a slow instruction is partly
# done before the slow one has retired, and then no timer sees it.
LATE_POINTS = 0.1
# Measured one by one, the halves of a case may have more than the whole has: so much of them overlaps
# in the processor, and is true of both. Shares may be off by as much again. Where that is more than
# this, the processor is one that retires late.
OVERLAP = 0.02
# What of cheap() is done meanwhile may be counted for either. An atomic hands its result on before it
# retires, on some processors long before: there all samples until then are the atomic's. At most
# this share may be counted for slow().
OVERLAPPING = {"beside": 1, "atomic": 0.55}


def points_of(atomic):
    """By how much shares may be off on a processor that gives the atomic these."""
    true, slow, *_ = atomic
    return LATE_POINTS if slow > true + POINTS else POINTS


@measured
class SlowInstructions(Case):
    def recorded(self, jdk, cases, flags=()):
        """Records cases: {case: (true share of slow(), recorded shares of slow() and cheap(), what
        the halves have too much or too little)}."""
        seconds, go = SECONDS * len(cases), self.directory / "go"
        go.unlink(missing_ok=True)
        jvm = self.background(self.java(*FLAGS, *flags, f"-Dgo={go}", "SlowInstructions",
                                        ",".join(cases), seconds,
                                        agent=f"socket={self.place.socket}", jdk=jdk),
                              f"java-{jdk}")
        processes.wait_until(lambda: "ready" in jvm.text, lambda: f"it is warm:\n{jvm.text}")
        recorder = truth.Recorder(self.place, jvm.pid, "-F", HZ)
        self.addCleanup(recorder.stop)
        recorder.wait_until_it_records()
        go.touch()
        jvm.wait()
        self.assertEqual(recorder.wait().code, 0, recorder.text)  # which ends with the JVM
        stacks = recorder.folded("cpu").stacks
        said, found = printed_shares(jvm.text), {}
        for case in cases:
            slow, cheap, samples = halves(stacks, case)
            parts = [said[f"{case}_{half}"] for half in ("slow", "cheap")]
            found[case] = parts[0] / sum(parts), slow, cheap, abs(sum(parts) - 1)
            print(f"{case}: {parts[0]:.3f} and {parts[1]:.3f}, recorded {slow:.3f} and {cheap:.3f} "
                  f"of {samples} samples")
            self.assertGreater(samples, SECONDS * HZ / 4)
        return found

    def check_compiled_by_c2(self, jdk):
        found = self.recorded(jdk, CASES)
        points = points_of(found["atomic"])
        if max(doubt for *_, doubt in found.values()) > OVERLAP:
            points = LATE_POINTS
        for case, (true, slow, cheap, doubt) in found.items():
            if case in OVERLAPPING:
                self.assertGreater(slow, true - points - doubt, case)
                self.assertLess(slow, OVERLAPPING[case], case)
            else:
                self.assertAlmostEqual(slow, true, delta=points + doubt, msg=case)
                self.assertAlmostEqual(cheap, 1 - true, delta=points + doubt, msg=case)

    def test_slow_instructions_have_their_time_17(self):
        self.check_compiled_by_c2(17)

    def test_slow_instructions_have_their_time_25(self):
        self.check_compiled_by_c2(25)

    def test_slow_instructions_of_c1_have_their_time_17(self):
        """Only cases that C1 tells about: C1 tells nothing about arithmetic and atomics."""
        points = points_of(self.recorded(17, ("atomic",))["atomic"])
        cases = self.recorded(17, ("division", "miss", "call"), [C1])
        for case, (true, slow, _, doubt) in cases.items():
            self.assertAlmostEqual(slow, true, delta=points + doubt, msg=case)
