#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The share of Generations' CPU time that was put on the right generation's method.

usage: score_generations.py TRUTH FOLDED

TRUTH is the output of Generations. FOLDED was recorded during the run with --threads (and -F 999).
Each generation ran in a thread of its own, whose name the kernel reports with each sample. So a
thread's sample is right if its stack has that generation's class and no other generation's class.
Each sample is judged by itself, so the result has no noise of sampling. All samples of these
threads count.

Two more figures say whether all CPU time was seen. The first is the number of samples per second of
CPU time. The second is how far the generations' shares of the samples agree with their shares of
the CPU time. Sampling lowers this agreement: with n samples in g generations by about
sqrt(2 g / (pi n)) / 2.
"""

import collections
import math
import pathlib
import re
import sys

from harness.folded import JAVA_SUFFIX, Folded

THREAD = re.compile(r"gen-(\d{4})(?: |$|/)")
METHOD = re.compile(r"Generations\$Gen(\d{4})\.\w+")
TRUTH = re.compile(r"^generation (\d{4}) (\d+) (\d+) (\d+)$", re.MULTILINE)


def read_truth(text):
    """Returns the CPU nanoseconds of each generation."""
    return {number: int(cpu) for number, _, _, cpu in TRUTH.findall(text)}


def thread_of(frames):
    for frame in frames[:3]:
        match = THREAD.match(frame)
        if match:
            return match.group(1)
    return None


def verdict(generation, frames):
    """'right', or why a stack of the generation's thread is not right."""
    named = {match.group(1) for frame in frames for match in [METHOD.match(frame)] if match}
    if named == {generation}:
        return "right"
    if named:
        return "another generation"
    if any(frame.startswith("[unknown") for frame in frames):
        return "unnamed"
    if any(frame.startswith("Interpreter") for frame in frames[-1:]):
        return "interpreted"
    if any(JAVA_SUFFIX.search(frame) for frame in frames):
        return "other Java"
    return "no Java frame"


class Score:
    def __init__(self, truth_text, folded):
        self.truth = read_truth(truth_text)
        self.verdicts = collections.Counter()
        self.by_generation = collections.Counter()
        self.missed = Folded("")
        for frames, count in folded.stacks:
            generation = thread_of(frames)
            if generation is None:
                continue
            found = verdict(generation, frames)
            self.verdicts[found] += count
            if found == "right":
                self.by_generation[generation] += count
            else:
                self.missed.stacks.append(([found, *frames], count))

    @property
    def samples(self):
        return sum(self.verdicts.values())

    @property
    def right(self):
        """The share of the threads' samples that are on the right generation's method."""
        return self.verdicts["right"] / max(self.samples, 1)

    @property
    def misnamed(self):
        """The share of wrong or missing names among wrong, missing and right names."""
        wrong = self.verdicts["another generation"] + self.verdicts["unnamed"]
        return wrong / max(wrong + self.verdicts["right"], 1)

    @property
    def agreement(self):
        """The overlap of the shares of samples with those of CPU time; 1: all shares are equal."""
        cpu, samples = sum(self.truth.values()), max(sum(self.by_generation.values()), 1)
        return sum(min(self.by_generation[number] / samples, ns / cpu)
                   for number, ns in self.truth.items())

    @property
    def agreement_by_chance(self):
        """The agreement that is expected of samples taken at random."""
        return 1 - math.sqrt(2 * len(self.truth) / (math.pi * max(self.samples, 1))) / 2

    def __str__(self):
        cpu = sum(self.truth.values()) / 1e9
        rows = ", ".join(f"{count} {name}" for name, count in self.verdicts.most_common())
        return (f"{100 * self.right:.2f} % of {self.samples} samples on the right generation of "
                f"{len(self.truth)} ({rows}); {100 * self.misnamed:.3f} % misnamed\n"
                f"{self.samples / max(cpu, 1e-9):.1f} samples per second of CPU time in {cpu:.2f} s; "
                f"shares agree to {100 * self.agreement:.1f} %, "
                f"{100 * self.agreement_by_chance:.1f} % by chance")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    score = Score(pathlib.Path(sys.argv[1]).read_text(), Folded.read(sys.argv[2]))
    print(score)
    if score.missed.stacks:
        print(score.missed.top())


if __name__ == "__main__":
    main()
