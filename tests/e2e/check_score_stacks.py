# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of score_stacks.py on stacks that are made up. Needs no JVM and no privilege."""

import unittest

from harness.folded import Folded
from score_stacks import Must, Score
from stack_workloads import WORKLOADS

ROOT = "Main;java;libc.so.6:fn@0x88ef0;ThreadJavaMain;JavaMain;call_stub"
CLONED = "Main;GC Thread#0;libc.so.6:fn@0x1000;libc.so.6:fn@0x88ef0;thread_native_entry;work"


def counts(*lines, must=None):
    score = Score(Folded("\n".join(lines)), must)
    return {verdict: score.counts[verdict] for verdict in Score.VERDICTS if score.counts[verdict]}


class Rules(unittest.TestCase):
    def test_stack_from_the_entry_of_a_thread_is_whole(self):
        for stack in (f"{ROOT};Main.main_[0]", CLONED, "Main;java;_start;__libc_start_main;main",
                      "Main;java;__libc_start_main_impl@@GLIBC_2.34;main",
                      "Main;java;java:fn@0x1060;__libc_start_main;libc.so.6:fn@0x270;main",
                      "Main;java;ret_from_fork_asm_[k];ret_from_fork_[k];start_thread_[k]",
                      "Main;java;clone3;start_thread;thread_native_entry"):
            self.assertEqual(counts(f"{stack} 7"), {}, stack)

    def test_stack_from_anywhere_else_is_unrooted(self):
        for stack in ("Main;java;Main.run_[j];deflate", "Main;java;libz.so.1:fn@0x10;deflate",
                      "Main;java;libc.so.6:fn@0x10;deflate", "Main;java;start_[j];Main.run_[j]",
                      "Main;java;start_thread_of_mine;work", "Main;java;libc.so.6:fn@0x88ef0"):
            self.assertEqual(counts(f"{stack} 7"), {"unrooted": 7, "bad": 7}, stack)

    def test_unnamed_entry_that_hotspot_uses_is_one_for_other_threads_too(self):
        self.assertEqual(counts(f"{ROOT};Main.main_[0] 1",
                                "Main;agent;libc.so.6:fn@0x88ef0;sender 5"), {})

    def test_frame_without_name_is_seen_anywhere(self):
        self.assertEqual(counts(f"{ROOT};[unknown: not mapped];Main.run_[j] 3"),
                         {"unnamed": 3, "bad": 3})
        self.assertEqual(counts("Main;java;[unknown: no stack] 3"),
                         {"unnamed": 3, "unrooted": 3, "bad": 3})
        self.assertEqual(counts("Main;java 2"), {"unnamed": 2, "unrooted": 2, "bad": 2})

    def test_truncated_stack_is_unrooted_unless_it_is_too_deep(self):
        self.assertEqual(counts("Main;java;[truncated: no unwind table];deflate 4"),
                         {"unrooted": 4, "bad": 4})
        # Nothing hides behind an entry below the mark.
        self.assertEqual(counts(f"{ROOT};[truncated: bad frame];deflate 4"),
                         {"unrooted": 4, "bad": 4})
        self.assertEqual(counts("Main;java;[truncated: too many frames];Main.run_[j] 4"),
                         {"cut": 4})
        self.assertEqual(counts("Main;java;[truncated: end of snapshot];Main.run_[j] 4"),
                         {"cut": 4})
        self.assertEqual(counts("Main;java;[truncated: end of snapshot];[unknown: x] 4"),
                         {"cut": 4, "unnamed": 4, "bad": 4})

    def test_stack_is_rooted_that_is_whole_and_has_what_it_must(self):
        must = Must("java", r"Main\.main")
        score = Score(Folded("\n".join([
            f"{ROOT};Main.main_[0] 10", f"{ROOT};[unknown: x];Main.main_[0] 5", f"{ROOT};Main.run_[0] 1",
            "Main;java;Main.main_[j] 2", "Main;java;[truncated: end of snapshot];Main.main_[j] 2",
            "Main;java;[on CPU: see the samples of cpu] 900",
            "Main;gc;[unknown: libc.so.6, still loading];work 5"])), must)
        self.assertEqual(score.samples, 25)
        self.assertEqual(score.rooted_percent, 60)
        self.assertEqual(score.rooted_at_most, 80)
        self.assertIsNone(Score(Folded("")).rooted_percent)

    def test_own_thread_must_have_its_frames(self):
        must = Must("java", r"Main\.main", r"Main\.run")
        self.assertEqual(counts(f"{ROOT};Main.main_[0];Main.run_[i];leaf_[k] 9", must=must), {})
        self.assertEqual(counts(f"{ROOT};Interpreter_[0];Main.run_[j] 9", must=must),
                         {"missing": 9, "bad": 9})
        self.assertEqual(counts(CLONED + " 9", must=must), {})
        self.assertEqual(counts("Main;java;[truncated: end of snapshot];Main.run_[j] 4", must=must),
                         {"cut": 4})

    def test_stack_that_is_cut_is_looked_at_as_far_as_it_goes(self):
        must = WORKLOADS["recursion-3000"].must
        turns = "Recursion.even_[j];Recursion.odd_[i];" * 150 + "Recursion.even_[0];Recursion.burn"
        cut = "Main;java;[truncated: end of snapshot];"
        self.assertEqual(counts(f"{cut}{turns} 4", must=must), {"cut": 4})
        for wrong in (turns.replace("odd_[i];Recursion.even_[0]", "odd_[i]"), turns[:4000],
                      turns.replace("odd", "even", 1)):
            self.assertEqual(counts(f"{cut}{wrong} 4", must=must),
                             {"cut": 4, "missing": 4, "bad": 4}, wrong)

    def test_recursion_has_to_have_all_turns(self):
        must = WORKLOADS["recursion-400"].must
        turns = "Recursion.even_[j];Recursion.odd_[i];" * 200 + "Recursion.even_[0];Recursion.burn"
        whole = f"{ROOT};Recursion.main_[0];{turns} 4"
        self.assertEqual(counts(whole, must=must), {})
        self.assertEqual(counts(whole.replace("Recursion.odd_[i];", "", 1), must=must),
                         {"missing": 4, "bad": 4})

    def test_share_of_missing_is_of_own_threads(self):
        score = Score(Folded(f"{ROOT};Main.main_[0] 1\n{ROOT};Interpreter_[0] 3\n{CLONED} 96"),
                      Must("java", r"Main\.main"))
        self.assertEqual(score.percent("missing"), 75)
        self.assertEqual(score.percent("bad"), 3)

    def test_shares_are_compared_with_what_the_program_says(self):
        score = Score(Folded(f"{ROOT};Main.a_[j] 60\n{ROOT};Main.b_[j] 40"), Must("java"),
                      {"a": r"Main\.a", "b": r"Main\.b"})
        self.assertAlmostEqual(score.share_off({"a": 0.55, "b": 0.45}), 5)
        self.assertIsNone(score.share_off({"a": 0.55}))


if __name__ == "__main__":
    unittest.main()
