# SPDX-License-Identifier: Apache-2.0
"""A daemon under JVMs that come and go: its memory, descriptors and threads must stay flat.

Twenty JVMs at a time, each of which ends after some seconds and is followed by another; the daemon
samples, writes a graph a JVM and period, and is scraped every 10 s; promtool reads what it says.
The second half of the run is cut into ten stretches, and a straight line is fitted through the least
value of each: JVMs, and those of others on the same host, make what is taken go up and down, and a
leak raises what it never goes below. What the line rises by over that half is the growth: memory may
grow by --memory-percent of its mean, descriptors by 3, threads by 1, and what is judged is the
growth less two standard errors of the line. Exit 1 if anything is not flat, was lost, or cannot be
parsed.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

from bench_place import java, place, processes, settings

Sample = collections.namedtuple("Sample", "at rss_kib descriptors threads")

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--minutes", type=float, default=20)
arguments.add_argument("--jvms", type=int, default=20)
arguments.add_argument("--life", type=float, nargs=2, default=(15, 60), metavar=("MIN", "MAX"),
                       help="seconds that a JVM lives")
arguments.add_argument("--period-sec", type=float, default=60,
                       help="SIGHUP ends a period after so long, if shorter than a minute")
arguments.add_argument("--every", type=float, default=2, help="seconds between two samples")
arguments.add_argument("--memory-percent", type=float, default=5)
options = arguments.parse_args()


class Herd:
    """JVMs of which each is replaced when its time is over."""

    def __init__(self, here):
        self.here, self.running, self.started = here, [], 0

    def _start(self, now):
        life = random.uniform(*options.life)
        log = self.here.directory / "jvms" / f"{self.started % (2 * options.jvms)}.log"
        flags = ["-Xmx32m", "-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4"]
        jvm = processes.Background(["nice", "-n", "10", *java(self.here, "Churn", "1", "50", "600",
                                                              flags=flags)], log)
        self.running.append((now + life, jvm))
        self.started += 1

    def turn(self):
        """Ends those whose time is over; at most two begin at once, so that they come and go."""
        now = time.monotonic()
        for until, jvm in list(self.running):
            if now >= until:
                jvm.stop()
                self.running.remove((until, jvm))
        for _ in range(min(2, options.jvms - len(self.running))):
            self._start(now)

    def end(self):
        for _, jvm in self.running:
            jvm.stop()


def measure(pid, start):
    rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return Sample(time.monotonic() - start, int(re.search(r"^Rss:\s+(\d+)", rollup, re.M)[1]),
                  len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task")))


def scrape(url):
    """The metrics by name and labels, after promtool has read them."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                             capture_output=True, check=False)
    if checked.returncode != 0 or checked.stdout or checked.stderr:
        raise SystemExit(f"promtool: {checked.returncode}\n{checked.stdout}{checked.stderr}")
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
            for line in text.splitlines() if not line.startswith("#")}


def fit(points):
    """Least squares: slope, its standard error, and the mean."""
    count = len(points)
    mean_x, mean_y = (sum(p[i] for p in points) / count for i in (0, 1))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    rest = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in points)
    return slope, (rest / (count - 2) / spread) ** 0.5, mean_y


def floors(points, stretches=10):
    """The least value of each stretch."""
    first, last = points[0][0], points[-1][0]
    lowest = {}
    for x, y in points:
        stretch = min(stretches - 1, int((x - first) / (last - first) * stretches))
        lowest[stretch] = min(y, lowest.get(stretch, y))
    width = (last - first) / stretches
    return [(first + (stretch + 0.5) * width, y) for stretch, y in sorted(lowest.items())]


# So many times what is allowed may be in doubt; else the run was too short to say anything.
DOUBTS = 5


def judge(samples):
    """Prints a line for each quantity; whether all are flat."""
    half = [s for s in samples if s.at >= samples[-1].at / 2]
    length = half[-1].at - half[0].at
    flat = True
    for name, unit, bound in (("rss_kib", "KiB", None), ("descriptors", "", 3), ("threads", "", 1)):
        points = [(s.at, getattr(s, name)) for s in half]
        mean = sum(y for _, y in points) / len(points)
        slope, error, _ = fit(floors(points))
        growth = slope * length
        limit = bound or mean * options.memory_percent / 100
        values = [y for _, y in points]
        # Over a short run JVMs that happen to live at its end look like growth, with as much doubt.
        doubt = 2 * error * length
        grows = growth - doubt > limit
        unclear = doubt > DOUBTS * limit
        print(f"figure {name}: mean {mean:.1f} {unit}, {min(values)} to {max(values)}; slope "
              f"{slope * 60:+.3f} +- {error * 60:.3f} {unit}/min; {growth:+.1f} over {length:.0f} s"
              f" of at most {limit:.1f}: {'GROWS' if grows else 'NOT CLEAR' if unclear else 'flat'}",
              flush=True)
        flat &= not grows and not unclear
    return flat


def watch(here, daemon, herd):
    """Until the time is over; the samples, and the last scrape."""
    url = re.search(r"http://\S+(?=/metrics)", daemon.text)[0]
    start = time.monotonic()
    samples, last, scrapes = [], None, 0
    next_scrape = next_period = 0
    while (now := time.monotonic() - start) < options.minutes * 60:
        herd.turn()
        samples.append(measure(daemon.pid, start))
        if now >= next_scrape:
            last, scrapes, next_scrape = scrape(url), scrapes + 1, now + 10
        if now >= next_period and options.period_sec < 60:
            os.kill(daemon.pid, signal.SIGHUP)
            next_period = now + options.period_sec
        if daemon.code is not None:
            raise SystemExit(f"the daemon ended:\n{daemon.text}")
        time.sleep(options.every)
    print(f"{herd.started} JVMs came and went, {scrapes} scrapes were parsed, "
          f"{len(list((here.directory / 'graphs').iterdir()))} files")
    return samples, last


def main():
    if not shutil.which("promtool"):
        sys.exit("promtool is missing: apt-get install prometheus")
    with place() as here:
        for name in ("graphs", "jvms"):
            (here.directory / name).mkdir()
        daemon = processes.Background(
            [settings.COLLECTOR, "--watch", *here.options(), "--output", here.directory / "graphs",
             "--period", "60s", "--keep-bytes", "32M", "--http", "127.0.0.1:0", "--log-level",
             "warning" if options.minutes > 100 else "info"], here.directory / "watch.log")
        herd = Herd(here)
        try:
            processes.wait_until(lambda: "watching at" in daemon.text or daemon.code is not None,
                                 "the daemon listens")
            samples, last = watch(here, daemon, herd)
        finally:
            herd.end()
            daemon.stop()
        flat = judge(samples)
        bad = {name: last[f"fgcollect_{name}"] for name in
               ("graphs_failed_total", "graphs_dropped_total", "samples_left_out_total",
                "samples_held_dropped_total", "refused_sessions_total", "broken_messages_total")
               if last[f"fgcollect_{name}"]}
        for name in ("graphs_written_total", "samples_total", "samples_lost_total", "jvms",
                     "periods_total", "graph_files_removed_total", "process_records_lost_total"):
            print(f"{name} {last[f'fgcollect_{name}']:.0f}")
        errors = [line for line in daemon.text.splitlines() if "annot" in line]
        if bad or errors:
            print("not as it should be:", bad, "\n".join(errors[:10]))
        sys.exit(0 if flat and not bad and not errors else 1)


if __name__ == "__main__":
    main()
