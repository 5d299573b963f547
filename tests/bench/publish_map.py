# SPDX-License-Identifier: Apache-2.0
"""A subscriber's own map of a JVM's code, after churn and lost connections, beside the daemon's.

  publish_map.py [--seconds N] [--cut-sec N] [--restarts N]

A JVM defines, compiles and drops classes all the time (Churn). docs/examples/names.c joins its state and
its events, through a socket whose connections are cut again and again; the daemon is ended and started
anew too. When the JVM has come to rest, the subscriber's map is compared with all living code as the
daemon has it, byte by byte, and each line of both with the daemon's perf map.

What is wanted: no byte is another one. The exit code is 1 otherwise. While the JVM works the two are
compared too, which may differ by what was compiled between the two questions: that is only told.
"""

import argparse
import os
import sys
import time

from bench_place import collector, java, place, processes

from harness.cuts import Cuts
from harness.follower import Follower, living


class Bench:
    def __init__(self, here, options):
        self.here, self.options = here, options
        self.urls = [f"ipc://{here.directory}/publish/{name}" for name in ("events", "state")]
        self.cuts, self.cut, self.daemon = [], 0, self.start()
        for name in ("events", "state"):
            self.cuts.append(Cuts(here.directory / f"cut-{name}", here.directory / "publish" / name))
        self.jvm = processes.Background(
            java(here, "Churn", str(options.seconds), str(options.each_ms), "3600"),
            here.directory / "jvm.log")
        self.daemon.wait_for_jvm(self.jvm.pid)
        self.follower = Follower(*(f"ipc://{here.directory}/cut-{name}" for name in ("events", "state")),
                                 self.jvm.pid)
        self.maps = self.same = 0
        self.differ = ([], [])          # lines of the subscriber alone, of the daemon alone

    def start(self):
        return collector.Watch(self.here, "--publish", self.urls[0], "--publish-state",
                               self.urls[1]).started()

    def restart(self):
        self.daemon.stop()
        self.daemon = self.start()
        self.daemon.wait_for_jvm(self.jvm.pid)

    def compare(self):
        own, daemons = self.follower.map(), living(*self.urls, self.jvm.pid)
        self.maps += 1
        self.same += own == daemons
        own_lines, daemons_lines = set(own.splitlines()), set(daemons.splitlines())
        self.differ = (sorted(own_lines - daemons_lines), sorted(daemons_lines - own_lines))
        return own if own == daemons else None

    def churn(self):
        restarts = self.options.restarts
        began = time.monotonic()
        while "idle" not in self.jvm.text:
            time.sleep(self.options.cut_sec)
            self.cut += sum(cuts.cut() for cuts in self.cuts)
            if restarts and time.monotonic() - began > self.options.seconds / (restarts + 1):
                restarts, began = restarts - 1, time.monotonic()
                self.restart()
            self.compare()
            if self.jvm.code is not None:
                raise processes.Failed(f"the JVM has ended: {self.jvm.text}")

    def judge(self):
        """The map that both have once all is quiet."""
        self.daemon.wait_for_jvm(self.jvm.pid)
        own = processes.wait_until(self.compare, lambda: "both maps are the same; " + "; ".join(
            f"{len(lines)} of the {who} alone, such as {lines[:5]}"
            for who, lines in zip(("subscriber", "daemon"), self.differ)), every=1)
        lines = own.splitlines()[:-1]
        row = self.daemon.jvm(self.jvm.pid)
        unknown = set(lines) - set(self.daemon.read_map(self.jvm.pid).splitlines())
        ok = not unknown and len(lines) == row["code_ranges"]
        print(f"figure {len(lines)} ranges, {len(own):,} bytes: the subscriber's map and the daemon's are the "
              f"same; {len(unknown)} lines are not in the perf map, {row['code_ranges']} ranges are living; "
              f"after {self.options.seconds:g} s, {self.cut} cut connections, {self.options.restarts} other "
              f"daemons, {self.jvm.text.split()[-2]} generations; meanwhile {self.same} of {self.maps} "
              "comparisons were the same")
        return ok

    def stop(self):
        for cuts in self.cuts:
            cuts.close()
        self.follower.stop()
        self.jvm.stop()
        self.daemon.stop()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                        epilog="\n".join(__doc__.splitlines()[2:]),
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=600, help="that the JVM works")
    arguments.add_argument("--cut-sec", type=float, default=7, help="between cuts")
    arguments.add_argument("--restarts", type=int, default=2, help="of the daemon")
    arguments.add_argument("--each-ms", type=int, default=20, help="of a class, before the next")
    options = arguments.parse_args()
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    with place() as here:
        bench = Bench(here, options)
        try:
            bench.churn()
            return 0 if bench.judge() else 1
        finally:
            bench.stop()


if __name__ == "__main__":
    sys.exit(main())
