#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""runc for containers with capabilities that the engine has no name for: Docker before 23.0 knows
those of Linux 3.16, and neither PERFMON nor CHECKPOINT_RESTORE.

Their names are in the container's variable FG_CAPABILITIES, with commas between them. All else is
what the engine asked for.
"""

import json
import os
import sys

SETS = ("bounding", "effective", "permitted")


def value_of(options):
    """What follows one of these options on the command line."""
    for option, value in zip(sys.argv, sys.argv[1:]):
        if option in options:
            return value
    return None


def add_capabilities(process):
    for variable in process.get("env", []):
        name, _, value = variable.partition("=")
        if name == "FG_CAPABILITIES":
            capabilities = process.setdefault("capabilities", {})
            for kind in SETS:
                capabilities[kind] = sorted({*(capabilities.get(kind) or []),
                                             *(f"CAP_{word}" for word in value.split(","))})


def edit(path, process_of):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    add_capabilities(process_of(content))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)


if "create" in sys.argv:
    edit(os.path.join(value_of(("--bundle", "-b")), "config.json"),
         lambda content: content["process"])
elif "exec" in sys.argv:
    edit(value_of(("--process", "-p")), lambda content: content)
os.execvp("runc", ["runc", *sys.argv[1:]])
