# SPDX-License-Identifier: Apache-2.0
"""Ten thousand stacks in Chromium: shares in the SVG and in the page, and work in slices.

usage: test_large.py FOLD_TO_HTML [unittest's arguments]
"""

import io
import json
import pathlib
import random
import re
import sys
import tempfile
import unittest

from chromium import Browser
from page_case import bare, make_file, make_page, shown_share

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
from folded_stacks import write_folded  # pylint: disable=wrong-import-position

STACKS = 10000
ODD_STACKS, MOST_DEEP, MOST_HEAVY = 300, 150, 2 ** 33
ODD_NAMES = ["größe/Maß.läuft_[j]", "größe/Maß.läuft_[i]", "größe/Rest.λ$1_[j]", "a/B.<init>_[0]",
             "std::map<int, char>::find(int const&)", "operator()(char const*) const", "[unknown]",
             "\"quoted\" & 'single'", "do_syscall_64_[k]", "x" * 300]


def server_stacks():
    """Stacks with runs of a framework, and with methods that call themselves by way of others."""
    text = io.StringIO()
    write_folded(text, STACKS)
    return re.sub(r"(doInvoke|resolve)[0-9]+_", r"\1_",
                  text.getvalue().replace("org/framework/", "org/springframework/"))


def odd_stacks():
    """Deep ones of few names, each often in a stack, whose counts are more than 32 bits hold."""
    pick = random.Random(3)
    lines = []
    for _ in range(ODD_STACKS):
        # So that a good part of the stacks is without any one name.
        names = pick.sample(ODD_NAMES, 4)
        stack = pick.choices(names, k=pick.randint(1, MOST_DEEP))
        lines.append(f"{';'.join(stack)} {pick.randint(1, MOST_HEAVY)}\n")
    return "".join(lines)


def counted_share(path, name):
    """Of the samples of a file of folded stacks, those with a frame of that name."""
    matched = total = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            stack, _, count = line.rpartition(" ")
            total += int(count)
            if name in stack and any(name in bare(frame) for frame in stack.split(";")):
                matched += int(count)
    return shown_share(matched, total)


class Large(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="fg-large-")
        cls.folded = pathlib.Path(cls.directory.name) / "in.folded"
        cls.folded.write_text(server_stacks())
        cls.page = make_page(cls.directory.name, "page", cls.folded.read_text())
        cls.browser = Browser().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.directory.cleanup()

    def setUp(self):
        self.browser.events.clear()

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def show_svg(self, folded):
        path = make_file(folded.with_suffix(".svg"), folded.read_text())
        self.browser.open(path, ready="document.getElementById('fg-app')")

    def search(self, name):
        self.browser.run(
            "(box => { box.value = " + json.dumps(name) + ";"
            "box.dispatchEvent(new Event('input')); })(document.getElementById('search'))")
        return self.browser.wait_for("document.getElementById('matched').textContent")

    def check_share(self, folded, page, name):
        wanted = counted_share(folded, name)
        self.show_svg(folded)
        self.assertEqual(self.search(name), f"Matched: {wanted}")
        self.browser.open(page)
        self.assertEqual(self.search(name).split(" ")[0], wanted)
        print(f"{name} of {folded}: {wanted}")

    def test_search_in_svg_and_page_has_the_share_of_the_stacks(self):
        self.check_share(self.folded, self.page, "org/mapper")

    def test_search_has_the_share_of_deep_heavy_and_oddly_named_stacks(self):
        folded = self.folded.with_name("odd.folded")
        folded.write_text(odd_stacks())
        page = make_page(self.directory.name, "odd", folded.read_text())
        for name in ("Maß", "char const"):
            self.check_share(folded, page, name)

    # work in slices

    LEVELS = ("app.graph.levels.reduce((hash, level) => level.nodes.reduce((hash, i, at) =>"
              "(hash * 31 + app.graph.tree.key[i] + 1000 * level.w[at]) % 1e9, hash), 0)")
    SETTLED = "document.body.dataset.working === '0'"

    def click(self, *selectors):
        self.browser.run(f"{list(selectors)}.forEach(s => document.querySelector(s).click())")

    def set_slices(self, ms):
        self.browser.run(f"Object.assign(slices, {{ firstMs: {ms}, eachMs: {ms} }}), 0")

    def test_work_in_slices_comes_to_what_work_at_once_does(self):
        self.browser.open(self.page)
        plain = self.browser.run(self.LEVELS)
        for flags in (("recursion",), ("frameworks",), ("reversed",), ("recursion", "reversed")):
            selectors = [f"[data-flag={flag}]" for flag in flags]
            drawn = []
            for ms in (1e9, 0):
                self.set_slices(ms)
                self.browser.run("foldings.clear(), app.made = null, 0")
                self.click(*selectors)
                self.browser.wait_for(self.SETTLED)
                drawn.append(self.browser.run(self.LEVELS))
                self.assertNotEqual(drawn[-1], plain)
                self.click("#reset")
                self.browser.wait_for(self.SETTLED)
            self.assertEqual(*drawn)

    def test_page_says_how_far_it_is_and_shows_the_last_picture_meanwhile(self):
        self.browser.open(self.page)
        self.set_slices(0)
        before = self.browser.run(self.LEVELS)
        seen = self.browser.run(
            "(() => { document.querySelector('[data-flag=frameworks]').click();"
            f"return [page.working.textContent, page.working.hidden, {self.LEVELS}]; }})()")
        self.assertRegex(seen[0], "^Folding [0-9]+ %$")
        self.assertEqual(seen[1:], [False, before])
        self.browser.wait_for(self.SETTLED)
        self.assertTrue(self.browser.run("page.working.hidden"))
        self.assertNotEqual(self.browser.run(self.LEVELS), before)

    def test_work_that_is_no_longer_wanted_is_left(self):
        self.browser.open(self.page)
        self.set_slices(0)
        before = self.browser.run(self.LEVELS)
        self.click("[data-flag=frameworks]", "[data-flag=frameworks]")
        self.browser.wait_for(self.SETTLED)
        self.assertEqual(self.browser.run(self.LEVELS), before)

    def test_folding_keeps_every_sample(self):
        self.browser.open(self.page)
        total = self.browser.run("app.tree.total[0]")
        own = "app.tree.self.reduce((sum, n) => sum + n, 0)"
        for flag in ("recursion", "frameworks"):
            self.click(f"[data-flag={flag}]")
            self.browser.wait_for(self.SETTLED)
            self.assertEqual(self.browser.run(f"[app.tree.total[0], {own}]"), [total, total])
        doubled = self.browser.run(
            "(t => { const seen = new Set(); for (let i = 1; i < t.count; i++)"
            "seen.add(t.parent[i] + ' ' + t.key[i]); return t.count - 1 - seen.size; })(app.tree)")
        self.assertEqual(doubled, 0)

    def test_stacks_that_are_too_many_to_copy_become_a_file(self):
        self.browser.open(self.page, "#split=1&frameworks=0&plumbing=0")
        self.browser.run("window.saved = []; save = (blob, name) => saved.push([blob, name]); 0")
        self.click("#copy-folded")
        self.browser.wait_for("saved.length === 1")
        name, lines, letters, total = self.browser.run(
            "saved[0][0].text().then(text => text.split('\\n').slice(0, -1)).then(lines => [saved[0][1],"
            "lines.length, lines.reduce((sum, line) => sum + line.lastIndexOf(' '), 0),"
            "lines.reduce((sum, line) => sum + Number(line.split(' ').pop()), 0)])")
        wanted = {line.rpartition(" ")[0] for line in self.folded.read_text().splitlines()}
        self.assertEqual((name, lines, letters), ("stacks.folded", len(wanted), sum(map(len, wanted))))
        self.assertEqual(total, self.browser.run("app.tree.total[0]"))


if __name__ == "__main__":
    unittest.main()
