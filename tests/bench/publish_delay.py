# SPDX-License-Identifier: Apache-2.0
"""From code in a JVM to the message at a subscriber.

  publish_delay.py [--seconds N] [--each-ms N]

A JVM defines, compiles and drops classes all the time (Churn). A subscriber in a process of its own hears
code.json; an entry has the time at which the JVM gave it to the agent, by the clock that all processes
of a host share. Code that is told again, when a connection begins, is left out.
"""

import argparse
import json
import statistics
import sys
import time

from bench_place import collector, java, place, processes


class Delays:
    def __init__(self):
        self.ms = []

    def hear(self, message):
        now_ns = time.monotonic_ns()
        for line in message.split(b"\n")[2:]:
            entry = json.loads(line) if line else {}
            if entry.get("event") == "load" and not entry.get("resync"):
                self.ms.append((now_ns - entry["time_ns"]) / 1e6)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                        epilog="\n".join(__doc__.splitlines()[2:]),
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=30)
    arguments.add_argument("--each-ms", type=int, default=5, help="of a class, before the next")
    options = arguments.parse_args()
    from test_publish import Subscriber  # pylint: disable=import-outside-toplevel
    with place() as here:
        url = f"ipc://{here.directory}/publish/events"
        daemon = collector.Watch(here, "--publish", url).started()
        jvm = processes.Background(["nice", "-n", "5", *java(here, "Churn", "0", options.each_ms)],
                                   here.directory / "jvm.log")
        subscriber = Subscriber(url, ["code.json\n"])
        subscriber.maps = Delays()
        try:
            subscriber.start()
            processes.wait_until(lambda: len(subscriber.maps.ms) > 100, "entries come")
            subscriber.maps.ms.clear()
            time.sleep(options.seconds)
            found = sorted(subscriber.maps.ms)
            lost = daemon.list_json()["collector"]["publish"]["events_dropped"]
        finally:
            subscriber.stop()
            jvm.stop()
            daemon.stop()
    print(f"figure {statistics.median(found):.1f} ms median, {found[len(found) * 99 // 100]:.1f} ms 99th "
          f"percentile, {found[-1]:.1f} ms greatest of {len(found)} entries in {options.seconds:g} s; "
          f"{lost} dropped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
