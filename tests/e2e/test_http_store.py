# SPDX-License-Identifier: Apache-2.0
"""What is stored, over HTTP: the same as the commands say, for those who may see it."""

import base64
import contextlib
import http.client
import json
import os
import re
import socket
import sqlite3
import ssl
import stat
import subprocess
import time

from harness import collector, processes, settings
from harness.case import Case

TOKEN = "correct-horse-battery-staple"
FORMATS = ("html", "svg", "folded", "pb.gz", "speedscope.json", "perf.txt", "firefox.json", "fgrec")
COMPARED = ("html", "svg", "folded", "pb.gz")
MANY = 2000


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class HttpStore(Case):
    def setUp(self):
        super().setUp()
        self.store = self.directory / "store"
        self.connect = None     # makes a connection to the daemon

    def serve(self, *args, http="127.0.0.1:0", started=True):
        daemon = self.watch("--store", self.store, "--store-window", "1s", "-F", 99, "--http",
                            http, *args, started=started)
        found = re.search(r"(https?)://[\d.]+:(\d+)/metrics", daemon.text) if started else None
        if found:
            port = int(found[2])
            self.connect = lambda: http_client(port)
        return daemon

    def host_jvm(self, program):
        jvm = self.background(self.java(program, agent=f"socket={self.place.socket}"), program)
        processes.wait_until(lambda: "ready" in jvm.text, "the JVM is warm")
        return jvm

    def ask(self, path, method="GET", connection=None, **headers):
        """Status, headers and bytes."""
        connection = connection or self.connect()
        with contextlib.closing(connection):
            connection.request(method, path, headers={key.replace("_", "-"): value
                                                      for key, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def ask_json(self, path, status=200, **headers):
        got, _, body = self.ask(path, **headers)
        self.assertEqual(got, status, body)
        return json.loads(body)

    def watch_of(self, daemon):
        return daemon.list_json()["collector"]["watch"]

    def row_of(self, pid):
        rows = self.ask_json("/api/v1/processes")["processes"]
        return next((row for row in rows if row["pid"] == pid), None)

    def wait_for_samples(self, pid, count):
        def samples():
            row = self.row_of(pid)
            return sum(kind["samples"] for kind in row["kinds"]) if row else 0
        processes.wait_until(lambda: samples() >= count, lambda: f"{samples()} are stored")

    def past_range(self, seconds):
        """A range of whole seconds that no window is written of any more."""
        end = int(time.time())
        time.sleep(4)
        return end - seconds, end

    def draw(self, command, suffix, *args):
        path = self.directory / f"x.{suffix}"
        finished = collector.fgcollect(command, "--store", self.store, "-o", path, *args)
        self.assertEqual(finished.code, 0, str(finished))
        return path.read_bytes()

    def test_files_are_those_that_the_commands_write(self):
        self.serve()
        jvm = self.host_jvm("KnownShare")
        self.wait_for_samples(jvm.pid, 900)
        begin, end = self.past_range(8)
        middle = begin + 4
        times = [utc(t) for t in (begin, middle, end)]
        for suffix in FORMATS:
            status, headers, body = self.ask(
                f"/api/v1/graph?pid={jvm.pid}&from={begin}000&to={end}000&format={suffix}")
            self.assertEqual(status, 200, body)
            self.assertEqual(body, self.draw("render", suffix, "-p", jvm.pid, "--from", times[0],
                                             "--to", times[2]), suffix)
            saved = headers["Content-Disposition"] or ""
            self.assertEqual(saved.endswith(f'.{suffix}"'), suffix != "html", saved)
        for suffix in COMPARED:
            status, _, body = self.ask(
                f"/api/v1/diff?pid={jvm.pid}&from={middle}000&to={end}000&before-from={begin}000"
                f"&before-to={middle}000&format={suffix}")
            self.assertEqual(status, 200, body)
            self.assertEqual(body, self.draw("diff", suffix, "-p", jvm.pid, "--from", times[1],
                                             "--to", times[2], "--before-from", times[0],
                                             "--before-to", times[1]), suffix)

    def test_lists_and_heat_maps_say_what_history_says(self):
        self.serve()
        jvm = self.host_jvm("KnownShare")
        self.wait_for_samples(jvm.pid, 500)
        begin, end = self.past_range(6)
        listed = json.loads(collector.fgcollect(
            "history", "--json", "--store", self.store, "--from", utc(begin), "--to", utc(end),
            "-p", jvm.pid).out)["processes"][0]
        row = self.ask_json(f"/api/v1/processes?pid={jvm.pid}&from={begin}000&to={end}000")
        row = row["processes"][0]
        for key in ("title", "runtime", "comm", "host", "labels", "bytes", "segments"):
            self.assertEqual(row[key], listed[key], key)
        self.assertEqual(row["kinds"][0]["samples"], listed["kinds"][0]["samples"])
        self.assertTrue(row["is_live"], row)
        folded = self.draw("render", "folded", "-p", jvm.pid, "--from", utc(begin), "--to",
                           utc(end))
        samples = sum(int(line.rsplit(b" ", 1)[1]) for line in folded.splitlines())
        heat = self.ask_json(f"/api/v1/heat?process={row['key']}&from={begin}000&to={end}000"
                             "&columns=6&rows=20")
        self.assertEqual(heat["total"] + heat["untimed"], samples, heat)
        self.assertEqual(sum(cell or 0 for cell in heat["cells"]), heat["total"])
        self.assertEqual(len(heat["cells"]), 120)
        whole = self.ask_json("/api/v1/store")
        self.assertEqual((whole["window_ms"], whole["kinds"]), (1000, ["cpu"]))
        self.assertLessEqual(whole["first_ms"], row["first_ms"])

    def test_bad_requests_are_told_and_change_nothing(self):
        daemon = self.serve()
        jvm = self.host_jvm("KnownShare")
        self.wait_for_samples(jvm.pid, 100)
        for path, status, text in (
                ("graph", 400, "from says from when"),
                ("graph?from=yesterday", 400, "no such time"),
                ("graph?from=-1h&format=exe", 400, "no such format"),
                ("graph?from=-1h&o=%2Fetc%2Fpasswd", 400, "no such parameter"),
                ("graph?from=-1h&to=-2h", 400, "is not after"),
                ("graph?from=2001-01-01&to=2001-01-02", 404, "no samples"),
                ("graph?from=2250-01-01", 404, "no samples"),
                ("graph?from=-1h&jvm=NoSuchClass", 404, "no samples"),
                ("graph?from=-1h&jvm=%28", 400, "regular expression"),
                ("graph?from=-1h&kind=%00", 400, "NUL"),
                ("diff?from=-1h", 400, "two sides"),
                ("diff?from=-1h&before-from=-2h&format=perf.txt", 400, "one count"),
                ("heat?columns=100000", 400, "a number from 1"),
                ("heat?columns=2000&rows=2000", 400, "cells"),
                ("processes?process=..%2F..", 400, "a key"),
                ("processes?" + "&".join(["label=a%3Db"] * 9), 400, "one label too many"),
                ("nothing", 404, "/api/v1/")):
            got = self.ask_json(f"/api/v1/{path}", status)
            self.assertIn(text, got["error"], path)
        self.assertEqual(self.ask("/api/v1/store?" + "x" * 70000)[0], 414)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            self.assertEqual(self.ask("/api/v1/store", method=method)[0], 405, method)
        for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200)):
            self.assertEqual(self.ask("/api/v1/store", Sec_Fetch_Site=site)[0], status, site)
        self.assertEqual(self.ask("/api/v1/store", Host="evil.example")[0], 421)
        empty = self.ask_json("/api/v1/processes?from=2001-01-01&to=2001-01-02")
        self.assertEqual(empty["processes"], [])
        self.assertEqual(self.watch_of(daemon)["queries_failed"], 0)

    def test_a_store_of_a_later_version_is_told(self):
        self.serve()
        jvm = self.host_jvm("KnownShare")
        self.wait_for_samples(jvm.pid, 50)
        with contextlib.closing(sqlite3.connect(self.store / "index.db")) as index:
            index.execute("PRAGMA user_version = 99")
        got = self.ask_json("/api/v1/store", 500)
        self.assertIn("a later version of fgcollect has written this store", got["error"])

    def test_without_a_store_there_are_metrics_alone(self):
        daemon = self.watch("--http", "127.0.0.1:0")
        port = int(re.search(r":(\d+)/metrics", daemon.text)[1])
        self.connect = lambda: http_client(port)
        self.assertEqual(self.ask("/metrics")[0], 200)
        self.assertIn("--store DIR", self.ask_json("/", 404)["error"])
        self.assertIn("--store DIR", self.ask_json("/api/v1/store", 404)["error"])

    # ---- who may look ----

    def test_a_unix_socket_is_for_the_daemons_user(self):
        path = self.directory / "page.sock"
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as stale:
            stale.bind(str(path))
        self.serve(http=f"unix:{path}")
        self.connect = lambda: UnixConnection(path)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual(self.ask_json("/api/v1/store")["kinds"], [])
        self.assertEqual(self.ask("/api/v1/store", Host="any.example")[0], 421)
        self.assertEqual(self.ask("/", Host="any.example")[0], 421)
        self.assertEqual(self.ask("/metrics")[0], 200)
        tried = subprocess.run(
            ["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c",
             f"import socket; socket.socket(socket.AF_UNIX).connect('{path}')"],
            stderr=subprocess.PIPE, text=True, check=False)
        self.assertIn("PermissionError", tried.stderr)

    def test_elsewhere_than_on_loopback_there_are_metrics_alone(self):
        self.serve(http="0.0.0.0:0")
        self.assertEqual(self.ask("/metrics")[0], 200)
        self.assertEqual(self.ask("/healthz")[0], 200)
        for path in ("/", "/api/v1/store"):
            self.assertIn("--http-token-file", self.ask_json(path, 403)["error"])

    def write_token(self, token=TOKEN, mode=0o600):
        path = self.directory / "token"
        path.write_text(token + "\n")
        path.chmod(mode)
        return path

    def test_a_token_is_asked_for_and_may_change(self):
        token = self.write_token()
        daemon = self.serve("--http-token-file", token)
        status, headers, _ = self.ask("/")
        self.assertEqual(status, 401)
        self.assertTrue(headers["WWW-Authenticate"].startswith("Basic "))
        basic = base64.b64encode(f"me:{TOKEN}".encode()).decode()
        for header, status in ((f"Bearer {TOKEN}", 200), (f"Basic {basic}", 200),
                               (f"Bearer {TOKEN}x", 401), (f"Bearer {TOKEN[:-1]}", 401),
                               ("Bearer", 401), ("Basic =", 401), ("Digest x", 401)):
            self.assertEqual(self.ask("/api/v1/store", Authorization=header)[0], status, header)
        self.assertEqual(self.ask("/metrics")[0], 200)
        self.write_token("another-token-of-the-day")
        processes.wait_until(
            lambda: self.ask("/api/v1/store", Authorization=f"Bearer {TOKEN}")[0] == 401,
            "the new token is read")
        self.assertEqual(self.ask("/api/v1/store",
                                  Authorization="Bearer another-token-of-the-day")[0], 200)
        token.chmod(0o644)
        processes.wait_until(lambda: "others may read or write it" in daemon.text, "it is said")
        self.assertEqual(self.ask("/api/v1/store",
                                  Authorization="Bearer another-token-of-the-day")[0], 401)
        self.assertGreater(self.watch_of(daemon)["http_denied"], 5)

    def test_bad_ways_to_ask_who_it_is_end_the_start(self):
        token = self.write_token()
        for args, http, code, text in (
                (("--http-token-file", token), "0.0.0.0:0", 2, "everybody on the way"),
                (("--http-token-file", self.directory / "none"), "127.0.0.1:0", 1, "No such file"),
                (("--http-cert", token), "0.0.0.0:0", 2, "goes with --http-key"),
                (("--http-client-ca", token), "0.0.0.0:0", 2, "goes with --http-cert"),
                (("--http-cert", token, "--http-key", token), "0.0.0.0:0", 1, "--http-cert"),
                ((), "unix:relative", 2, "unix:/PATH")):
            daemon = self.serve(*args, http=http, started=False)
            processes.wait_until(lambda d=daemon: d.child.poll() is not None, "it ends")
            self.assertEqual(daemon.child.poll(), code, daemon.text)
            self.assertIn(text, daemon.text)
        token.chmod(0o644)
        daemon = self.serve("--http-token-file", token, started=False)
        processes.wait_until(lambda: daemon.child.poll() is not None, "it ends")
        self.assertIn("chmod 600", daemon.text)

    def openssl(self, *args):
        subprocess.run(["openssl", *map(str, args)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, cwd=self.directory)

    def make_ca(self, name):
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 2, "-subj",
                     f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")

    def make_certificate(self, name, ca, usage):
        extensions = self.directory / f"{name}.ext"
        extensions.write_text(f"extendedKeyUsage={usage}\n"
                              "subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        self.openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout",
                     f"{name}.key", "-out", f"{name}.csr")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.pem", "-CAkey",
                     f"{ca}.key", "-CAcreateserial", "-days", 2, "-extfile", extensions, "-out",
                     f"{name}.pem")

    def tls_client(self, port, name=None):
        """A connection that trusts the CA, and shows the certificate of that name."""
        context = ssl.create_default_context(cafile=self.directory / "ca.pem")
        if name:
            context.load_cert_chain(self.directory / f"{name}.pem", self.directory / f"{name}.key")
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=context)

    def test_over_tls_a_token_or_a_certificate_is_shown(self):
        self.make_ca("ca")
        self.make_ca("other")
        self.make_certificate("server", "ca", "serverAuth")
        self.make_certificate("client", "ca", "clientAuth")
        self.make_certificate("wrong", "ca", "serverAuth")
        self.make_certificate("stranger", "other", "clientAuth")
        at = self.directory
        daemon = self.serve("--http-cert", at / "server.pem", "--http-key", at / "server.key",
                            "--http-client-ca", at / "ca.pem", "--http-token-file",
                            self.write_token(), "--http", f"unix:{at / 'page.sock'}",
                            http="0.0.0.0:0")
        port = int(re.search(r"https://0\.0\.0\.0:(\d+)/metrics", daemon.text)[1])
        for name, status in ((None, 401), ("client", 200), ("wrong", 401), ("stranger", 401)):
            got = self.ask("/api/v1/store", connection=self.tls_client(port, name))[0]
            self.assertEqual(got, status, name)
        self.assertEqual(self.ask("/api/v1/store", connection=self.tls_client(port),
                                  Authorization=f"Bearer {TOKEN}")[0], 200)
        self.assertEqual(self.ask("/metrics", connection=self.tls_client(port))[0], 200)
        with self.assertRaises((http.client.HTTPException, OSError)):
            self.ask("/metrics", connection=http_client(port))
        for headers, status in (({}, 401), ({"Authorization": f"Bearer {TOKEN}"}, 200)):
            self.assertEqual(self.ask("/api/v1/store", connection=UnixConnection(at / "page.sock"),
                                      **headers)[0], status)

    # ---- clients that mean harm, and many processes ----

    def multiply(self):
        """Makes MANY processes of the one that is stored: links to its segments, and rows."""
        with contextlib.closing(sqlite3.connect(self.store / "index.db")) as index:
            index.execute("PRAGMA foreign_keys = ON")
            process = index.execute("SELECT * FROM processes ORDER BY id LIMIT 1").fetchone()
            columns = [c[1] for c in index.execute("PRAGMA table_info(processes)")]
            segments = index.execute(
                "SELECT id, name, start_ns, end_ns, bytes, made_sec FROM segments"
                " WHERE process = ? ORDER BY start_ns LIMIT 3", (process[0],)).fetchall()
            for n in range(MANY):
                row = dict(zip(columns, process), id=None, pid=100000 + n)
                added = index.execute(
                    f"INSERT INTO processes VALUES ({','.join('?' * len(row))})",
                    list(row.values())).lastrowid
                for old, name, *rest in segments:
                    copy = re.sub(r"-\d+-", f"-{100000 + n}-", name, count=1)
                    os.link(self.store / "segments" / name, self.store / "segments" / copy)
                    segment = index.execute("INSERT INTO segments VALUES (NULL,?,?,?,?,?,?,1)",
                                            (added, copy, *rest)).lastrowid
                    index.execute("INSERT INTO windows SELECT ?, kind, unit, samples, unnamed,"
                                  " unrooted FROM windows WHERE segment = ?", (segment, old))
            index.commit()

    def store_of_many(self):
        daemon = self.serve()
        jvm = self.host_jvm("KnownShare")
        self.wait_for_samples(jvm.pid, 300)
        daemon.stop()
        jvm.stop()
        self.multiply()
        return self.serve()

    def test_two_thousand_processes_are_listed_and_summed_up(self):
        self.store_of_many()
        listed = self.ask_json("/api/v1/processes?buckets=60")
        rows = [row for row in listed["processes"] if row["pid"] >= 100000]
        self.assertEqual(len(rows), MANY)
        self.assertEqual(len({row["key"] for row in rows}), MANY)
        self.assertEqual(listed["left_out"], 0)
        samples = sum(kind["samples"] for row in listed["processes"] for kind in row["kinds"])
        heat = self.ask_json("/api/v1/heat?columns=60&rows=10")
        self.assertEqual(heat["total"] + heat["untimed"], samples)
        some = "&".join(f"process={row['key']}" for row in rows[:400])
        heat = self.ask_json(f"/api/v1/heat?columns=60&rows=10&{some}")
        self.assertEqual(heat["total"] + heat["untimed"],
                         sum(kind["samples"] for row in rows[:400] for kind in row["kinds"]))

    def test_clients_that_hang_or_leave_or_are_many_keep_nobody_out(self):
        daemon = self.store_of_many()
        slow = b"GET /api/v1/heat?columns=100&rows=100 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        port = self.connect().port
        hanging = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        for client in hanging:
            client.sendall(slow)
        # Metrics and probes do not wait for them.
        for _ in range(9):
            self.assertEqual(self.ask("/healthz")[0], 200)
        processes.wait_until(lambda: self.watch_of(daemon)["queries_refused"] >= 100 - 32 - 3,
                             lambda: f"most are refused: {self.watch_of(daemon)}")
        self.assertLessEqual(self.watch_of(daemon)["queries_waiting"], 32)
        status, headers, _ = self.ask("/api/v1/heat")
        self.assertIn(status, (200, 503))
        if status == 503:
            self.assertEqual(headers["Retry-After"], "2")
        for client in hanging:
            client.close()
        processes.wait_until(lambda: self.ask("/api/v1/store")[0] == 200, "there is room again")

        def leave():
            """Asks and leaves, before all are answered."""
            leaving = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
            for client in leaving:
                client.sendall(slow)
            time.sleep(0.05)
            for client in leaving:
                client.close()
            return self.watch_of(daemon)["queries_cancelled"] > 10

        processes.wait_until(
            leave, lambda: "those who are gone are left: "
            f"{ {name: n for name, n in self.watch_of(daemon).items() if 'quer' in name} }")
        processes.wait_until(lambda: self.watch_of(daemon)["queries_begun"] == 0,
                             "nothing is done for them")
        self.assertEqual(self.watch_of(daemon)["query_answer_bytes"], 0)


def http_client(port):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=settings.DEADLINE_SEC)


def utc(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
