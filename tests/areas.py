# SPDX-License-Identifier: Apache-2.0
"""areas.py LOG...: a table of what ctest has run, by area, from what ctest has printed.

An area is what stands before the first dot of a test's name, and for end-to-end tests the next word
too. A test that was run again stands below the table, with how often each run has ended how.
"""

import pathlib
import re
import sys

ROW = re.compile(r"^ *(?:\d+/\d+ )?Test +#\d+: (\S+) \.*(?: *(?:\*\*\*)?)(\w[\w ]*?) +([\d.]+) sec",
                 re.MULTILINE)


def area_of(name):
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "e2e" else parts[0]


def main():
    areas, runs = {}, {}
    for number, path in enumerate(sys.argv[1:]):
        for name, verdict, seconds in ROW.findall(pathlib.Path(path).read_text(errors="replace")):
            row = areas.setdefault(area_of(name), [0, 0.0, 0.0])
            verdicts = runs.setdefault((number, name), [])
            row[0] += not verdicts
            row[1] += float(seconds)
            row[2] = max(row[2], float(seconds))
            verdicts.append(verdict)
    print(f"{'area':24} {'tests':>6} {'seconds':>8} {'longest':>8}")
    for area, (tests, seconds, longest) in sorted(areas.items()):
        print(f"{area:24} {tests:6} {seconds:8.1f} {longest:8.1f}")
    again = [(name, verdicts) for (_, name), verdicts in runs.items() if len(verdicts) > 1]
    for name, verdicts in sorted(again):
        print(f"taken again: {name}: {', '.join(verdicts)}")


main()
