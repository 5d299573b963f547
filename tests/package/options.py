# SPDX-License-Identifier: Apache-2.0
"""Which options there are: as --help says, as the sources read them, as the manual explains them.

An option is its text, "-p" or "--pid".
"""

import os
import pathlib
import re
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
COLLECTOR = os.environ.get("FG_COLLECTOR", str(SOURCE / "build" / "collector" / "fgcollect"))
COMMANDS = ("record", "top", "list", "doctor", "watch", "render", "diff")

# mdoc's macros that can follow the arguments of .Fl on its line.
MACROS = {"Ar", "Ns", "No", "Cm", "Oo", "Oc", "Op", "Pa", "Ic", "Xr", "Dv", "Nm", "Fl", "|"}


def page_of(command):
    section = 8 if command == "watch" else 1
    return SOURCE / "collector" / "man" / f"fgcollect-{command}.{section}"


def all_pages():
    return sorted([*SOURCE.glob("collector/man/*.[1-8]"), *SOURCE.glob("jvmti-agent/man/*.[1-8]")])


def help_of(*command):
    return subprocess.run([COLLECTOR, *command, "--help"], check=True, capture_output=True,
                          text=True).stdout


def options_of_help(text):
    """What is in quotes is another program's."""
    text = re.sub(r"(?<!\w)'[^'\n]*'", "", text)
    long = re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)
    return set(long) | set(re.findall(r"(?<![\w-])-[A-Za-z](?![\w-])", text))


def tables(*paths):
    """{option: whether it takes a value} of the rows of getopt_long's tables in these sources."""
    found = {}
    for path in paths:
        text = (SOURCE / "collector" / path).read_text().replace("\\\n", "\n")
        for name, kind, value in re.findall(
                r'\{\s*"([a-z-]+)",\s*(no|required)_argument,\s*NULL,\s*([^}\s]+)\s*\}', text):
            if value == "OPT_MISSING":
                continue
            found["--" + name] = kind == "required"
            if value.startswith("'"):
                found["-" + value[1]] = kind == "required"
        for short in re.findall(r'short_options\[\] = "([^"]*)"', text):
            for letter, colon in re.findall(r"([A-Za-z])(:?)", short):
                found["-" + letter] = bool(colon)
    return found


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
