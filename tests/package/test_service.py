# SPDX-License-Identifier: Apache-2.0
"""The service's file: systemd understands it, it is as closed as it can be, and the manual is true."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from options import COLLECTOR, SOURCE, page_of

UNIT = SOURCE / "collector" / "fgcollect.service"
# What systemd-analyze makes of all that it may do, from 0 to 100: without mounts of its own it cannot
# be less, for half of what is rated needs them. Two are for becoming another user, which parsers do, and
# one is for BPF.
MOST_EXPOSURE = 46


def systemd_analyze(*args):
    return subprocess.run(["systemd-analyze", *args], capture_output=True, text=True, check=False,
                          env={**os.environ, "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": ""})


class Service(unittest.TestCase):
    def setUp(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is missing: apt-get install systemd")
        directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, directory)
        self.unit = directory / UNIT.name
        self.unit.write_text(UNIT.read_text().replace("=fgcollect ", f"={COLLECTOR} "))

    def test_systemd_understands_it(self):
        verified = systemd_analyze("verify", "--man=no", self.unit)
        self.assertEqual((verified.returncode, verified.stdout + verified.stderr), (0, ""))

    def test_it_is_not_more_open_than_it_was(self):
        rated = systemd_analyze("security", "--offline=true", f"--threshold={MOST_EXPOSURE}",
                                self.unit)
        self.assertEqual(rated.returncode, 0, rated.stdout)

    def test_files_of_containers_can_be_opened(self):
        """To refuse openat2 is how systemd keeps RestrictSUIDSGID: its filter cannot read the mode."""
        self.assertNotIn("\nRestrictSUIDSGID", UNIT.read_text())

    def test_page_says_how_open_it_is(self):
        rated = systemd_analyze("security", "--offline=true", self.unit).stdout
        exposure = re.search(r"Overall exposure level for \S+: ([0-9.]+) (\w+)", rated)
        page = (SOURCE / "docs" / "install.md").read_text()
        self.assertIn(f'rates what the service may do: {exposure[1]} of 10 ("{exposure[2]}")', page)

    def test_it_takes_a_part_of_the_host_and_talks_to_the_host_alone(self):
        settings = dict(re.findall(r"^(\w+)=(.+)$", UNIT.read_text(), re.M))
        page = (SOURCE / "docs" / "install.md").read_text()
        for name in ("MemoryMax", "CPUWeight", "TasksMax", "IPAddressDeny"):
            self.assertIn(name, settings)
            self.assertIn(f"`{name}", page)
        self.assertEqual((settings["IPAddressDeny"], settings["IPAddressAllow"]),
                         ("any", "localhost"))

    def test_parsers_may_become_nobody(self):
        given = " ".join(re.findall(r"^CapabilityBoundingSet=(.*)", UNIT.read_text(), re.M)).split()
        calls = " ".join(re.findall(r"^SystemCallFilter=([^~].*)", UNIT.read_text(), re.M)).split()
        self.assertLessEqual({"CAP_SETUID", "CAP_SETGID"}, set(given))
        self.assertLessEqual({"setgroups", "setresgid", "setresuid"}, set(calls))

    def test_manual_explains_each_capability_and_no_other(self):
        lines = re.findall(r"^CapabilityBoundingSet=(.*)", UNIT.read_text(), re.M)
        given = " ".join(lines).split()
        page = page_of("watch").read_text()
        explained = re.findall(r"^\.It Dv (CAP_[A-Z_]+)", page, re.M)
        self.assertEqual(sorted(given), sorted(explained))


if __name__ == "__main__":
    unittest.main(verbosity=2)
