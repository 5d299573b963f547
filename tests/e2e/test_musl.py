# SPDX-License-Identifier: Apache-2.0
"""A JVM on musl, whose C library has no unwind rules and is the loader too, as in Alpine."""

import time
import unittest

import test_tour
from harness import collector
from harness.case import Case
from harness.folded import Quality
from harness.marks import shared
from harness.musl import MuslAgent, root_directory
from score_stacks import LABELS, NO_STACK, Score, is_java, is_rooted_by_name
from stack_workloads import WORKLOADS

SECONDS = 4
# Per cent of samples that may be bad, and so many samples are no more than an accident.
BAD = 0.5
ACCIDENTS = 2
# Threads of HotSpot that wait in Java.
WAITING = ("Reference Handler", "Finalizer", "Common-Cleaner")


class Musl(Case):
    def recorded(self, name, *options, hz):
        try:
            agent = MuslAgent(self.place, "framepointer=off")
        except LookupError as error:
            self.skipTest(str(error))
        workload = WORKLOADS[name]
        with workload.running(agent, 17, SECONDS) as running:
            time.sleep(0.5)
            recording = collector.record(self.place, "--threads", *options, "-p", running.pid,
                                         seconds=SECONDS, hz=hz)
        return recording, Score(recording.folded, workload.must)

    def assert_whole(self, name):
        recording, score = self.recorded(name, hz=999)
        print(score)
        said = f"{score}\n{score.top_bad(20)}"
        self.assertGreater(score.own, 0, said)
        few = max(BAD, 100 * ACCIDENTS / score.samples)
        for verdict in ("bad", "unrooted", "missing", "cut"):
            self.assertLessEqual(score.percent(verdict), few, f"{verdict}: {said}")
        # What is said to be rooted is: the figure has one digit behind the point.
        rooted = Quality(recording.finished.text).rooted
        self.assertLessEqual(rooted, score.rooted_at_most + 0.1, said)

    def test_stacks_of_what_servers_do_are_whole(self):
        self.assert_whole("mixed")

    def test_stacks_below_jni_in_libz_and_the_kernel_are_whole(self):
        self.assert_whole("zip")

    def test_threads_that_wait_in_java_have_their_java_callers(self):
        recording, _ = self.recorded("mixed", "--kind", "wall", hz=99)
        found, unrooted = set(), []
        for frames, _ in recording.folded.stacks:
            thread, stack = frames[1], frames[LABELS:]
            if not stack or stack[0].startswith(NO_STACK):
                continue
            if not is_rooted_by_name(stack):
                unrooted.append(frames)
            if thread in WAITING:
                found.add(thread)
                self.assertTrue(any(is_java(frame) for frame in stack), f"Java: {frames}")
        self.assertEqual(found, set(WAITING), str(recording))
        self.assertLessEqual(len(unrooted), ACCIDENTS, unrooted)


@shared
class Container(test_tour.Kinds):
    """Each kind of profile of a container that has musl for its C library."""

    @classmethod
    def image_of(cls, host):
        try:
            tag = host.engine.add_image("musl", root_directory())
        except LookupError as error:
            raise unittest.SkipTest(str(error)) from error
        host.addCleanup(host.engine.docker, "rmi", "-f", tag, check=False)
        return tag

    def test_waits_for_locks(self):
        """That JVM is built without HotSpot's probes, which tell of locks that are no monitors."""
        recording = self.of_kind("lock", ["Tour.waitForTheMonitor"], leaves=["java.lang.Object_[c]"])
        self.assertIn("its libjvm.so lacks the probes of HotSpot", recording.finished.text)
