# SPDX-License-Identifier: Apache-2.0
"""Wall-clock time: how true it is, and what reading threads costs.

truth: a program that knows how long it has slept, waited for a lock, a socket and a disk, and run,
is recorded by fgcollect with BPF and without, and by async-profiler's wall, one after the other.
Prints what the program knows and what was found, in per cent of a thread that does all of it by
chance, and how far the total of each thread is from the time that passed: shares within 2 points
and totals within 1 % are wanted.

servlet: of Tomcat under a fixed load, what threads do in all (its request pool's time at work
against the time of requests that the load generator has seen), and the collector's processor time
with and without wall, in alternation: 1.5 % of a CPU more at most is wanted at 45 threads.

log: of Tomcat with a servlet whose paths sleep, wait for a lock, a socket and a disk, and run, under
a load with pauses, what its access log and the profile say: the time of all requests, in seconds,
and the share of each path; the last column is what Tomcat itself does for requests, which the log
has with each path. Totals within 2 % and shares within 2 points are wanted.

threads: the collector's processor time beside so many threads that take turns.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import sys
import time

import access_log
import async_profiler
from bench_place import collector, java, place, processes, settings
from harness.folded import Folded
from stack_workloads import Agent
import tomcat

PHASES = {"sleep": "sleepForAWhile", "lock": "waitForTheLock", "socket": "waitForTheAnswer",
          "disk": "writeToDisk", "run": "runForAWhile"}
WORKERS = ("sleeper", "locker", "reader", "writer", "mixed")

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("what", nargs="*", help="truth, servlet, log, threads; all unless given")
arguments.add_argument("--seconds", type=int, default=30, help="of each recording")
arguments.add_argument("--times", type=int, default=3)
arguments.add_argument("--hz", type=int, action="append", help="--wall-frequency; 20 and 100 unless given")
arguments.add_argument("--threads", type=int, default=1000)
arguments.add_argument("--jdk", type=int, default=17)
options = arguments.parse_args()


def known(text):
    """Of the last line of each thread: name -> nanoseconds."""
    lines = [line.split() for line in text.splitlines()]
    return {words[0]: [int(word) for word in words[1:]] for words in lines
            if len(words) > 2 and "".join(words[1:]).isdigit()}


def thread_of(frames):
    """async-profiler writes "[mixed tid=4711]" where fgcollect has the process and "mixed"."""
    found = re.match(r"\[(.*) tid=\d+\]$", frames[0])
    return found.group(1) if found else frames[1]


def by_thread(folded):
    threads = {}
    for frames, count in folded.stacks:
        threads.setdefault(thread_of(frames), []).append((frames, count))
    return threads


def phase_of(frames):
    for phase, method in PHASES.items():
        if any(method in frame for frame in frames):
            return phase
    return None


def shares(stacks):
    total = sum(count for _, count in stacks)
    found = dict.fromkeys(PHASES, 0)
    for frames, count in stacks:
        if phase_of(frames):
            found[phase_of(frames)] += count
    return {phase: 100 * count / max(total, 1) for phase, count in found.items()}


def record(here, jvm, hz, *args):
    recording = collector.record(here, "-p", jvm.pid, "--threads", "--kind", "wall", "--wall-frequency",
                                 hz, *args, seconds=options.seconds)
    return recording.folded


def record_by_async_profiler(here, jvm, hz):
    out = here.directory / "wall.collapsed"
    async_profiler.command(options.jdk, jvm.pid,
                           f"start,event=wall,interval={1_000_000_000 // hz},threads")
    time.sleep(options.seconds)
    async_profiler.stop(options.jdk, jvm.pid, out, "collapsed,threads")
    return Folded.read(out)


def ways_to_record():
    ways = {"fgcollect": record,
            "fgcollect, no BPF": lambda *args: record(*args, "--sampler", "perf")}
    try:
        async_profiler.library()
        ways["async-profiler"] = record_by_async_profiler
    except LookupError as error:
        print(f"without async-profiler: {error}", file=sys.stderr)
    return ways


def measure_truth(here):
    jvm = processes.Background(java(here, "Waits", jdk=options.jdk), here.directory / "waits.log")
    processes.wait_until(lambda: "ready" in jvm.text, "the program runs")
    ways = ways_to_record()
    print(f"{'':28}" + "".join(f"{phase:>17}" for phase in PHASES) + "   worst total")
    try:
        for hz in options.hz or (20, 100):
            for name, way in list(ways.items()) * options.times:
                before = known(jvm.text)
                began = time.monotonic()
                threads = by_thread(way(here, jvm, hz))
                after = known(jvm.text)
                spent = [b - a for a, b in zip(before["mixed"], after["mixed"])]
                found = shares(threads.get("mixed", []))
                cells = [f"{100 * ns / sum(spent):7.1f} {found[phase]:7.1f} %"
                         for phase, ns in zip(PHASES, spent)]
                unit = 1e6 if name.startswith("fgcollect") else hz
                worst = max((abs(sum(count for _, count in threads.get(worker, [])) / unit /
                                 options.seconds - 1) for worker in WORKERS))
                print(f"{name:20} {hz:4} Hz " + "".join(f"{cell:>17}" for cell in cells) +
                      f" {100 * worst:9.2f} %", flush=True)
                del began
    finally:
        jvm.stop()


def cost_of(here, jvm, *kinds):
    """The collector's processor time in per cent of a CPU, in the middle of a recording."""
    recorder = processes.Background(
        [settings.COLLECTOR, "record", "-p", jvm.pid, "-d", options.seconds + 4, "--kind", ",".join(kinds), "-o",
         here.directory / "cost.fgrec", *here.options()], here.directory / "record.log")
    try:
        time.sleep(3)
        began, before = time.monotonic(), processes.cpu_seconds(recorder.pid)
        time.sleep(options.seconds)
        took = processes.cpu_seconds(recorder.pid) - before
        return 100 * took / (time.monotonic() - began)
    finally:
        recorder.wait(20)
        recorder.stop()


def measure_cost(here, jvm, title):
    found = {("cpu",): [], ("cpu", "wall"): [], ("offcpu",): []}
    for _ in range(options.times):
        for kinds, values in found.items():
            values.append(cost_of(here, jvm, *kinds))
    threads = len(os.listdir(f"/proc/{jvm.pid}/task"))
    plain = found[("cpu",)]
    for kinds, values in found.items():
        more = [b - a for a, b in zip(plain, values)]
        print(f"{title}, {threads} threads, --kind {','.join(kinds):9}: {statistics.median(values):5.2f} % "
              f"of a CPU, {statistics.median(more):+5.2f} than cpu alone "
              f"({min(more):+.2f} to {max(more):+.2f})", flush=True)


def measure_servlet(here):
    script = here.directory / "delay.lua"
    script.write_text("function delay() return 2 end\n")
    with tomcat.serving(Agent(here), options.jdk) as (jvm, url):
        seconds = 3 * options.times * (options.seconds + 8) + 30
        load = processes.Background(["wrk", "-t", 1, "-c", 16, "-d", f"{seconds}s", "-s", script, url],
                                    here.directory / "load.log")
        try:
            time.sleep(20)  # until what is hot is compiled
            measure_cost(here, jvm, "Tomcat under wrk")
        finally:
            load.stop()


# Requests to all paths, in chance order, with pauses in which the pool has no work.
LOAD = """
math.randomseed(os.time())
local paths = {"sleep", "lock", "socket", "disk", "run"}
function request() return wrk.format("GET", "/work/" .. paths[math.random(#paths)]) end
function delay() return math.random(0, 30) end
"""
SERVLET = pathlib.Path(__file__).parent / "servlet" / "Phases.java"
# Where C2 inlines the loop that runs, HotSpot's tables give a part of it to methods that hardly
# run, to every profiler. Here it is time that is waited that counts.
NOT_INLINED = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Phases.*")


def recorded_since(way, here, jvm, hz):
    """What was recorded, and when that began: in seconds since 1970. fgcollect knows that exactly;
    async-profiler records some tenths of a second longer than it is asked to."""
    if way is record_by_async_profiler:
        began = time.time()
        return way(here, jvm, hz), began
    timed = here.directory / "recorded.firefox.json"
    folded = way(here, jvm, hz, "-o", timed)
    return folded, json.loads(timed.read_text())["meta"]["startTime"] / 1e3


def print_requests(title, hz, folded, spent):
    unit = 1e6 if title.startswith("fgcollect") else hz
    stacks = access_log.of_requests(folded.stacks)
    total, logged = sum(count for _, count in stacks) / unit, sum(spent.values())
    found = shares(stacks)
    cells = [f"{100 * spent[phase] / logged:7.1f} {found[phase]:7.1f} %" for phase in PHASES]
    print(f"{title:20} {hz:4} Hz {logged:8.2f} {total:8.2f} s {100 * (total / logged - 1):+6.2f} %" +
          "".join(f"{cell:>17}" for cell in cells) + f" {100 - sum(found.values()):6.1f} %")


def measure_log(here):
    script = here.directory / "paths.lua"
    script.write_text(LOAD)
    agent, ways = Agent(here, flags=NOT_INLINED), ways_to_record()
    turns = [(name, hz) for hz in options.hz or (20, 100) for name in list(ways) * options.times]
    recorded = []
    with tomcat.serving(agent, options.jdk, SERVLET, access_log.PATTERN) as (jvm, url):
        seconds = len(turns) * (options.seconds + 10) + 30
        load = processes.Background(["wrk", "-t", 1, "-c", 16, "-d", f"{seconds}s", "-s", script, url],
                                    here.directory / "load.log")
        try:
            time.sleep(10)  # until what is hot is compiled
            for name, hz in turns:
                recorded.append((name, hz, *recorded_since(ways[name], here, jvm, hz)))
        finally:
            load.stop()
    requests = access_log.read(tomcat.access_log(agent))
    print(f"{'':29}{'time of requests':>27}" + "".join(f"{phase:>17}" for phase in PHASES) + "    none")
    for name, hz, folded, began in recorded:
        print_requests(name, hz, folded,
                       access_log.seconds_by_path(requests, began, began + options.seconds))


def measure_threads(here):
    jvm = processes.Background(java(here, "Threads", options.threads, jdk=options.jdk),
                               here.directory / "threads.log")
    try:
        processes.wait_until(lambda: "ready" in jvm.text, "all threads have had turns", 60)
        measure_cost(here, jvm, "threads that take turns")
    finally:
        jvm.stop()


for what, measure in (("truth", measure_truth), ("servlet", measure_servlet), ("log", measure_log),
                      ("threads", measure_threads)):
    if not options.what or what in options.what:
        with place() as here_of_it:
            measure(here_of_it)
