# SPDX-License-Identifier: Apache-2.0
"""Each option of the table is parsed, is in --help and in the manual, and no other is."""

import re
import string
import subprocess
import unittest

import options
from options import COMMANDS, DRAW, SOURCE, option_table

# Values that options take, by how the table calls them.
VALUES = {"BYTES": "16k", "DIR": "/tmp", "E": "cycles", "FILE": "x.svg", "HZ": "99",
          "KEY=VALUE": "a=b", "LIST": "dotted", "N": "5", "PATH": "/tmp/x.sock", "PID": "1",
          "PX": "200", "PX|P%": "1%", "SECS": "5", "SHARE": "0.6", "SIZE": "512M"}


# {a command: what it refuses, and what it says then}; of the others see WRONG_ELSEWHERE
WRONG = {"fgcollect": ("--no-such", "--no-such: no such option"),
         "render": ("--colors=none", "--colors none: "), "diff": ("--colors=none", "--colors none: "),
         "history": ("--store=", "--store : "), "replay": ("--capture=", "--capture : ")}
WRONG_ELSEWHERE = ("--socket=", "--socket : ")


def value_of(row):
    """One that is right."""
    kind, words = row.completion()
    return words[0] if kind in ("words", "list") else VALUES.get(row.value, "x")


class Options(unittest.TestCase):
    maxDiff = None

    def assert_same(self, one, other, what):
        self.assertEqual(sorted(one), sorted(other), what)

    def refusal_after(self, row, command, name):
        """What a command line says first that is wrong behind that option."""
        wrong, _ = WRONG.get(command, WRONG_ELSEWHERE)
        words = [command, name, *([value_of(row)] if row.value else []), wrong]
        if command == "fgcollect":
            words.remove(command)
        finished = subprocess.run([options.COLLECTOR, *words], capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(finished.returncode, 2, words)
        return finished.stderr.split("\n")[0]

    def test_each_option_of_the_table_is_parsed(self):
        count = 0
        for command in ("fgcollect", *COMMANDS):
            _, expected = WRONG.get(command, WRONG_ELSEWHERE)
            for row in options.table().of(command):
                for name in row.spellings():
                    if row.name in ("help", "help-all"):
                        continue
                    said = self.refusal_after(row, command, name)
                    self.assertIn(expected, said, f"{command} {name}")
                    count += 1
        self.assertGreater(count, 200)

    def test_options_of_other_tools_are_refused_with_what_to_use(self):
        rows = [row for row in options.table().rows if row.has("instead")]
        self.assertGreater(len(rows), 5)
        for row in rows:
            said = self.refusal_after(row, "render", f"--{row.name}")
            self.assertIn(f"--{row.name} is not here: {row.text('instead')}", said)

    def test_no_option_is_parsed_that_the_table_lacks(self):
        for path in (SOURCE / "collector").rglob("*.[ch]"):
            self.assertNotRegex(path.read_text(), r"\b(no|required|optional)_argument\b", path)
        for command, commands in (("record", option_table.COLLECT), ("render", DRAW)):
            known = {f"--{name}" for row in options.table().rows for name in row.names
                     if set(commands) & set(row.commands) or command == "render" and
                     row.has("instead")}
            parsed = set()
            for letter in string.ascii_lowercase:
                # Where several options begin so, the error names them.
                finished = subprocess.run(
                    [options.COLLECTOR, command, f"--{letter}=x", "--socket="],
                    capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
                parsed |= set(re.findall(r"[?,] (--[a-z-]+)", finished.stderr))
            self.assertGreater(len(parsed), 30)
            self.assertLessEqual(parsed, known, command)

    def test_help_has_each_option_of_the_table_and_no_other(self):
        def of(*commands):
            return set().union(*(options.of_command(command) for command in commands))
        shown = options.options_of_help(options.help_of() + options.help_of("top"))
        self.assert_same(of(*option_table.COLLECT), shown, "fgcollect --help-all, top --help")
        for command in ("render", "list", "doctor"):
            shown = options.options_of_help(options.help_of(command, option="--help"))
            self.assert_same(of(command), shown, f"{command} --help")
        # Colours are changes in a comparison, so that --cp is refused there.
        shown = options.options_of_help(options.help_of("diff"))
        self.assert_same(of("diff"), shown - {"--cp"}, "diff --help")

    def test_manual_has_each_option_of_the_table_and_no_other(self):
        for command in COMMANDS:
            self.assertEqual(options.options_of_page(options.page_of(command)),
                             options.of_command(command), command)

    def test_manual_has_each_option_of_the_agent(self):
        source = (SOURCE / "jvmti-agent" / "options.c").read_text()
        table = source[source.index("known_options[] = {"):]
        known = re.findall(r'^\t\{"([a-z]+)", read_', table, re.M)
        page = (SOURCE / "jvmti-agent" / "man" / "fgagent.7").read_text()
        shown = re.findall(r"^\.It Cm ([a-z]+)", page, re.M)
        self.assertGreater(len(known), 4)
        self.assert_same({*known, "off"}, set(shown), "fgagent(7)")


if __name__ == "__main__":
    unittest.main(verbosity=2)
