# SPDX-License-Identifier: Apache-2.0
"""What is drawn, in Chromium: until a page is there, and until a picture follows an action."""

import contextlib
import pathlib
import statistics
import sys

from bench_place import place, settings
from versus.model import OURS, Quantity, Row, run_child
from versus.rows.drawing import generate

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "browser"))
from chromium import DRAWN, Browser  # noqa: E402  pylint: disable=wrong-import-position

# Two frames behind an action: the picture is there.
AFTER = """(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const start = performance.now();
    %s;
    await frame(); await frame();
    return performance.now() - start;
})()"""
# When the page was there, in ms from the request on.
OPENED_SVG = "performance.getEntriesByType('navigation')[0].loadEventEnd || performance.now()"
OPENED_OURS = "performance.getEntriesByName('ready').map(e => e.startTime)[0]"

# Frames of flamegraph.pl's and inferno's pictures are groups with a title; a search is a function.
OF_SVG = {"zoom": "(g => zoom(g.closest ? g : g.parentNode))([...document.querySelectorAll("
                  "'#frames > g, g.func_g, #frames g')].sort((a, b) => b.getBoundingClientRect()"
                  ".width - a.getBoundingClientRect().width)[20])",
          "search": "search('persistence')", "open": OPENED_SVG, "ready": "true"}
OF_OURS = {"zoom": "app.graph.on.zoomed(app.graph, app.graph.levels[20].nodes[0])",
           "search": "(f => { f.value = 'persistence'; f.dispatchEvent(new Event('input')); })"
                     "(document.querySelector('#search'))", "open": OPENED_OURS, "ready": DRAWN}


class InBrowser(Row):
    """Contenders draw once; then each turn opens what was drawn, zooms, and searches."""

    group = "Page"
    name, title = "page", "what is drawn, in Chromium"
    driver, unit_of_driver = "stacks", " stacks"
    values = (10000, 100000)
    quantities = {"open": Quantity("ms"), "zoom": Quantity("ms", "100 ms"),
                  "search": Quantity("ms")}
    not_to_be_had = {"jfr-converter": "draws on a canvas and knows no function for a search",
                     "speedscope": "its page takes a file by a dialogue"}

    @contextlib.contextmanager
    def at(self, value):
        with place() as here, Browser() as browser:
            yield generate(here.directory / "in", "--unique", str(value)), browser

    def contenders(self, peers):
        return {OURS: ("html", OF_OURS, [settings.COLLECTOR, "render", "-f", "html", "{in}"]),
                "inferno": peers.make("inferno", lambda home: (
                    "inferno.svg", OF_SVG, [home / "inferno-flamegraph", "--colors=java", "{in}"])),
                "flamegraph.pl": peers.make("flamegraph", lambda home: (
                    "perl.svg", OF_SVG, ["perl", home / "flamegraph.pl", "--colors=java",
                                         "{in}"]))}

    def measure(self, context, contender, value):
        source, browser = context
        suffix, actions, command = contender
        drawn = source.with_name(f"{value}.{suffix}")
        if not drawn.exists():
            with open(drawn, "wb") as out:
                run_child([source if arg == "{in}" else arg for arg in command], out)
        figures = {"open": [], "zoom": [], "search": []}
        for _ in range(3):
            for name in ("zoom", "search"):
                browser.open(drawn, ready=actions["ready"])
                figures["open"].append(browser.run(actions["open"]))
                figures[name].append(browser.run(AFTER % actions[name]))
        return {name: statistics.median(numbers) for name, numbers in figures.items()}


ROWS = [InBrowser()]
