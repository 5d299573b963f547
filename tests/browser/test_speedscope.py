# SPDX-License-Identifier: Apache-2.0
"""Files for other viewers, as speedscope itself shows them in Chromium, without a network.

What must be shown is counted here from the stacks that the files were made of.

usage: test_speedscope.py FOLD_TO_HTML [unittest's arguments]; exit 77 if speedscope is not there
       test_speedscope.py --fetch       only fetches it; exit 1, and why on stderr, if that fails

FG_COLLECTOR=fgcollect, FG_DOWNLOADS=a folder for speedscope, which is fetched once.
"""

import base64
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import npm_package
from chromium import Browser
from page_case import PROGRAM, bare, make_file, make_samples, text_of_samples

VERSION = "1.25.0"
INTEGRITY = ("sha512-cpf9HWTZf1ijLXBJrk87Ve/54tnYx6rlf0gUThvn3ook6h63hLXVOQiMf44PT+XoV503cPfvfiT5"
             "gP5vojp6Ag==")
PERIOD_SEC = (10 ** 9 // 99) / 1e9      # a sample's time in what fold_to_html records
UNITS = {"s": 1, "ms": 1e-3, "ns": 1e-9}

PROFILES = "[...document.querySelectorAll('tr[title]')].map(tr => [...tr.cells].map(c => c.textContent))"
FUNCTIONS = ("[...document.querySelectorAll('tr:not([title])')].filter(tr => tr.cells[0].tagName === "
             "'TD').map(tr => [...[...tr.cells].map(c => c.textContent), tr.cells[2].title])")
EXPORT = ("[...document.querySelectorAll('div')].findLast(div => div.textContent.endsWith('Export'))"
          ".click()")


def fetch():
    return npm_package.fetch("speedscope", VERSION, INTEGRITY, os.environ["FG_DOWNLOADS"])


def speedscope(into):
    """Unpacks it there, if it can be had."""
    try:
        package = fetch()
    except npm_package.NotFetched as error:
        if os.environ.get("CI", "false") != "false":
            raise
        raise unittest.SkipTest(f"no speedscope: {error}") from error
    npm_package.unpack(package, "dist/release", into)


def samples_of(text):
    """Of a weight as it is shown, `20.20s` or `2,000`, how many samples it is, to the sample."""
    unit = text.lstrip("0123456789.,")
    number = float(text[:len(text) - len(unit)].replace(",", ""))
    return round(number * UNITS[unit] / PERIOD_SEC) if unit else number


def counted(stacks):
    """Name -> (total, self); a frame below one of its name counts once."""
    totals, selves = collections.Counter(), collections.Counter()
    for stack, count in stacks:
        for name in set(stack):
            totals[name] += count
        selves[stack[-1]] += count
    return {name: (totals[name], selves[name]) for name in totals}


def summed(stacks):
    sums = collections.Counter()
    for stack, count in stacks:
        sums[tuple(stack)] += count
    return sums


def replayed(profile, frames, period):
    """Stack -> samples, of a profile that begins and ends calls."""
    sums, stack, since = collections.Counter(), [], 0
    for event in profile["events"]:
        if stack:
            sums[tuple(stack)] += round((event["at"] - since) / period)
        since = event["at"]
        if event["type"] == "O":
            stack.append(frames[event["frame"]])
        else:
            assert stack.pop() == frames[event["frame"]]
    # A call that ends has had no sample of its own if another ends at once.
    return +sums


def without_inlined(stack):
    """As speedscope sees pprof's: of a location with several lines it takes the outermost."""
    return [bare(frame) for frame in stack if not frame.endswith("_[i]")]


class Speedscope(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="fg-speedscope-")
        cls.addClassCleanup(directory.cleanup)
        cls.directory = pathlib.Path(directory.name)
        speedscope(cls.directory)
        cls.samples = make_samples()
        cls.recording = make_file(cls.directory / "x.fgrec", text_of_samples(cls.samples), "times")
        cls.folded = cls.directory / "x.folded"
        cls.folded.write_text("".join(f"{';'.join(s[6])} {s[7]}\n" for s in cls.samples))
        # So high that no row of its tables is left out.
        cls.browser = Browser(1366, 3000).__enter__()
        cls.addClassCleanup(cls.browser.__exit__)

    def setUp(self):
        self.browser.events.clear()

    def tearDown(self):
        # Of a machine without a graphics card the browser warns.
        self.assertEqual([said for said in self.browser.complaints() if "GL" not in str(said)], [])

    def show(self, source, suffix):
        """Has fgcollect make a file of source, and opens it as speedscope's own command does."""
        made = self.directory / f"made{suffix}"
        subprocess.run([os.environ["FG_COLLECTOR"], "render", "--split-levels", source, "-o", made],
                       check=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        script = self.directory / "made.js"
        content = base64.b64encode(made.read_bytes()).decode()
        script.write_text(f"speedscope.loadFileFromBase64({json.dumps(made.name)}, '{content}')")
        self.browser.open(self.directory / "index.html",
                          "#view=sandwich&localProfilePath=" + urllib.parse.quote(str(script)),
                          ready="document.querySelector('td')")

    def functions(self):
        """Of the profile that is shown, name -> (total, self)."""
        shown = {}
        for total, own, name, file in self.browser.run(FUNCTIONS):
            self.assertNotIn(name, shown)
            self.assertEqual(file, "", name)
            shown[name] = tuple(samples_of(text.split(" ")[0]) for text in (total, own))
        return shown

    def stacks(self, unit="nanoseconds"):
        """Of each profile that speedscope has read, as it exports them, name -> stack -> samples."""
        _, data = self.browser.downloaded(EXPORT)
        data = json.loads(data)
        frames = [frame["name"] for frame in data["shared"]["frames"]]
        period = PERIOD_SEC * 1e9 if unit == "nanoseconds" else 1
        read = {}
        for profile in data["profiles"]:
            read[profile["name"]] = replayed(profile, frames, period)
            self.assertEqual((profile["unit"], profile["startValue"]), (unit, 0))
            self.assertEqual(round(profile["endValue"] / period), read[profile["name"]].total())
        return read

    def by_thread(self):
        stacks = collections.defaultdict(list)
        for _, _, tid, thread, title, _, frames, count in self.samples:
            stacks[f"{title}: {thread} ({tid})"].append((frames, count))
        return stacks

    def test_each_thread_is_a_profile_with_its_weights(self):
        self.show(self.recording, ".speedscope.json")
        threads = self.by_thread()
        profiles = self.browser.run(PROFILES)
        self.assertEqual({name: samples_of(weight) for _, name, weight in profiles},
                         {name: sum(count for _, count in stacks)
                          for name, stacks in threads.items()})
        self.assertEqual(len(profiles), len(threads))
        for at, name, _ in profiles:
            self.browser.wait_for(f"document.body.textContent.includes('({at}/{len(threads)})')")
            self.assertEqual(self.functions(), counted(threads[name]), name)
            self.browser.key("n", text="n")
        self.assertEqual(self.stacks(), {name: summed(stacks) for name, stacks in threads.items()})

    def test_profiles_of_two_kinds_are_told_apart_by_name_and_unit(self):
        samples = self.samples[:300]
        text = text_of_samples(samples) + "kind\twall\tmicroseconds\n" + text_of_samples(
            [(*sample[:7], 5000) for sample in samples])
        self.show(make_file(self.directory / "two.fgrec", text, "times"), ".speedscope.json")
        shown = {name: weight for _, name, weight in self.browser.run(PROFILES)}
        counts = collections.Counter()
        for _, _, tid, thread, title, _, _, count in samples:
            counts[f"{title}: {thread} ({tid})"] += count
        self.assertEqual(len(shown), 2 * len(counts))
        for name, count in counts.items():
            self.assertEqual(samples_of(shown["cpu | " + name]), count, name)
            weight = shown["wall | " + name]
            unit = weight.lstrip("0123456789.,")
            self.assertAlmostEqual(float(weight[:-len(unit)]) * UNITS[unit], count * 5e-3, 4, name)

    def test_pprof_is_one_profile_of_cpu_time(self):
        self.show(self.recording, ".pb.gz")
        self.assertEqual(self.browser.run(PROFILES), [])
        self.assertRegex(self.browser.run(FUNCTIONS)[0][0], r"^[0-9.]+s \(")
        stacks = [(without_inlined(s[6]), s[7]) for s in self.samples]
        self.assertEqual(self.functions(), counted(stacks))
        self.assertEqual([*self.stacks().values()], [summed(stacks)])

    def test_folded_stacks_are_one_profile_of_samples(self):
        for suffix, named in ((".speedscope.json", list), (".pb.gz", without_inlined)):
            self.show(self.folded, suffix)
            self.assertEqual(self.browser.run(PROFILES), [], suffix)
            self.assertNotIn("s (", self.browser.run(FUNCTIONS)[0][0], suffix)
            stacks = [(named(s[6]), s[7]) for s in self.samples]
            self.assertEqual(self.functions(), counted(stacks), suffix)
            self.assertEqual([*self.stacks("none").values()], [summed(stacks)], suffix)


if __name__ == "__main__":
    if PROGRAM == "--fetch":
        try:
            fetch()
        except npm_package.NotFetched as error:
            sys.exit(f"no speedscope: {error}")
        sys.exit(0)
    result = unittest.main(exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
