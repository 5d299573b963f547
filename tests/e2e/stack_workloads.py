# SPDX-License-Identifier: Apache-2.0
"""The programs whose stacks are judged: how the programs start, and what their stacks must have.

A workload is started with an agent, on this machine or in containers, and warmed up. It is ended
when its `with` is left. A workload that is not a single JVM with a program of tests/java has a
class of its own.
"""

import contextlib
import re
import tempfile
import threading

from generated_sources import write_sources
from harness import containers, processes, settings
from harness.folded import printed_shares
from score_stacks import Must
import tomcat

# Of java.base, what javac uses: it is no module where another JDK's JVM runs it.
INTERNAL = ("jimage", "javac", "jmod", "misc", "module")
# Java's main thread has the launcher's name until the JVM's own is seen.
MAIN = "java|main"
# What a program would run for beyond the recording; it is told to end before.
SLACK_SEC = 30
# Frames that are in any snapshot of a deep stack, interpreted ones too: some 100 bytes each.
LEAST_TURNS = 200
# Calls of Virtual.descend() below each of its burn().
DESCENTS = 201


def java_home(jdk):
    home = settings.jdk_home(jdk)
    if not home:
        raise LookupError(f"no JDK {jdk} on this machine: set FG_JDK{jdk} to its home")
    return home


def descends_wholly(names):
    """Says what is wrong with the number of recursive calls in a stack of Virtual, which is always
    the same number; None: nothing."""
    found = names.count("Virtual$Deep.descend")
    wanted = DESCENTS if "Virtual$Deep.run" in names else 0
    return None if found == wanted else f"{wanted} frames of descend(), not {found}"


class Agent:
    """JVMs of this machine with fgcollect's agent and its options, or with other flags too.

    Workloads ask this class how a JVM is started. scratch: a directory that the JVM may write to.
    compiler: where javac's module is, if the JVM has none of its own.
    """

    compiler = None

    def __init__(self, place, options="", flags=()):
        self.scratch = place.directory
        self.place = place
        self.flags = [*flags, *self.own(options)]

    def own(self, options):
        agent = f"-agentpath:{settings.AGENT}=socket={self.place.socket}"
        return [f"{agent},{options}" if options else agent]

    def add_flags(self, flags):
        self.flags += flags

    def start(self, jdk, args, reads=()):
        """Starts a JVM with these arguments. reads: files and directories that the JVM reads."""
        del reads  # all is there
        log = tempfile.NamedTemporaryFile(dir=self.place.directory, suffix=".log", delete=False)
        with log:
            return processes.Background([java_home(jdk) / "bin" / "java", *self.flags, "-cp",
                                         settings.CLASSES, *args], log.name)

    @staticmethod
    def beside(jvm):
        """The start of a command that reaches the JVM's loopback."""
        del jvm
        return []


class NoAgent(Agent):
    """JVMs of this machine that nobody has prepared."""

    def own(self, options):
        return []


class Contained:
    """A JVM in a container, with the interface of processes.Background."""

    def __init__(self, container):
        self.container, self.pid, self.said = container, container.pid, None

    @property
    def text(self):
        return self.container.logs() if self.said is None else self.said

    @property
    def code(self):
        return None if self.container.is_running() else 0

    def wait(self, timeout=None):
        self.container.wait_end(timeout)

    def stop(self):
        if self.said is None:
            self.said = self.container.end()
            self.container.rm()


class ContainerAgent:
    """As Agent, but each JVM is PID 1 of a container of its own, without any rights.

    image: in place of the engine's own for that JDK, as one with musl. compiler: a directory with
    the module jdk.compiler, for a JVM that has none. loaded: further options of the JVM, and out: a
    directory of the host that the JVM may write to, as /out.
    """

    scratch = "/tmp"

    def __init__(self, engine, place, options="", image=None, compiler=None, loaded=(), out=None):
        self.engine, self.place, self.image_tag = engine, place, image
        self.compiler, self.out = compiler, out
        self.env = {}
        self.add_flags([*self.own(options), *loaded])

    @staticmethod
    def own(options):
        agent = "-agentpath:/opt/fgcollect/libfgagent.so"
        return [f"{agent}={options}" if options else agent]

    def add_flags(self, flags):
        """The image may name the agent in the variable."""
        before = self.env.get("JAVA_TOOL_OPTIONS", "").split()
        self.env["JAVA_TOOL_OPTIONS"] = " ".join([*before, *flags])

    def start(self, jdk, args, reads=()):
        image = self.image_tag or self.engine.image(jdk)
        if not image:
            raise LookupError(f"no image with JDK {jdk}")
        return Contained(containers.Container(
            self.engine, image, self.place.run, *args, env=self.env, reads=reads,
            options=[f"--volume={self.out}:/out"] if self.out else []))

    @staticmethod
    def beside(jvm):
        return ["nsenter", "--target", jvm.pid, "--net"]


class NoAgentContainer(ContainerAgent):
    """JVMs of containers that nobody has prepared."""

    @staticmethod
    def own(options):
        return []


class Running:
    """pid: the JVM's PID, None for several JVMs; printed(): ends the JVM and returns the shares it
    prints."""

    def __init__(self, pid=None, jvm=None):
        self.pid, self.jvm = pid, jvm

    def printed(self):
        if not self.jvm:
            return {}
        self.jvm.stop()
        return printed_shares(self.jvm.text)


class Workload:
    """A single JVM with a program of tests/java.

    args: arguments before SECONDS; flags: flags of the JVM that make up the workload; shares:
    {printed name: regular expression for frames}; least_jdk: the first JDK that runs the program.
    """

    def __init__(self, program, *args, must, flags=(), shares=None, least_jdk=8):
        self.program, self.args, self.must = program, args, must
        self.flags, self.shares, self.least_jdk = flags, shares, least_jdk

    def why_not(self, jdk):
        """Why the workload cannot run here, or None."""
        if jdk < self.least_jdk:
            return f"it needs JDK {self.least_jdk}"
        if not settings.jdk_home(jdk):
            return f"no JDK {jdk}"
        if not (settings.CLASSES / f"{self.program}.class").exists():
            return f"{self.program} was not compiled"
        return None

    @contextlib.contextmanager
    def running(self, agent, jdk, seconds):
        jvm = agent.start(jdk, [*self.flags, self.program, *self.args, seconds + SLACK_SEC])
        try:
            processes.wait_until(lambda: "ready" in jvm.text or jvm.code is not None,
                                 lambda: f"{self.program} is warm:\n{jvm.text}")
            if jvm.code is not None:
                raise processes.Failed(f"{self.program} ended with {jvm.code}:\n{jvm.text}")
            yield Running(jvm.pid, jvm)
        finally:
            jvm.stop()


def run_to_end(agent, jdk, args, reads=()):
    with contextlib.suppress(processes.Failed):
        jvm = agent.start(jdk, args, reads)
        try:
            jvm.wait(30)
        finally:
            jvm.stop()


@contextlib.contextmanager
def again_and_again(starters, run):
    """Threads call run again and again until the `with` is left. Each thread then ends its last
    call."""
    ended = threading.Event()

    def repeat():
        while not ended.is_set():
            run()

    threads = [threading.Thread(target=repeat) for _ in range(starters)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


class Repeated(Workload):
    """A short program that two threads start again and again while it is recorded."""

    @contextlib.contextmanager
    def running(self, agent, jdk, seconds):
        args = [*self.flags, self.program, *self.args]
        with again_and_again(2, lambda: run_to_end(agent, jdk, args)):
            yield Running()


class Compiler:
    """javac, which compiles some hundred files again and again: young JVMs, and much code that is
    loaded and unloaded."""

    FILES = 300
    shares = None
    # The first and the last samples are the launcher's and the JVM's own.
    must = Must(MAIN, r"com/sun/tools/javac/Main\.(main|compile)",
                when=r"com/sun/tools/javac/(comp|parser|jvm)/.*")

    @staticmethod
    def why_not(jdk):
        home = settings.jdk_home(jdk)
        return None if home and (home / "bin" / "javac").exists() else f"no javac of JDK {jdk}"

    @contextlib.contextmanager
    def running(self, agent, jdk, seconds):
        sources = write_sources(agent.place.directory / "generated", self.FILES)
        args = ["-m", "jdk.compiler/com.sun.tools.javac.Main", "-nowarn", "-d",
                f"{agent.scratch}/compiled", f"@{sources}"]
        reads = [sources.parent]
        if agent.compiler:
            args = [*(f"--add-exports=java.base/jdk.internal.{package}=ALL-UNNAMED"
                      for package in INTERNAL), "-cp", agent.compiler,
                    "com.sun.tools.javac.Main", *args[2:]]
            reads.append(agent.compiler)
        with again_and_again(1, lambda: run_to_end(agent, jdk, args, reads)):
            yield Running()


def of_a_request(names):
    """A check of stacks: the servlet's work is called by a request, and the request by the
    container."""
    if not any(name.startswith("Work") for name in names):
        return None
    for wanted in ("Work.doGet", "org/apache/catalina/core/StandardWrapperValve.invoke",
                   "org/apache/catalina/connector/CoyoteAdapter.service"):
        if wanted not in names:
            return f"no {wanted}"
    return None


class Tomcat:
    """A servlet container under load. The work is done by its requests."""

    shares = None
    must = Must(r"http-nio-.*", r"java/lang/Thread\.run", check=of_a_request)

    @staticmethod
    def why_not(jdk):
        return tomcat.what_is_missing() or (None if settings.jdk_home(jdk) else f"no JDK {jdk}")

    @contextlib.contextmanager
    def running(self, agent, jdk, seconds):
        with tomcat.serving(agent, jdk) as (jvm, url), \
                tomcat.load(agent, jvm, url, seconds + SLACK_SEC):
            yield Running(jvm.pid)


def turns_of(names):
    """The frames of Recursion's two methods as letters, root first."""
    letters = {"Recursion.even": "e", "Recursion.odd": "o"}
    return "".join(letters.get(name, "") for name in names)


def recursion(depth, *flags):
    """A stack has all frames of the two methods, in turns. If the stack is cut, it has the highest
    of these frames. On the way down and back, whose share the program prints, a stack has as many
    frames as there are."""
    wanted = ("eo" * (depth // 2 + 1))[:depth + 1]

    def check(names):
        found = turns_of(names)
        if "Recursion.burn" not in names:
            return None if wanted.startswith(found) else "turns one after the other"
        return None if found == wanted else f"all turns: {len(found)} of {len(wanted)}"

    def check_cut(names):
        found = turns_of(names)
        if "Recursion.burn" in names and len(found) < LEAST_TURNS:
            return f"enough turns: {len(found)}"
        return None if wanted.endswith(found) else "turns one after the other"

    return Workload("Recursion", depth, flags=flags, shares={"burn": r"Recursion\.burn"},
                    must=Must(MAIN, r"Recursion\.main", check=check, check_cut=check_cut))


def by_phases(program, phases, flags=()):
    """A program that divides its main thread's time between phases. phases: {name: class with
    run()}."""
    name = re.escape(program)
    return Workload(
        program, flags=flags,
        must=Must(MAIN, rf"{name}\.main", r"Shares\.runFor"),
        shares={phase: rf"{name}\${nested}\.run" for phase, nested in phases.items()})


INTERPRETED = {"half": "Half", "third": "Third", "fifth": "Fifth"}
EXCLUDED = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,Exceptions$Excluded.*")
# Compiled methods below an interpreted one.
GUARDED = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,Guarded$*.call")


def is_called(names):
    """Guarded's add() is called by call(), or by what call() calls; and all these by each other."""
    if not any(re.fullmatch(r"Guarded\$\w+\.(add|keep\w+)", name) for name in names):
        return None
    for name in ("Guarded$Counter.run", "Guarded$Counter.call"):
        if name not in names:
            return name
    return None


def guarded(*flags):
    """Methods at whose ends more than a return is compiled."""
    return Workload("Guarded", flags=(*GUARDED, *flags),
                    must=Must(MAIN, r"Guarded\.main", r"Shares\.runFor", check=is_called))


def virtual(*flags):
    """Its own frames, of which most lie in the heap, and what mounted it on the carrier's stack."""
    return Workload("Virtual", flags=flags, least_jdk=21, must=Must(
        r"ForkJoinPool-1-.*", r"jdk/internal/vm/Continuation\.run",
        r"java/util/concurrent/ForkJoinWorkerThread\.run", r"Virtual\$(Deep|Shallow)\.run",
        r"java/lang/VirtualThread\.run", when=r"Virtual(\$\w+)?\.burn", check=descends_wholly))


WORKLOADS = {
    "mixed": by_phases("Mixed", {"maps": "Maps", "regex": "Regex", "streams": "Streams",
                                 "digest": "Digest", "compress": "Compress"}),
    "zip": by_phases("ZipFiles", {"deflate": "Deflate", "inflate": "Inflate", "files": "ReadWrite",
                                  "channels": "Channels", "listing": "Listing", "crc": "Crc"}),
    "natives": by_phases("Natives", {"copy": "Copy", "fill": "Fill", "search": "Search",
                                     "crc": "Crc", "aes": "Aes", "sha": "Sha", "big": "Big",
                                     "math": "Maths"}),
    "exceptions": by_phases("Exceptions", {"compiled": "Compiled", "inlined": "InlinedOnes",
                                           "interpreted": "Excluded",
                                           "invalidated": "Invalidated"}, EXCLUDED),
    "locks": guarded(),
    "locks-c1": guarded("-XX:TieredStopAtLevel=1"),
    "interpreted": by_phases("Interpreted", INTERPRETED, ("-Xint",)),
    "recursion-400": recursion(400),
    "recursion-3000": recursion(3000, "-Xss8m"),
    "recursion-100000": recursion(100_000, "-Xss256m"),
    "recursion-400-int": recursion(400, "-Xint"),
    "threads": Workload("Threads", 200, must=Must(r"worker-\d{3}", r"java/lang/Thread\.run",
                                                  r"Threads\$Worker\.run")),
    "short-lived": Repeated("ShortLived", must=Must(
        MAIN, r"ShortLived\.main", r"ShortLived\$Work\.run", when=r"ShortLived\$Work\.\w+")),
    "churn": Workload("Churn", must=Must(MAIN, r"Churn\.main")),
    "virtual": virtual(),
    # What has called interpreted code, and code of its first run beside that of later ones.
    "virtual-xcomp": virtual("-Xcomp"),
    "javac": Compiler(),
    "tomcat": Tomcat(),
}
