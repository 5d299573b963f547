# SPDX-License-Identifier: Apache-2.0
"""Throughput of Mixed with the agent, connected to a collector, against that without the agent.

Both with -XX:+PreserveFramePointer, so that the agent alone is measured; pairs that alternate in
order; the same work in each. Prints the medians of the pairs' ratios, by the CPU time of the thread
that works, by the clock, and by the CPU time of the whole process from its start to its end: 0.990
or more is wanted. On a machine with other work the clock says little.
"""

import argparse
import resource
import statistics

from bench_place import collector, java, place, processes

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--pairs", type=int, default=11)
arguments.add_argument("--rounds", type=int, default=200, help="rounds of Mixed in each run")
arguments.add_argument("--warm-up", type=int, default=100, help="rounds before those measured")
arguments.add_argument("--jdk", type=int, default=17)
options = arguments.parse_args()


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(where, agent):
    before = children_cpu()
    finished = processes.run(
        java(where, "Mixed", "--rounds", options.rounds, options.warm_up, agent=agent,
             jdk=options.jdk, flags=["-XX:+PreserveFramePointer", "-XX:+UseSerialGC", "-Xmx256m"]),
        timeout=600, check=True)
    _, cpu, wall = finished.out.split()
    return float(cpu), float(wall), children_cpu() - before


with place() as here:
    daemon = collector.Watch(here)
    try:
        daemon.started()
        ratios = []
        for pair in range(options.pairs):
            order = (True, False) if pair % 2 else (False, True)
            times = {agent: run(here, agent) for agent in order}
            ratios.append(tuple(times[False][i] / times[True][i] for i in range(3)))
            print(f"pair {pair + 1}: thread {ratios[-1][0]:.4f}, clock {ratios[-1][1]:.4f}, "
                  f"process {ratios[-1][2]:.4f}", flush=True)
    finally:
        daemon.stop()
    thread, clock, process = (statistics.median(r[i] for r in ratios) for i in range(3))
    print(f"ratio {thread:.4f} by the thread's CPU time, {clock:.4f} by the clock, {process:.4f} by "
          f"the process' CPU time; throughput with the agent over without, median of "
          f"{options.pairs} pairs, {options.rounds} rounds of Mixed, JDK {options.jdk}")
