# SPDX-License-Identifier: Apache-2.0
"""Each frame of a stack has a name, and stacks reach the thread's entry, even without frame
pointers."""

import time

from harness import chance, collector
from harness.case import Case
from harness.marks import counted
from score_stacks import Score
from stack_workloads import WORKLOADS, Agent

# A recording lasts until so many samples of the program's own threads are there.
SECONDS = (5, 10, 20, 40)
OWN_SAMPLES = 1000
HZ = 999
# Per cent of samples that may be bad (score_stacks.py says what that is), and that may be cut.
BAD = 0.5
CUT = 0.1
# Likewise, that may be unnamed, and unrooted. All are bounds of what is true of the program; what
# chance adds to them follows from the number of samples (harness/chance.py).
WHOLE = 0.1
# JVMs that live for 0.4 s: of the first ones, files are asked for when they are gone.
GONE = {"short-lived": 6}
# Stacks deeper than a snapshot, or than the frames that are kept.
DEEP = {"recursion-3000": 100, "recursion-100000": 100, "short-lived": 10}
# Samples of 3,000 frames take the collector longer than the program needs for its next turn.
FEW = {"recursion-3000": 250, "javac": 250}
# Its first turns are long and uneven, and what it says of itself is true of its whole life alone.
UNEVEN = {"natives"}
# An unnamed frame or a wrong one puts a phase's share off by what is bad; sampling adds its part.
SHARE_POINTS = 3
# Of 5,000 samples 0.3 % are elsewhere; four standard deviations of that are 0.3 points.
CLOSE_SHARES = {"recursion-400": 0.5, "recursion-400-int": 0.5, "recursion-3000": 0.5}


@counted
class WholeStacks(Case):
    def recorded(self, name, jdk, framepointer):
        workload = WORKLOADS[name]
        why_not = workload.why_not(jdk)
        if why_not:
            self.skipTest(why_not)
        agent = Agent(self.place, f"framepointer={framepointer}")
        for seconds in SECONDS:
            with workload.running(agent, jdk, seconds) as running:
                time.sleep(0.5)
                target = ["-p", running.pid] if running.pid else []
                recording = collector.record(self.place, "--threads", *target, seconds=seconds, hz=HZ)
                score = Score(recording.folded, workload.must, workload.shares)
                self.assert_true(recording, score)
                if score.own >= FEW.get(name, OWN_SAMPLES):
                    return score, running.printed()
        raise AssertionError(f"too few samples\n{recording}")

    def assert_true(self, recording, score):
        """The quality line does not say more than the stacks do; its figure has one digit behind the
        point."""
        if score.samples:
            self.assertLessEqual(recording.quality.rooted, score.rooted_at_most + 0.1,
                                 f"{recording.quality.line}\n{score}\n{score.top_bad(20)}")

    def assert_few(self, score, verdict, per_cent, said):
        of = score.own if verdict == "missing" else score.samples
        chance.assert_at_most(self, score.counts[verdict], of, per_cent / 100,
                              f"{verdict}\n{said}")

    def assert_whole(self, name, jdk, framepointer="off", bad=BAD):
        score, printed = self.recorded(name, jdk, framepointer)
        print(score)
        said = f"{score}\n{score.top_bad(20)}"
        self.assert_few(score, "bad", GONE.get(name, bad), said)
        # Of recursion every frame is known, but on the way there: code of what is called at the end
        # may be moved in front of the next call.
        missing = WHOLE + 100 * (1 - printed["burn"]) if "burn" in printed else bad
        self.assert_few(score, "missing", missing, said)
        for verdict in ("unnamed", "unrooted"):
            self.assert_few(score, verdict, GONE.get(name, WHOLE), said)
        self.assert_few(score, "cut", DEEP.get(name, CUT), said)
        off = score.share_off(printed)
        if WORKLOADS[name].shares and name not in UNEVEN:
            self.assertIsNotNone(off, f"no shares printed\n{said}")
            self.assertLessEqual(off, CLOSE_SHARES.get(name, SHARE_POINTS), f"{printed}\n{said}")

    def test_stacks_of_what_servers_do_are_whole_17(self):
        self.assert_whole("mixed", 17)

    def test_stacks_of_what_servers_do_are_whole_25(self):
        self.assert_whole("mixed", 25)

    def test_stacks_below_jni_in_libz_and_the_kernel_are_whole_17(self):
        self.assert_whole("zip", 17)

    def test_stacks_below_jni_in_libz_and_the_kernel_are_whole_25(self):
        self.assert_whole("zip", 25)

    def test_stacks_in_stub_routines_are_whole_17(self):
        self.assert_whole("natives", 17)

    def test_stacks_in_stub_routines_are_whole_25(self):
        self.assert_whole("natives", 25)

    def test_stacks_that_exceptions_take_apart_are_whole_17(self):
        self.assert_whole("exceptions", 17)

    def test_stacks_that_exceptions_take_apart_are_whole_25(self):
        self.assert_whole("exceptions", 25)

    def test_stacks_of_methods_that_take_locks_are_whole_17(self):
        self.assert_whole("locks", 17)

    def test_stacks_of_methods_that_take_locks_are_whole_25(self):
        self.assert_whole("locks", 25)

    def test_stacks_of_interpreted_methods_are_whole_17(self):
        self.assert_whole("interpreted", 17)

    def test_stacks_of_interpreted_methods_are_whole_25(self):
        self.assert_whole("interpreted", 25)

    def test_stacks_of_400_frames_are_whole_17(self):
        self.assert_whole("recursion-400", 17)

    def test_stacks_of_400_frames_are_whole_25(self):
        self.assert_whole("recursion-400", 25)

    def test_stacks_of_400_interpreted_frames_are_whole_17(self):
        self.assert_whole("recursion-400-int", 17)

    def test_stacks_of_400_interpreted_frames_are_whole_25(self):
        self.assert_whole("recursion-400-int", 25)

    def test_stacks_deeper_than_a_snapshot_are_whole_17(self):
        self.assert_whole("recursion-3000", 17)

    def test_stacks_deeper_than_a_snapshot_are_whole_25(self):
        self.assert_whole("recursion-3000", 25)

    def test_stacks_of_200_threads_are_whole_17(self):
        self.assert_whole("threads", 17)

    def test_stacks_of_200_threads_are_whole_25(self):
        self.assert_whole("threads", 25)

    def test_stacks_of_short_lived_jvms_are_whole_17(self):
        self.assert_whole("short-lived", 17)

    def test_stacks_of_short_lived_jvms_are_whole_25(self):
        self.assert_whole("short-lived", 25)

    def test_stacks_of_code_that_comes_and_goes_are_whole_17(self):
        self.assert_whole("churn", 17)

    def test_stacks_of_code_that_comes_and_goes_are_whole_25(self):
        self.assert_whole("churn", 25)

    def test_stacks_of_javac_are_whole_17(self):
        self.assert_whole("javac", 17)

    def test_stacks_of_javac_are_whole_25(self):
        self.assert_whole("javac", 25)

    def test_stacks_of_a_servlet_container_are_whole_17(self):
        self.assert_whole("tomcat", 17)

    def test_stacks_of_a_servlet_container_are_whole_25(self):
        self.assert_whole("tomcat", 25)

    def test_stacks_of_virtual_threads_are_whole_25(self):
        self.assert_whole("virtual", 25)

    def test_stacks_of_virtual_threads_that_are_compiled_at_once_are_whole_25(self):
        self.assert_whole("virtual-xcomp", 25)

    def test_stacks_with_frame_pointers_are_whole_17(self):
        self.assert_whole("mixed", 17, framepointer="auto")

    def test_stacks_with_frame_pointers_are_whole_25(self):
        self.assert_whole("mixed", 25, framepointer="auto")
