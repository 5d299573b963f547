# SPDX-License-Identifier: Apache-2.0
"""Code of a compiler that the JVM calls through JVMCI, of which HotSpot tells no agent at once: what
Graal makes of functions of JavaScript."""

import pathlib
import re

from harness import collector, maven, processes, settings
from harness.case import Case
from harness.follower import living

PROGRAM = pathlib.Path(__file__).resolve().parent / "programs" / "Guest.java"
VERSION = "25.0.1"
ARTIFACTS = [f"org.graalvm.{artifact}" for artifact in (
    f"polyglot:polyglot:{VERSION}", f"polyglot:js-community:{VERSION}:pom",
    f"truffle:truffle-compiler:{VERSION}", f"compiler:compiler:{VERSION}")]
# Modules that take the place of the JDK's, and what they need.
MODULES = ("compiler", "truffle-compiler", "collections", "word", "nativeimage", "jniutils")
# Graal is compiled too, before it compiles the program.
READY_SEC = 500
INLINED = re.compile(r"(com/oracle/truffle|org/graalvm)/.*_\[i\]")


class Jvmci(Case):
    def setUp(self):
        super().setUp()
        self.home = settings.jdk_home(25)
        if not self.home:
            self.skipTest("no JDK 25")
        try:
            self.jars = maven.jars("graaljs", *ARTIFACTS)
        except LookupError as error:
            self.skipTest(str(error))

    def started(self, *args):
        """A JVM with Graal as a compiler of JVMCI's."""
        modules = [next(self.jars.glob(f"{name}-{VERSION}.jar")) for name in MODULES]
        command = [self.home / "bin" / "java", "-XX:+UnlockExperimentalVMOptions",
                   "-XX:+EnableJVMCI", "-XX:-UseJVMCINativeLibrary",
                   "--upgrade-module-path", ":".join(map(str, modules)),
                   f"-agentpath:{settings.AGENT}=socket={self.place.socket}", *args]
        jvm = self.background(command, "java")
        processes.wait_until(lambda: "ready" in jvm.text, lambda: f"the JVM runs:\n{jvm.text}",
                             timeout=READY_SEC, of=jvm)
        return jvm

    def started_guest(self):
        """The same with a program in JavaScript."""
        classes = self.directory / "classes"
        processes.run([self.home / "bin" / "javac", "-cp", f"{self.jars}/*", "-d", classes, PROGRAM],
                      check=True)
        return self.started("--add-modules", "org.graalvm.truffle.compiler", "-cp",
                            f"{classes}:{self.jars}/*", "Guest")

    def test_functions_of_another_language_and_what_is_inlined_into_them_have_names(self):
        jvm = self.started_guest()

        def is_named(frames):
            at = [i for i, frame in enumerate(frames) if frame in ("turn_[j]", "spin_[j]")]
            return at and any(INLINED.fullmatch(frame) for frame in frames[at[-1] + 1:])

        collector.record_until(self.place, lambda recording: any(
            is_named(frames) for frames, _ in recording.folded.stacks), "-p", jvm.pid, hz=199)

    def test_functions_of_another_language_are_in_what_is_published(self):
        """Once a sample has come upon such code: in the state, and in the perf map."""
        urls = [f"ipc://{self.directory / 'publish' / name}" for name in ("events", "state")]
        daemon = self.watch("--publish", urls[0], "--publish-state", urls[1])
        jvm = self.started_guest()
        daemon.wait_for_jvm(jvm.pid)

        def has_function(text):
            return any(line.endswith((" turn", " spin")) for line in text.splitlines())

        self.assertFalse(has_function(living(*urls, jvm.pid)), "HotSpot tells of it")
        collector.record_until(self.place, lambda _: has_function(living(*urls, jvm.pid)),
                               "-p", jvm.pid, hz=199)
        processes.wait_until(lambda: has_function(daemon.read_map(jvm.pid)),
                             lambda: "the perf map has the functions", of=jvm)
