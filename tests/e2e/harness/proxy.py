# SPDX-License-Identifier: Apache-2.0
"""A proxy for HTTP and, by CONNECT, for HTTPS; it asks for a user and a password if told to."""

import base64
import http.client
import http.server
import socket
import threading
import urllib.parse


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def refused(self):
        """Whether the request has no right to go on, which is then said."""
        owner = self.server.owner
        owner.asked.append(f"{self.command} {self.path}")
        wanted = owner.user and "Basic " + base64.b64encode(owner.user.encode()).decode()
        if not wanted or self.headers.get("Proxy-Authorization") == wanted:
            return False
        self.send_response(407)
        self.send_header("Proxy-Authenticate", 'Basic realm="test"')
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.close_connection = True
        return True

    def do_CONNECT(self):
        if self.refused():
            return
        host, _, port = self.path.rpartition(":")
        with socket.create_connection((host, int(port))) as server:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=self.pump, args=(server, self.connection), daemon=True)
            back.start()
            self.pump(self.connection, server)
            back.join()
        self.close_connection = True

    @staticmethod
    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def forward(self):
        if self.refused():
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urllib.parse.urlsplit(self.path)
        server = http.client.HTTPConnection(url.netloc)
        headers = {name: value for name, value in self.headers.items()
                   if not name.lower().startswith("proxy-")}
        server.request(self.command, url.path, body, headers)
        answer = server.getresponse()
        text = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        server.close()

    do_GET = do_POST = forward


class Proxy:
    """asked has the methods and targets of requests; user is what it wants, as "name:password"."""

    def __init__(self, user=None):
        self.user, self.asked = user, []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.owner = self
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
