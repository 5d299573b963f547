# SPDX-License-Identifier: Apache-2.0
"""Whether the time of a slow instruction is its own, where it is the last one of an inlined method.

tests/java/SlowInstructions.java knows how its time is divided; fgcollect and async-profiler record
it at once, and each one's share of the slow half and of the cheap half stands beside the truth. C1
says of no arithmetic and of no atomic where it comes from: there only the other slow halves have
one.
"""

import argparse
import sys

import async_profiler
from bench_place import collector, java, place, processes
from harness import folded
from harness.folded import printed_shares
from slow_halves import C1, CASES, FLAGS, halves

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--seconds", type=float, default=5, help="of each case")
arguments.add_argument("--hz", type=int, default=499)
arguments.add_argument("--jdk", type=int, action="append", help="17 and 25 unless given")
arguments.add_argument("--compiler", action="append", choices=("c1", "c2"))
options = arguments.parse_args()


def run(here, jdk, compiler):
    flags = [*FLAGS, *([C1] if compiler == "c1" else [])]
    seconds = options.seconds * len(CASES)
    jvm = processes.Background(java(here, "SlowInstructions", ",".join(CASES), seconds, jdk=jdk,
                                    flags=flags), here.directory / "java.log")
    beside = here.directory / "async.collapsed"
    try:
        processes.wait_until(lambda: "ready" in jvm.text, lambda: jvm.text)
        has_peer = attach(jdk, jvm.pid)
        ours = collector.record(here, "-p", jvm.pid, seconds=seconds - 4, hz=options.hz).folded
        if has_peer:
            async_profiler.stop(jdk, jvm.pid, beside)
        jvm.wait()
        truth = printed_shares(jvm.text)
    finally:
        jvm.stop()
    peer = folded.Folded.read(beside) if has_peer else folded.Folded("")
    for case in CASES:
        cells = [[truth[f"{case}_{half}"] for half in ("slow", "cheap")],
                 halves(ours.stacks, case)[:2], halves(peer.stacks, case)[:2]]
        print(f"{jdk:>3} {compiler:8} {case:9}" +
              "".join(f"{100 * slow:10.1f} / {100 * cheap:5.1f}" for slow, cheap in cells),
              flush=True)


def attach(jdk, pid):
    try:
        async_profiler.start(jdk, pid, options.hz)
    except LookupError as error:
        print(f"without async-profiler: {error}", file=sys.stderr)
        return False
    return True


print(f"{'jdk':>3} {'compiler':8} {'case':9}{'truth: slow / cheap %':>18}{'fgcollect':>16}"
      f"{'async-profiler':>18}", flush=True)
for each_jdk in options.jdk or (17, 25):
    for each_compiler in options.compiler or ("c2", "c1"):
        with place() as of_run:
            run(of_run, each_jdk, each_compiler)
