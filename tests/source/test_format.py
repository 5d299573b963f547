# SPDX-License-Identifier: Apache-2.0
"""Sources of C are laid out as .clang-format says, and end at the hundredth column, comments too."""

import re
import shutil
import subprocess
import unittest

import structure

TREES = ("collector", "jvmti-agent", "shared", "tests")
COLUMNS = 100
# Another version lays out some lines another way.
VERSION = "14"


def sources():
    return [path for tree in TREES for path in structure.sources(tree)]


def long_lines(text):
    return [number for number, line in enumerate(text.split("\n"), 1)
            if len(line.expandtabs(8)) > COLUMNS]


class Format(unittest.TestCase):
    def test_no_line_is_longer_than_the_style_allows(self):
        self.assertGreater(len(sources()), 1000)
        found = [f"{path.relative_to(structure.SOURCE)}:{number}"
                 for path in sources() for number in long_lines(path.read_text())]
        self.assertEqual(found, [])

    def test_a_long_line_is_found(self):
        self.assertEqual(long_lines("x" * 100 + "\n\t" + "x" * 93 + "\n"), [2])

    def test_sources_are_laid_out_as_clang_format_does(self):
        program = shutil.which("clang-format-14") or shutil.which("clang-format")
        self.assertIsNotNone(program, "clang-format is missing: apt-get install clang-format")
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        if not re.search(rf"version {VERSION}\.", version.stdout):
            self.skipTest(f"clang-format {VERSION} is needed, here is {version.stdout.strip()}")
        check = subprocess.run([program, "--dry-run", "-Werror", *sources()], cwd=structure.SOURCE,
                               capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stderr[:4000]
                         + "\nclang-format -i FILE lays a file out as the others are")


if __name__ == "__main__":
    unittest.main(verbosity=2)
