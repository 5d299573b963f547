# SPDX-License-Identifier: Apache-2.0
"""Those who can take the samples, side by side: what each costs whom.

gaps: what a thread loses to a sample, by its own clock: the median gap that a program sees whose
stack is so deep, when it is recorded, and when another one is. At a high rate, so that most gaps
are samples; the timer's interrupt is part of them.

cost: while every CPU is busy with a JVM, and then also with as many programs that are not
recorded: the collector's processor time in the middle of a recording, the memory of its ring
buffers, the samples, and those that were lost.

All in alternation; prints medians, and the least and the most.
"""

import argparse
import os
import pathlib
import re
import statistics
import time

from bench_place import busy_jvms, place, processes, settings

GAPS = settings.BUILD / "tests" / "bench" / "sample_gaps"
SAMPLERS = ("perf", "bpf-exact", "bpf-slices", "bpf-scratch")

arguments = argparse.ArgumentParser(description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("what", nargs="*", help="gaps, cost; both unless given")
arguments.add_argument("--sampler", action="append", help="all unless given")
arguments.add_argument("--times", type=int, default=3)
arguments.add_argument("--seconds", type=int, default=10, help="of each recording")
arguments.add_argument("--gaps-hz", type=int, default=1999)
arguments.add_argument("--hz", type=int, action="append", help="99 and 999 unless given")
arguments.add_argument("--kib", type=int, action="append", help="10 and 47 unless given")
arguments.add_argument("--program", default="Mixed")
arguments.add_argument("--jdk", type=int, default=17)
options = arguments.parse_args()
options.sampler = options.sampler or SAMPLERS


def start_recorder(here, sampler, hz, seconds, *args):
    return processes.Background(
        [settings.COLLECTOR, "record", "-d", seconds, "-F", hz, "--sampler", sampler, "-o",
         here.directory / "out.fgrec", *args, *here.options()], here.directory / "record.log")


def spread(values, unit, digits=1):
    return (f"{statistics.median(values):.{digits}f} {unit} "
            f"({min(values):.{digits}f} to {max(values):.{digits}f})")


# ---- gaps ----

def gaps_of(here, kib, sampler=None, is_recorded=True):
    """The medians that the program has seen, of each second in the middle, in microseconds."""
    victim = processes.Background(["taskset", "-c", os.cpu_count() - 1, GAPS, kib,
                                   options.seconds + 2], here.directory / "gaps.log")
    recorder = None
    try:
        if sampler:
            pid = victim.pid if is_recorded else os.getpid()
            recorder = start_recorder(here, sampler, options.gaps_hz, options.seconds + 4, "-p",
                                      pid)
        victim.wait(options.seconds + settings.DEADLINE_SEC)
        if recorder and recorder.code is not None:
            raise SystemExit(f"fgcollect ended:\n{recorder.text}")
    finally:
        victim.stop()
        if recorder:
            recorder.stop()
    rows = [[int(word) for word in line.split()] for line in victim.text.splitlines()]
    # Until the recorder samples.
    return [row[1] / 1000 for row in rows[2:]]


def measure_gaps(here):
    print(f"the gap that a thread sees at {options.gaps_hz} Hz, median of seconds:")
    for kib in options.kib or (10, 47):
        cases = {"nobody records": (None, True), "another is recorded, by BPF": ("bpf", False),
                 "another is recorded, by perf": ("perf", False),
                 **{f"recorded by {sampler}": (sampler, True) for sampler in options.sampler}}
        found = {name: [] for name in cases}
        for _ in range(options.times):
            for name, (sampler, is_recorded) in cases.items():
                found[name] += gaps_of(here, kib, sampler, is_recorded)
        for name, values in found.items():
            print(f"  stack of {kib:2} KiB, {name:28}: {spread(values, 'us')}", flush=True)


# ---- cost ----

def ring_bytes(pid):
    """What the kernel has for the ring buffers of samples and of processes."""
    total = 0
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        if "[perf_event]" in line:
            first, last = line.split()[0].split("-")
            total += int(last, 16) - int(first, 16)
    for path in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        found = re.search(r"^map_type:\s27$.*^memlock:\s(\d+)$", path.read_text(),
                          re.MULTILINE | re.DOTALL)
        total += int(found.group(1)) if found else 0
    return total


def cost_of(here, sampler, hz):
    """(per cent of a CPU, MiB of ring buffers, samples, lost ones) of a recording."""
    recorder = start_recorder(here, sampler, hz, options.seconds + 5)
    try:
        time.sleep(4)  # the agents have connected, and all files are known
        began, before = time.monotonic(), processes.cpu_seconds(recorder.pid)
        time.sleep(options.seconds)
        took = processes.cpu_seconds(recorder.pid) - before
        passed = time.monotonic() - began
        rings = ring_bytes(recorder.pid)
        recorder.wait(options.seconds + settings.DEADLINE_SEC)
    finally:
        recorder.stop()
    said = re.search(r"quality: ([\d,]+) samples.* ([\d,]+) lost", recorder.text)
    if recorder.code != 0 or not said:
        raise SystemExit(f"fgcollect failed:\n{recorder.text}")
    samples, lost = (int(text.replace(",", "")) for text in said.groups())
    return 100 * took / passed, rings / 2**20, samples, lost


def measure_cost_of_all(here, title):
    for hz in options.hz or (99, 999):
        found = {sampler: [] for sampler in options.sampler}
        for _ in range(options.times):
            for sampler, rows in found.items():
                rows.append(cost_of(here, sampler, hz))
        for sampler, rows in found.items():
            cpu, rings, samples, lost = zip(*rows)
            each = [1e6 * share / 100 * (options.seconds + 5) / n for share, n in zip(cpu, samples)]
            print(f"{title}, {hz:3} Hz, {sampler:11}: {spread(cpu, '% of a CPU', 2)}, "
                  f"{spread(each, 'us a sample', 0)}, rings {statistics.median(rings):.1f} MiB, "
                  f"{statistics.median(samples):.0f} samples, {sum(lost)} lost", flush=True)


def measure_cost(here):
    with busy_jvms(here, options.program, jdk=options.jdk):
        measure_cost_of_all(here, f"{os.cpu_count()} JVMs of {options.program}")
        others = [processes.Background([GAPS, 10, 1000000], here.directory / f"other{number}.log")
                  for number in range(os.cpu_count())]
        try:
            measure_cost_of_all(here, f"and {len(others)} programs beside them")
        finally:
            for other in others:
                other.stop()


with place() as here_of_all:
    for what, measure in (("gaps", measure_gaps), ("cost", measure_cost)):
        if not options.what or what in options.what:
            measure(here_of_all)
