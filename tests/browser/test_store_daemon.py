# SPDX-License-Identifier: Apache-2.0
"""The page over the store in Chromium, before a real daemon with JVMs, one of which is slow for a while.

usage: test_store_daemon.py [unittest's arguments]; exit 77 if there is no right or no JDK for it
"""

import gzip
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from chromium import Browser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from harness import collector, processes, settings  # noqa: E402  the path comes first

SHOTS = os.environ.get("FG_SCREENSHOTS")        # a directory: the page is pictured there
READY = "document.body.dataset.ready === '1'"
QUIET = ("!document.querySelector('.asking') && !document.querySelector('iframe.coming') &&"
         "!page.graphSaid.textContent.startsWith('Reading')")
MAP = "page.heats[0].map"
HZ, USUAL_SEC, SLOW_SEC = 99, 7, 8
SLOW_SHARE = 0.8        # of the slow spell's samples: 16 ms of 20


class StoreDaemon(unittest.TestCase):
    """One daemon and two JVMs for all tests. shop is slow from cls.slow[0] to cls.slow[1]."""

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("a daemon that samples everybody is root's")
        cls.java = settings.jdk_home(17)
        if not cls.java:
            raise unittest.SkipTest("no JDK 17 on this machine: set FG_JDK17 to its home")
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="fg-store-daemon.", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        cls.directory.chmod(0o755)
        cls.place = collector.Place(cls.directory)
        cls.daemon = collector.Watch(cls.place, "--store", cls.directory / "store", "--store-window", "1s", "-F", HZ,
                                     "--http", "0")
        cls.addClassCleanup(cls.daemon.stop)
        cls.daemon.started()
        cls.url = re.search(r"http://127\.0\.0\.1:\d+", cls.daemon.text)[0]
        cls.shop, cls.other = (cls.start_jvm(version) for version in ("1.2", "1.1"))
        cls.be_slow_for_a_while()
        cls.browser = Browser(server=cls.url)
        cls.browser.__enter__()
        cls.addClassCleanup(cls.browser.__exit__)

    @classmethod
    def start_jvm(cls, version):
        directory = cls.directory / f"tmp-{version}"
        directory.mkdir()
        jvm = processes.Background(
            [cls.java / "bin" / "java", "-Xmx64m", f"-agentpath:{settings.AGENT}=socket={cls.place.socket},"
             f"label=version:{version}", f"-Djava.io.tmpdir={directory}", "-cp", settings.CLASSES, "SlowSpell"],
            cls.directory / f"java-{version}.log", env={"POD_NAME": f"shop-7d9f8c6b5-{version.replace('.', '')}abc",
                                                        "POD_NAMESPACE": "web"})
        cls.addClassCleanup(jvm.stop)
        processes.wait_until(lambda: "ready" in jvm.text, "the JVM runs")
        return jvm

    @classmethod
    def be_slow_for_a_while(cls):
        slow = cls.directory / "tmp-1.2" / "slow"
        time.sleep(USUAL_SEC)
        slow.touch()
        time.sleep(SLOW_SEC)
        slow.unlink()
        processes.wait_until(lambda: "slow to" in cls.shop.text, "the spell is over")
        ready, *slow = ([int(number) for number in re.search(rf"{word} (\d+) (\d+)\n", cls.shop.text).groups()]
                        for word in ("ready", "slow from", "slow to"))
        cls.slow = [ms for ms, _ in slow]
        cls.busy_usual, cls.busy_slow = ((cpu_1 - cpu_0) / 1e6 / (ms_1 - ms_0) for (ms_0, cpu_0), (ms_1, cpu_1) in
                                         ((ready, slow[0]), slow))
        end = cls.slow[1] + 3000
        processes.wait_until(lambda: cls.ask("store")["last_ms"] >= end, "what was after it is stored, too")

    @classmethod
    def ask(cls, what):
        with urllib.request.urlopen(f"{cls.url}/api/v1/{what}", timeout=30) as answer:
            return json.load(answer)

    def setUp(self):
        self.expected = ()
        self.browser.events.clear()
        self.browser.resize(1366, 768)

    def tearDown(self):
        found = [text for text in self.browser.complaints() if not str(text).startswith(tuple(self.expected) or "\0")]
        self.assertEqual(found, [])

    # helpers

    def open(self, **state):
        self.open_link("#" + urllib.parse.urlencode({"utc": 1, **state}, doseq=True))

    def open_link(self, fragment):
        self.browser.open_url(f"{self.url}/{fragment}", READY)
        self.quiet()

    def open_spell(self, **state):
        """The heat map of shop, some seconds before the spell and after."""
        row = next(row for row in self.ask("processes")["processes"] if row["pid"] == self.shop.pid)
        self.open(process=row["key"], view="heat", **{"shown-from": self.slow[0] - 5000,
                                                      "shown-to": self.slow[1] + 3000}, **state)

    def quiet(self):
        self.browser.wait_for(QUIET)
        self.browser.frames()

    def run_js(self, script):
        return self.browser.run(script)

    def text(self, selector):
        return self.run_js(f"document.querySelector({selector!r}).innerText")

    def click(self, selector):
        box = self.run_js(f"(b => [b.x + b.width / 2, b.y + b.height / 2])"
                          f"(document.querySelector({selector!r}).getBoundingClientRect())")
        self.browser.click(*box)
        self.quiet()

    def place_of(self, ms):
        return self.run_js(f"(m => {{ const o = m.over.getBoundingClientRect();"
                           f"const b = m.boxOf(Math.floor(({ms} - m.grid.from) / m.grid.cellMs));"
                           f"return [o.x + b.x + b.w / 2, o.y + b.y + b.h / 2]; }})({MAP})")

    def drag(self, start, end):
        first, last = self.place_of(start), self.place_of(end)
        self.browser.mouse("mouseMoved", *first)
        self.browser.mouse("mousePressed", *first)
        self.browser.mouse("mouseMoved", *last)
        self.browser.mouse("mouseReleased", *last)
        self.browser.frames()
        self.quiet()

    def write(self, selector, text):
        self.run_js(f"(f => {{ f.focus(); f.select(); }})(document.querySelector({selector!r}))")
        self.browser.type(text)
        self.run_js("document.activeElement.blur()")
        self.quiet()

    def inner(self, script):
        return self.browser.run_in_frame(script)

    def share_in_graph(self, name):
        return self.inner("(() => { const t = app.tree; let sum = 0;"
                          f"for (let i = 1; i < t.count; i++) if (t.keys[t.key[i]].name.includes({name!r}) &&"
                          f"!t.keys[t.key[t.parent[i]]].name.includes({name!r})) sum += t.total[i];"
                          "return sum / t.total[0]; })()")

    def samples_between(self, start, end):
        """A second, of the cells that lie in that time."""
        cells = self.run_js(f"{MAP}.answer.cells")
        grid = self.run_js(f"({{ from: {MAP}.grid.from, cellMs: {MAP}.grid.cellMs }})")
        inside = [n or 0 for i, n in enumerate(cells) if grid["from"] + i * grid["cellMs"] >= start and
                  grid["from"] + (i + 1) * grid["cellMs"] <= end]
        self.assertGreater(len(inside), 2)
        return sum(inside) / (len(inside) * grid["cellMs"] / 1000)

    def assert_reason_is_named(self):
        """One of the two greatest changes: what is new takes its share from what there was."""
        rows = self.inner("[...document.querySelectorAll('tbody tr')].slice(0, 2).map(row => row.innerText)")
        self.assertTrue(any("SlowSpell.checkAllPrices" in row for row in rows), rows)

    def shoot(self, name):
        if SHOTS:
            self.browser.frames()
            self.browser.screenshot(pathlib.Path(SHOTS) / f"{name}.png")

    # what is slow

    def test_a_slow_spell_is_dark_and_its_difference_names_the_reason(self):
        start, end = self.slow
        self.open_spell()
        slow, usual = self.samples_between(start + 500, end - 500), self.samples_between(start - 4500, start - 500)
        self.assertAlmostEqual(slow / HZ, self.busy_slow, delta=0.25 * self.busy_slow + 0.03)
        self.assertAlmostEqual(usual / HZ, self.busy_usual, delta=0.4 * self.busy_usual + 0.03)
        self.drag(start + 250, end - 250)
        self.assertLess(abs(self.run_js("app.state.from") - start), 600)
        self.assertAlmostEqual(self.share_in_graph("checkAllPrices"), SLOW_SHARE, delta=0.15)
        self.click("#compare")
        self.drag(start - 4500, start - 500)
        self.inner("document.querySelector('#tab-changes').click()")
        self.assert_reason_is_named()
        self.shoot("spell")
        link = self.run_js("'#' + location.hash.slice(1)")
        self.open_link(link)
        self.assert_reason_is_named()

    def test_another_version_does_not_do_that(self):
        start, end = self.slow
        self.open(view="graph", where="pod=web/shop- version=1.2", compares=1, **{"from": start, "to": end,
                                                                                  "before-where": "version=1.1"})
        self.inner("document.querySelector('#tab-changes').click()")
        self.assert_reason_is_named()
        self.assertEqual(self.inner("app.state.tab"), "changes")

    # every view, by its controls

    def test_from_the_list_to_the_graph_and_back(self):
        self.open()
        self.browser.wait_for("document.querySelectorAll('.processes tbody tr').length >= 2")
        self.write("#where", "pod=web/shop- version=1.2")
        self.browser.wait_for("document.querySelectorAll('.processes tbody tr').length === 1")
        row = self.text(".processes tbody tr")
        for text in ("SlowSpell", "live", "web/shop-7d9f8c6b5-12abc", "version=1.2", str(self.shop.pid), "cpu"):
            self.assertIn(text, row)
        self.click(".processes tbody .title .link")
        self.assertEqual(self.run_js("app.state.view"), "heat")
        self.assertGreater(self.run_js(f"{MAP}.answer.total"), 50)
        self.write("[aria-label='Range from']", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.slow[0] / 1000)))
        self.write("[aria-label='Range to']", time.strftime("%H:%M:%S", time.gmtime(self.slow[1] / 1000)))
        self.assertGreater(self.share_in_graph("checkAllPrices"), 0.5)
        self.click("[data-view=graph]")
        self.shoot("graph")
        self.assertGreater(self.inner("app.tree.total[0]"), 50)
        for state in ("view === 'heat'", "to === 0", "view === 'jvms'"):
            self.run_js("history.back()")
            self.browser.wait_for(f"app.state.{state}")
        self.quiet()

    def test_two_pods_are_compared_by_ticks(self):
        self.open(compares=1, **{"from": self.slow[0], "to": self.slow[1]})
        rows = {row["pid"]: row["key"] for row in self.ask("processes")["processes"]}
        self.click(f"[data-key='{rows[self.shop.pid]}'][aria-label^=Choose]")
        self.click(f"[data-key='{rows[self.other.pid]}'][aria-label^=Compare]")
        self.click("[data-view=heat]")
        self.browser.wait_for("page.heats[1].map.answer && page.heats[1].map.answer.total > 10")
        self.assertGreater(self.inner("app.data.before.reduce((sum, n) => sum + n, 0)"), 10)

    def test_live_moves(self):
        self.open(view="heat")
        self.click("#live")
        first = self.run_js("app.state.to")
        self.browser.wait_for(f"app.state.to > {first} + 1500")
        self.quiet()
        self.assertGreater(self.inner("app.tree.total[0]"), 20)
        self.click("#live")
        self.assertFalse(self.run_js("app.state.isLive"))

    def test_every_format_is_saved_of_a_range(self):
        self.open_spell(**{"from": self.slow[0], "to": self.slow[1]})
        self.check_formats(["html", "svg", "folded", "fgrec", "pb.gz", "speedscope.json", "firefox.json", "perf.txt"])

    def test_a_difference_is_saved_in_what_has_two_counts(self):
        self.open_spell(compares=1, **{"from": self.slow[0], "to": self.slow[1], "before-from": self.slow[0] - 4000,
                                       "before-to": self.slow[0]})
        self.check_formats(["html", "svg", "folded", "pb.gz"])

    def check_formats(self, formats):
        self.assertEqual(self.run_js("[...document.querySelectorAll('[data-format]')].map(a => a.dataset.format)"),
                         formats)
        for name in formats:
            saved, content = self.browser.downloaded(f"document.querySelector('[data-format=\"{name}\"]').click()")
            self.assertTrue(saved.endswith("." + name), saved)
            content = gzip.decompress(content) if name == "pb.gz" else content
            if name not in ("html", "fgrec"):       # these are packed
                self.assertIn(b"checkAllPrices", content, name)

    # where there is nothing

    def test_a_range_before_the_beginning_and_a_bad_selector_are_said(self):
        self.expected = ["Failed to load resource"]
        self.open(view="heat", **{"shown-from": 1_000_000_000_000, "shown-to": 1_000_000_600_000,
                                  "from": 1_000_000_000_000, "to": 1_000_000_600_000})
        self.browser.wait_for(f"{MAP}.said.textContent.includes('The store has samples from')")
        self.browser.wait_for("page.graphSaid.textContent.includes('no samples')")
        self.click(".graphs .way")
        self.assertGreater(self.run_js(f"{MAP}.answer.total"), 50)
        self.open()
        self.write("#where", "jvm=(")
        self.browser.wait_for("!page.listSaid.hidden && page.listSaid.textContent.includes('jvm')")

    def test_what_cannot_be_read_is_said_in_the_graph(self):
        """The last test by its name: a segment of other is gone from then on."""
        damaged = sorted((self.directory / "store" / "segments").glob(f"*-{self.other.pid}-*"))[3]
        damaged.write_bytes(bytes(1000))
        row = next(row for row in self.ask("processes")["processes"] if row["pid"] == self.other.pid)
        self.open(process=row["key"], view="heat", **{"from": row["first_ms"], "to": row["last_ms"]})
        self.assertIn("not whole", self.inner("document.querySelector('.quality').innerText"))
        self.assertGreater(self.inner("app.tree.total[0]"), 20)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
