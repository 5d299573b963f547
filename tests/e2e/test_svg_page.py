# SPDX-License-Identifier: Apache-2.0
"""The SVG in a browser: its script must show what the stacks say."""

import json
import os
import pathlib
import re
import shutil
import sys

from harness import collector
from harness.case import Case
from harness.marks import plain

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "browser"))
from chromium import Browser  # pylint: disable=wrong-import-position

SHOTS = os.environ.get("FG_SCREENSHOTS")        # a directory: the SVG is pictured there
WIDE, NARROW = 20, 3000


def folded_text():
    """Thousands of stacks that are too narrow to be drawn. Every third stack has a wanted frame."""
    lines = [f"main;wide/A.run_[j];deep/B{i}.call_[j] 1000" for i in range(WIDE)]
    for i in range(NARROW):
        name = "wanted/C" if i % 3 == 0 else "other/D"
        lines.append(f"main;narrow/E{i}.f_[j];{name}.g_[i];{name}.g_[i] 1")
    return "\n".join(lines) + "\n"


@plain
class SvgPage(Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("chromium"):
            self.skipTest("no browser: apt-get install chromium")
        self.browser = Browser().__enter__()
        self.addCleanup(self.browser.__exit__)
        self.source = self.directory / "in.folded"
        self.source.write_text(folded_text())

    def open(self, *args, command="render", inputs=None, fragment=""):
        out = self.directory / "x.svg"
        finished = collector.fgcollect(command, *(inputs or [self.source]), "-o", out, *args)
        self.assertEqual(finished.code, 0, str(finished))
        self.browser.open(out, fragment, ready="document.getElementById('fg-app')")
        return out

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
        super().tearDown()

    def text(self, part):
        return self.browser.run(f"document.getElementById('{part}').textContent")

    def search(self, text):
        self.browser.run(
            "(box => { box.value = " + json.dumps(text) + ";"
            "box.dispatchEvent(new Event('input')); })(document.getElementById('search'))")
        return self.browser.wait_for("document.getElementById('matched').textContent")

    def shoot(self, name):
        if SHOTS:
            self.browser.frames()
            self.browser.screenshot(pathlib.Path(SHOTS) / f"{name}.png")

    def test_times_are_in_seconds(self):
        source = self.directory / "in.txt"
        source.write_text("".join(
            f"main 1/2 [0] 1.0: {ns} offcpu-time:\n\t    7f0000001234 {leaf} (/bin/x)\n\n"
            for leaf, ns in (("parks", 12345000000), ("reads", 4000000))))
        self.open(inputs=[source])
        self.assertRegex(self.text("details"), r"^all \(12\.3 s, 100%\)")
        self.search("reads")
        self.assertEqual(self.browser.run("document.getElementById('matched').title"),
                         "4.0 ms of 12.3 s")

    def test_search_counts_what_is_too_narrow_to_be_drawn(self):
        self.open()
        share = 100 * (NARROW // 3) / (1000 * WIDE + NARROW)
        self.assertEqual(self.search("wanted/"), f"Matched: {share:.2f}%")

    def test_search_counts_it_with_a_least_width_too(self):
        out = self.open("--minwidth", "5%")
        self.assertNotIn("<title>wanted", out.read_text())
        share = 100 * (NARROW // 3) / (1000 * WIDE + NARROW)
        self.assertEqual(self.search("wanted/"), f"Matched: {share:.2f}%")

    def test_root_is_in_view_at_first(self):
        for args, edge in (((), "bottom"), (("--inverted",), "top")):
            self.open(*args)
            found = self.browser.run(
                "(() => { const g = [...document.querySelectorAll('#frames g')].find("
                "  g => g.querySelector('title').textContent.startsWith('all '));"
                "const r = g.querySelector('rect').getBoundingClientRect();"
                "const s = document.getElementById('fg-scroll').getBoundingClientRect();"
                "return {top: r.top - s.top, bottom: s.bottom - r.bottom}; })()")
            self.assertTrue(0 <= found[edge] < 20, found)

    def test_page_is_as_wide_as_the_window_unless_told(self):
        width = "document.querySelector('#fg-scroll svg').getBoundingClientRect().width"
        self.open()
        self.assertGreater(self.browser.run(width), 1300)
        self.open("--width", "900")
        self.assertEqual(self.browser.run(width), 900)

    def test_address_names_the_view(self):
        self.open()
        box = self.browser.run("(b => [b.right, b.bottom])"
                               "(document.getElementById('fg-scroll').getBoundingClientRect())")
        self.browser.click(box[0] - 200, box[1] - 16 * 2 - 8)
        self.search("deep")
        address = self.browser.run("location.hash")
        title, matched = self.text("details"), self.text("matched")
        self.assertRegex(address, "z=.*s=deep")
        self.open("--width", "1000", fragment=address)
        self.browser.wait_for("document.getElementById('matched').textContent")
        self.assertEqual((self.text("details"), self.text("matched")), (title, matched))

    def test_settings_are_those_given(self):
        self.open("--countname", "ms", "--factor", "2", "--nametype", "Function:", "--total", "46000")
        total = 1000 * WIDE + NARROW
        self.assertTrue(self.text("details").startswith(
            f"Function: all ({2 * total:,} ms, {100 * total / 46000:.2f}%)"), self.text("details"))

    def test_diff_shows_both_shares(self):
        after = self.directory / "after.folded"
        after.write_text(folded_text() + "main;fresh 23000\n")
        self.open("--width-of", "after", command="diff", inputs=[self.source, after])
        titles = self.browser.run(
            "[...document.querySelectorAll('#frames title')].map(t => t.textContent)")
        self.assertIn("fresh (23,000 samples, 50.00%; +50.00%, before 0.00%; new)", titles)
        self.assertTrue(any(re.match(r"wide/A.run \(20,000 samples, 43.48%; -43.48%, before 86.96%; "
                                     "less", title) for title in titles), titles)

    def test_graph_fills_windows_of_any_width_in_light_and_dark(self):
        for name, size, dark, args in (("light", (1366, 768), False, ()),
                                       ("dark", (1366, 768), True, ()),
                                       ("wide", (2560, 1300), False, ()),
                                       ("inverted", (1366, 768), False, ("--inverted",))):
            self.browser.resize(*size, dark=dark)
            self.open(*args)
            width = self.browser.run(
                "document.querySelector('#fg-scroll svg').getBoundingClientRect().width")
            self.assertGreater(width, 0.95 * size[0])
            self.shoot(f"svg-{name}")
