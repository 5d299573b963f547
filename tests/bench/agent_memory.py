# SPDX-License-Identifier: Apache-2.0
"""What collectors of ill will cost a JVM in memory.

  agent_memory.py [--seconds 600] [--jdk 17] [--agent ANOTHER_LIBFGAGENT.SO]

JVMs load, compile and drop classes all the time (Churn), some 50 a second, each beside a collector of its
own. All code is compiled (-Xcomp), so that there is more to tell than a socket's buffer has room for. The
collectors: an honest daemon, and listeners that greet and never read, never greet, hang up at once, take a
byte at a time, or take nobody. All run at the same time, with the agent's smallest buffer. Each JVM's
resident memory is read every second; a row has the mean of the first and of the second half, its greatest
value, and the second half by that of the JVM beside the honest daemon. What is wanted: 1.1 at most.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import socket
import statistics
import sys
import tempfile
import threading
import time

from bench_place import collector, processes, settings

GREETING = bytes([0, 0x53, 0x50, 0, 0, 0x51, 0, 0])
WANTED = 1.1
LISTENERS = {
    "greets and never reads": lambda peer: peer.send(GREETING),
    "never greets": lambda peer: None,
    "hangs up at once": lambda peer: peer.close(),
    "takes a byte at a time": lambda peer: (peer.send(GREETING), dribble(peer)),
    "takes nobody": None,
}


def dribble(peer):
    with contextlib.suppress(OSError):
        while peer.recv(1):
            time.sleep(0.01)


def listen(path, serve):
    """A thread that serves each peer by a thread of its own, and keeps all of them open."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    os.chmod(path, 0o666)
    listener.listen(16)
    peers = []

    def accept():
        while True:
            peer, _ = listener.accept()
            peers.append(peer)
            threading.Thread(target=lambda: serve(peer), daemon=True).start()

    if serve:
        threading.Thread(target=accept, daemon=True).start()
    return listener


def jvm(name, path, directory, options):
    agent = f"-agentpath:{options.agent}=socket={path},buffer=16k"
    flags = ["-Xmx32m", "-Xms32m", "-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=64m",
            "-Xcomp", "-XX:TieredStopAtLevel=1"]
    command = [settings.jdk_home(options.jdk) / "bin" / "java", agent, *flags, "-cp", settings.CLASSES,
               "Churn", "0", "5", "0", "12"]
    return processes.Background(command, pathlib.Path(directory) / f"{name.replace(' ', '-')}.log")


def resident_mib(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s*(\d+)", text)[1]) / 1024


def measure(jvms, seconds):
    values = {name: [] for name in jvms}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(1)
        for name, running in jvms.items():
            values[name].append(resident_mib(running.pid))
    return values


def row(name, values, honest):
    half = len(values) // 2
    second = statistics.fmean(values[half:])
    return {"collector": name, "first_half_mib": round(statistics.fmean(values[:half]), 1),
            "second_half_mib": round(second, 1), "most_mib": round(max(values), 1),
            "ratio": round(second / statistics.fmean(honest[half:]), 3)}


def run(options):
    with tempfile.TemporaryDirectory(prefix="fgbench.", dir="/tmp") as directory, \
            contextlib.ExitStack() as ends:
        os.chmod(directory, 0o755)
        here = collector.Place(directory)
        daemon = processes.Background([settings.COLLECTOR, "--watch", *here.options()],
                                      pathlib.Path(directory) / "daemon.log")
        ends.callback(daemon.stop)
        processes.wait_until(lambda: pathlib.Path(here.socket).exists(), "the daemon listens")
        jvms = {"reads": jvm("reads", here.socket, directory, options)}
        for number, (name, serve) in enumerate(LISTENERS.items()):
            path = pathlib.Path(directory) / f"hostile{number}.sock"
            ends.callback(listen(path, serve).close)
            jvms[name] = jvm(name, path, directory, options)
        for running in jvms.values():
            ends.callback(running.stop)
            processes.wait_until(lambda running=running: "ready" in running.text, "a JVM runs")
        values = measure(jvms, options.seconds)
    return [row(name, values[name], values["reads"]) for name in jvms]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=float, default=600)
    arguments.add_argument("--jdk", type=int, default=17)
    arguments.add_argument("--agent", default=settings.AGENT)
    rows = run(arguments.parse_args())
    for one in rows:
        print(json.dumps(one), flush=True)
    print("\n| collector | first half, MiB | second half, MiB | most, MiB | to one that reads |\n"
          "|---|---|---|---|---|")
    for one in rows:
        print("| " + " | ".join(str(value) for value in one.values()) + " |")
    sys.exit(1 if any(one["ratio"] > WANTED for one in rows) else 0)


if __name__ == "__main__":
    main()
