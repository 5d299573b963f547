# SPDX-License-Identifier: Apache-2.0
"""What records stacks for whole_stacks.py, each into folded stacks of one form: fgcollect, perf
with frame pointers or with DWARF, async-profiler.

Form: process, thread, frames from the root on, as `fgcollect record --threads` writes them.

perf is given our perf map, with what is inlined unfolded, and is excused for functions without
symbols in files: it calls them [unknown], fgcollect by their start. What it calls [unknown] in no
file, or in generated code, is unnamed.
"""

import contextlib
import os
import pathlib
import re

from bench_place import collector, processes, settings
from harness import folded
from stack_workloads import MAIN, Agent, ContainerAgent

DWARF_BYTES = 32768
DWARF_MOST_HZ = 199  # more than that is lost
MAX_STACK = 4096
PERF_HEADER = re.compile(r"^(\S.*?)\s+(\d+)/(\d+)\s*$")
PERF_FRAME = re.compile(r"^\s+[0-9a-f]+ (.+) \((.*)\)$")


class Fgcollect:
    """args: further ones of `fgcollect record`; engine: of the containers that JVMs are to be in."""

    name = "fgcollect"

    def __init__(self, *args, engine=None):
        self.args, self.engine = args, engine

    def agent(self, place, framepointer):
        options = f"framepointer={framepointer}"
        return ContainerAgent(self.engine, place, options) if self.engine else Agent(place, options)

    def record(self, place, running, seconds, hz):
        target = ["-p", running.pid] if running.pid else []
        return collector.record(place, "--threads", *target, *self.args, seconds=seconds,
                                hz=hz).folded

    @contextlib.contextmanager
    def beside(self, place):
        """What has to run beside the workload."""
        yield


def frames_of(name, dso):
    """A frame of perf's as ours, root first: several, if it has inlined ones."""
    file = os.path.basename(dso)
    if file.startswith("perf-") and file.endswith(".map") and name != "[unknown]":
        return [re.sub(r"^([\w.$/]+)::", lambda match: match.group(1).replace(".", "/") + ".", part)
                + "_[j]" for part in name.split("->")]
    if name == "[unknown]":
        in_file = dso.startswith("/") and ".map" not in file and not dso.startswith("//")
        return [f"{file}:fn@?"] if in_file else ["[unknown]"]
    kernel = dso.startswith("[kernel") or dso.startswith("[guest") or dso.endswith(".ko")
    return [re.sub(r"\+0x[0-9a-f]+$", "", name) + ("_[k]" if kernel else "")]


def parse_script(text):
    """The output of `perf script -F comm,pid,tid,ip,sym,dso`."""
    stacks = folded.Folded("")
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        header = PERF_HEADER.match(lines[0]) if lines else None
        if not header:
            continue
        frames = []
        for line in reversed(lines[1:]):
            match = PERF_FRAME.match(line)
            frames += frames_of(*match.groups()) if match else ["[unknown]"]
        stacks.stacks.append((["perf", header.group(1), *frames], 1))
    return stacks


class Perf:
    """call_graph: fp or dwarf."""

    def __init__(self, call_graph):
        self.call_graph = call_graph
        self.name = f"perf {call_graph}"
        self.map_file = None

    @staticmethod
    def agent(place, framepointer):
        return Agent(place, f"framepointer={framepointer}")

    @contextlib.contextmanager
    def beside(self, place):
        """perf looks for maps in /tmp alone."""
        maps, place.maps = place.maps, pathlib.Path("/tmp")
        daemon = collector.Watch(place, "--map-names=dotted,unfoldall")
        try:
            daemon.started()
            yield
        finally:
            daemon.stop()
            place.maps = maps
            # The daemon leaves it for perf.
            if self.map_file:
                self.map_file.unlink(missing_ok=True)

    def record(self, place, running, seconds, hz):
        if not running.pid:
            raise LookupError("perf does not know which processes are the workload's")
        data, self.map_file = place.directory / "perf.data", place.map_file(running.pid)
        if self.call_graph == "dwarf":
            how, hz = f"dwarf,{DWARF_BYTES}", min(hz, DWARF_MOST_HZ)
        else:
            how = self.call_graph
        try:
            processes.run(["perf", "record", "-q", "-F", hz, "--call-graph", how, "-p", running.pid,
                           "-o", data, "--", "sleep", seconds], check=True,
                          timeout=seconds + settings.DEADLINE_SEC)
            script = processes.run(["perf", "script", "-f", "-i", data, "--no-inline",
                                    "--max-stack", MAX_STACK, "-F", "comm,pid,tid,ip,sym,dso"],
                                   check=True, timeout=600)
        finally:
            data.unlink(missing_ok=True)
        return parse_script(script.out)


class AsyncProfiler:
    """home: an unpacked one, with bin/asprof. Its stacks are to go on below Java (vmx), as ours."""

    name = "async-profiler"

    def __init__(self, home):
        self.home = pathlib.Path(home)

    @staticmethod
    def agent(place, framepointer):
        return Agent(place, f"framepointer={framepointer}",
                     ("-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"))

    @contextlib.contextmanager
    def beside(self, place):
        yield

    def record(self, place, running, seconds, hz):
        if not running.pid:
            raise LookupError("async-profiler records one process")
        out = place.directory / "async.collapsed"
        processes.run([self.home / "bin" / "asprof", "-d", seconds, "-e", "cpu", "-i",
                       f"{1_000_000_000 // hz}ns", "--cstack", "vmx", "-j", MAX_STACK // 2, "-t",
                       "-a", "-o", "collapsed", "-f", out, running.pid], check=True,
                      timeout=seconds + settings.DEADLINE_SEC)
        stacks = folded.Folded.read(out)
        stacks.stacks = [(["async-profiler", self.thread_of(frames[0]), *frames[1:]], count)
                         for frames, count in stacks.stacks]
        return stacks

    @staticmethod
    def thread_of(label):
        """By the system's name of Java's main thread, which async-profiler calls as Java does."""
        name = re.sub(r"^\[(.*) tid=\d+\]$", r"\1", label)
        return MAIN if name in ("main", "DestroyJavaVM") else name


def tools(compare, async_profiler, fgcollect):
    """That Fgcollect; to compare with also perf, and async-profiler if that says where it is."""
    found = [fgcollect]
    if compare:
        found += [Perf("fp"), Perf("dwarf")]
        if async_profiler:
            found.append(AsyncProfiler(async_profiler))
    return found
