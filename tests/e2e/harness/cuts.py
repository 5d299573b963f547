# SPDX-License-Identifier: Apache-2.0
"""A socket before a server's, whose connections end when the test wants them to."""

import contextlib
import socket
import threading


class Cuts:
    """Passes bytes on between clients and the server, both ways. cut() ends all connections; clients
    may connect again."""

    def __init__(self, path, server_path):
        self.server_path = str(server_path)
        self.connections, self.ends, self.lock = 0, [], threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.server_path)
            except OSError:             # the server is not there: the client tries again
                client.close()
                continue
            with self.lock:
                self.connections += 1
                self.ends += [client, server]
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one, other):
        with contextlib.suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
        self._end([one, other])

    def _end(self, ends):
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        with self.lock:
            ends, self.ends = self.ends, []
        self._end(ends)
        return len(ends) // 2

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()
