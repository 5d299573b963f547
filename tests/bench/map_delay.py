# SPDX-License-Identifier: Apache-2.0
"""From an agent's event to the line in /tmp/perf-<pid>.map.

Speaks the agent's protocol to a collector of its own, says method after method at random times, each
named by the time at which it was said, and looks at every map that appears. Prints the median and
the 99th percentile of the delays, and how often a second the map was written at most.
"""

import argparse
import ctypes
import os
import pathlib
import random
import select
import socket
import statistics
import struct
import subprocess
import tempfile
import threading
import time

repo = pathlib.Path(__file__).resolve().parents[2]
arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--collector", default=repo / "build/collector/fgcollect")
arguments.add_argument("--seconds", type=float, default=20)
arguments.add_argument("--rate", type=float, default=50, help="events a second")
arguments.add_argument("--methods", type=int, default=5000, help="known before it begins")
options = arguments.parse_args()


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

    def load(self, method):
        self.address += 512
        return 4, (struct.pack("<QQIBBH", time.monotonic_ns(), self.address, 512, 4, 1, 0)
                   + text("Lcom/acme/Service;") + text(method) + text("()V") + text(""))


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


def measure(place):
    path = place / "run/agent.sock"
    while not path.exists():
        time.sleep(0.05)
    moves = watch_moves(place)
    agent = Agent(str(path))
    agent.say((1, struct.pack("<IIQQQIHH", 1, 0, 0, 0, 0, 0, 0, 0)))
    for first in range(0, options.methods, 100):
        agent.say(*(agent.load(f"known{first + i}") for i in range(100)))
    time.sleep(1)
    stop = threading.Event()

    def talk():
        while not stop.wait(random.expovariate(options.rate)):
            agent.say(agent.load(f"said{time.monotonic_ns()}"))

    talker = threading.Thread(target=talk)
    talker.start()
    end, delays, seen, writes = time.monotonic() + options.seconds, [], set(), []
    while time.monotonic() < end:
        if not select.select([moves], [], [], 0.2)[0]:
            continue
        os.read(moves, 4096)
        now = time.monotonic_ns()
        writes.append(now)
        for line in (place / f"perf-{os.getpid()}.map").read_text().splitlines():
            method = line.rpartition("::said")[2]
            if "::said" in line and method not in seen:
                seen.add(method)
                delays.append((now - int(method)) / 1e6)
    stop.set()
    talker.join()
    most = max(sum(1 for other in writes if 0 <= other - first < 1e9) for first in writes)
    delays.sort()
    print(f"figure {statistics.median(delays):.0f} ms median, "
          f"{delays[len(delays) * 99 // 100]:.0f} ms 99th percentile, {delays[-1]:.0f} ms greatest "
          f"of {len(delays)} events at {options.rate:g} a second; at most {most} writes a second")


main()
