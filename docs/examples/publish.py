#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the maps of all JVMs by the events of `fgcollect --watch --publish`, without any file.

Usage: publish.py URL [PID]
    URL: as --publish has it, ipc:///run/fgcollect-publish/events for instance
    PID: prints a perf map of this JVM at the end (SIGINT, SIGTERM), and not only a line a second

Needs pynng (pip install pynng), and the right to open the socket: root, or the daemon's user.
"""

import json
import signal
import sys


class Jvm:
    """The code of one JVM. Ranges do not overlap: a load ends what lies at its addresses."""

    def __init__(self):
        self.ranges = {}                # address -> (size, name, whether it lives)
        self.is_whole = False           # a resynchronisation or a snapshot of all code was seen
        self.walks = {}                 # topic -> addresses that were named since its "begin"
        self.epochs = {}                # topic -> of that "begin"

    def load(self, addr, size, name):
        known = self.ranges.get(addr)
        # Named again, as by each snapshot: nothing else lies there.
        others = [] if known and known[0] == size else [
            a for a, r in self.ranges.items() if a < addr + size and addr < a + r[0]]
        for other in others:
            old_size, old_name, _ = self.ranges.pop(other)
            # What is left of it has its old name, as in perf maps.
            if other < addr:
                self.ranges[other] = (addr - other, old_name, False)
            if other + old_size > addr + size:
                self.ranges[addr + size] = (other + old_size - addr - size, old_name, False)
        self.ranges[addr] = (size, name, True)
        for named in self.walks.values():
            named.add(addr)

    def drop(self, addr):
        if addr in self.ranges:
            size, name, _ = self.ranges[addr]
            self.ranges[addr] = (size, name, False)

    def begin(self, topic, epoch):
        self.walks[topic], self.epochs[topic] = set(), epoch

    def end(self, topic, epoch, complete):
        """What a complete walk has not named is gone. A walk with a gap, or of another epoch, proves nothing."""
        named = self.walks.pop(topic, None)
        if named is None or not complete or epoch != self.epochs[topic]:
            return
        for addr in [a for a, r in self.ranges.items() if r[2] and a not in named]:
            self.drop(addr)
        self.is_whole = True


class Maps:
    """All JVMs, and what was missed."""

    def __init__(self):
        self.jvms = {}                  # (PID, start time) -> Jvm
        self.next_seq = {}              # topic -> sequence number that comes next
        self.instance = None            # of the daemon
        self.gaps = 0                   # messages that were missed

    def hear(self, message):
        topic, head, *lines = message.decode("utf-8").split("\n")
        head = json.loads(head)
        if head["instance"] != self.instance:   # another daemon: all begins anew
            self.__init__()
            self.instance = head["instance"]
        missed = head["seq"] - self.next_seq.get(topic, head["seq"])
        if missed:
            self.gaps += missed
            for jvm in self.jvms.values():
                jvm.is_whole = False
                jvm.walks.clear()       # until the next snapshot
        self.next_seq[topic] = head["seq"] + 1
        for line in lines:
            if line:
                self.take(topic.partition(".")[0], json.loads(line))

    def take(self, topic, event):
        key = event["pid"], event["start_ticks"]
        if topic == "jvm":
            if event["event"] == "goes":
                self.jvms.pop(key, None)
            return
        jvm = self.jvms.setdefault(key, Jvm())
        if event["event"] == "load":
            jvm.load(int(event["addr"], 16), event["size"], event["name"])
        elif event["event"] == "drop":
            jvm.drop(int(event["addr"], 16))
        elif event["event"] == "begin":
            jvm.begin(topic, event["epoch"])
        elif event["event"] == "end":
            jvm.end(topic, event["epoch"], event["complete"])

    def perf_map(self, pid):
        return "".join(f"{addr:x} {size:x} {name}\n"
                       for key, jvm in self.jvms.items() if key[0] == pid
                       for addr, (size, name, _) in sorted(jvm.ranges.items()))

    def status(self):
        return (f"{len(self.jvms)} JVMs, {sum(jvm.is_whole for jvm in self.jvms.values())} whole, "
                f"{sum(len(jvm.ranges) for jvm in self.jvms.values())} ranges, {self.gaps} missed")


TOPICS = ("jvm\n", "code.json\n", "snapshot.json\n")


def main():
    import pynng                        # here, because the tests of Maps have another binding

    url, pid = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    maps, ends = Maps(), []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ends.append(True))
    with pynng.Sub0(dial=url, recv_timeout=1000, recv_buffer_size=1024) as socket:
        for topic in TOPICS:
            socket.subscribe(topic)
        while not ends:
            try:
                maps.hear(socket.recv())
            except pynng.Timeout:
                print(maps.status(), file=sys.stderr, flush=True)
    if pid:
        print(maps.perf_map(pid), end="")
    print(maps.status(), file=sys.stderr)


if __name__ == "__main__":
    main()
