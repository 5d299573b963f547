# SPDX-License-Identifier: Apache-2.0
"""What `fgcollect record` costs while every CPU is busy with a JVM.

Prints its CPU time as a share of one core, over the whole run (start, recording, drawing) and over
the recording's middle alone, and its peak resident memory: 3 % and 64 MiB at most are wanted, and
nothing lost. With stacks unwound from snapshots and by frame pointers, one after the other.
"""

import argparse
import os
import time

from bench_place import busy_jvms, place, processes, settings

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--seconds", type=int, default=30)
arguments.add_argument("--hz", type=int, default=99)
arguments.add_argument("--program", default="Mixed")
arguments.add_argument("--jdk", type=int, default=17)
arguments.add_argument("--unwind", action="append", choices=("full", "fp"),
                       help="both, one after the other, unless given")
arguments.add_argument("--sampler", action="append",
                       help="record's option; may be repeated, one after the other; auto unless given")
arguments.add_argument("--times", type=int, default=1, help="of each, in alternation")
options = arguments.parse_args()


def cost(here, unwind, sampler):
    """Prints what one recording costs."""
    start = time.monotonic()
    recorder = processes.Background(
        [settings.COLLECTOR, "record", "-d", options.seconds, "-F", options.hz, "--unwind", unwind,
         "--sampler", sampler, "-o", here.directory / "graph.svg", *here.options()], here.directory / "record.log")
    marks, peak, ended = [], 0, None
    try:
        while not ended:
            pid, status, usage = os.wait4(recorder.pid, os.WNOHANG)
            if pid:
                ended = (os.waitstatus_to_exitcode(status), usage)
                recorder.child.returncode = ended[0]
                break
            now = time.monotonic() - start
            peak = max(peak, processes.peak_rss_bytes(recorder.pid))
            # From when the agents have connected and all files are known.
            if options.seconds * 0.2 + 2 < now < options.seconds * 0.95:
                marks.append((now, processes.cpu_seconds(recorder.pid)))
            time.sleep(0.1)
    finally:
        recorder.stop()
    wall = time.monotonic() - start
    if ended[0] != 0:
        raise SystemExit(f"fgcollect failed:\n{recorder.text}")
    cpu = ended[1].ru_utime + ended[1].ru_stime
    middle = (marks[-1][1] - marks[0][1]) / (marks[-1][0] - marks[0][0])
    print(recorder.text.strip().splitlines()[-1])
    print(f"figure {unwind} {sampler}: {100 * middle:.2f} % of one core while recording, "
          f"{100 * cpu / wall:.2f} % over all {wall:.1f} s, peak {peak / 2**20:.1f} MiB; "
          f"{options.hz} Hz, {os.cpu_count()} JVMs of {options.program}, JDK {options.jdk}",
          flush=True)


with place() as place_of_all, busy_jvms(place_of_all, options.program, jdk=options.jdk):
    for _ in range(options.times):
        for each in options.unwind or ["fp", "full"]:
            for who in options.sampler or ["auto"]:
                cost(place_of_all, each, who)
