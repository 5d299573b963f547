# SPDX-License-Identifier: Apache-2.0
"""A replay makes the stacks of a JVM again from a capture, when the JVM is gone.

The claim is strict: each file that a replay writes is equal, byte by byte, to the recording's file.
"""

import stat
import subprocess

from harness import collector, processes, settings
from harness.case import Case
from harness.folded import Folded
from harness.marks import counted, plain

SUFFIXES = ("folded", "svg", "fgrec")
# As on another host: another name, no processes to be seen, no rights.
ELSEWHERE = ["unshare", "-mu", "sh", "-c",
             "hostname elsewhere && mount -t tmpfs none /proc && "
             'exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all "$@"', "sh"]


class Capture(Case):
    def outputs(self, name):
        paths = [self.directory / f"{name}.{suffix}" for suffix in SUFFIXES]
        return [word for path in paths for word in ("-o", path)], paths

    def replay(self, capture, *args, **options):
        return collector.fgcollect("replay", capture, *args, **options)

    def assert_replays(self, jvm, *args):
        capture = self.directory / "jvm.fgcapture"
        live, recorded = self.outputs("live")
        finished = collector.fgcollect("record", "-d", 3, *args, "--capture", capture, *live,
                                       *self.place.options())
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn(f"{capture}: ", finished.out)
        self.assertIn("may be secrets; its mode is 0600", finished.out)
        self.assertEqual(stat.S_IMODE(capture.stat().st_mode), 0o600)
        self.assertGreater(Folded.read(recorded[0]).samples, 10, str(finished))
        jvm.rm()
        for name in ("first", "second"):
            again, replayed = self.outputs(name)
            finished = self.replay(capture, "-v", *again, prefix=ELSEWHERE)
            self.assertEqual(finished.code, 0, str(finished))
            self.assertNotIn("no answer", finished.text)
            for one, other in zip(recorded, replayed):
                self.assertEqual(one.read_bytes(), other.read_bytes(), f"{one} and {other}")
        return capture

    @counted
    def test_replay_gives_the_files_of_the_recording_byte_for_byte(self):
        jvm = self.container("Mixed").wait_for_line("ready")
        self.assert_replays(jvm, "-p", jvm.pid)

    @counted
    def test_replay_of_a_daemon_s_capture_does_not_need_what_the_daemon_knew(self):
        graphs = self.directory / "graphs"
        graphs.mkdir()
        daemon = self.watch("-o", graphs)
        jvm = self.container("Churn", "60").wait_for_line("ready")
        daemon.wait_for_jvm(jvm.pid)
        # The daemon's caches know the JVM's methods and code by then.
        collector.record(self.place, "-p", jvm.pid, seconds=2)
        self.assert_replays(jvm, "-p", jvm.pid)

    @counted
    def test_a_jvm_without_the_agent_is_replayed_byte_for_byte(self):
        for jdk in (17, 25):
            jvm = self.container("Threads", "3", "0", "the-name-of-a-worker-", jdk=jdk,
                                 env={"JAVA_TOOL_OPTIONS": ""}).wait_for_line("ready")
            self.assert_replays(jvm, "-p", jvm.pid)

    @counted
    def test_capture_is_cut_down_to_the_stacks_that_match(self):
        jvm = self.container("KnownShare").wait_for_line("ready")
        # By perf, whose copies of stacks are larger: of exact ones a capture is mostly tables of files.
        capture = self.assert_replays(jvm, "-p", jvm.pid, "--sampler", "perf")
        small, stack = self.directory / "small.fgcapture", self.directory / "stack.folded"
        finished = self.replay(capture, "--match", r"hot", "--most", 3, "--capture", small,
                               "-o", stack)
        self.assertEqual(finished.code, 0, str(finished))
        self.assertEqual(Folded.read(stack).samples, 3)
        self.assertIn("Hot", stack.read_text())
        self.assertLess(small.stat().st_size * 4, capture.stat().st_size)
        again = self.directory / "again.folded"
        self.assertEqual(self.replay(small, "-o", again).code, 0)
        self.assertEqual(again.read_text(), stack.read_text())

    @plain
    def test_what_is_no_capture_is_refused_and_nothing_is_written(self):
        good = self.directory / "good.fgcapture"
        source = settings.SOURCE / "tests/unit/capture/golden/native-no-rule.fgcapture"
        good.write_bytes(source.read_bytes())
        out = self.directory / "out.svg"
        for content, text in ((b"", "no capture"), (b"main;a 1\n", "no capture"),
                              (good.read_bytes()[:-20], "damaged or cut short"),
                              (good.read_bytes()[:100] + b"x" * 50 + good.read_bytes()[150:],
                               "damaged")):
            bad = self.directory / "bad.fgcapture"
            bad.write_bytes(content)
            self.assert_fails(self.replay(bad, "-o", out), 1, bad, text)
            self.assertFalse(out.exists())
        self.assert_fails(self.replay(self.directory / "none", "-o", out), 1, "cannot be opened")
        self.assert_fails(self.replay(self.directory, "-o", out), 1, "Is a directory")
        self.assert_fails(self.replay(good, "--match", "nowhere", "-o", out), 1, "none of its",
                          "nowhere")
        self.assert_fails(self.replay(good, "--match", "(", "-o", out), 1, "--match (")
        self.assert_fails(self.replay(good, "-p", "1"), 2, "-p goes with record")
        self.assert_fails(self.replay(good, "--capture", "-"), 2, "written into a file")
        self.assert_fails(collector.fgcollect("replay"), 2, "which capture")
        self.assertFalse(out.exists())
        piped = subprocess.run([settings.COLLECTOR, "replay", "-", "-o", out], check=False,
                               input=good.read_bytes(), capture_output=True)
        self.assertEqual(piped.returncode, 0, piped)
        self.assertTrue(out.exists())

    def test_second_capture_of_a_daemon_is_refused_while_the_first_goes_on(self):
        daemon = self.watch()
        jvm = self.container("KnownShare").wait_for_line("ready")
        daemon.wait_for_jvm(jvm.pid)
        args = ["record", "-p", str(jvm.pid), *self.place.options()]
        first = self.background([settings.COLLECTOR, *args, "-d", "4", "--progress", "--capture",
                                 self.directory / "1.fgcapture", "-o",
                                 self.directory / "1.folded"], "first")
        processes.wait_until(lambda: first.text, "the first recording goes on")
        second = collector.fgcollect(*args, "-d", 1, "--capture", self.directory / "2.fgcapture",
                                     "-o", self.directory / "2.folded")
        self.assert_fails(second, 1, "writes a capture already")
        self.assertEqual(first.wait().code, 0, first.text)
        self.assertTrue((self.directory / "1.fgcapture").exists())
