# SPDX-License-Identifier: Apache-2.0
"""What bash, zsh and fish offer, asked of the shells themselves."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import options
import shells

LIST = """{
  "jvms": [
    {
      "pid": 4711,
      "inner_pid": 1,
      "comm": "java",
      "container_name": "web-1",
      "pod": "api-7",
      "labels": {
        "pod": "$(touch stolen)"
      }
    },
    {
      "pid": 4712,
      "container_name": "$(touch stolen)",
      "pod": "`touch stolen`; touch stolen"
    }
  ],
  "collector": {}
}
"""


class Completions(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.path = cls.directory / "bin"
        cls.prefix = cls.directory / "prefix"
        for path in (cls.path, cls.directory / "run", cls.directory / "run-control"):
            path.mkdir()
        subprocess.run(["cmake", "--install", options.BINARY_DIR, "--prefix", cls.prefix],
                       check=True, capture_output=True)
        cls.put_program("exit 1")

    @classmethod
    def put_program(cls, text):
        program = cls.path / "fgcollect"
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)

    def in_each_shell(self):
        for kind in shells.SHELLS:
            if not kind.is_there():
                package = kind.package or kind.program
                self.skipTest(f"{package} is missing: apt-get install {package}")
            home = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
            shell = kind(self.prefix, home, self.path)
            self.addCleanup(shell.close)
            yield shell

    def test_each_option_of_the_manual_is_offered_and_no_other(self):
        for shell in self.in_each_shell():
            for command in options.COMMANDS:
                expected = options.options_of_page(options.page_of(command))
                offered = shell.complete(f"fgcollect {command} -")
                self.assertEqual(sorted(offered), sorted(expected),
                                 f"{shell.program}: {command}")

    def test_commands_and_dash_watch_are_offered(self):
        for shell in self.in_each_shell():
            self.assertLessEqual(set(options.COMMANDS), shell.complete("fgcollect "))
            self.assertEqual(shell.complete("fgcollect re"), {"record", "render", "replay"})
            self.assertLessEqual({"--watch", "--version", "--help"},
                                 shell.complete("fgcollect --"))
            self.assertIn("--keep-bytes", shell.complete("fgcollect --watch --k"))

    def test_values_are_offered(self):
        wanted = (
            ("record --unwind ", {"full", "fp"}),
            ("record -d 5 --java-names s", {"slash", "simple", "signature"}),
            ("top --view ", {"methods", "threads", "jvms"}),
            ("top --sort t", {"total"}),
            ("watch --log-level ", {"error", "warning", "info", "debug"}),
            ("--watch --format fi", {"firefox.json"}),
            ("diff --width-of ", {"after", "before", "union"}),
            ("diff -f ", {"svg", "html", "folded", "pb.gz"}),
            ("render --bgcolors ", {"yellow", "blue", "green", "grey"}),
        )
        for shell in self.in_each_shell():
            for line, values in wanted:
                self.assertEqual(shell.complete(f"fgcollect {line}"), values,
                                 f"{shell.program}: {line}")
            # With "=" some shells say the whole word.
            self.assertEqual({value.rpartition("=")[2]
                              for value in shell.complete("fgcollect record --unwind=")},
                             {"full", "fp"}, shell.program)
            self.assertTrue({"cpu-clock", "cycles"} <= shell.complete("fgcollect record -e c"))

    def test_what_a_daemon_knows_is_offered_and_never_run(self):
        (self.directory / "list.json").write_text(LIST)
        self.put_program(f'[ "$1 $2" = "list --json" ] && exec cat {self.directory}/list.json')
        control = self.directory / "run-control" / "agent.sock"
        control.touch()
        at = f"--socket {self.directory}/run/agent.sock"
        try:
            for shell in self.in_each_shell():
                ask = lambda rest: shell.complete(f"fgcollect record {at} {rest}")
                self.assertEqual(ask("--container "), {"web-1"})
                self.assertEqual(ask("--pod a"), {"api-7"})
                self.assertEqual(ask("-p "), {"4711", "4712"})
                self.assertEqual(list(self.directory.rglob("stolen")), [])
        finally:
            control.unlink()
            self.put_program("exit 1")

    def test_nobody_is_asked_where_no_daemon_is(self):
        self.put_program(f"touch {self.directory}/asked; exit 1")
        for shell in self.in_each_shell():
            shell.complete(f"fgcollect list --socket {self.directory}/run/agent.sock --container w")
            self.assertFalse((self.directory / "asked").exists())
        self.put_program("exit 1")


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=sys.argv)
