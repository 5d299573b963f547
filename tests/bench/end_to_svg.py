# SPDX-License-Identifier: Apache-2.0
"""From the end of the recording to the finished SVG and exit.

The recording is ended by SIGINT, which keeps what there is, so that its end is known to the
millisecond. Prints the median of several: 0.5 s at most is wanted.
"""

import argparse
import os
import signal
import statistics
import time

from bench_place import busy_jvms, place, processes, settings

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--seconds", type=float, default=10)
arguments.add_argument("--hz", type=int, default=99)
arguments.add_argument("--runs", type=int, default=5)
arguments.add_argument("--program", default="Mixed")
arguments.add_argument("--jdk", type=int, default=17)
options = arguments.parse_args()

with place() as here, busy_jvms(here, options.program, jdk=options.jdk):
    taken = []
    for number in range(options.runs):
        svg = here.directory / f"graph{number}.svg"
        recorder = processes.Background(
            [settings.COLLECTOR, "record", "-d", 3600, "-F", options.hz, "-o", svg,
             *here.options()], here.directory / f"record{number}.log")
        try:
            time.sleep(options.seconds)
            start = time.monotonic()
            recorder.child.send_signal(signal.SIGINT)
            finished = recorder.wait()
            taken.append(time.monotonic() - start)
        finally:
            recorder.stop()
        if finished.code != 0 or not svg.exists():
            raise SystemExit(f"fgcollect failed:\n{finished}")
        print(f"run {number + 1}: {taken[-1]:.3f} s, {svg.stat().st_size} bytes; "
              f"{finished.out.strip().splitlines()[-1]}", flush=True)
    print(f"figure {statistics.median(taken):.3f} s from the end of the recording to exit, median "
          f"of {options.runs} ({min(taken):.3f} to {max(taken):.3f}); {options.seconds:g} s at "
          f"{options.hz} Hz, {os.cpu_count()} JVMs of {options.program}, JDK {options.jdk}")
