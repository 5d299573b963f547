# SPDX-License-Identifier: Apache-2.0
"""The daemon that samples without end: its graphs, its metrics, its messages to the service
manager."""

import json
import os
import pathlib
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request

from harness import collector, processes, settings
from harness.case import Case
from harness.folded import Folded, tolerance
from harness.marks import measured

SILENT_FILES = pathlib.Path(__file__).with_name("silent_files.py")
NAME = re.compile(r"^\d{8}T\d{6}Z-[\w.]{1,16}-[\w.-]+-(\d+)(\.\d+)?\.\w+$")


def url_of(daemon):
    return re.search(r"http://\S+(?=/metrics)", daemon.text)[0]


def get(url, timeout=10):
    with urllib.request.urlopen(url, timeout=timeout) as answer:
        return answer.read().decode()


def metrics_of(daemon):
    """The metrics by name with labels, after promtool has checked them."""
    text = get(url_of(daemon) + "/metrics")
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                             capture_output=True, check=False)
    if checked.returncode or checked.stdout or checked.stderr:
        raise AssertionError(f"promtool: {checked}\n{text}")
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
            for line in text.splitlines() if not line.startswith("#")}


class Daemon(Case):
    def setUp(self):
        super().setUp()
        self.graphs = self.directory / "graphs"
        self.graphs.mkdir()

    def files(self):
        """The latest graph of each PID, by the PID in the graph's name."""
        names = sorted(path for path in self.graphs.iterdir()
                       if not path.name.startswith(".") and path.name != "index.html")
        for path in names:
            self.assertRegex(path.name, NAME)
        return {int(NAME.match(path.name)[1]): path for path in names}

    def host_jvm(self, *args):
        jvm = self.background(self.java(*args, agent=f"socket={self.place.socket}"), "java")
        processes.wait_until(lambda: "ready" in jvm.text, "the JVM is warm")
        return jvm

    def end_period(self, daemon):
        os.kill(daemon.pid, signal.SIGHUP)

    def test_each_jvm_has_a_graph_a_period_and_recordings_go_on_beside(self):
        daemon = self.watch("-o", self.graphs, "--format", "folded", "-F", 99, "--http", "0")
        container = self.container("KnownShare")
        jvm = self.host_jvm("KnownShare")
        container.wait_for_line("ready")
        pids = {container.pid, jvm.pid}
        for pid in pids:
            daemon.wait_for_jvm(pid)
        self.end_period(daemon)
        processes.wait_until(lambda: pids <= set(self.files()),
                             lambda: f"a graph each; there is {self.files()}\n{daemon.text}")
        warm_up = self.files()
        recorded = collector.record(self.place, "-p", jvm.pid, seconds=4, hz=199).folded
        self.end_period(daemon)
        processes.wait_until(lambda: all(self.files()[pid] != warm_up[pid] for pid in pids),
                             "a graph each of the next period")
        files = self.files()
        self.assertRegex(files[container.pid].name, f"-{container.id[:12]}-.+-KnownShare-")
        self.assertIn("-java-KnownShare-", files[jvm.pid].name)
        own = Folded.read(files[jvm.pid])
        for folded in (own, recorded):
            self.assertGreater(folded.samples, 50)
            share = folded.with_method("KnownShare$Hot.run") / folded.samples
            self.assertAlmostEqual(share, 0.6, delta=tolerance(0.6, folded.samples, sigmas=4),
                                   msg=folded.top())
        # Half as often, and for a little longer: what each took is what it asked for.
        self.assertGreater(own.samples, 0.3 * recorded.samples)
        self.assertLess(own.samples, recorded.samples)
        values = metrics_of(daemon)
        label = f'{{pid="{container.pid}",container="{container.id}"}}'
        self.assertGreater(values[f"fgcollect_jvm_code_loads_total{label}"], 100)
        self.assertGreaterEqual(values["fgcollect_samples_total"], own.samples)
        self.assertEqual(values["fgcollect_graphs_failed_total"], 0)
        self.assertEqual(get(url_of(daemon) + "/healthz"), "ok\n")
        listed = json.loads(daemon.list("--json").out)["collector"]
        self.assertGreaterEqual(listed["watch"]["graphs_written"], 2)
        self.assertIn("samples of the daemon", self.assert_balances(listed))
        self.assertGreater(listed["watch"]["samples"], 100, listed["watch"])

    def test_a_full_disk_costs_graphs_and_not_the_daemon(self):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "fg-test", self.graphs],
                       check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.graphs], check=False)
        daemon = self.watch("-o", self.graphs, "-F", 99, "--http", "0", "-v")
        jvm = self.host_jvm("Primes")
        daemon.wait_for_jvm(jvm.pid)
        for number in (1, 2):
            time.sleep(1)
            self.end_period(daemon)
            processes.wait_until(lambda n=number: daemon.text.count("cannot write") == n,
                                 lambda: f"an error a period:\n{daemon.text}")
        self.assertIn("No space left on device", daemon.text)
        self.assertEqual(self.files(), {})
        subprocess.run(["mount", "-o", "remount,size=8m", self.graphs], check=True)
        time.sleep(1)
        self.end_period(daemon)
        processes.wait_until(lambda: jvm.pid in self.files(), "the next graph is written")
        processes.wait_until(
            lambda: metrics_of(daemon)["fgcollect_graphs_written_total"] >= 1, "it is counted")
        self.assertGreaterEqual(metrics_of(daemon)["fgcollect_graphs_failed_total"], 2)
        self.assertEqual(daemon.text.count("cannot write"), 2)

    def test_http_clients_that_hang_do_no_harm(self):
        daemon = self.watch("--http", "127.0.0.1:0")
        host, port = url_of(daemon).removeprefix("http://").split(":")
        address = (host, int(port))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(1000):
            with socket.create_connection(address) as reset:
                reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        slow = [socket.socket() for _ in range(300)]
        for client in slow:
            client.setblocking(False)
            client.connect_ex(address)
        time.sleep(0.5)
        for client in slow:
            try:
                client.send(b"GET /met")
            except OSError:
                pass
        self.assertLess(len(os.listdir(f"/proc/{daemon.pid}/fd")), 224 + 40)
        self.assertEqual(daemon.list().code, 0)
        for client in slow:
            client.close()
        processes.wait_until(lambda: self.answers(daemon), "it answers again")
        for garbage in (os.urandom(5000), b"GET /" + b"a" * 100000, b"\r\n" * 5000,
                        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 5000,
                        b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n"):
            with socket.create_connection(address, timeout=5) as client:
                try:
                    client.sendall(garbage)
                    client.shutdown(socket.SHUT_WR)
                    self.assertLess(len(client.recv(65536)), 1000)
                except OSError:
                    pass
        for method, path, code in (("POST", "/metrics", 405), ("DELETE", "/metrics", 405),
                                   ("GET", "/etc/passwd", 404), ("GET", "/metrics/", 404)):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(url_of(daemon) + path,
                                                              method=method), timeout=10)
            self.assertEqual(refused.exception.code, code)
        processes.wait_until(lambda: metrics_of(daemon)["fgcollect_http_refused_total"] >= 4,
                             "what was refused is counted")
        processes.wait_until(lambda: metrics_of(daemon)["fgcollect_http_connections_open"] < 3,
                             "none of them is left")

    @staticmethod
    def answers(daemon):
        try:
            return get(url_of(daemon) + "/healthz", timeout=2) == "ok\n"
        except OSError:
            return False

    def test_a_client_that_dribbles_is_ended(self):
        daemon = self.watch("--http", "127.0.0.1:0")
        host, port = url_of(daemon).removeprefix("http://").split(":")
        start = time.monotonic()
        with socket.create_connection((host, int(port)), timeout=0.5) as client:
            while time.monotonic() - start < 20:
                try:
                    client.sendall(b"G")
                    if client.recv(100) == b"":
                        break
                except TimeoutError:
                    continue
                except OSError:
                    break
        self.assertLess(time.monotonic() - start, 10)
        processes.wait_until(lambda: metrics_of(daemon)["fgcollect_http_expired_total"] == 1,
                             "it is counted")

    def test_memory_that_never_answers_holds_nobody_up(self):
        daemon = self.watch()
        jvm = self.host_jvm("KnownShare")
        daemon.wait_for_jvm(jvm.pid)
        silent = [self.silent_program([settings.BUILD / "tests/e2e/silent_stack"], f"silent{i}")
                  for i in range(3)]
        for program in silent:
            processes.wait_until(lambda program=program: "ready" in program.text, "it spins")
        recording = collector.record(self.place, "-a", seconds=4)
        self.assertGreater(recording.folded.of_root("KnownShare").samples, 20, str(recording))
        named = recording.folded.of_root("KnownShare").count(lambda frame: frame == "start_thread")
        self.assertGreater(named, 0.95 * recording.folded.of_root("KnownShare").samples)
        guarded = daemon.list_json()["collector"]["guarded"]
        self.assertGreater(guarded["late_calls"], 0, guarded)
        self.assertGreater(guarded["paused_calls"], 0, guarded)
        self.assertLessEqual(guarded["unanswered"], 4, guarded)
        ended = daemon.stop()
        self.assertEqual(ended.code, 0, str(ended))

    @measured
    def test_a_host_on_which_nothing_begins_hardly_wakes_it(self):
        """Programs of the host that begin wake the loop too, so the quietest of some stretches
        counts."""
        def woken():
            status = pathlib.Path(f"/proc/{daemon.pid}/status").read_text()
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.MULTILINE)[1])

        daemon = self.watch("--store", self.directory / "store")
        jvm = self.background(self.java("-Xint", "Hello", "60000",
                                        agent=f"socket={self.place.socket}"), "java")
        daemon.wait_for_jvm(jvm.pid)
        rates = []
        for _ in range(8):
            before = woken()
            time.sleep(2)
            rates.append((woken() - before) / 2)
        print(f"wake-ups of the loop a second: {rates}")
        self.assertLess(min(rates), 50)

    def test_tmp_that_never_answers_holds_nobody_up(self):
        """One process has an agent, so its perf map is looked for that would hide ours; the other
        one has none, so a perf map of its own is looked for."""
        daemon = self.watch()
        jvm = self.host_jvm("KnownShare")
        daemon.wait_for_jvm(jvm.pid)
        for i, agent in enumerate((f"socket={self.place.socket}", None)):
            own = self.background(["unshare", "--mount", *self.java("Primes", agent=agent)],
                                  f"silent{i}")
            processes.wait_until(lambda own=own: "ready" in own.text, "the JVM is warm")
            tmp = self.silent_program(["nsenter", "--target", own.pid, "--mount", sys.executable,
                                       SILENT_FILES, "/tmp"], f"tmp{i}")
            processes.wait_until(lambda tmp=tmp: "ready" in tmp.text, "/tmp is silent")
        recording = collector.record(self.place, "-a", seconds=4)
        known = recording.folded.of_root("KnownShare")
        self.assertGreater(known.samples, 20, str(recording))
        named = known.count(lambda frame: frame == "start_thread")
        self.assertGreater(named, 0.95 * known.samples, str(recording))
        processes.wait_until(lambda: daemon.list_json()["collector"]["guarded"]["late_calls"] >= 2,
                             "both were looked for")
        guarded = daemon.list_json()["collector"]["guarded"]
        self.assertLessEqual(guarded["unanswered"], 4, guarded)
        self.assertEqual(daemon.stop().code, 0)
        again = self.watch()
        again.wait_for_jvm(jvm.pid)
        self.assertEqual(again.stop().code, 0)

    def test_the_service_manager_and_the_journal_are_told(self):
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(str(self.directory / "notify"))
        manager.settimeout(settings.DEADLINE_SEC)
        log = self.directory / "journal.log"
        with open(log, "wb") as out:
            place = os.fstat(out.fileno())
            env = processes.environment({
                "NOTIFY_SOCKET": str(self.directory / "notify"), "WATCHDOG_USEC": "400000",
                "JOURNAL_STREAM": f"{place.st_dev}:{place.st_ino}"})
            child = subprocess.Popen([settings.COLLECTOR, "--watch", *map(str, self.place.options())],
                                     stdin=subprocess.DEVNULL, stderr=out, env=env)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        words = [manager.recv(4096).decode() for _ in range(5)]
        self.assertEqual(words[0], "READY=1")
        self.assertIn("STATUS=0 JVMs", words)
        self.assertGreaterEqual(words.count("WATCHDOG=1"), 2)
        child.send_signal(signal.SIGTERM)
        while not (word := manager.recv(4096).decode()).startswith("STOPPING=1"):
            self.assertEqual(word, "WATCHDOG=1")
        self.assertEqual(child.wait(settings.DEADLINE_SEC), 0)
        for line in log.read_text().splitlines():
            self.assertRegex(line, r"^<[3467]>fgcollect: ")
