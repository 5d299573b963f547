# SPDX-License-Identifier: Apache-2.0
"""usage: hanging_clients.py KIND COUNT SECONDS HOST PORT

Holds COUNT connections to an HTTP server for that time, as user nobody if root runs this program. A
connection that the server ends is made anew at once. KIND is one of

  idle     sends nothing
  half     sends half a request line
  slow     sends a line of a head that never ends, a byte every tenth of a second
  unread   asks for /metrics and reads nothing of the answer
  kept     asks for /healthz, wants the connection kept, and stays

Says "ready" when each connection was tried once, and at the end how many were made in all.
"""

import os
import resource
import selectors
import socket
import struct
import sys
import time

NOBODY = 65534
SENDS = {"idle": b"", "half": b"GET /hea", "slow": b"GET /healthz HTTP/1.1\r\nHost: ",
         "unread": b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
         "kept": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n"}


class Clients:
    def __init__(self, kind, address):
        self.kind, self.address = kind, address
        self.selector, self.made = selectors.DefaultSelector(), 0

    def connect(self):
        client = socket.socket()
        client.setblocking(False)
        if self.kind == "unread":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        # The end of a connection that is made anew leaves nothing behind that takes a port.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.connect_ex(self.address)
        self.selector.register(client, selectors.EVENT_WRITE)
        self.made += 1

    def reconnect(self, client):
        self.selector.unregister(client)
        client.close()
        self.connect()

    def step(self, client, events):
        """Sends what the kind sends when connected, and waits for the end from then on."""
        try:
            if events & selectors.EVENT_WRITE:
                client.send(SENDS[self.kind])
                # Whoever does not read is told of the end alone, which select takes for a read.
                self.selector.modify(client, selectors.EVENT_READ)
            elif self.kind == "unread":
                time.sleep(0)
                if client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    self.reconnect(client)
            elif client.recv(4096) == b"" and self.kind != "kept":
                self.reconnect(client)
        except BlockingIOError:
            pass
        except OSError:
            self.reconnect(client)

    def dribble(self):
        for key in list(self.selector.get_map().values()):
            try:
                if key.events == selectors.EVENT_READ:
                    key.fileobj.send(b"a")
            except OSError:
                self.reconnect(key.fileobj)


def main():
    kind, count, seconds, host, port = sys.argv[1:]
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    clients = Clients(kind, (host, int(port)))
    end, dribbles = time.monotonic() + float(seconds), 0
    for _ in range(int(count)):
        clients.connect()
    print("ready", flush=True)
    while time.monotonic() < end:
        for key, events in clients.selector.select(0.05):
            clients.step(key.fileobj, events)
        if kind == "slow" and time.monotonic() > dribbles + 0.1:
            dribbles = time.monotonic()
            clients.dribble()
    print(f"{clients.made} connections were made", flush=True)


if __name__ == "__main__":
    main()
