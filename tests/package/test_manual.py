# SPDX-License-Identifier: Apache-2.0
"""Pages of the manual are right as two formatters see them, and name only pages that there are."""

import re
import shutil
import subprocess
import unittest

import options

# Of other packages.
FOREIGN = {"perf 1", "perf-script 1", "perf_event_open 2", "systemd.service 5", "regex 7",
           "capabilities 7", "ssh 1"}


class Manual(unittest.TestCase):
    def test_mandoc_has_nothing_to_say(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is missing: apt-get install mandoc")
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *options.all_pages()],
                              capture_output=True, text=True, check=False)
        self.assertEqual((lint.returncode, lint.stdout + lint.stderr), (0, ""))

    def test_groff_has_nothing_to_say(self):
        if not shutil.which("groff"):
            self.skipTest("groff is missing: apt-get install groff-base")
        self.assertGreater(len(options.all_pages()), len(options.COMMANDS))
        for page in options.all_pages():
            made = subprocess.run(
                ["groff", "-man", "-mandoc", "-Tutf8", "-wall", "-rLL=80n", page],
                capture_output=True, text=True, check=False)
            self.assertEqual((made.returncode, made.stderr), (0, ""), page.name)
            self.assertGreater(len(made.stdout), 1000)

    def test_each_reference_has_a_page(self):
        pages = {f"{page.stem} {page.suffix[1:]}" for page in options.all_pages()}
        for page in options.all_pages():
            for reference in re.findall(r"\bXr (\S+ \d)", page.read_text()):
                self.assertIn(reference, pages | FOREIGN, page.name)

    def test_each_command_has_a_page_that_names_it(self):
        overview = (options.SOURCE / "collector" / "man" / "fgcollect.1").read_text()
        for command in options.COMMANDS:
            page = options.page_of(command)
            self.assertIn(f".Xr {page.stem} {page.suffix[1:]}", overview)
            self.assertIn(f".Nm {page.stem}\n", page.read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
