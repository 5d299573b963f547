# SPDX-License-Identifier: Apache-2.0
"""What --publish and --publish-state cost a daemon to which nobody subscribes.

  publish_none.py [--seconds N] [--rounds N]

A JVM defines, compiles and drops classes all the time (Churn). In each round a daemon begins, without
these options or with both, in alternation, and knows all of the JVM's code before it is measured. A row
has means of the rounds:

  loop      processor time of the thread that has the loop, in per cent of a core
  others    the same of all other threads, libnng's among them
  turn      mean time of a turn
  threads, memory, addresses    as /proc/<pid>/status has them

What is wanted: loop, others and turn differ by less than like rounds do.
"""

import argparse
import collections
import pathlib
import statistics
import sys
import time

from bench_place import collector, java, place, processes
from publish_cost import cpu_ms


def status_of(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return {"threads": int(fields["Threads"]), "memory": int(fields["RssAnon"].split()[0]) / 1024,
            "addresses": int(fields["VmSize"].split()[0]) / 1024}


def measure(here, jvm, args, seconds):
    daemon = collector.Watch(here, *args).started()
    try:
        daemon.wait_for_jvm(jvm.pid)
        time.sleep(2)                   # past what its begin brings
        before, (loop, others) = daemon.list_json()["collector"]["turns"], cpu_ms(daemon.pid)
        began = time.monotonic()
        time.sleep(seconds)
        took = (time.monotonic() - began) * 10
        new_loop, new_others = cpu_ms(daemon.pid)
        after = daemon.list_json()["collector"]["turns"]
        return {"loop": (new_loop - loop) / took, "others": (new_others - others) / took,
                "turn": (after["sum_us"] - before["sum_us"]) / (after["count"] - before["count"]),
                **status_of(daemon.pid)}
    finally:
        daemon.stop()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                        epilog="\n".join(__doc__.splitlines()[2:]),
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=15, help="measured, of a round")
    arguments.add_argument("--rounds", type=int, default=6, help="of each")
    arguments.add_argument("--each-ms", type=int, default=5, help="of a class, before the next")
    options = arguments.parse_args()
    found = collections.defaultdict(list)
    with place() as here:
        urls = [f"ipc://{here.directory}/publish/{name}" for name in ("events", "state")]
        variants = {"without": (), "with both, nobody there": ("--publish", urls[0], "--publish-state",
                                                              urls[1])}
        jvm = processes.Background(["nice", "-n", "5", *java(here, "Churn", "0", options.each_ms)],
                                   here.directory / "jvm.log")
        try:
            for number in range(options.rounds):
                for name in variants if number % 2 == 0 else reversed(variants):
                    found[name].append(measure(here, jvm, variants[name], options.seconds))
        finally:
            jvm.stop()
    for name, rows in found.items():
        each = ", ".join(f"{row['loop']:.2f}" for row in rows)
        mean = {key: statistics.mean(row[key] for row in rows) for key in rows[0]}
        print(f"figure {name}: loop {mean['loop']:.2f} % of a core ({each}), others {mean['others']:.2f} %, "
              f"turn {mean['turn']:.0f} us, {mean['threads']:.0f} threads, {mean['memory']:.1f} MiB, "
              f"{mean['addresses']:.0f} MiB of addresses", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
