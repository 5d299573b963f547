# SPDX-License-Identifier: Apache-2.0
"""How long a store's answers over HTTP take, by the length of the range and the number of JVMs.

The store has two days of one JVM, each hour 68,400 samples (a busy CPU at 19 Hz) drawn from a
recording by store_bench, and further JVMs that have links to the same segments. Each figure is the median of the runs. The fitted exponent is the
slope of a line through the logarithms: 1 is linear. Wanted: a day's heat map of one JVM in 1 s, a
graph of ten minutes in 200 ms.
"""

import argparse
import contextlib
import http.client
import json
import math
import pathlib
import re
import statistics
import sys
import time

import bench_place
import made_store

START = made_store.START
HOURS = 48
JVMS = 50
MINUTE, HOUR = 60, 3600
RANGES = (("10 min", 10 * MINUTE), ("1 h", HOUR), ("6 h", 6 * HOUR), ("1 day", 24 * HOUR),
          ("2 days", 48 * HOUR))
# Columns and rows that the page's grid has of such a range.
GRIDS = {10 * MINUTE: (120, 20), HOUR: (60, 60), 6 * HOUR: (72, 60), 24 * HOUR: (144, 60), 48 * HOUR: (48, 60)}
# A graph of two days of fifty JVMs is past what a request may take.
GRAPH_JVM_HOURS = 48

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--recording", help="a .fgrec; without it a JVM is recorded for 20 s")
arguments.add_argument("--bench", default="build/tests/bench/store_bench")
arguments.add_argument("--hours", type=int, default=HOURS)
arguments.add_argument("--jvms", type=int, default=JVMS)
arguments.add_argument("--runs", type=int, default=5)
options = arguments.parse_args()


def ask(port, path):
    """Seconds and bytes of an answer."""
    began = time.monotonic()
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as client:
        client.request("GET", path)
        answer = client.getresponse()
        body = answer.read()
    if answer.status != 200:
        return None, json.loads(body)["error"]
    return time.monotonic() - began, len(body)


def measure(port, path):
    times = []
    for _ in range(options.runs):
        seconds, size = ask(port, path)
        if seconds is None:
            return None, size
        times.append(seconds)
    return statistics.median(times), size


def exponent(points):
    """The slope of a line through the logarithms; points: (x, y)."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    if len(points) < 3:
        return float("nan")
    return statistics.linear_regression(xs, ys).slope


def path_of(what, begin, end, jvms):
    chosen = "" if jvms > 1 else "&pid=1000"
    more = {"heat": "&columns={}&rows={}".format(*GRIDS[end - begin]), "graph html": "&format=html",
            "graph folded": "&format=folded", "processes": "&buckets=60"}[what]
    return f"/api/v1/{what.split()[0]}?from={begin}000&to={end}000{chosen}{more}"


def table(port, what, jvms):
    points = []
    for name, seconds in RANGES:
        if seconds > options.hours * HOUR:
            continue
        if what.startswith("graph") and jvms * seconds > GRAPH_JVM_HOURS * HOUR:
            continue
        end = START + options.hours * HOUR
        took, size = measure(port, path_of(what, end - seconds, end, jvms))
        if took is None:
            print(f"  {what:13} {jvms:3} JVMs {name:7}: {size}")
            continue
        points.append((seconds, took))
        print(f"  {what:13} {jvms:3} JVMs {name:7} {took * 1000:8.1f} ms {size / 1024:9.1f} KiB")
    print(f"  {what:13} {jvms:3} JVMs: time grows as the range to the {exponent(points):.2f}")


def main():
    with bench_place.place() as place:
        store = pathlib.Path(place.directory) / "store"
        began = time.monotonic()
        made_store.make(place, pathlib.Path(options.bench).resolve(), options.recording, store,
                        options.hours, options.jvms)
        size = sum(path.stat().st_size for path in (store / "segments").glob("*-1000-*"))
        print(f"store made in {time.monotonic() - began:.0f} s: {options.jvms} JVMs, "
              f"{size / options.hours / 1024:.0f} KiB a JVM and hour")
        daemon = bench_place.collector.Watch(place, "--store", store, "--http", "127.0.0.1:0",
                                             "--store-age", "3650d").started()
        try:
            port = int(re.search(r":(\d+)/metrics", daemon.text)[1])
            for what in ("processes", "heat", "graph html", "graph folded"):
                for jvms in (1, options.jvms):
                    table(port, what, jvms)
        finally:
            daemon.stop()


main()
