# SPDX-License-Identifier: Apache-2.0
"""Faults of the machine: those of tests/bench/faults.py that take seconds, one test each."""

import sys

from harness import settings
from harness.case import Case
from harness.marks import alone, counted

sys.path.insert(0, str(settings.SOURCE / "tests" / "bench"))

import faults  # noqa: E402  pylint: disable=wrong-import-position

faults.OPTIONS.quick = True


class Faults(Case):
    def survives(self, name):
        """The rows, which are printed; the fault itself says what has to be as it was."""
        stage = faults.Stage(self.place)
        try:
            rows = faults.FAULTS[name](stage)
        except faults.Impossible as why:
            self.skipTest(str(why))
        finally:
            stage.end()
        for row in rows:
            print(row)
        return rows

    @counted
    def test_a_wall_clock_that_is_set_costs_no_graph_and_no_name(self):
        (row,) = self.survives("clock")
        self.assertEqual(row.lost, "nothing")

    @counted
    def test_hidden_processes_are_recorded_with_the_right_to_trace_and_missed_aloud_without(self):
        self.survives("hidepid")

    @counted
    def test_a_container_of_cgroups_of_version_2_alone_is_known(self):
        (row,) = self.survives("cgroup2")
        self.assertEqual(row.lost, "nothing")

    @counted
    def test_a_frozen_jvm_delays_nobody_and_loses_nothing(self):
        (row,) = self.survives("freezer")
        self.assertEqual(row.lost, "nothing")

    @alone
    def test_a_pid_that_is_used_again_has_none_of_the_names_of_before(self):
        for row in self.survives("pid"):
            self.assertEqual(row.lost, "nothing")

    def test_a_jvm_whose_system_calls_are_forbidden_runs_on(self):
        self.survives("seccomp")

    def test_a_jvm_without_a_free_descriptor_is_met_when_it_has_one(self):
        self.survives("jvm-descriptors")

    @counted
    def test_a_daemon_without_a_free_descriptor_neither_spins_nor_loses_whom_it_has(self):
        self.survives("daemon-descriptors")

    def test_a_jvm_ends_as_it_would_without_the_agent_in_each_phase(self):
        self.survives("exits")

    @alone
    def test_jvms_start_under_load_while_the_daemon_comes_and_goes(self):
        self.survives("starts")
