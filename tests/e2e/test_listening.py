# SPDX-License-Identifier: Apache-2.0
"""The collector dials agents that listen, in containers that mount nothing of the host."""

import os
import pathlib
import signal
import socket
import threading

from harness import collector, folded, processes
from harness.case import Case
from harness.marks import alone, measured

SOCKET = "tmp/.fgagent-1.sock"


class Stranger:
    """A foreign socket in the place of the agent's socket. heard: the bytes that it was sent."""

    def __init__(self, path):
        self.heard, self.connections = b"", 0
        self.listener = socket.socket(socket.AF_UNIX)
        directory = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
        self.listener.bind(f"/proc/self/fd/{directory}/{path.name}")
        os.close(directory)
        self.listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                self.connections += 1
                while part := connection.recv(4096):
                    self.heard += part

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


@alone
class Listening(Case):
    def agents(self, daemon):
        """The counters of agents that listen, by list --json."""
        return daemon.list_json()["collector"]["listening_agents"]

    def assert_quality(self, recording):
        quality = recording.quality
        print(quality.line)
        self.assertGreater(quality.java_named, 99.0, str(recording))
        self.assertGreater(quality.named, 99.0, str(recording))
        self.assertGreater(quality.rooted, 99.0, str(recording))

    def same_quality(self, jdk):
        listening = self.listening_container("KnownShare", "30", jdk=jdk)
        mounts = self.engine.docker("inspect", "-f", "{{json .Mounts}}", listening.id).out
        self.assertEqual(mounts.strip(), "[]")
        dialling = self.container("KnownShare", "30", jdk=jdk).wait_for_line("ready")
        listening.wait_for_line("ready")
        for jvm in (listening, dialling):
            recording = collector.record(self.place, "-p", jvm.pid, seconds=4, hz=199)
            self.assert_quality(recording)
            stacks = recording.folded.of_root("KnownShare")
            ours = stacks.count(lambda name: name.startswith("KnownShare"))
            hot = stacks.with_method("KnownShare$Hot.run")
            self.assertGreater(ours, 50, str(recording))
            self.assertLessEqual(abs(hot / ours - 0.6), folded.tolerance(0.6, ours),
                                 str(recording))

    @measured
    def test_nothing_of_the_host_mounted_has_the_same_quality_17(self):
        self.same_quality(17)

    @measured
    def test_nothing_of_the_host_mounted_has_the_same_quality_25(self):
        self.same_quality(25)

    def test_whoever_is_restarted_is_met_again(self):
        daemon = self.watch()
        jvm = self.listening_container("KnownShare")
        row = daemon.wait_for_jvm(jvm.pid)
        self.assertEqual((row["agent"], row["inner_pid"]), ("listens", 1), row)
        self.assertIn("listens", daemon.list().text)
        first = jvm.pid
        self.engine.docker("restart", "-t", "0", jvm.id)  # its socket stays: nobody removes it
        self.assertNotEqual(jvm.pid, first)
        daemon.wait_for_jvm(jvm.pid)
        daemon.stop()
        daemon = self.watch()
        daemon.wait_for_jvm(jvm.pid)
        self.assertEqual(self.agents(daemon)["failed"], 0, daemon.text)
        other = self.listening_container("Primes").wait_for_line("ready")
        daemon.wait_for_jvm(other.pid)
        recording = collector.record(self.place, "-p", other.pid, seconds=2)  # by the daemon
        self.assert_quality(recording)
        self.assertEqual(set(recording.folded.roots()), {"Primes"}, str(recording))

    def test_what_was_planted_where_the_socket_was_is_not_spoken_to(self):
        jvm = self.listening_container("KnownShare").wait_for_line("ready")
        place = jvm.root / SOCKET
        processes.wait_until(place.is_socket, "the agent listens")
        aside = place.with_name("aside.sock")
        place.rename(aside)
        stranger = Stranger(place)
        self.addCleanup(stranger.close)
        daemon = self.watch()
        processes.wait_until(lambda: self.agents(daemon)["not_theirs"], "the stranger was seen")
        self.assertGreater(stranger.connections, 0)
        self.assertEqual(stranger.heard, b"")
        # What stands in the way is told when it comes again.
        processes.wait_until(lambda: "another process listens there" in daemon.text, lambda: daemon.text)

        place.unlink()
        place.symlink_to("aside.sock")
        processes.wait_until(lambda: "a symbolic link" in daemon.text, "the link was seen")
        self.assertIsNone(daemon.jvm(jvm.pid))
        place.unlink()
        aside.rename(place)
        self.assertEqual(daemon.wait_for_jvm(jvm.pid)["agent"], "listens")

    @measured
    def test_one_that_has_just_begun_is_waited_for_by_a_daemon_that_was_idle(self):
        daemon = self.watch()
        for by in ("pid", "jvm", "container"):
            with self.subTest(by=by):
                if by == "container":
                    name = self.directory.name + "-new"
                    self.listening_container("KnownShare", options=["--name", name])
                    args = ["--container", name]
                else:
                    # By its main class, it is told from whatever else begins on this machine.
                    program = "Primes" if by == "jvm" else "KnownShare"
                    jvm = self.background(
                        self.java(program, agent=f"socket=listen:{self.directory}/%p.sock"), by)
                    args = ["-p", jvm.pid] if by == "pid" else ["--jvm", "^Primes$"]
                recording = collector.record(self.place, *args, seconds=1)
                print(f"{by}: {recording.finished.seconds:.2f} s")
                self.assertLess(recording.finished.seconds, 8)
        self.assertEqual(self.agents(daemon)["connected"], 3)

    @measured
    def test_what_has_just_begun_and_is_no_jvm_is_recorded_as_it_is_after_a_while(self):
        self.watch()
        other = self.background(["sleep", "60"], "sleep")
        finished = collector.fgcollect("record", "-d", "1", "-o", self.directory / "x.folded", "-p",
                                       other.pid, *self.place.options())
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("what was recorded did not run in that time", finished.text)
        self.assertLess(finished.seconds, 5)

    def test_a_jvm_behind_a_user_namespace_is_dialled(self):
        directory = self.directory / "own"
        directory.mkdir()
        os.chown(directory, 103, 103)
        jvm = self.background(
            ["setpriv", "--reuid", "103", "--regid", "103", "--clear-groups", "unshare", "--user",
             "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork",
             "--kill-child", "--mount-proc",
             *self.java("KnownShare", agent=f"socket=listen:{directory}/%p.sock")], "java")
        self.addCleanup(jvm.stop, signal.SIGKILL)  # unshare heeds no other, and takes the JVM along
        processes.wait_until(lambda: "ready" in jvm.text, lambda: f"the JVM runs\n{jvm.text}")
        children = pathlib.Path(f"/proc/{jvm.pid}/task/{jvm.pid}/children").read_text().split()
        recording = collector.record(self.place, "-p", children[0], seconds=3)
        self.assert_quality(recording)
