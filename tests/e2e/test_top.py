# SPDX-License-Identifier: Apache-2.0
"""The top command: on a terminal, once, as JSON, with a daemon and without a daemon."""

import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

from harness import chance, collector, processes, settings
from harness.case import Case
from harness.marks import counted, shared
from harness.shared import SharedCase

POINTS = 0.02
SHARES = {"Inlined.burnA": 50, "Inlined.burnB": 30, "Inlined.burnC": 20}
# Each method alone, so that what is compiled does not differ from run to run.
ALONE = {"JDK_JAVA_OPTIONS": "-XX:CompileCommand=dontinline,Inlined.*"}


class Screen:
    """A terminal of the given size that runs top."""

    def __init__(self, case, *args, columns=80, lines=24, env=""):
        self.case = case
        # Nothing of a screen before: its server may still be ending, and would take this one along.
        place = Path(tempfile.mkdtemp(prefix="screen", dir=case.directory))
        self.socket = place / "tmux"
        self.status = place / "status"
        options = " ".join(str(arg) for arg in [*case.place.options(), *args])
        # The terminal's own settings are written down before and after.
        command = (f"stty -g >{self.status}.before; env {env} {settings.COLLECTOR} top {options};"
                   f" echo $? >{self.status}; stty -g >{self.status}.after; sleep 600")
        case.addCleanup(self.run, "kill-server", check=False)
        self.run("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", lines, command)

    def run(self, *args, check=True):
        finished = subprocess.run(
            ["tmux", "-S", self.socket, *[str(arg) for arg in args]], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=20,
            env={**os.environ, "LC_ALL": "C.UTF-8"})
        if check:
            self.case.assertEqual(finished.returncode, 0, finished.stdout)
        return finished.stdout

    @property
    def text(self):
        return self.run("capture-pane", "-p")

    def keys(self, *keys):
        self.run("send-keys", *keys)

    def wait(self, claim, is_so):
        """Waits until the screen's text is as wanted. Returns the text."""
        def shown():
            text = self.text
            return text if is_so(text) else None
        return processes.wait_until(shown, lambda: f"{claim}:\n{self.text}")

    def exit_code(self):
        def ended():
            return self.status.exists() and self.status.read_text().strip()
        return int(processes.wait_until(ended, lambda: f"top ends:\n{self.text}"))

    def assert_restored(self):
        """The terminal's settings are as before top."""
        after = self.status.with_suffix(".after")
        processes.wait_until(after.exists, "the terminal was looked at")
        self.case.assertEqual(after.read_text(),
                              self.status.with_suffix(".before").read_text())


def start_burning(case):
    return case.container("Inlined", env=ALONE).wait_for_line("ready")


@counted
@shared
class TopOfOneJvm(SharedCase):
    @classmethod
    def set_up_host(cls, host):
        cls.jvm = start_burning(host)

    def top(self, *args, seconds=4):
        return collector.fgcollect("top", "-d", seconds, *args, *self.place.options(),
                                   timeout=seconds + settings.DEADLINE_SEC)

    def assert_shares(self, rows):
        """Total times have the true shares. Self times have the true shares of their sum, because
        interrupts end on top of the methods."""
        burning = {row["name"]: row for row in rows if row["name"] in SHARES}
        selves = sum(row["self"] for row in burning.values())
        samples = sum(row["self"] for row in rows)
        self.assertEqual(burning.keys(), SHARES.keys())
        for name, share in SHARES.items():
            row = burning[name]
            chance.assert_share(self, row["total"], samples, share / 100, POINTS, f"total of {name}")
            chance.assert_share(self, row["self"], selves, share / 100, POINTS, f"self of {name}")

    def test_json_has_each_method_within_two_points_and_one_object(self):
        jvm = self.jvm
        finished = self.top("--once", "--json", "-F", 1999,
                            "--stack-size", "4k", seconds=8)
        self.assertEqual(finished.code, 0, str(finished))
        table = json.loads(finished.out)  # exactly one
        self.assert_shares(table["rows"])
        row = table["rows"][0]
        self.assertEqual((row["pid"], row["container"], row["kind"]), (jvm.pid, jvm.id, "jit"))
        self.assertEqual((table["target"], table["hz"]), ("all JVMs", 1999))
        self.assertGreaterEqual(table["jvms"], 1)   # agents of the machine that listen too
        self.assertAlmostEqual(table["window_s"], 8, delta=1)
        self.assertEqual(sum(row["self"] for row in table["rows"]), table["samples"])

    def test_json_of_a_daemon_is_a_line_every_period(self):
        daemon = self.watch()
        jvm = self.jvm
        daemon.wait_for_jvm(jvm.pid)
        top = self.background([settings.COLLECTOR, "top", "--json", "--container", jvm.id,
                               "-d", "0.5", "--window", "2", *self.place.options()], "top")
        processes.wait_until(lambda: top.text.count("\n") >= 8 and "Inlined.burnA" in top.text,
                             lambda: f"lines:\n{top.text}")
        finished = top.stop(signal.SIGINT)
        self.assertEqual(finished.code, 0, str(finished))
        tables = [json.loads(line) for line in finished.text.splitlines()]
        self.assertIn("Inlined.burnA", {row["name"] for table in tables for row in table["rows"]})
        # The window moves on: it never holds more than it is long.
        self.assertTrue(all(table["window_s"] < 3.1 for table in tables), tables)
        self.assertIsNone(daemon.code, daemon.text)


class Top(Case):
    def test_screen_sorts_filters_pauses_and_expands(self):
        start_burning(self)
        screen = Screen(self, "--window", 5, "-d", 1)
        text = screen.wait("methods are shown", lambda text: "Inlined.burnC" in text)
        self.assertIn("all JVMs: 1 JVM", text)
        self.assertRegex(text, r"100.0 % named.*\d lost")
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        screen.keys("s")
        screen.wait("by total", lambda text: "methods by total" in text)
        screen.keys("s")
        screen.wait("by name", lambda text: "methods by name" in text)
        screen.keys("<", "<", "/")
        screen.keys("BURN[ab]", "Enter")
        text = screen.wait("two match", lambda text: "2 match /BURN[ab]/" in text)
        self.assertNotIn("burnC", text)
        screen.keys("p")
        paused = screen.wait("paused", lambda text: "[paused]" in text)
        screen.keys("Enter")
        screen.wait("who calls it", lambda text: "< Inlined.caller" in text)
        screen.keys("Enter")
        self.assertEqual(screen.wait("closed", lambda text: "< Inlined" not in text), paused)
        screen.keys("p", "Escape", "j")
        text = screen.wait("JVMs", lambda text: "HOTTEST METHOD" in text)
        self.assertRegex(text, r"100\.00 .*Inlined.* Inlined\.burn[ABC]")
        screen.keys("t")
        screen.wait("threads", lambda text: "THREAD " in text)
        screen.run("resize-window", "-x", 30, "-y", 6)
        screen.wait("narrow", lambda text: max(map(len, text.splitlines())) <= 30)
        screen.keys("q")
        self.assertEqual(screen.exit_code(), 0)
        screen.assert_restored()

    def test_terminal_is_given_back_however_top_ends(self):
        self.watch()
        for sent in (signal.SIGINT, signal.SIGTERM):
            screen = Screen(self, "-a", "-F", 19, env="NO_COLOR=1")
            screen.wait("is there", lambda text: "q quit" in text)
            pid = int(screen.run("display", "-p", "#{pane_pid}"))
            child = subprocess.check_output(["pgrep", "-P", str(pid), "-x", "fgcollect"], text=True)
            os.kill(int(child), sent)
            self.assertEqual(screen.exit_code(), 0)
            screen.assert_restored()

    def test_without_a_terminal_it_says_what_to_do(self):
        finished = collector.fgcollect("top", *self.place.options())
        self.assert_fails(finished, 2, "--once", "--json")
