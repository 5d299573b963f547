# SPDX-License-Identifier: Apache-2.0
"""What tests of the page share: pages of known stacks, and how their controls are used."""

import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

from chromium import Browser

PROGRAM = sys.argv.pop(1)
SHOTS = os.environ.get("FG_SCREENSHOTS")        # a directory: the page is pictured there
HOSTILE = "<img src=x onerror=alert(1)>"
BUCKET_MS = 15.625


def make_samples(seed=1):
    """(ms, pid, tid, thread, title, container, frames, count)"""
    pick = random.Random(seed)
    java = [f"org/app/{a}{b}.run_[{k}]" for a in ("Order", "Cart") for b in ("Service", "Store")
            for k in "ji"]
    spring = [f"org/springframework/web/F{i}.doFilter_[j]" for i in range(8)]
    leaves = ["java/util/HashMap.getNode_[j]", "do_syscall_64_[k]", "std::sort(int*, int*)",
              "memcpy", HOSTILE, "org/hibernate/Session.find_[j]"]
    samples = []
    for _ in range(2000):
        pid = pick.choice((100, 200))
        worker = pick.randrange(6)
        thread = f"http-nio-8080-exec-{worker}" if worker < 4 else "GC Thread#0"
        frames = ["Shop" if pid == 100 else "Search", *spring[:pick.randrange(2, 8)],
                  *pick.choices(java, k=pick.randrange(1, 6))]
        if pick.random() < 0.3:
            frames += ["org/hibernate/Session.find_[j]"] * 2
        frames.append(pick.choice(leaves))
        samples.append((pick.randrange(0, 6000), pid, 1000 + pid + worker, thread, frames[0],
                        "abcdef0123456789" if pid == 100 else "", tuple(frames), 1))
    return samples


def bare(frame):
    return re.sub(r"_\[[01jik]\]$", "", frame)


def text_of_samples(samples):
    return "".join("\t".join(map(str, sample[:6])) + "\t" + ";".join(sample[6]) +
                   f" {sample[7]}\n" for sample in samples)


def make_file(path, text, *how):
    """The suffix says of which format."""
    with open(path, "wb") as out:
        subprocess.run([PROGRAM, *how, path.name], input=text.encode(), stdout=out, check=True)
    return path


def make_page(directory, name, text, *how):
    return make_file(pathlib.Path(directory) / f"{name}.html", text, *how)


def samples_with(samples, test):
    return sum(s[7] for s in samples if any(test(bare(frame)) for frame in s[6]))


def shown_share(part, whole):
    return f"{100 * part / whole:.2f}%"


# Of a part of a canvas the bytes of its pixels. From a copy: a canvas that is read becomes a slow one.
PIXELS = ("((canvas, x, y, width = 1) => { const copy = new OffscreenCanvas(width, 1);"
          "const pen = copy.getContext('2d', { willReadFrequently: true });"
          "pen.drawImage(canvas, -Math.floor(x), -Math.floor(y));"
          "return [...pen.getImageData(0, 0, width, 1).data]; })")


class PageCase(unittest.TestCase):
    """One page, opened anew for each test."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="fg-page-")
        cls.samples = make_samples()
        cls.page = make_page(cls.directory.name, "times", text_of_samples(cls.samples), "times")
        cls.browser = Browser()
        cls.browser.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.directory.cleanup()

    def setUp(self):
        self.browser.events.clear()
        self.browser.resize(1366, 768)
        self.browser.open(self.page)

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    # helpers

    def total(self):
        return self.browser.run("app.tree.total[0]")

    def middle_of(self, element):
        """Where to click on what a JavaScript expression is."""
        return self.browser.run(f"(b => [b.x + b.width / 2, b.y + b.height / 2])(({element}).getBoundingClientRect())")

    def open_menu_of(self, selector):
        """Opens the menu that something is in, by its button, if it is closed."""
        menu = f"document.querySelector({selector!r}).closest('.menu')"
        if self.browser.run(f"(m => Boolean(m && m.querySelector('.panel').hidden))({menu})"):
            self.browser.click(*self.middle_of(f"{menu}.querySelector('button')"))

    def press(self, selector):
        """A click of the mouse, in a menu after one on the menu's button."""
        if self.browser.run(f"Boolean(document.querySelector({selector!r}).closest('.panel'))"):
            self.open_menu_of(selector)
        self.browser.click(*self.middle_of(f"document.querySelector({selector!r})"))

    def text(self, selector):
        return self.browser.run(f"document.querySelector({selector!r}).textContent")

    def search(self, text):
        self.browser.run("page.search.select()")
        self.browser.type(text)

    def place_of(self, name):
        """The middle of the first frame of that name."""
        return self.browser.run(
            "(() => { const g = app.graph, o = g.host.getBoundingClientRect();"
            "for (const l of g.levels) for (const i of l.nodes)"
            f"if (g.tree.keys[g.tree.key[i]].name === {name!r}) {{"
            "const b = g.boxOf(i); g.host.scrollTop = b.y - 50;"
            "return [o.x + b.x + Math.min(b.w / 2, 40), o.y + b.y - g.host.scrollTop + 9]; } })()")

    def colour_of(self, name):
        """What is painted in the middle of the widest frame of that name, above its label."""
        return self.browser.run(
            "(() => { const g = app.graph; let box = { w: 0 };"
            "for (const l of g.levels) for (const i of l.nodes)"
            f"if (g.tree.keys[g.tree.key[i]].name === {name!r} && g.boxOf(i).w > box.w)"
            "box = g.boxOf(i);"
            "g.host.scrollTop = box.y - 50; g.paint();"
            f"return {PIXELS}(g.canvas, box.x + box.w / 2, box.y - g.host.scrollTop + 1); }})()")

    def choose(self, dimension, value):
        self.browser.run(
            f"(f => {{ f.value = {value!r}; f.dispatchEvent(new Event('change')); }})"
            f"(page.filters[{dimension!r}])")

    def shoot(self, name):
        if SHOTS:
            self.browser.frames()
            self.browser.screenshot(pathlib.Path(SHOTS) / f"{name}.png")
