# SPDX-License-Identifier: Apache-2.0
"""What a container or another user can do to the daemon; who has done nothing loses nothing."""

import pathlib
import re
import time

from harness import processes, settings
from harness.case import Case

HOSTILE_AGENT = settings.BUILD / "tests" / "e2e" / "hostile_agent"
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
MIB = 1 << 20


class Attacks(Case):
    def attack(self, what, count, each, prefix=NOBODY):
        """Starts so many processes of a user that has nothing to do with the victims."""
        return self.background([*prefix, HOSTILE_AGENT, self.place.socket, what, count, each],
                               f"hostile-{what}")

    def victim(self, daemon):
        jvm = self.container("Mixed", options=("--user", "1000"))
        jvm.wait_for_line("ready")
        daemon.wait_for_jvm(jvm.pid)
        return jvm

    def bytes_of_maps(self, daemon):
        total = 0
        for path in pathlib.Path(daemon.place.maps).iterdir():
            try:
                total += path.stat().st_blocks * 512
            except FileNotFoundError:
                pass
        return total

    def test_names_without_end_fill_no_disk(self):
        daemon = self.watch("--map-bytes", "32M")
        jvm = self.victim(daemon)
        hostile = self.attack("names", 20, 10_000)
        most = 0
        while hostile.code is None:
            most = max(most, self.bytes_of_maps(daemon))
            time.sleep(0.02)
        self.assertEqual(hostile.code, 0, hostile.text)
        row = daemon.jvm(jvm.pid)
        maps = daemon.list_json()["collector"]["perf_maps"]
        sent = 20 * 10_000 * 900
        print(f"sent {sent / MIB:.0f} MiB of names, at most {most / MIB:.1f} MiB in maps; {maps}")
        self.assertLess(most, 36 * MIB)     # 32, and what came while perf maps were being made
        self.assertGreater(most, 16 * MIB)
        processes.wait_until(lambda: daemon.list_json()["collector"]["perf_maps"]["kept"] == 20,
                             lambda: f"all have ended: {daemon.list().text}")
        self.assertLess(self.bytes_of_maps(daemon), 26 * MIB)
        self.assertEqual(row["map_cut"], 0, row)
        self.assertGreater(row["map_bytes"], 0, row)
        ours = daemon.read_map(jvm.pid)
        self.assertRegex(ours, re.compile(r"^[0-9a-f]+ [0-9a-f]+ .*LMixed;", re.M))
        self.assertEqual(daemon.stop().code, 0)
