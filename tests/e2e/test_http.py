# SPDX-License-Identifier: Apache-2.0
"""The daemon's HTTP server under clients that mean harm, from the address of the probe."""

import http.client
import pathlib
import re
import socket
import sys
import time

from harness import processes
from harness.case import Case
from harness.marks import measured

CLIENTS = pathlib.Path(__file__).with_name("hanging_clients.py")
# The liveness probe of docker/kubernetes/overlays/graphs fails past that.
PROBE_SEC = 5
PROBES = 9
STARTS = 5


class Http(Case):
    def address_of(self, daemon):
        found = re.search(r"http://([\d.]+):(\d+)/metrics", daemon.text)
        return found[1], int(found[2])

    def ask(self, address, path, **headers):
        """The status and the text of an answer; Host is localhost unless given."""
        client = http.client.HTTPConnection(*address, timeout=PROBE_SEC)
        try:
            client.putrequest("GET", path, skip_host=True)
            for key, value in {"Host": "localhost", **headers}.items():
                client.putheader(key, value)
            client.endheaders()
            answer = client.getresponse()
            return answer.status, answer.read().decode()
        finally:
            client.close()

    def metric(self, address, name):
        text = self.ask(address, "/metrics")[1]
        return float(re.search(rf"^fgcollect_{name} (\S+)$", text, re.MULTILINE)[1])

    def check_probes_beside(self, address, kind, count):
        """Each of the probes is answered while those clients are there."""
        clients = self.background([sys.executable, CLIENTS, kind, count, 15, *address],
                                  f"{kind}{count}")
        processes.wait_until(lambda: "ready" in clients.text, "the clients have come")
        answered = []
        for _ in range(PROBES):
            time.sleep(0.2)
            try:
                answered.append(self.ask(address, "/healthz")[0])
            except (OSError, http.client.HTTPException) as error:
                answered.append(error)
        self.assertEqual(answered, [200] * PROBES, f"{count} clients: {kind}")
        self.assertIsNone(clients.code, clients.text)
        clients.stop()

    def check_daemon_beside(self, count):
        daemon = self.watch("--http", "127.0.0.1:0")
        address = self.address_of(daemon)
        for kind in ("idle", "half", "slow", "unread", "kept"):
            with self.subTest(kind=kind):
                self.check_probes_beside(address, kind, count)
        processes.wait_until(lambda: self.metric(address, "http_evicted_total") > 0,
                             "those whose place was needed are counted")
        watch = daemon.list_json()["collector"]["watch"]
        self.assertGreater(watch["http_evicted"], 0, watch)
        processes.wait_until(lambda: self.metric(address, "http_connections_open") < 3,
                             "none of them is left")

    @measured
    def test_probes_are_answered_beside_300_clients_that_hang(self):
        self.check_daemon_beside(300)

    @measured
    def test_probes_are_answered_beside_1000_clients_that_hang(self):
        self.check_daemon_beside(1000)

    def test_there_are_metrics_from_the_first_request_on(self):
        for _ in range(STARTS):
            daemon = self.watch("--http", "127.0.0.1:0", started=False)
            processes.wait_until(lambda: "/metrics\n" in daemon.text, "it says where", every=0)
            status, text = self.ask(self.address_of(daemon), "/metrics")
            self.assertEqual(status, 200, text)
            self.assertIn("\nfgcollect_jvms 0\n", text)
            daemon.stop()

    def test_only_requests_for_this_host_are_answered(self):
        daemon = self.watch("--http", "127.0.0.1:0", "--http-host", "metrics.example",
                            "--http-host=*.svc")
        address = self.address_of(daemon)
        for host in (f"127.0.0.1:{address[1]}", "[::1]:9464", "localhost", socket.gethostname(),
                     "metrics.example:9464", "fgcollect.fgcollect.svc"):
            self.assertEqual(self.ask(address, "/healthz", Host=host)[0], 200, host)
        for host in ("evil.example", f"evil.example:{address[1]}", "metrics.example.evil", "svc"):
            for path in ("/healthz", "/metrics", "/"):
                status, text = self.ask(address, path, Host=host)
                self.assertEqual(status, 421, host)
                self.assertIn("--http-host", text)
        processes.wait_until(lambda: self.metric(address, "http_misdirected_total") == 12,
                             "they are counted")
        self.assertIn('the host "evil.example"', daemon.text)
