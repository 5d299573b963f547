# SPDX-License-Identifier: Apache-2.0
"""From an agent's event to the line in /tmp/perf-<pid>.map.

Speaks the agent's protocol to a collector of its own, says method after method at random times, each
at an address of its own, and looks at every map that appears. With --java CLASS a real JVM with the
agent runs that class instead, and what it says is passed on as it comes: the delay is then from the
time that the agent gave the event. Prints the median and the 99th percentile of the delays, how far
apart the maps were by the time of their files, and how often a second one came at most.
"""

import argparse
import ctypes
import os
import pathlib
import random
import select
import signal
import socket
import statistics
import struct
import subprocess
import tempfile
import time

repo = pathlib.Path(__file__).resolve().parents[2]
arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--collector", default=repo / "build/collector/fgcollect")
arguments.add_argument("--seconds", type=float, default=20)
arguments.add_argument("--rate", type=float, default=50, help="events a second")
arguments.add_argument("--methods", type=int, default=5000, help="known before it begins")
arguments.add_argument("--java", metavar="CLASS", help="of tests/java: a real JVM's own events")
arguments.add_argument("--java-home", default="/usr/lib/jvm/java-17-openjdk-amd64")
arguments.add_argument("--agent", default=repo / "build/jvmti-agent/libfgagent.so")
arguments.add_argument("--classes", default=repo / "build/tests/java/classes")
options = arguments.parse_args()
METHOD_LOAD, RESYNC = 4, 1


def text(value):
    data = value.encode()
    return struct.pack("<H", len(data)) + data


class Agent:
    """Speaks as shared/README.md says."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.sendall(b"\0SP\0\0\x50\0\0")
        assert self.socket.recv(8, socket.MSG_WAITALL) == b"\0SP\0\0\x51\0\0"
        self.sequence = 0
        self.address = 0x7F0000000000

    def say(self, *records):
        body = b"".join(struct.pack("<HHI", kind, 0, len(data)) + data for kind, data in records)
        message = b"FGW1" + struct.pack("<HHQQ", 1, 24, self.sequence, time.monotonic_ns()) + body
        self.socket.sendall(b"\1" + struct.pack(">Q", len(message)) + message)
        self.sequence += 1

    def load(self, method, size=512):
        self.address += 512
        now = time.monotonic_ns()
        return METHOD_LOAD, (struct.pack("<QQIBBH", now, self.address, size, 4, 1, 0)
                             + text("Lcom/acme/Service;") + text(method) + text("()V") + text(""))


def relay(listener, path, said):
    """Between a JVM and the collector: notes what is said, passes every message on at once."""
    jvm = listener.accept()[0]
    up = socket.socket(socket.AF_UNIX)
    up.connect(path)
    up.sendall(jvm.recv(8, socket.MSG_WAITALL))
    jvm.sendall(up.recv(8, socket.MSG_WAITALL))
    while head := jvm.recv(9, socket.MSG_WAITALL):
        message = jvm.recv(struct.unpack(">Q", head[1:])[0], socket.MSG_WAITALL)
        up.sendall(head + message)
        offset = 24
        while offset < len(message):
            kind, flags, size = struct.unpack_from("<HHI", message, offset)
            if kind == METHOD_LOAD and not flags & RESYNC:
                when, address, length = struct.unpack_from("<QQI", message, offset + 8)
                said.write(f"{address:x} {length:x} {when}\n")
            offset += 8 + size


def talk(path, said):
    agent = Agent(path)
    agent.say((1, struct.pack("<IIQQQIHH", 1, 0, 0, 0, 0, 0, 0, 0)))
    for first in range(0, options.methods, 100):
        agent.say(*(agent.load(f"known{first + i}") for i in range(100)))
    time.sleep(1)
    while True:
        time.sleep(random.expovariate(options.rate))
        record = agent.load("said")
        when = time.monotonic_ns()
        agent.say(record)
        said.write(f"{agent.address:x} 200 {when}\n")


def watch_moves(directory):
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(0)
    libc.inotify_add_watch(descriptor, os.fsencode(directory), 0x80)  # IN_MOVED_TO
    return descriptor


def main():
    with tempfile.TemporaryDirectory(prefix="fgbench.") as name:
        place = pathlib.Path(name)
        collector = subprocess.Popen([options.collector, "--watch", "--socket",
                                      place / "run/agent.sock", "--map-dir", place],
                                     stderr=subprocess.DEVNULL)
        try:
            measure(place)
        finally:
            collector.terminate()
            collector.wait()


def start_speaker(place, path):
    """The process whose map it is: in one of its own, because Python's threads wait for each other."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(place / "relay.sock"))
    listener.listen()
    speaker = os.fork()
    if speaker == 0:
        try:
            with open(place / "said", "a", buffering=1) as said:
                relay(listener, path, said) if options.java else talk(path, said)
        finally:
            os._exit(0)
    return speaker


def start_jvm(place):
    return subprocess.Popen([f"{options.java_home}/bin/java",
                             f"-agentpath:{options.agent}=socket={place / 'relay.sock'}",
                             "-cp", options.classes, *options.java.split()],
                            stdout=subprocess.DEVNULL)


def measure(place):
    path = place / "run/agent.sock"
    while not path.exists():
        time.sleep(0.05)
    moves = watch_moves(place)
    speaker = start_speaker(place, str(path))
    jvm = start_jvm(place) if options.java else None
    perf_map = place / f"perf-{speaker}.map"
    maps, end = [], time.monotonic() + options.seconds
    while time.monotonic() < end:
        if select.select([moves], [], [], 0.2)[0]:
            os.read(moves, 4096)
            maps.append((time.monotonic_ns(), perf_map.read_text(), perf_map.stat().st_ctime_ns))
    os.kill(speaker, signal.SIGKILL)
    os.waitpid(speaker, 0)
    if jvm:
        jvm.terminate()
        jvm.wait()
    report([line.split() for line in (place / "said").read_text().splitlines()], maps)


def report(said, maps):
    waiting = {(address, size): int(when) for address, size, when in said}
    delays = []
    for now, text, _ in maps:
        for line in text.splitlines():
            when = waiting.pop(tuple(line.split(" ", 2)[:2]), None)
            if when:
                delays.append((now - when) / 1e6)
    writes = [written for _, _, written in maps]  # a rename sets it, in steps of 4 ms
    most = max(sum(1 for other in writes if 0 <= other - first < 996e6) for first in writes)
    closest = min((b - a for a, b in zip(writes, writes[1:])), default=0) / 1e6
    delays.sort()
    whose = f"of {options.java}" if options.java else f"at {options.rate:g} a second"
    print(f"figure {statistics.median(delays):.1f} ms median, "
          f"{delays[len(delays) * 99 // 100]:.1f} ms 99th percentile, {delays[-1]:.1f} ms greatest "
          f"of {len(delays)} events {whose}; {len(writes)} maps, at most {most} a second, "
          f"the closest {closest:.1f} ms apart")


main()
