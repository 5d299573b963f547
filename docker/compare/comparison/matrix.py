# SPDX-License-Identifier: Apache-2.0
"""The file of configurations, read.

    # a comment, on a line of its own
    [load]                 the load, the same for all: threads, warm-up, rate, plan
    [record]               the recording: seconds, hz
    [defaults]             keys of rows, for all rows that do not say otherwise
    [NAME]                 a row; any other name
    key = value            up to the end of the line, without blanks around it

Everything that is wrong is found in one go, each with its line, and nothing runs then.
"""

import dataclasses
import pathlib
import re
import stat

from . import Failed

MAX_BYTES = 1 << 20
MAX_ROWS = 32
MAX_SAID = 20
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
HEAD = re.compile(r"\[(.*)\]")
VARIABLE = re.compile(r"env\.([A-Za-z_][A-Za-z0-9_]*)")
DATABASES = ("h2", "postgresql")


@dataclasses.dataclass
class Load:
    threads: int = 8
    warm_up: int = 10
    rate: int = 0
    plan: pathlib.Path = None


@dataclasses.dataclass
class Record:
    seconds: int = 30
    hz: int = 99


@dataclasses.dataclass
class Row:
    name: str
    line: int
    title: str = ""
    database: str = "h2"
    url: str = ""
    database_wait: int = 60
    pool: int = 16
    image: str = ""
    ready: str = "Server startup in"
    java_options: str = ""
    agent_options: str = ""
    env: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Matrix:
    path: pathlib.Path
    load: Load
    record: Record
    rows: list


class Wrong(Exception):
    """A value that will not do: why, and what to do."""


def _number(least, most):
    def read(text, _directory):
        if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
            raise Wrong(f"a whole number from {least} to {most} is needed")
        return int(text)
    return read


def _text(most):
    def read(text, _directory):
        if not text:
            raise Wrong("there is no value; write one, or remove the line")
        if len(text) > most:
            raise Wrong(f"it has {len(text)} characters; at most {most} are taken")
        if not text.isprintable():
            raise Wrong("it has characters in it that cannot be seen; remove them")
        return text
    return read


def _database(text, _directory):
    if text not in DATABASES:
        raise Wrong(f"no such database; there are: {' '.join(DATABASES)}")
    return text


def _url(text, _directory):
    if not re.fullmatch(r"jdbc:(h2|postgresql):\S{1,500}", text):
        raise Wrong("a JDBC URL of H2 or PostgreSQL without blanks is needed: "
                    "jdbc:postgresql://HOST:PORT/DATABASE")
    return text


def _agent_options(text, directory):
    if re.search(r"\s", _text(500)(text, directory)):
        raise Wrong("options of the agent have no blanks; put commas between them")
    return text


def _plan(text, directory):
    path = directory / _text(500)(text, directory)
    if not path.is_file():
        raise Wrong(f"there is no file {path}; paths are taken from the matrix's own directory")
    return path.resolve()


LOAD_KEYS = {"threads": _number(1, 1000), "warm-up": _number(0, 3600), "rate": _number(0, 1000000),
             "plan": _plan}
RECORD_KEYS = {"seconds": _number(1, 3600), "hz": _number(1, 1000)}
ROW_KEYS = {"title": _text(120), "database": _database, "url": _url,
            "database-wait": _number(0, 600), "pool": _number(1, 500), "image": _text(200),
            "ready": _text(200), "java-options": _text(1000), "agent-options": _agent_options}
ENV_VALUE = _text(4000)
SECTIONS = {"load": LOAD_KEYS, "record": RECORD_KEYS, "defaults": ROW_KEYS}


class Reader:
    """Lines become sections; what is wrong with them is gathered."""

    def __init__(self, path):
        self.path, self.directory = path, path.resolve().parent
        self.errors = []
        self.lines = {}         # of a section's head, by its name in lower case
        self.values = {}        # {section: {attribute: value}}
        self.section = None     # None: before the first, or in one that will not do

    def error(self, line, what, why):
        self.errors.append(f"{self.path}:{line}: {what}: {why}")

    def read(self, text):
        began = False
        for number, line in enumerate(text.split("\n"), 1):
            line = line.strip()
            if not line or line[0] in "#;":
                continue
            if line[0] == "[":
                began = True
                self._head(number, line)
            elif not began:
                self.error(number, shown(line), "it is in no section; "
                           "put a line with a name in brackets before it: [h2]")
            elif self.section is not None:
                self._key(number, line)

    def _head(self, number, line):
        self.section = None
        match = HEAD.fullmatch(line)
        name = match.group(1).strip() if match else ""
        name = name.lower() if name.lower() in SECTIONS else name
        if not match:
            self.error(number, shown(line), "the bracket is not closed, or something follows it; "
                       "a section's head is [NAME] alone on its line")
        elif not NAME.fullmatch(name):
            self.error(number, shown(line), "a name has 1 to 40 letters, digits, '.', '_' and '-', "
                       "and begins with a letter or digit, since files and containers are named "
                       "by it; say the rest with title =")
        elif name.lower() in self.lines:
            self.error(number, shown(line), f"there is one of that name in line "
                       f"{self.lines[name.lower()]} already (upper and lower case are the same); "
                       "choose another")
        else:
            self.lines[name.lower()] = number
            self.values[name] = {}
            self.section = name

    def _key(self, number, line):
        key, equals, value = (part.strip() for part in line.partition("="))
        keys, values = SECTIONS.get(self.section, ROW_KEYS), self.values[self.section]
        variable = VARIABLE.fullmatch(key) if keys is ROW_KEYS else None
        if not equals:
            self.error(number, shown(line), "there is no '='; a line is key = value")
        elif key not in keys and not variable:
            more = " env.NAME" if keys is ROW_KEYS else ""
            self.error(number, shown(key), f"[{self.section}] has no such key; there are: "
                       f"{' '.join(keys)}{more}")
        else:
            try:
                value = (ENV_VALUE if variable else keys[key])(value, self.directory)
            except Wrong as wrong:
                self.error(number, shown(line), wrong)
            else:
                if variable:
                    values, key = values.setdefault("env", {}), variable.group(1)
                self._set(number, line, values, key.replace("-", "_"), value)

    def _set(self, number, line, values, key, value):
        if key in values:
            self.error(number, shown(line), "the key is there twice in this section; remove one")
        values[key] = value

    def rows(self):
        defaults = self.values.get("defaults", {})
        for name, own in self.values.items():
            if name not in SECTIONS:
                merged = {**defaults, **own}
                merged["env"] = {**defaults.get("env", {}), **own.get("env", {})}
                row = Row(name=name, line=self.lines[name.lower()], **merged)
                if row.url and not row.url.startswith(f"jdbc:{row.database}:"):
                    self.error(row.line, f"[{name}]", f"its url {shown(row.url)} is none of its "
                               f"database, {row.database}; change one of the two")
                yield row


def shown(text):
    """As part of a message: on one line, not too long, and without what a terminal would obey."""
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= 80 else text[:77] + "..."


def read_text(path):
    try:
        # A pipe or a device would be waited for, or have no end.
        if not stat.S_ISREG(path.stat().st_mode):
            raise Failed(f"{path}: it is no regular file; a matrix is a text file")
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Failed(f"{path}: cannot be read: {error.strerror}; docs/compare.md says what it has "
                     "to hold") from None
    if len(data) > MAX_BYTES:
        raise Failed(f"{path}: it is larger than {MAX_BYTES} bytes; is that a matrix?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Failed(f"{path}:{line}: it is not UTF-8 text ({error.reason}); "
                     "save it as UTF-8") from None


def read(path):
    """The Matrix in that file; Failed says everything that is wrong with it."""
    path = pathlib.Path(path)
    reader = Reader(path)
    reader.read(read_text(path))
    rows = list(reader.rows())
    if not rows and not reader.errors:
        reader.errors.append(f"{path}: there is no configuration in it; add a section for each: "
                             "[h2] and below it database = h2")
    if len(rows) > MAX_ROWS:
        reader.error(rows[MAX_ROWS].line, f"[{rows[MAX_ROWS].name}]",
                     f"there are more than {MAX_ROWS} configurations; make two files of it")
    if reader.errors:
        said = reader.errors[:MAX_SAID]
        if len(reader.errors) > MAX_SAID:
            said.append(f"{path}: and {len(reader.errors) - MAX_SAID} more")
        raise Failed("\n".join(said))
    return Matrix(path, Load(**reader.values.get("load", {})),
                  Record(**reader.values.get("record", {})), rows)
