# SPDX-License-Identifier: Apache-2.0
"""Throughput of Mixed with the agent, connected to a collector, against that without the agent.

Both with -XX:+PreserveFramePointer, so that the agent alone is measured; pairs that alternate in
order; the same work in each. Prints the median of the pairs' ratios: 0.990 or more is wanted.
"""

import argparse
import statistics

from bench_place import collector, java, place, processes

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--pairs", type=int, default=11)
arguments.add_argument("--rounds", type=int, default=200, help="rounds of Mixed in each run")
arguments.add_argument("--warm-up", type=int, default=100, help="rounds before those measured")
arguments.add_argument("--jdk", type=int, default=17)
options = arguments.parse_args()


def run(where, agent):
    finished = processes.run(
        java(where, "Mixed", "--rounds", options.rounds, options.warm_up, agent=agent,
             jdk=options.jdk, flags=["-XX:+PreserveFramePointer", "-XX:+UseSerialGC", "-Xmx256m"]),
        timeout=600, check=True)
    _, cpu, wall = finished.out.split()
    return float(cpu), float(wall)


with place() as here:
    daemon = collector.Watch(here)
    try:
        daemon.started()
        ratios = []
        for pair in range(options.pairs):
            order = (True, False) if pair % 2 else (False, True)
            times = {agent: run(here, agent) for agent in order}
            ratios.append(tuple(times[False][i] / times[True][i] for i in (0, 1)))
            print(f"pair {pair + 1}: cpu {ratios[-1][0]:.4f}, wall {ratios[-1][1]:.4f}", flush=True)
    finally:
        daemon.stop()
    print(f"ratio {statistics.median(r[0] for r in ratios):.4f} by CPU time, "
          f"{statistics.median(r[1] for r in ratios):.4f} by the clock; throughput with the agent "
          f"over without, median of {options.pairs} pairs, {options.rounds} rounds of Mixed, "
          f"JDK {options.jdk}")
