# SPDX-License-Identifier: Apache-2.0
"""A socket between agent and collector that can lose messages.

It speaks the framing of shared/README.md: greetings of 8 bytes, then messages, each with a type, its
length and a number of its own. To the collector, the process that speaks is the one that has
connected: the map of the JVM behind a relay is that of the relay's process.
"""

import socket
import struct
import threading

HEAD_BYTES, GREETING_BYTES = 9, 8


class Relay:
    """every: one message in so many is lost while it is above 0."""

    def __init__(self, path, collector_path, every=0):
        self.collector_path, self.every = str(collector_path), every
        self.connections = self.messages = self.lost = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while True:
            try:
                agent, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            with agent, socket.socket(socket.AF_UNIX) as collector:
                try:
                    collector.connect(self.collector_path)
                    self._pass_on(agent, collector)
                except OSError:
                    pass  # either end has hung up; the agent dials again

    def _pass_on(self, agent, collector):
        collector.sendall(receive(agent, GREETING_BYTES))
        agent.sendall(receive(collector, GREETING_BYTES))
        # The collector says nothing more, but it may hang up while the agent has nothing to say.
        threading.Thread(target=hang_up_after, args=(collector, agent), daemon=True).start()
        while True:
            head = receive(agent, HEAD_BYTES)
            message = receive(agent, struct.unpack(">Q", head[1:])[0])
            self.messages += 1
            if self.every and self.messages % self.every == 0:
                self.lost += 1
            else:
                collector.sendall(head + message)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def receive(peer, size):
    data = b""
    while len(data) < size:
        part = peer.recv(size - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data


def hang_up_after(collector, agent):
    try:
        collector.recv(1)
        agent.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
