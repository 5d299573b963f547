# SPDX-License-Identifier: Apache-2.0
"""perf records in the same seconds as fgcollect; of each is told how many frames have a name."""

from . import chance, processes

UNNAMED = 0.001         # of frames, at most


def share(frames, named):
    return named / max(frames, 1)


def named_frames(stacks):
    """Of folded stacks: how many frames, each as often as it was sampled, and how many named."""
    frames = [(frame, count) for stack, count in stacks.stacks for frame in stack[1:]]
    total = sum(count for _, count in frames)
    return total, total - sum(count for frame, count in frames if frame.startswith("[unknown"))


def assert_named(case, frames, named, what):
    chance.assert_at_most(case, frames - named, frames, UNNAMED, what)


class SideBySide:
    """perf's recording; it begins at once."""

    def __init__(self, case, seconds, hz):
        self.case = case
        self.data = case.directory / "perf.data"
        self.perf = case.background(["perf", "record", "-q", "-a", "-F", hz, "-g", "-o", self.data,
                                     "--", "sleep", seconds], "perf")

    def by_perf(self, pid):
        """As named_frames, of one process."""
        self.perf.wait()
        text = processes.run(["perf", "script", "-f", "-i", self.data, "--pid", pid, "-F",
                              "comm,ip,sym"], check=True).out
        lines = [line for sample in text.split("\n\n") for line in sample.splitlines()[1:]]
        return len(lines), sum("[unknown]" not in line for line in lines)

    def compare(self, what, stacks, pid):
        """Prints both tools' shares of named frames, and holds ours to what is promised."""
        ours, perfs = named_frames(stacks), self.by_perf(pid)
        print(f"{what}: {ours[0]} frames, {share(*ours):.3%} named; "
              f"perf script: {perfs[0]}, {share(*perfs):.3%}")
        unnamed = {frame for stack, _ in stacks.stacks for frame in stack
                   if frame.startswith("[unknown")}
        self.case.assertGreater(ours[0], 100, what)
        assert_named(self.case, *ours, f"{what}\n{unnamed}")
