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
TEXTS = {"commands", "value", "completes", "excludes", "brief", "help", "shown", "page", "instead"}
FLAGS = {"repeats", "alone"}
COMPLETIONS = {"files", "directories", "pids", "containers", "pods", "words", "list"}

SECTION = re.compile(r"\[([a-z]+):([a-z ]*)\]")
HEAD = re.compile(r"(?:-([A-Za-z]), )?(--[a-z-]+(?:, --[a-z-]+)*)(?: (\S+))?")
FIELD = re.compile(r"  ([a-z]+)(?:\.([a-z]+))?(?: +(\S.*))?")


class Wrong(Exception):
    """What is wrong with a table."""


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

    def spellings(self):
        """As they are typed: "-p", "--pid"."""
        return ([f"-{self.letter}"] if self.letter else []) + [f"--{name}" for name in self.names]


class Table:
    def __init__(self, rows):
        self.rows = rows

    def of(self, command):
        return [row for row in self.rows if command in row.commands]

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
            rows.append(Option(where, section, commands, found[1], names, found[3], {}))
        elif line.startswith("   ") and lines is not None:
            lines.append(line[13:] if line.startswith(13 * " ") else line.lstrip())
        else:
            lines = read_field(rows, line, where)
    for row in rows:
        row.commands = (row.text("commands") or " ".join(row.commands)).split()
        check_row(row)
    return rows


def read_field(rows, line, where):
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
