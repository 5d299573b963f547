# SPDX-License-Identifier: Apache-2.0
"""Targets are chosen by the names that people know, without an engine's socket."""

import gzip
import json
import os
import pathlib
import shutil
import time

from harness import collector, processes, settings
from harness.case import Case

CGROUP = pathlib.Path("/sys/fs/cgroup")
# It mounts its storage for itself, and leaves that behind: so in mounts of its own.
PODMAN = ("unshare", "--mount", "podman")
PODS = pathlib.Path("/var/log/pods")
# One of two pods each, so that a name alone does not do.
POD_UIDS = ("6efe8f0e-3b4c-4d5e-9f00-112233445566", "6efe8f0e-3b4c-4d5e-9f00-112233445577")


class Targets(Case):
    def named(self, name, *java_args, labels=(), **options_of_container):
        """Starts a container of a unique name with a JVM, and waits until the JVM is ready."""
        options = ["--name", f"{self.directory.name}-{name}",
                   *[f"--label={label}" for label in labels]]
        return self.container(*java_args, options=options,
                              **options_of_container).wait_for_line("ready")

    def name(self, name):
        return f"{self.directory.name}-{name}"

    def record(self, *args, seconds=1):
        return collector.fgcollect("record", "-d", seconds, "-o", self.directory / "x.folded", *args,
                                   *self.place.options())

    def assert_records(self, wanted, unwanted, *args):
        """Of the two programs, wanted is recorded and unwanted is not."""
        recording = collector.record(self.place, *args, seconds=1)
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
                     ["--container", self.name("w")], ["--label", "tier=front"],
                     ["--jvm", "^Known.*e$"], ["--comm", "java", "--jvm", "Known"]):
            with self.subTest(args=args):
                rows = json.loads(daemon.list("--json", *args).out)["jvms"]
                self.assertEqual([row["pid"] for row in rows], [web.pid])
        self.assert_records("KnownShare", "Primes", "--container", self.name("web"))
        self.assert_records("KnownShare", "Primes", "-a", "--label", "tier=front")
        for args in (["-p", web.pid, "-p", shop.pid],
                     ["--container", self.name("web"), "--container", self.name("shop")]):
            recording = collector.record(self.place, *args, seconds=1)
            self.assertGreaterEqual(set(recording.folded.roots()), {"KnownShare", "Primes"}, args)
        finished = collector.fgcollect("list", "--container", self.name("web"), "--container",
                                       self.name("nosuch"), *self.place.options())
        self.assertIn(f"fits --container {self.name('nosuch')}", finished.text)
        self.assertIn(f"{self.name('web')}: KnownShare;",
                      collector.record(self.place, seconds=1).folded.top(1000))
        self.assert_records("Primes", "KnownShare", "--label", "team=blue", "--jvm", "P")
        row = daemon.jvm(web.pid)
        self.assertEqual((row["container_name"], row["labels"]["tier"], row["main_class"]),
                         (self.name("web"), "front", "KnownShare"))
        text = daemon.list("--container", self.name("web")).out
        self.assertIn(self.name("web"), text)
        self.assertNotIn(shop.id[:12], text)

    def test_the_image_of_a_container_is_a_label_wherever_labels_are(self):
        store = self.directory / "store"
        # Of this test alone: others run beside it, in containers of the image that all share.
        image = f"{self.image().split(':')[0]}-label:1"
        self.engine.docker("tag", self.image(), image)
        self.addCleanup(self.engine.docker, "rmi", image, check=False)
        web = self.named("web", "KnownShare", image=image)
        own = self.named("own", "Primes", image=image, env={"FGAGENT_OPTS": "label=image:mine:1"})
        daemon = self.watch("--store", store, "--store-window", "1s", "-F", 99)
        for jvm in (web, own):
            daemon.wait_for_jvm(jvm.pid)
        self.assertEqual(daemon.jvm(web.pid)["labels"]["image"], image)
        self.assertEqual(daemon.jvm(own.pid)["labels"]["image"], "mine:1")
        self.assertIn(f"image={image}", daemon.list().out)
        self.assert_records("KnownShare", "Primes", "-a", "--label", f"image={image}")
        finished = collector.fgcollect("record", "-d", 1, "-o", self.directory / "x.pb.gz", "--label",
                                       "image=mine:1", *self.place.options())
        self.assertEqual(finished.code, 0, str(finished))
        texts = gzip.decompress((self.directory / "x.pb.gz").read_bytes())
        self.assertIn(b"mine:1", texts)
        self.assertNotIn(image.encode(), texts)
        daemon.stop()
        for args, row in ((["--label", f"image={image}"], web), (["--label", "image=mine:1"], own)):
            found = json.loads(collector.fgcollect("history", "--store", store, "--json", *args).out)
            self.assertEqual({process["pid"] for process in found["processes"]}, {row.pid})
        self.assertIn(f"  image={image}\n", collector.fgcollect("history", "--store", store).out)

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

    def test_a_container_without_the_directory_is_recorded_from_outside_and_told_why(self):
        options = ["--name", self.name("far"), "--env=FGAGENT_OPTS=socket=/tmp/none.sock"]
        self.container("KnownShare", options=options).wait_for_line("ready")
        self.watch()
        finished = self.record("--container", self.name("far"))
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("names of Java code are read from outside", finished.text)
        self.assertIn("has not connected", finished.text)

    def test_what_starts_later_in_the_container_is_recorded_too(self):
        jvm = self.named("late", "KnownShare")
        daemon = self.watch()
        daemon.wait_for_jvm(jvm.pid)
        out = self.directory / "late.folded"
        recorder = self.background(
            [settings.COLLECTOR, "record", "-d", "4", "-o", out, "--container",
             self.name("late"), *self.place.options()], "record")
        time.sleep(1)
        jvm.exec("java", "-cp", "/opt/app", "Primes", detach=True, agent=True)
        self.assertEqual(recorder.wait(30).code, 0, recorder.text)
        text = out.read_text()
        self.assertIn("Primes.countPrimes", text)
        self.assertIn("KnownShare$Hot.run", text)

    def cgroup(self):
        """A cgroup of the test's own, below which pods are made. It is removed when its processes
        have ended."""
        base = next((base for base in (CGROUP, CGROUP / "unified", CGROUP / "pids")
                     if (base / "cgroup.procs").exists()), None)
        if not base or not os.access(base, os.W_OK):
            self.skipTest("no cgroups can be made on this machine")
        made = base / f"kubepods-{self.directory.name}"
        self.addCleanup(self.remove_cgroup, made)
        return made

    @staticmethod
    def remove_cgroup(made):
        for path, _, _ in os.walk(made, topdown=False):
            cgroup = pathlib.Path(path)
            processes.wait_until(lambda: not (cgroup / "cgroup.procs").read_text(),
                                 "no process is left in the cgroup")
            cgroup.rmdir()

    def pod(self, cgroup, program):
        """Starts a JVM in a cgroup like those that a kubelet makes."""
        cgroup.mkdir(parents=True)
        command = self.java(program, agent=f"socket={self.place.socket}")
        jvm = self.background(["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', cgroup,
                               *command], program)
        processes.wait_until(lambda: "ready" in jvm.text, lambda: f"the JVM runs: {jvm.text}")
        return jvm

    def test_pods_are_named_by_their_logs_and_their_cgroups(self):
        name = self.directory.name.replace("_", "-")
        for name_space, uid in zip(("shop", "test"), POD_UIDS):
            path = PODS / f"{name_space}_{name}_{uid}"
            path.mkdir(parents=True)
            self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        self.addCleanup(lambda: any(PODS.iterdir()) or PODS.rmdir())
        cgroup = self.cgroup()
        front = self.pod(cgroup / f"besteffort/pod{POD_UIDS[0]}/{'ab' * 32}", "KnownShare")
        slice_name = f"kubepods-pod{POD_UIDS[1].replace('-', '_')}.slice"
        back = self.pod(cgroup / slice_name / f"cri-containerd-{'cd' * 32}.scope", "Primes")
        self.assert_records("KnownShare", "Primes", "--pod", f"shop/{name}")
        daemon = self.watch()
        for jvm in (front, back):
            daemon.wait_for_jvm(jvm.pid)
        self.assert_fails(self.record("--pod", name), 1, f"shop/{name}", f"test/{name}")
        self.assert_records("Primes", "KnownShare", "--pod", f"test/{name[:-1]}")
        self.assert_fails(self.record("--pod", "elsewhere"), 1, f"shop/{name}", "another node")
        row = daemon.jvm(front.pid)
        self.assertEqual((row["pod"], row["namespace"], row["container"]),
                         (name, "shop", "ab" * 32))
        self.assertIn(f"pod shop/{name}", daemon.list().out)

    def test_podman_containers_are_named_by_their_storage(self):
        name = self.name("pod")
        java = [str(part) for part in self.java("KnownShare", agent="")]
        podman = processes.run(
            [*PODMAN, "run", "--detach", "--name", name, "--network", "none",
             "--cgroup-manager=cgroupfs", "--runtime=runc", "--ulimit=nofile=1024:1024",
             "--ulimit=nproc=1024:1024", "--volume", f"{self.place.run}:/run/fgcollect:ro",
             "--rootfs", "/:O", *java])
        self.addCleanup(processes.run, [*PODMAN, "rm", "-f", "-t", "0", name])
        self.assertEqual(podman.code, 0, str(podman))
        daemon = self.watch()
        processes.wait_until(lambda: name in daemon.list("--container", name).out,
                             lambda: f"it is known: {daemon.list('--json').out}")
        recording = collector.record(self.place, "--container", name, seconds=1)
        self.assertIn("KnownShare", recording.folded.roots(), str(recording))
