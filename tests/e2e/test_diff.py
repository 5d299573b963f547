# SPDX-License-Identifier: Apache-2.0
"""fgcollect diff compares two files. The expected differences are computed here."""

import json
import math
import xml.etree.ElementTree

from harness import collector
from harness.case import Case
from harness.marks import plain

BEFORE = {"main;a/B.c_[j];read_[k]": 400, "main;a/B.c_[j]": 100, "main;gone": 500}
AFTER = {"main;a/B.c_[i];read_[k]": 900, "main;a/B.c_[i]": 210, "main;fresh": 890}
SVG = "{http://www.w3.org/2000/svg}"


def z_of(x, n, y, m):
    pooled = (x + y) / (n + m)
    return (y / m - x / n) / math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))


@plain
class Diff(Case):
    def setUp(self):
        super().setUp()
        self.before = self.write("before.folded", BEFORE)
        self.after = self.write("after.folded", AFTER)

    def write(self, name, counts):
        path = self.directory / name
        path.write_text("".join(f"{stack} {n}\n" for stack, n in counts.items()))
        return path

    def diff(self, *args):
        finished = collector.fgcollect("diff", self.before, self.after, *args)
        self.assertEqual(finished.code, 0, str(finished))
        return finished.out

    def methods(self, *args):
        found = json.loads(self.diff("--json", "--top", "0", *args))
        return found, {m["method"]: m for m in found["methods"]}

    def test_table_has_shares_changes_and_their_significance(self):
        found, methods = self.methods()
        self.assertEqual((found["before"], found["after"]), (1000, 2000))
        read = methods["read"]["self"]
        self.assertEqual((read["before"], read["after"]), (400, 900))
        self.assertAlmostEqual(read["change"], 0.45 - 0.4)
        self.assertAlmostEqual(read["z"], z_of(400, 1000, 900, 2000))
        self.assertFalse(read["noise"])
        own = methods["a/B.c"]["self"]
        self.assertAlmostEqual(own["z"], z_of(100, 1000, 210, 2000))
        self.assertTrue(own["noise"])
        self.assertAlmostEqual(methods["a/B.c"]["total"]["change"], 1110 / 2000 - 500 / 1000)
        self.assertTrue(methods["fresh"]["new"] and methods["gone"]["gone"])
        changes = [abs(m["self"]["change"]) for m in found["methods"]]
        self.assertEqual(changes, sorted(changes, reverse=True))

    def test_text_marks_new_gone_and_noise(self):
        lines = {line.split()[-1]: line for line in self.diff().splitlines() if "%" in line}
        self.assertIn(" new ", lines["fresh"])
        self.assertIn(" gone ", lines["gone"])
        self.assertIn(" noise ", lines["a/B.c"])
        self.assertIn("+44.50%", lines["fresh"])
        self.assertIn("-50.00%", lines["gone"])
        self.assertIn("two-proportion z test", self.diff())

    def test_counts_as_they_are_if_asked(self):
        _, methods = self.methods("--no-normalize")
        self.assertAlmostEqual(methods["read"]["self"]["change"], (900 - 400) / 2000)
        self.assertAlmostEqual(methods["read"]["self"]["z"], 500 / math.sqrt(1300))

    def test_times_are_told_in_seconds_and_a_sample_lasts_a_period(self):
        def write(name, counts):
            path = self.directory / name
            path.write_text("".join(
                f"main 1/2 [0] 1.0: {1000000 * ms} offcpu-time:\n\t    7f0000001234 {leaf} (/bin/x)\n\n"
                for leaf, ms in counts.items()))
            return path
        counts = ({"parks": 2000, "reads": 1000}, {"parks": 2400, "reads": 1000})
        self.before, self.after = write("before.txt", counts[0]), write("after.txt", counts[1])
        text = self.diff()
        self.assertIn("before 3.00 s, after 3.40 s; ", text)
        self.assertIn("it takes each 10 ms for an independent sample", text)
        found, methods = self.methods()
        self.assertEqual((found["before"], found["after"], found["counted"]),
                         (3000000, 3400000, "microseconds"))
        sample = 1000 / 99
        self.assertAlmostEqual(methods["parks"]["self"]["z"],
                               z_of(2000 / sample, 3000 / sample, 2400 / sample, 3400 / sample), 4)
        out = self.directory / "d.svg"
        self.diff("-o", out)
        self.assertIn("<title>parks (2.40 s, 70.59%; ", out.read_text())
        self.assertIn("before 3.00 s, after 3.40 s", out.read_text())

    def test_kinds_are_joined_unless_asked(self):
        _, methods = self.methods()
        self.assertEqual(methods["a/B.c"]["total"]["before"], 500)
        found = json.loads(self.diff("--json", "--top", "0", "--split-kinds"))
        self.assertEqual(sum(m["method"] == "a/B.c" for m in found["methods"]), 2)

    def test_two_counts_give_both_sides_back(self):
        expected = {stack: f"{BEFORE.get(stack, 0)} {AFTER.get(stack, 0)}"
                    for stack in BEFORE.keys() | AFTER.keys()}
        text = self.diff("-f", "folded")
        self.assertEqual(text, "".join(f"{s} {c}\n" for s, c in sorted(expected.items())))
        path = self.directory / "two.folded"
        path.write_text(text)
        again = collector.fgcollect("render", path, "-f", "folded")
        self.assertEqual(again.out, text)

    def test_stacks_of_both_sides_begin_at_the_base(self):
        lines = self.diff("--base", "a/B.c", "-f", "folded").splitlines()
        self.assertTrue(lines and all(line.startswith("a/B.c_[") for line in lines), lines)
        _, methods = self.methods("--base", "a/B.c")
        self.assertAlmostEqual(methods["read"]["self"]["change"], 900 / 1110 - 400 / 500)
        _, methods = self.methods("--skip-after", "a/B.c")
        self.assertEqual(methods["main"]["total"]["before"], 500)
        nothing = collector.fgcollect("diff", self.before, self.after, "--base", "fresh")
        self.assert_fails(nothing, 1, "--base fresh: no stack has such a frame")

    def test_addresses_can_be_hidden(self):
        self.before = self.write("b.folded", {"main;f 0x7f10 x": 1})
        self.after = self.write("a.folded", {"main;f 0x8fab x": 2})
        self.assertEqual(self.diff("-f", "folded", "--strip-hex"), "main;f 0x... x 1 2\n")

    def widths(self, *args):
        out = self.directory / "x.svg"
        self.diff("-o", out, *args)
        found = {}
        for frame in xml.etree.ElementTree.parse(out).getroot().iter(SVG + "g"):
            title, rect = frame.find(SVG + "title"), frame.find(SVG + "rect")
            if title is not None:
                found[title.text] = float(rect.get("width")) / 1180
        return found

    def test_svg_has_widths_of_the_side_asked_for(self):
        gone = "gone (0 samples, 0.00%; -50.00%, before 50.00%; gone)"
        fresh = "fresh (890 samples, 44.50%; +44.50%, before 0.00%; new)"
        union = self.widths()
        whole = 900 + 210 + 890 + 2 * 500       # of each stack the greater share
        self.assertAlmostEqual(union[gone], 1000 / whole, delta=1e-4)
        self.assertAlmostEqual(union[fresh], 890 / whole, delta=1e-4)
        after = self.widths("--width-of", "after")
        self.assertNotIn(gone, after)
        self.assertAlmostEqual(after[fresh], 890 / 2000, delta=1e-4)
        before = self.widths("--width-of", "before")
        self.assertNotIn(fresh, before)
        self.assertAlmostEqual(before[gone], 0.5, delta=1e-4)

    def test_two_files_are_needed(self):
        self.assert_fails(collector.fgcollect("diff", self.before), 2, "two files, not 1")
        self.assert_fails(collector.fgcollect("diff", self.before, "/nonexistent"), 1,
                          "/nonexistent", "No such file")
