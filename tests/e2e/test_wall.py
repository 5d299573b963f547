# SPDX-License-Identifier: Apache-2.0
"""Time that threads wait: what a program knows of itself is in the graph."""

import json
import os
import re
import shutil
import tempfile
import time

from harness import collector, settings
from harness.case import Case
from harness.folded import Folded
from harness.marks import counted, plain, shared
from harness.shared import SharedCase

SECONDS = 12
HZ = 200
PHASES = {"sleep": "Waits$Worker.sleepForAWhile", "lock": "Waits$Worker.waitForTheLock",
          "socket": "Waits$Worker.waitForTheAnswer", "disk": "Waits$Worker.writeToDisk",
          "run": "Waits$Worker.runForAWhile"}
# The calls that a thread which waits for it can be in: HotSpot parks, reads and syncs by these.
REASONS = {"sleeper": ("futex",), "locker": ("futex",), "reader": ("read", "recvfrom", "ppoll", "poll"),
           "writer": ("fsync", "disk", "fdatasync")}
# Phases take some 13 ms: there are 900 of them in a recording, and four standard deviations of a
# share of a third are 6 points.
POINTS = 6
SHORT_PHASES = ("sleepForLong", "waitForTheLock", "waitForTheAnswer")
# Of 10 ms each, 1,200 quanta of a thread are chosen in 12 s: four standard deviations of a share of
# a third are 6 points if each was by itself, and less because long waits are all chosen.
SHORT_POINTS = 5
# Readings meet 240 waits: four standard deviations of a third.
CHANCE_POINTS = 12.5


def truth(text):
    """Of the last line of each thread: name -> nanoseconds."""
    lines = [line.split() for line in text.splitlines()]
    lines = [words for words in lines if len(words) > 2 and "".join(words[1:]).isdigit()]
    return {words[0]: [int(word) for word in words[1:]] for words in lines}


def share_of(part, whole):
    return 100 * part / max(whole, 1)


def on_disk(case):
    """A directory that a container may write to, which is where what is built is: on a disk, while
    /tmp may be in memory on any machine, and is in each container."""
    directory = tempfile.mkdtemp(prefix="waits.", dir=settings.BUILD)
    case.addCleanup(shutil.rmtree, directory, ignore_errors=True)
    os.chmod(directory, 0o777)
    return directory


def start_waits(case, *args, options=()):
    container = case.container("-Djava.io.tmpdir=/disk", "Waits", *args,
                               options=("--volume", f"{on_disk(case)}:/disk", *options))
    container.wait_for_line("ready")
    time.sleep(2)
    return container


class Recordings:
    """What the classes below ask of recordings."""

    def record(self, *args, kind="wall", seconds=SECONDS, hz=HZ):
        return collector.record(self.place, "--threads", "--kind", kind, "--wall-frequency", hz,
                                *args, seconds=seconds)

    def of_thread(self, folded, name):
        stacks = [(frames, count) for frames, count in folded.stacks if frames[1] == name]
        return stacks, sum(count for _, count in stacks)

    def check_totals(self, folded, seconds, names):
        """A thread's time sums up to the time that passed."""
        for name in names:
            total = self.of_thread(folded, name)[1] / 1e6
            self.assertAlmostEqual(total, seconds, delta=0.01 * seconds, msg=name)


@counted
@shared
class WaitsAreWhatTheProgramKnows(Recordings, SharedCase):
    @classmethod
    def set_up_host(cls, host):
        cls.jvm = start_waits(host)

    def compare(self, before, after, folded):
        spent = [b - a for a, b in zip(before["mixed"], after["mixed"])]
        mixed = [(frames, count) for frames, count in folded.stacks if frames[1] == "mixed"]
        whole = sum(count for _, count in mixed)
        for phase, ns in zip(PHASES, spent):
            found = sum(count for frames, count in mixed
                        if any(frame.startswith(PHASES[phase]) for frame in frames))
            known = share_of(ns, sum(spent))
            print(f"{phase}: known {known:.1f} %, found {share_of(found, whole):.1f} %")
            self.assertAlmostEqual(share_of(found, whole), known, delta=POINTS, msg=phase)

    def check_reasons(self, folded):
        for name, reasons in REASONS.items():
            stacks, whole = self.of_thread(folded, name)
            blocked = sum(count for frames, count in stacks
                          if frames[-1] in [f"[blocked: {reason}]_[w]" for reason in reasons])
            waits = sum(count for frames, count in stacks if frames[-1].startswith("[blocked"))
            print(f"{name}: {share_of(blocked, waits):.1f} % of waits are {reasons}")
            self.assertGreater(share_of(blocked, waits), 95 if name != "writer" else 30, name)

    def test_shares_totals_and_reasons_are_what_the_program_knows(self):
        before = truth(self.jvm.logs())
        recording = self.record()
        after = truth(self.jvm.logs())
        self.assertIn("threads by BPF", recording.finished.text)
        self.compare(before, after, recording.folded)
        self.check_totals(recording.folded, SECONDS, [*REASONS, "mixed"])
        self.check_reasons(recording.folded)
        cut = sum(count for frames, count in recording.folded.stacks
                  if any("[truncated" in frame or "[unknown" in frame for frame in frames))
        self.assertLess(share_of(cut, recording.folded.samples), 0.5)

    def test_without_bpf_they_are_what_can_be_known(self):
        recording = self.record("--sampler", "perf")
        self.assertIn("threads by /proc (not by BPF, as was asked for)", recording.finished.text)
        self.check_totals(recording.folded, SECONDS, [*REASONS, "mixed"])
        # Not the others: an interpreted native method is found by a register that /proc lacks.
        for name, phase in (("sleeper", "sleep"), ("locker", "lock")):
            stacks, whole = self.of_thread(recording.folded, name)
            blocked = [(frames, count) for frames, count in stacks
                       if frames[-1] == "[blocked: futex]_[w]"]
            found = sum(count for frames, count in blocked
                        if any(frame.startswith(PHASES[phase]) for frame in frames))
            # What is left it has waited for a CPU, on a busy machine.
            self.assertGreater(share_of(sum(count for _, count in blocked), whole), 10, name)
            self.assertGreater(share_of(found, sum(count for _, count in blocked)), 99, name)

    def test_several_kinds_are_recorded_at_once(self):
        path = self.place.directory / "all.fgrec"
        finished = collector.fgcollect("record", "-d", 3, "--kind", "offcpu,cpu,wall", "-o", path,
                                       *self.place.options())
        self.assertEqual(finished.code, 0, str(finished))
        totals = {}
        for kind in ("cpu", "wall", "offcpu"):
            folded = collector.fgcollect("render", "--kind", kind, path, "-o", "-", "--format",
                                         "folded")
            self.assertEqual(folded.code, 0, str(folded))
            totals[kind] = Folded(folded.out).samples
            self.assertIn("quality of wall" if kind == "wall" else "quality", finished.text)
        print(totals)
        self.assertGreater(totals["wall"], totals["offcpu"])
        self.assertGreater(totals["offcpu"], 15 * 3e6) # so many threads wait at least

    def test_a_daemon_records_and_shows_them_too(self):
        graphs = self.directory / "graphs"
        graphs.mkdir()
        watch = self.watch("--kind", "cpu,wall", "--short-waits", "-o", graphs)
        watch.wait_for_jvm(self.jvm.pid)
        finished = collector.fgcollect("record", "-d", 2, "--kind", "wall", "-o", "-", "--format",
                                       "folded", *self.place.options())
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("quality of wall", finished.text)
        finished = collector.fgcollect("top", "--once", "-d", 3, "--kind", "wall",
                                       *self.place.options())
        self.assertIn("threads (wall), read 20 times a second", finished.text)
        counts = watch.list_json()["collector"]["recordings"]["threads"]
        self.assertGreater(counts["ticks"], 20)
        self.assertGreater(counts["waits"], counts["waits_chosen"])
        self.assertGreater(counts["waits_chosen"], 100)
        for name in ("late_ticks", "failed_ticks", "readings_lost", "time_dropped_us", "left_out",
                     "stackless_processes", "waits_lost", "waits_refused"):
            self.assertEqual(counts[name], 0, json.dumps(counts))


@counted
@shared
class ShortWaitsAreWhatTheProgramKnows(Recordings, SharedCase):
    @classmethod
    def set_up_host(cls, host):
        cls.jvm = host.container("ShortWaits").wait_for_line("ready")
        time.sleep(2)

    def compare_short(self, before, after, folded, points):
        """Shares of blocked time of a thread that waits for 50, 1 and 0.3 ms."""
        spent = [b - a for a, b in zip(before["mixed"], after["mixed"])]
        blocked = [(frames, count) for frames, count in folded.stacks if frames[1] == "mixed"
                   and any(frame.startswith("[blocked") for frame in frames)]
        whole = sum(count for _, count in blocked)
        for method, ns in zip(SHORT_PHASES, spent):
            found = sum(count for frames, count in blocked
                        if any(frame.startswith(f"ShortWaits.{method}") for frame in frames))
            known = share_of(ns, sum(spent))
            print(f"{method}: known {known:.1f} %, found {share_of(found, whole):.1f} %")
            self.assertAlmostEqual(share_of(found, whole), known, delta=points, msg=method)

    def record_short(self, *args):
        before = truth(self.jvm.logs())
        recording = self.record(*args, hz=20)
        return before, truth(self.jvm.logs()), recording

    def check_states_sum_up(self, folded):
        self.check_totals(folded, SECONDS, ["mixed", "holder", "answers"])

    def test_short_waits_have_the_share_of_their_length(self):
        before, after, recording = self.record_short("--short-waits")
        self.assertIn("threads by BPF, short waits by BPF", recording.finished.text)
        self.compare_short(before, after, recording.folded, SHORT_POINTS)
        self.check_states_sum_up(recording.folded)

    def test_short_waits_are_met_by_chance_without(self):
        before, after, recording = self.record_short()
        self.compare_short(before, after, recording.folded, CHANCE_POINTS)
        self.check_states_sum_up(recording.folded)

    def test_who_ends_a_wait_stands_on_top_of_it(self):
        _, _, recording = self.record_short("--short-waits", "--waker")
        tops = {method: {} for method in SHORT_PHASES}
        for frames, count in recording.folded.stacks:
            at = [i for i, frame in enumerate(frames) if frame.startswith("[woken by")]
            if frames[1] == "mixed" and at:
                self.assertTrue(frames[at[0] - 1].startswith("[blocked"), frames)
                for method in SHORT_PHASES:
                    if any(frame.startswith(f"ShortWaits.{method}") for frame in frames[:at[0]]):
                        top = " ".join(frames[at[0]:])
                        tops[method][top] = tops[method].get(top, 0) + count
        # A waker's stack is upside down: what ended the wait, and far above it who called that.
        wakers = ((r"\[woken by an interrupt\]_\[w\]$", 90),
                  (r"\[woken by holder\].* Unsafe_Unpark_\[w\] .*ReentrantLock\.unlock_\[w\] "
                   r"ShortWaits\.hold_\[w\] .* start_thread_\[w\] ", 90),
                  (r"\[woken by a soft interrupt in answers\].* ShortWaits\.lambda\$serve\$0_\[w\] ",
                   90))
        for method, (waker, percent) in zip(SHORT_PHASES, wakers):
            found = sum(count for top, count in tops[method].items() if re.match(waker, top))
            print(f"{method}: {share_of(found, sum(tops[method].values())):.1f} % as known")
            self.assertGreater(share_of(found, sum(tops[method].values())), percent,
                               "\n".join(f"{count} {top}" for top, count in tops[method].items()))


class Wall(Recordings, Case):
    @counted
    def test_who_waits_for_a_processor_is_runnable(self):
        container = start_waits(self, "spin", options=("--cpuset-cpus", "0"))
        before = truth(container.logs())
        recording = self.record()
        after = truth(container.logs())
        for name in ("spinner-0", "spinner-1"):
            ran, waited = (b - a for a, b in zip(before[name], after[name]))
            stacks, whole = self.of_thread(recording.folded, name)
            runnable = sum(count for frames, count in stacks if frames[-1] == "[runnable]_[w]")
            known = share_of(waited, ran + waited)
            print(f"{name}: waited {known:.1f} %, runnable {share_of(runnable, whole):.1f} %")
            self.assertAlmostEqual(share_of(runnable, whole), known, delta=POINTS)

    @plain
    def test_wrong_words_are_refused(self):
        for args, words in ((("--kind", "odours"), "no such kind: odours; there are: cpu wall offcpu"),
                            (("--kind", "cpu,"), "which kind?"),
                            (("--wall-frequency", "20"), "goes with --kind wall or offcpu"),
                            (("--kind", "wall", "--wall-frequency", "0"), "from 1 to 1000"),
                            (("--short-waits",), "--short-waits goes with --kind wall or offcpu"),
                            (("--kind", "wall", "--waker"), "--waker goes with --short-waits"),
                            (("--kind", "wall", "--short-waits", "--sampler", "perf"),
                             "does not go with --sampler perf"),
                            (("--kind", "wall", "--capture", "x"), "--capture does not go with --kind wall")):
            finished = collector.fgcollect("record", *args, *self.place.options())
            self.assert_fails(finished, 2, words)
        finished = collector.fgcollect("top", "--kind", "cpu,wall", *self.place.options())
        self.assert_fails(finished, 2, "top shows one kind")
