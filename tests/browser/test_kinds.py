# SPDX-License-Identifier: Apache-2.0
"""The page of a recording of several kinds of samples in Chromium.

usage: test_kinds.py FOLD_TO_HTML [unittest's arguments]
"""

import tempfile
import unittest

from page_case import BUCKET_MS, PageCase, bare, make_page, make_samples, shown_share, text_of_samples

WALL_US = 50000
IDLE = ("Shop", "java/util/concurrent/LinkedBlockingQueue.take_[j]", "futex_wait_[k]")
LATE_MS = 300000        # so late that the buckets of wall are twice as long


def make_wall(samples):
    """Of every third sample its time, and a thread that only waits."""
    idle = [(ms, 100, 9999, "waiter", "Shop", "abcdef0123456789", IDLE, WALL_US)
            for ms in (*range(0, 6000, 50), LATE_MS)]
    return [(*sample[:7], WALL_US) for sample in samples[::3]] + idle


def shown_time(us):
    return f"{us / 1e6:.{1 if us >= 9995000 else 2}f} s"


class Kinds(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.wall = make_wall(cls.samples)
        cls.offcpu = [sample for sample in cls.wall if sample[6] == IDLE]
        cls.one = cls.page
        cls.page = make_page(
            cls.directory.name, "kinds",
            text_of_samples(cls.samples) + "kind\twall\tmicroseconds\n" + text_of_samples(cls.wall) +
            "kind\toffcpu\tmicroseconds\n" + text_of_samples(cls.offcpu), "times")

    def choose_kind(self, name):
        self.browser.run(f"(f => {{ f.value = {name!r}; f.dispatchEvent(new Event('change')); }})"
                         "(document.getElementById('samples'))")
        self.browser.wait_for(f"app.state.samples === {name!r} && app.made.key.startsWith({name!r})")

    def sum_of(self, samples):
        return sum(sample[7] for sample in samples)

    def read(self):
        return self.browser.run("[...store.read.keys()]")

    def test_each_kind_is_shown_with_its_sums_and_unit(self):
        self.assertEqual(self.total(), self.sum_of(self.samples))
        self.assertIn("samples2,000", self.text(".quality"))
        for name, samples in (("wall", self.wall), ("offcpu", self.offcpu)):
            self.choose_kind(name)
            self.assertEqual(self.total(), self.sum_of(samples))
            self.assertTrue(self.text(".quality").startswith(name + shown_time(self.sum_of(samples))))
            self.assertIn(f"{shown_time(self.sum_of(samples))} of {name} at 20 Hz",
                          self.text("header"))
            self.shoot(f"kind-{name}")
        self.choose_kind("cpu")
        self.assertEqual(self.total(), self.sum_of(self.samples))

    def test_a_kind_is_unpacked_when_it_is_shown(self):
        self.assertEqual(self.read(), ["cpu"])
        self.choose_kind("wall")
        self.assertEqual(self.read(), ["cpu", "wall"])
        self.browser.open(self.page, "#samples=offcpu")
        self.assertEqual(self.read(), ["offcpu"])
        self.assertEqual(self.total(), self.sum_of(self.offcpu))

    def test_names_are_right_in_each_kind(self):
        for name, samples in (("wall", self.wall), ("offcpu", self.offcpu)):
            self.browser.open(self.page, f"#samples={name}&split=1")
            shown = self.browser.run(
                "(() => { const sums = {}; const { base, all } = app.data;"
                "for (let i = 0; i < base.count; i++) {"
                "const name = base.keys[base.key[i]].name;"
                "if (all[i]) sums[name] = (sums[name] || 0) + all[i]; } return sums; })()")
            leaves = {}
            for sample in samples:
                leaf = bare(sample[6][-1])
                leaves[leaf] = leaves.get(leaf, 0) + sample[7]
            self.assertEqual(shown, leaves)
            # Of names that another kind alone has, nothing is known here.
            self.assertEqual(self.browser.run("new Set(app.data.base.key).size"),
                             self.browser.run("app.data.keys.length"))

    def test_address_and_history_keep_the_kind(self):
        self.choose_kind("wall")
        self.assertEqual(self.browser.run("location.hash"), "#samples=wall")
        self.browser.run("history.back()")
        self.browser.wait_for("app.state.samples === 'cpu' && app.tree.total[0] === 2000")
        self.assertEqual(self.browser.run("document.getElementById('samples').value"), "cpu")
        self.browser.open(self.page, "#samples=nothing")
        self.assertEqual(self.browser.run("app.state.samples"), "cpu")

    def test_what_is_looked_at_stays(self):
        self.search("hibernate")
        self.press("#tab-top")
        self.press("[data-flag=icicle]")
        self.choose_kind("wall")
        wanted = sum(s[7] for s in self.wall if any("hibernate" in frame for frame in s[6]))
        self.assertEqual(self.browser.run("[app.state.tab, app.state.icicle, page.search.value]"),
                         ["top", True, "hibernate"])
        self.assertIn(shown_share(wanted, self.sum_of(self.wall)) + " of the time",
                      self.text("#matched"))
        self.press("#reset")
        self.assertEqual(self.browser.run("[app.state.samples, app.state.search]"), ["wall", ""])

    def test_range_is_the_same_time_in_longer_buckets(self):
        self.browser.run("go({ from: 64, to: 192 })")
        self.choose_kind("wall")
        self.assertEqual(self.browser.run("[app.state.from, app.state.to]"), [32, 96])
        wanted = sum(s[7] for s in self.wall if 32 <= int(s[0] / (2 * BUCKET_MS)) < 96)
        self.assertEqual(self.total(), wanted)

    def test_filter_of_what_a_kind_has_not_is_dropped(self):
        self.choose("thread", "GC Thread#0 [1104]")
        self.choose("pool", "GC Thread#*")
        self.choose_kind("offcpu")
        self.assertEqual(self.browser.run("[app.state.thread, app.state.pool]"), ["", ""])
        self.assertEqual(self.total(), self.sum_of(self.offcpu))
        self.choose_kind("wall")
        self.choose("thread", "waiter [9999]")
        self.assertEqual(self.total(), self.sum_of(self.offcpu))

    def test_table_and_callers_are_of_the_kind(self):
        self.press("#tab-top")
        self.choose_kind("wall")
        self.assertTrue(self.browser.run("app.state.javaOnly"))     # as a kind of time begins
        self.press("[data-flag=javaOnly]")
        self.choose_kind("offcpu")
        self.choose_kind("wall")
        self.assertFalse(self.browser.run("app.state.javaOnly"))    # as it was chosen
        idle, whole = self.sum_of(self.offcpu), self.sum_of(self.wall)
        rows = self.browser.run("[...document.querySelectorAll('tbody tr')].map(tr => "
                                "[...tr.cells].map(td => td.textContent))")
        self.assertEqual([row[0] for row in rows if row[2].endswith("futex_wait")],
                         [f"{shown_time(idle)} {shown_share(idle, whole)}"])
        self.browser.run("go({tab: 'sandwich', focus: 'futex_wait'})")
        self.assertEqual(self.text(".focus"), f"futex_wait: {shown_time(idle)}, "
                         f"{shown_share(idle, whole)}. Callers above, callees below")

    def test_focus_and_theme_outlast_the_change(self):
        self.press("#theme")
        self.browser.run("document.getElementById('samples').focus()")
        self.choose_kind("wall")
        self.assertEqual(self.browser.run("document.activeElement.id"), "samples")
        self.assertEqual(self.text("#theme"), "Theme: light")
        self.assertEqual(self.browser.run("document.querySelectorAll('nav, header, main').length"), 3)

    def test_sizes_and_things_are_shown_in_their_unit(self):
        big = 5 << 30          # more than an entry of the timeline has room for
        stack = ("Shop", "com/acme/Cart.add_[j]", "arraycopy_[v]")
        samples = [(0, 100, 101, "main", "Shop", "", (*stack, "byte[]_[c]"), big),
                   (500, 100, 101, "main", "Shop", "", (*stack, "java.lang.Object[]_[c]"), 3 << 20)]
        objects = [(*sample[:7], n) for sample, n in zip(samples, (1, 49152))]
        page = make_page(self.directory.name, "alloc",
                         "kind\talloc\tbytes\n" + text_of_samples(samples) +
                         "kind\tobjects\tcount\n" + text_of_samples(objects), "times")
        self.browser.open(page)
        self.assertEqual(self.total(), self.sum_of(samples))
        self.assertTrue(self.text(".quality").startswith("alloc5.00 GiB"))
        self.assertEqual(self.browser.run(
            "[...document.getElementById('samples').options].map(o => o.textContent)"),
            ["allocated bytes", "allocated objects"])
        self.search("Object")
        self.assertIn(" of the bytes", self.text("#matched"))
        self.press("[data-flag=javaOnly]")
        self.browser.run("go({tab: 'sandwich', focus: 'java.lang.Object[]'})")
        self.assertEqual(self.text(".focus"), "java.lang.Object[]: 3.0 MiB, 0.06%. "
                         "Callers above, callees below")
        self.shoot("alloc")
        self.choose_kind("objects")
        self.assertTrue(self.text(".quality").startswith("objects49,153"))
        self.assertIn("java.lang.Object[]: 49,152 objects", self.text(".focus"))
        self.browser.run("go({tab: 'graph', from: 20, to: 40})")
        self.assertEqual(self.total(), 49152)

    def test_page_of_one_kind_has_no_switch(self):
        self.browser.open(self.one)
        self.assertFalse(self.browser.run("!!document.getElementById('samples')"))
        self.assertEqual(self.browser.run("location.hash"), "")


if __name__ == "__main__":
    unittest.main()
