# SPDX-License-Identifier: Apache-2.0
"""A recording: what it costs neighbours that are not recorded, and how soon there is a graph."""

import contextlib
import os
import signal
import time

import async_profiler
from bench_place import busy_jvms, java, place, processes, settings
from versus.model import NOBODY, OURS, Quantity, Row, family_seconds, run_child, run_pipe

HZ = 99
LOAD = settings.BUILD / "tests" / "bench" / "neighbour_load"


class Neighbours(Row):
    """Programs that do one thing, while a recorder works; a contender is a recorder's command."""

    group = "Recording"
    name, title = "neighbours", "a program that is not recorded, by what the program does"
    values = ("rename", "mmap", "map-code", "thread", "exec")
    quantities = {"each": Quantity("us", "1 % more than alone at most")}
    base = NOBODY
    not_to_be_had = {"async-profiler": "records inside its JVM, so neighbours pay nothing"}

    @contextlib.contextmanager
    def at(self, value):
        with place() as here:
            quiet = processes.Background(java(here, "Hello", "100000000"),
                                         here.directory / "quiet.log")
            try:
                processes.wait_until(lambda: "hello" in quiet.text, "the JVM runs")
                yield here, quiet.pid
            finally:
                quiet.stop()

    def contenders(self, peers):
        ours = [settings.COLLECTOR, "record", "-d", 3600, "-F", HZ, "-o", "{fgrec}", "{place}"]
        return {NOBODY: [], OURS: [*ours, "-p", "{pid}"], f"{OURS} -a": [*ours, "-a"],
                "perf -a": peers.make("perf", lambda path: [
                    path, "record", "-q", "-a", "-g", "-F", HZ, "-o", "{out}"]),
                "perf -p": peers.make("perf", lambda path: [
                    path, "record", "-q", "-g", "-F", HZ, "-p", "{pid}", "-o", "{out}"])}

    def measure(self, context, contender, value):
        here, pid = context
        recorder = None
        if contender:
            files = {"{out}": [here.directory / "out"], "{pid}": [pid],
                     "{fgrec}": [here.directory / "out.fgrec"], "{place}": here.options()}
            args = [part for arg in contender for part in files.get(arg, [arg])]
            recorder = processes.Background(args, here.directory / "recorder.log")
            time.sleep(1.5)  # until the recorder has begun
            if recorder.code is not None:
                raise LookupError(f"it ended with {recorder.code}: {recorder.text[-300:]}")
        try:
            done = processes.run(["taskset", "-c", os.cpu_count() - 1, LOAD, value, 0.4],
                                 check=True)
            return {"each": float(done.out) / 1000}
        finally:
            if recorder:
                recorder.stop()


class EndToGraph(Row):
    """From the end of a recording, by SIGINT, until the graph is there."""

    group = "Recording"
    name, title = "end-to-graph", "from the end of a recording of two busy JVMs to the graph"
    driver, unit_of_driver = "seconds", " s"
    values = (10, 60, 600)
    quantities = {"clock": Quantity("s", "0.15 s"), "cpu": Quantity("s", "0.1 s")}
    most_rounds = 3

    @contextlib.contextmanager
    def at(self, value):
        with place() as here, busy_jvms(here, count=2) as running:
            yield here, running

    def contenders(self, peers):
        found = {OURS: self.by_ours}
        found["perf, inferno"] = peers.make("perf", lambda perf: peers.make(
            "inferno", lambda home: lambda *args: self.by_perf(perf, home, *args)))
        found["async-profiler"] = peers.make(
            "async_profiler", lambda library: self.by_async_profiler)
        return found

    def measure(self, context, contender, value):
        return contender(*context, value)

    @staticmethod
    def by_ours(here, running, seconds):
        recorder = processes.Background(
            [settings.COLLECTOR, "record", "-d", 3600, "-F", HZ, "-o", here.directory / "x.svg",
             *here.options()], here.directory / "recorder.log")
        try:
            time.sleep(seconds)
            cpu, begin = family_seconds(recorder.pid), time.monotonic()
            recorder.child.send_signal(signal.SIGINT)
            _, status, usage = os.wait4(recorder.pid, 0)
            recorder.child.returncode = os.waitstatus_to_exitcode(status)
            taken = time.monotonic() - begin
        finally:
            recorder.stop()
        if recorder.code != 0:
            raise LookupError(f"fgcollect failed: {recorder.text[-300:]}")
        return {"clock": taken, "cpu": usage.ru_utime + usage.ru_stime - cpu}

    @staticmethod
    def by_perf(perf, inferno, here, running, seconds):
        """perf finds no names of Java's; what it costs to collapse and draw is its users' way."""
        data, folded, out = (here.directory / name for name in ("perf.data", "x.folded", "x.svg"))
        pids = ",".join(str(jvm.pid) for jvm in running)
        run_child([perf, "record", "-q", "-g", "-F", HZ, "-p", pids, "-o", data, "--", "sleep",
                   seconds])
        script = run_pipe([[perf, "script", "-f", "-i", data],
                           [inferno / "inferno-collapse-perf", "--all"]], "/dev/null", folded)
        drawn = run_pipe([[inferno / "inferno-flamegraph", "--colors=java"]], folded, out)
        return {name: script[name] + drawn[name] for name in ("clock", "cpu")}

    @staticmethod
    def by_async_profiler(here, running, seconds):
        """One JVM alone; the CPU time is spent in the JVM, and nobody can tell it from the rest."""
        jvm = running[0]
        async_profiler.start(17, jvm.pid, HZ)
        time.sleep(seconds)
        begin = time.monotonic()
        async_profiler.stop(17, jvm.pid, here.directory / "ap.html", "flamegraph")
        return {"clock": time.monotonic() - begin}


ROWS = [Neighbours(), EndToGraph()]
