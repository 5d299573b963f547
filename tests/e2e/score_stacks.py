#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How whole the stacks of a recording are, judged only from its folded stacks.

usage: score_stacks.py FOLDED [OWN_THREADS MUST...]

FOLDED was recorded with --threads: the two lowest frames of a stack are the process and the thread.
OWN_THREADS is a regular expression for the names of the threads that do the program's own work.
Each MUST is a regular expression for a frame that each stack of these threads has to have.

Each sample is judged by itself, so the verdicts have no noise of sampling. A sample is

- unnamed: its stack has a frame without a name;
- unrooted: the lowest frame is no entry of a thread or process, or the stack says that it is
  truncated for another reason than its depth;
- cut: the snapshot ended before the stack ended, or the stack has more frames than are kept. A cut
  stack is judged only by its names;
- missing, for the program's own threads: the stack lacks a frame that it must have. Of a cut stack
  only the known part is judged, if a rule for cut stacks exists.

A sample with any of these verdicts but cut is bad. By the truth a stack is rooted that is neither
unrooted nor cut nor lacks a frame; whether one is whose lowest frame has no name, nobody knows. Time
of which a recording says that it has no stack is no sample.
"""

import collections
import re
import sys

from harness.folded import Folded

LABELS = 2  # process and thread
LAUNCHER = "JLI_Launch"
# What the collector says of time without a stack.
NO_STACK = "[on CPU"
SUFFIX = re.compile(r"_\[[01ijk]\]$")
TRUNCATED = re.compile(r"^\[truncated: (.*)\]$")
TOO_DEEP = re.compile(r"snapshot|too deep|too many frames|limit|page not in memory", re.IGNORECASE)
KERNEL_ENTRY = re.compile(r"^(entry_|asm_|el0t_)")
UNNAMED_FUNCTION = re.compile(r"^(.+):fn@")

# As in collector/symbolize/symbolizer.c: where threads and processes begin, in glibc, musl and the
# kernel, and the functions that threads are made with.
ENTRIES = ("_start", "_start_c", "__clone", "__clone3", "clone", "clone3", "start_thread", "start",
           "__libc_start_main", "__libc_start_call_main", "ret_from_fork", "ret_from_fork_asm",
           "_dl_start_user")
# The last one is that of the agent's thread.
MAINS = ("thread_native_entry", "java_start", "ThreadJavaMain", "JavaMain", "main", "run")


def is_one_of(name, names):
    """Whether the name is one of names. Libraries add versions and clones to names, as in
    __libc_start_main_impl@@GLIBC_2.34."""
    base = re.split("[@.]", name, maxsplit=1)[0].removesuffix("_impl")
    return base in names


def is_java(frame):
    return SUFFIX.search(frame) and not frame.endswith("_[k]")


def is_unnamed_in_libc(frame):
    match = UNNAMED_FUNCTION.match(frame)
    return bool(match) and match.group(1).startswith(("libc.", "libc-", "ld-musl-"))


def is_rooted_by_name(frames):
    """frames: from the root on, without labels. A stripped libc names neither its thread entry nor
    the caller of that: up to two of its functions lie below the function that a thread was made
    with. A stripped program does not name its _start, and neither does glibc's loader. A
    process that ends has no memory any more, so its stacks have only the kernel's frames."""
    if not frames or is_java(frames[0]):
        return False
    if KERNEL_ENTRY.match(frames[0]) and all(frame.endswith("_[k]") for frame in frames):
        return True
    if is_one_of(SUFFIX.sub("", frames[0]), ENTRIES):
        return True
    if not UNNAMED_FUNCTION.match(frames[0]):
        return False
    if frames[0].startswith("ld-linux") or \
            len(frames) > 1 and is_one_of(frames[1], ("__libc_start_main",)):
        return True
    above = 1 if not (len(frames) > 1 and is_unnamed_in_libc(frames[1])) else 2
    return is_unnamed_in_libc(frames[0]) and len(frames) > above and is_one_of(frames[above], MAINS)


class Must:
    """What each stack of the program's own threads has to have.

    threads: a regular expression for whole names of threads
    frames: regular expressions for whole frames without suffix; each matches one at least
    when: judges only the stacks that have such a frame, or all
    check: a function of the stack's frames (root first, without suffix) that says what is wrong, or
        None; check_cut: likewise, for stacks that are cut, of which nothing else is asked
    """

    def __init__(self, threads, *frames, when=None, check=None, check_cut=None):
        self.threads = re.compile(threads)
        self.frames = [re.compile(frame) for frame in frames]
        self.when = re.compile(when) if when else None
        self.check, self.check_cut = check, check_cut

    def concerns(self, thread, names):
        """The launcher's first thread, which waits for the one that runs main, has its name."""
        if not self.threads.fullmatch(thread) or LAUNCHER in names:
            return False
        return not self.when or any(self.when.fullmatch(name) for name in names)

    def what_is_missing(self, names, is_cut):
        """Says what is missing in names (root first, without suffix), or None."""
        if is_cut:
            return self.check_cut(names) if self.check_cut else None
        for frame in self.frames:
            if not any(frame.fullmatch(name) for name in names):
                return frame.pattern.replace("\\", "")
        return self.check(names) if self.check else None


class Score:
    """Samples by verdict, and the stacks of each verdict.

    must: a Must, or None; shares: {name: regular expression}; samples that match are counted in
    by_share, for comparison with the shares that the program prints.
    """

    VERDICTS = ("unnamed", "unrooted", "cut", "missing", "bad")

    def __init__(self, folded, must=None, shares=None):
        self.samples = self.own = self.rooted = self.unjudged = 0
        self.counts = collections.Counter()
        self.truncated = collections.Counter()
        self.missing = collections.Counter()
        self.by_share = collections.Counter()
        self.threads = collections.Counter()
        self.bad_stacks = collections.Counter()
        self.must = must
        self.shares = {name: re.compile(wanted) for name, wanted in (shares or {}).items()}
        self.entries = self._entries(folded)
        for frames, count in folded.stacks:
            self._add(frames, count)

    @staticmethod
    def _entries(folded):
        """Unnamed functions that are thread entries by the other frames of some stack. Such a
        function is an entry in all stacks."""
        return {frames[LABELS] for frames, _ in folded.stacks
                if len(frames) > LABELS and UNNAMED_FUNCTION.match(frames[LABELS])
                and is_rooted_by_name(frames[LABELS:])}

    def _add(self, frames, count):
        thread = frames[1] if len(frames) > 1 else ""
        stack = frames[LABELS:]
        if stack and stack[0].startswith(NO_STACK):
            return
        reasons = [match.group(1) for match in map(TRUNCATED.match, stack) if match]
        verdicts = set()
        if not stack or any(frame.startswith("[unknown") for frame in stack):
            verdicts.add("unnamed")
        if any(map(TOO_DEEP.search, reasons)):
            verdicts.add("cut")
        elif reasons or not (stack and (stack[0] in self.entries or is_rooted_by_name(stack))):
            verdicts.add("unrooted")
        self.samples += count
        for reason in reasons:
            self.truncated[reason] += count
        self._judge_own(thread, [SUFFIX.sub("", frame) for frame in stack], verdicts, count)
        if verdicts - {"cut"}:
            self.bad_stacks[tuple(sorted(verdicts - {"cut"})), tuple(frames)] += count
            verdicts.add("bad")
        if not verdicts & {"unrooted", "cut", "missing"}:
            self.rooted += count
        elif stack and stack[0].startswith("[unknown") and "missing" not in verdicts:
            self.unjudged += count
        for verdict in verdicts:
            self.counts[verdict] += count

    def _judge_own(self, thread, names, verdicts, count):
        for share, wanted in self.shares.items():
            if any(wanted.fullmatch(name) for name in names):
                self.by_share[share] += count
        if not self.must or not self.must.concerns(thread, names):
            return
        self.threads[thread] += count
        self.own += count
        missing = self.must.what_is_missing(names, "cut" in verdicts)
        if missing:
            self.missing[missing] += count
            verdicts.add("missing")

    def percent(self, verdict):
        """The percentage of a verdict among all samples; of missing: among samples of the program's
        own threads. None without such samples."""
        of = self.own if verdict == "missing" else self.samples
        return 100 * self.counts[verdict] / of if of else None

    @property
    def rooted_percent(self):
        """The percentage of samples whose stacks are rooted by the truth, or None."""
        return 100 * self.rooted / self.samples if self.samples else None

    @property
    def rooted_at_most(self):
        """The same with the samples of which it is not known."""
        return 100 * (self.rooted + self.unjudged) / self.samples if self.samples else None

    def share_off(self, printed):
        """The largest difference in points from the shares that the program printed, or None."""
        if not self.own or not self.shares or not all(name in printed for name in self.shares):
            return None
        return max(100 * abs(self.by_share[name] / self.own - printed[name])
                   for name in self.shares)

    def top_bad(self, most, ends=4):
        """What is missing most often, and the most frequent bad stacks: each with its verdicts, its
        thread, its lowest and its highest frames."""
        rows = collections.Counter()
        for (verdicts, frames), count in self.bad_stacks.items():
            thread, stack = (frames[1] if len(frames) > 1 else ""), list(frames[LABELS:])
            if len(stack) > 2 * ends:
                stack[ends:-ends] = ["..."]
            alike = re.sub(r"\d+", "N", thread)
            rows[f"{'+'.join(verdicts)} {alike}: {';'.join(stack)}"] += count
        return "\n".join([f"{count:8} without {what}" for what, count in
                          self.missing.most_common(most)]
                         + [f"{count:8} {row}" for row, count in rows.most_common(most)])

    def __str__(self):
        figures = ", ".join(f"{self.percent(verdict):.2f} % {verdict}" for verdict in self.VERDICTS
                            if self.percent(verdict) is not None)
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.truncated.most_common())
        return (f"{self.samples} samples, {self.own} of the program's own threads: {figures}"
                + (f"; truncated: {reasons}" if reasons else ""))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    must = Must(*sys.argv[2:]) if len(sys.argv) > 2 else None
    score = Score(Folded.read(sys.argv[1]), must)
    print(score)
    print(score.top_bad(20))


if __name__ == "__main__":
    main()
