# SPDX-License-Identifier: Apache-2.0
"""What `fgcollect top` costs beyond the sampling: its CPU time against that of `record`.

Both watch the same busy JVMs, in alternation, each in its own process, and each is measured over
the middle of its run. top paints a terminal, of which everything is read, or prints JSON. At 99 Hz
it is to cost at most 1 % of a core more than record does.
"""

import argparse
import fcntl
import os
import pty
import statistics
import struct
import subprocess
import termios
import threading
import time

from bench_place import busy_jvms, place, processes, settings

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--seconds", type=int, default=20, help="of each run")
arguments.add_argument("--rounds", type=int, default=3)
arguments.add_argument("--hz", type=int, default=99)
arguments.add_argument("--program", default="Mixed")
arguments.add_argument("--jdk", type=int, default=17)
arguments.add_argument("--json", action="store_true", help="top --json instead of a terminal")
options = arguments.parse_args()


def read_all(descriptor, counts):
    while True:
        try:
            counts.append(len(os.read(descriptor, 65536)))
        except OSError:
            return


def measured(pid):
    """CPU seconds a second of that process, from when all is known to shortly before the end."""
    marks, start = [], time.monotonic()
    while time.monotonic() < start + options.seconds * 0.9:
        if time.monotonic() > start + options.seconds * 0.2 + 2:
            marks.append((time.monotonic(), processes.cpu_seconds(pid)))
        time.sleep(0.1)
    return (marks[-1][1] - marks[0][1]) / (marks[-1][0] - marks[0][0])


def cost_of_record(here):
    out = here.directory / "recorded.fgrec"
    recorder = processes.Background(
        [settings.COLLECTOR, "record", "-d", options.seconds, "-F", options.hz, "-o", out,
         *here.options()], here.directory / "record.log")
    try:
        return measured(recorder.pid)
    finally:
        recorder.stop()


def cost_of_top(here):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    args = [settings.COLLECTOR, "top", "-F", options.hz, *here.options()]
    counts = []
    child = subprocess.Popen([str(arg) for arg in args + ["--json"] * options.json],
                             stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                             env=processes.environment({"TERM": "xterm-256color"}))
    os.close(slave)
    reader = threading.Thread(target=read_all, args=(master, counts), daemon=True)
    reader.start()
    try:
        cost = measured(child.pid)
        if child.poll() is not None:
            raise SystemExit(f"top ended with {child.returncode}")
        return cost
    finally:
        child.terminate()
        child.wait()
        os.close(master)
        print(f"top wrote {sum(counts) / options.seconds:.0f} bytes a second", flush=True)


costs = {cost_of_record: [], cost_of_top: []}
with place() as place_of_all, busy_jvms(place_of_all, options.program, jdk=options.jdk):
    for number in range(options.rounds):
        for measure, results in costs.items():
            results.append(100 * measure(place_of_all))
            print(f"round {number + 1}, {measure.__name__[8:]}: {results[-1]:.2f} % of a core",
                  flush=True)
record, top = (statistics.median(results) for results in costs.values())
print(f"figure: top {top:.2f} %, record {record:.2f} % of one core: {top - record:+.2f} points, "
      f"{top / record:.2f} times; {options.hz} Hz, {os.cpu_count()} JVMs of {options.program}, "
      f"{'JSON' if options.json else 'on a terminal of 120 x 40'}")
