# SPDX-License-Identifier: Apache-2.0
"""What render makes of the test data of FlameGraph and of inferno, beside what these have there as right.

usage: peer_files.py CHECKOUT [-v]

CHECKOUT is a clone of github.com/brendangregg/FlameGraph or github.com/jonhoo/inferno; nothing of it is
copied. A stack that is not the same is put into the other's form, one reason after the other, until it
is: then these reasons are why it differs. Stacks without a reason are printed, and the program ends
with 1. So it does if a file that is no stack file is drawn. -v prints a pair of stacks for each reason.
"""

import argparse
import collections
import dataclasses
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
COLLECTOR = os.environ.get("FG_COLLECTOR", str(SOURCE / "build" / "collector" / "fgcollect"))
OPTIONS = ("pid", "tid", "kernel", "jit", "all", "addrs")
MOST_SHOWN, MOST_WIDE = 5, 200      # stacks without a reason, letters of a stack
SUFFIX = r"_\[[jki01]\]"
LEAST_CLOCK = 500       # times as much: nanoseconds beside microseconds
KIND_OPTIONS = {"--kernel", "--jit", "--all"}


@dataclasses.dataclass
class Case:
    name: str
    path: pathlib.Path
    wanted: pathlib.Path
    options: list
    command: tuple = ("render",)


# ---- forms of names: what is done to a frame so that both sides have one form ----

def each_frame(change):
    return lambda stack: ";".join(change(frame) for frame in stack.split(";"))


def bare(frame):
    return re.sub(rf"{SUFFIX}$", "", frame)


def java_dots(frame):
    """Lorg/a/B;::run, org/a/B:::run, org/a/B:.run -> org/a/B.run; likewise what only looks so."""
    name = re.sub(r"^L(?=[\w$]+/)", "", frame)
    name = re.sub(r"^L([A-Z]\w*)(?=:::)", r"\1", name)
    return re.sub(r":{1,3}\.?", ".", name)


def no_method(frame):
    """Generated code without a separator in its name: stubs, the interpreter, code without a name."""
    return frame[:-4] if re.fullmatch(r"(?:[\w <>]+|\[perf-\d+\.map\])_\[j\]", frame) else frame


def nameless(frame):
    """What has a file and no name: its kind, its brackets, or all of it."""
    name = bare(frame)
    if not name.strip() or re.fullmatch(r"\[[^\]]*\.so[^\]]*\]", name):
        return "[?]"
    return name.replace("[[", "[").replace("]]", "]") if name[0] == "[" and name[-1] == "]" else frame


def vdso(frame):
    return bare(frame) if frame.startswith("__vdso_") else frame


def rust(frame):
    found = re.sub(rf"::h[0-9a-f]{{16}}(?={SUFFIX}|$)", "", frame)
    if "$" in found:
        for code, text in (("$LT$", "<"), ("$GT$", ">"), ("$RF$", "&"), ("$C$", ","), ("$BP$", "*"), ("$LP$", "("),
                           ("$RP$", ")"), ("$SP$", "@"), ("..", "::")):
            found = found.replace(code, text)
        found = re.sub(r"\$u([0-9a-f]{2})\$", lambda code: chr(int(code[1], 16)), found)
    return re.sub(r"(^|::)_(?=[<{&])", r"\1", found)


def tidied(frame):
    """As stackcollapse-perf.pl does: cut at a parenthesis that is not of an anonymous namespace, no quotes."""
    suffix = re.search(rf"{SUFFIX}$", frame)
    name = frame[:suffix.start()] if suffix else frame
    if "(anonymous namespace)" not in name and not re.search(r"\.\(.*\)\.", name):
        name = re.sub(r"\(.*$", "", name)
    return re.sub(r"[\"'<>\\]", "", name) + (suffix[0] if suffix else "")


@functools.lru_cache(None)
def demangled(stack):
    """c++filt, without parameters."""
    if "_Z" not in stack:
        return stack
    return subprocess.run(["c++filt", "-p"], input=stack, capture_output=True, text=True, check=True).stdout.rstrip("\n")


# name: why, what is done to both sides
REASONS = {
    "kinds": ("kinds stay in the names unless --kernel or --jit asks for one alone", each_frame(bare)),
    "mangled": ("names that perf left mangled are demangled", demangled),
    "stubs": ("stubs, the interpreter and code without a name are no methods of Java", each_frame(no_method)),
    "nameless": ("what has no name is called by its file, and is of no kind", each_frame(nameless)),
    "vdso": ("the vDSO runs in the program, not in the kernel", each_frame(vdso)),
    "rust": ("names of Rust are spelt out, without hashes", each_frame(rust)),
    "cut": ("names are cut at their parameters alone: a regular expression, a lambda and operator() are whole",
            each_frame(tidied)),
    "java": ("methods of Java have the form of our own recordings, pkg/Class.method", each_frame(java_dots)),
}
MORE = {
    "clock": "periods of perf's clocks are nanoseconds, and times of folded stacks microseconds",
    "last": "the last sample counts, also where no empty line follows it",
    "events": "samples of another event than the first are told, and never added up",
    "normalize": "counts of folded stacks are as they were recorded: pictures and tables normalise",
}


def form_of(stack, reasons):
    for reason in reasons:
        stack = REASONS[reason][1](stack)
    return stack


def needed(theirs, ours, reasons):
    """Those of the reasons without which the stacks differ."""
    left = list(reasons)
    for reason in reasons:
        without = [one for one in left if one != reason]
        if form_of(theirs, without) == form_of(ours, without):
            left = without
    return left


# ---- comparing ----

def run(*command, text=None):
    return subprocess.run([COLLECTOR, *map(str, command)], input=text, capture_output=True, text=True,
                          errors="replace", check=False)


def read(text):
    """{stack: counts as in the file}; counts of equal stacks are added up."""
    found = collections.defaultdict(lambda: (0, 0))
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        left, _, before = stack.rpartition(" ")
        if before.isdigit() and left:
            stack = left
        counts = (int(before) if stack == left else 0, int(float(count)))
        found[stack] = tuple(a + b for a, b in zip(found[stack], counts))
    return dict(found)


def without_last(text):
    """perf script without its last sample, if that has no empty line behind it; else None."""
    lines = text.rstrip("\n").split("\n")
    if text.endswith("\n\n") or "" not in lines:
        return None
    return "\n".join(lines[:len(lines) - lines[::-1].index("")]) + "\n"


def ours_of(case, text):
    if case.command == ("diff",):
        return run("diff", *case.options, *case.path, "-f", "folded")
    return run("render", *case.options, "-f", "folded", "-", text=text)


class Comparison:
    """ours, theirs: {a stack in the form that it has by now: (as it was, counts)}"""

    def __init__(self, case):
        self.case = case
        self.reasons = collections.Counter()
        self.examples = {}
        self.applied = []       # reasons of names, in the order in which they were
        self.of_counts = []     # reasons of counts
        self.same = 0

    def give(self, reason, theirs, ours):
        self.reasons[reason] += 1
        self.examples.setdefault(reason, (theirs, ours))

    def match(self):
        """Leaves out what both sides have."""
        for stack in [stack for stack in self.ours if stack in self.theirs]:
            (ours, counts), (theirs, others) = self.ours[stack], self.theirs[stack]
            if not self.is_count(counts, others):
                continue
            reasons = needed(theirs, ours, self.applied) + self.of_counts
            self.same += not reasons
            for reason in reasons:
                self.give(reason, theirs, ours)
            del self.ours[stack], self.theirs[stack]

    def is_count(self, counts, others):
        """Times were made whole one by one, or all at once."""
        if "clock" in self.of_counts:
            return all(abs(a - b / 1000) <= 1 + b / 1e6 for a, b in zip(counts, others))
        if "normalize" in self.of_counts:
            return counts[1] == others[1] and abs(counts[0] * self.scale - others[0]) <= 1
        return counts == others

    def rewrite(self, reason):
        for side in ("ours", "theirs"):
            made = {}
            for stack, (first, counts) in getattr(self, side).items():
                to = REASONS[reason][1](stack)
                if to in made:
                    counts = tuple(a + b for a, b in zip(counts, made[to][1]))
                made[to] = (first, counts)
            setattr(self, side, made)
        self.applied.append(reason)

    def total(self, side, at=1):
        return sum(counts[at] for _, counts in getattr(self, side).values())

    def drop_last(self, text, whole):
        """Takes the last sample off ours, if theirs does not have it."""
        less = without_last(text)
        if less is None:
            return
        fewer = read(ours_of(self.case, less).stdout)
        for stack, counts in whole.items():
            left, there = fewer.get(stack, (0, 0)), self.ours.get(stack)
            if left == counts or not there:
                continue
            self.give("last", stack, stack)
            if any(left):
                self.ours[stack] = (stack, left)
            else:
                del self.ours[stack]

    def begin(self):
        """What is not of names."""
        text = "" if self.case.command == ("diff",) else self.case.path.read_text(errors="replace")
        done = ours_of(self.case, text)
        whole = read(done.stdout)
        wanted = read(self.case.wanted.read_text(errors="replace"))
        self.ours, self.theirs = ({stack: (stack, counts) for stack, counts in side.items()}
                                  for side in (whole, wanted))
        ours, theirs = self.total("ours"), self.total("theirs")
        factor = 1000 if theirs > LEAST_CLOCK * ours > 0 else 1
        if factor > 1:
            self.of_counts.append("clock")
        if theirs and ours * factor > 1.0001 * theirs:
            self.drop_last(text, whole)
        if self.total("theirs", 0) != self.total("ours", 0):
            self.of_counts.append("normalize")
            self.scale = ours / (self.total("ours", 0) or 1)
        return done.stderr

    def run(self):
        said = self.begin()
        self.match()
        for reason in REASONS:
            if reason == "kinds" and KIND_OPTIONS.intersection(self.case.options):
                continue
            self.rewrite(reason)
            self.match()
        if "samples of other events" in said and not self.ours:
            for theirs, _ in self.theirs.values():
                self.give("events", theirs, "")
            self.theirs = {}
        return not self.ours and not self.theirs


# ---- what there is ----

def flamegraph_cases(checkout):
    for path in sorted((checkout / "test").glob("*.txt")):
        for option in OPTIONS:
            wanted = checkout / "test" / "results" / f"{path.stem}-collapsed-{option}.txt"
            if wanted.exists():
                yield Case(f"{path.stem} --{option}", path, wanted, [f"--{option}"])


def inferno_cases(data):
    for path in sorted((data / "collapse-perf").glob("*.txt")):
        for wanted in sorted((data / "collapse-perf" / "results").glob(f"{path.stem}-collapsed*.txt")):
            option = wanted.stem.rpartition("-")[2]
            yield Case(f"{path.stem}" + (f" --{option}" if option in OPTIONS else ""), path, wanted,
                       [f"--{option}"] if option in OPTIONS else [])
    for name, options in (("default", ["--no-normalize"]), ("normalize", []),
                          ("strip_hex", ["--no-normalize", "--strip-hex"])):
        folder = data / "diff-folded"
        yield Case(f"diff-folded {name}", (folder / "before.txt", folder / "after.txt"),
                   folder / "results" / f"{name}.txt", options, ("diff",))


def other_files(data):
    """Files of formats that are not read."""
    for folder in ("collapse-dtrace", "collapse-ghcprof", "collapse-sample", "collapse-vsprof", "collapse-vtune",
                   "collapse-xctrace", "collapse-guess"):
        yield from sorted(path for path in (data / folder).glob("*.*") if path.is_file())


def shown(stack, others=()):
    """Without the frames that the most alike of the others begins with, too."""
    frames = stack.split(";")
    same = max((len(os.path.commonprefix([frames, other.split(";")])) for other in others), default=0)
    text = ";".join(["..."] * (same > 1) + frames[same if same > 1 else 0:])
    return text if len(text) <= MOST_WIDE else text[:MOST_WIDE] + " ..."


def compare_all(cases, is_wordy):
    reasons, examples, bad = collections.Counter(), {}, 0
    for case in cases:
        one = Comparison(case)
        is_explained = one.run()
        said = ", ".join(f"{reason} {n}" for reason, n in one.reasons.most_common())
        print(f"{case.name:44}{one.same:6} the same" + (f"; {said}" if said else ""))
        reasons += one.reasons
        for reason, pair in one.examples.items():
            examples.setdefault(reason, pair)
        if is_explained:
            continue
        bad += 1
        others = {"theirs": list(one.ours), "ours": list(one.theirs)}
        for side in ("theirs", "ours"):
            for stack, (_, counts) in list(getattr(one, side).items())[:MOST_SHOWN]:
                print(f"  {side + ':':8}{shown(stack, others[side])} {' '.join(map(str, counts))}")
    for reason, n in reasons.most_common():
        print(f"{reason:9}{n:6} stacks: {MORE.get(reason) or REASONS[reason][0]}")
        if is_wordy and reason in examples:
            theirs, ours = examples[reason]
            print(f"  theirs: {shown(theirs, [ours])}\n  ours:   {shown(ours, [theirs])}")
    return bad


def refuse_all(paths):
    bad = 0
    with tempfile.TemporaryDirectory() as directory:
        for path in paths:
            done = run("render", path, "-o", pathlib.Path(directory) / "x.svg")
            why = done.stderr.strip().splitlines()[-1].rpartition(path.name + ": ")[2] if done.stderr else ""
            print(f"{path.parent.name + '/' + path.name:62}" + (why if done.returncode == 1 else "is drawn"))
            bad += done.returncode != 1
    return bad


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("checkout", type=pathlib.Path)
    options.add_argument("-v", "--verbose", action="store_true")
    asked = options.parse_args()
    data = asked.checkout / "tests" / "data"
    cases = list(flamegraph_cases(asked.checkout)) + (list(inferno_cases(data)) if data.is_dir() else [])
    if not cases:
        sys.exit(f"{asked.checkout}: this is no checkout of FlameGraph or inferno")
    bad = compare_all(cases, asked.verbose)
    bad += refuse_all(other_files(data)) if data.is_dir() else 0
    print(f"{bad} without a reason" if bad else "all differences have their reason")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
