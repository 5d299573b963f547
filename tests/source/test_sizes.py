# SPDX-License-Identifier: Apache-2.0
"""Tests of the first size look at no clock and at no share: noise of the machine cannot change them."""

import ast
import re
import unittest

import structure

TESTS = structure.SOURCE / "tests"
# A time that has passed, compared with a bound. That something took at least so long is no bound.
PASSED = re.compile(r"(?:assert_\w+|CHECK)\(.*\b(?:clock_now_ns|clock_thread_ns|now_ns|now_ms|clock)\(\) -"
                    r"[^;]*<", re.DOTALL)
# What hangs is ended by ctest, at a time that no busy machine needs.
ALARM = re.compile(r"\b(?:alarm|setitimer|timer_settime)\(")
MACHINE = re.compile(r"fg_unit_test\(\w+ SOURCES ([\w./ ]+?) USES[^)]*\bMACHINE\b")
CLASS = re.compile(r"^@tour\n(?:@\w+\n)*class \w+\(.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
IN_TOURS = re.compile(r"time\.(monotonic|time|sleep)|\.seconds\b|assertAlmostEqual|assertLess\(|assertGreater"
                      r"|_percent|quality\.(named|rooted|java_named)|longest_\w*us")


def bounds_on_time(text):
    return [statement.strip() for statement in text.split(";") if PASSED.search(statement + ";")]


class Sizes(unittest.TestCase):
    def unit_tests(self):
        for path in sorted((TESTS / "unit").rglob("test_*.c")):
            lists = path.parent / "CMakeLists.txt"
            names = [name for found in MACHINE.findall(lists.read_text() if lists.exists() else "")
                     for name in found.split()]
            if path.name not in names:
                yield path

    def test_unit_and_agent_tests_have_no_bound_on_time(self):
        paths = [*self.unit_tests(), *sorted((TESTS / "agent").glob("*.c"))]
        self.assertGreater(len(paths), 150)
        left = re.search(r"set\(of_the_machine ([\w\s]+)\)",
                         (TESTS / "agent/CMakeLists.txt").read_text())[1].split()
        for path in paths:
            text = path.read_text()
            for name in left:
                text = re.sub(rf"^void {name}\(void\)\n{{.*?^}}\n", "", text,
                              flags=re.MULTILINE | re.DOTALL)
            with self.subTest(str(path.relative_to(TESTS))):
                self.assertEqual(bounds_on_time(text), [])
                self.assertEqual(ALARM.findall(text), [])

    def test_a_bound_on_time_is_found(self):
        self.assertTrue(bounds_on_time("x();\n\tassert_true(clock_now_ns() - began < 10 * S);\n"))
        self.assertTrue(bounds_on_time("CHECK(now_ms() - began\n < 1000);"))
        self.assertFalse(bounds_on_time("assert_true(born_ns <= clock_now_ns());\nfor (; i < 3;)"))
        self.assertFalse(bounds_on_time("CHECK(now_ms() - begin_ms >= 2000);"))

    def test_tours_look_at_no_clock_and_no_share(self):
        found = 0
        for path in sorted((TESTS / "e2e").glob("test_*.py")):
            for tour in CLASS.findall(path.read_text()):
                found += 1
                with self.subTest(path.name):
                    self.assertEqual(IN_TOURS.search(tour), None, tour)
        self.assertGreater(found, 3)

    def test_marks_are_known(self):
        known = {name for name in re.findall(r"^def (\w+)",
                                             (TESTS / "e2e/harness/marks.py").read_text(), re.M)}
        for path in sorted((TESTS / "e2e").glob("test_*.py")):
            used = set(re.findall(r"^ *@(\w+)$", path.read_text(), re.M))
            used -= {"classmethod", "property", "staticmethod"}
            self.assertLessEqual(used, known, path.name)
            imported = {name.name for node in ast.parse(path.read_text()).body
                        if isinstance(node, ast.ImportFrom) for name in node.names}
            self.assertLessEqual(used, imported, path.name)


GOLDEN = TESTS / "unit/capture/golden"
GOLDEN_MIB = 3


class GoldenCaptures(unittest.TestCase):
    """What left the first size, stacks of live JVMs, is proven there by captures."""

    def captures(self):
        found = [re.fullmatch(r"jdk(\d+)-([\w-]+)", path.stem) for path in GOLDEN.glob("*.fgcapture")]
        return [match.groups() for match in found if match]

    def test_each_workload_of_the_stack_benchmark_has_a_capture(self):
        text = (TESTS / "e2e/stack_workloads.py").read_text()
        workloads = re.findall(r'^    "([\w-]+)": ', text[text.index("\nWORKLOADS = {"):], re.M)
        self.assertGreater(len(workloads), 15)
        self.assertEqual(set(workloads) - {name for _, name in self.captures()}, set())

    def test_each_jdk_has_several(self):
        for jdk in ("11", "17", "21", "25"):
            self.assertGreater(len([name for of, name in self.captures() if of == jdk]), 3, jdk)

    def test_captures_are_small_and_each_has_its_stacks(self):
        files = [path for suffix in ("fgcapture", "folded") for path in GOLDEN.glob(f"*.{suffix}")]
        self.assertLess(sum(path.stat().st_size for path in files), GOLDEN_MIB << 20)
        names = {suffix: {path.stem for path in files if path.suffix == f".{suffix}"}
                 for suffix in ("fgcapture", "folded")}
        self.assertEqual(names["fgcapture"], names["folded"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
