# SPDX-License-Identifier: Apache-2.0
"""Samples by BPF and by perf's rings: the same graph, and a word on who took them and why."""

import contextlib
import json
import os
import pathlib
import subprocess
import time

from harness import chance, collector, processes, settings
from harness.case import Case
from harness.marks import counted, measured, plain, shared
from harness.shared import SharedCase
from score_stacks import Score
from stack_workloads import WORKLOADS, Agent
from test_doctor import PERFMON, PTRACE, READ, as_nobody, setting

SAMPLERS = ("perf", "bpf-exact", "bpf-slices", "bpf-scratch")
SECONDS = 4
HZ = 499
# Four standard deviations of a half of 1,900 samples, and what a program's own phases vary.
POINTS = 6
PAGED_STACK = settings.BUILD / "tests" / "e2e" / "paged_stack"
CHAIN = ["main", "outer", "above", "below"]
SWAP_BYTES = 64 << 20


@contextlib.contextmanager
def swap(directory):
    """Pages may be swapped out, if need be into a file of the test's own."""
    if len(pathlib.Path("/proc/swaps").read_text().splitlines()) > 1:
        yield True
        return
    path = directory / "swap"
    with open(path, "wb") as file:
        file.write(bytes(SWAP_BYTES))
    path.chmod(0o600)
    made = all(subprocess.run([program, path], capture_output=True, check=False).returncode == 0
               for program in ("mkswap", "swapon"))
    try:
        yield made
    finally:
        if made:
            subprocess.run(["swapoff", path], check=True)


class Recordings:
    def record(self, *args, prefix=()):
        return collector.fgcollect("record", "-d", 1, "-o", "-", "--format", "folded", *args,
                                   *self.place.options(), prefix=prefix)


@counted
@shared
class WhoTakesTheSamplesIsSaid(Recordings, SharedCase):
    @classmethod
    def set_up_host(cls, host):
        cls.jvm = host.container("KnownShare").wait_for_line("ready")

    def test_who_took_the_samples_and_why_is_said(self):
        self.assertIn(", by BPF (", self.record().text)
        self.assertIn(", by perf", self.record("--sampler", "perf").text)
        for path in (self.place.run, self.place.maps):
            os.chown(path, 65534, 65534)
        few = as_nobody(PERFMON, PTRACE, READ)
        finished = self.record(prefix=few)
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn(", by perf (CAP_BPF is missing)", finished.text)
        self.assert_fails(self.record("--sampler", "bpf", prefix=few), 1, "CAP_BPF is missing")
        self.assert_fails(self.record(prefix=as_nobody("bpf", PTRACE, READ)), 1, "CAP_PERFMON")
        enough = as_nobody(PERFMON, "bpf", PTRACE, READ)
        finished = self.record("--sampler", "bpf", prefix=enough)
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("100.0 % rooted, 0 lost, by BPF (", finished.text)

    def test_a_daemon_takes_them_by_its_own_way_and_says_so(self):
        self.watch().wait_for_jvm(self.jvm.pid)
        self.assertIn(", by BPF (slices)", self.record("--sampler", "bpf-slices").text)
        self.assertIn(", by perf", self.record("--sampler", "perf").text)
        listed = json.loads(collector.fgcollect("list", "--json", *self.place.options()).out)
        self.assertEqual(listed["collector"]["recordings"]["samples_merged"], 0)
        self.assertEqual(listed["collector"]["recordings"]["sampler"], "perf")
        finished = self.record("--max-samples", "5", "-F", "999")
        listed = json.loads(collector.fgcollect("list", "--json", *self.place.options()).out)
        self.assertGreater(listed["collector"]["recordings"]["samples_merged"], 100, str(finished))

    def test_a_pid_namespace_falls_back(self):
        prefix = ["unshare", "--pid", "--fork", "--mount-proc"]
        finished = collector.fgcollect("doctor", "--json", *self.place.options(), prefix=prefix)
        found = [f for f in json.loads(finished.out)["findings"] if f["check"] == "sampler"]
        self.assertEqual([f["state"] for f in found], ["note"], str(finished))
        self.assertIn("PID namespace", found[0]["what"])


class Samplers(Recordings, Case):
    @counted
    def test_all_samplers_give_the_same_graph(self):
        workload = WORKLOADS["recursion-400"]
        totals = {}
        with workload.running(Agent(self.place), 17, SECONDS * len(SAMPLERS) * 2) as running:
            time.sleep(0.5)
            for sampler in SAMPLERS:
                recording = collector.record(self.place, "--threads", "--sampler", sampler,
                                             seconds=SECONDS, hz=HZ)
                score = Score(recording.folded, workload.must, workload.shares)
                print(sampler, score)
                for verdict in ("unnamed", "unrooted", "cut"):
                    chance.assert_at_most(self, score.counts[verdict], score.samples, 0.001,
                                          f"{sampler}: {verdict}\n{score}")
                totals[sampler] = self.depths(recording.folded)
        for sampler in SAMPLERS[1:]:
            self.assertLess(abs(totals[sampler] - totals["perf"]), POINTS, totals)

    @staticmethod
    def depths(folded):
        """Per cent of samples whose stack has more than 300 frames."""
        deep = sum(count for frames, count in folded.stacks if len(frames) > 300)
        return 100 * deep / max(sum(count for _, count in folded.stacks), 1)

    def paged_stack(self, mode, *args):
        """The stacks of paged_stack, from main() on, and the samples of them that were cut."""
        program = self.background([PAGED_STACK, mode], f"{mode}{time.monotonic_ns()}")
        processes.wait_until(lambda: "ready" in program.text, "it runs")
        recording = collector.record(self.place, "-p", program.pid, *args, seconds=2, hz=HZ)
        program.stop()
        counts = {"whole": 0, "cut": 0}
        for frames, count in recording.folded.stacks:
            # The compiler has versions of functions: "above.isra.0".
            names = [frame.split(".")[0] for frame in frames if frame.split(".")[0] in CHAIN]
            is_cut = any("[truncated: " in frame for frame in frames)
            # What is there is right, whether it is all or not.
            self.assertEqual(names, CHAIN[len(CHAIN) - len(names):], frames)
            self.assertTrue(is_cut or names == CHAIN, frames)
            counts["cut" if is_cut else "whole"] += count
        print(mode, args, counts)
        return counts

    @counted
    def test_pages_that_were_never_written_to_leave_stacks_whole(self):
        for sampler in SAMPLERS:
            counts = self.paged_stack("hole", "--sampler", sampler)
            self.assertGreater(counts["whole"], 10)
            self.assertEqual(counts["cut"], 0)

    @measured
    def test_stacks_that_were_swapped_out_are_whole_or_cut_and_never_wrong(self):
        with swap(self.directory) as is_there:
            if not is_there:
                self.skipTest("no swap can be made here: mkswap or swapon has failed")
            self.watch()
            for sampler in SAMPLERS:
                counts = self.paged_stack("swap", "--sampler", sampler)
                self.assertGreater(counts["whole"], 10)
                # Cut is who was sampled in the moment before a page came back.
                self.assertLess(counts["cut"], 0.2 * counts["whole"])
                if sampler != "perf":
                    listed = json.loads(collector.fgcollect("list", "--json",
                                                            *self.place.options()).out)
                    unread = listed["collector"]["recordings"]["samples_with_unread_pages"]
                    self.assertGreater(unread, 10)
            # Whoever reads threads brings the pages in.
            counts = self.paged_stack("sleep", "--kind", "offcpu")
            self.assertGreater(counts["whole"], 1e6)
            self.assertLess(counts["cut"], 0.05 * counts["whole"])

    @measured
    def test_the_kernel_may_count_runs_of_programs_meanwhile(self):
        self.container("KnownShare").wait_for_line("ready")
        with setting("kernel.bpf_stats_enabled", 1):
            finished = self.record("--sampler", "bpf", "--kind", "cpu,wall", "--format", "html")
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("100.0 % rooted, 0 lost, by BPF (", finished.text)
        self.assertIn("threads by BPF", finished.text)

    @plain
    def test_a_wrong_sampler_is_refused(self):
        for args, words in ((("--sampler", "ebpf"), "there are: auto bpf perf"),
                            (("--max-samples", "0"), "--max-samples"),
                            (("--max-samples", "many"), "from 1 to 10000000")):
            self.assert_fails(self.record(*args), 2, words)
