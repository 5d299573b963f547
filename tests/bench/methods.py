# SPDX-License-Identifier: Apache-2.0
"""What a JVM with very many compiled methods costs: on the wire, in the agent, in the collector.

A JVM compiles them all with nobody listening. Then a listener of this program's own takes the
repetition of all code and counts its bytes, and after it a collector, whose resident memory is
looked at. At last a second JVM compiles them with the collector connected. CPU times are those that
/proc has for the agent's thread and for the Service Thread, on which HotSpot calls the agent.
--agent-options is passed on to the agent; given more than once, all is measured once for each.
"""

import argparse
import contextlib
import pathlib
import socket
import struct
import time

from bench_place import collector, java, place, processes, settings

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--methods", type=int, default=50000)
arguments.add_argument("--agent-options", action="append", metavar="KEY=VALUE,...",
                       help="of the agent, beside the socket; may be repeated")
arguments.add_argument("--jdk", type=int, default=17)
options = arguments.parse_args()

FLAGS = ["-Xcomp", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", "-Xmx512m",
         "-XX:+UseSerialGC", "-XX:CompileCommand=quiet",
         "-XX:CompileCommand=compileonly,Many*.*",
         "-XX:CompileCommand=dontinline,Many*.computeStep*"]
RESYNC_END, METHOD_LOAD, HEADER_BYTES = 3, 4, 24


def start(where, extra, name):
    agent = f"-agentpath:{settings.AGENT}=socket={where.socket}{',' + extra if extra else ''}"
    command = java(where, "ManyMethods", options.methods, agent=False, jdk=options.jdk,
                   flags=[agent, *FLAGS])
    return processes.Background(command, where.directory / f"{name}.log")


def wait_idle(jvm):
    processes.wait_until(lambda: "idle" in jvm.text or jvm.code is not None, "all are compiled",
                         timeout=120)
    if jvm.code is not None:
        raise SystemExit(f"the JVM ended:\n{jvm.text}")


def cpu_ms(pid, thread):
    """CPU time of the JVM's thread of that name, to the nanosecond where the kernel has it so."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            if (task / "comm").read_text().strip() == thread:
                return int((task / "schedstat").read_text().split()[0]) / 1e6
    return 0.0


def agent_cpu_ms(jvm):
    return {name: cpu_ms(jvm.pid, name) for name in ("fgagent", "Service Thread")}


class Counted:
    """One repetition of all code, taken off the socket as shared/README.md says."""

    def __init__(self, path):
        self.messages = self.bytes = self.methods = self.method_bytes = 0
        self.start = self.end = None
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen()
            listener.settimeout(30)
            agent, _ = listener.accept()
        path.unlink()
        with agent:
            agent.sendall(b"\0SP\0\0\x51\0\0")
            agent.recv(8, socket.MSG_WAITALL)
            while not self.end:
                head = agent.recv(9, socket.MSG_WAITALL)
                self.take(agent.recv(struct.unpack(">Q", head[1:])[0], socket.MSG_WAITALL))

    def take(self, message):
        self.start = self.start or time.monotonic()
        self.messages += 1
        self.bytes += 9 + len(message)
        offset = HEADER_BYTES
        while offset < len(message):
            kind, _, size = struct.unpack_from("<HHI", message, offset)
            if kind == METHOD_LOAD:
                self.methods += 1
                self.method_bytes += 8 + size
            elif kind == RESYNC_END:
                self.end = time.monotonic()
            offset += 8 + size


def rss_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def difference(after, before):
    return ", ".join(f"{name} {after[name] - before[name]:.0f} ms" for name in after)


def assert_all_known(row, lost=()):
    """lost: reasons for which the agent may have lost records, beside what it repeated."""
    if row["lost_by_agent"].keys() - lost or row["gaps"] or row["rejected"] or \
       row["code_ranges"] < options.methods:
        raise SystemExit(f"not all methods have arrived: {row}")


def measure_late(where, extra):
    """A listener and a collector that come when all is compiled."""
    jvm = start(where, extra, "late")
    try:
        wait_idle(jvm)
        before = agent_cpu_ms(jvm)
        counted = Counted(where.socket)
        after = agent_cpu_ms(jvm)
        print(f"wire: {counted.methods} methods repeated in {counted.end - counted.start:.3f} s, "
              f"{counted.method_bytes / counted.methods:.1f} bytes each, {counted.bytes / 1e6:.2f} "
              f"MB in {counted.messages} messages; {difference(after, before)}", flush=True)
        if counted.methods < options.methods:
            raise SystemExit(f"{options.methods} methods were expected")
        daemon = collector.Watch(where).started()
        try:
            empty, begin = rss_bytes(daemon.pid), time.monotonic()
            row = daemon.wait_for_jvm(jvm.pid)
            waited = time.monotonic() - begin
            processes.wait_until(lambda: daemon.read_map(jvm.pid).count("\n") > options.methods,
                                 "all are in the map", every=0.02)
            mapped = time.monotonic() - begin
            assert_all_known(row, {"connection lost"})  # to the listener, which hung up
            grown = rss_bytes(daemon.pid) - empty
            print(f"collector: all known {waited:.2f} s and in the map {mapped:.2f} s after it "
                  f"came, up to 1 s of that for the agent to dial; {grown / counted.methods:.0f} "
                  f"bytes of memory a method ({grown / 2**20:.1f} MiB), "
                  f"{processes.cpu_seconds(daemon.pid):.2f} s CPU, peak "
                  f"{processes.peak_rss_bytes(daemon.pid) / 2**20:.1f} MiB", flush=True)
        finally:
            daemon.stop()
    finally:
        jvm.stop()


def measure_live(where, extra):
    """A collector that is there while they are compiled."""
    daemon = collector.Watch(where).started()
    try:
        jvm = start(where, extra, "live")
        try:
            wait_idle(jvm)
            time.sleep(0.5)
            spent = agent_cpu_ms(jvm)
            assert_all_known(daemon.wait_for_jvm(jvm.pid))
            print(f"live: {difference(spent, dict.fromkeys(spent, 0))} of CPU time for "
                  f"{options.methods} methods as they were compiled, collector "
                  f"{processes.cpu_seconds(daemon.pid):.2f} s; none lost", flush=True)
        finally:
            jvm.stop()
    finally:
        daemon.stop()


for chosen in options.agent_options or [""]:
    print(f"-- {options.methods} methods, JDK {options.jdk}, agent options '{chosen}'", flush=True)
    with place() as here:
        measure_late(here, chosen)
        measure_live(here, chosen)
