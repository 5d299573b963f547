# SPDX-License-Identifier: Apache-2.0
"""--help, the sources and the manual have the same options, and the same of them take a value."""

import re
import unittest

import options
from options import COMMANDS, SOURCE


class Options(unittest.TestCase):
    maxDiff = None

    def assert_same(self, one, other, what):
        self.assertEqual(sorted(one), sorted(other), what)

    def test_help_has_each_option_that_is_read(self):
        read = options.tables("cli/options.c", "cli/top_options.h", "cli/target_options.h")
        self.assert_same(read, options.options_of_help(options.help_of() + options.help_of("top")),
                         "fgcollect --help and top --help")
        drawn = options.tables("draw/draw_options.c")
        self.assert_same(drawn, options.options_of_help(
            options.help_of("render") + options.help_of("diff")), "render --help and diff --help")

    def test_manual_has_each_option_of_help(self):
        shared = options.options_of_help(options.help_of() + options.help_of("top"))
        pages = [options.options_of_page(options.page_of(command)) for command in COMMANDS[:5]]
        self.assert_same(shared - {"--watch", "--version"}, set().union(*pages), "five pages")
        own = options.options_of_help(options.help_of("top"))
        self.assertLessEqual(own, set(pages[COMMANDS.index("top")]))
        render = options.options_of_help(options.help_of("render"))
        self.assert_same(render, options.options_of_page(options.page_of("render")), "render")
        # Colours are changes there, so that it is refused.
        diff = options.options_of_help(options.help_of("diff")) - {"--cp"}
        self.assert_same(diff, options.options_of_page(options.page_of("diff")), "diff")

    def test_manual_shows_a_value_where_one_is_taken(self):
        read = options.tables("cli/options.c", "cli/top_options.h", "cli/target_options.h")
        drawn = options.tables("draw/draw_options.c")
        for command in COMMANDS:
            table = drawn if command in ("render", "diff") else read
            for name, has_value in options.options_of_page(options.page_of(command)).items():
                self.assertEqual(has_value, table[name], f"{name} in fgcollect-{command}")

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
