# SPDX-License-Identifier: Apache-2.0
"""Which options there are: as the table has them, as --help says, as the manual explains them.

An option is its text, "-p" or "--pid".
"""

import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BINARY_DIR = pathlib.Path(os.environ.get("FG_BINARY_DIR", SOURCE / "build"))
COLLECTOR = os.environ.get("FG_COLLECTOR", str(BINARY_DIR / "collector" / "fgcollect"))
MADE_DIR = BINARY_DIR / "collector" / "options" / "generated"
TABLE_DIR = SOURCE / "collector" / "options"
sys.path.insert(0, str(TABLE_DIR))

import option_table
from option_table import COMMANDS, DRAW


# mdoc's macros that can follow the arguments of .Fl on its line.
MACROS = {"Ar", "Ns", "No", "Cm", "Oo", "Oc", "Op", "Pa", "Ic", "Xr", "Dv", "Nm", "Fl", "|"}


def page_of(command):
    section = 8 if command == "watch" else 1
    return MADE_DIR / "man" / f"fgcollect-{command}.{section}"


def all_pages():
    return sorted([*MADE_DIR.glob("man/*.[1-8]"), *SOURCE.glob("collector/man/*.[1-8]"),
                   *SOURCE.glob("jvmti-agent/man/*.[1-8]")])


def help_of(*command, option="--help-all"):
    return subprocess.run([COLLECTOR, *command, option], check=True, capture_output=True,
                          text=True).stdout


def options_of_help(text):
    """What is in quotes is another program's."""
    text = re.sub(r"(?<!\w)'[^'\n]*'", "", text)
    long = re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)
    return set(long) | set(re.findall(r"(?<![\w-])-[A-Za-z](?![\w-])", text))


def table(directory=TABLE_DIR):
    return option_table.read(directory)


def of_command(command):
    """{option: whether it takes a value}, as the table has them."""
    return {name: bool(row.value) for row in table().of(command) for name in row.spellings()}


def options_of_page(path):
    """{option: whether it is somewhere shown with an argument}; --watch names a command."""
    found = {}
    for line in path.read_text().splitlines():
        words = line[1:].split() if line.startswith(".") else []
        at = 0
        while at < len(words):
            at += 1
            if words[at - 1] != "Fl":
                continue
            names = []
            while at < len(words) and words[at] not in MACROS:
                if words[at] not in (",", "."):
                    names.append("-" + words[at])
                at += 1
            follows = words[at:at + 2]
            has_value = follows[:1] == ["Ar"] or follows == ["Oo", "Ar"]
            for name in names:
                found[name] = found.get(name, False) or has_value
    found.pop("--watch", None)
    return found
