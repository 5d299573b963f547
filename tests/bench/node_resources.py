# SPDX-License-Identifier: Apache-2.0
"""What the collector of a node needs: what requests and limits of the DaemonSet follow from.

The daemon has the arguments that docker/kubernetes gives it with store, push and metrics, is asked
for /metrics each 15 s, and pushes to a server beside it. For each number of JVMs, prints the CPU time
of daemon and parsers as a share of one core, once while all starts and once in a steady state, and
the most memory (Pss) of all of them together; then the same memory while the server is down. Run
as root, from a build with optimisation.
"""

import argparse
import contextlib
import os
import pathlib
import re
import sys
import threading
import time
import urllib.request

from bench_place import busy_jvms, place, processes, settings

# pylint: disable=wrong-import-position
from harness import manifests  # noqa: E402
from harness.push_server import PushServer  # noqa: E402

KUBERNETES = settings.SOURCE / "docker" / "kubernetes"
FOLDERS = ("overlays/store", "components/push", "components/metrics")
TICKS = os.sysconf("SC_CLK_TCK")

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--jvms", type=int, action="append", help="may be repeated; 1 and 20")
arguments.add_argument("--seconds", type=int, default=120, help="of each state")
arguments.add_argument("--settle", type=int, default=30, help="seconds after the start")
arguments.add_argument("--program", default="Mixed")
arguments.add_argument("--kind", default="cpu")
options = arguments.parse_args()


def args_of_manifest(here, server, port):
    documents = []
    for folder in FOLDERS:
        documents = manifests.build(KUBERNETES / folder, documents)
    args = manifests.containers(manifests.of_kind("DaemonSet", documents))[0]["args"]
    config, rules = here.directory / "push.yaml", here.directory / "relabel.yaml"
    config.write_text(f"targets:\n- url: {server.url('pyroscope')}\n")
    rules.write_text("relabel_configs: []\n")
    places = {"/etc/fgcollect/push/push.yaml": config, "/etc/fgcollect/push/relabel.yaml": rules,
              "/var/lib/fgcollect-push": here.directory / "spool",
              "/var/lib/fgcollect": here.directory / "store", "[$(POD_IP)]:9464": f"127.0.0.1:{port}"}
    return [option if not equals else f"{option}={places.get(value, value)}"
            for option, equals, value in (arg.partition("=") for arg in args)]


class Needs:
    """CPU time and proportional memory (Pss) of a process and its children, looked at each half second."""

    def __init__(self, pid):
        self.pid, self.most_bytes, self.ends = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def tree(self):
        pids = [self.pid]
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # the thread has ended
                pids += [int(word) for word in (task / "children").read_text().split()]
        return pids

    def cpu_seconds(self):
        """With that of children that have ended, and of those that run."""
        total = 0
        for pid in self.tree():
            try:
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            total += sum(int(field) for field in fields[11:15 if pid == self.pid else 13])
        return total / TICKS

    def look(self):
        while not self.ends.wait(0.5):
            total = 0
            for pid in self.tree():
                try:
                    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
                except OSError:
                    continue
                total += int(re.search(r"^Pss: +(\d+)", text, re.M)[1]) * 1024
            self.most_bytes = max(self.most_bytes, total)

    def stop(self):
        self.ends.set()
        self.thread.join()


def scrape(port, ends, scraped):
    while not ends.wait(15):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read()
            scraped.append(time.monotonic())


def share(needs, seconds):
    before, start = needs.cpu_seconds(), time.monotonic()
    time.sleep(seconds)
    return 100 * (needs.cpu_seconds() - before) / (time.monotonic() - start)


def measure(count, port=19464):
    server = PushServer()
    with place() as here:
        daemon = processes.Background(
            [settings.COLLECTOR, "--watch", *args_of_manifest(here, server, port),
             f"--kind={options.kind}", *here.options()], here.directory / "watch.log")
        needs, ends, scraped = Needs(daemon.pid), threading.Event(), []
        try:
            processes.wait_until(lambda: "watching at" in daemon.text, lambda: daemon.text)
            threading.Thread(target=scrape, args=(port, ends, scraped), daemon=True).start()
            before, start = needs.cpu_seconds(), time.monotonic()
            with busy_jvms(here, options.program, count):
                time.sleep(options.settle)
                starting = 100 * (needs.cpu_seconds() - before) / (time.monotonic() - start)
                steady = share(needs, options.seconds)
                sent, most = len(server.profiles), needs.most_bytes
                server.stop()
                down = share(needs, options.seconds)
                print(f"figure {count} JVMs of {options.program}, kinds {options.kind}: "
                      f"{starting:.2f} % of one core while they start, {steady:.2f} % then, "
                      f"{down:.2f} % while the server is down; {most / 2**20:.0f} MiB, "
                      f"{needs.most_bytes / 2**20:.0f} MiB with the server down; "
                      f"{sent} profiles sent, {len(scraped)} scrapes, errors {server.errors[:1]}", flush=True)
        finally:
            ends.set()
            needs.stop()
            daemon.stop()
            server.stop()


if __name__ == "__main__":
    for number in options.jvms or [1, 20]:
        measure(number)
    sys.exit(0)
