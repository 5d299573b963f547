# SPDX-License-Identifier: Apache-2.0
"""The sources are in layers: no circles, no arrows upwards, no room that has outgrown its name."""

import re
import unittest

import structure

MOST_FILES = 40   # of a folder
MOST_LINES = 600  # of a file that does not say why it has more


class Structure(unittest.TestCase):
    def test_no_modules_include_one_another_in_a_circle(self):
        for tree in ("collector", "jvmti-agent"):
            with self.subTest(tree):
                graph = structure.graph_of(tree)
                self.assertGreater(sum(map(len, graph.values())), 50)
                self.assertEqual(structure.circles(graph), [])

    def test_circles_are_found(self):
        graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
        self.assertEqual(sorted(structure.circles(graph)), [["a", "b", "c"], ["d", "e"]])
        self.assertEqual(structure.circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}), [])

    def test_a_stage_uses_those_before_it(self):
        before = {"wire"}
        for stage in structure.stages():
            with self.subTest(stage):
                self.assertLessEqual(set(structure.uses_of(stage)), before)
            before.add(stage)

    def test_a_stage_names_what_it_includes_and_nothing_else(self):
        """What a header includes, whoever includes the header sees too; the rest is nobody else's."""
        known = {"wire", *structure.stages()}
        for stage in structure.stages():
            in_headers = structure.included_of(stage, ".h") & known
            in_files = structure.included_of(stage, ".c") & known
            with self.subTest(stage):
                self.assertEqual(sorted(structure.uses_of(stage, inside=False)), sorted(in_headers))
                self.assertEqual(sorted(structure.uses_of(stage, inside=True)),
                                 sorted(in_files - in_headers))

    def test_a_stage_includes_those_before_it(self):
        order = structure.stages()
        for module, included in structure.graph_of("collector").items():
            stage = module.split("/")[0]
            for other in {name.split("/")[0] for name in included} - {"shared"}:
                with self.subTest(module):
                    self.assertLessEqual(order.index(other), order.index(stage))

    def test_no_folder_has_too_many_files(self):
        for tree in structure.TREES:
            for folder in [structure.SOURCE / tree, *(structure.SOURCE / tree).rglob("*/")]:
                files = [path for path in folder.iterdir() if path.is_file()]
                with self.subTest(str(folder.relative_to(structure.SOURCE))):
                    self.assertLessEqual(len(files), MOST_FILES)

    def test_a_long_file_says_why(self):
        for path in structure.programs():
            text = path.read_text()
            if text.count("\n") > MOST_LINES:
                with self.subTest(str(path.relative_to(structure.SOURCE))):
                    self.assertIn(" * One file, because ", text[:text.index("*/")])

    def test_tests_mirror_the_folders(self):
        rooms = {*structure.stages(), "shared"}
        tested = {path.parent.name for path in
                  (structure.SOURCE / "tests" / "unit").glob("*/CMakeLists.txt")}
        self.assertLessEqual(tested, rooms)

    def test_a_note_on_the_design_has_its_day_and_its_status(self):
        text = (structure.SOURCE / "collector" / "DESIGN-NOTES.md").read_text()
        notes = re.findall(r"(?m)^- (.*)", text)
        self.assertGreater(len(notes), 80)
        for note in notes:
            self.assertRegex(note, r"^20\d\d-\d\d-\d\d, (stands|on trial)\. ", note)

    def test_a_header_is_guarded_by_its_path_and_says_what_it_is(self):
        for path in structure.sources("collector"):
            if path.suffix != ".h":
                continue
            text = path.read_text()
            module = structure.module_of(path, "collector")
            guard = "FG_" + re.sub(r"\W", "_", module).upper() + "_H"
            with self.subTest(module):
                self.assertIn(f"#ifndef {guard}\n#define {guard}\n", text)
                for word in ("shape", "units", "threads", "errors", "source"):
                    self.assertRegex(text, rf"\n \* {word}: +\S")


if __name__ == "__main__":
    unittest.main(verbosity=2)
