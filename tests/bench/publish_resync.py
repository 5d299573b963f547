# SPDX-License-Identifier: Apache-2.0
"""All code of a large JVM is told anew: what a subscriber hears of it, and what the loop's turns take.

  publish_resync.py [--methods N] [--rounds N] [--own-cpu]

A JVM has compiled 20,000 methods (ManyMethods). In each round a daemon begins, without a subscriber or
with one that reads, in alternation; then the JVM's agent finds it and tells all code. A
round ends when the perf map has all of it too. Figures of the rounds of each, their median, and the
least and the greatest:

  turn         the longest turn of the daemon's loop up to then, and the most processor time of one
  loop         processor time of the thread that has the loop, of all of the resynchronisation
  others       the same of all other threads, which make JSON and serve the subscriber
  heard        methods of the program that the subscriber had of code.wire in the resynchronisation

With --own-cpu the loop's thread alone runs on one processor, and everything else on another one: the
loop then waits for no processor.

What is wanted: each method is heard, no message is missed, nothing is lost before libnng, and the
longest turns are the same.
"""

import argparse
import os
import signal
import statistics
import sys
import time

from bench_place import collector, java, place, processes
from publish_cost import cpu_ms

FLAGS = ("-Xcomp", "-XX:TieredStopAtLevel=1", "-XX:CompileCommand=quiet",
         "-XX:CompileCommand=compileonly,Many*.*", "-XX:CompileCommand=dontinline,Many*.computeStep*",
         "-XX:ReservedCodeCacheSize=240m")
LOSSES = ("events_dropped", "events_left_out", "messages_unsent", "records_cut")


def name_of(entry):
    """The first of an entry's texts, see docs/publish.md."""
    return entry[44:44 + int.from_bytes(entry[42:44], "little")]


class Heard:
    """What a subscriber has had of code.wire."""

    def __init__(self):
        self.methods, self.entries, self.missed, self.next = set(), 0, 0, None

    def hear(self, message):
        head = message.partition(b"\n")[2]
        seq, pos = int.from_bytes(head[16:24], "little"), int.from_bytes(head[6:8], "little")
        self.missed += seq - (seq if self.next is None else self.next)
        self.next = seq + 1
        while pos < len(head):
            size = int.from_bytes(head[pos:pos + 4], "little")
            name = name_of(head[pos:pos + size])
            if b"::computeStep" in name:
                self.methods.add((head[pos + 24:pos + 32], name))
            self.entries += 1
            pos += size


def give_loop_a_cpu(daemon, others):
    """The daemon's first thread has the loop."""
    cpus = range(os.cpu_count())
    for pid in (daemon, *others):
        for tid in map(int, os.listdir(f"/proc/{pid}/task")):
            os.sched_setaffinity(tid, {cpus[0]} if tid == daemon else set(cpus[1:]))


def subscribe(url):
    """In a process of its own, which tells what it has had."""
    from test_publish import Subscriber  # pylint: disable=import-outside-toplevel
    subscriber = Subscriber(url, ["code.wire\n"])
    subscriber.maps = heard = Heard()
    subscriber.start()
    while True:
        time.sleep(0.2)
        print(len(heard.methods), heard.entries, heard.missed, flush=True)


class Round:
    """A daemon, and a subscriber if there is one."""

    def __init__(self, here, agents, has_subscriber):
        url = f"ipc://{here.directory}/publish/events"
        self.here, self.agents, self.subscriber = here, agents, None
        self.daemon = collector.Watch(here, "--publish", url).started()
        if has_subscriber:
            self.subscriber = processes.Background(
                [sys.executable, __file__, "--subscribe", url],
                here.directory / f"subscriber{time.monotonic_ns()}.log")
            processes.wait_until(lambda: self.told()["publish"]["subscribers"] == 1, "it subscribes",
                                 of=self.subscriber)

    def told(self):
        return self.daemon.list_json()["collector"]

    def heard(self):
        """(methods, entries, missed) so far."""
        lines = self.subscriber.text.splitlines() if self.subscriber else []
        return tuple(map(int, lines[-1].split())) if lines else (0, 0, 0)

    def measure(self, jvm, methods, own_cpu):
        if own_cpu:
            others = [jvm.pid, os.getpid()] + ([self.subscriber.pid] if self.subscriber else [])
            give_loop_a_cpu(self.daemon.pid, others)
        before = cpu_ms(self.daemon.pid)
        os.symlink(self.here.run, self.agents)
        self.daemon.wait_for_jvm(jvm.pid)
        if self.subscriber:
            processes.wait_until(lambda: self.heard()[0] >= methods or self.heard()[2],
                                 lambda: f"all is heard: {self.heard()}", of=self.subscriber)
        processes.wait_until(lambda: self.daemon.read_map(jvm.pid).count("computeStep") >= methods,
                             "the perf map has it", of=self.daemon)
        after, told = cpu_ms(self.daemon.pid), self.told()
        heard, entries, missed = self.heard()
        return {"longest turn, ms": told["turns"]["longest_us"] / 1000,
                "most processor time of a turn, ms": told["turns"]["longest_cpu_us"] / 1000,
                "loop, ms": after[0] - before[0], "others, ms": after[1] - before[1],
                "heard": heard, "entries": entries, "missed": missed,
                "lost": sum(told["publish"][key] for key in LOSSES)}

    def stop(self):
        if os.path.lexists(self.agents):
            os.unlink(self.agents)
        if self.subscriber:
            self.subscriber.stop(signal.SIGKILL)
        self.daemon.stop()


def tell(rows, methods):
    for key in (key for key in rows[True][0] if key.endswith("ms")):
        medians = {}
        for has_subscriber, found in rows.items():
            figures = [row[key] for row in found]
            medians[has_subscriber] = statistics.median(figures)
            print(f"figure {'with a subscriber' if has_subscriber else 'with none'}: {key}: "
                  f"{medians[has_subscriber]:.1f} ({min(figures):.1f} to {max(figures):.1f} of "
                  f"{len(figures)})", flush=True)
        print(f"figure ratio of {key}: {medians[True] / max(medians[False], 0.001):.2f}", flush=True)
    heard = rows[True]
    least, missed, lost = (min(row["heard"] for row in heard), sum(row["missed"] for row in heard),
                           sum(row["lost"] for row in heard))
    print(f"figure heard {least:,} of {methods:,} methods at least, in {len(heard)} rounds; at most "
          f"{max(row['entries'] for row in heard):,} entries; {missed} messages missed, {lost} events, "
          "records or messages lost before libnng", flush=True)
    return least >= methods and missed + lost == 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                        epilog="\n".join(__doc__.splitlines()[2:]),
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--methods", type=int, default=20000)
    arguments.add_argument("--rounds", type=int, default=4, help="of each")
    arguments.add_argument("--own-cpu", action="store_true")
    arguments.add_argument("--subscribe", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.subscribe:
        subscribe(options.subscribe)
    rows = {False: [], True: []}
    with place() as here:
        agents = here.directory / "agents"
        command = [str(word).replace(str(here.socket), str(agents / here.socket.name)) for word in
                   java(here, "ManyMethods", str(options.methods), "1", "3600", flags=FLAGS)]
        jvm = processes.Background(command, here.directory / "jvm.log")
        try:
            processes.wait_until(lambda: "idle" in jvm.text, lambda: f"it has compiled: {jvm.text}", of=jvm)
            for number in range(2 * options.rounds):
                begun = Round(here, agents, number % 2 == 1)
                try:
                    rows[number % 2 == 1].append(begun.measure(jvm, options.methods, options.own_cpu))
                finally:
                    begun.stop()
        finally:
            jvm.stop()
    return 0 if tell(rows, options.methods) else 1


if __name__ == "__main__":
    sys.exit(main())
