#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of the machine around a daemon and its JVMs, and what they cost.

Each fault is a function that is given a Stage (a directory of its own, in it a daemon) and returns
rows. A row says what was done, how often, the longest turn of the daemon's loop in ms (of processor
time, and by the clock, to which others of the machine add), what was lost, and how long after the
fault everything was whole again: all of the JVM's code is known, and more of it keeps coming. A
fault that is not survived raises.

usage: faults.py [--all] [--quick] [--starts N] [--json FILE] [FAULT ...]

Without --all or names, those that a test of ctest runs too. docs/faults.md has the table.
"""

import argparse
import collections
import contextlib
import glob
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from bench_place import java, place, collector, processes, settings

BENCH = settings.BUILD / "tests" / "bench"
MONTH_SEC = 30 * 24 * 3600

Row = collections.namedtuple("Row", "fault tries worst_turn_ms worst_turn_wall_ms lost "
                                    "whole_again_s")


class Impossible(Exception):
    """The machine cannot be brought into this state; the text says why."""


def expect(claim, text):
    if not claim:
        raise AssertionError(text)


class Daemon(collector.Watch):
    """Asked from its own mount namespace, and with its own rights: it serves nobody else."""

    rights = ()

    def list(self, *args):
        return collector.fgcollect("list", "--socket", self.place.socket, *args,
                                   prefix=("nsenter", "--target", self.pid, "--mount",
                                           *self.rights))


class Stage:
    """A daemon and programs, all of which end with it."""

    def __init__(self, here):
        self.here, self.started, self.count = here, [], 0

    def run(self, args, env=None, **options):
        self.count += 1
        log = self.here.directory / f"program{self.count}.log"
        program = processes.Background(args, log, env=env, **options)
        self.started.append(program)
        return program

    def watch(self, *args, prefix=(), env=None):
        daemon = Daemon(self.here, *args, prefix=[*prefix, *variables(env)])
        self.started.append(daemon)
        return daemon.started()

    def jvm(self, *args, jdk=17, flags=(), prefix=(), env=None, agent=True):
        return self.run([*prefix, *java(self.here, *args, jdk=jdk, flags=flags, agent=agent)], env)

    def victim(self, daemon, *args, **options):
        """A JVM that compiles without end, all of whose code is known to the daemon."""
        jvm = self.jvm(*(args or ("Churn", "0", "20")), **options)
        daemon.wait_for_jvm(jvm.pid)
        return jvm

    def recording(self, pid, seconds, prefix=()):
        """Begins a recording; end_recording gives its quality."""
        out = self.here.directory / f"recorded{self.count}.folded"
        return out, self.run([*prefix, settings.COLLECTOR, "record", "-d", seconds, "-F", 99, "-p",
                              pid, "-o", out, *self.here.options()])

    def end_recording(self, begun):
        out, program = begun
        finished = program.wait()
        expect(finished.code == 0, str(finished))
        return collector.Recording(finished, out)

    def end(self):
        for program in reversed(self.started):
            program.stop()


def variables(env):
    return ["env", *[f"{name}={value}" for name, value in env.items()]] if env else []


def worst_turn_ms(daemon):
    """Of processor time, and by the clock: others of this machine count in the second one alone."""
    turns = daemon.list_json()["collector"]["turns"]
    return round(turns["longest_cpu_us"] / 1000, 1), round(turns["longest_us"] / 1000, 1)


def loads_of(daemon, pid):
    row = daemon.jvm(pid)
    return row["loads"] if row and row["state"] == "current" else None


def seconds_to_whole(daemon, pid, since):
    """Until all code is known and more of it comes."""
    first = None

    def grows():
        nonlocal first
        loads = loads_of(daemon, pid)
        first = loads if first is None else first
        return loads is not None and first is not None and loads != first
    processes.wait_until(grows, lambda: f"JVM {pid} is whole:\n{daemon.list().text}", every=0.02)
    return round(time.monotonic() - since, 2)


def losses(daemon, pid):
    """What the JVM's agent has lost, and gaps between its messages."""
    row = daemon.jvm(pid)
    return sum(row["lost_by_agent"].values()) + row["gaps"] + row["bad_records"]


def text_of_losses(*parts):
    """parts: (number, what). The parts that are not none, as a text."""
    return ", ".join(f"{number} {what}" for number, what in parts if number) or "nothing"


def expect_whole(recording, least):
    quality = recording.quality
    # As many as there can be beside others; on a busy machine the JVM does not run all the time.
    expect(quality.samples >= least, f"at least {least} samples: {recording}")
    # Some of Churn's methods are gone before they are named, also without any fault.
    expect(quality.named > 85 and quality.rooted > 95, str(recording))


# ---- clocks ----

def clock_steps(stage):
    """The wall clock of the daemon alone is set, by a library: others use the machine's."""
    step = stage.here.directory / "step"
    step.write_bytes(struct.pack("q", 0))
    graphs = stage.here.directory / "graphs"
    graphs.mkdir()
    daemon = stage.watch("-o", graphs, "--format", "folded", "-F", 99, "--keep", "1d",
                         env={"LD_PRELOAD": BENCH / "libclock_step.so", "FG_CLOCK_STEP": step})
    jvm = stage.victim(daemon)

    def written():
        return {path.name for path in graphs.glob("*.folded")}

    def period():
        before = written()
        time.sleep(0.5)
        os.kill(daemon.pid, signal.SIGHUP)
        processes.wait_until(lambda: written() - before, lambda: f"a graph:\n{daemon.text}")

    period()
    kept, lost, longest = written(), 0, 0
    for seconds in (MONTH_SEC, 0) if OPTIONS.quick else (MONTH_SEC, 0, -MONTH_SEC, 0):
        begun = stage.recording(jvm.pid, 2)
        time.sleep(0.7)
        with open(step, "r+b") as file:
            file.write(struct.pack("q", seconds))
        since = time.monotonic()
        longest = max(longest, seconds_to_whole(daemon, jvm.pid, since))
        expect_whole(stage.end_recording(begun), 20)
        period()
        lost += len(kept - written())
        kept = written()
        expect(daemon.read_map(jvm.pid), "the perf map is there")
    names = sorted(written())
    ahead = time.strftime("%Y%m", time.gmtime(time.time() + MONTH_SEC))
    expect(any(name.startswith(ahead) for name in names), f"the step was seen: {names}")
    return [Row("the wall clock is set 30 days ahead, back, 30 days back, and right", 4,
                *worst_turn_ms(daemon),
                text_of_losses((lost, "graphs"), (losses(daemon, jvm.pid), "records")), longest)]


# ---- what /proc and cgroups show ----

def in_mounts(script):
    """A command prefix: a mount namespace of its own, in which that has been done."""
    return ["unshare", "--mount", "sh", "-ec", script + '; exec "$@"', "sh"]


def hidepid(stage):
    """As user 1000 a JVM; the daemon as root, and as root without the right to trace."""
    hidden = in_mounts("mount -t proc -o hidepid=2 proc /proc")
    user = ("setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups")
    readable = stage.here.directory / "libfgagent.so"
    shutil.copy(settings.AGENT, readable)
    classes = stage.here.directory / "classes"
    shutil.copytree(settings.CLASSES, classes)
    options = [f"-agentpath:{readable}=socket={stage.here.socket}", "-cp", classes]
    daemon = stage.watch(prefix=hidden)
    home = settings.jdk_home(17)
    jvm = stage.run([*hidden, *user, home / "bin" / "java", *options, "Churn", "0", "20"])
    daemon.wait_for_jvm(jvm.pid)
    inside = ("nsenter", "--target", daemon.pid, "--mount")
    expect_whole(stage.end_recording(stage.recording(jvm.pid, 2, prefix=inside)), 20)
    rows = [Row("hidepid=2, all of root's rights", 1, *worst_turn_ms(daemon),
                text_of_losses((losses(daemon, jvm.pid), "records")), 0)]
    daemon.stop()
    untracing = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"]
    bounded = [*hidden, *untracing]
    blind = stage.watch(prefix=bounded)
    blind.rights = untracing
    time.sleep(2)
    finished = collector.fgcollect("doctor", *stage.here.options(), prefix=bounded)
    told = "CAP_SYS_PTRACE" in blind.text + finished.text
    expect(told, f"the missing right is named:\n{blind.text}\n{finished}")
    row = blind.jvm(jvm.pid)
    rows.append(Row("hidepid=2, root without CAP_SYS_PTRACE", 1, *worst_turn_ms(blind),
                    "stacks and mappings of other users' processes; doctor names the right"
                    if row else "all of other users' JVMs; doctor names the right", None))
    blind.stop()
    return rows


def cgroup_v2_root():
    for line in pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        fields = line.split()
        if fields[2] == "cgroup2":
            return pathlib.Path(fields[1])
    raise Impossible("no cgroup file system of version 2 is mounted")


@contextlib.contextmanager
def cgroup(root, name):
    """A directory below that root; whoever is in it when it is removed goes back to the root."""
    path = root / name
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        for pid in (path / "cgroup.procs").read_text(encoding="ascii").split():
            with contextlib.suppress(OSError):
                (root / "cgroup.procs").write_text(pid, encoding="ascii")
        def gone():
            with contextlib.suppress(OSError):
                path.rmdir()
            return not path.exists()
        processes.wait_until(gone, "the cgroup is empty")


def pure_cgroup_v2(stage):
    """The daemon sees version 2 alone, and the JVM is in a cgroup of Docker's form there."""
    root = cgroup_v2_root()
    ident = "".join(random.choice("0123456789abcdef") for _ in range(64))
    daemon = stage.watch(prefix=in_mounts(
        "umount -R /sys/fs/cgroup || true; mount -t cgroup2 cgroup2 /sys/fs/cgroup"))
    with cgroup(root, f"docker-{ident}.scope") as scope:
        jvm = stage.jvm("Churn", "0", "20", prefix=(
            "sh", "-c", f'echo $$ > {scope}/cgroup.procs; exec "$@"', "sh"))
        since = time.monotonic()
        row = daemon.wait_for_jvm(jvm.pid)
        whole = round(time.monotonic() - since, 2)
        expect(row["container"] == ident, f"the container's ID is that of version 2: {row}")
        inside = ("nsenter", "--target", daemon.pid, "--mount")
        expect_whole(stage.end_recording(stage.recording(jvm.pid, 2, prefix=inside)), 20)
        finished = collector.fgcollect("record", "-d", 1, "--container", ident[:12], "-o",
                                       stage.here.directory / "c.folded", *stage.here.options(),
                                       prefix=inside)
        expect(finished.code == 0, str(finished))
        result = Row("cgroups of version 2 alone", 1, *worst_turn_ms(daemon),
                     text_of_losses((losses(daemon, jvm.pid), "records")), whole)
        jvm.stop()
    return [result]


def rest_of_loads(daemon, pid):
    """How many loads a frozen JVM has told, once what was on its way has come."""
    seen = []

    def has_come():
        seen.append(daemon.jvm(pid)["loads"])
        return len(seen) > 2 and seen[-1] == seen[-2] == seen[-3]
    processes.wait_until(has_come, lambda: f"no more loads come: {seen}")
    return seen[-1]


def freezer(stage):
    """A JVM is frozen while the daemon hears it and while it is recorded; another one goes on."""
    root = cgroup_v2_root()
    daemon = stage.watch()
    other = stage.victim(daemon)
    with cgroup(root, f"fgfault{os.getpid()}") as group:
        jvm = stage.victim(daemon)
        (group / "cgroup.procs").write_text(str(jvm.pid), encoding="ascii")
        begun = stage.recording(jvm.pid, 6)
        time.sleep(1)
        others_before = daemon.jvm(other.pid)["loads"]
        (group / "cgroup.freeze").write_text("1", encoding="ascii")
        processes.wait_until(
            lambda: "frozen 1" in (group / "cgroup.events").read_text(encoding="ascii"), "frozen")
        try:
            before = rest_of_loads(daemon, jvm.pid)
            beside = stage.end_recording(stage.recording(other.pid, 2))
            expect_whole(beside, 20)
            expect(daemon.jvm(jvm.pid)["loads"] == before, "it stood still")
            expect(daemon.jvm(other.pid)["loads"] > others_before, "the other one went on")
        finally:
            (group / "cgroup.freeze").write_text("0", encoding="ascii")
        since = time.monotonic()
        whole = seconds_to_whole(daemon, jvm.pid, since)
        expect_whole(stage.end_recording(begun), 20)
        result = Row("a JVM is frozen for some seconds and thawed, while it is recorded", 1,
                     *worst_turn_ms(daemon),
                     text_of_losses((losses(daemon, jvm.pid), "records"),
                                    (losses(daemon, other.pid), "records of another JVM")), whole)
        jvm.stop()
    return [result]


# ---- processes ----

NS_LAST_PID = pathlib.Path("/proc/sys/kernel/ns_last_pid")


def start_as(pid, start):
    """Starts a program whose PID is that one; the tries that it took, and the program."""
    for number in range(1, 200):
        NS_LAST_PID.write_text(str(pid - 1), encoding="ascii")
        program = start()
        if program.pid == pid:
            return number, program
        program.stop(signal.SIGKILL)
    raise Impossible(f"PID {pid} cannot be had again: others start programs all the time")


def pid_reuse(stage):
    """A JVM's PID goes to another JVM, and then to a program that is none."""
    if not os.access(NS_LAST_PID, os.W_OK):
        raise Impossible("ns_last_pid cannot be written")
    daemon = stage.watch()
    first = stage.victim(daemon, "ManyMethods", "2000")
    pid = first.pid
    processes.wait_until(lambda: "ManyMethods" in daemon.read_map(pid) or
                         "Many" in daemon.read_map(pid), "its perf map is there")
    first.stop(signal.SIGKILL)
    tries, second = start_as(pid, lambda: stage.jvm("Primes"))
    since = time.monotonic()
    processes.wait_until(lambda: (daemon.jvm(pid) or {}).get("main_class") == "Primes",
                         lambda: f"the list has the new one:\n{daemon.list().text}", every=0.02)
    daemon.wait_for_jvm(pid)
    whole = round(time.monotonic() - since, 2)
    recorded = stage.end_recording(stage.recording(pid, 2))
    expect_whole(recorded, 20)
    stale = sum(count for frames, count in recorded.folded.stacks
                if any("Many" in frame for frame in frames))
    processes.wait_until(lambda: "Primes" in daemon.read_map(pid), "its own perf map is there")
    expect("Many" not in daemon.read_map(pid), "no line of the old one's perf map is left")
    turn = worst_turn_ms(daemon)
    second.stop(signal.SIGKILL)
    rows = [Row("a JVM's PID goes to another JVM at once", tries, *turn,
                text_of_losses((stale, "samples with the old one's names"),
                               (losses(daemon, pid) if daemon.jvm(pid) else 0, "records")), whole)]
    spin = [sys.executable, "-c", "while True: pass"]
    since = time.monotonic()
    tries, third = start_as(pid, lambda: stage.run(spin))
    recorded = stage.end_recording(stage.recording(pid, 2))
    stale = sum(count for frames, count in recorded.folded.stacks
                if any("Primes" in frame or "_[j]" in frame for frame in frames))
    processes.wait_until(lambda: daemon.jvm(pid) is None, lambda: daemon.list().text)
    if not OPTIONS.quick:
        processes.wait_until(lambda: "Primes" not in daemon.read_map(pid), "the old map is gone")
    whole = round(time.monotonic() - since, 2)
    expect(recorded.folded.samples > 20, str(recorded))
    expect(stale == 0, f"no name of the JVM that is gone:\n{recorded}")
    rows.append(Row("a JVM's PID goes to a program that is no JVM", tries, *worst_turn_ms(daemon),
                    text_of_losses((stale, "samples with the old one's names")), whole))
    third.stop(signal.SIGKILL)
    return rows


def seccomp(stage):
    """System calls fail with EPERM, or end who makes them; the JVM runs as it would."""
    daemon = stage.watch()
    for calls, says, known in (
            ("socket", "Unix sockets cannot be made here", False),
            ("socketpair", None, True),
            ("process_vm_readv", None, True),
            ("getdents64", None, True),
            ("memfd_create", None, True),
            ("kill:socketpair,process_vm_readv,poll,ppoll,sendmsg,memfd_create", None, True)):
        jvm = stage.jvm("Churn", "2", "20", prefix=(BENCH / "confined", calls))
        processes.wait_until(lambda jvm=jvm: "ready" in jvm.text or jvm.code is not None,
                             "the JVM runs")
        if known:
            daemon.wait_for_jvm(jvm.pid)
        finished = jvm.wait()
        expect(finished.code == 0, str(finished))
        lines = [line for line in finished.text.splitlines() if line.startswith("fgagent:")]
        expect(len(lines) == (1 if says else 0) and (not says or says in lines[0]),
               f"{calls}: {lines}")
    return [Row("a JVM whose seccomp profile forbids calls of the agent's", 6,
                *worst_turn_ms(daemon), "without socket all, and a line of the agent's says so; "
                "without socketpair, process_vm_readv, getdents64 or memfd_create nothing, and where "
                "socketpair, process_vm_readv, poll, ppoll, sendmsg or memfd_create ends a process "
                "nothing", 0)]


# ---- descriptors ----

def descriptors_of_the_jvm(stage):
    daemon = stage.watch()
    # The daemon is gone while the JVM has no descriptor, and comes back; the agent cannot dial.
    jvm = stage.jvm("Exits", "full", "4", prefix=("prlimit", "--nofile=68:68"))
    daemon.wait_for_jvm(jvm.pid)
    processes.wait_until(lambda: "full" in jvm.text, "all are used")
    daemon.stop(signal.SIGKILL)
    again = stage.watch()
    expect(again.jvm(jvm.pid) is None, "it cannot be met")
    processes.wait_until(lambda: "free" in jvm.text, "they are free")
    since = time.monotonic()
    whole = seconds_to_whole(again, jvm.pid, since)
    lines = [line for line in jvm.text.splitlines() if "fgagent" in line]
    expect(not lines and jvm.code is None, f"the JVM goes on: {jvm.text}")
    return [Row("a JVM without a free descriptor, whose collector is restarted meanwhile", 1,
                *worst_turn_ms(again), text_of_losses((losses(again, jvm.pid), "records")), whole)]


# Processes that connect once each, and end with their parent.
DIALLERS = """
import os, socket, sys
held, ending = os.pipe()
for _ in range(int(sys.argv[2])):
    if os.fork() == 0:
        os.close(ending)
        s = socket.socket(socket.AF_UNIX)
        try:
            s.connect(sys.argv[1])
            s.send(bytes.fromhex("0053500000500000"))
        except OSError:
            pass
        os.read(held, 1)
        os._exit(0)
print("ready", flush=True)
os.read(held, 1)
"""


def descriptors_of_the_daemon(stage):
    daemon = stage.watch(prefix=("prlimit", "--nofile=68:68"))
    jvm = stage.victim(daemon)
    diallers = stage.run([sys.executable, "-c", DIALLERS, stage.here.socket, "100"])

    def used():
        return len(os.listdir(f"/proc/{daemon.pid}/fd"))
    processes.wait_until(lambda: "oo many open files" in daemon.text,
                         lambda: f"a line says that all are used: {used()}\n{daemon.text}")
    before = processes.cpu_seconds(daemon.pid)
    time.sleep(3)
    burnt = processes.cpu_seconds(daemon.pid) - before
    expect(burnt < 1.5, f"the loop does not spin: {burnt:.2f} s in 3 s")
    expect(daemon.code is None, daemon.text)
    diallers.stop(signal.SIGKILL)
    since = time.monotonic()
    whole = seconds_to_whole(daemon, jvm.pid, since)
    other = stage.victim(daemon)
    expect_whole(stage.end_recording(stage.recording(other.pid, 2)), 20)
    return [Row("a daemon without a free descriptor", 1, *worst_turn_ms(daemon),
                text_of_losses((losses(daemon, jvm.pid), "records")) +
                f" ({burnt:.2f} s of processor time in 3 s)", whole)]


# ---- the end of a JVM ----

def quick_flags(directory):
    return ["-Xmx32m", "-XX:+UseSerialGC", f"-XX:ErrorFile={directory}/hs_err_%p.log",
            "-XX:-CreateCoredumpOnCrash"]


def crashes(directory):
    return [pathlib.Path(path) for path in glob.glob(f"{directory}/hs_err_*")]


ENDS = (("init-exit",), ("init-halt",), ("init-throw",), ("init-overflow",), ("throw",),
        ("loading-exit", "0"), ("loading-exit", "30"), ("loading-exit", "300"),
        ("loading-halt", "30"), ("loading-halt", "200"), ("hook", "100"), ("kill", "100"),
        ("crowd",), ("main-missing",))


def exits(stage):
    """Each end at each time, with nobody listening, with a daemon, and with one that is stopped."""
    flags = quick_flags(stage.here.directory)
    tries = 0
    slowest = 0
    daemon = stage.watch()

    def run(agent, how, jdk):
        args = ("NoSuchClass",) if how[0] == "main-missing" else ("Exits", *how)
        return processes.run(java(stage.here, *args, jdk=jdk, flags=flags, agent=agent))

    for jdk in [jdk for jdk in (17, 25) if settings.jdk_home(jdk)]:
        for number, how in enumerate(ENDS):
            states = ("met", "stopped")
            if OPTIONS.quick:   # each end once, half of them in each JDK and in each state
                if (number + jdk // 8) % 2:
                    continue
                states = states[number // 2 % 2:][:1]
            plain = run(False, how, jdk)
            for state in states:
                if state == "stopped":
                    daemon.child.send_signal(signal.SIGSTOP)
                try:
                    ended = run(True, how, jdk)
                finally:
                    daemon.child.send_signal(signal.SIGCONT)
                tries += 1
                slowest = max(slowest, ended.seconds - plain.seconds)
                expect(ended.code == plain.code and ended.out == plain.out,
                       f"{how}, {state}: as without the agent, {plain.code}:\n{ended}")
                expect("fgagent" not in ended.err, str(ended))
    expect(not crashes(stage.here.directory), "no JVM has crashed")
    return [Row("System.exit, halt, SIGKILL and uncaught exceptions in each phase of a JVM", tries,
                *worst_turn_ms(daemon), "nothing; every status was that of the JVM alone", 0)]


def starts(stage, count=20):
    """JVMs of several kinds start and end beside load, while the daemon comes and goes."""
    flags = quick_flags(stage.here.directory)
    jdks = [jdk for jdk in (11, 17, 21, 25) if settings.jdk_home(jdk)]
    kinds = [(jdk, gc, how) for jdk in jdks
             for gc in ("-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC")
             for how in (("Exits", "loading-exit", "100"), ("Hello",), ("ShortLived", "100"))]
    expected = {"Exits": 3, "Hello": 0, "ShortLived": 0}
    stopping = threading.Event()
    turns = []

    def come_and_go():
        while not stopping.is_set():
            daemon = Daemon(stage.here)
            with contextlib.suppress(AssertionError):
                daemon.started()
                stopping.wait(random.uniform(0.2, 3))
                turns.append(worst_turn_ms(daemon))
            daemon.stop(random.choice((signal.SIGTERM, signal.SIGKILL)))
            stopping.wait(random.uniform(0, 1))

    visitor = threading.Thread(target=come_and_go)
    load = [stage.run(["nice", "-n", "5", sys.executable, "-c", "while True: pass"])
            for _ in range(max(1, os.cpu_count() // 2))]
    visitor.start()
    running, done = [], 0
    try:
        number = 0
        while done < count:
            while len(running) < 2 * os.cpu_count() and number < count:
                jdk, gc, how = kinds[number % len(kinds)]
                own = [flag for flag in flags if "GC" not in flag] + [gc]
                options = ",buffer=16k" if number % 5 == 0 else ""
                command = java(stage.here, *how, jdk=jdk, flags=own)
                command[1] += options
                log = stage.here.directory / f"start{number % 64}.log"
                running.append((how[0], processes.Background(["nice", "-n", "5", *command], log)))
                number += 1
            for what, jvm in list(running):
                if jvm.code is not None:
                    running.remove((what, jvm))
                    done += 1
                    expect(jvm.code == expected[what], f"{what}: {jvm.code}\n{jvm.text}")
                elif time.monotonic() - jvm.start > 120:
                    raise AssertionError(f"{what} hangs: {jvm.text}")
            time.sleep(0.01)
    finally:
        stopping.set()
        visitor.join()
        for _, jvm in running:
            jvm.stop(signal.SIGKILL)
        for program in load:
            program.stop()
    expect(not crashes(stage.here.directory), f"crashed: {crashes(stage.here.directory)}")
    return [Row(f"JVMs start under load while the daemon comes and goes (JDK "
                f"{', '.join(map(str, jdks))}; three collectors)", count,
                *max(turns, default=(None, None)),
                "nothing: none crashed, every status was right", 0)]


def thousand_starts(stage):
    return starts(stage, OPTIONS.starts)


# ---- engines ----

def engine_restarts(stage):
    """dockerd is killed while containers run and are recorded, and started again."""
    if not shutil.which("dockerd"):
        raise Impossible("no Docker engine is installed")
    # pylint: disable=import-outside-toplevel
    from harness import containers, engine as engines
    directory = f"/tmp/fgfault-engine.{os.getpid()}"
    started = processes.run([engines.ENGINE, "start", directory, "--live-restore"], timeout=180,
                            check=True)
    try:
        engine = engines.Engine({"token": f"fgfault{os.getpid()}", "images": {},
                                 "docker_host": started.out.strip()})
        processes.run([engines.MAKE_IMAGE, "fault:17", settings.jdk_home(17), settings.AGENT,
                       settings.CLASSES], timeout=300, check=True,
                      env={"DOCKER_HOST": engine.state["docker_host"]})
        daemon = stage.watch()
        def run(name):
            return containers.Container(engine, "fault:17", stage.here.run, "Churn", "0", "20",
                                        options=["--name", name])
        web = run("web")
        daemon.wait_for_jvm(web.pid)
        pid = web.pid
        processes.wait_until(lambda: daemon.jvm(pid)["container_name"] == "web", "it has a name")
        begun = stage.recording(pid, 6)
        time.sleep(1)
        dockerd = int(pathlib.Path(directory, "docker.pid").read_text(encoding="ascii"))
        command = pathlib.Path(f"/proc/{dockerd}/cmdline").read_text(
            encoding="utf-8").split("\0")[:-1]
        os.kill(dockerd, signal.SIGKILL)
        processes.wait_until(lambda: not os.path.exists(f"/proc/{dockerd}"), "the engine is gone")
        time.sleep(1)
        alone = daemon.jvm(pid)
        expect(alone["container_name"] == "web" and alone["state"] == "current", str(alone))
        since = time.monotonic()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(directory, "docker.pid"))
        processes.run(["sh", "-c", 'setsid --fork "$@" >/dev/null 2>&1 </dev/null', "sh", *command],
                      check=True)
        processes.wait_until(lambda: engine.docker("version", check=False).code == 0,
                             "the engine answers", every=0.2)
        shutil.copy(os.path.join(directory, "docker.pid"), os.path.join(directory, "started.pid"))
        answers = round(time.monotonic() - since, 2)
        expect(daemon.jvm(pid)["container_name"] == "web", "the name stays")
        expect_whole(stage.end_recording(begun), 50)
        other = run("later")
        since = time.monotonic()
        daemon.wait_for_jvm(other.pid)
        processes.wait_until(lambda: daemon.jvm(other.pid)["container_name"] == "later",
                             "a container of the new engine has a name")
        whole = round(time.monotonic() - since, 2)
        return [Row(f"dockerd is killed while a container is recorded, and started again "
                    f"({answers} s)", 1, *worst_turn_ms(daemon),
                    text_of_losses((losses(daemon, pid), "records")), whole)]
    finally:
        processes.run([engines.ENGINE, "stop", directory], timeout=180)


# ---- what few machines can ----

def checkpoint(stage):
    del stage
    raise Impossible("no JDK here has CRaC, and CRIU is not installed")


def cpu_unplug(stage):
    """A CPU is taken away for two seconds of a recording."""
    online = [pathlib.Path(path) for path in
              sorted(glob.glob("/sys/devices/system/cpu/cpu*/online")) if os.access(path, os.W_OK)]
    if not online:
        raise Impossible("no CPU of this machine can be taken away")
    switch = online[-1]
    number = switch.parent.name.removeprefix("cpu")
    daemon = stage.watch()
    jvm = stage.victim(daemon)
    # Kept on that CPU, before and after; while the CPU is away the kernel moves it. It stands still
    # at the recording's begin and end, so that all of its time lies in the recording.
    spin = stage.run(["taskset", "-c", number, sys.executable, "-c", "while True: pass"])
    time.sleep(0.5)
    os.kill(spin.pid, signal.SIGSTOP)
    before = processes.cpu_seconds(spin.pid)
    begun = stage.recording(spin.pid, 10)
    time.sleep(2)
    os.kill(spin.pid, signal.SIGCONT)
    time.sleep(2)
    try:
        switch.write_text("0", encoding="ascii")
    except OSError as error:
        stage.end_recording(begun)
        raise Impossible(f"{switch}: {error.strerror}") from None
    try:
        burnt = processes.cpu_seconds(daemon.pid)
        time.sleep(2)
        burnt = processes.cpu_seconds(daemon.pid) - burnt
    finally:
        switch.write_text("1", encoding="ascii")
    since = time.monotonic()
    processes.run(["taskset", "-p", "-c", number, spin.pid], check=True)
    processes.wait_until(lambda: f"CPU {number} is back" in daemon.text,
                         lambda: f"it is sampled again:\n{daemon.text}", every=0.02)
    whole = round(time.monotonic() - since, 2)
    time.sleep(1)
    os.kill(spin.pid, signal.SIGSTOP)
    used = processes.cpu_seconds(spin.pid) - before
    spin.stop(signal.SIGKILL)
    recorded = stage.end_recording(begun)
    expect(f"CPU {number} was taken away" in daemon.text, daemon.text)
    expect(burnt < 1, f"the loop does not spin: {burnt:.2f} s in 2 s")
    missing = round(max(0, 99 * used - recorded.folded.samples))
    expect(missing < 0.35 * 99 * used, f"{missing} samples of {99 * used:.0f} are missing")
    seconds_to_whole(daemon, jvm.pid, since)
    return [Row("a CPU is taken away for two seconds of a recording", 1, *worst_turn_ms(daemon),
                text_of_losses((losses(daemon, jvm.pid), "records"),
                               (missing, f"samples of {99 * used:.0f}")), whole)]


# In the order of the table; the first ones are tests of ctest too, and take some seconds each.
SHORT = {"clock": clock_steps, "hidepid": hidepid, "cgroup2": pure_cgroup_v2, "freezer": freezer,
         "pid": pid_reuse, "seccomp": seccomp, "jvm-descriptors": descriptors_of_the_jvm,
         "daemon-descriptors": descriptors_of_the_daemon, "exits": exits, "starts": starts}
LONG = {"thousand-starts": thousand_starts, "engine": engine_restarts, "cpu": cpu_unplug,
        "checkpoint": checkpoint}
FAULTS = {**SHORT, **LONG}
OPTIONS = argparse.Namespace(starts=1000, quick=False)


def rows_of(name):
    """The rows of one fault, in a directory of its own; Impossible where the machine cannot."""
    with place() as here:
        stage = Stage(here)
        try:
            return FAULTS[name](stage)
        finally:
            stage.end()


def cells(row):
    turn = "" if row.worst_turn_ms is None else \
        f"{row.worst_turn_ms} ms ({row.worst_turn_wall_ms} ms)"
    whole = "" if row.whole_again_s is None else f"{row.whole_again_s} s"
    return [row.fault, str(row.tries), turn, row.lost, whole]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--quick", action="store_true", help="as the tests of ctest run them")
    parser.add_argument("--starts", type=int, default=1000, help="of thousand-starts")
    parser.add_argument("--json", type=pathlib.Path, help="a file for the rows, one a line")
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=", ".join(FAULTS))
    parser.parse_args(namespace=OPTIONS)
    chosen = OPTIONS.faults or list(FAULTS if OPTIONS.all else SHORT)
    failed = False
    print("| fault | tries | longest turn (by the clock) | lost | whole again after |\n"
          "|---|---|---|---|---|")
    for name in chosen:
        try:
            rows = rows_of(name)
        except Impossible as why:
            rows = [Row(name, 0, None, None, f"not tried: {why}", None)]
        except (AssertionError, subprocess.SubprocessError, OSError) as error:
            rows = [Row(name, 1, None, None, f"FAILED: {type(error).__name__}: {error}", None)]
            failed = True
        for row in rows:
            print("| " + " | ".join(cells(row)) + " |", flush=True)
            if OPTIONS.json:
                with open(OPTIONS.json, "a", encoding="utf-8") as out:
                    out.write(json.dumps(row._asdict()) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
