# SPDX-License-Identifier: Apache-2.0
"""The SVG in a browser: what its script shows must be what the stacks say."""

import re
import shutil

from harness import collector
from harness.case import Case

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update"]
WIDE, NARROW = 20, 3000


def folded_text():
    """Thousands of stacks too narrow to be drawn, of which every third has a wanted frame."""
    lines = [f"main;wide/A.run_[j];deep/B{i}.call_[j] 1000" for i in range(WIDE)]
    for i in range(NARROW):
        name = "wanted/C" if i % 3 == 0 else "other/D"
        lines.append(f"main;narrow/E{i}.f_[j];{name}.g_[i];{name}.g_[i] 1")
    return "\n".join(lines) + "\n"


class SvgPage(Case):
    def setUp(self):
        super().setUp()
        try:
            from selenium import webdriver
        except ImportError:
            self.skipTest("no browser driver: apt-get install python3-selenium chromium-driver")
        if not shutil.which("chromedriver"):
            self.skipTest("no browser driver: apt-get install chromium-driver")
        options = webdriver.ChromeOptions()
        for flag in [*FLAGS, "--window-size=1366,768", f"--user-data-dir={self.directory}/chromium"]:
            options.add_argument(flag)
        self.browser = webdriver.Chrome(options=options)
        self.addCleanup(self.browser.quit)
        self.source = self.directory / "in.folded"
        self.source.write_text(folded_text())

    def open(self, *args, command="render", inputs=None, fragment=""):
        out = self.directory / "x.svg"
        finished = collector.fgcollect(command, *(inputs or [self.source]), "-o", out, *args)
        self.assertEqual(finished.code, 0, str(finished))
        self.browser.get("about:blank")
        self.browser.get(f"file://{out}{fragment}")
        self.wait_for("document.getElementById('fg-app')")
        return out

    def wait_for(self, expression):
        done = self.browser.execute_async_script(
            "const done = arguments[arguments.length - 1], end = Date.now() + 20000;"
            f"(function look() {{ if ({expression}) done(true);"
            "else if (Date.now() > end) done(false); else setTimeout(look, 20); })();")
        self.assertTrue(done, f"{expression} never came true")

    def text(self, part):
        return self.browser.execute_script(
            f"return document.getElementById('{part}').textContent")

    def search(self, text):
        self.browser.execute_script(
            "const box = document.getElementById('search'); box.value = arguments[0];"
            "box.dispatchEvent(new Event('input'));", text)
        self.wait_for("document.getElementById('matched').textContent")
        return self.text("matched")

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
            found = self.browser.execute_script(
                "const g = [...document.querySelectorAll('#frames g')].find("
                "  g => g.querySelector('title').textContent.startsWith('all '));"
                "const r = g.querySelector('rect').getBoundingClientRect();"
                "const s = document.getElementById('fg-scroll').getBoundingClientRect();"
                "return {top: r.top - s.top, bottom: s.bottom - r.bottom};")
            self.assertTrue(0 <= found[edge] < 20, found)

    def test_page_is_as_wide_as_the_window_unless_told(self):
        width = "return document.querySelector('#fg-scroll svg').getBoundingClientRect().width"
        self.open()
        self.assertGreater(self.browser.execute_script(width), 1300)
        self.open("--width", "900")
        self.assertEqual(self.browser.execute_script(width), 900)

    def test_address_names_the_view(self):
        self.open()
        self.browser.execute_script(
            "const s = document.getElementById('fg-scroll'), b = s.getBoundingClientRect();"
            "s.dispatchEvent(new MouseEvent('click', {clientX: b.right - 200,"
            " clientY: b.bottom - 16 * 2 - 8}));")
        self.search("deep")
        address = self.browser.execute_script("return location.hash")
        title, matched = self.text("details"), self.text("matched")
        self.assertRegex(address, "z=.*s=deep")
        self.open("--width", "1000", fragment=address)
        self.wait_for("document.getElementById('matched').textContent")
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
        titles = self.browser.execute_script(
            "return [...document.querySelectorAll('#frames title')].map(t => t.textContent)")
        self.assertIn("fresh (23,000 samples, 50.00%; +50.00%, before 0.00%; new)", titles)
        self.assertTrue(any(re.match(r"wide/A.run \(20,000 samples, 43.48%; -43.48%, before 86.96%; "
                                     "less", title) for title in titles), titles)
