# SPDX-License-Identifier: Apache-2.0
"""How whole and how true stacks are, per cent of a program's samples, by workload."""

import contextlib
import time

import async_profiler
import stack_tools
from bench_place import place
from harness import folded
from score_stacks import Score
from stack_workloads import WORKLOADS
from versus.model import OURS, Quantity, Row

SECONDS = 5
HZ = 499
JDKS = (17, 25)


class AsyncProfiler(stack_tools.AsyncProfiler):
    """From Maven Central, loaded into the running JVM."""

    def __init__(self):
        super().__init__("/")

    def record(self, place, running, seconds, hz):
        if not running.pid:
            raise LookupError("async-profiler records one process")
        out, jdk = place.directory / "async.collapsed", self.jdk
        async_profiler.start(jdk, running.pid, hz, ",cstack=vmx,jstackdepth=2048,threads")
        time.sleep(seconds)
        async_profiler.stop(jdk, running.pid, out, "collapsed,ann,threads")
        stacks = folded.Folded.read(out)
        stacks.stacks = [(["async-profiler", self.thread_of(frames[0]), *frames[1:]], count)
                         for frames, count in stacks.stacks]
        return stacks


class Whole(Row):
    group = "Stacks"
    name, title = "stacks", "stacks of each workload, per cent of its samples"
    values = tuple(f"{name} {jdk}" for name in WORKLOADS for jdk in JDKS
                   if not WORKLOADS[name].why_not(jdk))
    quantities = {"unnamed": Quantity("%", "0.1 %"), "unrooted": Quantity("%", "0.1 %"),
                  "missing": Quantity("%"), "off": Quantity("points", "3 points")}
    most_rounds = 1

    @contextlib.contextmanager
    def at(self, value):
        yield

    def contenders(self, peers):
        return {OURS: stack_tools.Fgcollect(),
                "perf fp": peers.make("perf", lambda _: stack_tools.Perf("fp")),
                "perf dwarf": peers.make("perf", lambda _: stack_tools.Perf("dwarf")),
                "async-profiler": peers.make("async_profiler", lambda _: AsyncProfiler())}

    def measure(self, context, contender, value):
        name, jdk = value.rsplit(" ", 1)
        workload, contender.jdk = WORKLOADS[name], int(jdk)
        # Who walks along frame pointers asks the JVM to keep these.
        framepointer = "on" if contender.name == "perf fp" else "off"
        try:
            with place() as here, contender.beside(here), workload.running(
                    contender.agent(here, framepointer), int(jdk), SECONDS) as running:
                time.sleep(0.5)
                stacks = contender.record(here, running, SECONDS, HZ)
                printed = running.printed()
        except AssertionError as error:
            raise LookupError(str(error)[-300:]) from None
        score = Score(stacks, workload.must, workload.shares)
        found = {name: score.percent(name) for name in ("unnamed", "unrooted", "missing")}
        found["off"] = score.share_off(printed)
        return {name: number for name, number in found.items() if number is not None}


ROWS = [Whole()]
