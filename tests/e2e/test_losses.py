# SPDX-License-Identifier: Apache-2.0
"""Losses between a JVM and the collector are noticed, and repaired within a second.

The JVMs here run on the host, where their own maps can be read ten times a second.
"""

import os
import signal
import time

from harness import processes, settings
from harness.case import Case
from harness.marks import measured
from harness.own_map import Comparison, OwnMap
from harness.relay import Relay

# Every method is compiled at its first call, and nothing of the JDK's: thousands a second.
MANY = ["-Xcomp", "-XX:TieredStopAtLevel=1", "-XX:CompileCommand=quiet",
        "-XX:CompileCommand=compileonly,Many*.*",
        "-XX:CompileCommand=dontinline,Many*.computeStep*"]
STOPPED_SEC = 10
HEALED_SEC = 1.0
STOPS = 4
QUIET_SEC = 2
LOOKS = 60


@measured
class Losses(Case):
    def start(self, *args, options="", through=None, jdk=17):
        """Starts a JVM. Returns the JVM and its own perf map, which is written once before the test
        begins."""
        dialled = through or self.place.socket
        jvm = self.background(self.java(*args, agent=f"socket={dialled}{options}", jdk=jdk), "java")
        processes.wait_until(lambda: "ready" in jvm.text, "the JVM runs")
        own = OwnMap(settings.jdk_home(jdk), jvm.pid)
        self.addCleanup(own.path.unlink, missing_ok=True)
        own.read()
        return jvm, own

    def stop_for(self, daemon, seconds):
        """Stops the collector for a time. Returns the time at which it was continued."""
        daemon.child.send_signal(signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            daemon.child.send_signal(signal.SIGCONT)
        return time.monotonic()

    def stop_until_lost(self, daemon, pid, known):
        """Stops the collector until records are lost, longer each time. Returns how many records
        are lost now, and when the collector was continued."""
        for n in range(STOPS):
            since = self.stop_for(daemon, 0.7 * 2 ** n)
            time.sleep(0.2)
            lost = self.lost(daemon, pid, "buffer full")
            if lost > known:
                return lost, since
        self.fail(f"{STOPS} stops, and no more than {known} records were lost")

    def wait_for_quiet(self, daemon, pid, lost, since):
        """Waits until nothing more is lost for a time. So small a buffer also overflows while the
        collector reads, once the agent's thread has to wait for a processor. Returns the last
        moment at which no more than what is lost now was known to be lost."""
        before = since
        for _ in range(LOOKS):
            time.sleep(0.2)
            now = time.monotonic()
            known, lost = lost, self.lost(daemon, pid, "buffer full")
            if lost > known:
                print(f"{lost - known} records lost without a stop")
                since = before
            elif now - since >= QUIET_SEC:
                return since
            before = now
        self.fail(f"records were lost again and again: {lost}")

    def assert_healed(self, comparison, since):
        took = comparison.seconds_to_equal(since)
        print(f"equal after {took} s; {len(comparison.ours)} maps of ours read, "
              f"{len(comparison.theirs[-1][2].methods())} methods in the JVM's last")
        self.assertIsNotNone(took, f"missing: {(comparison.last_missing() or [])[:20]}")
        self.assertLess(took, HEALED_SEC)

    def lost(self, daemon, pid, reason):
        """The agent's own count of losses for the reason."""
        return daemon.jvm(pid)["lost_by_agent"].get(reason, 0)

    def test_full_buffer_heals(self):
        daemon = self.watch()
        jvm, own = self.start(*MANY, "ManyMethods", "30000", options=",buffer=16k")
        daemon.wait_for_jvm(jvm.pid)
        with Comparison(own, lambda: daemon.read_map(jvm.pid)) as comparison:
            # Twice, so that the second trouble comes when everything has just been repeated.
            lost, _ = self.stop_until_lost(daemon, jvm.pid, 0)
            again, since = self.stop_until_lost(daemon, jvm.pid, lost)
            since = self.wait_for_quiet(daemon, jvm.pid, again, since)
        print(f"{lost} records lost by the first stop, {again - lost} by the second")
        self.assert_healed(comparison, since)

    def test_stopped_collector_heals(self):
        daemon = self.watch()
        jvm, own = self.start("Churn", "0", "20", jdk=25)
        daemon.wait_for_jvm(jvm.pid)
        with Comparison(own, lambda: daemon.read_map(jvm.pid)) as comparison:
            # Longer than an agent waits for a collector that does not read: it dials anew. A machine
            # that is busy gives the JVM less time to fill what lies between.
            for n in range(STOPS):
                since = self.stop_for(daemon, STOPPED_SEC * 2 ** n)
                time.sleep(2)
                lost = self.lost(daemon, jvm.pid, "connection lost")
                if lost > 0:
                    break
        print(f"{lost} records lost")
        self.assertGreater(lost, 0)
        self.assert_healed(comparison, since)

    def test_messages_lost_on_the_way_heal(self):
        daemon = self.watch()
        relay = Relay(self.place.run / "relay.sock", self.place.socket, every=10)
        self.addCleanup(relay.close)
        _, own = self.start("Churn", "0", "20", through=self.place.run / "relay.sock")
        pid = os.getpid()  # the relay's, as the kernel says
        with Comparison(own, lambda: daemon.read_map(pid)) as comparison:
            time.sleep(4)
            relay.every = 0
            since = time.monotonic()
            time.sleep(2)
        gaps = daemon.jvm(pid)["gaps"]
        print(f"{relay.lost} of {relay.messages} messages lost, {gaps} gaps seen, "
              f"{relay.connections} connections")
        # A gap ends its connection, with whatever else was lost behind it.
        self.assertGreaterEqual(gaps, relay.connections - 1)
        self.assertGreater(gaps, 2)
        self.assert_healed(comparison, since)
