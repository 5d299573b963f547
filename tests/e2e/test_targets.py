# SPDX-License-Identifier: Apache-2.0
"""Targets by the names that people know them by, without any engine's socket."""

import json
import os
import pathlib
import shutil
import subprocess
import time

from harness import collector, processes, settings
from harness.case import Case

CGROUP = pathlib.Path("/sys/fs/cgroup")
POD_UID = "6efe8f0e-3b4c-4d5e-9f00-112233445566"


class Targets(Case):
    def named(self, name, *java_args, labels=(), env=None):
        """A container called so, unique on this machine, with a JVM that is ready."""
        options = ["--name", f"{self.directory.name}-{name}",
                   *[f"--label={label}" for label in labels]]
        return self.container(*java_args, env=env, options=options).wait_for_line("ready")

    def name(self, name):
        return f"{self.directory.name}-{name}"

    def record(self, *args, seconds=1):
        return collector.fgcollect("record", "-d", seconds, "-o", self.directory / "x.folded", *args,
                                   *self.place.options())

    def assert_records(self, wanted, unwanted, *args):
        """Of these two programs the one is recorded, the other is not."""
        recording = collector.record(self.place, *args, seconds=2)
        self.assertIn(wanted, recording.folded.roots(), str(recording))
        self.assertNotIn(unwanted, recording.folded.roots(), str(recording))

    def test_every_way_of_naming_one_of_two_containers(self):
        web = self.named("web", "KnownShare", labels=["tier=front"])
        shop = self.named("shop", "Primes", labels=["tier=back"],
                          env={"FGAGENT_OPTS": "label=team:blue"})
        daemon = self.watch()
        for jvm in (web, shop):
            daemon.wait_for_jvm(jvm.pid)
        for args in (["--container", web.id[:8]], ["--container", web.id],
                     ["--container", self.name("web")], ["--container", self.name("w")],
                     ["--label", "tier=front"], ["--jvm", "^Known.*e$"],
                     ["--comm", "java", "--jvm", "Known"]):
            with self.subTest(args=args):
                self.assert_records("KnownShare", "Primes", *args)
        self.assert_records("Primes", "KnownShare", "--label", "team=blue")
        row = daemon.jvm(web.pid)
        self.assertEqual((row["container_name"], row["labels"]["tier"], row["main_class"]),
                         (self.name("web"), "front", "KnownShare"))
        text = daemon.list("--container", self.name("web")).out
        self.assertIn(self.name("web"), text)
        self.assertNotIn(shop.id[:12], text)

    def test_names_that_fit_several_or_nothing_say_which_there_are(self):
        front = self.named("web-1", "KnownShare")
        back = self.named("web-10", "Primes")
        daemon = self.watch()
        for jvm in (front, back):
            daemon.wait_for_jvm(jvm.pid)
        self.assert_fails(self.record("--container", self.name("web")), 1, "several",
                          self.name("web-1"), self.name("web-10"), front.id[:12], back.id[:12])
        self.assert_records("KnownShare", "Primes", "--container", self.name("web-1"))
        self.assert_fails(self.record("--container", "nonsense"), 1, "nonsense",
                          self.name("web-1"), self.name("web-10"))
        self.assert_fails(self.record("--jvm", "Nonsense"), 1, "KnownShare", "Primes")
        self.assert_fails(daemon.list("--label", "tier=none"), 1, "tier=none")
        back.engine.docker("stop", "-t", "0", back.id)
        self.assert_fails(self.record("--container", self.name("web-10")), 1,
                          self.name("web-10"), "does not run")

    def test_a_container_without_the_directory_or_a_jvm_is_told_from_an_unknown_one(self):
        options = ["--name", self.name("far"), "--env=FGAGENT_OPTS=socket=/tmp/none.sock"]
        self.container("KnownShare", options=options).wait_for_line("ready")
        self.watch()
        self.assert_fails(self.record("--container", self.name("far")), 1, "has not connected")

    def test_what_starts_later_in_the_container_is_recorded_too(self):
        jvm = self.named("late", "KnownShare")
        daemon = self.watch()
        daemon.wait_for_jvm(jvm.pid)
        out = self.directory / "late.folded"
        recorder = self.background(
            [settings.COLLECTOR, "record", "-d", "5", "-o", out, "--container",
             self.name("late"), *self.place.options()], "record")
        time.sleep(1)
        jvm.exec("java", "-cp", "/opt/app", "Primes", detach=True, agent=True)
        self.assertEqual(recorder.wait(30).code, 0, recorder.text)
        text = out.read_text()
        self.assertIn("Primes.countPrimes", text)
        self.assertIn("KnownShare$Hot.run", text)
