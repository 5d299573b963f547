# SPDX-License-Identifier: Apache-2.0
"""How tests/java/SlowInstructions.java is started, and its shares in folded stacks."""

import re

from harness.folded import JAVA_SUFFIX

CASES = ("atomic", "division", "miss", "call", "loop", "beside", "poll")
FLAGS = tuple(f"-XX:CompileCommand={command}" for command in (
    "quiet", "inline,SlowInstructions.slow*", "inline,SlowInstructions.cheap*",
    "dontinline,SlowInstructions.*Work", "dontinline,SlowInstructions.*Twice",
    "dontinline,SlowInstructions.callee"))
C1 = "-XX:TieredStopAtLevel=1"


def halves(stacks, case):
    """The shares of slow() and of cheap() in the samples of the case, and the number of these
    samples."""
    slow = cheap = samples = 0
    for frames, count in stacks:
        names = [JAVA_SUFFIX.sub("", frame) for frame in frames]
        if f"SlowInstructions.{case}Work" not in names:
            continue
        inner = " ".join(names[names.index(f"SlowInstructions.{case}Work"):])
        samples += count
        if re.search(r"SlowInstructions\.(slow|callee)", inner):
            slow += count
        elif "SlowInstructions.cheap" in inner:
            cheap += count
    return slow / max(1, samples), cheap / max(1, samples), samples
