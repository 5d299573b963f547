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
        self.assertLess(most, 40 * MIB)     # 32, and what came while perf maps were being made
        self.assertGreater(most, 16 * MIB)
        processes.wait_until(lambda: len(daemon.list_json()["jvms"]) == 1,
                             lambda: f"all have ended: {daemon.list().text}")
        self.assertLess(self.bytes_of_maps(daemon), 26 * MIB)
        self.assertEqual(row["map_cut"], 0, row)
        self.assertGreater(row["map_bytes"], 0, row)
        ours = daemon.read_map(jvm.pid)
        self.assertRegex(ours, re.compile(r"^[0-9a-f]+ [0-9a-f]+ .*LMixed;", re.M))
        self.assertEqual(daemon.stop().code, 0)

    def turns_during(self, daemon, hostile):
        """The most processor time of a turn, and the longest answer, while that program runs."""
        longest = 0
        while hostile.code is None:
            began = time.monotonic()
            daemon.list_json()
            longest = max(longest, time.monotonic() - began)
            time.sleep(0.1)
        self.assertEqual(hostile.code, 0, hostile.text)
        turns = daemon.list_json()["collector"]["turns"]
        print(f"a turn took {turns['longest_us'] / 1e3:.1f} ms at most, "
              f"{turns['longest_cpu_us'] / 1e3:.1f} ms of processor time, "
              f"an answer {longest * 1e3:.0f} ms; by stage, in us: {turns['longest_stage_us']}")
        return turns

    # Bounds of turns are of processor time: others of this machine do not count. They are ten times
    # what is meant, and a tenth of what the attacks took before the work had budgets.
    def test_mappings_without_end_stall_nobody(self):
        daemon = self.watch()
        jvm = self.victim(daemon)
        turns = self.turns_during(daemon, self.attack("mappings", 50, 60_000))
        self.assertLess(turns["longest_cpu_us"], 200_000)
        self.assertEqual(daemon.jvm(jvm.pid)["state"], "current")
        self.assertEqual(daemon.stop().code, 0)

    def test_connections_without_end_stall_nobody(self):
        daemon = self.watch()
        jvm = self.victim(daemon)
        turns = self.turns_during(daemon, self.attack("reconnect", 20, 3000))
        self.assertLess(turns["longest_cpu_us"], 100_000)
        row = daemon.jvm(jvm.pid)
        self.assertEqual((row["state"], row["gaps"]), ("current", 0), row)
        self.assertEqual(daemon.stop().code, 0)
