# SPDX-License-Identifier: Apache-2.0
"""The daemon's store: what ran is found by its time, also after the daemon and the JVM are gone."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time

from harness import collector, processes
from harness.case import Case
from harness.folded import Folded, tolerance
from harness.marks import counted, shared
from harness.shared import SharedCase


def start_jvm(case, program):
    jvm = case.background(case.java(program, agent=f"socket={case.place.socket}"), program)
    processes.wait_until(lambda: "ready" in jvm.text, "the JVM is warm")
    return jvm


class Stores:
    """A store of the test's own, and what the classes below ask of it."""

    def setUp(self):
        super().setUp()
        self.store = self.directory / "store"

    def watch_store(self, *args, **options):
        return self.watch("--store", self.store, "--store-window", "1s", "-F", 99, *args, **options)

    def ask(self, command, *args, store=None):
        return collector.fgcollect(command, "--store", store or self.store, *args)

    def history(self, *args, store=None):
        """What the store has, by PID."""
        finished = self.ask("history", "--json", *args, store=store)
        self.assertEqual(finished.code, 0, str(finished))
        return {row["pid"]: row for row in json.loads(finished.out)["processes"]}

    def samples(self, pid, store=None):
        row = self.history(store=store).get(pid)
        return sum(kind["samples"] for kind in row["kinds"]) if row else 0

    def wait_for_samples(self, pid, count, why="samples are stored"):
        processes.wait_until(lambda: self.samples(pid) >= count,
                             lambda: f"{why}: {self.samples(pid)} of {count}")

    def folded(self, *args, store=None):
        path = self.directory / "x.folded"
        finished = self.ask("render", "-o", path, *args, store=store)
        self.assertEqual(finished.code, 0, str(finished))
        return Folded.read(path)

    def assert_known_shares(self, folded):
        share = folded.with_method("KnownShare$Hot.run") / folded.samples
        self.assertAlmostEqual(share, 0.6, delta=tolerance(0.6, folded.samples, sigmas=4),
                               msg=folded.top())

    def graphs_directory(self):
        graphs = self.directory / "graphs"
        graphs.mkdir()
        return graphs

    def counters(self, daemon):
        return json.loads(daemon.list("--json").out)["collector"]["store"]

    def fill(self, path):
        """A file that takes all the room that there is."""
        filler = os.open(path, os.O_WRONLY | os.O_CREAT)
        with contextlib.suppress(OSError):
            while True:
                os.write(filler, bytes(4096))
        os.close(filler)


@shared
class StoresOfOneJvmAreRead(Stores, SharedCase):
    @classmethod
    def set_up_host(cls, host):
        cls.known_share = start_jvm(host, "KnownShare")

    def test_the_difference_of_two_times_names_the_reason(self):
        self.watch_store()
        before = self.known_share
        self.wait_for_samples(before.pid, 300)
        after = start_jvm(self, "Primes")
        self.wait_for_samples(after.pid, 300)
        finished = self.ask("diff", "--from", "-1h", "-p", after.pid, "--before-process",
                            before.pid, "--top", 3, "--json")
        self.assertEqual(finished.code, 0, str(finished))
        rows = json.loads(finished.out)
        self.assertIn("Primes", json.dumps(rows))
        self.assertIn("KnownShare$Hot.run", json.dumps(rows))

    def test_a_killed_daemon_leaves_what_it_wrote(self):
        daemon = self.watch_store()
        jvm = self.known_share
        self.wait_for_samples(jvm.pid, 200)
        os.kill(daemon.pid, signal.SIGKILL)
        processes.wait_until(lambda: daemon.child.poll() is not None, "the daemon is gone")
        stored = self.samples(jvm.pid)
        self.assertGreaterEqual(stored, 200)
        self.watch_store()
        self.wait_for_samples(jvm.pid, stored + 100, "the next daemon goes on")

    def test_a_copy_is_read_without_a_daemon_and_where_nothing_can_be_written(self):
        daemon = self.watch_store()
        jvm = self.known_share
        self.wait_for_samples(jvm.pid, 300)
        daemon.stop()
        mount = self.directory / "copy"
        shutil.copytree(self.store, mount)
        subprocess.run(["mount", "--bind", mount, mount], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", mount], check=False)
        subprocess.run(["mount", "-o", "remount,bind,ro", mount], check=True)
        shutil.rmtree(self.store)
        self.assertGreaterEqual(self.samples(jvm.pid, store=mount), 300)
        folded = self.folded("--from", "-1h", store=mount)
        self.assertGreaterEqual(folded.with_method("KnownShare$Hot.run"), 50)

    def test_a_full_disk_is_said_and_ends_nothing(self):
        self.store.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700k", "fg-test", self.store],
                       check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.store], check=False)
        daemon = self.watch_store()
        self.fill(self.store / "filler")
        jvm = self.known_share
        processes.wait_until(lambda: "cannot write to the store" in daemon.text,
                             lambda: f"it is said:\n{daemon.text}")
        self.assertIn("No space left on device", daemon.text)
        processes.wait_until(lambda: self.counters(daemon)["windows_failed"] > 0, "it is counted")
        subprocess.run(["mount", "-o", "remount,size=32m", self.store], check=True)
        self.wait_for_samples(jvm.pid, 100, "it goes on when there is room")

    def test_ranges_and_stores_without_samples_are_told(self):
        daemon = self.watch_store()
        jvm = self.known_share
        self.wait_for_samples(jvm.pid, 50)
        daemon.stop()
        out = self.directory / "x.svg"
        for args, code, texts in (
                (("--from", "2001-01-01", "--to", "2001-01-02"), 1, ("no samples", "the store has")),
                (("--from", "2250-01-01"), 1, ("is in the future",)),
                (("--from", "-1h", "--to", "-2h"), 1, ("is not after",)),
                (("--from", "yesterday"), 1, ("no such time", "03:10")),
                (("--from", "-1h", "--jvm", "NoSuchClass"), 1, ("no samples",)),
                (("-p", jvm.pid), 2, ("--store goes with --from", "from when"))):
            self.assert_fails(self.ask("render", *args, "-o", out), code, *texts)
        self.assert_fails(self.ask("history", store="/nonexistent"), 1, "no store")
        self.assert_fails(self.ask("diff", "--from", "-1h"), 2, "--before-from")
        self.assert_fails(self.ask("top", "--from", "-1h"), 2, "--once")


class Store(Stores, Case):
    @counted
    def test_what_ran_is_found_by_its_time(self):
        daemon = self.watch_store("-o", self.graphs_directory(), "--http", "0")
        jvm = start_jvm(self, "KnownShare")
        warm = time.time()
        self.wait_for_samples(jvm.pid, 700)
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(warm + 2))
        folded = self.folded("--from", since, "-p", jvm.pid)
        self.assertGreater(folded.samples, 100)
        self.assert_known_shares(folded)
        top = self.ask("top", "--once", "--json", "--from", since, "--jvm", "^KnownShare$")
        self.assertEqual(top.code, 0, str(top))
        self.assertIn("KnownShare$Hot.run", json.loads(top.out)["rows"][0]["name"])
        row = self.history()[jvm.pid]
        self.assertEqual(row["title"], "KnownShare")
        self.assertIn("OpenJDK", row["runtime"])
        listed = self.counters(daemon)
        self.assertGreater(listed["windows_written"], 3)
        self.assertEqual((listed["windows_failed"], listed["windows_dropped"]), (0, 0))
        self.assertGreater(listed["segment_bytes"], 1000)

    def test_a_store_has_one_daemon(self):
        daemon = self.watch_store()
        directory = self.directory / "other"
        directory.mkdir()
        place = collector.Place(directory)
        other = self.watch_store(place=place, started=False)
        processes.wait_until(lambda: other.child.poll() is not None, "the second daemon gives up")
        self.assertIn(f"in use by the daemon with PID {daemon.pid}", other.text)
        self.assertIsNone(daemon.child.poll())
