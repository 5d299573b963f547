# SPDX-License-Identifier: Apache-2.0
"""How long a page's controls take in Chromium: until a picture follows, until all is drawn, and how
long the page did not listen in between.

usage: page_speed.py PAGE.html [RUNS]

Each action is done RUNS times (default 5), each time in a page that was just opened, so that nothing
is warm or remembered; medians are printed, in milliseconds. A picture is the second frame after the action; work that the page does in slices
behind it is over when its progress word is gone.
"""

import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "browser"))
from chromium import Browser  # pylint: disable=wrong-import-position

CLICK = "document.querySelector({!r}).click()"
FIELD = "(f => {{ f.value = {!r}; f.dispatchEvent(new Event({!r})); }})(document.querySelector({!r}))"
CHOOSE = ("(f => {{ f.selectedIndex = 1; f.dispatchEvent(new Event('change')); }})"
          "(document.querySelector({!r}))")
ZOOM = "app.graph.on.zoomed(app.graph, app.graph.levels[{}].nodes[0])"
FLAG = CLICK.format("[data-flag={}]")

# name, what is needed, what is done first, what is measured
ACTIONS = [
    ("zoom in", "", "", ZOOM.format(20)),
    ("zoom out", "", ZOOM.format(20), CLICK.format("#unzoom")),
    ("search, 1 letter", "", "", FIELD.format("o", "input", "#search")),
    ("search org/hibernate", "", FIELD.format("org/hibernat", "input", "#search"),
     FIELD.format("org/hibernate", "input", "#search")),
    ("search, cleared", "", FIELD.format("org/hibernate", "input", "#search"),
     FIELD.format("", "input", "#search")),
    ("only matching", "", FIELD.format("org/hibernate", "input", "#search"),
     FLAG.format("onlyMatching")),
    ("fold recursion", "", "", FLAG.format("recursion")),
    ("fold frameworks", "", "", FLAG.format("frameworks")),
    ("unfold frameworks", "", FLAG.format("frameworks"), FLAG.format("frameworks")),
    ("fold both", "", FLAG.format("recursion"), FLAG.format("frameworks")),
    ("icicle", "", "", FLAG.format("icicle")),
    ("callers first", "", "", FLAG.format("reversed")),
    ("zoom, callers first", "", FLAG.format("reversed"), ZOOM.format(1)),
    ("folded, callers first", "", FLAG.format("frameworks"), FLAG.format("reversed")),
    ("functions", "", "", CLICK.format("#tab-top")),
    ("functions, search", "", CLICK.format("#tab-top"), FIELD.format("hibernate", "input", "#search")),
    ("sandwich, hottest", "", "", CLICK.format("#tab-sandwich")),
    ("sandwich of the base", "", "", "go({tab: 'sandwich', focus: 'start_thread'})"),
    ("back to the graph", "", CLICK.format("#tab-sandwich"), CLICK.format("#tab-graph")),
    ("legend, highlight", "data-kind", "", CLICK.format("[data-kind='8']")),
    ("legend, only", "data-kind", CLICK.format("[data-kind='8']"), CLICK.format("[data-kind='8']")),
    ("filter thread", "filter-thread", "", CHOOSE.format("#filter-thread")),
    ("filter pool", "filter-pool", "", CHOOSE.format("#filter-pool")),
    ("filter, folded", "filter-thread", FLAG.format("frameworks"), CHOOSE.format("#filter-thread")),
    ("filter, callers first", "filter-thread", FLAG.format("reversed"), CHOOSE.format("#filter-thread")),
    ("time range", "app.strip", "", "app.strip.choose(1000, 3000)"),
    ("all time", "app.strip", "app.strip.choose(1000, 3000)", "app.strip.choose(0, 0)"),
    ("search in a range", "app.strip", "app.strip.choose(1000, 3000)",
     FIELD.format("org/hibernate", "input", "#search")),
    ("normalise", "data-flag=normalise", "", FLAG.format("normalise")),
    ("changes", "tab-changes", "", CLICK.format("#tab-changes")),
    ("copy folded", "", "", CLICK.format("#copy-folded")),
    ("resize", "", "", "dispatchEvent(new Event('resize'))"),
    ("reset all", "", FLAG.format("recursion"), CLICK.format("#reset")),
]

OPENED = "performance.getEntriesByName('ready').map(e => e.startTime)[0] || performance.now()"

MEASURE = """(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const idle = () => new Promise(done => setTimeout(done));
    const working = () => document.body.dataset.working === "1";
    const settle = async () => { do { await frame(); await idle(); } while (working()); };
    let longest = 0;
    const seen = new PerformanceObserver(list => {
        for (const entry of list.getEntries())
            longest = Math.max(longest, entry.duration);
    });
    %s;
    await settle(); await settle();
    seen.observe({ entryTypes: ["longtask"] });
    const start = performance.now();
    %s;
    await frame(); await idle();
    const first = performance.now() - start;
    await settle();
    const all = performance.now() - start;
    await new Promise(done => setTimeout(done, 30));
    seen.disconnect();
    return [first, all, longest];
})()"""


def is_there(browser, needed):
    if needed == "app.strip":
        return browser.run("Boolean(app.strip)")
    selector = {"data-kind": "[data-kind='8']", "data-flag=normalise": "[data-flag=normalise]"}.get(
        needed, "#" + needed)
    return not needed or browser.run(f"Boolean(document.querySelector({selector!r}))")


def main():
    page, runs = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with Browser() as browser:
        browser.open(page)
        print(f"{page.name}: {browser.run('app.data.base.count'):,} nodes, "
              f"{browser.run('app.data.times ? app.data.times.count : 0'):,} times")
        print(f"{'':24}{'picture':>9}{'all':>9}{'blocked':>9}")
        opened = []
        for name, needed, first, action in ACTIONS:
            if not is_there(browser, needed):
                continue
            seen = []
            for _ in range(runs):
                browser.open(page)
                opened.append(browser.run(OPENED))
                seen.append(browser.run(MEASURE % (first or "0", action)))
            print(f"{name:24}" + "".join(f"{statistics.median(column):9.0f}"
                                         for column in zip(*seen)), flush=True)
        print(f"{'open':24}{'':9}{statistics.median(opened):9.0f}")


if __name__ == "__main__":
    main()
