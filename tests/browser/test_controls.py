# SPDX-License-Identifier: Apache-2.0
"""Controls, keys and media of the page in Chromium, and what of it is seen, heard and printed.

usage: test_controls.py FOLD_TO_HTML [unittest's arguments]
"""

import base64
import pathlib
import re
import tempfile
import unittest

from chromium import Browser
from page_case import BUCKET_MS, PageCase, make_page, shown_share

ZOOMED = "app.graph.tree.keys[app.graph.tree.key[app.graph.zoomed]].name"
PICKED = "app.graph.tree.keys[app.graph.tree.key[app.graph.picked]].name"


class Controls(PageCase):
    # keys

    def focus_graph(self, *keys):
        self.browser.run("app.graph.host.focus()")
        for key in keys:
            self.browser.key(key)

    def test_left_and_right_go_to_neighbours_of_a_level(self):
        self.focus_graph("ArrowUp", "ArrowUp")
        names = self.browser.run("app.graph.levels[1].nodes.map(i => "
                                 "app.graph.tree.keys[app.graph.tree.key[i]].name)")
        first = self.browser.run(PICKED)
        self.browser.key("ArrowRight" if first == names[0] else "ArrowLeft")
        other = self.browser.run(PICKED)
        self.assertEqual({first, other}, {"Shop", "Search"})
        self.browser.key("ArrowLeft" if first == names[0] else "ArrowRight")
        self.assertEqual(self.browser.run(PICKED), first)

    def test_up_and_down_change_places_in_an_icicle(self):
        self.press("[data-flag=icicle]")
        self.focus_graph("ArrowDown", "ArrowDown")
        self.assertIn(self.browser.run(PICKED), ("Shop", "Search"))
        self.browser.key("ArrowUp")
        self.assertEqual(self.browser.run(PICKED), "all")

    def test_search_is_a_key_away_and_enter_walks_over_matches(self):
        self.browser.key("f", modifiers=2)
        self.browser.type("HashMap")
        self.assertEqual(self.browser.run("app.state.search"), "HashMap")
        self.browser.key("Enter")
        self.browser.key("Enter")
        self.assertRegex(self.text("#matched"), ", 2 of ")
        self.browser.key("Enter", modifiers=8)
        self.assertRegex(self.text("#matched"), ", 1 of ")
        self.browser.key("Escape")
        self.assertEqual(self.browser.run("[app.state.search, page.matched.textContent]"), ["", ""])

    def test_zero_and_escape_reset_the_zoom(self):
        for key in ("0", "Escape"):
            self.focus_graph("ArrowUp", "ArrowUp", "Enter")
            self.assertNotEqual(self.browser.run(ZOOMED), "all")
            self.browser.key(key)
            self.assertEqual(self.browser.run(ZOOMED), "all")

    def test_keys_copy_name_and_stack_and_say_so(self):
        self.focus_graph("ArrowUp", "ArrowUp", "ArrowUp")
        self.browser.key("c")
        self.assertRegex(self.browser.run("app.copied"), r"^org/spring.*F0\.doFilter$")
        self.assertEqual(self.browser.run("[page.live.hidden, page.live.textContent]"),
                         [False, "Copied the name"])
        self.browser.key("s")
        self.assertRegex(self.browser.run("app.copied"), r"^(Shop|Search)\norg/spring")

    def test_slash_is_the_search_and_question_mark_shows_keys(self):
        self.browser.key("/", text="/")
        self.browser.type("memcpy")
        self.assertEqual(self.browser.run("[app.state.search, document.activeElement.id]"), ["memcpy", "search"])
        # In a field they are letters.
        self.browser.key("/", text="/")
        self.assertEqual(self.browser.run("page.search.value"), "memcpy/")
        self.focus_graph("?")
        self.assertRegex(self.text("dialog"), "search; Ctrl-F.*copy the frame's name")
        self.browser.key("c")
        self.assertIsNone(self.browser.run("app.copied"))
        self.browser.key("Escape", code="Escape", windowsVirtualKeyCode=27)
        self.browser.wait_for("!document.querySelector('dialog')")

    def test_one_tab_goes_to_the_graph(self):
        self.browser.key("Tab", code="Tab", windowsVirtualKeyCode=9)
        self.assertTrue(self.browser.run("document.activeElement === app.graph.host"))

    def test_small_letters_are_found_as_capitals_and_capitals_as_themselves(self):
        for text, wanted in (("hashmap", "HashMap"), ("HashMap", "HashMap"), ("Hashmap", None), (r"\\Dhashmap", "HashMap")):
            self.search(text.replace("\\\\", "\\"))
            share = sum(s[7] for s in self.samples if wanted and any(wanted in frame for frame in s[6]))
            self.assertTrue(self.text("#matched").startswith(f"{100 * share / 2000:.2f}%"), text)

    # the head

    def test_head_is_one_row_of_48_pixels_and_the_strip_of_24(self):
        for size in ((1366, 768), (2560, 1440)):
            self.browser.resize(*size)
            self.browser.frames()
            header, rest = self.browser.run("[document.querySelector('header').offsetHeight,"
                                            "app.graph.host.getBoundingClientRect().top]")
            self.assertLessEqual(header, 48)
            self.assertLessEqual(rest, 48 + 24 + 8)
            self.assertEqual(self.browser.run("document.documentElement.scrollWidth"), size[0])

    def test_menus_open_one_at_a_time_and_close(self):
        shown = "[...document.querySelectorAll('.panel')].filter(p => !p.hidden).map(p => p.previousSibling.id)"
        for menu in ("view", "filter", "more", "facts"):
            self.browser.click(*self.middle_of(f"document.getElementById({menu!r})"))
            self.assertEqual(self.browser.run(shown), [menu])
            box = self.browser.run(f"(b => [b.left, b.right, b.bottom])(document.getElementById({menu!r})"
                                   ".nextSibling.getBoundingClientRect())")
            self.assertTrue(0 <= box[0] < box[1] <= 1366 and box[2] <= 768, box)
            self.shoot(f"menu-{menu}")
        self.browser.key("Escape")
        self.assertEqual(self.browser.run(f"[{shown}.length, document.activeElement.id]"), [0, "facts"])
        self.browser.click(*self.middle_of("document.getElementById('view')"))
        self.browser.click(700, 400)
        self.assertEqual(self.browser.run(shown), [])

    def test_facts_are_behind_a_button_and_warnings_are_not(self):
        self.assertEqual(self.browser.run("document.querySelector('.quality').getClientRects().length"), 0)
        warning = self.text("#warnings")
        self.assertRegex(warning, r"^\u26a0 lost 7( \([\d.]+%\))?(, \+\d+)?$")
        # Nothing of it is cut.
        self.assertEqual(self.browser.run("(b => b.scrollWidth - b.clientWidth)(document.getElementById('warnings'))"), 0)
        self.assertNotIn("cpu-clock", warning)
        self.press("#warnings")
        self.assertGreater(self.browser.run("document.querySelector('.quality').getClientRects().length"), 0)

    def test_what_is_left_out_is_a_pill_that_brings_it_back(self):
        self.choose("pool", "http-nio-8080-exec-*")
        self.choose("process", "Shop-100")
        self.browser.run("go({kind: 8, onlyKind: true, search: 'Order', onlyMatching: true})")
        pills = "[...document.querySelectorAll('.pill')].map(p => p.textContent.slice(0, -2))"
        self.assertEqual(self.browser.run(pills), ["process Shop-100", "pool http-nio-8080-exec-*", "only kernel",
                                                   "only with Order"])
        seen = [self.total()]
        for _ in range(4):
            self.press(".pill")
            seen.append(self.total())
        self.assertEqual(seen, sorted(set(seen)))
        self.assertEqual(seen[-1], 2000)

    # buttons

    def test_reset_zoom_and_reset_all_do_what_they_say(self):
        self.browser.click(*self.place_of("Shop"))
        self.search("memcpy")
        self.press("#unzoom")
        self.assertEqual(self.browser.run(f"[{ZOOMED}, app.state.search]"), ["all", "memcpy"])
        self.assertTrue(self.browser.run("page.unzoom.disabled"))
        self.press("[data-flag=icicle]")
        self.press("#reset")
        self.assertEqual(self.browser.run("[location.hash, app.state.icicle, page.search.value]"),
                         ["", False, ""])

    def test_table_sorts_by_every_column_both_ways(self):
        self.press("#tab-top")
        column = ("(n => [...document.querySelectorAll('tbody td:nth-child(' + n + ')')]"
                  ".map(td => n < 3 ? parseInt(td.textContent.replace(/,/g, '')) :"
                  "td.querySelector('.link').textContent))")
        for number in (1, 2, 3):
            ways = set()
            for _ in range(2):
                self.press(f"th:nth-child({number}) button")
                shown = self.browser.run(f"{column}({number})")
                up = self.browser.run(f"document.querySelector('th:nth-child({number})')"
                                      ".getAttribute('aria-sort')") == "ascending"
                self.assertEqual(shown, sorted(shown, reverse=not up))
                ways.add(up)
            self.assertEqual(len(ways), 2)

    def test_shares_in_the_table_are_bars(self):
        self.press("#tab-top")
        rows = self.browser.run("[...document.querySelectorAll('tbody tr')].map(r => [r.cells[1].textContent,"
                                "r.cells[1].style.backgroundSize])")
        for text, size in rows:
            share = float(text.split()[-1].rstrip("%"))
            self.assertAlmostEqual(float(size.split("%")[0] or 0), share, delta=0.1)

    def test_table_has_processor_time_beside_samples(self):
        self.press("#tab-top")
        samples, time, share = self.browser.run(
            "[...document.querySelector('tbody tr').cells[1].childNodes].map(n => n.textContent).filter(t => t.trim())")
        period_us = 10101.01     # at 99 Hz
        self.assertEqual(time, f"{int(samples.replace(',', '')) * period_us / 1e6:.2f} s")
        self.assertEqual(share, shown_share(int(samples.replace(",", "")), 2000))

    def test_legend_has_shares_and_only_kinds_that_have_a_box(self):
        shown = "Object.fromEntries(page.kinds.filter(k => !k.hidden).map(k => [k.dataset.kind, k.textContent]))"
        legend = self.browser.run(shown)
        kernel = sum(s[7] for s in self.samples if s[6][-1].endswith("_[k]"))
        self.assertEqual(legend["8"], f"kkernel {100 * kernel / 2000:.1f}%")
        self.assertNotIn("10", legend)
        self.press("[data-flag=javaOnly]")
        self.assertNotIn("8", self.browser.run(shown))

    def test_table_follows_the_search(self):
        self.press("#tab-top")
        self.search("hibernate")
        self.assertEqual(self.browser.run("[...document.querySelectorAll('tbody .link')]"
                                          ".map(link => link.textContent)"),
                         ["org/hibernate/Session.find"])

    def test_click_on_a_caller_makes_it_the_middle(self):
        self.browser.run("go({tab: 'sandwich', focus: 'memcpy'})")
        box = self.browser.run(
            "(o => { const g = app.callers, b = g.boxOf(g.tree.first[0]);"
            "return [o.x + 10, o.y + b.y - g.host.scrollTop + 9,"
            "g.tree.keys[g.tree.key[g.tree.first[0]]].name]; })"
            "(app.callers.host.getBoundingClientRect())")
        self.browser.click(*box[:2])
        self.assertEqual(self.browser.run("app.state.focus"), box[2])
        self.assertTrue(self.text(".focus").startswith(box[2] + ":"))

    def test_search_finds_frames_that_are_folded(self):
        self.press("[data-flag=frameworks]")
        self.search("springframework")
        self.assertEqual(self.browser.run(
            "[...new Set(app.graph.matches().map(i => app.tree.keys[app.tree.key[i]].name.slice(0, 7)))]"),
            ["[Spring"])
        self.assertRegex(self.text("#matched"), "^100.00% of samples, [0-9]+ frames")

    # time

    def range_of(self, begin, end):
        wanted = sum(s[7] for s in self.samples if begin <= int(s[0] / BUCKET_MS) < end)
        self.assertEqual(self.browser.run("[app.state.from, app.state.to]"), [begin, end])
        self.assertEqual(self.total(), wanted)

    def place_of_bucket(self, bucket):
        """The middle of a bucket in the strip."""
        return self.browser.run(
            f"(b => [b.x + b.width * ({bucket} + 0.5) / app.strip.buckets, b.y + 5])"
            "(app.strip.canvas.getBoundingClientRect())")

    def test_any_part_of_the_time_can_be_chosen_and_the_head_repeats_it(self):
        for first, last, said in ((65, 68, "1.02\u20131.08 s"), (128, 127, "1.98\u20132.02 s")):
            begin, end = sorted((first, last))
            self.browser.mouse("mousePressed", *self.place_of_bucket(first))
            self.browser.mouse("mouseMoved", *self.place_of_bucket(last))
            self.browser.mouse("mouseReleased", *self.place_of_bucket(last))
            self.browser.frames()
            self.range_of(begin, end + 1)
            self.assertEqual(self.text(".pills"), said + " \u00d7")
            self.press(".pill")
            self.assertEqual(self.total(), 2000)
            self.assertTrue(self.browser.run("page.bar.hidden"))

    def test_strip_has_24_pixels_an_axis_and_says_the_time_under_the_mouse(self):
        self.assertEqual(self.browser.run("[app.strip.canvas.clientHeight, app.strip.host.clientHeight]"), [24, 24])
        told = self.browser.run(
            "(() => { const told = [], pen = app.strip.canvas.getContext('2d');"
            "pen.fillText = text => told.push(text); app.strip.show(); delete pen.fillText; return told; })()")
        self.assertEqual(told[:3], ["0 s", "0.5 s", "1 s"])
        self.browser.mouse("mouseMoved", *self.place_of_bucket(64))
        self.browser.frames()
        there = sum(s[7] for s in self.samples if int(s[0] / BUCKET_MS) == 64)
        self.assertEqual(self.browser.run("[page.tip.hidden, page.tip.firstChild.textContent,"
                                          "page.tip.lastChild.textContent]"),
                         [False, "1 s", f"22:13:21.00 UTC, {there} samples"])
        self.browser.mouse("mouseMoved", 700, 8)
        self.browser.frames()
        self.assertTrue(self.browser.run("page.tip.hidden"))

    def test_axes_have_round_times(self):
        self.assertEqual(self.browser.run("[0.07, 0.3, 3, 14, 40, 700].map(tickSeconds)"), [0.1, 0.5, 5, 20, 60, 1800])
        self.assertEqual(self.browser.run("[secondsText(2.25, 6, 2), secondsText(90, 200, 0), secondsText(3700.5, 9e3, 1)]"),
                         ["2.25 s", "1:30", "1:01:40.5"])

    def test_range_can_be_typed(self):
        for label, value in (("From second", "1"), ("To second", "2.5")):
            self.browser.run(f"(f => {{ f.value = {value}; f.dispatchEvent(new Event('change')); }})"
                             f"(document.querySelector('[aria-label=\"{label}\"]'))")
        self.range_of(64, 160)

    # the address

    def test_every_setting_is_in_the_address_and_comes_back(self):
        state = {"tab": "graph", "search": "find", "ignoreCase": True, "onlyMatching": True,
                 "icicle": True, "reversed": True, "recursion": True, "frameworks": True,
                 "container": "abcdef012345", "process": "Shop-100",
                 "pool": "http-nio-8080-exec-*", "thread": "http-nio-8080-exec-2 [1102]",
                 "from": 10, "to": 300, "kind": 8, "sort": "total", "up": True}
        self.browser.run(f"go(Object.assign(newState(), {js(state)}))")
        fragment, total = self.browser.run("[location.hash, app.tree.total[0]]")
        self.browser.open(self.page, fragment)
        seen = self.browser.run("app.state")
        self.assertEqual({name: seen[name] for name in state}, state)
        self.assertEqual(self.total(), total)
        self.assertGreater(total, 0)

    def test_address_of_a_hostile_hand_is_no_harm(self):
        self.browser.open(self.page, "#zoom=%00%FF&tab=constructor&widths=__proto__&sort=toString"
                                     "&from=1e999&to=-5&kind=99&thread=nobody&focus=%3Cb%3E&search=(")
        self.assertEqual(self.total(), 0)
        self.browser.run("go(newState())")
        self.assertEqual(self.total(), 2000)

    def test_a_tab_that_does_not_exist_opens_the_graph_and_is_told_of(self):
        self.browser.open(self.page, "#tab=changes&search=find")
        self.assertEqual(self.browser.run("[app.state.tab, app.state.search, page.panes.graph.hidden]"),
                         ["graph", "find", False])
        self.assertIn("no tab called changes", self.text(".said"))

    def test_only_frameworks_that_are_there_can_be_folded(self):
        self.assertEqual(self.browser.run("document.querySelector('[data-flag=frameworks]').title"),
                         "Spring, Hibernate: a run as one frame")
        with tempfile.TemporaryDirectory() as directory:
            page = make_page(directory, "plain", "app;org/jboss/logging/Logger.info_[j];"
                                                 "java/util/HashMap.get_[j] 10\n")
            self.browser.open(page)
            self.assertIsNone(self.browser.run("document.querySelector('[data-flag=frameworks]')"))

    def test_back_goes_through_filters_and_tabs(self):
        self.choose("process", "Shop-100")
        self.press("#tab-top")
        for tab, total in (("graph", None), ("graph", 2000)):
            self.browser.run("new Promise(d => { addEventListener('popstate', () => d(0),"
                             "{once: true}); history.back(); })")
            self.assertEqual(self.browser.run("app.state.tab"), tab)
            if total:
                self.assertEqual(self.total(), total)

    # ears, eyes, paper

    def told(self):
        """Role -> names, of all that a screen reader is told of."""
        told = {}
        for node in self.browser.call("Accessibility.getFullAXTree")["nodes"]:
            if not node.get("ignored"):
                told.setdefault(node.get("role", {}).get("value"), []).append(
                    node.get("name", {}).get("value", ""))
        return told

    def test_screen_reader_is_told_names_and_states(self):
        told = self.told()
        self.assertTrue(any("Arrow keys" in name for name in told["application"]), told)
        self.assertTrue(any("Search frames" in name for name in told["searchbox"]))
        self.assertTrue(any("Samples over time" in name for name in told["image"]))
        self.assertEqual(told["tab"], ["Graph", "Functions", "Callers"])
        self.assertTrue(all(re.search("[A-Za-z0-9]", name) for role in ("button", "textbox", "spinbutton", "combobox")
                            for name in told.get(role, [])), told)
        # What a menu has is there once it is open.
        self.assertNotIn("combobox", told)
        self.browser.click(*self.middle_of("document.getElementById('filter')"))
        self.assertLessEqual({"process", "container", "pool", "thread"}, set(self.told()["combobox"]))
        for menu, within in (("view", "Icicle"), ("more", "Save SVG")):
            self.assertNotIn(within, self.told()["button"])
            self.browser.click(*self.middle_of(f"document.getElementById({menu!r})"))
            self.assertIn(within, self.told()["button"])

    def test_screen_reader_is_told_the_frame_that_keys_went_to(self):
        self.focus_graph("ArrowUp", "ArrowUp")
        self.assertRegex(self.text("#details"), r"^(Shop|Search) \([0-9,]+ samples, [0-9.]+%, [0-9.]+ s, [0-9.]+ cores\), self")
        self.assertEqual(self.browser.run(
            "document.getElementById(app.graph.host.getAttribute('aria-describedby')) === page.details"
            " && page.details.getAttribute('aria-live')"), "polite")

    def test_mouse_is_told_the_frame_that_it_is_over(self):
        x, y = self.place_of("Shop")
        self.browser.mouse("mouseMoved", x, y)
        self.browser.frames()
        self.assertTrue(self.text("#details").startswith("Shop ("))
        self.assertFalse(self.browser.run("app.graph.hover.hidden"))
        shop = sum(s[7] for s in self.samples if s[1] == 100)
        cores = f"{shop / 99:.2f} s, {shop / 99 / 10:.2f} cores"
        tip = self.browser.run("(b => [page.tip.textContent, b.left - {x}, b.top - {y}, b.bottom, innerHeight])"
                               "(page.tip.getBoundingClientRect())".replace("{x}", str(x)).replace("{y}", str(y)))
        self.assertTrue(tip[0].startswith(f"Shop({shop:,} samples, {100 * shop / 2000:.2f}%, {cores})"), tip)
        self.assertLess(abs(tip[1]) + abs(tip[2]), 80)
        self.assertLessEqual(tip[3], tip[4])
        self.browser.mouse("mouseMoved", 5, 5)
        self.browser.frames()
        self.assertEqual(self.browser.run("[app.graph.hover.hidden, page.tip.hidden]"), [True, True])

    def media(self, **features):
        self.browser.call("Emulation.setEmulatedMedia", media=features.pop("media", ""), features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def test_nothing_moves_for_who_wants_no_motion(self):
        self.media(prefers_reduced_motion="reduce")
        self.browser.click(*self.place_of("Shop"))
        self.press("[data-flag=icicle]")
        self.assertEqual(self.browser.run(
            "[document.getAnimations().length, [...document.querySelectorAll('*')].filter(e => "
            "(s => parseFloat(s.transitionDuration) + parseFloat(s.animationDuration) > 0 ||"
            "s.scrollBehavior === 'smooth')(getComputedStyle(e))).length]"), [0, 0])

    def test_paper_is_white_and_has_no_controls_in_dark_too(self):
        self.media(media="print", prefers_color_scheme="dark")
        self.browser.run("dispatchEvent(new Event('resize'))")     # of a graph that paper hides
        self.browser.frames()
        self.browser.run("dispatchEvent(new Event('beforeprint'))")
        seen = self.browser.run(
            "(() => { const c = document.querySelector('.printed'), d = s => getComputedStyle("
            "document.querySelector(s)); const seen = s => document.querySelector(s).getClientRects().length > 0;"
            "return [d('nav').display, d('.graph').display, seen('.quality'), seen('.legend'), d('body').backgroundColor,"
            "[...c.getContext('2d').getImageData(c.width - 1, 0, 1, 1).data]]; })()")
        self.assertEqual(seen[:5], ["none", "none", True, True, "rgb(255, 255, 255)"])
        self.assertEqual(seen[5], [255, 255, 255, 255])
        self.browser.run("dispatchEvent(new Event('afterprint'))")

    def test_page_can_be_printed(self):
        data = base64.b64decode(self.browser.call("Page.printToPDF", landscape=True)["data"])
        self.assertTrue(data.startswith(b"%PDF"))
        self.assertLessEqual(len(re.findall(rb"/Type\s*/Page\b", data)), 3)

    def test_picture_is_as_large_as_the_graph_and_has_its_colours(self):
        self.browser.run("window.saved = []; save = (blob, name) => saved.push([blob, name]); 0")
        self.press("#save-png")
        self.browser.wait_for("saved.length === 1")
        seen = self.browser.run(
            "createImageBitmap(saved[0][0]).then(image => { const c = new OffscreenCanvas(image.width,"
            "image.height), pen = c.getContext('2d'); pen.drawImage(image, 0, 0);"
            "return [saved[0][1], image.width, image.height, [...pen.getImageData(image.width / 2,"
            "image.height - 9, 1, 1).data].slice(0, 3)]; })")
        width, levels, root = self.browser.run(
            "[app.graph.width, app.graph.levels.length, app.graph.fillOf(0)]")
        self.assertEqual(seen, ["flamegraph.png", width, levels * 18,
                                [int(root[at:at + 2], 16) for at in (1, 3, 5)]])


class Comparison(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="fg-page-")
        self.addCleanup(directory.cleanup)
        self.browser = Browser().__enter__()
        self.addCleanup(self.browser.__exit__)
        self.browser.open(make_page(
            pathlib.Path(directory.name), "compare",
            "all;stays 1000 2000\nall;gone 500 0\nall;more;same 500 1000\nall;more 0 1000\n"
            "all;outer 300 0\nall;outer;inner 200 1000\n", "compare"))

    def fill_of(self, name):
        return self.browser.run(
            "(g => { for (const l of g.levels) for (const i of l.nodes)"
            f"if (g.tree.keys[g.tree.key[i]].name === {name!r}) return g.fillOf(i); }})(app.graph)")

    def click(self, selector):
        self.browser.run(f"document.querySelector({selector!r}).click()")

    def test_colour_is_of_the_subtree_or_of_a_frame_alone(self):
        more = self.browser.run("app.data.facts.changes[1].colours")
        self.assertIn(self.fill_of("more"), more)
        self.click("[data-flag=bySelf]")
        self.assertEqual(self.fill_of("more"), self.browser.run("app.data.facts.changes[3].colours[0]"))
        self.assertEqual(self.fill_of("outer"), self.browser.run("app.data.facts.changes[4].colours[0]"))

    def test_widths_and_normalisation_are_chosen_by_controls(self):
        self.assertIsNone(self.fill_of("gone"))
        self.browser.run("(f => { f.value = 'before'; f.dispatchEvent(new Event('change')); })"
                         "(page.widths)")
        self.assertIn(self.fill_of("gone"), self.browser.run("app.data.facts.changes[4].colours"))
        before = "app.tree.beforeTotal[0]"
        self.assertEqual(self.browser.run(before), 5000)
        self.click("[data-flag=normalise]")
        self.assertEqual(self.browser.run(before), 2500)

    def test_nothing_changed_has_no_sign(self):
        self.assertIn("change 0, self 0", self.browser.run("page.details.textContent"))

    def test_legend_explains_every_class_of_change(self):
        self.assertEqual(
            self.browser.run("[...document.querySelectorAll('.legend span')].map(s => s.textContent)"),
            ["=no change beyond noise", "+more", "\u2212less", "Nnew", "Xgone (widths: before, union)"])


def js(state):
    return "{" + ", ".join(f"{name}: {str(value).lower() if isinstance(value, bool) else repr(value)}"
                           for name, value in state.items()) + "}"


if __name__ == "__main__":
    unittest.main()
