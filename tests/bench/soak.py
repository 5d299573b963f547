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

With --mix users who mean harm come and go beside the JVMs, one after another, and recordings are
made. At each look, which is every 10 s, nothing may be unaccounted for: each sample that was read is
in the sum of the counters, each JVM's messages came without a gap and could be read, and all methods
that a JVM itself says are compiled (jcmd's Compiler.codelist) are in its perf map.
"""

import argparse
import bisect
import collections
import json
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
arguments.add_argument("--mix", action="store_true", help="with attacks, recordings and looks")
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


# All processes are recorded, and the files of all take memory until there is no more room for them:
# with so little room that is soon.
MIX_OPTIONS = {False: (), True: ("--symbol-cache", "32M")}

# What hostile_agent does, by how many processes, and how often or how much each.
ATTACKS = [("names", 10, 5000), ("mappings", 10, 20_000), ("reconnect", 5, 2000),
           ("garbage", 5, 2000), ("unfinished", 30, 4000), ("short", 2, 40), ("mappings", 1000, 1)]
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
SUM_OF_SAMPLES = ("samples", "left_out", "processless", "unwanted", "waiting", "unkept")
LOSSES = ("gaps", "bad_records", "unknown_records", "rejected", "lost_by_agent", "map_cut",
          "map_failures", "lost_inline_tables", "name_limit_hits")


class Mix:
    """Attacks and recordings, one of each at a time, and looks at what is accounted for."""

    def __init__(self, here, daemon, herd):
        self.here, self.daemon, self.herd = here, daemon, herd
        self.attack = self.recorder = None
        self.next_look = time.monotonic() + 20
        self.counts = collections.Counter()
        self.memory = []
        self.wrong = []

    def turn(self):
        if self.attack is None or self.attack.code is not None:
            what, processes_of_it, each = random.choice(ATTACKS)
            self.counts[what] += 1
            self.attack = processes.Background(
                [*NOBODY, settings.BUILD / "tests/e2e/hostile_agent", self.here.socket, what,
                 processes_of_it, each], self.here.directory / "attack.log")
        if self.recorder is None or self.recorder.code is not None:
            if self.recorder is not None:
                self.counts["recordings"] += 1
                if self.recorder.code != 0:
                    self.wrong.append(f"a recording: {self.recorder.text}")
            self.recorder = processes.Background(
                [settings.COLLECTOR, "record", "-a", "-d", 5, "-F", 49, "-o",
                 self.here.directory / "soak.folded", *self.here.options()],
                self.here.directory / "record.log")
        if time.monotonic() >= self.next_look:
            self.look()
            self.next_look = time.monotonic() + 10

    def end(self):
        for program in (self.attack, self.recorder):
            if program is not None:
                program.stop()

    def look(self):
        answer = processes.run([settings.COLLECTOR, "list", "--json", "--socket",
                                self.here.socket], check=True)
        listed = json.loads(answer.out)
        samples = listed["collector"]["watch"]
        self.counts["looks"] += 1
        self.memory.append(listed["collector"]["memory"])
        if samples["heard"] != sum(samples[part] for part in SUM_OF_SAMPLES):
            self.wrong.append(f"samples: {samples}")
        ours = {jvm.pid: jvm for _, jvm in self.herd.running if jvm.code is None}
        current = []
        for row in listed["jvms"]:
            if row["pid"] not in ours:
                continue
            self.counts["rows"] += 1
            losses = {key: row[key] for key in LOSSES if row.get(key)}
            if losses:
                self.wrong.append(f"JVM {row['pid']}: {losses}")
            if row["state"] == "current":
                current.append(row["pid"])
        if current:
            self.ask_jvm(random.choice(current))

    def methods_of(self, pid):
        """Where the JVM itself says that its compiled methods begin; None: it has ended."""
        jcmd = settings.jdk_home(17) / "bin" / "jcmd"
        answer = processes.run([jcmd, pid, "Compiler.codelist"])
        found = re.findall(r"^\d+ \d+ 0 .*\[0x[0-9a-f]+, 0x([0-9a-f]+) - 0x[0-9a-f]+\]", answer.out,
                           re.M)
        return {int(start, 16) for start in found} if answer.code == 0 and found else None

    def ask_jvm(self, pid):
        """Methods that were there before and after the perf map was read must be in it."""
        before = self.methods_of(pid)
        time.sleep(0.5)
        try:
            text = self.here.map_file(pid).read_text(errors="replace")
        except OSError:
            text = ""
        after = self.methods_of(pid)
        if before is None or after is None:
            return
        known = sorted((int(line.split()[0], 16), int(line.split()[1], 16))
                       for line in text.splitlines())
        starts = [start for start, _ in known]
        missing = 0
        for method in before & after:
            at = bisect.bisect_right(starts, method) - 1
            missing += at < 0 or method >= known[at][0] + known[at][1]
        self.counts["methods"] += len(before & after)
        if missing:
            self.wrong.append(f"JVM {pid}: {missing} of {len(before & after)} methods are not in "
                              "its perf map")


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


def print_memory(looks):
    """What each pool has: the mean of the fifths of the run, in MiB."""
    fifth = len(looks) // 5
    for pool in looks[0]:
        if fifth and looks[-1][pool] >= 1 << 20:
            means = [sum(look[pool] for look in looks[i * fifth:(i + 1) * fifth]) / fifth / (1 << 20)
                     for i in range(5)]
            print(f"memory {pool}:", *(f"{mean:.1f}" for mean in means), "MiB")


def watch(here, daemon, herd, mix):
    """Until the time is over; the samples, and the last scrape."""
    url = re.search(r"http://\S+(?=/metrics)", daemon.text)[0]
    start = time.monotonic()
    samples, last, scrapes = [], None, 0
    next_scrape = next_period = 0
    while (now := time.monotonic() - start) < options.minutes * 60:
        herd.turn()
        if mix:
            mix.turn()
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
            [settings.COLLECTOR, "--watch", *here.options(), *MIX_OPTIONS[options.mix], "--output",
             here.directory / "graphs", "--period", "60s", "--keep-bytes", "32M", "--http", "127.0.0.1:0", "--log-level",
             "warning" if options.minutes > 100 else "info"], here.directory / "watch.log")
        herd = Herd(here)
        mix = Mix(here, daemon, herd) if options.mix else None
        try:
            processes.wait_until(lambda: "watching at" in daemon.text or daemon.code is not None,
                                 "the daemon listens")
            samples, last = watch(here, daemon, herd, mix)
        finally:
            if mix:
                mix.end()
            herd.end()
            daemon.stop()
        flat = judge(samples)
        # What attacks send is broken; what JVMs send is looked at one by one.
        bad = {name: last[f"fgcollect_{name}"] for name in
               ("graphs_failed_total", "graphs_dropped_total", "samples_left_out_total",
                "samples_held_dropped_total",
                *(() if mix else ("refused_sessions_total", "broken_messages_total")))
               if last[f"fgcollect_{name}"]}
        for name in ("graphs_written_total", "samples_total", "samples_lost_total", "jvms",
                     "periods_total", "graph_files_removed_total", "process_records_lost_total"):
            print(f"{name} {last[f'fgcollect_{name}']:.0f}")
        if mix:
            print_memory(mix.memory)
            print("mix:", dict(mix.counts), f"{len(mix.wrong)} unaccounted for",
                  *mix.wrong[:20], sep="\n  ")
        errors = [line for line in daemon.text.splitlines() if "annot" in line]
        if bad or errors:
            print("not as it should be:", bad, "\n".join(errors[:10]))
        sys.exit(0 if flat and not bad and not errors and not (mix and mix.wrong) else 1)


if __name__ == "__main__":
    main()
