# SPDX-License-Identifier: Apache-2.0
"""The JVM runs as if the agent were not there, whatever is or is not at the agent's socket."""

import os
import pathlib
import socket
import threading
import time

from harness import collector, processes, settings
from harness.case import Case
from harness.marks import tour


class Peer:
    """A listener that is no collector. act(connection) is called with each connection."""

    def __init__(self, path, act):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.accepted, self.act, self.kept = 0, act, []
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            self.kept.append(connection)
            try:
                self.act(connection)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.kept:
            connection.close()


def endless(connection):
    """Sends garbage until the other side closes the connection."""
    connection.settimeout(5)
    for _ in range(1000):
        connection.sendall(os.urandom(4096))


class Agent(Case):
    def hello(self, options, *args, env=None, prefix=()):
        return processes.run([*prefix, *self.java(*args, "Hello", "1500", agent=options)], env=env)

    def assert_unharmed(self, finished, err=None):
        self.assertEqual((finished.code, finished.out), (0, "hello\n"), str(finished))
        if err is None:
            self.assertEqual(finished.err, "", str(finished))

    def peer(self, act):
        peer = Peer(self.place.socket, act)
        self.addCleanup(peer.close)
        return peer

    def test_socket_that_is_absent(self):
        self.assert_unharmed(self.hello(f"socket={self.place.socket}"))
        self.assert_unharmed(self.hello(f"socket={self.directory}/nowhere/agent.sock"))

    def test_socket_that_may_not_be_opened(self):
        self.peer(lambda connection: None)
        self.place.socket.chmod(0o600)
        # Copies that nobody may read, wherever the build folder is.
        agent = self.directory / "libfgagent.so"
        agent.write_bytes(settings.AGENT.read_bytes())
        agent.chmod(0o755)
        classes = self.directory / "Hello.class"
        classes.write_bytes((settings.CLASSES / "Hello.class").read_bytes())
        classes.chmod(0o644)
        finished = processes.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
             settings.jdk_home(17) / "bin" / "java",
             f"-agentpath:{agent}=socket={self.place.socket}", "-cp", self.directory, "Hello",
             "1500"], cwd="/")
        self.assert_unharmed(finished)

    def test_socket_that_is_a_plain_file(self):
        self.place.socket.write_text("no socket\n")
        self.assert_unharmed(self.hello(f"socket={self.place.socket}"))
        self.assertEqual(self.place.socket.read_text(), "no socket\n")

    def test_peer_that_speaks_garbage(self):
        peer = self.peer(endless)
        self.assert_unharmed(self.hello(f"socket={self.place.socket}"))
        self.assertGreater(peer.accepted, 0)

    def test_peer_that_hangs_up(self):
        peer = self.peer(lambda connection: connection.close())
        self.assert_unharmed(self.hello(f"socket={self.place.socket}"))
        self.assertGreater(peer.accepted, 0)

    def test_peer_that_greets_and_never_reads(self):
        # The greeting of a PULL socket; then the socket's buffer and the agent's fill up.
        peer = self.peer(lambda connection: connection.sendall(bytes.fromhex("0053500000510000")))
        finished = processes.run(self.java("Mixed", "--rounds", "30",
                                           agent=f"socket={self.place.socket}"))
        self.assertEqual(finished.code, 0, str(finished))
        self.assertRegex(finished.out, r"^work \d+ \d+\n$")
        self.assertGreater(peer.accepted, 0)

    @tour
    def test_unknown_option_and_bad_value_are_one_line_each(self):
        finished = self.hello(f"socket={self.place.socket},frobnicate=1,framepointer=perhaps")
        self.assert_unharmed(finished, err=True)
        lines = finished.err.splitlines()
        self.assertEqual(len(lines), 2, finished.err)
        self.assertIn("frobnicate", lines[0])
        self.assertIn("framepointer", lines[1])

    @tour
    def test_off_by_environment(self):
        peer = self.peer(lambda connection: None)
        finished = self.hello(f"socket={self.place.socket}", env={"FGAGENT_OPTS": "off"})
        self.assert_unharmed(finished)
        self.assertEqual(peer.accepted, 0)

    def test_one_thread_more_while_connected(self):
        def threads(agent):
            jvm = self.background(self.java("-Xint", "Hello", "60000", agent=agent),
                                  f"java-{agent is None}")
            processes.wait_until(lambda: "hello" in jvm.text, "the JVM runs")
            if agent:
                daemon.wait_for_jvm(jvm.pid)
            names = [task.joinpath("comm").read_text().strip()
                     for task in pathlib.Path(f"/proc/{jvm.pid}/task").iterdir()]
            jvm.stop()
            return names
        daemon = self.watch()
        with_agent = threads(f"socket={self.place.socket}")
        # HotSpot starts some of its own threads when it needs them: names tell those from ours.
        for name in threads(None):
            if name in with_agent:
                with_agent.remove(name)
        self.assertEqual(len(with_agent), 1, with_agent)

    def check_delayed(self, jdk):
        """Not heard of before; then all code has its names, that of before too."""
        daemon, begin = self.watch(), time.monotonic()
        jvm = self.background(
            self.java("KnownShare", agent=f"socket={self.place.socket},delay=4s", jdk=jdk),
            f"java-{jdk}")
        daemon.wait_for_jvm(jvm.pid)
        self.assertGreaterEqual(time.monotonic() - begin, 4)
        recording = collector.record(self.place, "-p", jvm.pid, seconds=2, hz=499)
        self.assertGreaterEqual(recording.quality.java_named, 99.9, str(recording))
        for name in ("KnownShare$Hot.run", "KnownShare$Warm.run"):
            self.assertGreater(recording.folded.with_method(name), 0, str(recording))

    def test_delay_lets_a_jvm_start_alone_jdk_17(self):
        self.check_delayed(17)

    def test_delay_lets_a_jvm_start_alone_jdk_25(self):
        self.check_delayed(25)
