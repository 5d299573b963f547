# SPDX-License-Identifier: Apache-2.0
"""The programs by which whole stacks are judged: how they start, what their stacks must have.

A workload is started in a place (harness.collector.Place), warmed up, and ended when its `with` is
left. Those that are not one JVM with one of our programs have a class of their own.
"""

import contextlib
import re
import threading

from harness import processes, settings
from harness.folded import printed_shares
from score_stacks import Must
import tomcat

# Java's main thread has the launcher's name.
MAIN = "java"
# What a program runs for beyond the recording, so that it prints its shares soon after.
SLACK_SEC = 2.5
# Frames that are in any snapshot of a deep stack, interpreted ones too: some 100 bytes each.
LEAST_TURNS = 200


class Agent:
    """How the JVM is profiled: fgcollect's agent with its options, or other flags alone."""

    def __init__(self, place, options="", flags=()):
        loaded = f"-agentpath:{settings.AGENT}=socket={place.socket}"
        self.flags = [*flags, f"{loaded},{options}" if options else loaded]


def java_home(jdk):
    home = settings.jdk_home(jdk)
    if not home:
        raise LookupError(f"no JDK {jdk} on this machine: set FG_JDK{jdk} to its home")
    return home


class Running:
    """pid: of the JVM, None if there are several; printed(): the shares that it says at its end."""

    def __init__(self, pid=None, jvm=None):
        self.pid, self.jvm = pid, jvm

    def printed(self):
        if not self.jvm:
            return {}
        with contextlib.suppress(processes.Failed):
            self.jvm.wait(2 * SLACK_SEC)
        return printed_shares(self.jvm.text)


class Workload:
    """One JVM with one of the programs of tests/java.

    args come before SECONDS; flags: of the JVM, which make it what it is; shares: {name as printed:
    regular expression for frames}; least_jdk: the first JDK that it runs on.
    """

    def __init__(self, program, *args, must, flags=(), shares=None, least_jdk=8):
        self.program, self.args, self.must = program, args, must
        self.flags, self.shares, self.least_jdk = flags, shares, least_jdk

    def why_not(self, jdk):
        """Why it cannot run here, or None."""
        if jdk < self.least_jdk:
            return f"it needs JDK {self.least_jdk}"
        if not settings.jdk_home(jdk):
            return f"no JDK {jdk}"
        if not (settings.CLASSES / f"{self.program}.class").exists():
            return f"{self.program} was not compiled"
        return None

    def command(self, agent, jdk, *args):
        return [java_home(jdk) / "bin" / "java", *agent.flags, *self.flags, "-cp", settings.CLASSES,
                self.program, *self.args, *args]

    @contextlib.contextmanager
    def running(self, place, agent, jdk, seconds):
        jvm = processes.Background(self.command(agent, jdk, seconds + SLACK_SEC),
                                   place.directory / "jvm.log")
        try:
            processes.wait_until(lambda: "ready" in jvm.text or jvm.code is not None,
                                 lambda: f"{self.program} is warm:\n{jvm.text}")
            if jvm.code is not None:
                raise processes.Failed(f"{self.program} ended with {jvm.code}:\n{jvm.text}")
            yield Running(jvm.pid, jvm)
        finally:
            jvm.stop()


class Repeated(Workload):
    """A short program, started again and again while it is recorded, by two at a time."""

    STARTERS = 2

    @contextlib.contextmanager
    def running(self, place, agent, jdk, seconds):
        ended = threading.Event()

        def start_again_and_again():
            while not ended.is_set():
                with contextlib.suppress(processes.Failed):
                    processes.run(self.command(agent, jdk), timeout=20)

        starters = [threading.Thread(target=start_again_and_again) for _ in range(self.STARTERS)]
        for starter in starters:
            starter.start()
        try:
            yield Running()
        finally:
            ended.set()
            for starter in starters:
                starter.join()


def of_a_request(names):
    """A check: what our servlet does it does for a request, and that for the container."""
    if not any(name.startswith("Work") for name in names):
        return None
    for wanted in ("Work.doGet", "org/apache/catalina/core/StandardWrapperValve.invoke",
                   "org/apache/catalina/connector/CoyoteAdapter.service"):
        if wanted not in names:
            return f"no {wanted}"
    return None


class Tomcat:
    """A servlet container under load; its requests are the work."""

    shares = None
    must = Must(r"http-nio-.*", r"java/lang/Thread\.run", check=of_a_request)

    @staticmethod
    def why_not(jdk):
        return tomcat.what_is_missing() or (None if settings.jdk_home(jdk) else f"no JDK {jdk}")

    @contextlib.contextmanager
    def running(self, place, agent, jdk, seconds):
        with tomcat.serving(place.directory, java_home(jdk), agent.flags) as server, \
                tomcat.load(place.directory, server.url, seconds + SLACK_SEC):
            yield Running(server.pid)


def turns_of(names):
    """Recursion's two methods as letters, root first."""
    letters = {"Recursion.even": "e", "Recursion.odd": "o"}
    return "".join(letters.get(name, "") for name in names)


def recursion(depth, *flags):
    """All frames of the two methods, in turns; or the highest of them, if the stack is cut."""
    wanted = ("eo" * (depth // 2 + 1))[:depth + 1]

    def check(names):
        found = turns_of(names)
        return None if found == wanted else f"all turns: {len(found)} of {len(wanted)}"

    def check_cut(names):
        found = turns_of(names)
        if len(found) < LEAST_TURNS:
            return f"enough turns: {len(found)}"
        return None if wanted.endswith(found) else "turns one after the other"

    return Workload("Recursion", depth, flags=flags, must=Must(
        MAIN, r"Recursion\.main", r"Recursion\.burn", check=check, check_cut=check_cut))


def by_phases(program, phases, flags=()):
    """A program that divides its main thread's time between phases: {name: class with run()}."""
    name = re.escape(program)
    return Workload(
        program, flags=flags,
        must=Must(MAIN, rf"{name}\.main", r"Shares\.runFor"),
        shares={phase: rf"{name}\${nested}\.run" for phase, nested in phases.items()})


INTERPRETED = {"half": "Half", "third": "Third", "fifth": "Fifth"}
EXCLUDED = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,Exceptions$Excluded.*")

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
    # A virtual thread's own frames may be in the heap; what mounted it is on the carrier's stack.
    "virtual": Workload("Virtual", least_jdk=21, must=Must(
        r"ForkJoinPool-1-.*", r"jdk/internal/vm/Continuation\.run",
        r"java/util/concurrent/ForkJoinWorkerThread\.run", when=r"Virtual(\$\w+)?\.\w+")),
    "tomcat": Tomcat(),
}
