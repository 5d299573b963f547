# SPDX-License-Identifier: Apache-2.0
"""A row of the option table is in all that is made of it, or is refused with what it lacks."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import options

COLLECTOR_DIR = options.TABLE_DIR.parent

FLAG = "  type       flag\n  sets       json\n"

ROW = """
-q, --quality HOW
  type       choice rough=0 fine=1
  sets       recording.quality
  needs      --kind wall offcpu: only waits have one
  not.top    fine --until-eof --short-waits
  completes  words rough fine
  help       how good: it's rough, or
             fine
"""


class Table(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        for name in ("options", "completions", "man"):
            shutil.copytree(COLLECTOR_DIR / name, self.directory / name,
                            ignore=shutil.ignore_patterns("__pycache__"))
        self.made = self.directory / "made"

    def add(self, row, behind, name="record.txt"):
        """Puts a row behind a line of the table."""
        path = self.directory / "options" / name
        text = path.read_text()
        self.assertEqual(text.count(behind + "\n"), 1, behind)
        path.write_text(text.replace(behind + "\n", behind + "\n" + row))

    def make(self):
        return subprocess.run([sys.executable, "-B", self.directory / "options" / "make_options.py",
                               self.directory / "options", self.made],
                              capture_output=True, text=True, check=False)

    def text(self, name):
        return (self.made / name).read_text()

    def assert_refused(self, row, why, behind="[how: record top watch]", name="record.txt"):
        self.add(row, behind, name)
        made = self.make()
        self.assertEqual(made.returncode, 1, made.stderr)
        self.assertRegex(made.stderr, why)
        self.assertFalse(self.made.exists())

    def test_what_is_built_is_made_of_the_table(self):
        self.assertEqual(self.make().stderr, "")
        paths = [path for path in self.made.rglob("*") if path.is_file()]
        self.assertGreater(len(paths), 10)
        for path in paths:
            built = options.MADE_DIR / path.relative_to(self.made)
            self.assertEqual(path.read_text(), built.read_text(), path.name)

    def test_one_row_more_is_everywhere(self):
        self.add(ROW, "[how: record top watch]")
        self.assertEqual(self.make().stderr, "")
        self.assertIn("OPTION_QUALITY = 'q',", self.text("include/options/tables.h"))
        tables = self.text("tables.c")
        self.assertIn('{"quality", required_argument, NULL, OPTION_QUALITY},', tables)
        self.assertRegex(tables, r'collect_short_options\[\] = ".*q:')
        self.assertNotRegex(tables, r'draw_short_options\[\] = ".*q')
        self.assertIn('"  -q, --quality HOW      how good: it\'s rough, or\\n"\n'
                      '\t"                         fine\\n"', tables)
        self.assertIn('\tstatic const struct option_choice choices[] = {{"rough", 0}, {"fine", 1}, '
                      '{0}};\n', self.text("collect_set.c"))
        self.assertIn("options->recording.quality = (__typeof__(options->recording.quality))value;",
                      self.text("collect_set.c"))
        self.assertRegex(tables, r'\{OPTION_QUALITY, OPTIONS_OF_RECORD \| OPTIONS_OF_TOP \| '
                                 r'OPTIONS_OF_WATCH,\n\t "-q", "record, top and --watch", '
                                 r'collect_rules_\d+, 2, 0\},')
        self.assertIn('.others = "--kind wall or offcpu",\n\t .why = "only waits have one",', tables)
        self.assertIn(".It Fl q , -quality Ar how\nhow good: it's rough, or fine.\n",
                      self.text("man/fgcollect-record.1"))
        for page in ("top.1", "watch.8"):
            self.assertIn(".Fl q , -quality Ar how ,\n", self.text(f"man/fgcollect-{page}"))
        for page in ("list.1", "doctor.1", "render.1", "diff.1"):
            self.assertNotIn("-quality", self.text(f"man/fgcollect-{page}"))
        bash = self.text("completions/fgcollect.bash")
        self.assertIn("-q | --quality)\n\t\t_fgcollect_choices 'rough fine' \"$2\"\n", bash)
        self.assertEqual(len(re.findall(r"(?s)\t(\w+)\)\n\t\techo '[^']*--quality[^']*'", bash)), 3)
        self.assertEqual(self.text("completions/_fgcollect").count(
            "'(-q --quality)--quality=[how good\\: it'\"'\"'s rough, or fine]:how:(rough fine)'"),
            3)
        self.assertIn("complete -c fgcollect -n '__fgcollect_is record top watch' -s q -l quality "
                      "-x -a 'rough fine' -d 'how good: it\\'s rough, or fine'\n",
                      self.text("completions/fgcollect.fish"))

    def test_a_row_that_helps_nobody_is_refused(self):
        self.assert_refused("\n--quality\n" + FLAG + "  brief      how good\n",
                            r"record.txt:\d+: --quality is nowhere in the help of record")

    def test_a_row_without_a_word_is_refused(self):
        self.assert_refused("\n--quality\n", r"record.txt:\d+: help, brief or page has to say")

    def test_a_section_without_a_place_in_the_page_is_refused(self):
        help_text = self.directory / "options" / "help" / "list.txt"
        help_text.write_text(help_text.read_text() + "@options new@\n")
        self.assert_refused("\n[new: list]\n--quality\n" + FLAG + "  help       how good\n"
                            "\n[common: list]\n",
                            r"record.txt:\d+: the page of list has no list of section new",
                            "  help       PIDs in the lowest level")

    def test_an_option_is_in_a_command_once(self):
        self.assert_refused("\n-d, --quality\n" + FLAG + "  help       how good\n",
                            r"record.txt:\d+: record has -d already, at record.txt:\d+")

    def test_rows_of_a_name_agree(self):
        self.assert_refused("\n-q, --jitdump DIR\n  type       text\n  help       there\n",
                            r"record.txt:\d+: --jitdump has another letter or value",
                            "[json: list doctor history]")

    def test_unknown_words_are_refused(self):
        self.assert_refused(ROW.replace("words", "numbers"), "what completes a value is one of")

    def test_unknown_fields_are_refused(self):
        self.assert_refused(ROW.replace("help  ", "hepl  "),
                            r"record.txt:\d+: no field of an option")

    def test_a_row_says_how_its_value_is_read(self):
        for fields, why in (("", "--quality has no type"),
                            ("  type       odd\n", "no type, or with too few or too many words"),
                            ("  type       count 1\n", "no type, or with too few"),
                            ("  type       flag\n", "--quality has a value, which flag does not"),
                            ("  type       path\n", "--quality sets nothing"),
                            ("  type       time 1s 1x 1s of it\n  sets       recording.x_ns\n", "no such quant"),
                            ("  type       size 1k 1M 2M of it\n  sets       recording.x\n", "no example"),
                            ("  type       time 1s 2s 1s\n  sets       recording.x_ns\n", "no type"),
                            ("  type       time 1s 2s 1s of it\n  sets       recording.x\n", "no unit of time")):
            with self.subTest(fields=fields):
                self.setUp()
                self.assert_refused("\n--quality HOW\n" + fields + "  help       how good\n",
                                    r"record.txt:\d+: .*" + why)

    def test_rules_name_options_and_commands_that_are_there(self):
        for rule, why in (("needs      --odd", "there is no --odd"),
                          ("needs      wall", "An option is to be named"),
                          ("not.list   --kind", "--quality is no option of list")):
            with self.subTest(rule=rule):
                self.setUp()
                self.assert_refused("\n--quality\n" + FLAG + f"  {rule}\n  help       how good\n",
                                    r"record.txt:\d+: .*" + why)

    def test_unknown_commands_are_refused(self):
        self.assert_refused(ROW + "  commands   recrod\n", r"no such command: recrod")


if __name__ == "__main__":
    unittest.main(verbosity=2)
