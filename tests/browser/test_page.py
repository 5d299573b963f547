# SPDX-License-Identifier: Apache-2.0
"""The page in Chromium, from a file, without a network: every feature once.

What must be shown is counted here from the stacks that the page was made of.

usage: test_page.py FOLD_TO_HTML [unittest's arguments]
"""

import collections
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree

from chromium import Browser
from page_case import (BUCKET_MS, HOSTILE, PIXELS, SHOTS, PageCase, bare, make_page, samples_with,
                       shown_share)

SVG = "{http://www.w3.org/2000/svg}"


MIXED = """app_[#];a/Main.run_[0] 10
app_[#];a/Main.run_[1];a/In.call_[1] 10
app_[#];a/Main.run_[1] 20
app_[#];a/Main.run_[j] 30
app_[#];a/Main.run_[j];a/In.call_[i] 30
app_[#];a/Main.only_[1] 5
"""
NATIVE = """app_[#];clone3;call_stub;a/Main.run_[j];copy_user_[k] 4
app_[#];clone3;call_stub;a/Main.run_[j];memcpy 3
app_[#];clone3;call_stub;a/Main.run_[j];upcall;a/Main.back_[j] 2
app_[#];clone3;CompileBroker::loop;C2::go 7
app_[#];clone3;WorkerThread::run;mark 4
app_[#];clone3 2
"""


class Page(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.mixed = make_page(cls.directory.name, "mixed", MIXED)
        cls.native = make_page(cls.directory.name, "native", NATIVE)

    # claims

    def test_page_states_a_policy_without_inline_scripts_and_network(self):
        head = self.page.read_text()[:2000]
        self.assertIn("default-src 'none'", head)
        self.assertRegex(head, r"script-src 'sha256-[A-Za-z0-9+/=]{44}'")
        self.assertNotIn("unsafe-inline", head)
        self.assertEqual(self.browser.run(
            "new Promise(d => { const s = document.createElement('script');"
            "s.textContent = 'window.injected = 1'; document.body.append(s);"
            "setTimeout(() => d(window.injected || 0), 50); })"), 0)
        self.assertTrue(any("Content Security Policy" in str(c) or "Content-Security" in str(c)
                            for c in self.browser.complaints()))
        self.browser.events.clear()

    def test_names_never_become_markup(self):
        self.press("#tab-top")
        self.assertEqual(self.browser.run("document.querySelectorAll('img, b').length"), 0)
        self.assertIn(HOSTILE, self.text(".table"))
        self.assertEqual(self.text("h1"), "</script><b>Title</b>")
        self.assertNotIn("</script><b>", self.page.read_text())
        self.browser.run(f"go({{tab: 'sandwich', focus: {HOSTILE!r}}})")
        self.assertTrue(self.text(".focus").startswith(HOSTILE))
        self.browser.run("app.callees.show(0)")
        self.assertTrue(self.text("#details").startswith(HOSTILE))
        self.assertEqual(self.browser.run("document.querySelectorAll('img, b').length"), 0)

    def test_banner_says_how_good_the_data_is(self):
        banner = self.text(".quality")
        for text in ("2,000", "lost7", "snapshot ended 5", "cpu-clock at 99 Hz", "host.example",
                     "OpenJDK 64-Bit Server VM 17.0.1", "abcdef012345", "10.0 s from 2023-11-14"):
            self.assertIn(text, banner)
        self.shoot("times-1366-light")

    def test_click_zooms_and_back_undoes_it(self):
        x, y = self.place_of("Shop")
        self.browser.click(x, y)
        zoomed = "app.graph.tree.keys[app.graph.tree.key[app.graph.zoomed]].name"
        self.assertEqual(self.browser.run(zoomed), "Shop")
        self.assertIn("zoom=", self.browser.run("location.hash"))
        self.browser.run("new Promise(d => { addEventListener('popstate', () => d(0), {once: true});"
                         "history.back(); })")
        self.assertEqual(self.browser.run(zoomed), "all")

    def test_address_brings_the_view_back(self):
        self.search("hibernate")
        self.choose("pool", "http-nio-8080-exec-*")
        self.browser.click(*self.place_of("Shop"))
        # Another window: the names are found whatever its width.
        fragment = self.browser.run("location.hash")
        view = ("[app.tree.total[0], page.matched.textContent.split(',')[0],"
                "app.graph.tree.keys[app.graph.tree.key[app.graph.zoomed]].name]")
        seen = self.browser.run(view)
        self.assertEqual(seen[2], "Shop")
        self.browser.resize(900, 600)
        self.browser.open(self.page, fragment)
        self.assertEqual(self.browser.run(view), seen)
        self.assertEqual(self.browser.run("page.search.value"), "hibernate")

    def test_search_share_counts_nested_matches_once(self):
        self.search("org/hib.rnate")
        wanted = samples_with(self.samples, lambda name: "org/hibernate" in name)
        self.assertIn(shown_share(wanted, 2000), self.text("#matched"))
        self.assertEqual(self.browser.run("page.matched.title"), f"{wanted:,} of 2,000 samples")

    def test_search_can_ignore_case_and_says_what_is_no_expression(self):
        self.search("HASHMAP")
        self.assertIn("0.00%", self.text("#matched"))
        self.press("[data-flag=ignoreCase]")
        self.browser.key("Escape")
        wanted = samples_with(self.samples, lambda name: "HashMap" in name)
        self.assertIn(shown_share(wanted, 2000), self.text("#matched"))
        self.search("(")
        self.assertIn("Not a regular expression", self.text("#matched"))

    def test_next_and_previous_walk_over_matches(self):
        self.search("HashMap")
        self.press("#next")
        first = self.text("#matched")
        self.assertRegex(first, r", 1 of [0-9,]+ frames")
        self.press("#next")
        self.assertRegex(self.text("#matched"), r", 2 of ")
        self.press("#previous")
        self.assertEqual(self.text("#matched"), first)

    def test_only_matching_samples_can_be_kept(self):
        self.search("HashMap")
        self.press("[data-flag=onlyMatching]")
        # A frame that samples end in, and one that they end above.
        for text in ("HashMap", "OrderStore"):
            self.search(text)
            wanted = samples_with(self.samples, lambda name, text=text: text in name)
            self.assertEqual(self.total(), wanted, text)

    def test_filters_keep_the_samples_of_their_dimension(self):
        for dimension, value, test in (
                ("process", "Shop-100", lambda s: s[1] == 100),
                ("container", "abcdef012345", lambda s: s[1] == 100),
                ("pool", "http-nio-8080-exec-*", lambda s: s[3].startswith("http")),
                ("thread", "http-nio-8080-exec-2 [1102]", lambda s: s[2] == 1102)):
            self.choose(dimension, value)
            self.assertEqual(self.total(), sum(s[7] for s in self.samples if test(s)), dimension)
            self.choose(dimension, "")
        self.assertEqual(self.total(), 2000)

    def test_containers_are_called_by_their_names_and_pods(self):
        long_id = "0123456789abcdef"
        processes = [(long_id, long_id[:12]),
                     (f"{long_id},web", f"web ({long_id[:12]})"),
                     (f"{long_id},app,api-1,shop", f"shop/api-1 app ({long_id[:12]})"),
                     (f"{long_id},,api-2", f"api-2 ({long_id[:12]})"),
                     (",,api-3,shop", "shop/api-3"), ("", "none"),
                     (f"{long_id},{HOSTILE}", f"{HOSTILE} ({long_id[:12]})")]
        text = "".join(f"{i}\t{100 + i}\t{200 + i}\tmain\tShop\t{given}\tShop;run {i + 1}\n"
                       for i, (given, _) in enumerate(processes))
        self.browser.open(make_page(self.directory.name, "containers", text, "times"))
        shown = self.browser.run("[...page.filters.container.options].map(o => o.value)")
        self.assertEqual(sorted(shown[1:]), sorted(name for _, name in processes))
        banner = self.text(".quality")
        for i, (_, name) in enumerate(processes):
            self.choose("container", name)
            self.assertEqual(self.total(), i + 1, name)
            self.assertIn(name if name != "none" else "", banner)
        self.assertEqual(self.browser.run("document.querySelectorAll('img').length"), 0)
        self.shoot("containers")

    def test_images_of_containers_are_in_the_banner(self):
        given = ("1234,web,,,shop/web:1", f"5678,app,,,{HOSTILE}", "9abc,app,,,")
        text = "".join(f"{i}\t{100 + i}\t{200 + i}\tmain\tShop\t{container}\tShop;run 1\n"
                       for i, container in enumerate(given))
        self.browser.open(make_page(self.directory.name, "images", text, "times"))
        self.assertIn(f"imageshop/web:1, {HOSTILE}made by", self.text(".quality"))
        self.assertEqual(self.browser.run("document.querySelectorAll('img').length"), 0)

    def test_range_of_the_time_strip_redraws_the_graph(self):
        box = self.browser.run("(b => [b.x, b.y, b.width, b.height])"
                               "(app.strip.canvas.getBoundingClientRect())")
        buckets = self.browser.run("app.strip.buckets")
        x = [box[0] + box[2] * (at + 0.5) / buckets for at in (8, 31)]
        self.browser.mouse("mousePressed", x[0], box[1] + 3)
        self.browser.mouse("mouseMoved", x[1], box[1] + 3)
        self.browser.mouse("mouseReleased", x[1], box[1] + 3)
        self.browser.frames()
        start, end = self.browser.run("[app.state.from, app.state.to]")
        self.assertEqual((start, end), (8, 32))
        wanted = sum(s[7] for s in self.samples if start <= int(s[0] / BUCKET_MS) < end)
        self.assertEqual(self.total(), wanted)
        self.shoot("times-range")
        self.press(".fields button")
        self.assertEqual(self.total(), 2000)

    def test_legend_highlights_a_kind_and_then_keeps_it(self):
        kernel = "[data-kind='8']"
        names = ("do_syscall_64", "memcpy")
        self.press("[data-flag=reversed]")
        plain = [self.colour_of(name) for name in names]
        self.press(kernel)
        self.assertEqual(self.browser.run("[app.state.kind, app.tree.total[0]]"), [8, 2000])
        self.assertEqual(self.colour_of(names[0]), plain[0])
        self.assertNotEqual(self.colour_of(names[1]), plain[1])
        self.shoot("times-kind")
        self.press(kernel)
        wanted = sum(s[7] for s in self.samples if any(f.endswith("_[k]") for f in s[6]))
        self.assertEqual(self.total(), wanted)
        self.press(kernel)
        self.assertEqual(self.total(), 2000)
        self.assertEqual(self.browser.run("app.state.kind"), -1)
        self.assertEqual(self.colour_of(names[1]), plain[1])

    def test_every_kind_has_a_letter_beside_its_colour(self):
        letters = self.browser.run("app.data.kinds.map(k => k.letter)")
        self.assertEqual(len(set(letters)), len(letters))
        shown = self.browser.run("app.data.kinds.map((k, at) => [k.letter, document.querySelector("
                                 "`[data-kind='${at}'] .chip`)?.textContent]).filter(k => k[1])")
        self.assertGreater(len(shown), 3)
        self.assertTrue(all(letter == chip for letter, chip in shown), shown)
        painted, wanted = self.browser.run(
            "(g => { const painted = [], pen = g.canvas.getContext('2d');"
            "pen.fillText = text => pen.textAlign === 'center' && painted.push(text); g.paint();"
            "return [painted, g.levels.flatMap(l => l.nodes.filter((_, at) => l.w[at] >= TAB_FROM))"
            ".map(i => app.data.kinds[g.tree.keys[g.tree.key[i]].kind].letter)]; })(app.graph)")
        self.assertEqual(painted, wanted)
        self.assertGreater(len(set(painted)), 2)

    def test_function_table_counts_self_and_total(self):
        self.press("#tab-top")
        rows = self.browser.run("app.top.rows.map(r => [r.name.name, r.self, r.total])")
        shown = {name: (own, total) for name, own, total in rows}
        for name in ("org/hibernate/Session.find", "memcpy", "org/app/OrderStore.run"):
            own = sum(s[7] for s in self.samples if bare(s[6][-1]) == name)
            self.assertEqual(shown[name], (own, samples_with(self.samples, lambda f: f == name)))
        self.press("th:nth-child(2) button")
        totals = self.browser.run("[...document.querySelectorAll('tbody td:nth-child(2)')]"
                                  ".map(td => parseInt(td.textContent.replace(/,/g, '')))")
        self.assertEqual(totals, sorted(totals, reverse=True))
        self.shoot("times-functions")

    def first_of(self, graph):
        """Name -> samples of what is next to a graph's root; None: those that end there."""
        sums = collections.Counter()
        for name, total in self.browser.run(
                "(t => { const r = [[null, t.self[0]]]; for (let c = t.first[0]; c >= 0; c = t.next[c])"
                f"r.push([t.keys[t.key[c]].name, t.total[c]]); return r; }})(app.{graph}.tree)"):
            sums[name] += total
        return +sums

    def test_sandwich_follows_the_table(self):
        self.press("#tab-top")
        self.browser.run("[...document.querySelectorAll('tbody .link')]"
                         ".find(l => l.textContent === 'org/hibernate/Session.find').click()")
        wanted = samples_with(self.samples, lambda f: f == "org/hibernate/Session.find")
        self.assertEqual(self.browser.run("app.callees.tree.total[0]"), wanted)
        self.assertIn(f"{wanted:,} samples", self.text(".focus"))
        callers, callees = collections.Counter(), collections.Counter()
        for sample in self.samples:
            stack = [bare(frame) for frame in sample[6]]
            if "org/hibernate/Session.find" in stack:
                at = stack.index("org/hibernate/Session.find")
                callers[stack[at - 1]] += sample[7]
                callees[stack[at + 1] if at + 1 < len(stack) else None] += sample[7]
        self.assertEqual(self.first_of("callers"), callers)
        self.assertEqual(self.first_of("callees"), callees)
        self.shoot("times-sandwich")

    def test_reversed_graph_begins_with_what_ran(self):
        self.press("[data-flag=reversed]")
        wanted = collections.Counter()
        for sample in self.samples:
            wanted[bare(sample[6][-1])] += sample[7]
        self.assertEqual(self.first_of("graph"), wanted)

    def test_icicle_has_the_root_at_the_top(self):
        self.press("[data-flag=icicle]")
        self.assertEqual(self.browser.run("app.graph.boxOf(0).y"), 0)

    def test_recursion_is_folded(self):
        find = "app.tree.keys.findIndex(k => k.name === 'org/hibernate/Session.find')"
        nested = (f"(k => {{ let n = 0; for (let i = 1; i < app.tree.count; i++)"
                  f"n += app.tree.key[i] === k && app.tree.key[app.tree.parent[i]] === k;"
                  f"return n; }})({find})")
        self.assertGreater(self.browser.run(nested), 0)
        self.press("[data-flag=recursion]")
        self.assertEqual(self.browser.run(nested), 0)
        self.assertEqual(self.total(), 2000)

    def siblings(self):
        """Names of the graph's frames, a list for the callees of each."""
        return self.browser.run(
            "(t => { const all = []; for (let i = 0; i < t.count; i++) { const names = [];"
            "for (let c = t.first[i]; c >= 0; c = t.next[c]) if (t.total[c] > 0)"
            "names.push(t.keys[t.key[c]].name); all.push(names); } return all; })(app.tree)")

    def test_a_method_is_one_box_whatever_it_was_compiled_to(self):
        self.assertTrue(all(len(set(names)) == len(names) for names in self.siblings()))
        self.assertEqual(self.total(), 2000)
        before = self.browser.run("app.tree.count")
        self.shoot("levels-merged")
        self.press("[data-flag=split]")
        self.assertTrue(any(len(set(names)) < len(names) for names in self.siblings()))
        self.assertGreater(self.browser.run("app.tree.count"), before)
        self.assertEqual(self.total(), 2000)

    def test_shares_of_levels_are_told_and_the_greatest_gives_the_colour(self):
        self.browser.open(self.mixed)
        for stack, kind, told in (
                (("app", "a/Main.run"), "J", "interpreted 10%, C1 30%, C2 60%"),
                (("app", "a/Main.run", "a/In.call"), "+", "C1 25%, inlined 75%"),
                (("app", "a/Main.only"), "1", None)):
            found = self.browser.run(
                "(names => { const t = app.tree; let i = 0; for (const name of names) {"
                "let c = t.first[i]; while (t.keys[t.key[c]].name !== name) c = t.next[c]; i = c; }"
                "return [app.data.kinds[t.keys[t.key[i]].kind].letter, describe(app.graph, i)]; })"
                f"({list(stack)!r})")
            self.assertEqual(found[0], kind)
            if told:
                self.assertIn(told, found[1])
            else:
                self.assertNotIn("C1 1", found[1])
        # Also where callers stand first, and for what a filter leaves.
        self.press("[data-flag=reversed]")
        self.assertEqual(self.browser.run(
            "(t => { const all = {}; for (let c = t.first[0]; c >= 0; c = t.next[c])"
            "all[t.keys[t.key[c]].name] = [app.data.kinds[t.keys[t.key[c]].kind].letter, t.total[c]];"
            "return all; })(app.graph.tree)"),
            {"a/Main.run": ["J", 60], "a/In.call": ["+", 40], "a/Main.only": ["1", 5]})
        # And in the table, and in the middle of callers and callees.
        self.browser.run("go({tab: 'top', reversed: false})")
        self.assertEqual(self.browser.run(
            "[...document.querySelectorAll('tbody tr')].map(r => r.querySelector('.chip').textContent +"
            "r.querySelector('.link').textContent)")[:3],
            ["Ja/Main.run", "+a/In.call", "1a/Main.only"])
        self.browser.run("go({tab: 'sandwich', focus: 'a/In.call'})")
        self.assertEqual(self.browser.run(
            "app.data.kinds[app.callees.tree.keys[app.callees.tree.key[0]].kind].letter"), "+")

    def test_time_is_its_java_methods_on_request(self):
        self.browser.open(self.native)
        self.press("[data-flag=javaOnly]")
        self.assertEqual(self.browser.run(
            "(t => { const all = {}; for (let i = 1; i < t.count; i++) if (t.total[i] > 0)"
            "all[t.keys[t.key[i]].name] = [t.self[i], t.total[i]]; return all; })(app.tree)"),
            {"app": [0, 22], "a/Main.run": [7, 9], "a/Main.back": [2, 2], "[JIT compiler]": [7, 7],
             "[GC]": [4, 4], "[no Java method]": [2, 2]})
        self.search("copy_user")
        self.assertRegex(self.text("#matched"), "^18.18% of samples, 1 frame")
        self.search("")
        self.press("#tab-top")
        self.assertEqual(self.browser.run(
            "[...document.querySelectorAll('tbody .link')].map(l => l.textContent)[0]"), "a/Main.run")
        self.shoot("java-only")

    def test_deep_stacks_begin_with_frameworks_folded_and_one_click_shows_them(self):
        deep = ["app_[#]"] + [f"org/springframework/web/F{i}.call_[j]" for i in range(100)]
        self.browser.open(make_page(self.directory.name, "deep",
                                    ";".join([*deep, "a/Main.run_[j]"]) + " 30\n"
                                    "app_[#];CompileBroker::loop;C2::go 12\n"
                                    "app_[#];WorkerThread::run;mark 8\n"))
        shown = "[page.folded.hidden, app.tree.count, location.hash]"
        self.assertEqual(self.browser.run(shown), [False, 8, ""])
        self.assertIn("62 frames on average: each run of frames of Spring", self.text("p.folded"))
        self.shoot("deep-folded")
        self.press("#unfold")
        self.assertEqual(self.browser.run(shown), [True, 107, "#frameworks=0"])
        banner = self.text(".quality")
        for text in ("compiling24%", "collecting garbage16%"):
            self.assertIn(text, banner)
        self.assertNotIn("loading classes", banner)
        self.browser.open(self.page)
        self.assertEqual(self.browser.run("[page.folded.hidden, app.state.frameworks]"), [True, False])

    def tree_of(self, graph="app.tree"):
        """Path -> samples, of all nodes with any."""
        return self.browser.run(
            "(t => { const all = {}, path = ['']; for (let i = 1; i < t.count; i++) {"
            "path[i] = (t.parent[i] ? path[t.parent[i]] + ';' : '') + t.keys[t.key[i]].name;"
            f"if (t.total[i] > 0) all[path[i]] = t.total[i]; }} return all; }})({graph})")

    def test_what_java_threads_begin_with_is_a_box_for_each_pool(self):
        start = "Shop_[#];clone3_[v];run_[v];call_stub_[s];"
        lines = [(start + "a/Main.run_[j];a/Main.f_[j]", "exec-1", 4),
                 (start + "a/Main.run_[1];a/Main.f_[j]", "exec-2", 3),
                 (start + "a/Main.run_[j];call_stub_[s];a/Main.g_[j]", "http-1", 2),
                 ("Shop_[#];clone3_[v];run_[v];WorkerThread::loop_[v]", "GC Thread#0", 1)]
        self.browser.open(make_page(self.directory.name, "pools", "".join(
            f"{at}\t1\t{at}\t{thread}\tShop\t\t{stack} {count}\n"
            for at, (stack, thread, count) in enumerate(lines, 1)), "times"))
        ended = {"Shop;clone3": 1, "Shop;clone3;run": 1, "Shop;clone3;run;WorkerThread::loop": 1}
        pools = {"Shop": 10, **ended,
                 "Shop;exec-*": 7, "Shop;exec-*;a/Main.run": 7, "Shop;exec-*;a/Main.run;a/Main.f": 7,
                 "Shop;http-*": 2, "Shop;http-*;a/Main.run": 2,
                 "Shop;http-*;a/Main.run;call_stub": 2, "Shop;http-*;a/Main.run;call_stub;a/Main.g": 2}
        self.assertEqual(self.tree_of(), pools)
        self.shoot("pools")
        # Frames that are not shown are found all the same.
        self.search("^clone3")
        self.assertRegex(self.text("#matched"), "^100.00% of samples")
        self.search("")
        self.press("[data-flag=starts]")
        called = "Shop;clone3;run;call_stub"
        self.assertEqual(self.tree_of(), {
            "Shop": 10, "Shop;clone3": 10, "Shop;clone3;run": 10,
            "Shop;clone3;run;WorkerThread::loop": 1, called: 9, called + ";a/Main.run": 9,
            called + ";a/Main.run;a/Main.f": 7, called + ";a/Main.run;call_stub": 2,
            called + ";a/Main.run;call_stub;a/Main.g": 2})
        self.assertEqual(self.browser.run("location.hash"), "#starts=1")
        # With what else is folded, and by a filter.
        self.press("[data-flag=starts]")
        self.press("[data-flag=recursion]")
        self.assertEqual(self.tree_of(), pools)
        self.press("[data-flag=split]")
        self.assertEqual(sorted(self.browser.run(
            "(t => [...t.key.keys()].filter(i => i < t.count && t.keys[t.key[i]].name === 'a/Main.run')"
            ".map(i => t.total[i]))(app.tree)")), [2, 3, 4])
        self.browser.run("go({recursion: false, starts: true})")
        self.assertEqual(self.tree_of()["Shop;clone3"], 10)
        self.browser.run("go({split: false, starts: false, javaOnly: true})")
        self.assertEqual(self.tree_of(), {
            "Shop": 10, "Shop;[GC]": 1, "Shop;exec-*": 7, "Shop;exec-*;a/Main.run": 7,
            "Shop;exec-*;a/Main.run;a/Main.f": 7, "Shop;http-*": 2, "Shop;http-*;a/Main.run": 2,
            "Shop;http-*;a/Main.run;a/Main.g": 2})
        self.choose("pool", "http-*")
        self.assertEqual(self.total(), 2)
        # None where no thread begins so.
        self.browser.open(self.page)
        self.assertFalse(self.browser.run("!!document.querySelector('[data-flag=starts]')"))

    def test_framework_runs_are_one_frame(self):
        self.press("[data-flag=frameworks]")
        names = self.browser.run("[...new Set(Array.from(app.tree.key.slice(0, app.tree.count),"
                                 "k => app.tree.keys[k].name))]")
        self.assertIn("[Spring: 7 frames]", names)
        self.assertFalse(any(name.startswith("org/springframework") for name in names))
        self.assertEqual(self.total(), 2000)
        self.shoot("times-frameworks")

    def test_arrow_keys_walk_and_are_told(self):
        self.browser.run("app.graph.host.focus()")
        self.browser.key("ArrowUp")
        self.browser.key("ArrowUp")
        name = self.browser.run("app.graph.tree.keys[app.graph.tree.key[app.graph.picked]].name")
        self.assertIn(name, ("Shop", "Search"))
        self.assertTrue(self.text("#details").startswith(name))
        self.assertEqual(self.browser.run("page.details.getAttribute('aria-live')"), "polite")
        self.browser.key("ArrowRight")
        self.browser.key("ArrowLeft")
        self.browser.key("Enter")
        self.assertEqual(self.browser.run("app.graph.tree.depth[app.graph.zoomed]"), 1)
        self.browser.key("Escape")
        self.assertEqual(self.browser.run("app.graph.zoomed"), 0)

    def pasted(self):
        """What another program would get, by way of a field that takes several lines."""
        self.browser.run("(f => { f.id = 'paste'; document.body.append(f); f.focus(); })"
                         "(document.createElement('textarea'))")
        self.browser.key("v", commands=["paste"])
        return self.browser.run("(f => { f.remove(); return f.value; })"
                                "(document.getElementById('paste'))")

    def test_copies_name_stack_and_folded(self):
        x, y = self.place_of("Shop")
        self.browser.click(x, y)
        self.press("#copy-name")
        self.assertEqual(self.pasted(), "Shop")
        self.press("#copy-stack")
        self.assertEqual(self.pasted(), "Shop")
        self.browser.run("go({zoom: ''}); app.graph.host.focus()")
        for _ in range(3):
            self.browser.key("ArrowUp")
        self.press("#copy-name")
        self.assertRegex(self.pasted(), r"^org/spring.*F0\.doFilter$")
        self.press("#copy-stack")
        self.assertRegex(self.pasted(), r"^(Shop|Search)\norg/spring.*F0.doFilter$")
        self.press("[data-flag=split]")
        self.press("#copy-folded")
        wanted = {}
        for sample in self.samples:
            wanted[";".join(sample[6])] = wanted.get(";".join(sample[6]), 0) + sample[7]
        got = dict(line.rsplit(" ", 1) for line in self.pasted().splitlines())
        self.assertEqual({stack: int(count) for stack, count in got.items()}, wanted)

    def test_view_is_saved_as_svg_and_png(self):
        name, svg = self.browser.downloaded("document.getElementById('save-svg').click()")
        svg = svg.decode()
        self.assertEqual(name, "flamegraph.svg")
        self.assertTrue(svg.startswith("<svg"))
        self.assertNotIn("<img", svg)
        titles = [title.text for title in xml.etree.ElementTree.fromstring(svg).iter(SVG + "title")]
        shop = sum(s[7] for s in self.samples if s[1] == 100)
        self.assertIn(f"Shop ({shop:,} samples, {shown_share(shop, 2000)}, {shop / 99:.2f} s, "
                      f"{shop / 990:.2f} cores)", titles)
        self.assertTrue(any(title.startswith(HOSTILE) for title in titles))
        name, png = self.browser.downloaded("document.getElementById('save-png').click()")
        self.assertEqual((name, png[:8]), ("flamegraph.png", b"\x89PNG\r\n\x1a\n"))

    def test_theme_follows_the_system_and_the_switch(self):
        # Of the page, and of the canvas above the graph.
        paper = ("getComputedStyle(document.body).backgroundColor + ' ' +"
                 f"{PIXELS}(app.graph.canvas, 9, 9).slice(0, 3).join(', ')")
        self.browser.resize(2560, 1300)
        self.browser.frames()
        light = self.browser.run(paper)
        self.assertEqual(light, "rgb(255, 255, 255) 255, 255, 255")
        self.browser.resize(2560, 1300, dark=True)
        self.browser.frames()
        self.shoot("times-2560-dark")
        dark = self.browser.run(paper)
        self.assertNotEqual(light, dark)
        self.assertEqual(*(re.findall(r"[0-9]+", dark)[part] for part in (slice(3), slice(3, 6))))
        self.press("#theme")
        self.assertEqual(self.browser.run(paper), light)
        self.browser.resize(2560, 1300)
        self.browser.frames()
        self.assertEqual(self.browser.run(paper), light)
        self.press("#theme")
        self.assertEqual(self.browser.run(paper), dark)

    def test_paper_has_the_whole_graph(self):
        self.browser.run("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.browser.run("document.querySelector('.printed').height"),
                         self.browser.run("app.graph.levels.length * ROW"))
        rows = self.browser.run(
            f"(c => app.graph.levels.map((_, row) => {PIXELS}(c, 0, row * ROW + 1, c.width)"
            ".some(part => part < 255)))(document.querySelector('.printed'))")
        self.assertTrue(all(rows), rows)
        self.browser.run("dispatchEvent(new Event('afterprint'))")
        self.assertIsNone(self.browser.run("document.querySelector('.printed')"))

    def test_a_finger_zooms(self):
        x, y = self.place_of("Shop")
        self.browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
        self.browser.call("Input.dispatchTouchEvent", type="touchStart",
                          touchPoints=[{"x": x, "y": y}])
        self.browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.browser.run("new Promise(d => setTimeout(d, 200))")
        self.browser.call("Emulation.setTouchEmulationEnabled", enabled=False)
        self.assertEqual(self.browser.run("app.graph.tree.depth[app.graph.zoomed]"), 1)


class OtherPages(unittest.TestCase):
    """What a page of other data shows."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="fg-page-")
        self.addCleanup(self.directory.cleanup)
        self.browser = Browser().__enter__()
        self.addCleanup(self.browser.__exit__)

    def test_folded_stacks_have_neither_time_nor_threads(self):
        page = make_page(self.directory.name, "folded", "a;b_[j] 3\na;c 1\n")
        self.browser.open(page)
        self.assertEqual(self.browser.run("[app.strip, document.querySelectorAll('.filters select')"
                                          ".length, app.tree.total[0]]"), [None, 0, 4])
        self.assertEqual(self.browser.complaints(), [])

    def test_comparison_marks_what_is_new_gone_and_changed(self):
        page = make_page(self.directory.name, "compare",
                         "all;stays 100 100\nall;gone 50 0\nall;new 0 200\nall;more 50 100\n",
                         "compare")
        self.browser.open(page)
        marks = ("(() => { const r = {}, g = app.graph; for (const l of g.levels)"
                 "for (const i of l.nodes) r[g.tree.keys[g.tree.key[i]].name] = g.letterOf(i);"
                 "return r; })()")
        # 200 before and 400 after: normalised, 100 of 200 is as much as 200 of 400.
        seen = self.browser.run(marks)
        self.assertEqual((seen["stays"], seen["new"], seen["more"], seen.get("gone")),
                         ("\u2212", "N", "=", None))
        details = "document.querySelector('#details').textContent"
        self.assertRegex(self.browser.run(details), "^Most changed: new, self [+]50.00% \u2013 all ")
        self.assertEqual(self.browser.run("app.graph.tree.keys[app.graph.tree.key[app.graph.hot]].name"), "new")
        self.browser.run("go({widths: 'union'})")
        self.assertEqual(self.browser.run(marks)["gone"], "X")
        self.browser.run("go({normalise: false})")
        self.assertEqual(self.browser.run(marks)["stays"], "=")
        if SHOTS:
            self.browser.frames()
            self.browser.screenshot(pathlib.Path(SHOTS) / "compare.png")
        self.browser.run("go({tab: 'changes'})")
        rows = self.browser.run("[...document.querySelectorAll('section:not([hidden]) tbody tr')]"
                                ".map(r => r.textContent)")
        self.assertIn("new: new", rows[0] + rows[1])
        self.assertTrue(any("gone: gone" in row for row in rows))
        if SHOTS:
            self.browser.frames()
            self.browser.screenshot(pathlib.Path(SHOTS) / "changes.png")
        self.assertEqual(self.browser.complaints(), [])

    def test_file_that_was_cut_short_says_so(self):
        page = make_page(self.directory.name, "cut", "a;b 3\n")
        text = page.read_text()
        at = text.index("</script>")
        page.write_text(text[:at - 12] + text[at:])
        self.browser.call("Page.navigate", url=page.as_uri())
        # What the script says, not the script itself.
        said = self.browser.wait_for("(document.querySelector('.failed') || {}).innerText")
        self.assertRegex(said, "cannot be shown: .*cut short")


if __name__ == "__main__":
    unittest.main()
