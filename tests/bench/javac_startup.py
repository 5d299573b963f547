# SPDX-License-Identifier: Apache-2.0
"""The whole time of javac, which compiles some hundred files: with the agent, with one that only
listens, and without any.

A short program that has much of itself compiled is the worst case for an agent that is told of every
method. Rounds that alternate in order, with a collector connected; frame pointers are the same in
all, so that the agent alone is measured. Prints the medians of the rounds' ratios. An agent that has
the events switched on and does nothing with them shows what HotSpot itself spends on them: the least
that any agent can cost that is told of code. That nothing was lost is asked of the collector while the JVM still runs: after the last
pair, in a run that is not timed.

One run differs from the next by a tenth and more on a machine that is shared. With --beside two runs
go at the same time, each on a CPU of its own, and change places in the next round, so that what
slows the machine slows both. The collector is on the CPU of the one with the agent. It also says
whose CPU time it was, by the names of the JVM's threads.
"""

import argparse
import collections
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import threading
import time

from bench_place import collector, place, processes, settings
from generated_sources import write_sources

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--rounds", type=int, default=7)
arguments.add_argument("--files", type=int, default=300)
arguments.add_argument("--frame-pointers", choices=("on", "off"), default="on",
                       help="on in both, or off in both")
arguments.add_argument("--agent-options", default="", metavar="KEY=VALUE,...")
arguments.add_argument("--jvm-flag", action="append", default=[], metavar="FLAG",
                       help="given with either agent, such as -XX:-DebugNonSafepoints")
arguments.add_argument("--jdk", type=int, default=17)
arguments.add_argument("--apart", action="store_true",
                       help="the collector has the last CPU for itself: what is left is the agent's")
arguments.add_argument("--beside", choices=("without", "listening"),
                       help="two at the same time: the one judged, and this")
arguments.add_argument("--judged", choices=("with", "listening"), default="with",
                       help="of the two at the same time, the one whose cost is measured")
options = arguments.parse_args()
if options.beside == options.judged:
    arguments.error(f"--beside {options.beside} --judged {options.judged}: that is the same twice")

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
    if agent != NONE:
        flags += options.jvm_flag
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


def thread_seconds(pid):
    """CPU time by the name of the thread, of those that are alive."""
    seconds = collections.Counter()
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        try:
            name = (task / "comm").read_text().strip()
            seconds[name] += int((task / "schedstat").read_text().split()[0]) / 1e9
        except OSError:
            continue  # it has ended meanwhile
    return seconds


class Beside:
    """One of two javacs that run at the same time."""

    def __init__(self, where, sources, agent, cpu):
        self.agent, self.threads, self.began = agent, collections.Counter(), time.monotonic()
        out = where.directory / f"out-{cpu}"
        out.mkdir(exist_ok=True)
        # As many threads as it would have if it had the machine.
        command = [*javac(where, sources, agent), "-d", out, f"-J-XX:ActiveProcessorCount={len(CPUS)}"]
        self.child = subprocess.Popen(["taskset", "-c", str(cpu), *map(str, command)],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def is_over(self):
        """Looks at its threads, too; when it has ended, its times are known."""
        now = thread_seconds(self.child.pid)
        self.threads.update({name: max(0, s - self.threads[name]) for name, s in now.items()})
        pid, status, used = os.wait4(self.child.pid, os.WNOHANG)
        if not pid:
            return False
        self.child.returncode = os.waitstatus_to_exitcode(status)
        if status:
            raise SystemExit(f"javac ended with {self.child.returncode}")
        self.clock, self.cpu = time.monotonic() - self.began, used.ru_utime + used.ru_stime
        return True


def run_beside(where, sources, agents):
    both = [Beside(where, sources, agent, cpu) for agent, cpu in zip(agents, CPUS)]
    waiting = list(both)
    while waiting:
        waiting = [one for one in waiting if not one.is_over()]
        time.sleep(0.1)
    return {one.agent: one for one in both}


def log_mean(pairs):
    """The ratio, and its standard error, of two rounds each, in which both were on either CPU."""
    logs = [(math.log(a) + math.log(b)) / 2 for a, b in zip(pairs[::2], pairs[1::2])]
    error = statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
    return math.exp(statistics.mean(logs)), error


def compare_beside(where, sources, daemon):
    rounds, collector_seconds = [], 0
    for n in range(-1, options.rounds + options.rounds % 2):
        agents = (options.judged, options.beside) if n % 2 else (options.beside, options.judged)
        for task in pathlib.Path(f"/proc/{daemon.pid}/task").glob("*"):
            os.sched_setaffinity(int(task.name), {CPUS[agents.index(options.judged)]})
        before = sum(thread_seconds(daemon.pid).values())
        done = run_beside(where, sources, agents)
        if n < 0:
            continue  # warms the page cache
        collector_seconds += sum(thread_seconds(daemon.pid).values()) - before
        rounds.append(done)
        print(f"round {n + 1}: " + ", ".join(f"{agent} {one.clock:.2f} s ({one.cpu:.2f} of CPU)"
                                             for agent, one in sorted(done.items())), flush=True)
    for what in ("clock", "cpu"):
        ratio, error = log_mean([getattr(r[options.judged], what) / getattr(r[options.beside], what)
                                 for r in rounds])
        print(f"figure {ratio:.4f} by {what}, standard error {error:.4f}: {options.judged} over "
              f"{options.beside}, {len(rounds)} rounds side by side")
    total = sum(r[options.beside].cpu for r in rounds)
    print(f"per cent of the CPU time {options.beside} ({total / len(rounds):.2f} s):")
    names = set().union(*(one.threads for r in rounds for one in r.values()))
    for name in sorted(names):
        spent = {agent: sum(r[agent].threads[name] for r in rounds)
                 for agent in (options.judged, options.beside)}
        if max(spent.values()) > total / 1000:
            print(f"  {name:16} {100 * spent[options.beside] / total:6.2f} {options.beside}, "
                  f"{100 * spent[options.judged] / total:6.2f} {options.judged}")
    print(f"  {'the collector':16} {100 * collector_seconds / total:6.2f}")


with place() as here:
    files = write_sources(here.directory / "generated", options.files)
    daemon = collector.Watch(here, prefix=ON_LAST).started()
    if options.beside:
        try:
            compare_beside(here, files, daemon)
        finally:
            daemon.stop()
        sys.exit()
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
