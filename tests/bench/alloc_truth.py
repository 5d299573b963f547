# SPDX-License-Identifier: Apache-2.0
"""Allocations, locks and exceptions: how true a recording is, and what it costs.

alloc: a program that knows what it allocates, half of it in one class and 20 % in another, at three
sites, is recorded by fgcollect and by async-profiler, in alternation, in a JVM of its own each
time: the JVM lets one of them sample at a time. Prints the bytes that were found in per cent of
what the program knows, and by how many points the share of a class and of a site is off at most.
Then the same of each size of arrays alone. Totals within 3 % and shares within 2 points are wanted.

lock: likewise of a program that knows how long it waits for monitors and for locks of
java.util.concurrent; with both at once, too. Within 1 % of monitors and 2 % of locks is wanted.

exceptions: likewise, of fgcollect alone: each exception with a stack trace is wanted.

cost: nanoseconds of one operation without any agent, with an event that is on while nobody records,
and while fgcollect or async-profiler record, in alternation: 1 KiB allocated and filled, a free
monitor, a free ReentrantLock, throws. Prints medians, the best tenth of all quarters
of a second, their ratios to no agent at all, and the collector's processor time.

Run as root, from a build with optimisation, on a quiet machine.
"""

import argparse
import contextlib
import statistics
import sys
import time

import async_profiler
from bench_place import collector, java, place, processes, settings

from harness import truth, usdt
from harness.folded import JAVA_SUFFIX, Folded

# JDK 17 gives objects of a quarter of the interval or more too few samples.
SIZES = ("64,256,1024,4096", "64,1024,16384,262144,4194304")
ONE_SIZE = (64, 1024, 16384, 65536, 262144, 1048576, 4194304)
LOCK_SITES = {"monitor": "Monitor.acquire", "lock": "Lock.acquire"}
MEMORY = "-Xmx512m"

arguments = argparse.ArgumentParser(description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("what", nargs="*", help="alloc, lock, exceptions, cost; all unless given")
arguments.add_argument("--seconds", type=float, default=10, help="of each turn and run")
arguments.add_argument("--times", type=int, default=3)
arguments.add_argument("--jdk", type=int, default=17)
arguments.add_argument("--interval", default="512k", help="of allocations: 16k, 64k, 512k, 2m")
arguments.add_argument("--mb", type=int, default=400, help="MB/s that are allocated")
arguments.add_argument("--way", action="append", help="fgcollect, async-profiler, both")
arguments.add_argument("--operation", action="append", help="of cost; all unless given")
options = arguments.parse_args()


def is_on(daemon, pid, event):
    return event not in daemon.jvm(pid)["probes"] or daemon.jvm(pid)["probes"][event] == "on"


class Ours:
    """fgcollect, from when the event is on until finish()."""

    name = "fgcollect"
    unit = {"alloc": 1, "lock": 1000, "exceptions": 1}

    def __init__(self, here, daemon, pid, event):
        interval = ("--alloc-interval", options.interval) if event == "alloc" else ()
        self.event = event
        self.recorder = truth.Recorder(here, pid, "--kind", event, *interval)
        self.recorder.wait_until_it_records(lambda: is_on(daemon, pid, event))

    def finish(self, keep=True):
        self.recorder.finish()
        return self.recorder.folded(self.event) if keep else None

    def end(self):
        self.recorder.stop()


class Theirs:
    """async-profiler; its weights are bytes and nanoseconds."""

    name = "async-profiler"
    unit = {"alloc": 1, "lock": 1}

    def __init__(self, here, _daemon, pid, event):
        self.pid, self.out = pid, here.directory / "their.collapsed"
        more = f"alloc={options.interval}" if event == "alloc" else "lock=1"
        async_profiler.command(options.jdk, pid, f"start,event={event},{more}")

    def finish(self, keep=True):
        async_profiler.stop(options.jdk, self.pid, self.out, "collapsed,total")
        return Folded.read(self.out) if keep else None

    def end(self):
        self.out.unlink(missing_ok=True)


def class_of(leaf):
    """fgcollect has "byte[]_[c]", async-profiler "byte[]_[i]"."""
    return JAVA_SUFFIX.sub("", truth.class_of(leaf))


def ways(event):
    there = [Ours]
    try:
        async_profiler.library()
        there += [Theirs] if event in Theirs.unit else []
    except LookupError as error:
        print(f"without async-profiler: {error}", file=sys.stderr)
    wanted = options.way or ("fgcollect", "async-profiler")
    return [way for way in there if way.name in wanted]


@contextlib.contextmanager
def program(here, name, *args):
    """A program with Turns in a JVM of its own, with the agent."""
    directory = here.directory / "turns"
    directory.mkdir()
    jvm = processes.Background(
        java(here, name, f"seconds={options.seconds}", *args, jdk=options.jdk,
             flags=(MEMORY, f"-Djava.io.tmpdir={directory}")), here.directory / "turns.log")
    try:
        yield jvm, truth.Program(lambda: jvm.text, directory)
    finally:
        jvm.stop()
        for path in directory.iterdir():
            path.unlink()
        directory.rmdir()


def recorded(here, daemon, profilers, event, name, *args):
    """A turn under those profilers: what the program knows, and the stacks of each."""
    with program(here, name, *args) as (jvm, work), contextlib.ExitStack() as ends:
        daemon.wait_for_jvm(jvm.pid)
        running = []
        for profiler in profilers:
            running.append(profiler(here, daemon, jvm.pid, event))
            ends.callback(running[-1].end)
        turn = work.turn()
        return turn, [profiler.finish() for profiler in running]


def found(turn, profiler, event, folded):
    rows = truth.found(turn.sites(), amounts=folded, name=class_of)
    return truth.Rows((*row[:3], row[3] * profiler.unit[event]) for row in rows.rows)


def ratio_of(got, known):
    return f"{100 * got / max(known, 1):8.2f} %"


def print_row(title, known, got, columns=("class", "site")):
    cells = [f"{truth.worst_share(known.amounts(column), got.amounts(column)):8.2f}"
             if column in columns else f"{'':8}" for column in ("class", "site")]
    print(f"{title:48}{ratio_of(got.amount, known.amount)}{''.join(cells)}", flush=True)


def print_head():
    print(f"{'':48}{'found':>10}{'class':>8}{'site':>8} points off at most")


def measure_alloc(here, daemon):
    print_head()
    for sizes in SIZES:
        for _ in range(options.times):
            for profiler in ways("alloc"):
                turn, (folded,) = recorded(here, daemon, [profiler], "alloc", "AllocTruth",
                                           f"mb={options.mb}", f"sizes={sizes}")
                print_row(f"{profiler.name}, {sizes}", turn.rows("alloc"),
                          found(turn, profiler, "alloc", folded))
    for size in ONE_SIZE:
        for profiler in ways("alloc"):
            turn, (folded,) = recorded(here, daemon, [profiler], "alloc", "AllocTruth",
                                       f"mb={options.mb}", f"sizes={size}")
            print_row(f"{profiler.name}, arrays of {size} bytes alone", turn.rows("alloc"),
                      found(turn, profiler, "alloc", folded))


def print_locks(title, turn, profiler, folded):
    got = found(turn, profiler, "lock", folded)
    for kind, site in LOCK_SITES.items():
        of_kind = truth.Rows(row for row in got.rows if row[1].endswith(site))
        # What j.u.c. parks for is an inner class of the lock.
        print_row(f"{title}, {kind}s", turn.rows(kind), of_kind,
                  ("class", "site") if kind == "monitor" else ("site",))
    idle = folded.samples * profiler.unit["lock"] - got.amount
    print(f"{title}, elsewhere: {idle / 1e6:.2f} ms")


def measure_lock(here, daemon):
    print_head()
    for _ in range(options.times):
        profilers = ways("lock")
        for profiler in profilers:
            turn, (folded,) = recorded(here, daemon, [profiler], "lock", "LockTruth")
            print_locks(profiler.name, turn, profiler, folded)
        if len(profilers) > 1:
            turn, stacks = recorded(here, daemon, profilers, "lock", "LockTruth")
            for profiler, folded in zip(profilers, stacks):
                print_locks(f"{profiler.name}, both at once", turn, profiler, folded)


def measure_exceptions(here, daemon):
    print_head()
    for rate in (2000, 20000):
        for _ in range(options.times):
            for profiler in ways("exceptions"):
                turn, (folded,) = recorded(here, daemon, [profiler], "exceptions",
                                           "ExceptionTruth", f"rate={rate}")
                known = truth.Rows((name, site, count, count) for name, site, count, _
                                   in turn.rows("exceptions").rows)
                print_row(f"{profiler.name}, {rate} exceptions/s", known,
                          found(turn, profiler, "exceptions", folded))


# ---- cost ----

# What is done, the event, and the point that switches this event on; exceptions have no switch.
COSTS = (("work", "alloc", {"16k": "alloc__arm_16k", "64k": "alloc__arm_64k",
                            "2m": "alloc__arm_2m"}.get(options.interval, "alloc__arm")),
         ("lock", "lock", "lock__arm"), ("reentrant", "lock", "lock__arm"),
         ("throw", "exceptions", None), ("deep", "exceptions", None),
         ("create", "exceptions", None))


@contextlib.contextmanager
def costs(here, operation, agent):
    """A JVM that does nothing else, past its warm-up."""
    jvm = processes.Background(java(here, "ProbeCosts", operation, agent=agent, jdk=options.jdk,
                                    flags=(MEMORY,)), here.directory / "costs.log")
    try:
        time.sleep(3)
        yield jvm
    finally:
        jvm.stop()


def figures(jvm):
    """The nanoseconds of one operation, from now on, of each quarter of a second."""
    before = len(jvm.text.split())
    time.sleep(options.seconds)
    return [int(word) / 1000 for word in jvm.text.split()[before + 1:]]


def alone(here, operation, _event, _arm):
    with costs(here, operation, agent=False) as jvm:
        return figures(jvm), None


def armed(here, operation, _event, arm):
    with costs(here, operation, agent=True) as jvm:
        tracer = usdt.Tracer(settings.AGENT, arm, pid=jvm.pid)
        try:
            time.sleep(6)       # without a collector the agent looks every five seconds at worst
            return figures(jvm), None
        finally:
            tracer.close()


def under_fgcollect(here, operation, event, _arm):
    interval = ("--alloc-interval", options.interval) if event == "alloc" else ()
    with costs(here, operation, agent=True) as jvm:
        recorder = truth.Recorder(here, jvm.pid, "--kind", event, *interval)
        try:
            recorder.wait_until_it_records()
            time.sleep(2)
            began, before = time.monotonic(), processes.cpu_seconds(recorder.pid)
            found_in_it = figures(jvm)
            took = processes.cpu_seconds(recorder.pid) - before
            return found_in_it, 100 * took / (time.monotonic() - began)
        finally:
            recorder.stop()


def under_async_profiler(here, operation, event, _arm):
    with costs(here, operation, agent=False) as jvm:
        profiler = Theirs(here, None, jvm.pid, event)
        found_in_it = figures(jvm)
        profiler.finish(keep=False)
        profiler.end()
        return found_in_it, None


def runs_of(event, arm):
    names = {way.name for way in ways(event)}
    runs = {"without agent": alone}
    if arm:
        runs["event on, nobody records"] = armed
    if Ours.name in names:
        runs["fgcollect"] = under_fgcollect
    if Theirs.name in names:
        runs["async-profiler"] = under_async_profiler
    return runs


def summary(values):
    """The median, and what a tenth of the values is below: others on the machine make it slower."""
    return statistics.median(values), statistics.quantiles(values, n=10)[0]


def measure_cost(here):
    for operation, event, arm in COSTS:
        if options.operation and operation not in options.operation:
            continue
        runs = runs_of(event, arm)
        found_of, cpu_of = {name: [] for name in runs}, {name: [] for name in runs}
        for _ in range(options.times):
            for name, run in runs.items():
                values, cpu = run(here, operation, event, arm)
                found_of[name] += values
                cpu_of[name] += [cpu] if cpu is not None else []
        base = summary(found_of["without agent"])
        for name, values in found_of.items():
            median, best = summary(values)
            cpu = (f", collector {statistics.median(cpu_of[name]):.2f} % of a CPU" if cpu_of[name]
                   else "")
            print(f"{operation}, {name}: median {median:.2f} ns, {median / base[0]:.3f}; "
                  f"best tenth {best:.2f} ns, {best / base[1]:.3f}{cpu}", flush=True)


def main():
    what = options.what or ("alloc", "lock", "exceptions", "cost")
    for name, measure in (("alloc", measure_alloc), ("lock", measure_lock),
                          ("exceptions", measure_exceptions)):
        if name not in what:
            continue
        print(f"{name}, JDK {options.jdk}, turns of {options.seconds:g} s")
        with place() as here:
            daemon = collector.Watch(here).started()
            try:
                measure(here, daemon)
            finally:
                daemon.stop()
    if "cost" in what:
        with place() as here:
            measure_cost(here)


main()
