# SPDX-License-Identifier: Apache-2.0
"""Counters and metrics that pages, dashboard and alerts name are declared."""

import os
import pathlib
import re
import subprocess
import unittest

import structure

PROGRAM = pathlib.Path(os.environ["FG_BINARY_DIR"]) / "tests/unit/serve/print_counters"
CODE = re.compile(r"`\.?([a-z]+[a-z_]*(?:\.[a-z_]+)*)`")
METRIC = re.compile(r"\bfgcollect_([a-z_]+)\b")
# Made of names and not of numbers (serve/metrics.c).
OTHERS = {"jvm_info", "jvms_left_out", "build_info"}
# Members of `top --json`, which say what a window had no room for.
OF_TOP = {"overflow", "untimed"}
PAGES = ("*.md", "docs/*.md", "collector/*.md", "docker/**/*.md", "docker/**/*.json", "docker/**/*.yaml")


def ends_of(key):
    """The key, and each end of it: "symbol_tables.bytes", "bytes"."""
    parts = key.split(".")
    return {".".join(parts[n:]) for n in range(len(parts))}


class Counters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lines = subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout
        rows = [line.split() for line in lines.splitlines()]
        cls.keys = set().union(*(ends_of(key) for key, _ in rows))
        cls.metrics = {metric for _, metric in rows} | OTHERS
        cls.metrics |= {re.sub("_bucket$", "", metric) for metric in cls.metrics}

    def test_metrics_are_declared(self):
        named = [(path.name, name) for pattern in PAGES for path in structure.SOURCE.glob(pattern)
                 for name in METRIC.findall(path.read_text())]
        self.assertGreater(len(named), 60)
        self.assertEqual([at for at in named if at[1] not in self.metrics], [])

    def test_counters_of_limits_are_declared(self):
        named = []
        for line in (structure.SOURCE / "collector/LIMITS.md").read_text().splitlines():
            cells = line.split("|")
            if len(cells) == 6 and cells[1].strip() not in ("what", "---"):
                named += CODE.findall(cells[3]) + CODE.findall(cells[4])
        self.assertGreater(len(named), 60)
        counters = {name for name in named if not METRIC.fullmatch(name)}
        self.assertEqual(counters - self.keys - OF_TOP, set())


if __name__ == "__main__":
    unittest.main()
