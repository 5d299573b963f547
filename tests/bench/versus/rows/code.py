# SPDX-License-Identifier: Apache-2.0
"""Compiled code: from an event to the map, repetition of all code, and the walk of a sample."""

import contextlib
import re
import sys

from bench_place import java, place, processes, settings
from versus.model import OURS, Quantity, Row, run_child

BENCH = settings.SOURCE / "tests" / "bench"
ATTACHING = "perf-map-agent attaches, and writes a map once"


def figures_of(args, patterns, timeout):
    """Runs another benchmark; {quantity: the number that its pattern finds in what it prints}."""
    done = processes.run([sys.executable, *args], timeout=timeout)
    if done.code != 0:
        raise LookupError(f"{args[0]} ended with {done.code}: {done.text[-300:]}")
    found = {name: re.search(pattern, done.out) for name, pattern in patterns.items()}
    for name, match in found.items():
        if not match:
            raise LookupError(f"{args[0]} printed no {name}: {done.text[-300:]}")
    return {name: float(match[1]) for name, match in found.items()}


class Alone(Row):
    """Of ours alone: the peers have no such thing."""

    group = "Code"

    @contextlib.contextmanager
    def at(self, value):
        yield

    def contenders(self, peers):
        return {OURS: None}


class EventToMap(Alone):
    name, title = "event-to-map", "from a method that is compiled to its line in the map"
    quantities = {"median": Quantity("ms"), "99 %": Quantity("ms")}
    not_to_be_had = {"perf": ATTACHING, "async-profiler": "writes no map",
                     "JFR": "writes no map"}

    def measure(self, context, contender, value):
        return figures_of([BENCH / "map_delay.py", "--seconds", 10,
                           "--collector", settings.COLLECTOR],
                          {"median": r"([\d.]+) ms median", "99 %": r"([\d.]+) ms 99th"}, 120)


class Repetition(Alone):
    name, title = "repetition", "a daemon that comes to a JVM with many methods"
    driver, unit_of_driver = "methods", " methods"
    values = (1000, 10000, 50000, 200000)
    most_rounds = 3
    quantities = {"on the wire": Quantity("s"), "in the map": Quantity("s"),
                  "agent": Quantity("ms of CPU"), "collector": Quantity("s of CPU"),
                  "memory": Quantity("bytes a method")}
    not_to_be_had = {"perf": ATTACHING}

    def measure(self, context, contender, value):
        return figures_of([BENCH / "methods.py", "--methods", value],
                          {"on the wire": r"repeated in ([\d.]+) s",
                           "in the map": r"in the map ([\d.]+) s after",
                           "agent": r"fgagent (\d+) ms", "collector": r"MiB\), ([\d.]+) s CPU",
                           "memory": r"; (\d+) bytes of memory"}, 900)


class Walk(Row):
    """A sample's walk and its names; perf's by DWARF, from its own file."""

    group = "Code"
    name, title = "walk", "to walk and name a sample of some 80 frames"
    quantities = {"cpu": Quantity("us", "20 us in the median")}
    not_to_be_had = {"async-profiler": "walks in the signal handler of the thread that is sampled"}
    FLAGS, PROGRAM = ["-XX:-Inline"], ["Recursion", "80"]

    @contextlib.contextmanager
    def at(self, value):
        with place() as here:
            jvm = processes.Background(java(here, *self.PROGRAM, flags=self.FLAGS),
                                       here.directory / "java.log")
            try:
                processes.wait_until(lambda: "ready" in jvm.text, "the JVM is warm")
                yield here, jvm.pid
            finally:
                jvm.stop()

    def contenders(self, peers):
        return {OURS: self.by_ours,
                "perf, dwarf": peers.make("perf", lambda path: lambda *args: self.by_perf(
                    path, *args))}

    def measure(self, context, contender, value):
        return contender(*context)

    @staticmethod
    def by_ours(here, pid):
        del pid
        done = processes.run([settings.BUILD / "tests" / "bench" / "unwind_cost", here.socket,
                              here.maps, 5, 999, 32 << 10], check=True)
        return {"cpu": float(re.search(r"walk\+name +([\d.]+)", done.out)[1])}

    @staticmethod
    def by_perf(perf, here, pid):
        data = here.directory / "perf.data"
        processes.run([perf, "record", "-q", "-F", 199, "--call-graph", "dwarf,32768", "-p", pid,
                       "-o", data, "--", "sleep", 5], check=True, timeout=60)
        with open(here.directory / "script.txt", "wb") as out:
            usage = run_child([perf, "script", "-f", "-i", data, "--no-inline", "-F",
                               "comm,pid,tid,time,ip,sym,dso"], out)
        samples = (here.directory / "script.txt").read_text(errors="replace").count("\n\n")
        data.unlink()
        if not samples:
            raise LookupError("perf has no samples")
        return {"cpu": usage["cpu"] / samples * 1e6}


ROWS = [EventToMap(), Repetition(), Walk()]
