# SPDX-License-Identifier: Apache-2.0
"""perf-<pid>.map files: "start size name" a line, hexadecimal.

Ours is written all the time; the JVM's own (jcmd Compiler.perfmap) only by attaching to it. For
every method of the JVM's there has to be the same range in ours. The JVM's has besides some code
of which it tells its agents nothing; that is all that may be missing in ours:
"""

import re

# Blobs without a JVMTI event, by their names in JDK 17 to 25.
EXCUSED = re.compile(
    r"jni_fast_Get\w+Field|adapters|I2C/C2I adapters|native signature handlers"
    r"|Signature Handler Temp Buffer|InlineCacheBuffer|vtable chunks|.*[Ss]tub.*")

# "void java.util.HashMap.put(java.lang.Object, java.lang.Object)": what HotSpot calls a method.
METHOD = re.compile(r"^\S.* \S+\.[^.(]+\(.*\)$")


class PerfMap:
    """entries: list of (start, size, name), in the file's order."""

    def __init__(self, text):
        self.entries = []
        for line in text.splitlines():
            start, size, name = line.split(" ", 2)
            self.entries.append((int(start, 16), int(size, 16), name))

    def ranges(self):
        return {(start, size) for start, size, _ in self.entries}

    def methods(self):
        """The entries that are methods in the JVM's own map."""
        return [entry for entry in self.entries if METHOD.match(entry[2])]

    def overlaps(self):
        rows = sorted(self.entries)
        return [(a, b) for a, b in zip(rows, rows[1:]) if a[0] + a[1] > b[0]]
