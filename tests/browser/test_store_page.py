# SPDX-License-Identifier: Apache-2.0
"""The page over the store in Chromium, before a server that answers what each test makes up.

usage: test_store_page.py FOLD_TO_HTML [unittest's arguments]
"""

import tempfile
import unittest
import urllib.parse

from chromium import Browser
from page_case import PIXELS, PageCase, make_page, make_samples, text_of_samples
from store_server import HOSTILE, StoreServer, process

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
NOW = 1_795_700_000_000 // HOUR * HOUR
SPELL = (NOW - 3 * HOUR, NOW - 3 * HOUR + 4 * MINUTE)       # api-1 is busy then
READY = "document.body.dataset.ready === '1'"
QUIET = ("!document.querySelector('.asking') && !document.querySelector('iframe.coming') &&"
         "!page.graphSaid.textContent.startsWith('Reading')")
MAP = "page.heats[0].map"


def processes():
    return [
        process("k1", 101, "org.example.Shop", pod="api-7d9f8c6b5-aaaaa", namespace="shop",
                labels={"version": "1.1", "image": "registry.example/shop/api:1.1"},
                first_ms=NOW - 2 * DAY, last_ms=NOW, is_live=True),
        process("k2", 102, "org.example.Shop", pod="api-7d9f8c6b5-bbbbb", namespace="shop",
                labels={"version": "1.2", "image": "registry.example/shop/api:1.2"},
                first_ms=NOW - 20 * HOUR, last_ms=NOW - HOUR,
                kinds=[{"name": "cpu", "unit": "samples", "samples": 5000, "unnamed": 500, "unrooted": 0},
                       {"name": "alloc", "unit": "bytes", "samples": 1 << 30, "unnamed": 0, "unrooted": 0}]),
        process("k3", 103, HOSTILE, container="0123456789abcdef", container_name="batch",
                labels={"team": "</script><b>x</b>"}, first_ms=NOW - 5 * HOUR, last_ms=NOW, is_live=True),
    ]


def density(row, ms):
    """Of 19 Hz; k3 is idle in its second hour."""
    if not row["first_ms"] <= ms < row["last_ms"]:
        return None
    if row["key"] == "k1" and SPELL[0] <= ms < SPELL[1]:
        return 190
    return 0 if row["key"] == "k3" and ms >= NOW - 4 * HOUR and ms < NOW - 3 * HOUR else 19


class StorePage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="fg-store-page-")
        cls.graph = make_page(cls.directory.name, "graph", text_of_samples(make_samples()), "times").read_bytes()
        compared = "".join(f"main_[j];{name}_[j] {before} {after}\n" for name, before, after in
                           (("serve", 500, 500), ("checkAll", 3, 900), ("render", 200, 190)))
        cls.diff = make_page(cls.directory.name, "diff", compared, "compare").read_bytes()
        cls.server = StoreServer(processes(), density, lambda path, query, meant: cls.diff if path.endswith("diff")
                                 else cls.graph)
        cls.browser = Browser(server=cls.server.url)
        cls.browser.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.server.shutdown()
        cls.directory.cleanup()

    def setUp(self):
        server = self.server
        server.processes, server.now_ms, server.finest_ms, server.window_ms = processes(), NOW, 15.625, 10000
        server.busy, server.errors, server.delays = {}, {}, {}
        self.expected = ()          # beginnings of complaints that the test causes
        self.browser.events.clear()
        self.browser.resize(1366, 768)

    def tearDown(self):
        found = [text for text in self.browser.complaints() if not str(text).startswith(tuple(self.expected) or "\0")]
        self.assertEqual(found, [])

    # helpers

    def open(self, fragment=""):
        self.server.asked.clear()
        self.browser.open_url(f"{self.server.url}/{fragment}", READY)
        self.quiet()

    def open_heat(self, **state):
        state = {"view": "heat", "utc": 1, "shown-from": NOW - DAY, "shown-to": NOW, **state}
        self.open("#" + urllib.parse.urlencode(state, doseq=True))

    def run_js(self, script):
        return self.browser.run(script)

    def quiet(self):
        self.browser.wait_for(QUIET)
        self.browser.frames()

    press, text, middle_of, open_menu_of = (PageCase.press, PageCase.text, PageCase.middle_of,
                                            PageCase.open_menu_of)

    def click(self, selector):
        self.press(selector)
        self.quiet()

    def key(self, name, **more):
        self.browser.key(name, **more)
        self.quiet()

    def state(self, name):
        return self.run_js(f"app.state.{name}")

    def address(self):
        return urllib.parse.parse_qs(urllib.parse.urlsplit(self.run_js("location.href")).fragment)

    def write(self, selector, text):
        self.run_js(f"(f => {{ f.focus(); f.select(); }})(document.querySelector({selector!r}))")
        self.browser.type(text)
        self.run_js("document.activeElement.blur()")
        self.quiet()

    def place(self, cell, heat=MAP):
        return self.run_js(f"(m => {{ const o = m.over.getBoundingClientRect(), b = m.boxOf({cell});"
                           "return [o.x + b.x + b.w / 2, o.y + b.y + b.h / 2]; })(" + heat + ")")

    def cell_of(self, ms, heat=MAP):
        return self.run_js(f"Math.floor(({ms} - {heat}.grid.from) / {heat}.grid.cellMs)")

    def drag(self, start, end, heat=MAP, **more):
        """Over the cells that have these times, both included."""
        first, last = (self.place(self.cell_of(ms, heat), heat) for ms in (start, end))
        self.browser.mouse("mouseMoved", *first, **more)
        self.browser.mouse("mousePressed", *first, **more)
        self.browser.mouse("mouseMoved", *last, **more)
        self.browser.mouse("mouseReleased", *last, **more)
        self.browser.frames()
        self.quiet()

    def colour(self, cell, heat=MAP):
        return self.run_js(f"(m => {{ const b = m.boxOf({cell});"
                           f"return {PIXELS}(m.cells, b.x + b.w / 2, b.y + b.h / 2); }})({heat})")

    def choose(self, selector, value):
        self.run_js(f"(f => {{ f.value = {value!r}; f.dispatchEvent(new Event('change')); }})"
                    f"(document.querySelector({selector!r}))")
        self.quiet()

    def rows(self):
        return self.run_js("[...document.querySelectorAll('.processes tbody tr')].map(row => row.innerText)")

    def inner(self, script):
        """In the page of the graph."""
        return self.browser.run_in_frame(script)

    # the list

    def test_live_and_past_processes_are_listed_with_their_labels_and_quality(self):
        self.open()
        rows = self.rows()
        self.assertEqual(len(rows), 3)
        self.assertIn("5,000", rows[0])
        self.assertIn("shop/api-7d9f8c6b5-bbbbb", rows[0])
        self.assertIn("90.0%", rows[0])
        self.assertEqual(["live" in row for row in rows], [False, True, True])
        self.assertIn(HOSTILE, self.text(".processes"))
        self.assertIn("team=</script><b>x</b>", self.text(".processes"))
        self.assertEqual(self.text(".processes caption"), "3 processes, 2 live")
        made_of_names = "document.querySelectorAll('.processes img, .processes td b:not(.live)').length"
        self.assertEqual(self.run_js(made_of_names), 0)

    def test_words_are_looked_for_here_and_selectors_at_the_server(self):
        self.open()
        self.write("#where", "example version=1.1")
        self.browser.wait_for("document.querySelectorAll('.processes tbody tr').length === 1")
        self.assertIn("101", self.rows()[0])
        self.assertEqual(self.server.asked_for("/api/v1/processes")[-1]["label"], ["version=1.1"])
        self.write("#where", "nonsense")
        self.browser.wait_for("page.listSaid.textContent.includes('No process of these 3')")

    def test_what_the_server_says_of_a_selector_is_shown(self):
        self.open()
        self.expected = ["Failed to load resource"]
        self.server.errors["/api/v1/processes"] = (400, "jvm: '(' is no expression: close the bracket")
        self.write("#where", "jvm=(")
        self.browser.wait_for("page.listSaid.textContent.includes('close the bracket')")
        self.server.errors.clear()
        self.write("#where", "jvm=x")
        self.browser.wait_for("page.listSaid.hidden")

    def test_columns_sort_and_sort_back(self):
        self.open()
        self.click("[data-sort=pid]")
        self.assertEqual([row.split("\t")[-6] for row in self.rows()], ["101", "102", "103"])
        self.click("[data-sort=pid]")
        self.assertEqual([row.split("\t")[-6] for row in self.rows()], ["103", "102", "101"])
        self.assertEqual(self.address()["sort"], ["pid"])

    def test_a_pod_is_a_way_to_its_deployment(self):
        self.open()
        self.run_js("[...document.querySelectorAll('.processes .link')]"
                    ".find(b => b.textContent.startsWith('shop/api')).click()")
        self.browser.wait_for("document.querySelectorAll('.processes tbody tr').length === 2")
        self.assertEqual(self.state("where"), "pod=shop/api-")
        self.click("#open")
        self.assertEqual(self.server.asked_for("/api/v1/heat")[-1]["pod"], ["shop/api-"])

    def test_an_image_is_a_way_to_all_that_run_it(self):
        self.open()
        self.write("#where", "shop/API:1")
        self.browser.wait_for("document.querySelectorAll('.processes tbody tr').length === 2")
        self.run_js("[...document.querySelectorAll('.processes .link')]"
                    ".find(b => b.textContent === 'image=registry.example/shop/api:1.1').click()")
        self.browser.wait_for("document.querySelectorAll('.processes tbody tr').length === 1")
        self.assertEqual(self.server.asked_for("/api/v1/processes")[-1]["label"],
                         ["image=registry.example/shop/api:1.1"])

    def test_several_can_be_chosen_together(self):
        self.open()
        for key in ("k1", "k3"):
            self.click(f"[data-key={key}]")
        self.click("[data-view=heat]")
        self.assertEqual(self.server.asked_for("/api/v1/heat")[-1]["process"], ["k1", "k3"])
        self.assertEqual(self.address()["process"], ["k1", "k3"])
        self.click("#forget")
        self.assertNotIn("process", self.server.asked_for("/api/v1/heat")[-1])

    # the heat map

    def test_a_day_is_tens_of_minutes_and_two_minutes_are_twentieths_of_a_second(self):
        for length, column, cell in ((2 * DAY, HOUR, MINUTE), (DAY, 10 * MINUTE, 10_000), (HOUR, MINUTE, 1000),
                                     (2 * MINUTE, 1000, 50)):
            self.open_heat(**{"shown-from": NOW - length})
            self.assertEqual(self.run_js(f"[{MAP}.grid.columnMs, {MAP}.grid.cellMs]"), [column, cell])
            self.assertEqual(self.run_js(f"{MAP}.answer.cells.length"), self.run_js(f"{MAP}.all"))

    def test_cells_are_no_finer_than_the_data(self):
        self.server.finest_ms = 250
        self.open_heat(**{"shown-from": NOW - 2 * MINUTE})
        self.assertEqual(self.run_js(f"{MAP}.grid.cellMs"), 250)
        self.assertEqual(self.server.asked_for("/api/v1/heat")[-1]["rows"], ["4"])

    def test_what_is_odd_is_dark_and_idle_is_told_from_not_recorded(self):
        self.open_heat(process="k1")
        usual, odd = (self.colour(self.cell_of(ms)) for ms in (SPELL[0] - HOUR, SPELL[0] + MINUTE))
        self.assertLess(sum(odd[:3]), sum(usual[:3]) - 100)
        self.open_heat(process="k3")
        busy, idle, none = (self.colour(self.cell_of(ms)) for ms in
                            (NOW - HOUR, NOW - 3.5 * HOUR, NOW - 10 * HOUR))
        self.assertEqual(len({tuple(busy), tuple(idle), tuple(none)}), 3)
        self.browser.mouse("mouseMoved", *self.place(self.cell_of(NOW - 3.5 * HOUR)))
        self.browser.wait_for("page.details.textContent.endsWith(': idle')")
        self.browser.mouse("mouseMoved", *self.place(self.cell_of(NOW - 10 * HOUR)))
        self.browser.wait_for("page.details.textContent.endsWith(': nothing was recorded')")

    def test_the_legend_says_each_amount_once(self):
        self.open_heat(process="k3")    # 19 Hz, or idle
        amounts = [text for text in self.run_js("page.heats[0].map.legend().map(of => of.textContent)")
                   if "sample" in text]
        self.assertEqual(amounts, ["190 samples in 10 s"])
        for low, high, count in ((19, 20, 2), (100, 300, 3), (190, 190, 1)):
            texts = self.run_js("(map => { map.scale = { low: %d, high: %d }; return map.legend().map(of => "
                                "of.textContent); })(page.heats[0].map)" % (low, high))
            amounts = [text.split(" in ")[0] for text in texts if "sample" in text]
            self.assertEqual(len(amounts), count, texts)
            self.assertEqual(len(set(amounts)), count, texts)
            self.assertEqual(amounts[-1], f"{high} samples")

    def test_dragging_chooses_the_range_of_the_cells(self):
        self.open_heat(process="k1")
        self.drag(SPELL[0], SPELL[1] - 1)
        asked = self.server.asked_for("/api/v1/graph")[-1]
        self.assertEqual((asked["from"], asked["to"]), ([str(SPELL[0])], [str(SPELL[1])]))
        self.assertEqual((asked["process"], asked["kind"], asked["format"]), (["k1"], ["cpu"], ["html"]))
        self.assertEqual(self.inner("app.tree.total[0]"), 2000)
        self.drag(SPELL[1] - 1, SPELL[0])
        self.assertEqual(self.state("from"), SPELL[0])

    def test_the_mouse_asks_nothing(self):
        self.open_heat()
        before = len(self.server.asked)
        for i in range(40):
            self.browser.mouse("mouseMoved", 200 + 20 * i, 150 + i)
        self.browser.frames()
        self.assertIn("samples", self.text("#details"))
        self.assertEqual(len(self.server.asked), before)

    def test_zoom_goes_into_the_range_and_out_and_back(self):
        self.open_heat()
        self.drag(SPELL[0], SPELL[1] - 1)
        self.click("#zoom-in")
        self.assertEqual((self.state("shownFrom"), self.state("shownTo")), SPELL)
        self.click("#zoom-out")
        self.assertEqual(self.state("shownTo") - self.state("shownFrom"), 4 * (SPELL[1] - SPELL[0]))
        self.run_js("history.back()")
        self.browser.wait_for(f"app.state.shownFrom === {SPELL[0]}")
        self.run_js("history.back()")
        self.browser.wait_for(f"app.state.shownFrom === {NOW - DAY}")
        self.run_js("history.forward()")
        self.browser.wait_for(f"app.state.shownFrom === {SPELL[0]}")

    def test_keys_move_choose_zoom_and_go_back(self):
        self.open_heat()
        self.run_js(f"{MAP}.over.focus(); {MAP}.cursor = {self.cell_of(SPELL[0])}")
        for _ in range(3):
            self.browser.key("ArrowUp", modifiers=8)
        self.assertIn("(40 s)", self.text("#details"))
        self.key("Enter")
        self.assertEqual((self.state("from"), self.state("to")), (SPELL[0], SPELL[0] + 40_000))
        self.key("+")
        self.assertEqual(self.state("shownFrom"), SPELL[0])
        self.key("-")
        self.assertEqual(self.state("shownTo") - self.state("shownFrom"), 160_000)
        before = self.state("shownFrom")
        self.key("[")
        self.assertEqual(self.state("shownFrom"), before - 80_000)
        self.key("Backspace")
        self.browser.wait_for(f"app.state.shownFrom === {before}")
        self.run_js(f"{MAP}.over.focus()")
        self.key("Escape")
        self.assertEqual(self.state("to"), 0)
        self.key("3")
        self.assertEqual(self.state("view"), "graph")
        self.key("1")
        self.assertEqual(self.state("view"), "jvms")

    # fields

    def test_fields_take_what_the_commands_take(self):
        self.open_heat()
        self.write("[aria-label='Range from']", "2026-11-26T09:10:00Z")
        self.write("[aria-label='Range to']", "09:15")
        self.assertEqual(self.state("to") - self.state("from"), 5 * MINUTE)
        self.write("[aria-label='Shown from']", "-3h")
        self.assertAlmostEqual(self.state("shownFrom"), NOW - 3 * HOUR, delta=30_000)

    def test_what_is_no_time_is_said_and_changes_nothing(self):
        self.open_heat()
        before = self.run_js("location.hash")
        self.write("[aria-label='Shown from']", "yesterday")
        self.assertIn("yesterday is not a time", self.text(".said"))
        self.assertEqual(self.run_js("page.bar.shown.from.getAttribute('aria-invalid')"), "true")
        self.write("[aria-label='Shown from']", "2026-11-26")
        self.write("[aria-label='Shown to']", "2020-01-01")
        self.assertIn("is not after", self.text(".said"))
        self.assertIn("shown-to", before)

    # the graph

    def test_steps_in_the_graph_are_steps_of_the_page_and_of_a_link(self):
        self.open_heat(**{"from": SPELL[0], "to": SPELL[1]})
        self.inner("document.querySelector('#tab-top').click()")
        self.browser.wait_for("app.state.inner === '#tab=top'")
        self.inner("go({ search: 'HashMap' })")
        link = self.run_js("location.hash")
        self.run_js("history.back()")
        self.browser.wait_for("app.state.inner === '#tab=top'")
        self.assertEqual(self.inner("[app.state.tab, app.state.search]"), ["top", ""])
        self.run_js("history.back()")
        self.browser.wait_for("app.state.inner === ''")
        self.assertEqual(self.inner("app.state.tab"), "graph")
        self.run_js("history.forward()")
        self.browser.wait_for("app.state.inner === '#tab=top'")
        self.assertEqual(self.inner("app.state.tab"), "top")
        self.open(link)
        self.assertEqual(self.inner("[app.state.tab, app.state.search]"), ["top", "HashMap"])

    def test_another_range_keeps_the_search_in_the_graph(self):
        self.open_heat(**{"from": SPELL[0], "to": SPELL[1], "inner": "#search=HashMap&from=3&to=90"})
        self.drag(NOW - HOUR, NOW - HOUR + 5 * MINUTE)
        self.assertEqual(self.inner("[app.state.search, app.state.from]"), ["HashMap", 0])

    def test_the_old_graph_stays_until_the_new_one_is_drawn(self):
        self.open_heat(**{"from": SPELL[0], "to": SPELL[1]})
        self.server.delays["/api/v1/graph"] = 0.5
        self.run_js(f"chooseRange({{ from: {SPELL[0]}, to: {SPELL[0] + MINUTE} }}, false)")
        self.assertEqual(self.run_js("document.querySelectorAll('iframe').length"), 2)
        self.assertEqual(self.inner("app.tree.total[0]"), 2000)
        self.quiet()
        self.assertEqual(self.run_js("document.querySelectorAll('iframe').length"), 1)

    def test_who_leaves_while_a_graph_is_made_finds_it_on_coming_back(self):
        self.server.delays["/api/v1/graph"] = 0.5
        self.open_heat(process="k1")
        self.run_js(f"chooseRange({{ from: {SPELL[0]}, to: {SPELL[1]} }}, false)")
        self.click("[data-view=jvms]")
        self.click("[data-view=heat]")
        self.assertEqual(self.inner("app.tree.total[0]"), 2000)
        self.click("[data-view=jvms]")
        self.click("[data-view=graph]")
        self.assertEqual(len(self.server.asked_for("/api/v1/graph")), 2)

    def test_the_graph_is_as_light_or_dark_as_the_page(self):
        self.open_heat(**{"from": SPELL[0], "to": SPELL[1]})
        paper = "getComputedStyle(document.documentElement).getPropertyValue('--paper')"
        for _ in range(3):
            self.click("#theme")
            self.assertEqual(self.inner(paper), self.run_js(paper))

    # comparing

    def test_the_same_range_an_hour_before_is_one_press_away(self):
        self.open_heat(process="k1", **{"from": SPELL[0], "to": SPELL[1]})
        self.click("#compare")
        self.click(f"[data-earlier='{HOUR}']")
        asked = self.server.asked_for("/api/v1/diff")[-1]
        self.assertEqual([asked[name] for name in ("from", "to", "before-from", "before-to")],
                         [[str(SPELL[0])], [str(SPELL[1])], [str(SPELL[0] - HOUR)], [str(SPELL[1] - HOUR)]])
        self.assertNotIn("before-process", asked)
        self.inner("document.querySelector('#tab-changes').click()")
        self.assertIn("checkAll", self.inner("document.querySelector('tbody tr').textContent"))
        self.click("#compare")
        self.assertEqual(self.inner("app.tree.total[0]"), 2000)

    def test_the_side_before_can_be_dragged(self):
        self.open_heat(process="k1", **{"from": SPELL[0], "to": SPELL[1]})
        self.click("#compare")
        self.assertTrue(self.state("dragsBefore"))
        self.drag(SPELL[0] - 2 * HOUR, SPELL[0] - HOUR - 1)
        self.assertEqual((self.state("beforeFrom"), self.state("beforeTo")), (SPELL[0] - 2 * HOUR, SPELL[0] - HOUR))
        self.assertEqual(self.state("from"), SPELL[0])
        self.assertEqual(len(self.server.asked_for("/api/v1/diff")), 1)
        self.drag(SPELL[0] + MINUTE, SPELL[1] - 1)
        self.assertEqual(self.state("from"), SPELL[0] + MINUTE)
        self.drag(NOW - 6 * HOUR, NOW - 5 * HOUR - 1, modifiers=1)
        self.assertEqual(self.state("beforeFrom"), NOW - 6 * HOUR)

    def test_two_pods_are_two_heat_maps_with_one_scale(self):
        self.open("#" + urllib.parse.urlencode({"process": "k1", "compares": 1, "from": SPELL[0], "to": SPELL[1]}))
        self.click("[data-key=k2][aria-label^=Compare]")
        self.click("[data-view=heat]")
        asked = [query["process"] for query in self.server.asked_for("/api/v1/heat")[-2:]]
        self.assertEqual(sorted(asked), [["k1"], ["k2"]])
        self.assertEqual(self.server.asked_for("/api/v1/diff")[-1]["before-process"], ["k2"])
        self.assertEqual(*self.run_js("page.heats.map(heat => JSON.stringify(heat.map.scale))"))
        self.assertIn("PID 102", self.run_js("page.heats[1].name.textContent"))

    def test_two_versions_are_a_choice(self):
        self.open_heat(where="pod=shop/api- version=1.2", **{"from": SPELL[0], "to": SPELL[1], "compares": 1})
        self.write("#before-where", "pod=shop/api- version=1.1")
        asked = self.server.asked_for("/api/v1/diff")[-1]
        self.assertEqual((asked["label"], asked["before-label"], asked["before-pod"]),
                         (["version=1.2"], ["version=1.1"], ["shop/api-"]))
        self.open_heat(where="pod=shop/api-", **{"from": SPELL[0], "to": SPELL[1], "compares": 1})
        self.choose("#versions", "version=1.1")
        self.assertEqual(self.server.asked_for("/api/v1/diff")[-1]["before-label"], ["version=1.1"])

    # live

    def test_live_moves_keeps_the_search_and_can_be_paused(self):
        self.server.window_ms = 1000
        self.open("#process=k1&inner=%23search%3DHashMap")
        self.press("#live")  # what moves each second may never be quiet
        first = self.state("to")
        self.assertEqual(self.run_js("[app.state.to - app.state.from, app.state.view]"), [MINUTE, "heat"])
        self.browser.wait_for(f"app.state.to > {first}")
        self.click("#live")
        self.assertEqual(self.text("#live"), "Live")
        self.quiet()  # no graph comes any more
        self.assertEqual(self.inner("app.state.search"), "HashMap")
        paused = self.state("to")
        self.run_js("new Promise(done => setTimeout(done, 1500))")
        self.assertEqual(self.state("to"), paused)
        self.assertEqual(self.address()["to"], [str(paused)])

    # the network

    def test_an_answer_that_comes_too_late_is_dropped(self):
        self.open_heat()
        self.server.delays["/api/v1/heat"] = 1
        self.run_js(f"showTime({{ from: {NOW - 3 * HOUR}, to: {NOW} }})")
        self.browser.wait_for("Boolean(document.querySelector('.asking'))")
        self.server.delays.clear()
        self.run_js(f"showTime({{ from: {NOW - HOUR}, to: {NOW} }})")
        self.quiet()
        self.run_js("new Promise(done => setTimeout(done, 1300))")
        self.assertEqual(self.run_js(f"[{MAP}.grid.from, {MAP}.answer.from_ms]"), [NOW - HOUR, NOW - HOUR])

    def test_a_busy_server_is_asked_again(self):
        self.expected = ["Failed to load resource"]
        self.open_heat(process="k1")
        self.server.busy = {"/api/v1/graph": 2, "/api/v1/heat": 1}
        self.run_js(f"go({{ from: {SPELL[0]}, to: {SPELL[1]}, shownFrom: {NOW - 2 * HOUR}, shownTo: {NOW} }})")
        self.browser.wait_for("page.graphSaid.textContent.includes('busy')")
        self.browser.wait_for("Boolean(document.querySelector('iframe:not(.coming)'))")
        self.quiet()
        self.assertEqual(self.inner("app.tree.total[0]"), 2000)
        self.assertTrue(self.run_js("page.graphSaid.hidden"))

    def test_errors_are_sentences_and_the_next_range_is_shown(self):
        self.expected = ["Failed to load resource"]
        self.server.errors = {"/api/v1/graph": (500, "the store is of a later version: use a newer fgcollect"),
                              "/api/v1/heat": (500, "the index is damaged")}
        self.open_heat(process="k1", **{"from": SPELL[0], "to": SPELL[1]})
        self.browser.wait_for("page.graphSaid.textContent.includes('use a newer fgcollect')")
        self.browser.wait_for(f"{MAP}.said.textContent === 'the index is damaged'")
        self.server.errors.clear()
        self.click("#again")
        self.browser.wait_for("Boolean(document.querySelector('iframe:not(.coming)'))")
        self.browser.wait_for(f"{MAP}.said.hidden")

    def test_where_there_is_nothing_the_page_says_where_there_is_something(self):
        self.expected = ["Failed to load resource"]
        self.open_heat(process="k2", **{"shown-from": NOW - 40 * DAY, "shown-to": NOW - 39 * DAY,
                                        "from": NOW - 40 * DAY, "to": NOW - 39 * DAY})
        self.browser.wait_for(f"{MAP}.said.textContent.includes('Nothing was recorded from')")
        self.browser.wait_for("page.graphSaid.textContent.includes('no samples from then on')")
        self.click(".graphs .way")
        self.assertGreater(self.run_js(f"{MAP}.answer.total"), 0)
        self.open("#" + urllib.parse.urlencode({"shown-from": NOW - 40 * DAY, "shown-to": NOW - 39 * DAY}))
        self.assertIn("The store has samples from", self.text(".jvms .empty"))
        self.click(".jvms .way")
        self.assertEqual(len(self.rows()), 3)

    def test_a_store_that_cannot_be_read_is_said(self):
        self.expected = ["Failed to load resource"]
        self.server.errors["/api/v1/store"] = (404, "there is no store: start the daemon with --store DIR")
        self.browser.call("Page.navigate", url="about:blank")
        self.browser.call("Page.navigate", url=f"{self.server.url}/")
        self.browser.wait_for("(document.querySelector('.failed') || {}).textContent")
        self.assertIn("start the daemon with --store DIR", self.text(".failed"))

    # kinds, files, links

    def test_kinds_are_those_that_the_processes_have(self):
        self.open_heat(process="k2")
        self.assertEqual(self.run_js("[...page.bar.kind.options].map(o => o.value)"), ["cpu", "alloc"])
        self.choose("#kind", "alloc")
        self.assertEqual(self.server.asked_for("/api/v1/heat")[-1]["kind"], ["alloc"])
        self.click("[data-view=jvms]")
        self.assertIn("1.00 GiB", self.rows()[0])
        self.open_heat(process="k1")
        self.assertEqual(self.run_js("[...page.bar.kind.options].map(o => o.value)"), ["cpu"])

    def test_each_format_can_be_saved(self):
        self.open_heat(process="k1", **{"from": SPELL[0], "to": SPELL[1]})
        formats = self.run_js("GRAPH_FORMATS.map(([name]) => name)")
        self.assertEqual(len(formats), 8)
        for name in formats:
            saved, content = self.browser.downloaded(f"document.querySelector('[data-format=\"{name}\"]').click()")
            self.assertEqual(self.server.asked_for("/api/v1/graph")[-1]["format"], [name])
            if name != "html":
                self.assertEqual((saved, content), (f"shop.{name}", b"a file"))

    def test_a_file_that_cannot_be_had_is_said(self):
        self.open_heat(process="k1", **{"from": SPELL[0], "to": SPELL[1]})
        self.expected = ["Failed to load resource"]
        self.server.errors["/api/v1/graph"] = (500, "the segments are damaged")
        self.run_js("document.querySelector('[data-format=svg]').click()")
        self.browser.wait_for("page.live.textContent === 'the segments are damaged'")

    def test_a_link_shows_the_same_to_somebody_else(self):
        self.open_heat(process=["k1", "k2"], kind="cpu", **{"from": SPELL[0], "to": SPELL[1], "compares": 1})
        self.click(f"[data-earlier='{24 * HOUR}']")
        self.click("#copy-link")
        link, asked = self.run_js("app.copied"), sorted(set(self.server.asked[-2:]))
        self.server.now_ms += 5 * HOUR
        self.open("#" + urllib.parse.urlsplit(link).fragment)
        self.assertEqual(self.run_js("location.href"), link)
        self.assertIn(self.server.asked_for("/api/v1/diff")[-1]["before-from"], [[str(SPELL[0] - 24 * HOUR)]])
        self.assertTrue(set(url for url in asked if "/diff" in url) <= set(self.server.asked))

    def test_wrong_addresses_show_the_list(self):
        for fragment in ("#view=nonsense", "#from=x&to=9", "#%E0%A4%A", "#shown-from=5&shown-to=1"):
            self.open(fragment)
            self.assertEqual(len(self.rows()), 3, fragment)

    def test_every_control_has_a_name(self):
        self.open_heat(process="k1", **{"from": SPELL[0], "to": SPELL[1], "compares": 1})
        for view in ("jvms", "heat", "graph"):
            self.click(f"[data-view={view}]")
            controls = "button, input, select, canvas[tabindex], iframe, summary"
            nameless = self.run_js(f"[...document.querySelectorAll('{controls}')]"
                                   ".filter(e => !(e.getAttribute('aria-label') || e.title || e.textContent.trim()))"
                                   ".map(e => e.outerHTML)")
            self.assertEqual(nameless, [])


if __name__ == "__main__":
    unittest.main()
