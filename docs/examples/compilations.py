#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts compilations of all JVMs by class, live, by the events of `fgcollect --watch --publish`.

Usage: compilations.py URL [SECONDS]
    URL: as --publish has it, ipc:///run/fgcollect-publish/events for instance

Prints each second the ten classes with the most compilations since the begin. Needs pynng (pip
install pynng), and the right to open the socket: root, or the daemon's user.
"""

import collections
import json
import sys
import time

import pynng

url, until = sys.argv[1], time.monotonic() + float(sys.argv[2] if len(sys.argv) > 2 else "inf")
counts, expected, missed, told = collections.Counter(), None, 0, time.monotonic()
with pynng.Sub0(dial=url, block_on_dial=False, recv_timeout=200, recv_buffer_size=1024) as socket:
    socket.subscribe("code.json\n")
    while time.monotonic() < until:
        try:
            _, head, *lines = socket.recv().decode().split("\n")
        except pynng.Timeout:
            head, lines = None, []
        if head:
            head = json.loads(head)
            if expected and expected[0] == head["instance"]:    # another daemon begins at 0
                missed += head["seq"] - expected[1]
            expected = head["instance"], head["seq"] + 1
        for event in map(json.loads, filter(None, lines)):
            if event["event"] == "load" and event["kind"] in ("java", "osr") and "resync" not in event:
                counts[event.get("class", "?")] += 1
        if time.monotonic() >= told + 1:
            told = time.monotonic()
            print(f"{sum(counts.values())} compilations, {missed} messages missed")
            for name, count in counts.most_common(10):
                print(f"{count:8} {name}")
            sys.stdout.flush()
