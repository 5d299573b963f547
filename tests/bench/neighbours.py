# SPDX-License-Identifier: Apache-2.0
"""What a recording costs those who are not recorded, and a servlet container that is.

Programs that do nothing but rename their thread, map memory, map code, start threads or start
programs, alone and while a JVM beside them that has nothing to do is recorded at 99 Hz by
`fgcollect record`; and beside `fgcollect record -a` and `perf record -a -g`, which record them too.
Then Tomcat under a fixed load of requests, each of which renames its thread: its CPU time a
request, alone, while fgcollect records another JVM, and recorded by fgcollect, by perf, by
async-profiler.

All in alternation, each round in another order; of Tomcat, which goes on compiling for minutes, a
window alone stands between any two, and a window is compared with the mean of its two neighbours.
Prints the median of the ratios to alone, with the standard error of their mean: at most +1 % is
wanted of a recording of somebody else.
"""

import argparse
import contextlib
import os
import pathlib
import statistics
import sys
import time

import async_profiler
from bench_place import java, place, processes, settings
from stack_workloads import Agent
import tomcat

LOAD = settings.BUILD / "tests" / "bench" / "neighbour_load"
LOADS = ("rename", "mmap", "map-code", "thread", "exec")
HZ = 99
WRK_SCRIPT = "function delay() return 2 end\n"

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--rounds", type=int, default=20)
arguments.add_argument("--seconds", type=float, default=0.4, help="of each program in a round")
arguments.add_argument("--servlet-seconds", type=float, default=5)
arguments.add_argument("--servlet-rounds", type=int, default=10)
arguments.add_argument("--servlet-warm-up", type=float, default=120)
arguments.add_argument("--servlet-alone", action="store_true", help="without the programs")
arguments.add_argument("--jdk", type=int, default=17)
arguments.add_argument("--cpu", type=int, default=os.cpu_count() - 1,
                       help="that the programs are bound to")
options = arguments.parse_args()


@contextlib.contextmanager
def nobody(_):
    yield


def recording_by(name, args, out):
    """Runs a recorder meanwhile; out: what it writes, thrown away."""
    @contextlib.contextmanager
    def run(here):
        recorder = processes.Background(args, here.directory / f"{name}.log")
        try:
            time.sleep(1.5)
            if recorder.code is not None:
                raise processes.Failed(f"{name} ended with {recorder.code}:\n{recorder.text}")
            yield
        finally:
            recorder.stop()
            pathlib.Path(out).unlink(missing_ok=True)
    return run


def recorders(here, pid):
    """By name; pid: of the JVM that is recorded alone, None for none."""
    out = here.directory / "recorded.fgrec"
    ours = [settings.COLLECTOR, "record", "-d", 3600, "-F", HZ, "-o", out, *here.options()]
    data = here.directory / "perf.data"
    return {
        "alone": nobody,
        "fgcollect": recording_by("fgcollect", [*ours, *(["-p", pid] if pid else [])], out),
        "fgcollect -a": recording_by("fgcollect-a", [*ours, "-a"], out),
        "perf -a": recording_by("perf", ["perf", "record", "-q", "-a", "-g", "-F", HZ, "-o", data],
                                data),
    }


def alternate(rounds, names, measure):
    """{name: what measure(name) gave, by round}."""
    found = {name: [] for name in names}
    for number in range(rounds):
        order = list(names)[number % len(names):] + list(names)[:number % len(names)]
        for name in order:
            found[name].append(measure(name))
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def alternate_with_alone(rounds, names, measure):
    """{name: ratios to the windows alone before and behind it}, and alone: what these gave."""
    others = [name for name in names if name != "alone"]
    found = {name: [] for name in names}
    found["alone"].append(measure("alone"))
    for number in range(rounds):
        first = number % len(others)
        for name in others[first:] + others[:first]:
            value = measure(name)
            found["alone"].append(measure("alone"))
            found[name].append(value / statistics.mean(found["alone"][-2:]))
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def cell(values, base):
    ratios = [value / alone - 1 for value, alone in zip(values, base)]
    error = statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else 0
    return f"{100 * statistics.median(ratios):+7.1f} ± {100 * error:3.1f} %"


def print_row(title, unit, found, are_ratios=False):
    others = [cell(found[name], [1] * len(found[name]) if are_ratios else found["alone"])
              for name in found if name != "alone"]
    print(f"{title:22} {statistics.median(found['alone']):9.2f} {unit:8}" +
          "".join(f"{text:>19}" for text in others), flush=True)


def print_head(title, names):
    print(f"{title:22} {'alone':>18}" + "".join(f"{name:>19}" for name in names if name != "alone"))


def measure_loads(here):
    quiet = processes.Background(java(here, "Hello", "100000000", jdk=options.jdk),
                                 here.directory / "quiet.log")
    found = {load: {} for load in LOADS}
    try:
        processes.wait_until(lambda: "hello" in quiet.text, "the JVM runs")
        running = recorders(here, quiet.pid)

        def measure(name):
            with running[name](here):
                return [float(processes.run(["taskset", "-c", options.cpu, LOAD, load,
                                             options.seconds], check=True).out) / 1000
                        for load in LOADS]
        for name, rows in alternate(options.rounds, running, measure).items():
            for load, values in zip(LOADS, zip(*rows)):
                found[load][name] = values
    finally:
        quiet.stop()
    print_head("program", running)
    for load, row in found.items():
        print_row(load, "us each", row)


def thread_seconds(pid):
    """The CPU time of a process by the nanosecond; of threads that are there."""
    total = 0
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):
            total += int(path.read_text().split()[0])
    return total / 1e9


def measure_servlet(here):
    script = here.directory / "delay.lua"
    script.write_text(WRK_SCRIPT)
    quiet = processes.Background(java(here, "Hello", "100000000", jdk=options.jdk),
                                 here.directory / "quiet.log")
    try:
        with tomcat.serving(Agent(here), options.jdk) as (jvm, url):
            url += "&rename=dw-1 GET /work"
            url = url.replace(" ", "%20")

            def drive(seconds):
                done = processes.run(["wrk", "-t", 1, "-c", 4, "-d", f"{max(1, round(seconds))}s",
                                      "-s", script, url], check=True,
                                     timeout=seconds + settings.DEADLINE_SEC).out
                return int(done.partition(" requests in")[0].split()[-1])

            drive(options.servlet_warm_up)  # until what is hot is compiled
            running = recorders(here, jvm.pid)
            out = here.directory / "recorded.fgrec"
            running["another's"] = recording_by(
                "another", [settings.COLLECTOR, "record", "-d", 3600, "-F", HZ, "-o", out, "-p",
                            quiet.pid, *here.options()], out)
            try:
                async_profiler.library()
            except LookupError as error:
                print(f"without async-profiler: {error}", file=sys.stderr)
            else:
                @contextlib.contextmanager
                def attached(_):
                    async_profiler.start(options.jdk, jvm.pid, HZ)
                    yield
                    async_profiler.stop(options.jdk, jvm.pid, here.directory / "ap.collapsed")
                running["async-profiler"] = attached

            def measure(name):
                with running[name](here):
                    before = thread_seconds(jvm.pid)
                    requests = drive(options.servlet_seconds)
                    return (thread_seconds(jvm.pid) - before) / requests * 1e6
            found = alternate_with_alone(options.servlet_rounds, running, measure)
    finally:
        quiet.stop()
    print_head("servlet container", found)
    print_row("CPU time a request", "us", found, are_ratios=True)


with place() as here_of_all:
    if not options.servlet_alone:
        measure_loads(here_of_all)
    if tomcat.what_is_missing():
        print(f"without the servlet container: {tomcat.what_is_missing()}", file=sys.stderr)
    else:
        measure_servlet(here_of_all)
