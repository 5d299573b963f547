#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the agent adds to `java -version`: alternating pairs of runs, with and without it.

Prints the medians of wall-clock time and of CPU time (which a busy machine disturbs less), the
median of the pairs' differences and the ratio of the medians, once with nobody listening and once
connected to a listener.

usage: agent_startup.py --agent libfgagent.so --listener PROGRAM [--pairs 20] [JDK_HOME ...]
"""

import argparse
import glob
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time


def find_jdks():
    homes = {os.path.realpath(home) for home in glob.glob("/usr/lib/jvm/*")}
    return sorted(home for home in homes if os.access(f"{home}/bin/java", os.X_OK))


def run_ms(command):
    """Wall-clock and CPU milliseconds of one run."""
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"{command} ended with {child.returncode}")
    return wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000


def measure(java, agent, pairs):
    """Lists of (wall, CPU) without and with the agent, in pairs whose order alternates."""
    commands = [[java, "-version"], [java, f"-agentpath:{agent}", "-version"]]
    times = [[], []]
    for command in commands:
        run_ms(command)
    for pair in range(pairs):
        for which in (0, 1) if pair % 2 == 0 else (1, 0):
            times[which].append(run_ms(commands[which]))
    return times


def report(name, state, times):
    for column, what in enumerate(("wall", "CPU")):
        without, with_agent = ([run[column] for run in runs] for runs in times)
        difference = statistics.median(b - a for a, b in zip(without, with_agent))
        before, after = statistics.median(without), statistics.median(with_agent)
        print(f"{name:24} {state:11} {what:4} {len(without)} pairs: without {before:7.2f} ms, "
              f"with {after:7.2f} ms, difference {difference:+6.2f} ms, "
              f"ratio {after / before:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", required=True)
    parser.add_argument("--listener", required=True)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("jdks", nargs="*")
    options = parser.parse_args()
    for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "FGAGENT_OPTS"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory(prefix="fgagent-bench-") as directory:
        path = os.path.join(directory, "agent.sock")
        agent = f"{options.agent}=socket={path}"
        jdks = options.jdks or find_jdks()
        for jdk in jdks:
            report(os.path.basename(jdk), "unconnected",
                   measure(f"{jdk}/bin/java", agent, options.pairs))
        listener = subprocess.Popen([options.listener, path], stdout=subprocess.DEVNULL)
        try:
            while not os.path.exists(path):
                time.sleep(0.01)
            for jdk in jdks:
                report(os.path.basename(jdk), "connected",
                       measure(f"{jdk}/bin/java", agent, options.pairs))
        finally:
            listener.send_signal(signal.SIGTERM)
            listener.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
