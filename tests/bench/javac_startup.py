# SPDX-License-Identifier: Apache-2.0
"""The whole time of javac, which compiles some hundred files: with the agent, with one that only
listens, and without any.

A short program that has much of itself compiled is the worst case for an agent that is told of every
method. Rounds that alternate in order, with a collector connected; frame pointers are the same in
all, so that the agent alone is measured. Prints the medians of the rounds' ratios. An agent that has
the events switched on and does nothing with them shows what HotSpot itself spends on them: the least
that any agent can cost that is told of code. That nothing was lost is asked of the collector while the JVM still runs: after the last
pair, in a run that is not timed.
"""

import argparse
import os
import resource
import statistics
import sys
import threading

from bench_place import collector, place, processes, settings
from generated_sources import write_sources

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--rounds", type=int, default=7)
arguments.add_argument("--files", type=int, default=300)
arguments.add_argument("--frame-pointers", choices=("on", "off"), default="on",
                       help="on in both, or off in both")
arguments.add_argument("--agent-options", default="", metavar="KEY=VALUE,...")
arguments.add_argument("--jdk", type=int, default=17)
arguments.add_argument("--apart", action="store_true",
                       help="the collector has the last CPU for itself: what is left is the agent's")
options = arguments.parse_args()

LISTENER = settings.BUILD / "tests/bench/liblistening_agent.so"
NONE, LISTENS, OURS = "without", "listening", "with"

CPUS = sorted(os.sched_getaffinity(0))
ON_LAST = ["taskset", "-c", str(CPUS[-1])] if options.apart else []
ON_OTHERS = ["taskset", "-c", ",".join(map(str, CPUS[:-1]))] if options.apart else []


def javac(where, sources, agent):
    home = settings.jdk_home(options.jdk)
    if not home:
        sys.exit(f"no JDK {options.jdk}: set FG_JDK{options.jdk} to its home")
    flags = ["-XX:+PreserveFramePointer"] if options.frame_pointers == "on" else []
    if agent == LISTENS:
        flags.append(f"-agentpath:{LISTENER}")
    if agent == OURS:
        extra = "" if options.frame_pointers == "on" else ",framepointer=off"
        extra += f",{options.agent_options}" if options.agent_options else ""
        flags.append(f"-agentpath:{settings.AGENT}=socket={where.socket}{extra}")
    return [*ON_OTHERS, home / "bin" / "javac", *[f"-J{flag}" for flag in flags], "-nowarn", "-d",
            where.directory / "out", f"@{sources}"]


def run(where, sources, agent):
    """Seconds by the clock and of CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    finished = processes.run(javac(where, sources, agent), timeout=120, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return finished.seconds, (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def last_words(daemon, where, sources):
    """What the collector knew of a javac at last."""
    rows, ended = [], threading.Event()

    def look():
        while not ended.wait(0.05):
            rows.append(daemon.jvm(child.pid))
    child = processes.Background(javac(where, sources, OURS), where.directory / "javac.log")
    looking = threading.Thread(target=look)
    looking.start()
    try:
        finished = child.wait(120)
        ended.wait(0.3)
    finally:
        ended.set()
        looking.join()
        child.stop()
    if finished.code != 0:
        raise SystemExit(str(finished))
    known = [row for row in rows if row]
    if not known:
        raise SystemExit("the collector never knew that JVM")
    return known[-1]


with place() as here:
    files = write_sources(here.directory / "generated", options.files)
    daemon = collector.Watch(here, prefix=ON_LAST).started()
    try:
        kinds = (NONE, LISTENS, OURS)
        for agent in kinds:
            run(here, files, agent)
        rounds = []
        for n in range(options.rounds):
            order = kinds[n % 3:] + kinds[:n % 3]
            rounds.append({agent: run(here, files, agent) for agent in order})
            print(f"round {n + 1}: " + ", ".join(
                f"{agent} {rounds[-1][agent][0]:.3f} s ({rounds[-1][agent][1]:.2f} of CPU)"
                for agent in kinds), flush=True)
        row = last_words(daemon, here, files)
    finally:
        daemon.stop()
    for over, under in ((OURS, NONE), (LISTENS, NONE), (OURS, LISTENS)):
        clock, cpu = (statistics.median(r[over][i] / r[under][i] for r in rounds)
                      for i in range(2))
        print(f"figure {clock:.4f} by the clock, {cpu:.4f} by CPU time: {over} over {under}, "
              f"median of {options.rounds} rounds")
    print(f"{statistics.median(r[NONE][0] for r in rounds):.3f} s without; {options.files} files, "
          f"frame pointers {options.frame_pointers}, JDK {options.jdk}, "
          f"{'collector on a CPU of its own' if options.apart else 'collector on the same CPUs'}")
    print(f"methods and stubs told: {row['loads']}, dropped {row['unloads']}, "
          f"state {row['state']}, lost {row['lost_by_agent'] or 'none'}, gaps {row['gaps']}")
    if row["lost_by_agent"] or row["gaps"] or row["bad_records"] or row["rejected"]:
        raise SystemExit(f"not all is accounted for: {row}")
