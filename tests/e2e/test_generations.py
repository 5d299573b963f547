# SPDX-License-Identifier: Apache-2.0
"""Code is loaded and unloaded at the same addresses. Each sample is put on the right generation."""

import collections
import re
import signal
import statistics

from harness import collector, processes
from harness.case import Case
from harness.marks import counted
from score_generations import Score

# So few that each may work for long: its thread's beginning and end are not its own code.
GENERATIONS = 120
WORK_MS = 140
HZ = 1499
# JDK 17 would leave dropped code where it is for longer than this test takes. JDK 25 has no
# sweeper and uses addresses again after the next collection.
SWEEP_OFTEN = "-XX:SweeperThreshold=0.001"


@counted
class Generations(Case):
    def score(self, jdk, *flags):
        """The score of a whole run. The JVM waits for its compilers, so hardly any code is
        interpreted."""
        daemon = self.watch()
        jvm = self.container("Generations", str(GENERATIONS), str(WORK_MS), "2", jdk=jdk,
                             env={"JDK_JAVA_OPTIONS": " ".join(["-Xbatch", *flags])})
        jvm.wait_for_line("ready")
        daemon.wait_for_jvm(jvm.pid)
        out = self.directory / "recorded.folded"
        recorder = self.background(
            [collector.settings.COLLECTOR, "record", "-d", "600", "-F", HZ, "--threads",
             "--container", jvm.id, "-o", out, *self.place.options()], "record")
        pid = jvm.pid
        truth = jvm.wait_end(120)
        replaced = self.replaced(daemon.read_map(pid))
        print(f"addresses of {replaced} generations were used again")
        self.assertGreater(replaced, 50)
        finished = recorder.stop(signal.SIGINT)
        self.assertEqual(finished.code, 0, str(finished))
        return Score(truth, collector.Recording(finished, out).folded)

    @staticmethod
    def replaced(text):
        """The number of generations of which later generations have replaced code, in part or in
        full. All generations have the same size."""
        sizes = collections.Counter()
        for size, name in re.findall(r"^\w+ (\w+) .*?(Gen\d{4})", text, re.MULTILINE):
            sizes[name] += int(size, 16)
        whole = statistics.median(sizes.values())
        return GENERATIONS - sum(size > .9 * whole for size in sizes.values())

    def assert_right(self, jdk, *flags):
        score = self.score(jdk, *flags)
        said = f"{score}\n{score.missed.top()}"
        print(score)
        self.assertEqual(len(score.truth), GENERATIONS, said)
        # All of their time was seen, and where it was spent.
        self.assertGreater(score.samples, 0.95 * HZ * sum(score.truth.values()) / 1e9, said)
        self.assertGreater(score.agreement, score.agreement_by_chance - 0.02, said)
        self.assertGreaterEqual(score.right, 0.99, said)
        self.assertLessEqual(score.misnamed, 0.001, said)

    def test_samples_are_on_the_right_generation_17(self):
        self.assert_right(17, SWEEP_OFTEN)

    def test_samples_are_on_the_right_generation_25(self):
        self.assert_right(25)

    def test_samples_are_on_the_right_generation_in_a_small_code_cache_17(self):
        self.assert_right(17, "-XX:ReservedCodeCacheSize=8m")

    def test_samples_are_on_the_right_generation_in_a_small_code_cache_25(self):
        self.assert_right(25, "-XX:ReservedCodeCacheSize=8m")
