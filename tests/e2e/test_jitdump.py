# SPDX-License-Identifier: Apache-2.0
"""perf inject names code in containers by fgcollect's jitdump, without any perf map."""

import json

from harness import collector, processes
from harness.case import Case
from harness.marks import counted


# Samples of a JVM; fewer of them have frames in generated code.
ENOUGH = 400
# Of one that starts, most are the compilers'.
STARTING = 2000


class JitSamples:
    """Samples with frames in generated code: how many, and how many with each such frame named.

    A frame is in generated code if it is in a file that perf inject made, or in anonymous memory,
    for which perf would have used a perf map.
    """

    def __init__(self, text, pid, method):
        self.samples = self.named = self.of_method = 0
        for sample in text.split("\n\n"):
            frames = [line for line in sample.splitlines()
                      if f"/jitted-{pid}-" in line or f"/perf-{pid}.map" in line]
            if frames:
                self.samples += 1
                self.named += not any("[unknown]" in line for line in frames)
                self.of_method += any(f" {method} (" in line and "/jitted-" in line
                                      for line in frames)

    def __repr__(self):
        return f"{self.named} of {self.samples} JIT samples named, {self.of_method} with the method"


class Jitdump(Case):
    def setUp(self):
        super().setUp()
        self.dumps = self.directory / "dumps"
        self.dumps.mkdir()
        self.data = self.directory / "perf.data"

    def record(self, daemon, pid, seconds, enough=ENOUGH):
        """Of the daemon and the JVM alone: perf inject fails at the first jitdump that it cannot read,
        and those of other tests' daemons go. Lasts until there are enough samples."""
        samples = 0
        while samples < enough:
            processes.run(["perf", "record", "-q", "-k", "mono", "-p", f"{daemon.pid},{pid}", "-g",
                           "-F", "299", "-o", self.data, "--", "sleep", seconds], check=True)
            samples = len(processes.run(["perf", "script", "-f", "-i", self.data, "--pid", pid, "-G",
                                         "-F", "pid"], check=True).out.split())
            self.assertLess(seconds, 100, f"{samples} samples")
            seconds *= 2

    def script(self, pid, method):
        injected = self.directory / "perf.jit.data"
        processes.run(["perf", "inject", "--jit", "-i", self.data, "-o", injected], check=True)
        finished = processes.run(["perf", "script", "-f", "-i", injected, "--pid", pid,
                                  "-F", "comm,pid,tid,time,event,ip,sym,dso"], check=True)
        samples = JitSamples(finished.out, pid, method)
        print(samples)
        return samples

    def counters(self, daemon):
        return json.loads(daemon.list("--json").out)["collector"]

    @counted
    def test_perf_inject_names_the_code_of_a_container(self):
        daemon = self.watch("--jitdump", self.dumps)
        jvm = self.container("KnownShare").wait_for_line("ready")
        pid = jvm.pid
        self.record(daemon, pid, 3)
        counters = self.counters(daemon)
        jvm.end()  # while it lives, perf looks for its files in its container
        daemon.stop()
        samples = self.script(pid, "LKnownShare$Hot;::run")
        self.assertGreater(samples.samples, 100)
        self.assertGreaterEqual(samples.named, 0.99 * samples.samples)
        self.assertGreater(samples.of_method, 0.5 * samples.samples)
        self.assertGreater(counters["jitdump_written"], 100)
        self.assertEqual(counters["jitdump_skipped"], 0)

    @counted
    def test_code_from_before_the_collector_is_in_the_jitdump(self):
        jvm = self.container("KnownShare").wait_for_line("ready")
        pid = jvm.pid
        daemon = self.watch("--jitdump", self.dumps)
        daemon.wait_for_jvm(pid)
        self.record(daemon, pid, 3)
        jvm.end()
        daemon.stop()
        samples = self.script(pid, "LKnownShare$Hot;::run")
        self.assertGreater(samples.samples, 100)
        self.assertGreaterEqual(samples.named, 0.99 * samples.samples)
        self.assertGreater(samples.of_method, 0.5 * samples.samples)

    @counted
    def test_code_keeps_its_name_in_the_jitdump_when_its_heap_grows(self):
        # perf is told of the whole heap each time, which ends what was injected there before.
        daemon = self.watch("--jitdump", self.dumps)
        jvm = self.container("-XX:InitialCodeCacheSize=512K", "-XX:CodeCacheExpansionSize=64K",
                             "Mixed")
        pid = jvm.pid
        self.record(daemon, pid, 6, STARTING)
        jvm.end()
        daemon.stop()
        samples = self.script(pid, "LMixed$Maps;::run")
        self.assertGreater(samples.samples, 100)
        self.assertGreaterEqual(samples.named, 0.8 * samples.samples)

    def test_record_alone_writes_a_jitdump(self):
        self.container("KnownShare").wait_for_line("ready")
        finished = collector.fgcollect("record", "-d", 2, "-o", self.directory / "graph.svg",
                                       "--jitdump", self.dumps, *self.place.options())
        self.assertEqual(finished.code, 0, str(finished))
        dumps = list(self.dumps.iterdir())
        self.assertEqual(len(dumps), 1)
        self.assertRegex(dumps[0].name, r"^jit-\d+\.dump$")
        self.assertTrue(b"LKnownShare$Hot;::run\0" in dumps[0].read_bytes())

    def test_jitdump_that_cannot_be_written_stops_it_at_once(self):
        nowhere = self.directory / "nowhere"
        daemon = self.watch("--jitdump", nowhere, started=False)
        self.assert_fails(daemon.wait(), 1, nowhere, "No such file or directory", "--jitdump")
        record = ["record", "-d", 60, "-o", self.directory / "graph.svg", *self.place.options()]
        self.assert_fails(collector.fgcollect(*record, "--jitdump", nowhere), 1, nowhere,
                          "No such file or directory")
        self.watch()
        self.assert_fails(collector.fgcollect(*record, "--jitdump", self.dumps), 1, self.dumps,
                          "daemon")
        self.assert_fails(collector.fgcollect("list", "--jitdump", self.dumps), 2, "--jitdump")
