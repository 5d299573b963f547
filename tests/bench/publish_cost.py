# SPDX-License-Identifier: Apache-2.0
"""What publishing costs a daemon, by the number of subscribers, and what a slow subscriber loses.

  publish_cost.py

A JVM defines, compiles and drops classes all the time (Churn). One daemon publishes, to nobody, to one
subscriber, to ten, and to ten of which one is stopped (SIGSTOP), in alternation. A row has means of the
rounds:

  loop      processor time of the thread that has the loop, in per cent of a core
  others    the same of all other threads: JSON is made and sent there, and libnng's threads are there
  turn      mean time of a turn, and turns a second
  events    entries and lines a second, as publish.events counts them

What is wanted: loop and turn are the same with one subscriber, with ten, and with a stopped one,
because the loop hands over each event once. With nobody they are less: nothing is made then.

When a round is over the stopped subscriber goes on. It tells how many messages came, and how many its
sequence numbers say it has missed. A subscriber that was not stopped says how many of all it has missed.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import signal
import statistics
import sys
import threading
import time

from bench_place import collector, java, place, processes

TOPICS = ("jvm", "code.wire", "code.json", "summary", "snapshot.wire", "snapshot.json")
VARIANTS = {"0": (0, 0), "1": (1, 0), "10": (10, 0), "10, one stopped": (9, 1)}


class Counter:
    """What a subscriber has had of each topic. Its sequence numbers tell what it has missed."""

    def __init__(self):
        self.got, self.missed = collections.Counter(), collections.Counter()
        self.gaps, self.next = 0, {}
        self.lock = threading.Lock()

    def hear(self, message):
        name, _, rest = message.partition(b"\n")
        topic = name.decode()
        if rest.startswith(b"FGP1"):
            seq = int.from_bytes(rest[16:24], "little")
        else:
            seq = int(re.search(rb'"seq":(\d+)', rest)[1])
        with self.lock:
            missed = seq - self.next.get(topic, seq)
            self.gaps += missed > 0
            self.missed[topic] += missed
            self.got[topic] += 1
            self.next[topic] = seq + 1

    def status(self):
        with self.lock:
            return json.dumps({"got": self.got, "missed": self.missed, "gaps": self.gaps,
                               "next": self.next})


def subscribe(url, count):
    """Subscribers in this process; the first one's counts are told each half a second."""
    from test_publish import Subscriber  # pylint: disable=import-outside-toplevel
    counters = []
    for _ in range(count):
        subscriber = Subscriber(url, [topic + "\n" for topic in TOPICS])
        subscriber.maps = Counter()
        counters.append(subscriber.maps)
        subscriber.start()
    while True:
        time.sleep(0.5)
        print(counters[0].status(), flush=True)


def status_of(subscriber):
    lines = subscriber.text.splitlines()
    return json.loads(lines[-1]) if lines else {"missed": {}, "got": {}, "next": {}}


def cpu_ms(pid):
    """(of the loop's thread, of all others)."""
    loop = others = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            ms = int((task / "schedstat").read_text().split()[0]) / 1e6
        except OSError:
            continue
        if task.name == str(pid):
            loop = ms
        else:
            others += ms
    return loop, others


def counts(daemon):
    told = daemon.list_json()["collector"]
    return told["turns"]["count"], told["turns"]["sum_us"], told["publish"]


def started(here, url, count, name):
    return processes.Background([sys.executable, __file__, "--subscribe", url, "--count", count],
                                here.directory / f"{name}{time.monotonic_ns()}.log")


def measure(daemon, seconds):
    loop, others = cpu_ms(daemon.pid)
    turns, us, publish = counts(daemon)
    began = time.monotonic()
    time.sleep(seconds)
    new_loop, new_others = cpu_ms(daemon.pid)
    took = time.monotonic() - began
    new_turns, new_us, new_publish = counts(daemon)
    turns = new_turns - turns
    return {"loop": (new_loop - loop) / took / 10, "others": (new_others - others) / took / 10,
            "turn": (new_us - us) / turns, "turns": turns / took,
            "events": (new_publish["events"] - publish["events"]) / took,
            "lost": sum(new_publish[key] - publish[key] for key in
                        ("events_dropped", "events_left_out", "messages_unsent"))}


def go_on(stopped, reading):
    """Has the stopped subscriber read on until it has come as far as the others; what both have then."""
    whole = status_of(reading)
    os.kill(stopped.pid, signal.SIGCONT)

    def is_there():
        status = status_of(stopped)
        return all(status["next"].get(topic, 0) >= whole["next"][topic] for topic in whole["next"])
    processes.wait_until(is_there, lambda: f"it reads on: {status_of(stopped)}")
    return status_of(stopped), status_of(reading)


def run_variant(here, daemon, url, variant, seconds):
    reading, stopping = VARIANTS[variant]
    running = [started(here, url, reading, "reading")] if reading else []
    try:
        stopped = started(here, url, 1, "stopped") if stopping else None
        running += [stopped] if stopped else []
        processes.wait_until(lambda: counts(daemon)[2]["subscribers"] == reading + stopping,
                             "the subscribers are there")
        if stopped:
            processes.wait_until(lambda: status_of(stopped)["got"].get("summary"), "it hears")
            os.kill(stopped.pid, signal.SIGSTOP)
        time.sleep(3)                   # past the snapshot
        found = measure(daemon, seconds)
        if stopped:
            found["status"] = go_on(stopped, running[0])
        return found
    finally:
        for subscriber in running:
            os.kill(subscriber.pid, signal.SIGKILL)  # libnng 1.5 does not always close
            subscriber.stop()
        processes.wait_until(lambda: counts(daemon)[2]["subscribers"] == 0, "they are forgotten")


def tell_lost(status, whole):
    got, missed = sum(status["got"].values()), sum(status["missed"].values())
    others = sum(whole["got"].values())
    print(f"figure the stopped one: {got:,} messages came, {missed:,} were missed, as {status['gaps']} "
          f"gaps in sequence numbers told; of another one {others:,} and "
          f"{sum(whole['missed'].values()):,}", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                        epilog="\n".join(__doc__.splitlines()[2:]),
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=30, help="measured, of a variant")
    arguments.add_argument("--rounds", type=int, default=4)
    arguments.add_argument("--jvms", type=int, default=1)
    arguments.add_argument("--each-ms", type=int, default=5, help="of a class, before the next")
    arguments.add_argument("--subscribe", help=argparse.SUPPRESS)
    arguments.add_argument("--count", type=int, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.subscribe:
        subscribe(options.subscribe, options.count)
    found = collections.defaultdict(list)
    with place() as here:
        url = f"ipc://{here.directory}/publish/events"
        daemon = collector.Watch(here, "--publish", url).started()
        jvms = []
        try:
            for number in range(options.jvms):
                jvms.append(processes.Background(
                    ["nice", "-n", "5", *java(here, "Churn", "0", options.each_ms)],
                    here.directory / f"jvm{number}.log"))
            processes.wait_until(lambda: len(daemon.list_json()["jvms"]) == options.jvms,
                                 "all JVMs are known")
            time.sleep(10)
            for number in range(options.rounds):
                for variant in VARIANTS if number % 2 == 0 else reversed(VARIANTS):
                    row = run_variant(here, daemon, url, variant, options.seconds)
                    found[variant].append(row)
                    if "status" in row:
                        tell_lost(*row["status"])
        finally:
            for jvm in jvms:
                jvm.stop()
            daemon.stop()
    means = {variant: {key: statistics.mean(row[key] for row in rows)
                       for key in ("loop", "others", "turn", "turns", "events", "lost")}
             for variant, rows in found.items()}
    for variant, mean in means.items():
        each = ", ".join(f"{row['loop']:.2f}" for row in found[variant])
        print(f"figure {variant}: loop {mean['loop']:.2f} % of a core ({each}), others "
              f"{mean['others']:.2f} %, turn {mean['turn']:.0f} us, {mean['turns']:.0f} turns a "
              f"second, {mean['events']:.0f} events a second; {mean['lost']:.0f} events or messages "
              "lost before libnng", flush=True)
    for one, other in (("1", "0"), ("10", "1"), ("10, one stopped", "10")):
        print(f"figure ratio of {one} to {other}: loop {means[one]['loop'] / means[other]['loop']:.2f}, "
              f"turn {means[one]['turn'] / means[other]['turn']:.2f}, "
              f"others {means[one]['others'] / means[other]['others']:.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
