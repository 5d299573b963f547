# SPDX-License-Identifier: Apache-2.0
"""Reads the option table, whose rows README.md explains, and refuses one that is not whole.

A table that is wrong ends the build with the file and the line of the row.
"""

import dataclasses
import pathlib
import re

# The commands with a command line in common. "fgcollect" is the program before any command.
COLLECT = ("fgcollect", "record", "top", "list", "doctor", "watch", "replay", "history")
DRAW = ("render", "diff")
COMMANDS = ("record", "top", "list", "doctor", "watch", "replay", "history", "render", "diff")

FILES = ("record", "top", "watch", "replay", "history", "draw", "missing")
TEXTS = {"commands", "value", "completes", "excludes", "brief", "help", "shown", "page", "instead",
         "type", "sets", "json", "mark"}
FLAGS = {"repeats", "alone"}
# Sets of options that C asks for: whether one of them was given, and which.
MARKS = ("pictures", "store", "before")
# {a type: the least and the greatest number of words behind it}
TYPES = {"flag": (0, 0), "is": (1, 1), "count": (2, 99), "time": (4, 99), "size": (4, 99),
         "number": (2, 2), "text": (0, 0), "path": (0, 0), "word": (2, 3), "choice": (2, 99),
         "list": (2, 99),
         "by": (1, 2), "nothing": (0, 0)}
COMPLETIONS = {"files", "directories", "pids", "containers", "pods", "words", "list"}

SECTION = re.compile(r"\[([a-z]+):([a-z ]*)\]")
HEAD = re.compile(r"(?:-([A-Za-z]), )?(--[a-z-]+(?:, --[a-z-]+)*)(?: (\S+))?")
FIELD = re.compile(r"  ([a-z]+)(?:\.([a-z]+))?(?: +(\S.*))?")
RULE = re.compile(r"  (needs|not)((?:\.[a-z]+)*) +(\S.*)")


class Wrong(Exception):
    """What is wrong with a table."""


@dataclasses.dataclass
class Rule:
    """What an option needs, or what it does not go with."""

    where: str
    kind: str       # "needs" or "not"
    commands: list  # of which it holds; empty: of all
    lines: list

    def __post_init__(self):
        self.own, self.others, self.why = [], {}, None

    def read(self):
        """own: words of the option's value, of which one must be there; others: {name: words}."""
        head, _, why = " ".join(self.lines).partition(": ")
        self.why = why or None
        words = self.own
        for word in head.split():
            if word.startswith("--"):
                words = self.others.setdefault(word.removeprefix("--"), [])
            else:
                words.append(word)
        if not self.others:
            raise Wrong(f"{self.where}: {self.kind} what? An option is to be named")


@dataclasses.dataclass
class Option:
    """A row: an option as some commands have it."""

    where: str            # "record.txt:17"
    section: str
    commands: list
    letter: str           # or None
    names: list           # without dashes; the first is its own, others are its names before
    value: str            # as help shows it, or None
    fields: dict          # {(key, command or None): lines}
    rules: list           # of class Rule

    @property
    def name(self):
        return self.names[0]

    def lines(self, key, command=None):
        """Of that command, or of all; None if the row has no such field."""
        return self.fields.get((key, command), self.fields.get((key, None)))

    def text(self, key, command=None):
        lines = self.lines(key, command)
        return None if lines is None else " ".join(lines)

    def has(self, key):
        return (key, None) in self.fields

    def brief(self):
        """One line for shells."""
        return self.text("brief") or self.help_text() or " ".join(self.lines("page")).rstrip(".")

    def help_text(self):
        text = self.text("help")
        return None if text == "-" else text

    def long_value(self):
        """The value's name where there is room for it."""
        return self.text("value") or self.value.lower()

    def completion(self, command=None):
        """(kind, words): what completes the value; the kind is None if nothing does."""
        words = (self.text("completes", command) or "").split()
        return (words[0], words[1:]) if words else (None, [])

    def excluded(self):
        """Options that it never goes with, for shells."""
        never = [f"--{name}" for rule in self.rules if rule.kind == "not" and not rule.own
                 for name, words in rule.others.items() if not words]
        return [*never, *(self.text("excludes") or "").split()]

    def told(self):
        """As messages call it: by its letter, unless help shows the name alone."""
        shown = self.text("shown")
        return f"--{self.name}" if shown and shown.startswith("--") else self.spellings()[0]

    def type(self):
        """(type, its words)"""
        words = (self.text("type") or "nothing").split()
        return words[0], words[1:]

    def members(self):
        """What it sets, and what becomes true beside, or None."""
        words = (self.text("sets") or "").split()
        return words[0] if words else None, words[1] if len(words) > 1 else None

    def spellings(self):
        """As they are typed: "-p", "--pid"."""
        return ([f"-{self.letter}"] if self.letter else []) + [f"--{name}" for name in self.names]


class Table:
    def __init__(self, rows):
        self.rows = rows

    def of(self, command):
        return [row for row in self.rows if command in row.commands]

    def option(self, name, commands):
        """The option of that name, of the first of the commands that has it; or None."""
        return next((row for command in commands for row in self.of(command) if name in row.names),
                    None)

    def sections(self):
        return {row.section for row in self.rows}

    def chosen(self, words, commands):
        """Rows of these commands that are in a section, or have a name, among the words."""
        found = []
        for word in words:
            if word not in self.sections() | {f"--{row.name}" for row in self.rows}:
                raise Wrong(f"{word}: no such section of the table, and no such option")
            found += [row for row in self.rows if set(commands) & set(row.commands)
                      and word in (row.section, f"--{row.name}")]
        return found


def read(directory):
    rows = []
    for name in FILES:
        path = pathlib.Path(directory) / f"{name}.txt"
        rows += read_text(path.read_text(), path.name)
    table = Table(rows)
    check_pairs(table)
    for row in table.rows:
        check_type(row)
    check_rules(table)
    return table


def read_text(text, source):
    """Rows of one file."""
    rows, section, commands, lines = [], None, [], None
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{source}:{number}"
        if not line or line.startswith("#"):
            lines = None
        elif found := SECTION.fullmatch(line):
            section, commands = found[1], found[2].split()
        elif line.startswith("-"):
            found = HEAD.fullmatch(line)
            if not found or not section:
                raise Wrong(f"{where}: an option's head is -p, --pid PID: {line}")
            names = [name.removeprefix("--") for name in found[2].split(", ")]
            rows.append(Option(where, section, commands, found[1], names, found[3], {}, []))
        elif line.startswith("   ") and lines is not None:
            lines.append(line[13:] if line.startswith(13 * " ") else line.lstrip())
        else:
            lines = read_field(rows, line, where)
    for row in rows:
        for rule in row.rules:
            rule.read()
        row.commands = (row.text("commands") or " ".join(row.commands)).split()
        check_row(row)
    return rows


def read_field(rows, line, where):
    if (found := RULE.fullmatch(line)) and rows:
        rows[-1].rules.append(Rule(where, found[1], found[2].split(".")[1:], [found[3]]))
        return rows[-1].rules[-1].lines
    found = FIELD.fullmatch(line)
    if not found or not rows or found[1] not in TEXTS | FLAGS:
        raise Wrong(f"{where}: no field of an option: {line}")
    lines = [found[3]] if found[3] else []
    rows[-1].fields[found[1], found[2]] = lines
    return lines


def check_row(row):
    if unknown := set(row.commands) - {*COLLECT, *DRAW}:
        raise Wrong(f"{row.where}: no such command: {' '.join(unknown)}")
    if not row.commands and not row.has("instead"):
        raise Wrong(f"{row.where}: an option without a command says what to use instead")
    if row.commands and not (row.has("page") or row.has("brief") or row.help_text()):
        raise Wrong(f"{row.where}: help, brief or page has to say what --{row.name} does")
    for command in [None, *row.commands]:
        kind, words = row.completion(command)
        if kind and (kind not in COMPLETIONS or (kind in ("words", "list")) != bool(words)):
            raise Wrong(f"{row.where}: what completes a value is one of: "
                        f"{' '.join(sorted(COMPLETIONS))}; words and a list name these")
        if kind and not row.value:
            raise Wrong(f"{row.where}: --{row.name} has no value to complete")


def check_type(row):
    """Whether the parser knows what to do with the option."""
    if not row.commands:
        return
    if unknown := set((row.text("mark") or "").split()) - set(MARKS):
        raise Wrong(f"{row.where}: no such mark: {' '.join(unknown)}")
    if not row.has("type"):
        raise Wrong(f"{row.where}: --{row.name} has no type")
    kind, words = row.type()
    if kind not in TYPES or not TYPES[kind][0] <= len(words) <= TYPES[kind][1]:
        raise Wrong(f"{row.where}: no type, or with too few or too many words: "
                    f"{kind} {' '.join(words)}")
    if (kind in ("flag", "is")) != (not row.value) and kind not in ("by", "nothing"):
        raise Wrong(f"{row.where}: --{row.name} has a value, which {kind} does not read, or none")
    if kind not in ("by", "nothing") and not row.members()[0]:
        raise Wrong(f"{row.where}: --{row.name} sets nothing")


def check_rules(table):
    """What rules name is there, and has such words."""
    for row in table.rows:
        for rule in row.rules:
            for name in rule.others:
                for commands in (COLLECT, DRAW):
                    if set(row.commands) & set(commands) and not table.option(name, commands):
                        raise Wrong(f"{rule.where}: there is no --{name}")
            if unknown := set(rule.commands) - set(row.commands):
                raise Wrong(f"{rule.where}: --{row.name} is no option of {' '.join(unknown)}")


def check_pairs(table):
    """A command has an option once; rows of one command line agree in what getopt_long is told."""
    for command in (*COLLECT, *DRAW):
        seen = {}
        for row in table.of(command):
            for spelling in row.spellings():
                if spelling in seen:
                    raise Wrong(f"{row.where}: {command} has {spelling} already, at "
                                f"{seen[spelling].where}")
                seen[spelling] = row
    for commands in (COLLECT, DRAW):
        seen = {}
        for row in table.rows:
            if not set(row.commands) & set(commands):
                continue
            for name in row.names:
                other = seen.setdefault(name, row)
                if (other.letter, bool(other.value)) != (row.letter, bool(row.value)):
                    raise Wrong(f"{row.where}: --{name} has another letter or value at "
                                f"{other.where}")
