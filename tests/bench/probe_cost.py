# SPDX-License-Identifier: Apache-2.0
"""What probes cost: a JVM that has them and is not traced, and each event of one that is.

Programs that do nothing but allocate, take a free lock or throw run without the agent, with an
agent that nobody traces, and with an agent whose probes were all on for a while and are off again;
a JVM of each at a time, in alternation. Prints the median of the nanoseconds of one operation, and
its ratio to that without the agent. Then allocations are sampled at 16 KiB, with nothing behind the
event, and with a tracer that only counts: what an event costs the thread that allocates. Run as
root, from a build with optimisation, on a quiet machine.
"""

import argparse
import contextlib
import statistics
import time

from bench_place import collector, java, place, processes, settings

from harness import usdt

OPERATIONS = ("alloc", "lock", "throw", "deep")
ARMS = ("alloc__arm_16k", "lock__arm")
OBJECT_BYTES, INTERVAL = 64, 16 << 10

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--jdk", type=int, default=17)
arguments.add_argument("--seconds", type=float, default=4, help="of each run")
arguments.add_argument("--times", type=int, default=5)
options = arguments.parse_args()


@contextlib.contextmanager
def traced(*tracers):
    try:
        yield
    finally:
        for tracer in tracers:
            tracer.close()


def wait_for(daemon, jvm, state):
    processes.wait_until(lambda: {daemon.jvm(jvm.pid)["probes"][key] for key in ("alloc", "lock")}
                         == {state}, f"probes are {state}")


@contextlib.contextmanager
def program(here, daemon, operation, agent):
    """A JVM past its warm-up."""
    jvm = processes.Background(java(here, "ProbeCosts", operation, agent=agent, jdk=options.jdk),
                               here.directory / "jvm.log")
    try:
        if agent:
            daemon.wait_for_jvm(jvm.pid)
        time.sleep(2)
        yield jvm
    finally:
        jvm.stop()


def figures(jvm):
    """The nanoseconds of one operation, from now on, of each quarter of a second."""
    before = len(jvm.text.split())
    time.sleep(options.seconds)
    return [int(word) / 1000 for word in jvm.text.split()[before + 1:]]


def without_agent(here, daemon, operation):
    with program(here, daemon, operation, agent=False) as jvm:
        return figures(jvm)


def never_traced(here, daemon, operation):
    with program(here, daemon, operation, agent=True) as jvm:
        return figures(jvm)


def no_longer_traced(here, daemon, operation):
    with program(here, daemon, operation, agent=True) as jvm:
        with traced(*(usdt.Tracer(settings.AGENT, arm, pid=jvm.pid) for arm in ARMS)):
            wait_for(daemon, jvm, "on")
            time.sleep(1)
        wait_for(daemon, jvm, "off")
        return figures(jvm)


def compare(here, daemon):
    runs = {"without agent": without_agent, "agent": never_traced,
            "no longer traced": no_longer_traced}
    for operation in OPERATIONS:
        found = {name: [] for name in runs}
        for _ in range(options.times):
            for name, run in runs.items():
                found[name] += run(here, daemon, operation)
        alone = statistics.median(found["without agent"])
        for name, of_run in found.items():
            median = statistics.median(of_run)
            print(f"{operation}, {name}: {median:.2f} ns, {median / alone:.3f}", flush=True)


def events(here, daemon):
    """The cost of a sampled allocation, by what the others of its interval cost."""
    found = {"no event": [], "event": [], "event with a tracer that counts": []}
    with program(here, daemon, "alloc", agent=True) as jvm:
        for _ in range(options.times):
            found["no event"] += figures(jvm)
            with traced(usdt.Tracer(settings.AGENT, ARMS[0], pid=jvm.pid)):
                processes.wait_until(lambda: daemon.jvm(jvm.pid)["probes"]["alloc"] == "on", "on")
                found["event"] += figures(jvm)
                with traced(usdt.Tracer(settings.AGENT, "alloc__sample")):
                    found["event with a tracer that counts"] += figures(jvm)
            processes.wait_until(lambda: daemon.jvm(jvm.pid)["probes"]["alloc"] == "off", "off")
    alone = statistics.median(found["no event"])
    for name, of_run in found.items():
        median = statistics.median(of_run)
        print(f"allocations of {OBJECT_BYTES} bytes, {name}: {median:.2f} ns each, "
              f"{(median - alone) * INTERVAL / OBJECT_BYTES:.0f} ns an event", flush=True)


with place() as place_of_bench:
    watching = collector.Watch(place_of_bench).started()
    try:
        compare(place_of_bench, watching)
        events(place_of_bench, watching)
    finally:
        watching.stop()
