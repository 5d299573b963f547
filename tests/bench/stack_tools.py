# SPDX-License-Identifier: Apache-2.0
"""What records stacks for whole_stacks.py, each into folded stacks of one form: fgcollect with its
agent or without, perf with frame pointers or with DWARF, async-profiler.

Form: process, thread, frames from the root on, as `fgcollect record --threads` writes them.

perf is given our perf map, with what is inlined unfolded, and is excused for functions without
symbols in files: it calls them [unknown], fgcollect by their start. What it calls [unknown] in no
file, or in generated code, is unnamed.
"""

import contextlib
import os
import pathlib
import re
import shutil
import time

import async_profiler
from bench_place import collector, processes, settings
from harness import folded, musl
from stack_workloads import Agent, ContainerAgent, NoAgent, NoAgentContainer

DWARF_BYTES = 32768
DWARF_MOST_HZ = 199  # more than that is lost
MAX_STACK = 4096
TRIES = 20
SHORT_LIVED = r"ShortLived|javac\.Main"
PERF_HEADER = re.compile(r"^(\S.*?)\s+(\d+)/(\d+)\s*$")
LIBRARY = re.compile(r"\.so[\d.]*$")
PERF_FRAME = re.compile(r"^\s+[0-9a-f]+ (.+) \((.*)\)$")


class Musl:
    """What a container has whose C library is musl; LookupError if it cannot be had."""

    def __init__(self, engine):
        self.image = engine.add_image("musl", musl.root_directory())
        self.compiler = musl.compiler_directory()


class AsyncBeside:
    """async-profiler from the start to the end of JVMs in containers, each with a file of its own."""

    def __init__(self, hz):
        self.library = async_profiler.library()
        self.options = (f"start,event=ctimer,interval={1_000_000_000 // hz}ns,cstack=vmx,threads,ann,"
                        f"jstackdepth={MAX_STACK // 2},collapsed,file=/out/%t.collapsed")
        self.out = self.stacks = None

    def load(self, place):
        """Further parts of a ContainerAgent."""
        self.out = place.directory / "async"
        self.out.mkdir()
        self.out.chmod(0o777)
        # Read by another user, as the JVM's own directory of the host.
        library = self.out / self.library.name
        shutil.copy(self.library, library)
        library.chmod(0o755)
        return {"loaded": [f"-agentpath:/out/{library.name}={self.options}"], "out": self.out}

    def keep(self):
        """What has been written by the JVMs that have ended."""
        self.stacks = folded.Folded("")
        for path in sorted(self.out.glob("*.collapsed")):
            self.stacks.stacks += AsyncProfiler.stacks_of(path)

    def take(self):
        return self.stacks


class Fgcollect:
    """args: further ones of `fgcollect record`; engine: of the containers that JVMs are to be in;
    musl: what these have, if they are to have musl; beside_them: who samples in the same JVMs.

    said: how much of the last recording is rooted, as its quality line says.
    """

    name, said = "fgcollect", None
    start, start_contained = Agent, ContainerAgent
    of_several = ()     # a target for JVMs that come and go

    def __init__(self, *args, engine=None, musl=None, beside_them=None):
        self.args, self.engine, self.beside_them = args, engine, beside_them
        self.parts = {"image": musl.image, "compiler": musl.compiler} if musl else {}

    def agent(self, place, framepointer):
        options = f"framepointer={framepointer}"
        if not self.engine:
            return self.start(place, options)
        beside = self.beside_them.load(place) if self.beside_them else {}
        return self.start_contained(self.engine, place, options, **self.parts, **beside)

    def record(self, place, running, seconds, hz):
        target = ["-p", running.pid] if running.pid else self.of_several
        recording = collector.record(place, "--threads", *target, *self.args, seconds=seconds, hz=hz)
        self.said = recording.quality.rooted
        return recording.folded

    @contextlib.contextmanager
    def beside(self, place):
        """What has to run beside the workload."""
        yield
        if self.beside_them:
            self.beside_them.keep()


class Outside(Fgcollect):
    """fgcollect, and JVMs without its agent. JVMs that come and go are found by what they run."""

    name = "outside"
    start, start_contained = NoAgent, NoAgentContainer
    of_several = ("--jvm", SHORT_LIVED)

    def record(self, place, running, seconds, hz):
        """A name is refused at a moment at which no JVM has it."""
        for left in reversed(range(TRIES)):
            try:
                return super().record(place, running, seconds, hz)
            except processes.Failed as error:
                if "no JVM fits" not in str(error) or left == 0:
                    raise
        return None


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

    said = beside_them = None

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
    said = beside_them = None

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
        stacks = folded.Folded("")
        stacks.stacks = self.stacks_of(out)
        return stacks

    @classmethod
    def stacks_of(cls, path):
        return [(["async-profiler", cls.thread_of(frames[0]), *map(cls.frame_of, frames[1:])], count)
                for frames, count in folded.Folded.read(path).stacks]

    @staticmethod
    def frame_of(name):
        """A library in the place of a function that has no symbol is excused, as perf's is."""
        return f"{os.path.basename(name)}:fn@?" if LIBRARY.search(name) else name

    @staticmethod
    def thread_of(label):
        """Without what async-profiler adds; the main thread's is another one at its end."""
        name = re.sub(r"^\[(.*) tid=\d+\]$", r"\1", label)
        return "main" if name == "DestroyJavaVM" else name


class Attached(AsyncProfiler):
    """async-profiler from Maven Central, attached to JVMs that nobody has prepared."""

    name = "attached async"

    def __init__(self, jdk):
        super().__init__("")
        self.jdk = jdk

    @staticmethod
    def agent(place, framepointer):
        return NoAgent(place)

    def record(self, place, running, seconds, hz):
        if not running.pid:
            raise LookupError("async-profiler records one process")
        out = place.directory / "attached.collapsed"
        async_profiler.start(self.jdk, running.pid, hz,
                             f",threads,cstack=vmx,jstackdepth={MAX_STACK // 2}")
        time.sleep(seconds)
        async_profiler.stop(self.jdk, running.pid, out, "collapsed,ann,threads")
        stacks = folded.Folded("")
        stacks.stacks = self.stacks_of(out)
        return stacks


def tools(compare, home, fgcollect):
    """That Fgcollect; to compare with also perf, and async-profiler if home says where it is."""
    found = [fgcollect]
    if compare:
        found += [Perf("fp"), Perf("dwarf")]
        if home:
            found.append(AsyncProfiler(home))
    return found
