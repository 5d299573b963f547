# SPDX-License-Identifier: Apache-2.0
"""The names of Java methods in graphs and in perf maps."""

import pathlib
import re
import shutil
import time

from harness import collector, folded, processes, settings
from harness.case import Case

HERE = pathlib.Path(__file__).resolve().parent
# A number that was made up in the run.
MADE_UP = re.compile(r"0x[0-9a-f]|\$Lambda\$\d|\$Proxy\d|jdk.proxy\d|Accessor\d")


class Names(Case):
    def lambdas(self, jdk):
        """Starts a JVM on the host. Returns the JVM when its lambdas are compiled."""
        jvm = self.background(self.java("Lambdas", agent=f"socket={self.place.socket}", jdk=jdk),
                              f"java-{jdk}")
        processes.wait_until(lambda: "ready" in jvm.text, lambda: f"the JVM runs:\n{jvm.text}")
        time.sleep(1)
        return jvm

    def recorded(self, jvm, *args):
        """The names of Java frames in a recording."""
        recording = collector.record(self.place, "-p", jvm.pid, *args, seconds=2, hz=499)
        return {folded.JAVA_SUFFIX.sub("", frame) for frames, _ in recording.folded.stacks
                for frame in frames[1:] if folded.JAVA_SUFFIX.search(frame)}

    def check_same_in_every_run(self, jdk):
        names = self.recorded(self.lambdas(jdk))
        for name in ("Lambdas$$Lambda.applyAsLong", "jdk/proxy/$Proxy.applyAsLong"):
            self.assertIn(name, names)
        self.assertEqual([name for name in names if MADE_UP.search(name)], [])

    def test_names_are_the_same_in_every_run_of_jdk_17(self):
        self.check_same_in_every_run(17)

    def test_names_are_the_same_in_every_run_of_jdk_25(self):
        self.check_same_in_every_run(25)

    def check_asked_of_the_daemon(self, jdk, raw_lambda):
        daemon, jvm = self.watch(), self.lambdas(jdk)
        daemon.wait_for_jvm(jvm.pid)
        names = self.recorded(jvm, "--java-names=dot")
        for name in ("Lambdas$$Lambda.applyAsLong", "jdk.proxy.$Proxy.applyAsLong"):
            self.assertIn(name, names)
        names = self.recorded(jvm, "--java-names=signature", "--raw-names")
        for pattern in (rf"Lambdas\$\${raw_lambda}\.applyAsLong\(J\)J$",
                        r"jdk/proxy\d+/\$Proxy\d+\.applyAsLong\(J\)J$"):
            self.assertTrue(any(re.match(pattern, name) for name in names), f"{pattern}: {names}")
        self.assertIn("$Proxy.applyAsLong", self.recorded(jvm, "--java-names=simple"))

    def test_daemon_names_methods_of_jdk_17_as_its_client_asks(self):
        self.check_asked_of_the_daemon(17, r"Lambda\$\d+\.0x[0-9a-f]{16}")

    def test_daemon_names_methods_of_jdk_25_as_its_client_asks(self):
        self.check_asked_of_the_daemon(25, r"Lambda\.0x[0-9a-f]{16}")

    def assert_each_has_its_name(self, program, methods, *options, hz):
        jvm = self.background(self.java(*program, agent=f"socket={self.place.socket}"), "renamed")
        processes.wait_until(lambda: "ready" in jvm.text, lambda: f"the JVM runs:\n{jvm.text}")

        def seen(recording):
            return {(name, method) for frames, _ in recording.folded.stacks for name in frames
                    if name.startswith("does ") for method in methods
                    if any(frame.startswith(f"Renamed.{method}_[") for frame in frames)}

        recording = collector.record_until(self.place, lambda recording: len(seen(recording)) > 1,
                                           "--threads", *options, "-p", jvm.pid, hz=hz)
        self.assertEqual(seen(recording), {("does \U0001f600_1", methods[0]),
                                           ("does \U0001f600_2", methods[1])})

    def test_samples_stand_under_the_name_that_their_thread_had(self):
        """The thread takes a name, runs one method, takes another name, and runs the other."""
        self.assert_each_has_its_name(["Renamed"], ("first", "second"), "--sampler", "bpf", hz=499)

    def test_waits_stand_under_the_name_that_their_thread_had(self):
        for kind in ("wall", "offcpu"):
            with self.subTest(kind):
                self.assert_each_has_its_name(["Renamed", "rests"], ("firstRest", "secondRest"),
                                              "--kind", kind, hz=99)

    def test_name_that_another_thread_has_given_is_seen_beside_the_agent(self):
        jvm = self.background(self.java("Renamed", "given", agent=f"socket={self.place.socket}"),
                              "renamed")
        processes.wait_until(lambda: "ready" in jvm.text, lambda: f"the JVM runs:\n{jvm.text}")
        collector.record_until(self.place, lambda recording: any(
            any(name.startswith("given \U0001f600") for name in frames)
            for frames, _ in recording.folded.stacks), "--threads", "-p", jvm.pid)

    def attached(self):
        """A JVM with a thread that a library has attached under a name."""
        home, library = settings.jdk_home(17), self.directory / "libattached.so"
        include = home / "include"
        if not shutil.which("cc") or not (include / "jni.h").exists():
            self.skipTest("no C compiler, or no headers of JDK 17")
        processes.run(["cc", "-O2", "-shared", "-fPIC", f"-I{include}", f"-I{include}/linux",
                       HERE / "attached_thread.c", "-o", library, "-lpthread"], check=True)
        return self.background(self.java("Attached", library, agent=f"socket={self.place.socket}"),
                               "attached")

    def test_name_by_which_a_library_has_attached_a_thread_is_its_name(self):
        jvm = self.attached()
        processes.wait_until(lambda: "ready" in jvm.text, lambda: f"the JVM runs:\n{jvm.text}")
        for kind, method in (("cpu", "work"), ("wall", "turns"), ("offcpu", "turns")):
            with self.subTest(kind):
                collector.record_until(self.place, lambda recording, method=method: any(
                    any(frame.startswith("attached \U0001f600") for frame in frames) and
                    any(frame.startswith(f"Attached.{method}_[") for frame in frames)
                    for frames, _ in recording.folded.stacks), "--threads", "--kind", kind,
                    "-p", jvm.pid)

    def test_style_that_is_none_is_a_usage_error(self):
        finished = collector.fgcollect("record", "--java-names=dots", "-o",
                                       self.directory / "none.folded", *self.place.options())
        self.assert_fails(finished, 2, "dots", "slash, dot, simple, signature")
        finished = collector.fgcollect("--watch", "--map-names=dots", *self.place.options())
        self.assert_fails(finished, 2, "dots", "dotted, signatures, sourcepos")

    def test_perf_maps_name_methods_as_the_daemon_was_told(self):
        daemon, jvm = self.watch("--map-names=dotted,signatures,sourcepos"), self.lambdas(17)
        daemon.wait_for_jvm(jvm.pid)
        line = re.compile(r"^\w+ \w+ Lambdas::work\(J\)J\(Lambdas\.java(:\d+)?\)$", re.MULTILINE)
        processes.wait_until(lambda: line.search(daemon.read_map(jvm.pid)),
                             lambda: f"work() is in the map:\n{daemon.read_map(jvm.pid)}")
        finished = collector.fgcollect("record", "--map-names=dotted", "-o",
                                       self.directory / "none.folded", *self.place.options())
        self.assert_fails(finished, 1, "--map-names dotted", "--watch")
