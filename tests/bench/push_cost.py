# SPDX-License-Identifier: Apache-2.0
"""What pushing costs a daemon: processor time, memory, bytes on the wire, series; and its memory while
the server is away.

  push_cost.py cost     with a store, with a store and --push, and with --push alone, in alternation, at 1,
                   10 and 100 JVMs that rest most of the time. The server is the tests' stand-in,
                   which takes all. A row has means of the rounds: processor time in per cent of a
                   core, resident memory at the end, bytes of requests by JVM and hour, and series (a
                   series is a set of labels with a type of values) by JVM
  push_cost.py memory   resident memory each minute while the server refuses connections and profiles go
                   to the spool. The growth is a line through the second half, per hour

Processor time is all threads', from their schedstat, from the second period on.
"""

import argparse
import collections
import contextlib
import pathlib
import statistics
import sys
import time

from bench_place import collector, java, place, processes
from harness.push_server import PushServer

FLAGS = ("-Xmx16m", "-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
VARIANTS = ("store", "store+push", "push")

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                    epilog="\n".join(__doc__.splitlines()[2:]),
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("what", choices=("cost", "memory"))
arguments.add_argument("--jvms", type=int, action="append", help="1, 10 and 100 unless given")
arguments.add_argument("--busy", type=float, default=30, help="per cent of a CPU, of all JVMs")
arguments.add_argument("--kind", default="cpu")
arguments.add_argument("--hz", type=int, default=19)
arguments.add_argument("--protocol", choices=("otlp", "pyroscope"), default="pyroscope")
arguments.add_argument("--seconds", type=float, default=60, help="measured, of a variant")
arguments.add_argument("--rounds", type=int, default=2)
arguments.add_argument("--minutes", type=int, default=60, help="of memory")
options = arguments.parse_args()


@contextlib.contextmanager
def resting_jvms(here, count):
    running = []
    try:
        for n in range(count):
            running.append(processes.Background(
                ["nice", "-n", "5", *java(here, "Resting", f"percent={min(20, options.busy / count)}",
                                          flags=FLAGS)],
                here.directory / f"jvm{n}.log", env={"OTEL_SERVICE_NAME": f"resting-{n}"}))
        for jvm in running:
            processes.wait_until(lambda jvm=jvm: "ready" in jvm.text, "a JVM is there", timeout=300)
        yield running
    finally:
        for jvm in running:
            jvm.child.terminate()
        for jvm in running:
            jvm.stop()


def cpu_ms(pid):
    """Of each thread, by its ID."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e6
    return found


def rss_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0


def run_variant(here, variant, server, jvms):
    """(per cent of a core, MiB, bytes a JVM-hour, series a JVM) of one stretch."""
    args = []
    if "store" in variant:
        args += ["--store", here.directory / f"store-{time.monotonic_ns()}"]
    if "push" in variant:
        args += ["--push", server.url(options.protocol)]
    daemon = collector.Watch(here, *args, "--kind", options.kind, "-F", options.hz).started()
    try:
        processes.wait_until(
            lambda: sum(row["state"] == "current" for row in daemon.list_json()["jvms"]) >= jvms,
            "all JVMs are known", timeout=300, every=1)
        time.sleep(20)
        server.profiles.clear()
        before, began = cpu_ms(daemon.pid), time.monotonic()
        sent = sum(daemon.list_json()["collector"].get("push", {}).get("sent_bytes", {}).values())
        time.sleep(options.seconds)
        after, seconds = cpu_ms(daemon.pid), time.monotonic() - began
        cpu = sum(ms - before.get(task, 0) for task, ms in after.items()) / seconds / 10
        sent = sum(daemon.list_json()["collector"].get("push", {}).get("sent_bytes", {})
                   .values()) - sent
        series = {(tuple(sorted(profile.labels.items())), kind)
                  for profile in list(server.profiles) for kind in profile.types}
        return cpu, rss_mib(daemon.pid), sent / jvms * 3600 / seconds, len(series) / jvms
    finally:
        daemon.stop()


def cost(here, server):
    for jvms in options.jvms or (1, 10, 100):
        found = collections.defaultdict(list)
        with resting_jvms(here, jvms):
            for number in range(options.rounds):
                for variant in VARIANTS if number % 2 == 0 else reversed(VARIANTS):
                    found[variant].append(run_variant(here, variant, server, jvms))
        means = {v: [statistics.mean(column) for column in zip(*found[v])] for v in VARIANTS}
        print(f"figure {jvms} JVMs, {options.protocol}, {options.kind}: "
              + "; ".join(f"{v} {means[v][0]:.2f} % of a core"
                          f" ({', '.join(f'{row[0]:.2f}' for row in found[v])}), {means[v][1]:.0f} MiB"
                          for v in VARIANTS)
              + f"; ratio {means['store+push'][0] / means['store'][0]:.2f}"
              f"; {means['push'][2] / 1024:.0f} KiB a JVM-hour, {means['push'][3]:.1f} series a JVM",
              flush=True)


def memory(here, server):
    url = server.url(options.protocol)
    server.stop()
    rows, began = [], time.monotonic()
    count = (options.jvms or [10])[0]
    with resting_jvms(here, count):
        daemon = collector.Watch(here, "--push", url, "--push-spool", here.directory / "spool",
                                 "--kind", options.kind, "-F", options.hz).started()
        try:
            for minute in range(1, options.minutes + 1):
                time.sleep(max(0, began + minute * 60 - time.monotonic()))
                push = daemon.list_json()["collector"]["push"]
                rows.append((minute, rss_mib(daemon.pid)))
                print(f"{minute} min: {rows[-1][1]:.1f} MiB, "
                      f"{sum(push['profiles_waiting'].values()):,} profiles wait, "
                      f"{sum(push['spool_bytes'].values()) / 2**20:.1f} MiB of spool, "
                      f"{sum(push['memory_bytes'].values())} bytes in memory", flush=True)
        finally:
            daemon.stop()
    half = rows[len(rows) // 2:]
    line = statistics.linear_regression(*zip(*half))
    print(f"figure {count} JVMs, {options.minutes} min without a server: {half[0][1]:.1f} MiB after "
          f"{half[0][0]} min, {half[-1][1]:.1f} MiB at the end, {line.slope * 60:+.2f} MiB an hour")


def main():
    with place() as here:
        server = PushServer()
        try:
            (cost if options.what == "cost" else memory)(here, server)
        finally:
            server.stop()
        for error in server.errors[:3]:
            print(f"the server refused: {error}")
    return 1 if server.errors else 0


if __name__ == "__main__":
    sys.exit(main())
