# SPDX-License-Identifier: Apache-2.0
"""Programs that know what they allocate, wait for and throw, and what a recording says of it.

A program of tests/java with Turns works when it is asked to, so a recording that begins before a
turn and ends after it has all of the turn, and nothing of its edges.
"""

import json
import pathlib
import signal

from . import collector, processes, settings
from .folded import JAVA_SUFFIX, Folded

CLASS_SUFFIX = "_[c]"
TURN_SEC = 120          # for a turn on a busy machine; it takes some seconds
RECORD_SEC = 3600       # a recording is ended by a signal, not by this


class Rows:
    """(class, site, count, amount) of each thing that is known or was found."""

    def __init__(self, rows=()):
        self.rows = list(rows)

    def _sums(self, column, value):
        sums = {}
        for row in self.rows:
            sums[row[column]] = sums.get(row[column], 0) + row[value]
        return sums

    def amounts(self, column):
        """Sums by "class" or "site"."""
        return self._sums(("class", "site").index(column), 3)

    def counts(self):
        sums = {}
        for name, site, count, _ in self.rows:
            sums[name, site] = sums.get((name, site), 0) + count
        return sums

    @property
    def count(self):
        return sum(row[2] for row in self.rows)

    @property
    def amount(self):
        return sum(row[3] for row in self.rows)


class Turn:
    """What a program has told of a turn: its nanoseconds, and rows by kind."""

    def __init__(self, line):
        told = json.loads(line)
        self.ns = told["ns"]
        self.kinds = {}
        for row in told["rows"]:
            self.kinds.setdefault(row["kind"], Rows()).rows.append(
                (row["class"], row["site"], row["count"], row["amount"]))

    def add(self, other):
        """What another turn of the program has told."""
        self.ns += other.ns
        for kind, rows in other.kinds.items():
            self.kinds.setdefault(kind, Rows()).rows.extend(rows.rows)

    def sites(self):
        return {row[1] for rows in self.kinds.values() for row in rows.rows}

    def rows(self, *kinds):
        return Rows(row for kind in kinds for row in self.kinds.get(kind, Rows()).rows)


class Program:
    """One with Turns. text: a function that gives its output; directory: its java.io.tmpdir."""

    def __init__(self, text, directory):
        self.text, self.directory, self.turns = text, pathlib.Path(directory), 0
        self._wait(lambda: "ready" in self.text(), "is ready")

    def _wait(self, claim, what):
        processes.wait_until(claim, lambda: f"the program {what}: {self.text()}", timeout=TURN_SEC)

    def _told(self):
        return [line for line in self.text().splitlines(keepends=True)
                if line.startswith("truth ") and line.endswith("\n")]

    def ask(self):
        self.turns += 1
        (self.directory / f"turn-{self.turns}").touch()

    def told(self):
        """Waits for the end of the turn that was asked for last."""
        self._wait(lambda: len(self._told()) >= self.turns, "ends its turn")
        return Turn(self._told()[self.turns - 1].partition(" ")[2])

    def turn(self):
        self.ask()
        return self.told()


class Recorder(processes.Background):
    """A recording that goes on until it is told to end; then folded() has its stacks of a kind.

    pid: None for all JVMs. name: of its files, if there are several recordings. prefix: of the
    command.
    """

    def __init__(self, place, pid, *args, name="truth", prefix=()):
        self.place, self.out = place, place.directory / f"{name}.fgrec"
        who = ["-p", pid] if pid else []
        super().__init__([*prefix, settings.COLLECTOR, "record", *who, "-d", RECORD_SEC,
                          "--progress", *args, "-o", self.out, *place.options()],
                         place.directory / f"{name}.log")

    def wait_until_it_records(self, is_armed=lambda: True):
        """Until it has said twice how long it has recorded, and until then that is true."""
        def seen():
            return self.code is not None or (self.text.count("recording ") >= 2 and is_armed())
        processes.wait_until(seen, lambda: f"it records: {self.text}")
        if self.code is not None:
            raise processes.Failed(f"the recording ended by itself:\n{self.text}")

    def finish(self):
        if self.code is not None:
            raise processes.Failed(f"the recording ended before the turn:\n{self.text}")
        finished = self.stop(signal.SIGINT)
        if finished.code != 0:
            raise AssertionError(str(finished))
        return finished

    def folded(self, kind):
        rendered = collector.fgcollect("render", "--kind", kind, self.out, "-o", "-", "--format",
                                       "folded")
        if rendered.code != 0:
            raise AssertionError(str(rendered))
        return Folded(rendered.out)


def site_of(frames, sites):
    """The one of these methods that is next to the leaf, or None."""
    names = (JAVA_SUFFIX.sub("", frame) for frame in reversed(frames[:-1]))
    return next((name for name in names if name in sites), None)


def class_of(leaf):
    return leaf.removesuffix(CLASS_SUFFIX)


def found(sites, counts=None, amounts=None, name=class_of):
    """What stacks of numbers and of amounts have of these sites; name: of the leaf."""
    rows = Rows()
    for folded, is_amount in ((counts, False), (amounts, True)):
        for frames, weight in folded.stacks if folded else ():
            site = site_of(frames, sites)
            if site:
                values = (0, weight) if is_amount else (weight, 0)
                rows.rows.append((name(frames[-1]), site, *values))
    return rows


def shares(sums):
    """In per cent of all."""
    total = max(sum(sums.values()), 1)
    return {key: 100 * value / total for key, value in sums.items()}


def worst_share(known, got):
    """How many points a share is off at most."""
    known, got = shares(known), shares(got)
    return max((abs(known.get(key, 0) - got.get(key, 0)) for key in {*known, *got}), default=0)
