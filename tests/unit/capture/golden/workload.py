#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A workload of the stack benchmark, for golden captures.

usage: workload.py run NAME JDK     starts it, prints "ready PID" (0: there are several JVMs), and goes
                                    on until SIGTERM
       workload.py judge NAME FILE  FILE: folded stacks with processes and threads. Exit 1 if a stack
                                    is not what the workload's stacks must be
"""

import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "e2e"))

# pylint: disable=wrong-import-position
from harness import collector  # noqa: E402
from harness.folded import Folded  # noqa: E402
from score_stacks import Score  # noqa: E402
from stack_workloads import WORKLOADS, Agent  # noqa: E402

DAY_SEC = 86400
# Deeper than a snapshot or than what is kept of a stack.
MAY_BE_CUT = {"recursion-3000", "recursion-100000"}


def run(name, jdk):
    workload = WORKLOADS[name]
    why_not = workload.why_not(jdk)
    if why_not:
        sys.exit(f"{name} with JDK {jdk}: {why_not}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with workload.running(Agent(collector.Place("/opt"), "framepointer=off"), jdk, DAY_SEC) as running:
        print("ready", running.pid or 0, flush=True)
        while True:
            time.sleep(60)


def judge(name, path):
    workload = WORKLOADS[name]
    folded = Folded.read(path)
    score = Score(folded, workload.must)
    print(score)
    if score.own == 0 or score.counts["bad"] or \
            score.counts["cut"] and name not in MAY_BE_CUT:
        sys.exit(f"{folded.top()}\n{score.top_bad(5)}")


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("run", "judge"):
        sys.exit(__doc__)
    if sys.argv[1] == "run":
        run(sys.argv[2], int(sys.argv[3]))
    else:
        judge(sys.argv[2], sys.argv[3])


main()
