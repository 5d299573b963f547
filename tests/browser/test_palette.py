# SPDX-License-Identifier: Apache-2.0
"""The colours of pictures and pages, as every sort of eye sees them. No browser is needed.

usage: test_palette.py FOLD_TO_HTML [unittest's arguments]
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys
import unittest

import colours

PROGRAM = sys.argv.pop(1)
SOURCES = pathlib.Path(__file__).resolve().parent.parent.parent / "collector" / "render" / "page"

# CIEDE2000: 1 is what is just seen side by side.
LEAST_OF_KINDS = 9       # any shade of one kind to any of another, to every sort of eye
LEAST_OF_MATCH = 8       # what is searched, to any kind
LEAST_OF_PAPER = 6       # any kind to what is behind it
LEAST_OF_DIRECTIONS = 15  # in a comparison more to less, however little
LEAST_OF_CHANGES = 8     # any change to another or to none
LEAST_CONTRAST = 4.5     # WCAG 2.1, level AA

BLACK = (0, 0, 0)


def drawn_classes(text, *how):
    """Of the SVG of these stacks: class -> its shades, as its own script is told them."""
    svg = subprocess.run([PROGRAM, *how, "x.svg"], input=text.encode(), stdout=subprocess.PIPE,
                         check=True).stdout.decode()
    found = json.loads(re.search(r'<metadata id="fg-kinds"[^>]*>(.*?)</metadata>', svg, re.S)[1])
    return {name: [colours.rgb_of(shade) for shade in shades] for name, *shades in found}


def constant(file, pattern):
    return re.search(pattern, (SOURCES / file).read_text())[1]


def themes():
    """(paper, ink) of the page in light and in dark."""
    css = (SOURCES / "html_app.css").read_text()
    for mode in (r":root \{", r":root\[data-theme=dark\] \{"):
        block = re.search(mode + r"(.*?)\}", css, re.S)[1]
        yield tuple(colours.rgb_of(re.search(rf"--{name}: (#\w{{6}})", block)[1])
                    for name in ("paper", "ink"))


class Palette(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kinds = drawn_classes("a;b_[j] 1\n")
        cls.changes = drawn_classes("a;b 1 2\n", "compare")

    def assert_apart(self, classes, least, pairs=None):
        for one, other in pairs or itertools.combinations(classes, 2):
            found, vision = colours.least_difference(classes[one], classes[other])
            self.assertGreaterEqual(found, least, f"{one} and {other} to {vision}")

    def assert_readable(self, rgb, ink, what):
        self.assertGreaterEqual(colours.contrast(rgb, ink), LEAST_CONTRAST, what)

    def test_difference_is_that_of_its_published_examples(self):
        # Sharma, Wu and Dalal 2005, table 1
        for one, other, wanted in (((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
                                   ((50, 2.5, 0), (73, 25, -18), 27.1492),
                                   ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
                                   ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082)):
            self.assertAlmostEqual(colours.difference(one, other), wanted, 4)

    def test_every_eye_tells_kinds_apart(self):
        self.assertEqual(len(self.kinds), 13)
        self.assert_apart(self.kinds, LEAST_OF_KINDS)

    def test_kinds_are_told_from_the_paper_in_light_and_dark(self):
        for paper, _ in themes():
            for kind, shades in self.kinds.items():
                found, vision = colours.least_difference(shades, [paper])
                self.assertGreaterEqual(found, LEAST_OF_PAPER, f"{kind} on {paper} to {vision}")

    def test_labels_are_readable(self):
        for name, shades in [*self.kinds.items(), *self.changes.items()]:
            for rgb in shades:
                self.assert_readable(rgb, BLACK, name)

    def test_labels_of_callers_that_are_dimmed_are_readable(self):
        alphas = (float(constant("html_graph.js", r"DIM_ALPHA = ([0-9.]+)")),
                  float(constant("svg_app.css", r"\.fg-faded rect \{ opacity: ([0-9.]+)")))
        for (paper, ink), alpha in itertools.product(themes(), alphas):
            for name, shades in [*self.kinds.items(), *self.changes.items()]:
                for rgb in shades:
                    self.assert_readable(colours.blended(rgb, paper, alpha), ink, name)

    def test_matches_are_told_from_every_kind_and_readable(self):
        for file in ("html_graph.js", "svg_page.js"):
            match = colours.rgb_of(constant(file, r'MATCH(?:_FILL)? = "(#\w{6})"'))
            self.assert_readable(match, BLACK, "a match")
            self.assert_apart({**self.kinds, "a match": [match]}, LEAST_OF_MATCH,
                              [("a match", kind) for kind in self.kinds])

    def test_every_eye_tells_more_from_less(self):
        self.assert_apart(self.changes, LEAST_OF_DIRECTIONS,
                          itertools.product(("more", "new"), ("less", "gone")))
        self.assert_apart(self.changes, LEAST_OF_CHANGES)

    def test_text_of_the_page_is_readable(self):
        for file, ink in itertools.product(("html_app.css", "svg_app.css"), ("ink", "soft")):
            css = (SOURCES / file).read_text()
            papers = re.findall(r"--paper: [^#;]*(#\w{6})", css)
            inks = re.findall(rf"--{ink}: (#\w{{6}})", css)
            for paper, of in zip(papers, inks):
                self.assert_readable(colours.rgb_of(of), colours.rgb_of(paper), (file, ink))


if __name__ == "__main__":
    unittest.main()
