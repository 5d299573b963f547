# SPDX-License-Identifier: Apache-2.0
"""Rows, contenders and their measurement in alternation.

A row says what is measured, of whom, and at which values of what drives the cost. measure_row()
has all contenders take turns in each round, each round in another order, so that what else the
machine does meets all of them. A contender that cannot be had is kept with the reason.
"""

import contextlib
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from bench_place import processes, settings

OURS = "fgcollect"
NOBODY = "alone"
USAGE = settings.BUILD / "tests" / "bench" / "child_usage"


@dataclasses.dataclass(frozen=True)
class Quantity:
    """A figure of which less is better. wanted: the goal in words, if any."""

    unit: str
    wanted: str = ""


class Row:
    """Base of all rows. A subclass says what the class attributes are, and how to measure.

    base: the contender that ratios are to. against_base: ratios are a contender's over the base's;
    else the base is ours, and ratios are the others' over ours.
    """

    name = ""
    group = ""
    title = ""
    driver = ""  # what the cost grows with; empty if values are only names
    unit_of_driver = ""
    values = (None,)
    quantities = {}
    base = OURS
    most_rounds = 99  # of rows that take minutes
    warm_up = False  # the first round is not counted
    not_to_be_had = {}  # peers that have no such thing: {name: why}

    def contenders(self, peers):
        """{name: what measure() is given}, LookupError's in place of those that cannot be had."""
        raise NotImplementedError

    def at(self, value):
        """A context manager around all rounds at one value; what it gives is measure()'s first."""
        raise NotImplementedError

    def measure(self, context, contender, value):
        """{quantity: number} of one turn. LookupError: the contender cannot do that."""
        raise NotImplementedError


@dataclasses.dataclass
class Results:
    """What was found of a row: figures as [value, contender, quantity] -> numbers, by round."""

    row: Row
    figures: dict
    missing: dict  # {contender: why}

    def of(self, value, contender, quantity):
        return self.figures.get((value, contender, quantity), [])

    def contenders(self):
        """In the order of the table: alone, ours, the peers."""
        names = dict.fromkeys(contender for _, contender, _ in self.figures)
        return sorted(names, key=lambda name: (name != NOBODY, not name.startswith(OURS), name))


def say(text):
    print(text, file=sys.stderr, flush=True)


def measure_value(row, value, contenders, rounds, results):
    names = list(contenders)
    with row.at(value) as context:
        for number in range(rounds + row.warm_up):
            first = number % len(names)
            for name in names[first:] + names[:first]:
                if (value, name) in results.missing:
                    continue
                try:
                    figures = row.measure(context, contenders[name], value)
                except (LookupError, processes.Failed) as error:
                    results.missing[value, name] = str(error)[-400:]
                    continue
                if number < row.warm_up:
                    continue
                for quantity, number_of_it in figures.items():
                    results.figures.setdefault((value, name, quantity), []).append(number_of_it)


def is_wanted(value, values):
    return not values or value is None or str(value) in values


def earlier_results(row, earlier, values):
    """What an earlier run found at values that are not measured now. earlier None: nothing."""
    results = Results(row, {}, {(None, name): why for name, why in row.not_to_be_had.items()})
    if earlier:
        results.figures = {key: found for key, found in earlier.figures.items()
                           if not is_wanted(key[0], values)}
        results.missing |= {key: why for key, why in earlier.missing.items()
                            if not is_wanted(key[0], values)}
    return results


def measure_row(row, peers, rounds, values, earlier=None):
    """Measures a row in so many rounds, at those of its values that are in values, if given."""
    results = earlier_results(row, earlier, values)
    contenders = {}
    for name, contender in row.contenders(peers).items():
        if isinstance(contender, LookupError):
            results.missing[None, name] = str(contender)
        else:
            contenders[name] = contender
    for value in row.values:
        if not is_wanted(value, values):
            continue
        begin = time.monotonic()
        try:
            measure_value(row, value, contenders, min(rounds, row.most_rounds), results)
        except (LookupError, processes.Failed) as error:
            results.missing[value, ""] = str(error)
        at = "" if value is None else f" at {value}{row.unit_of_driver}"
        say(f"{row.name}{at}: {time.monotonic() - begin:.0f} s")
    return results


def family_seconds(pid):
    """CPU time of a process and its descendants, ended ones too, as wait4 has it at the end."""
    children = []
    try:
        for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                children += path.read_text(encoding="ascii").split()
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2]
    except OSError:
        return 0.0  # gone; its parent has what it used
    own = sum(int(ticks) for ticks in fields.split()[11:15]) / os.sysconf("SC_CLK_TCK")
    return own + sum(family_seconds(one) for one in children)


def usage_of(path, child, args, words=b""):
    """What child_usage wrote of the program; LookupError if the program failed."""
    code = child.wait()
    if code != 0:
        raise LookupError(f"{args[0]} ended with {code}: "
                          f"{words[-300:].decode(errors='replace').strip()}")
    clock, user, system, kib = map(float, pathlib.Path(path).read_text(encoding="ascii").split())
    return {"clock": clock, "cpu": user + system, "memory": kib / 1024}


def run_child(args, out=subprocess.DEVNULL):
    """Runs a program; {"clock": s, "cpu": s, "memory": MiB}. LookupError if the program fails."""
    with tempfile.NamedTemporaryFile() as used, subprocess.Popen(
            [USAGE, used.name, *map(str, args)], stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.PIPE) as child:
        words = child.stderr.read()
        return usage_of(used.name, child, args, words)


def run_pipe(commands, source, out):
    """Runs programs as a shell's pipe, from a file to a file; figures of all: sums, most memory."""
    begin = time.monotonic()
    before, children = open(source, "rb"), []
    with tempfile.TemporaryDirectory() as directory, open(out, "wb") as end:
        for number, args in enumerate(commands):
            is_last = number == len(commands) - 1
            used = pathlib.Path(directory) / str(number)
            child = subprocess.Popen([USAGE, used, *map(str, args)], stdin=before,
                                     stdout=end if is_last else subprocess.PIPE,
                                     stderr=subprocess.DEVNULL)
            before.close()
            before = child.stdout
            children.append((used, child, args))
        for _, child, _ in children:
            child.wait()
        used = [usage_of(*child) for child in children]
    return {"clock": time.monotonic() - begin, "cpu": sum(one["cpu"] for one in used),
            "memory": max(one["memory"] for one in used)}
