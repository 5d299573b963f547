# SPDX-License-Identifier: Apache-2.0
"""The project's pages, as far as their claims can be looked at: links, tables, code and words of code.

What is understood is what the pages use: headings with #, fences of three backticks, tables with
pipes, inline links and images, code between single backticks.
"""

import pathlib
import re
import shlex

from . import settings

FENCE = re.compile(r"^\s*```")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
OPERATORS = set("();<>|&")
LEFT_OUT = {"build", "node_modules", "third_party"}


def pages():
    """Every page of the project: what was built, or is hidden, is none of it."""
    found = []
    for path in settings.SOURCE.rglob("*.md"):
        parts = path.relative_to(settings.SOURCE).parts
        if not any(p.startswith((".", "build-")) or p in LEFT_OUT for p in parts):
            found.append(Page(path))
    return sorted(found, key=lambda page: page.path)


def slug(heading):
    """The anchor that a heading gets on the web: as GitHub makes it."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[^\w\- ]", "", text.replace("`", "").strip().lower())
    return text.replace(" ", "-")


def cells(row):
    """Those of a table's row; a pipe in code has a backslash before it."""
    return [cell.strip().replace("\\|", "|")
            for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


class Page:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.name = str(self.path.relative_to(settings.SOURCE))
        self.prose, self.code = [], []  # lines; of code without those of fences
        is_code = False
        for line in self.path.read_text().splitlines():
            if FENCE.match(line):
                is_code = not is_code
            else:
                (self.code if is_code else self.prose).append(line)

    def anchors(self):
        found = {}
        for line in self.prose:
            heading = HEADING.match(line)
            if heading:
                name = slug(heading[1])
                found[name] = found.get(name, -1) + 1
        return {f"{name}-{n}" if n else name for name, most in found.items()
                for n in range(most + 1)}

    def links(self):
        """Those that lead to the project's own files, without what is code."""
        for line in self.prose:
            for target in LINK.findall(CODE.sub("", line)):
                if not re.match(r"[a-z]+:", target):
                    yield target

    def tables(self):
        """Of each its rows, the header first."""
        table = []
        for line in [*self.prose, ""]:
            if line.strip().startswith("|"):
                table.append(line)
            elif table:
                yield [cells(row) for n, row in enumerate(table) if n != 1]
                table = []

    def paragraphs(self):
        """Prose without tables and headings; each point of a list is one."""
        text = []
        for line in [*self.prose, ""]:
            is_text = line.strip() and not line.lstrip().startswith(("|", "#"))
            if text and (not is_text or re.match(r"\s*([-*]|\d+\.) ", line)):
                yield " ".join(text)
                text = []
            if is_text:
                text.append(line.strip())

    def words(self):
        """What stands between backticks in prose and tables."""
        rows = [line.replace("\\|", "|") for line in self.prose if line.strip().startswith("|")]
        for text in [*self.paragraphs(), *rows]:
            yield from CODE.findall(text)

    def commands(self):
        """Command lines, in fences and between backticks, as words without the program's name."""
        for text in [*self.code, *self.words()]:
            yield from commands_in(text)


def simple_commands(text):
    """A shell's line as lists of words, cut where operators are; none if it is no shell's."""
    lexer = shlex.shlex(re.sub(r"^ExecStart=", "", text.strip()), posix=True,
                        punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return []
    commands, is_file = [[]], False
    for word in words:
        if set(word) <= OPERATORS:
            is_file = word[0] in "<>"
            if not is_file:
                commands.append([])
        elif is_file:
            is_file = False
        else:
            commands[-1].append(word)
    return commands


def commands_in(text):
    for words in simple_commands(text):
        while words and (words[0] == "sudo" or re.match(r"[A-Z_]+=", words[0])):
            words = words[1:]
        if len(words) > 1 and (words[0] == "fgcollect" or words[0].endswith("/fgcollect")):
            yield words[1:]
