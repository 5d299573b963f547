# SPDX-License-Identifier: Apache-2.0
"""The pages are true: links lead somewhere, commands and options exist, counters are counted."""

import json
import re

from harness import collector, markdown, processes, settings
from harness.case import Case
from harness.marks import plain

PATH = re.compile(r"(\.\./)*([\w.-]+/)+([\w.-]+\.(c|h|js|py|proto|md))?")
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
NAME = re.compile(r"\.?[a-z]+[a-z_]*(\.[a-z_]+)*")
IMAGE_MAX_BYTES = 256 << 10
# What a paragraph has that tells of counters, and what looks like one there and is something else.
COUNTING = re.compile(r"\bcount(s|ed|er|ers)\b|list --json|/metrics")
NO_COUNTERS = re.compile(r"perf_event_\w+|process_vm_readv|service_name"
                         r"|live_objects|native_inlined|kernel\.(kptr|perf|yama)\w+"
                         # of pprof: types of Go's, and labels
                         r"|(alloc|inuse)_(space|objects)|thread_id")
# Whose words of code are those of the code: they name functions.
TOURS = ("collector/README.md", "collector/LIMITS.md", "collector/GLOSSARY.md",
         "collector/DESIGN-NOTES.md", "tests/README.md", "shared/README.md", "jvmti-agent/README.md",
         "tests/unit/unwind/recorded/README.md")
PLACEHOLDERS = {"PID": "1", "DIR": "/tmp", "BEFORE": "a.folded", "AFTER": "b.folded",
                "FILE": "x.svg", "...": "x.svg"}


def options_in(text):
    """The options in a help's text or in a table's cell, without options of other programs."""
    return {word for word in OPTION.findall(text) if not re.fullmatch(r"-agentpath", word)}


def paragraph_of(option, text):
    """The lines of a help about the option, up to the line that begins with another option."""
    lines = text.splitlines()
    named = [n for n, line in enumerate(lines) if option in options_in(line)]
    at = next((n for n in named if lines[n].lstrip().startswith("-")), named[0])
    end = next((n for n in range(at + 1, len(lines)) if re.match(r"\s+--?[a-zA-Z]", lines[n])),
               len(lines))
    return "\n".join(lines[at:end])


class Docs(Case):
    def setUp(self):
        super().setUp()
        self.pages = {page.name: page for page in markdown.pages()}
        self.assertIn("README.md", self.pages)

    def help_of(self, *command):
        finished = collector.fgcollect(*command, "--help-all")
        self.assertEqual(finished.code, 0, str(finished))
        return finished.out

    def option_rows(self, page):
        """The options and the default of each row, in tables whose head begins with "option"."""
        for table in self.pages[page].tables():
            if table[0][0] == "option":
                for row in table[1:]:
                    yield options_in(" ".join(markdown.CODE.findall(row[0]))), row[1]

    def assert_same_options(self, page, text, left_out=()):
        """The options and defaults in the page's tables are those of the help's text."""
        rows = list(self.option_rows(page))
        told = set().union(*(options for options, _ in rows))
        self.assertEqual(told, options_in(text) - {"-h", "--help", "--help-all", *left_out}, page)
        for options, default in rows:
            value = re.fullmatch(r"`([^`]+)`", default)
            for option in (o for o in options if value and o.startswith("--")):
                said = paragraph_of(option, text)
                self.assertRegex(said, rf"(?<!\w){re.escape(value[1])}(?![\w.]*\w)",
                                 f"{page}: default of {option}")

    @plain
    def test_links_between_pages_lead_somewhere(self):
        count = 0
        for page in self.pages.values():
            for link in page.links():
                path, _, anchor = link.partition("#")
                target = (page.path.parent / path).resolve() if path else page.path
                self.assertTrue(target.exists(), f"{page.name}: {link}")
                count += 1
                if anchor and target.suffix == ".md":
                    self.assertIn(anchor, markdown.Page(target).anchors(), f"{page.name}: {link}")
                if target.suffix in (".svg", ".png"):
                    self.assertLess(target.stat().st_size, IMAGE_MAX_BYTES, link)
        self.assertGreater(count, 40)

    @plain
    def test_paths_of_tours_exist(self):
        count = 0
        for name in TOURS:
            page = self.pages[name].path.parent
            for word in filter(PATH.fullmatch, self.pages[name].words()):
                self.assertTrue((page / word).exists() or (settings.SOURCE / word).exists(),
                                f"{name}: {word}")
                count += 1
        self.assertGreater(count, 100)

    @plain
    def test_commands_of_pages_are_understood(self):
        count = 0
        for page in self.pages.values():
            for words in page.commands():
                words = [PLACEHOLDERS.get(word, word) for word in words]
                count += 1
                if words[0] in ("--watch", "watch"):
                    # What follows is not reached if anything before it is not understood.
                    finished = collector.fgcollect(*words, "--socket=")
                    self.assertIn("--socket : a path is needed", finished.err.splitlines()[0],
                                  f"{page.name}: {finished}")
                else:
                    finished = collector.fgcollect(*words, "--help")
                    self.assertEqual(finished.code, 0, f"{page.name}: {finished}")
        self.assertGreater(count, 90)

    @plain
    def test_option_tables_say_what_help_says(self):
        whole = self.help_of()
        head, tail = whole.split("The daemon (--watch):")
        record, replay = head[head.index("What to record"):].split("Of a capture (replay):")
        shared = re.search(r"^ +--virtual-threads .*\n.*\n", record, re.M)[0]
        self.assert_same_options("docs/capture.md", replay + shared)
        self.assert_same_options("docs/record.md", record, {"--watch", "--jit", "-i"})
        daemon = tail[:tail.index("In the image")].replace("19 Hz unless -F says another",
                                                           "\n  -F, --frequency 19 Hz")
        self.assert_same_options("docs/daemon.md", daemon)
        self.assert_same_options("docs/top.md", self.help_of("top"))
        self.assert_same_options("docs/store.md", self.help_of("history"),
                                 {"-o", "--once", "--before-from", "--before-to"})
        drawing = self.help_of("diff") + self.help_of("render")
        self.assert_same_options("docs/render.md", drawing)

    def names_of(self, listed):
        """The path of each number, and each end of the path: "symbol_tables.bytes", "bytes"."""
        found = set()

        def walk(value, path):
            for n in range(len(path)):
                found.add(".".join(path[n:]))
            for key, below in value.items() if isinstance(value, dict) else ():
                walk(below, [*path, key])
        walk(listed["collector"], [])
        for jvm in listed["jvms"]:
            walk(jvm, ["jvm"])
        return found

    def counters_in(self, page):
        """Words that the page takes for counters, by their table or by the paragraph's subject."""
        for table in page.tables():
            # The limits of what is kept in memory: how much it is now, and what went past it.
            columns = [0, 1] if table[0][0] in ("object", "counter") else \
                [2, 3] if table[0][0] == "what" and len(table[0]) == 4 else []
            for row in table[1:]:
                for cell in [row[n] for n in columns]:
                    yield from (w for w in markdown.CODE.findall(cell) if NAME.fullmatch(w))
        if page.name in TOURS:
            return
        for text in page.paragraphs():
            if COUNTING.search(text):
                yield from (w for w in markdown.CODE.findall(text) if "_" in w
                            and NAME.fullmatch(w) and not NO_COUNTERS.fullmatch(w))

    def test_counters_and_metrics_of_pages_exist(self):
        graphs = self.directory / "graphs"
        graphs.mkdir()
        daemon = self.watch("-o", graphs, "--http", "0")
        jvm = self.background(self.java("KnownShare", agent=f"socket={self.place.socket}"), "jvm")
        daemon.wait_for_jvm(jvm.pid)
        members = self.members_of_top()
        self.assertEqual(self.members_told(), members)
        known = self.names_of(daemon.list_json()) | members
        metrics = self.metrics_of(daemon)
        count = 0
        for page in self.pages.values():
            for word in self.counters_in(page):
                if not word.startswith("fgcollect_"):
                    self.assertIn(word.removeprefix("."), known, page.name)
                    count += 1
            for word in re.findall(r"\bfgcollect_[a-z_]+\b", "\n".join(page.words())):
                self.assertIn(word, metrics, page.name)
        self.assertGreater(count, 100)

    def members_of_top(self):
        found = set()
        for view in ("methods", "threads", "jvms"):
            finished = collector.fgcollect("top", "--once", "--json", "-d", "0.5", "--view", view,
                                           "--socket", self.place.socket)
            top = json.loads(finished.out)
            found |= {*top, *top["quality"], *top["states"], *(key for row in top["rows"] for key in row)}
        return found

    def members_told(self):
        """The members in the table of the page about top."""
        table = next(t for t in self.pages["docs/top.md"].tables() if t[0][0] == "member")
        return {word for row in table[1:] for word in markdown.CODE.findall(" ".join(row))
                if NAME.fullmatch(word)}

    def metrics_of(self, daemon):
        url = re.search(r"http://\S+/metrics", daemon.text)[0]
        text = processes.run(["python3", "-c", "import sys, urllib.request as u; "
                              "print(u.urlopen(sys.argv[1], timeout=10).read().decode())", url],
                             check=True).out
        return set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
