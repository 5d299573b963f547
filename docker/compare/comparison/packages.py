# SPDX-License-Identifier: Apache-2.0
"""Which share of a configuration's samples has a package on its stack, from folded stacks.

A line is FRAME;FRAME;...FRAME COUNT, the root first. Java's frames end in _[0], _[1], _[j] or _[i],
the kernel's in _[k]. A package is named by its first two parts.
"""

import collections
import re

JAVA = re.compile(r"([^;]+)/[^/;]+_\[[01ij]\]$")
ROWS = 20
KERNEL = "kernel"


def package_of(frame):
    if frame.endswith("_[k]"):
        return KERNEL
    match = JAVA.match(frame)
    return "/".join(match.group(1).split("/")[:2]) if match else None


def shares(path):
    """{package: share of all samples}; a sample counts once for each package that it has."""
    counts, total = collections.Counter(), 0
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            stack, _, count = line.rpartition(" ")
            total += int(count)
            for package in {package_of(frame) for frame in stack.split(";")} - {None}:
                counts[package] += int(count)
    return {package: count / total for package, count in counts.items()}


def table(out, results):
    """Rows (package, a share of each that is done), by how much they differ at most."""
    found = [shares(out / result["files"]["folded"]) for result in results
             if result["state"] == "done"]
    rows = [(package, [some.get(package, 0.0) for some in found])
            for package in set().union(*found)]
    rows.sort(key=lambda row: (min(row[1]) - max(row[1]), -max(row[1]), row[0]))
    return [{"package": package, "shares": of} for package, of in rows[:ROWS]]
