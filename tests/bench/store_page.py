# SPDX-License-Identifier: Apache-2.0
"""How long the page over the store takes for what people do, and what it looks like.

A daemon has a store of two days of 50 JVMs (made_store.py) and five JVMs that run. Chromium opens the
page and does what a reader does. Each time is from the click to the picture, with what the test's
protocol takes. With --pictures, each view is pictured in light and dark, at 1366 and 2560 pixels.
"""

import argparse
import contextlib
import pathlib
import re
import statistics
import sys
import time

import bench_place
import made_store

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "browser"))
from test_store_daemon import MAP, StoreDaemon  # noqa: E402  the path comes first
from chromium import Browser  # noqa: E402

HOUR_MS = 3_600_000
SIZES = ((1366, 768), (2560, 1300))

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--recording", help="a .fgrec; without it a JVM is recorded for 20 s")
arguments.add_argument("--bench", default="build/tests/bench/store_bench")
arguments.add_argument("--hours", type=int, default=48)
arguments.add_argument("--jvms", type=int, default=50)
arguments.add_argument("--live", type=int, default=5)
arguments.add_argument("--runs", type=int, default=5)
arguments.add_argument("--pictures", type=pathlib.Path, help="a directory")


class Tour(StoreDaemon):
    """The helpers of the page's test, at another daemon."""

    def __init__(self, browser, url, options, start_ms):
        super().__init__("run")
        Tour.url = url
        self.browser, self.options = browser, options
        self.end_ms = start_ms + options.hours * HOUR_MS
        self.one = next(row["key"] for row in self.ask("processes")["processes"] if row["pid"] == 1000)

    def time(self, what, prepare, act):
        times = []
        for _ in range(self.options.runs):
            prepare()
            began = time.monotonic()
            act()
            self.quiet()
            times.append(1000 * (time.monotonic() - began))
        print(f"| {what} | {statistics.median(times):.0f} ms | {max(times):.0f} ms |", flush=True)

    def picture(self, name):
        if not self.options.pictures:
            return
        for width, height in SIZES:
            for dark in (False, True):
                self.browser.resize(width, height, dark=dark)
                self.quiet()
                self.browser.frames()
                self.browser.screenshot(self.options.pictures /
                                        f"{name}-{width}-{'dark' if dark else 'light'}.png")
        self.browser.resize(1366, 768)
        self.quiet()

    def nothing(self):
        """open shows an empty page first."""

    def take(self, start, end):
        """A range under the mouse, whose button is still down."""
        first, last = self.place_of(start), self.place_of(end)
        self.browser.mouse("mouseMoved", *first)
        self.browser.mouse("mousePressed", *first)
        self.browser.mouse("mouseMoved", *last)
        self.released = last
        self.browser.frames()

    def release(self):
        self.browser.mouse("mouseReleased", *self.released)
        self.browser.frames()

    def heat_of(self, hours, **state):
        self.open(view="heat", **{"shown-from": self.end_ms - hours * HOUR_MS, "shown-to": self.end_ms, **state})

    def run_all(self):
        middle = self.end_ms - 6 * HOUR_MS
        self.time("the list of all JVMs, from nothing", self.nothing, self.open)
        self.picture("list")
        self.time("one JVM by a filter", self.open, lambda: self.write("#where", "pid=1000"))
        self.time("a day of one JVM, from nothing", self.nothing, lambda: self.heat_of(24, process=self.one))
        self.time("two days of all JVMs, from nothing", self.nothing, lambda: self.heat_of(self.options.hours))
        self.picture("heat-all")
        self.time("a graph of ten minutes, from the mouse's release",
                  lambda: (self.heat_of(24, process=self.one), self.take(middle, middle + 9 * 60_000)),
                  self.release)
        self.picture("graph")
        self.time("the difference to an hour before, from the mouse's release",
                  lambda: self.open(view="heat", process=self.one, **{
                      "shown-from": self.end_ms - 24 * HOUR_MS, "shown-to": self.end_ms, "from": middle,
                      "to": middle + 600_000}) or self.click("#compare") or self.take(
                          middle - HOUR_MS, middle - HOUR_MS + 9 * 60_000),
                  self.release)
        self.picture("compare")
        live = [row for row in self.ask("processes")["processes"] if row["is_live"]]
        print(f"{len(live)} live JVMs of {len(self.ask('processes')['processes'])}")
        self.time("live, of the five that run", lambda: self.open(view="heat", process=[row["key"] for row in live]),
                  lambda: self.click("#live"))
        first = self.run_js("app.state.to")
        self.browser.wait_for(f"app.state.to > {first} + 1500")
        self.picture("live")
        print("complaints of the page:", self.browser.complaints() or "none")


def main(options):
    start = int(time.time()) // 3600 * 3600 - options.hours * 3600
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(bench_place.place())
        store = place.directory / "store"
        made_store.make(place, pathlib.Path(options.bench).resolve(), options.recording, store, options.hours,
                        options.jvms, start)
        daemon = bench_place.collector.Watch(place, "--store", store, "--store-age", "3650d", "-F", 19, "--http",
                                             "127.0.0.1:0").started()
        stack.callback(daemon.stop)
        stack.enter_context(bench_place.busy_jvms(place, "Resting", count=options.live))
        time.sleep(25)  # two windows
        url = f"http://127.0.0.1:{re.search(r':([0-9]+)/metrics', daemon.text)[1]}"
        if options.pictures:
            options.pictures.mkdir(parents=True, exist_ok=True)
        browser = stack.enter_context(Browser(server=url))
        print(f"| {options.jvms} JVMs, {options.hours} h, and {options.live} that run | median | longest |\n|---|---|---|")
        Tour(browser, url, options, 1000 * start).run_all()


if __name__ == "__main__":
    main(arguments.parse_args())
