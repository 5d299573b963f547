# SPDX-License-Identifier: Apache-2.0
"""The page with less of a recording, in Chromium: stacks through a frame and without it, the next match, the
time in the address; and what a comparison says of a frame.

usage: test_narrowing.py FOLD_TO_HTML [unittest's arguments]
"""

import pathlib
import tempfile
import unittest

from chromium import Browser
from page_case import BUCKET_MS, HOSTILE, PageCase, bare, make_page

PILLS = "[...document.querySelectorAll('.pill')].map(p => p.textContent.slice(0, -2))"
FIND = "org/hibernate/Session.find"


class Narrowing(PageCase):
    def having(self, *names):
        return sum(s[7] for s in self.samples if all(any(bare(frame) == name for frame in s[6]) for name in names))

    def without(self, test):
        return sum(s[7] for s in self.samples if not any(test(bare(frame)) for frame in s[6]))

    def right_click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="right", clickCount=1)
        self.browser.frames()

    def choose_item(self, text):
        self.browser.click(*self.middle_of(
            f"[...document.querySelectorAll('.frame-menu button')].find(b => b.textContent === {text!r})"))

    def menu_of_frame(self, name):
        self.right_click(*self.place_of(name))

    def test_stacks_through_a_frame_and_without_it_are_pills(self):
        self.menu_of_frame("Shop")
        self.shoot("menu-frame")
        self.choose_item("Only stacks through this")
        shop = self.having("Shop")
        self.assertEqual([self.total(), self.browser.run(PILLS)], [shop, ["through Shop"]])
        self.menu_of_frame("org/springframework/web/F2.doFilter")
        self.choose_item("Without stacks through this")
        less = shop - self.having("Shop", "org/springframework/web/F2.doFilter")
        self.assertEqual([self.total(), self.browser.run(PILLS)],
                         [less, ["through Shop", "without org/springframework/web/F2.doFilter"]])
        fragment = self.browser.run("location.hash")
        self.press(".pill")
        self.assertEqual(self.total(), 2000 - self.having("org/springframework/web/F2.doFilter"))
        self.press(".pill")
        self.assertEqual([self.total(), self.browser.run("location.hash")], [2000, ""])
        self.browser.open(self.page, fragment)
        self.assertEqual(self.total(), less)

    def test_several_of_each_go_together(self):
        self.browser.run(f"go({{through: withLine(withLine('', '=Shop'), {'=' + FIND!r})}})")
        self.assertEqual(self.total(), self.having("Shop", FIND))
        self.browser.run(f"go({{through: '', without: withLine(withLine('', '=memcpy'), {'=' + FIND!r})}})")
        self.assertEqual(self.total(), self.without(lambda name: name in ("memcpy", FIND)))
        # Twice the same is once.
        self.assertEqual(self.browser.run("withLine(withLine('', '=a'), '=a')"), "=a")

    def test_what_the_search_finds_can_be_left_out(self):
        self.search("hibernate")
        self.press("#without-matching")
        self.assertEqual([self.total(), self.browser.run(PILLS), self.browser.run("app.state.search")],
                         [self.without(lambda name: "hibernate" in name), ["without hibernate"], ""])
        self.browser.key("Escape")
        self.press(".pill")
        self.assertEqual(self.total(), 2000)

    def test_rows_of_tables_have_the_menu_too(self):
        self.press("#tab-top")
        self.search("hib")
        x, y = self.middle_of("document.querySelector('tbody .link')")
        self.right_click(x, y)
        self.choose_item("Without stacks through this")
        self.assertEqual(self.total(), 2000 - self.having(FIND))

    def test_keys_open_the_menu_of_a_frame_and_go_through_it(self):
        self.browser.run("app.graph.host.focus()")
        self.browser.key("ArrowUp")
        self.browser.key("ArrowUp")
        picked = self.browser.run("app.graph.tree.keys[app.graph.tree.key[app.graph.picked]].name")
        # What the browser makes of the menu key.
        self.browser.run("app.graph.host.dispatchEvent(new PointerEvent('contextmenu', {button: 0, bubbles: true,"
                         "cancelable: true}))")
        self.assertEqual(self.browser.run("document.activeElement.textContent"), "Zoom")
        self.browser.key("ArrowDown")
        self.assertEqual(self.browser.run("document.activeElement.textContent"), "Only stacks through this")
        self.browser.key("ArrowUp")
        self.browser.key("ArrowUp")
        self.assertEqual(self.browser.run("document.activeElement.textContent"), "Copy name")
        self.browser.key("Escape")
        self.assertEqual(self.browser.run("[document.querySelectorAll('.frame-menu').length,"
                                          "document.activeElement === app.graph.host, app.graph.zoomed]"), [0, True, 0])
        self.browser.run(f"go({{through: '=' + {picked!r}}})")
        self.assertEqual(self.total(), self.having(picked))

    def test_menu_stays_in_the_window_and_names_are_no_markup(self):
        self.browser.run(f"askAboutFrame({HOSTILE!r}, {{clientX: 1365, clientY: 767}}, null)")
        box = self.browser.run("(b => [b.right, b.bottom])(document.querySelector('.frame-menu').getBoundingClientRect())")
        self.assertTrue(box[0] <= 1366 and box[1] <= 768, box)
        self.choose_item("Only stacks through this")
        self.assertEqual(self.total(), self.having(HOSTILE))
        self.assertEqual(self.browser.run(PILLS), ["through " + HOSTILE])
        self.assertEqual(self.browser.run("document.querySelectorAll('img').length"), 0)

    def test_a_run_is_in_no_stack_by_its_name(self):
        self.press("[data-flag=frameworks]")
        self.browser.run("askAboutFrame('[Spring: 7 frames]', {clientX: 9, clientY: 99}, () => 0)")
        self.assertEqual(self.browser.run("[...document.querySelectorAll('.frame-menu button')].map(b => b.textContent)"),
                         ["Zoom", "Copy name"])

    def test_wrong_lines_of_a_hostile_address_leave_all_stacks(self):
        self.browser.open(self.page, "#through=~(&without=nonsense")
        self.assertEqual(self.total(), 2000)

    # the next match

    def test_next_match_zooms_where_it_is_too_narrow_to_be_seen(self):
        narrow = self.browser.run("(t => [...Array(t.count).keys()].filter(i => i > 0 && t.wide[i] === 1).length)(app.tree)")
        self.assertGreater(narrow, 100)
        self.browser.resize(400, 700)
        self.browser.frames()
        self.search("memcpy")
        count = self.browser.run("app.graph.matches().length")
        picked = "app.graph.tree.keys[app.graph.tree.key[app.graph.picked]].name"
        zooms = set()
        for at in range(1, 13):
            self.browser.key("Enter")
            self.assertEqual(self.browser.run(picked), "memcpy")
            self.assertGreaterEqual(self.browser.run("app.graph.boxOf(app.graph.picked).w"), 6)
            self.assertRegex(self.text("#matched"), f"[0-9]+ of {count:,} frames")
            zooms.add(self.browser.run("app.state.zoom"))
        self.assertGreater(len(zooms), 1)

    def test_matches_are_those_of_the_whole_graph(self):
        self.search("memcpy")
        whole = self.browser.run("app.graph.matches().length")
        self.assertEqual(whole, self.browser.run(
            "(t => [...Array(t.count).keys()].filter(i => t.keys[t.key[i]].name === 'memcpy').length)(app.tree)"))
        self.browser.click(*self.place_of("Shop"))
        self.assertEqual(self.browser.run("app.graph.matches().length"), whole)
        self.browser.key("Enter")
        self.browser.run("page.search.focus()")
        self.browser.key("Enter")
        inside = ("(g => { let i = g.picked; while (i > 0 && i !== g.zoomed) i = g.tree.parent[i];"
                  "return i === g.zoomed; })(app.graph)")
        self.assertTrue(self.browser.run(inside))

    # the address

    def test_address_has_seconds_whatever_the_cells_are(self):
        self.browser.run("go({from: 72, to: 310})")
        self.assertEqual(self.browser.run("location.hash"), "#from=1.125s&to=4.84375s")
        wanted = sum(s[7] for s in self.samples if 72 <= int(s[0] / BUCKET_MS) < 310)
        for fragment in ("#from=1.125s&to=4.84375s", "#from=72&to=310"):     # and as it was once
            self.browser.open(self.page, fragment)
            self.assertEqual(self.total(), wanted)
        # A later sample makes the cells of another recording twice as long.
        late = "300000\t1\t1\tmain\tShop\t\tShop;late 1\n"
        page = make_page(self.directory.name, "late", late + "".join(
            f"{ms}\t1\t1\tmain\tShop\t\tShop;run 1\n" for ms in range(0, 6000, 100)), "times")
        self.browser.open(page, "#from=1.125s&to=4.84375s")
        self.assertEqual(self.browser.run("[app.state.from, app.state.to]"), [36, 155])
        for fragment in ("#from=s&to=3s", "#from=1e9s&to=2e9s", "#from=-1s&to=-2s"):
            self.browser.open(self.page, fragment)
            self.browser.run("go(newState())")
            self.assertEqual(self.total(), 2000)


class Labels(unittest.TestCase):
    """What a program has marked its samples with."""

    def test_label_is_a_filter_and_a_pill(self):
        directory = tempfile.TemporaryDirectory(prefix="fg-page-")
        self.addCleanup(directory.cleanup)
        rows = [("worker,trace=abc,method=GET", "f", 5), ("worker,trace=def,method=GET", "g", 7), ("main", "f", 11)]
        browser = Browser().__enter__()
        self.addCleanup(browser.__exit__)
        browser.open(make_page(directory.name, "labels", "".join(
            f"0\t7\t{7 + (name != 'main')}\t{name}\tShop\t\tmain;{leaf} {count}\n" for name, leaf, count in rows),
            "times"))
        options = browser.run("[...document.querySelectorAll('#filter-label option')].map(o => o.value)")
        self.assertEqual(options, ["", "method: GET", "trace: def", "trace: abc"])
        self.assertEqual(browser.run("document.querySelectorAll('#filter-thread option').length"), 3)
        for label, total in (("method: GET", 12), ("trace: abc", 5), ("", 23)):
            browser.run(f"(f => {{ f.value = {label!r}; f.dispatchEvent(new Event('change')); }})"
                        "(document.querySelector('#filter-label'))")
            browser.frames()
            self.assertEqual(browser.run("app.tree.total[0]"), total, label)
            self.assertEqual(browser.run(PILLS), ["label " + label] if label else [])
        self.assertEqual(browser.complaints(), [])


class Comparison(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="fg-page-")
        self.addCleanup(directory.cleanup)
        self.browser = Browser().__enter__()
        self.addCleanup(self.browser.__exit__)
        self.browser.open(make_page(
            pathlib.Path(directory.name), "compare",
            "all;less 400 300\nall;more 60 329\nall;once 0 1\nall;twice 2 0\nall;same 6 2\n", "compare"))

    def named(self, name, what):
        return self.browser.run(
            "(g => { for (let i = 0; i < g.tree.count; i++)"
            f"if (g.tree.keys[g.tree.key[i]].name === {name!r}) return {what}; }})(app.graph)")

    def test_before_is_what_was_recorded(self):
        self.assertIn("before468 samples", self.browser.run("document.querySelector('.quality').textContent"))
        self.assertEqual(self.browser.run("titleOf(app.graph, 0)"),
                         "all (632 samples, 100.00%; before 468, 100.00%; change 0, self 0)")
        self.assertEqual(self.named("less", "titleOf(g, i)"), "less (300 samples, 47.47%; before 400, 85.47%; "
                         "change \u221238.00%, self \u221238.00%)")
        self.browser.run("go({normalise: false})")
        self.assertEqual(self.named("more", "titleOf(g, i)"), "more (329 samples, 52.06%; before 60, 12.82%; "
                         "change +269, self +269)")

    def test_noise_is_grey_also_where_there_was_nothing(self):
        self.browser.run("go({widths: 'union'})")
        letters = {name: self.named(name, "g.letterOf(i)") for name in ("once", "twice", "same", "less", "more")}
        self.assertEqual(letters, {"once": "=", "twice": "=", "same": "=", "less": "\u2212", "more": "+"})
        self.assertIn(self.named("once", "g.fillOf(i)"), self.browser.run("app.data.facts.changes[0].colours"))

    def test_changes_have_their_signs(self):
        self.browser.run("go({tab: 'changes'})")
        rows = self.browser.run("Object.fromEntries([...document.querySelectorAll('tbody tr')].map(r => "
                                "[r.querySelector('.link').textContent, [...r.cells].map(c => c.textContent)]))")
        self.assertEqual(rows["less"][:4], ["\u221238.00%", "\u221238.00%", "400 85.47%", "300 47.47%"])
        self.assertEqual(rows["more"][:4], ["+39.24%", "+39.24%", "60 12.82%", "329 52.06%"])
        self.assertEqual(rows["new: once"][4], "noise")

    def test_changes_follow_the_search(self):
        self.browser.run("go({tab: 'changes', search: 'e$'})")
        self.assertEqual(set(self.browser.run("[...document.querySelectorAll('tbody .link')].map(l => l.textContent)")),
                         {"more", "new: once", "gone: twice", "same"})


if __name__ == "__main__":
    unittest.main()
