# SPDX-License-Identifier: Apache-2.0
"""The collector: its own CPU time and memory, by sampling rate and by number of JVMs."""

import contextlib
import time

from bench_place import busy_jvms, java, place, processes, settings
from versus.model import OURS, Quantity, Row, family_seconds

WARM_UP_SEC = 4  # agents connect, files are read once
WINDOW_SEC = 20
INSIDE = {"async-profiler": "samples inside the JVM: nobody can tell its CPU time from the rest",
          "JFR": "samples inside the JVM: nobody can tell its CPU time from the rest"}


def cost_of(args, log):
    """Per cent of one core, children included, and peak MiB of a recorder, past its start."""
    recorder = processes.Background(args, log)
    try:
        time.sleep(WARM_UP_SEC)
        if recorder.code is not None:
            raise LookupError(f"it ended with {recorder.code}: {recorder.text[-300:]}")
        before, begin = family_seconds(recorder.pid), time.monotonic()
        time.sleep(WINDOW_SEC)
        spent = family_seconds(recorder.pid) - before
        taken = time.monotonic() - begin
        return {"cpu": 100 * spent / taken,
                "memory": processes.peak_rss_bytes(recorder.pid) / 2**20}
    finally:
        recorder.stop()


class Collecting(Row):
    group = "Collector"
    quantities = {"cpu": Quantity("% of a core"), "memory": Quantity("MiB")}
    not_to_be_had = INSIDE

    def measure(self, context, contender, value):
        places = {"{out}": [context.directory / "out"], "{hz}": [self.hz(value)],
                  "{fgrec}": [context.directory / "out.fgrec"], "{place}": context.options()}
        args = [part for arg in contender for part in places.get(arg, [arg])]
        return cost_of(args, context.directory / "recorder.log")

    def hz(self, value):
        return value


class ByRate(Collecting):
    """Two busy JVMs; perf writes what it samples to a file, and finds no names."""

    name, title = "collector-rate", "recording two busy JVMs"
    driver, unit_of_driver = "rate", " Hz"
    values = (19, 49, 99, 999)
    quantities = {"cpu": Quantity("% of a core", "0.6 % at 99 Hz"), "memory": Quantity("MiB")}

    @contextlib.contextmanager
    def at(self, value):
        with place() as here, busy_jvms(here, count=2):
            yield here

    def contenders(self, peers):
        return {OURS: [settings.COLLECTOR, "record", "-d", 3600, "-F", "{hz}", "-o",
                       "{fgrec}", "{place}"],
                f"{OURS} -a": [settings.COLLECTOR, "record", "-a", "-d", 3600, "-F", "{hz}", "-o",
                               "{fgrec}", "{place}"],
                "perf -a": peers.make("perf", lambda path: [
                    path, "record", "-q", "-a", "-g", "-F", "{hz}", "-o", "{out}"])}


class ByJvms(Collecting):
    """The daemon over JVMs that have nothing to do."""

    name, title = "collector-jvms", "the daemon over idle JVMs, at 19 Hz"
    driver, unit_of_driver = "JVMs", " JVMs"
    values = (1, 10, 100)
    most_rounds = 3
    not_to_be_had = {**INSIDE, "perf": "has no daemon"}

    def hz(self, value):
        return 19

    @contextlib.contextmanager
    def at(self, value):
        flags = ["-Xmx16m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        running = []
        with place() as here:
            try:
                for number in range(value):
                    running.append(processes.Background(
                        java(here, "Hello", "100000000", flags=flags),
                        here.directory / f"java{number}.log"))
                for jvm in running:
                    processes.wait_until(lambda jvm=jvm: "hello" in jvm.text, "a JVM runs",
                                         timeout=300)
                yield here
            finally:
                for jvm in running:
                    jvm.stop()

    def contenders(self, peers):
        return {f"{OURS}, maps alone": [settings.COLLECTOR, "--watch", "{place}"],
                OURS: [settings.COLLECTOR, "--watch", "-F", "{hz}", "--store", "{out}", "{place}"]}


class Outside(Collecting):
    """JVMs with the agent beside as many without, all busy: a recording of the ones and the others."""

    name, title = "collector-outside", "recording busy JVMs at 99 Hz"
    driver, unit_of_driver = "JVMs", " JVMs"
    values = (1, 4, 8)  # as many PIDs as can be given
    most_rounds = 3
    base, against_base = f"{OURS}, agents", True
    not_to_be_had = {**INSIDE, "perf": "reads no names of JVMs"}

    def hz(self, value):
        return 99

    @contextlib.contextmanager
    def at(self, value):
        flags = ["-Xmx48m", "-XX:+UseSerialGC", "-Xshare:auto"]
        with place() as here, contextlib.ExitStack() as ends:
            here.jvms = {}
            for agent in (True, False):
                here.jvms[agent] = [
                    processes.Background(java(here, "Mixed", agent=agent, flags=flags),
                                         here.directory / f"java{agent}{number}.log")
                    for number in range(value)]
                for jvm in here.jvms[agent]:
                    ends.callback(jvm.stop)
            for jvm in here.jvms[True] + here.jvms[False]:
                processes.wait_until(lambda jvm=jvm: "ready" in jvm.text, "a JVM is warm",
                                     timeout=300)
            yield here

    def contenders(self, peers):
        return {f"{OURS}, agents": True, f"{OURS}, from outside": False}

    def measure(self, context, contender, value):
        chosen = [part for jvm in context.jvms[contender] for part in ("-p", jvm.pid)]
        return cost_of([settings.COLLECTOR, "record", *chosen, "-d", 3600, "-F", self.hz(value),
                        "-o", context.directory / "out.fgrec", *context.options()],
                       context.directory / "recorder.log")


ROWS = [ByRate(), ByJvms(), Outside()]
