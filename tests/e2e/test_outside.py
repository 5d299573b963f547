# SPDX-License-Identifier: Apache-2.0
"""JVMs without the agent: names and stacks by what is read from outside."""

import re

from harness import collector, processes, settings
from harness.case import Case

METHODS = ("KnownShare$Hot.run", "KnownShare$Warm.run", "KnownShare$Cold.run")
JDKS = (17, 25)
NO_AGENT = {"JAVA_TOOL_OPTIONS": ""}
OUTSIDE = "read from outside"
INLINED = "-XX:CompileCommand=inline,Inlined.burn* -XX:CompileCommand=dontinline,Inlined.caller"
INLINED_FRAME = re.compile(r"Inlined\.burn[ABC]:\d+_\[i\]$")


def from_thread_to(folded, method):
    """Samples with the method on the stack, and below it Java's main method and the thread's entry."""
    return sum(count for frames, count in folded.stacks
               if "start_thread" in frames and any(f.startswith("KnownShare.main") for f in frames) and
               any(f.startswith(method) for f in frames))


def has_inlined(frames):
    """Whether an inlined method is named with its line, and the stub below Java by its own name."""
    return "call_stub" in frames and any(INLINED_FRAME.match(frame) for frame in frames)


class Outside(Case):
    def jvm(self, jdk, env):
        return self.container("KnownShare", jdk=jdk, env=env).wait_for_line("ready")

    def recorder(self, *of):
        """A recording that goes on until the test ends it."""
        return self.background([settings.COLLECTOR, "record", *of, "-d", 600, "-o",
                                self.directory / "long.folded", *self.place.options()], f"of-{of[-1]}")

    def records(self, pid):
        return collector.record_until(
            self.place, lambda recording: all(from_thread_to(recording.folded, method)
                                              for method in METHODS), "-p", pid)

    def assert_whole(self, pid):
        recording = self.records(pid)
        self.assertIn(f", names of 1 JVM {OUTSIDE}", recording.quality.line)
        self.assertIn(f"PID {pid} (java) is a JVM without the agent: add -agentpath",
                      recording.finished.text)

    def test_methods_are_named_on_whole_stacks(self):
        jvms = [self.jvm(jdk, NO_AGENT) for jdk in JDKS]
        for jvm in jvms:
            self.assert_whole(jvm.pid)
        self.watch()
        for jvm in jvms:
            self.assert_whole(jvm.pid)

    def test_inlined_methods_and_lines_and_stubs_are_named(self):
        for jdk in JDKS:
            jvm = self.container("Inlined", jdk=jdk, env={**NO_AGENT, "JDK_JAVA_OPTIONS": INLINED})
            jvm.wait_for_line("ready")
            collector.record_until(self.place, lambda recording: any(
                has_inlined(frames) for frames, _ in recording.folded.stacks), "-p", jvm.pid, "--lines")

    def test_list_and_the_perf_map_have_it_while_it_is_recorded(self):
        daemon = self.watch()
        for jdk in JDKS:
            jvm = self.jvm(jdk, NO_AGENT)
            recorder = self.recorder("-p", jvm.pid)
            daemon.wait_for_jvm(jvm.pid, state=OUTSIDE)
            row = daemon.jvm(jvm.pid)
            self.assertEqual(row["agent"], "none")
            self.assertEqual((row["outside"]["problem"], row["outside"]["lacks"]), ("", ""))
            self.assertEqual(row["bad_records"], 0)
            self.assertRegex(row["jvm_version"], rf"^{jdk}\b")
            self.assertIn("KnownShare", row["command"])
            self.assertIn(OUTSIDE, daemon.list().text)
            processes.wait_until(lambda pid=jvm.pid: "KnownShare$Hot" in daemon.read_map(pid),
                                 lambda pid=jvm.pid: daemon.read_map(pid), of=jvm.pid)
            recorder.stop()
            processes.wait_until(lambda pid=jvm.pid: not daemon.jvm(pid), lambda: daemon.list().text)

    def test_a_container_is_recorded_as_it_is(self):
        jvm = self.jvm(17, NO_AGENT)
        for options in ((), ("-a",)):
            recording = collector.record_until(
                self.place, lambda recording: all(from_thread_to(recording.folded, method)
                                                  for method in METHODS),
                *options, "--container", jvm.id)
            self.assertIn(f", names of 1 JVM {OUTSIDE}", recording.quality.line)
        self.watch()
        recording = collector.record_until(
            self.place, lambda recording: all(from_thread_to(recording.folded, method)
                                              for method in METHODS), "--container", jvm.id)
        self.assertIn(f", names of 1 JVM {OUTSIDE}", recording.quality.line)

    def assert_found(self, jvms, *option):
        recording = collector.record_until(
            self.place, lambda recording: from_thread_to(recording.folded, METHODS[0]), *option)
        self.assertRegex(recording.quality.line, f", names of {jvms} {OUTSIDE}")

    def test_a_class_and_a_label_find_it(self):
        jvms = [self.jvm(jdk, {**NO_AGENT, "OTEL_SERVICE_NAME": f"shop-{jdk}",
                               "OTEL_RESOURCE_ATTRIBUTES": "team=found"}) for jdk in JDKS]
        # Other tests' JVMs of that class have no such label.
        self.assert_found("2 JVMs", "--jvm", "Known[S]hare", "--label", "team=found")
        self.assert_found("1 JVM", "--label", "service.name=shop-25")
        daemon = self.watch()
        self.assert_found("1 JVM", "-a", "--label", "service.name=shop-17")
        recorder = self.recorder("--jvm", "KnownShare")
        for jvm in jvms:
            daemon.wait_for_jvm(jvm.pid, state=OUTSIDE)
        later = self.jvm(25, NO_AGENT)
        daemon.wait_for_jvm(later.pid, state=OUTSIDE)
        recorder.stop()

    def test_programs_of_a_second_are_found_by_their_class(self):
        """Each begins when the one before has ended, and most have ended when all agents would have dialled."""
        again = 'while "$@"; do :; done'
        begun = self.background(["sh", "-c", again, "again", *self.java("KnownShare", "1")], "short")
        processes.wait_until(lambda: "ready" in begun.text, lambda: begun.text, of=begun)
        self.assert_found(r"[1-9]\d* JVMs?", "--jvm", "Known[S]hare", "--comm", "java")
        self.watch()
        self.assert_found(r"[1-9]\d* JVMs?", "--jvm", "Known[S]hare", "--comm", "java")

    def test_threads_have_their_full_names(self):
        for jdk in JDKS:
            jvm = self.container("Threads", "3", "0", "the-name-of-a-worker-", jdk=jdk, env=NO_AGENT)
            jvm.wait_for_line("ready")
            collector.record_until(self.place, lambda recording: all(
                any(f"the-name-of-a-worker-00{i}" in frames for frames, _ in recording.folded.stacks)
                for i in range(3)), "-p", jvm.pid, "--threads")

    def test_a_daemon_that_records_all_keeps_the_perf_map(self):
        jvm = self.jvm(17, NO_AGENT)
        graphs = self.directory / "graphs"
        graphs.mkdir()
        daemon = self.watch("-a", "-o", graphs)
        daemon.wait_for_jvm(jvm.pid, state=OUTSIDE)
        processes.wait_until(lambda: "KnownShare$Hot" in daemon.read_map(jvm.pid),
                             lambda: daemon.read_map(jvm.pid), of=jvm.pid)

    def test_an_agent_that_comes_later_takes_over(self):
        daemon = self.watch()
        self.place.run.chmod(0o700)  # no agent reaches the socket
        jvms = [self.jvm(jdk, None) for jdk in JDKS]
        for jvm in jvms:
            self.recorder("-p", jvm.pid)
        for jvm in jvms:
            daemon.wait_for_jvm(jvm.pid, state=OUTSIDE)
        self.place.run.chmod(0o755)
        for jvm in jvms:
            daemon.wait_for_jvm(jvm.pid, state="current")
            self.assertEqual(daemon.jvm(jvm.pid)["agent"], "dials")
            self.assertNotIn(OUTSIDE, self.records(jvm.pid).finished.text)
