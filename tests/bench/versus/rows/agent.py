# SPDX-License-Identifier: Apache-2.0
"""The agent: what a JVM pays for being ready to be profiled, and for being profiled."""

import contextlib
import pathlib
import re
import shutil
import time

import tomcat
from bench_place import collector, place, processes, settings
from generated_sources import write_sources
from stack_workloads import Agent
from versus.model import NOBODY, OURS, Quantity, Row, run_child

JDK = 17
HZ = 99
RECORDED = "fgcollect, recorded"


def java(tool="java"):
    home = settings.jdk_home(JDK)
    if not home:
        raise LookupError(f"no JDK {JDK}: set FG_JDK{JDK} to its home")
    return home / "bin" / tool


class WithAgents(Row):
    """A JVM alone, with each profiler's agent, and recorded. A contender is a JVM's flags."""

    group = "Agent"
    base = NOBODY
    warm_up = True

    @contextlib.contextmanager
    def at(self, value):
        with place() as here:
            daemon = collector.Watch(here)
            try:
                daemon.started()
                yield here
            finally:
                daemon.stop()

    def contenders(self, peers):
        interval = 1_000_000_000 // HZ
        return {NOBODY: [],
                OURS: [f"-agentpath:{settings.AGENT}=socket={{run}}/agent.sock"],
                "async-profiler": peers.make("async_profiler", lambda library: [
                    f"-agentpath:{library}=start,event=cpu,interval={interval},"
                    "file={out}/ap.html"]),
                "JFR": ["-XX:StartFlightRecording=settings=profile,filename={out}/x.jfr",
                        "-Xlog:jfr*=off"]}

    @staticmethod
    def placed(here, args):
        return [arg.replace("{run}", str(here.run)).replace("{out}", str(here.directory))
                for arg in args]


class Start(WithAgents):
    name, title = "start-short", "start of a short program: java -version"
    quantities = {"clock": Quantity("s"), "cpu": Quantity("s"), "memory": Quantity("MiB")}

    def measure(self, context, contender, value):
        return run_child([java(), *self.placed(context, contender), "-version"])


class Javac(WithAgents):
    name, title = "start-long", "javac of 300 files"
    quantities = {"clock": Quantity("s"), "cpu": Quantity("s"), "memory": Quantity("MiB")}

    @contextlib.contextmanager
    def at(self, value):
        with super().at(value) as here:
            self.sources = write_sources(here.directory / "generated", 300)
            yield here

    def measure(self, context, contender, value):
        flags = [f"-J{flag}" for flag in self.placed(context, contender)]
        return run_child([java("javac"), *flags, "-nowarn", "-d", context.directory / "out",
                          f"@{self.sources}"])


class Work(WithAgents):
    """The CPU time of the thread that works, past the warm-up; recorded ones, too."""

    name, title = "throughput", "the same work of collections, regex, streams, SHA-256 and zlib"
    quantities = {"thread": Quantity("s", "1 % more than alone at most"), "process": Quantity("s")}

    def contenders(self, peers):
        """Flags and a recorder from outside, if any."""
        flags = super().contenders(peers)
        ours = [settings.COLLECTOR, "record", "-d", 3600, "-F", HZ, "-p", "{pid}", "-o",
                "{out}/x.fgrec", "--socket", "{run}/agent.sock"]
        found = {name: given if isinstance(given, LookupError) else (given, None)
                 for name, given in flags.items()}
        found[RECORDED] = (flags[OURS], ours)
        found["perf"] = peers.make("perf", lambda path: (
            [], [path, "record", "-q", "-g", "-F", HZ, "-p", "{pid}", "-o", "{out}/perf.data"]))
        return found

    @contextlib.contextmanager
    def recorded(self, here, recorder, pid):
        """Records the JVM from outside, if there is a recorder."""
        if not recorder:
            yield
            return
        args = self.placed(here, [str(arg).replace("{pid}", str(pid)) for arg in recorder])
        running = processes.Background(args, here.directory / "recorder.log")
        try:
            yield
        finally:
            running.stop()

    def measure(self, context, contender, value):
        flags, recorder = contender
        jvm = processes.Background(
            [java(), *self.placed(context, flags), "-Xmx256m", "-XX:+UseSerialGC", "-cp",
             settings.CLASSES, "Mixed", "--rounds", 200, 100], context.directory / "work.log")
        try:
            with self.recorded(context, recorder, jvm.pid):
                cpu, code = 0.0, None
                while code is None:
                    with contextlib.suppress(OSError, IndexError):
                        cpu = processes.cpu_seconds(jvm.pid)
                    time.sleep(0.05)
                    code = jvm.code
        finally:
            jvm.stop()
        words = next((line.split() for line in jvm.text.splitlines() if line.startswith("work ")),
                     None)
        if code != 0 or not words:
            raise LookupError(f"the JVM ended with {code}: {jvm.text[-300:]}")
        return {"thread": float(words[1]) / 1e9, "process": cpu}


class Flagged(Agent):
    """A JVM with these flags alone."""

    def __init__(self, here, flags):
        super().__init__(here)
        self.flags = flags


class Requests(Work):
    """Past the warm-up. wrk's connections each wait 2 ms between an answer and a request, so the
    rate is nearly the same for all; the latency is wrk's, which shares the CPUs with the server.
    """

    name, title = "requests", "Tomcat under a steady load by wrk, a request"
    quantities = {"cpu": Quantity("us"), "median": Quantity("ms"), "90 %": Quantity("ms"),
                  "99 %": Quantity("ms")}
    warm_up = False
    warm_up_sec, seconds = 12, 10
    milliseconds = {"us": 1e-3, "ms": 1, "s": 1e3}

    def drive(self, here, url, seconds):
        """(requests, {quantity: milliseconds})."""
        script = here.directory / "delay.lua"
        script.write_text("function delay() return 2 end\n", encoding="ascii")
        said = processes.run(["wrk", "--latency", "-t", 1, "-c", 4, "-d", f"{seconds}s", "-s",
                              script, url], timeout=seconds + settings.DEADLINE_SEC,
                             check=True).out
        if "Non-2xx" in said or "Socket errors" in said:
            raise LookupError(f"the server answers with errors: {said[-300:]}")
        named = {"50": "median", "90": "90 %", "99": "99 %"}
        found = {named[share]: float(number) * self.milliseconds[unit]
                 for share, number, unit in re.findall(r"^ *(50|90|99)% +([\d.]+)(us|ms|s)$",
                                                       said, re.MULTILINE)}
        return int(re.search(r"(\d+) requests in", said).group(1)), found

    def measure(self, context, contender, value):
        missing = tomcat.what_is_missing()
        if missing:
            raise LookupError(missing)
        flags, recorder = contender
        server = Flagged(context, [*self.placed(context, flags), "-Xmx256m", "-XX:+UseSerialGC"])
        try:
            with tomcat.serving(server, JDK) as (jvm, url):
                self.drive(context, url, self.warm_up_sec)
                with self.recorded(context, recorder, jvm.pid):
                    time.sleep(2)  # until who records has begun
                    before = Rest.thread_ns(jvm.pid)
                    requests, found = self.drive(context, url, self.seconds)
                    spent = Rest.thread_ns(jvm.pid) - before
        finally:
            shutil.rmtree(tomcat.base_of(server), ignore_errors=True)
        return {"cpu": spent / 1e3 / requests, **found}


class Rest(WithAgents):
    """A JVM that has nothing to do: memory, threads and CPU time."""

    name, title = "memory", "a JVM that waits: memory, threads, CPU time of 5 s"
    quantities = {"memory": Quantity("MiB"), "threads": Quantity(""), "cpu": Quantity("ms/s")}
    warm_up = False

    def measure(self, context, contender, value):
        jvm = processes.Background(
            [java(), *self.placed(context, contender), "-Xmx64m", "-XX:+UseSerialGC", "-cp",
             settings.CLASSES, "Hello", 100000000], context.directory / "rest.log")
        try:
            processes.wait_until(lambda: "hello" in jvm.text or jvm.code is not None, "it runs")
            time.sleep(3)
            before = self.thread_ns(jvm.pid)
            time.sleep(5)
            spent = self.thread_ns(jvm.pid) - before
            status = dict(line.split(":", 1) for line in pathlib.Path(
                f"/proc/{jvm.pid}/status").read_text(encoding="ascii").splitlines())
            return {"memory": int(status["VmRSS"].split()[0]) / 1024,
                    "threads": int(status["Threads"]), "cpu": spent / 5e6}
        except OSError:
            raise LookupError(f"the JVM ended: {jvm.text[-300:]}") from None
        finally:
            jvm.stop()

    @staticmethod
    def thread_ns(pid):
        total = 0
        for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):
                total += int(path.read_text(encoding="ascii").split()[0])
        return total


ROWS = [Start(), Javac(), Work(), Requests(), Rest()]
