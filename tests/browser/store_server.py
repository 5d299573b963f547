# SPDX-License-Identifier: Apache-2.0
"""A server that answers as the daemon does, of processes and samples that a test makes up, and that is
slow, busy or wrong when the test says so. What it cannot say is whether the daemon answers so."""

import base64
import hashlib
import http.server
import json
import pathlib
import re
import threading
import time
import urllib.parse

WEB = pathlib.Path(__file__).resolve().parents[2] / "collector" / "web"
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>fgcollect</title>
<style>{css}</style>
</head>
<body>
<noscript>Scripts are needed.</noscript>
<script>{js}</script>
</body>
</html>
"""
HOSTILE = "<img src=x onerror=alert(1)>"


def application():
    """Its style and script, from the sources."""
    text = (WEB / "page" / "files.cmake").read_text()
    return ["".join((WEB / name).read_text() for name in re.search(rf"set\({which}\s+([^)]*)\)", text)[1].split())
            for which in ("web_page_css", "web_page_js")]


def policy_hash(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def process(key, pid, title, **more):
    """A row of /api/v1/processes."""
    return {"key": key, "pid": pid, "title": title, "runtime": "OpenJDK 17", "comm": "java", "host": "host",
            "container": "", "container_name": "", "pod": "", "namespace": "", "labels": {},
            "started_ms": more["first_ms"], "is_live": False, "bytes": 1000,
            "kinds": [{"name": "cpu", "unit": "samples", "samples": 1000, "unnamed": 0, "unrooted": 0}],
            "spark": [], **more}


class StoreServer(http.server.ThreadingHTTPServer):
    """now_ms stands still unless a test moves it. density(process, ms): samples a second, None: no window."""
    daemon_threads = True

    def __init__(self, processes, density, graph):
        super().__init__(("127.0.0.1", 0), Handler)
        self.processes, self.density, self.graph = processes, density, graph
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.now_ms = max(row["last_ms"] for row in processes)
        self.asked = []         # paths with queries, in their order
        self.busy = {}          # path: so many times 503
        self.errors = {}        # path: (status, sentence)
        self.delays = {}        # path: seconds
        self.finest_ms, self.window_ms = 15.625, 10000
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def asked_for(self, path):
        return [urllib.parse.parse_qs(urllib.parse.urlsplit(url).query) for url in self.asked
                if urllib.parse.urlsplit(url).path == path]

    def meant(self, query, start, end, prefix=""):
        def fits(row):
            if query.get(prefix + "process"):
                return row["key"] in query[prefix + "process"]
            labels = [label.split("=", 1) for label in query.get(prefix + "label", [])]
            pod = query.get(prefix + "pod", [""])[0]
            return (all(row["labels"].get(name) == value for name, value in labels)
                    and f"{row['namespace']}/{row['pod']}".startswith(pod))
        return [row for row in self.processes if row["last_ms"] > start and row["first_ms"] < end and fits(row)]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, kind="application/json", status=200, **headers):
        data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": len(data), "Cache-Control": "no-store",
                            "X-Content-Type-Options": "nosniff", **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        server, url = self.server, urllib.parse.urlsplit(self.path)
        server.asked.append(self.path)
        query = urllib.parse.parse_qs(url.query)
        if url.path == "/favicon.ico":
            self.answer(b"", "image/x-icon")
            return
        time.sleep(server.delays.get(url.path, 0))
        try:
            if server.busy.get(url.path, 0) > 0:
                server.busy[url.path] -= 1
                self.answer({"error": "too many queries"}, status=503, Retry_After=1)
            elif url.path in server.errors:
                status, sentence = server.errors[url.path]
                self.answer({"error": sentence}, status=status)
            else:
                self.answer_path(url.path, query)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def answer_path(self, path, query):
        start, end = (int(query.get(name, ["0"])[0]) for name in ("from", "to"))
        if path == "/":
            css, js = application()
            self.answer(PAGE.replace("{css}", css).replace("{js}", js), "text/html; charset=utf-8",
                        Content_Security_Policy=f"default-src 'none'; script-src 'sha256-{policy_hash(js)}'; "
                        f"style-src 'sha256-{policy_hash(css)}'; connect-src 'self'; frame-src 'self'; "
                        "frame-ancestors 'self'; base-uri 'none'; form-action 'none'")
        elif path == "/api/v1/store":
            rows = self.server.processes
            self.answer({"host": "host", "version": "1", "now_ms": self.server.now_ms,
                         "window_ms": self.server.window_ms,
                         "first_ms": min((row["first_ms"] for row in rows), default=0),
                         "last_ms": max((row["last_ms"] for row in rows), default=0),
                         "kinds": ["cpu"], "processes": len(rows), "bytes": 1})
        elif path == "/api/v1/processes":
            self.answer({"from_ms": start, "to_ms": end, "bucket_ms": 1, "now_ms": self.server.now_ms,
                         "left_out": 0, "processes": self.server.meant(query, start, end)})
        elif path == "/api/v1/heat":
            self.answer(self.heat(query, start, end))
        elif path in ("/api/v1/graph", "/api/v1/diff"):
            self.answer_graph(path, query, start, end)
        else:
            self.answer({"error": "no such page"}, status=404)

    def heat(self, query, start, end):
        columns, rows = (int(query[name][0]) for name in ("columns", "rows"))
        step = (end - start) / columns / rows
        meant = self.server.meant(query, start, end)
        cells = []
        for cell in range(columns * rows):
            found = [self.server.density(row, start + (cell + 0.5) * step) for row in meant]
            found = [density for density in found if density is not None]
            cells.append(round(sum(found) * step / 1000) if found else None)
        return {"from_ms": start, "to_ms": end, "kind": "cpu", "unit": "samples", "columns": columns, "rows": rows,
                "column_ms": step * rows, "row_ms": step, "finest_ms": self.server.finest_ms,
                "max": max((n for n in cells if n), default=0), "total": sum(n or 0 for n in cells), "cells": cells}

    def answer_graph(self, path, query, start, end):
        meant = self.server.meant(query, start, end)
        body = self.server.graph(path, query, meant) if meant else None
        if body is None:
            self.answer({"error": "no samples from then on; the store has some of other times"}, status=404)
        elif query["format"][0] == "html":
            self.answer(body, "text/html; charset=utf-8")
        else:
            self.answer(b"a file", "application/octet-stream",
                        Content_Disposition=f'attachment; filename="shop.{query["format"][0]}"')
