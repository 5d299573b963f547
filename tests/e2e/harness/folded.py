# SPDX-License-Identifier: Apache-2.0
"""Folded stacks ("root;frame;leaf COUNT") and the line that says how good a recording was."""

import math
import pathlib
import re

PLACE = re.compile(r"^[\w.-]+: ")  # of a process's pod, container or service
JAVA_SUFFIX = re.compile(r"_\[[01ij]\]$")


class Folded:
    """stacks: list of (frames from the root on, count)."""

    def __init__(self, text):
        self.stacks = []
        for line in text.splitlines():
            stack, _, count = line.rpartition(" ")
            self.stacks.append((stack.split(";"), int(count)))

    @classmethod
    def read(cls, path):
        return cls(pathlib.Path(path).read_text())

    @property
    def samples(self):
        return sum(count for _, count in self.stacks)

    def roots(self):
        """Samples by program: the root without the place where the program runs."""
        totals = {}
        for frames, count in self.stacks:
            program = PLACE.sub("", frames[0])
            totals[program] = totals.get(program, 0) + count
        return totals

    def of_root(self, *names):
        part = Folded("")
        part.stacks = [(f, c) for f, c in self.stacks if PLACE.sub("", f[0]) in names]
        return part

    def count(self, wanted):
        """Samples with at least one frame for which wanted(name without suffix) holds."""
        return sum(count for frames, count in self.stacks
                   if any(wanted(JAVA_SUFFIX.sub("", frame)) for frame in frames))

    def with_method(self, name):
        """Samples with that Java method on the stack, compiled in whatever way."""
        return self.count(lambda frame: frame == name)

    def with_unknown(self):
        return self.count(lambda frame: frame.startswith("[unknown"))

    def kinds(self):
        """Which kinds of frames there are: 'j' for any Java, 'k' kernel, 'plain'."""
        kinds = set()
        for frames, _ in self.stacks:
            for frame in frames[1:]:
                if JAVA_SUFFIX.search(frame):
                    kinds.add("j")
                else:
                    kinds.add("k" if frame.endswith("_[k]") else "plain")
        return kinds

    def top(self, n=15):
        """The most frequent stacks, for messages."""
        rows = sorted(self.stacks, key=lambda row: -row[1])[:n]
        return "\n".join(f"{count:6} {';'.join(frames)}" for frames, count in rows)


def tolerance(share, samples, points=0.03, sigmas=3):
    """How far a measured share may be off: the points asked for, and what sampling adds."""
    return points + sigmas * math.sqrt(share * (1 - share) / max(samples, 1))


class Quality:
    """The quality line of a recording; attributes are None where the line does not say."""

    def __init__(self, text):
        lines = [line for line in text.splitlines()
                 if line.startswith(("quality:", "quality of "))]
        if not lines:
            raise AssertionError(f"no quality line in:\n{text}")
        self.line = lines[0]
        self.samples = self._number(r"([\d,]+) samples?")
        self.java_named = self._number(r"([\d.]+) ?% (?:of )?Java named")
        self.named = self._number(r"([\d.]+) ?% named")
        self.rooted = self._number(r"([\d.]+) ?% rooted")
        self.lost = self._number(r"([\d,]+) lost")

    def _number(self, pattern):
        match = re.search(pattern, self.line)
        return float(match.group(1).replace(",", "")) if match else None


def printed_shares(text):
    """What Shares.print() wrote: {'hot': 0.6003, ...}."""
    return {name: float(share)
            for name, share in re.findall(r"^share (\w+) ([\d.]+) of ", text, re.MULTILINE)}
