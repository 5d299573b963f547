# SPDX-License-Identifier: Apache-2.0
"""What short waits cost: a ping-pong of two threads, and the BPF programs by themselves.

Two threads of one CPU wake each other over pipes. Prints the median of the nanoseconds of a round
trip (two switches, four system calls) alone, while it is recorded with --kind wall, with
--short-waits, with --waker, and while another process is recorded with --short-waits; in
alternation. Then the kernel counts (kernel.bpf_stats_enabled) how long each BPF program runs. Run
as root, from a build with optimisation.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import time

from bench_place import place, processes, settings

COUNTING = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
PROGRAMS = ("on_switch", "on_waking", "read_threads")
WALL = ("--kind", "wall")
SHORT = (*WALL, "--short-waits")
RUNS = {"alone": None, "wall": WALL, "short waits": SHORT, "wakers": (*SHORT, "--waker"),
        "short waits of another process": SHORT}

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--seconds", type=int, default=5, help="of each run")
arguments.add_argument("--times", type=int, default=5)
arguments.add_argument("--cpu", type=int, default=0)
options = arguments.parse_args()


@contextlib.contextmanager
def recording(here, pid, *args):
    """The recording takes samples in there."""
    command = [settings.COLLECTOR, "record", "-p", str(pid), "-d", "3600", *args, "-o",
               here.directory / "out.folded", *here.options()]
    running = processes.Background(command, here.directory / "record.log")
    try:
        time.sleep(2)
        yield
    finally:
        running.stop()


def rounds(pong):
    """The seconds' figures from now on."""
    before = len(pong.text.split())
    time.sleep(options.seconds + 0.5)
    return [int(word) for word in pong.text.split()[before:]]


@contextlib.contextmanager
def counting():
    before = COUNTING.read_text()
    COUNTING.write_text("1")
    try:
        yield
    finally:
        COUNTING.write_text(before)


def counts():
    """Of the newest program of each name: runs and nanoseconds."""
    shown = json.loads(subprocess.run(["bpftool", "-j", "prog", "show"], check=True,
                                      capture_output=True, text=True).stdout)
    return {program["name"]: (program.get("run_cnt", 0), program.get("run_time_ns", 0))
            for program in shown if program.get("name") in PROGRAMS}


def measure(here, pong, other):
    found = {name: [] for name in RUNS}
    for _ in range(options.times):
        for name, args in RUNS.items():
            pid = other.pid if name.endswith("another process") else pong.pid
            with recording(here, pid, *args) if args else contextlib.nullcontext():
                found[name] += rounds(pong)
    alone = statistics.median(found["alone"])
    for name, figures in found.items():
        median = statistics.median(figures)
        print(f"{name}: {median:.0f} ns a round trip, {median - alone:+.0f} ns", flush=True)


def count(here, pong, other):
    for name, args in RUNS.items():
        if not args:
            continue
        pid = other.pid if name.endswith("another process") else pong.pid
        with recording(here, pid, *args), counting():
            before = counts()
            time.sleep(options.seconds)
            for program, (runs, ns) in sorted(counts().items()):
                runs, ns = runs - before.get(program, (0, 0))[0], ns - before.get(program, (0, 0))[1]
                if runs:
                    print(f"{name}: {program} {ns / runs:.0f} ns, {runs / options.seconds:.0f} /s",
                          flush=True)


with place() as place_of_bench:
    threads = processes.Background(
        [settings.BUILD / "tests" / "bench" / "ping_pong", str(options.cpu)],
        place_of_bench.directory / "pong.log")
    sleeper = processes.Background(["sleep", "infinity"], place_of_bench.directory / "sleep.log")
    try:
        measure(place_of_bench, threads, sleeper)
        count(place_of_bench, threads, sleeper)
    finally:
        threads.stop()
        sleeper.stop()
