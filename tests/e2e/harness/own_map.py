# SPDX-License-Identifier: Apache-2.0
"""The JVM's own map of its code, of a JVM on the host, as often as ten times a second.

jcmd is a JVM of its own and takes a good part of a second. What it does once the JVM listens is to
write five words to a socket, so from the second map on we write them ourselves.
"""

import os
import pathlib
import socket
import threading
import time

from . import processes
from .perf_map import PerfMap

REQUEST = b"1\0jcmd\0Compiler.perfmap\0\0\0"


class OwnMap:
    def __init__(self, home, pid):
        self.jcmd, self.pid = home / "bin" / "jcmd", pid
        self.path = pathlib.Path(f"/tmp/perf-{pid}.map")
        self.attached = False

    def read(self):
        if self.attached:
            self._ask()
        else:
            processes.run([self.jcmd, self.pid, "Compiler.perfmap"], check=True)
            self.attached = True
        try:
            return PerfMap(self.path.read_text(errors="replace"))
        finally:
            self.path.unlink(missing_ok=True)

    def _ask(self):
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(f"/tmp/.java_pid{self.pid}")
            peer.sendall(REQUEST)
            answer = b""
            while part := peer.recv(4096):
                answer += part
        if not answer.startswith(b"0"):
            raise processes.Failed(f"the JVM {self.pid} wrote no map: {answer!r}")


class Comparison:
    """Our map and the JVM's own, both looked at again and again until they have become equal.

    A method that the JVM's has before and after ours was read was there all the while. It is let
    off if it was not yet in the JVM's map LAG_SEC before ours: so long an event may take.
    """

    LAG_SEC = 0.2

    def __init__(self, own, read_ours):
        self.own, self.read_ours = own, read_ours
        self.ours, self.theirs = [], []  # (begin, end, map)
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()

    def _look(self):
        while not self.stopping.wait(0.05):
            self.theirs.append(timed(self.own.read))
            self.ours.append(timed(lambda: PerfMap(self.read_ours())))

    def missing(self, ours):
        """Methods that are not in that map of ours, or None if it cannot be judged."""
        begin, end, known = ours
        before = [m for m in self.theirs if m[1] <= begin - self.LAG_SEC]
        after = [m for m in self.theirs if m[0] >= end]
        if not before or not after:
            return None
        still, known = after[0][2].ranges(), known.by_range()
        return [entry for entry in before[-1][2].methods()
                if entry[:2] in still and not is_named(entry[2], known.get(entry[:2]))]

    def seconds_to_equal(self, since):
        """From then until our map was equal and stayed so; None if the last one was not."""
        judged = [(m[1], self.missing(m)) for m in self.ours if m[1] >= since]
        judged = [(end, missing) for end, missing in judged if missing is not None]
        equal = None
        for end, missing in reversed(judged):
            if missing:
                break
            equal = end - since
        return equal

    def last_missing(self):
        judged = [missing for missing in map(self.missing, self.ours) if missing is not None]
        return judged[-1] if judged else None


def is_named(theirs, ours):
    """Whether the JVM's "long Churn$Work.mix(long)" is what we call "LChurn$Work;::mix"."""
    if not ours:
        return False
    owner, _, method = theirs.partition("(")[0].rpartition(" ")[2].rpartition(".")
    # JVMTI has one name for all of these that the JVM makes by itself: they share a jmethodID.
    if owner == "java.lang.invoke.MethodHandle":
        return ours.startswith("Ljava/lang/invoke/MethodHandle;::")
    if "/" in owner:  # a hidden class: only JVMTI adds a number to its name
        return ours.endswith(f";::{method}")
    return ours == f"L{owner.replace('.', '/')};::{method}"


def timed(read):
    begin = time.monotonic()
    value = read()
    return begin, time.monotonic(), value
