# SPDX-License-Identifier: Apache-2.0
"""perf-<pid>.map files: "start size name" a line, hexadecimal.

Ours is written all the time; the JVM's own (jcmd Compiler.perfmap) only by attaching to it. For
every method of the JVM's there has to be the same range in ours. Of what is no method, two kinds
may be missing in ours: blobs that the JVM told us of in parts, by finer names than its map has
("StubRoutines (1)", "MethodHandles adapters", "vtable chunks"), and the few in EXCUSED, of which it
tells its agents nothing.
"""

import re

EXCUSED = re.compile(
    r"jni_fast_Get\w+Field|adapters|native signature handlers|Signature Handler Temp Buffer"
    r"|InlineCacheBuffer")

# "void java.util.HashMap.put(java.lang.Object, java.lang.Object)": what HotSpot calls a method.
METHOD = re.compile(r"^\S.* \S+\.[^.(]+\(.*\)$")


class PerfMap:
    """entries: list of (start, size, name), in the file's order."""

    def __init__(self, text):
        self.entries = []
        for line in text.splitlines():
            start, size, name = line.split(" ", 2)
            if name == "fg":  # what perf skips: the mark, and lines that were taken out
                continue
            self.entries.append((int(start, 16), int(size, 16), name))

    def ranges(self):
        return {(start, size) for start, size, _ in self.entries}

    def by_range(self):
        return {(start, size): name for start, size, name in self.entries}

    def methods(self):
        """The entries that are methods in the JVM's own map."""
        return [entry for entry in self.entries if METHOD.match(entry[2])]

    def has_parts_of(self, entry):
        """Whether some entry lies within that one."""
        start, size, _ = entry
        return any(start <= s and s + n <= start + size for s, n, _ in self.entries)

    def overlaps(self):
        rows = sorted(self.entries)
        return [(a, b) for a, b in zip(rows, rows[1:]) if a[0] + a[1] > b[0]]
