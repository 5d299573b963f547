# SPDX-License-Identifier: Apache-2.0
"""The checkout may lie anywhere: where a path has a blank, and where nobody can write."""

import re
import shutil
import subprocess
import unittest

import structure

# Expansions without quotes, which a blank takes apart (shellcheck's codes for those).
UNQUOTED = "SC2046,SC2048,SC2068,SC2086,SC2206"
FOLDERS = (".ci", "collector", "docker", "jvmti-agent", "scripts", "tests")
# A file of the sources' own that is written, made or removed: by Python and by CMake.
WRITES = re.compile(r"\b(?:SOURCE|TESTS|GOLDEN|EXAMPLES|DOCKER|KUBERNETES|PROGRAMS|__file__)\b[^\n;]*"
                    r"\.(?:write_text|write_bytes|mkdir|touch|unlink|rename|symlink_to|rmdir)\(")
MAKES = re.compile(r"(?:\bOUTPUT|\bBYPRODUCTS|file\((?:WRITE|APPEND|GENERATE|DOWNLOAD|MAKE_DIRECTORY))\s+"
                   r"(?:OUTPUT\s+)?\"?\$\{(?:CMAKE|PROJECT)_(?:CURRENT_)?SOURCE_DIR\}")
# A path put into a shell's text is taken apart there; an argument of its own is not.
IN_TEXT = re.compile(r"\"(?:ba)?sh\", \"-[a-z]*c\", f[\"'][^\n]*(?<!')\{(?:settings\.)?(?:SOURCE|BUILD)\b")


def files(*suffixes):
    """Those of this repository; a checkout below it has a build of its own."""
    for folder in FOLDERS:
        for path in sorted((structure.SOURCE / folder).rglob("*")):
            if path.is_file() and (path.suffix in suffixes or path.name in suffixes):
                yield path


def shell_scripts():
    for folder in FOLDERS:
        for path in sorted((structure.SOURCE / folder).rglob("*")):
            if path.is_file() and path.suffix in ("", ".sh"):
                with open(path, "rb") as file:
                    if re.match(rb"#!.*\b(ba)?sh\b", file.readline()):
                        yield path


class Places(unittest.TestCase):
    def test_paths_in_scripts_are_quoted(self):
        scripts = list(shell_scripts())
        self.assertGreater(len(scripts), 15)
        if not shutil.which("shellcheck"):
            self.skipTest("no shellcheck: apt-get install shellcheck")
        checked = subprocess.run(["shellcheck", "--format=gcc", f"--include={UNQUOTED}", *scripts],
                                 text=True, capture_output=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_nothing_is_written_below_the_sources(self):
        for pattern, suffixes in ((WRITES, (".py",)), (MAKES, (".cmake", "CMakeLists.txt"))):
            found = list(files(*suffixes))
            self.assertGreater(len(found), 3)
            for path in found:
                if path.name != "test_places.py":
                    self.assertEqual(pattern.findall(path.read_text()), [], path)

    def test_paths_are_arguments_and_no_text_of_a_shell(self):
        for path in files(".py"):
            if path.name != "test_places.py":
                self.assertEqual(IN_TEXT.findall(path.read_text()), [], path)

    def test_what_is_refused_is_found(self):
        for pattern, text in (
                (WRITES, '(settings.SOURCE / "tests" / "x").write_text("")'),
                (WRITES, 'pathlib.Path(__file__).with_name("x").touch()'),
                (MAKES, 'add_custom_command(OUTPUT "${CMAKE_CURRENT_SOURCE_DIR}/x"'),
                (MAKES, 'file(WRITE ${CMAKE_SOURCE_DIR}/x "")'),
                (IN_TEXT, '["sh", "-c", f"cd {settings.SOURCE} && ls"]')):
            self.assertTrue(pattern.search(text), text)
        for pattern, text in (
                (WRITES, '(self.directory / "x").write_text(SOURCE.read_text())'),
                (MAKES, 'add_custom_command(OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/x"'),
                (IN_TEXT, '["sh", "-c", \'cd "$1"\', "sh", settings.SOURCE]')):
            self.assertFalse(pattern.search(text), text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
