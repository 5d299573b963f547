# SPDX-License-Identifier: Apache-2.0
"""docker/compare: a web application on two databases under JMeter; a configuration that fails."""

import html.parser
import json
import os
import pathlib
import re
import signal
import sys
import urllib.parse

from harness import folded, processes, settings
from harness.case import Case
from harness.marks import counted, plain

COMPARE = settings.SOURCE / "docker" / "compare" / "compare"
sys.path.insert(0, str(COMPARE.parent))

from comparison import Failed, matrix, plain_file, requests  # noqa: E402

MATRIX = """
[load]
threads = 4
warm-up = 3
[record]
seconds = 6
[h2]
title = In the <b>JVM</b> & "quick"
database = h2
[postgresql]
database = postgresql
[unreachable]
database = postgresql
url = jdbc:postgresql://127.0.0.1:1/none
database-wait = 2
"""

BAD_MATRIX = """database = h2
[load]
threads = many
[h2]
databse = h2
database = oracle
[H2]
[../etc/passwd]
[<script>]
[open
pool
java-options = \x1b[2J
"""


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.tags = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.found += [value for name, value in attrs if name in ("href", "src")]


def with_package(stacks, package):
    """The stacks that have a frame of the package."""
    part = folded.Folded("")
    part.stacks = [(frames, count) for frames, count in stacks.stacks
                   if any(frame.startswith(package) for frame in frames)]
    return part


class Compare(Case):
    def write(self, text, name="matrix.ini"):
        path = self.directory / name
        path.write_text(text)
        return path

    def compare(self, *args):
        return [COMPARE, "--fgcollect", settings.COLLECTOR, "--agent", settings.AGENT,
                "--base", "local", *args]

    def env(self):
        return {"DOCKER_HOST": self.engine.state["docker_host"]}

    def run_matrix(self, text):
        self.out = self.directory / "out"
        finished = processes.run(self.compare(self.write(text), "-o", self.out), timeout=4 * settings.DEADLINE_SEC,
                                 env=self.env())
        self.report = json.loads((self.out / "comparison.json").read_text())
        self.rows = {row["name"]: row for row in self.report["configurations"]}
        return finished

    def left(self):
        """Containers and networks of any comparison that are left in the engine."""
        return [self.engine.docker(*listing, "--filter", "label=fgcollect.compare").out
                for listing in (["ps", "-aq"], ["network", "ls", "-q"])]

    def check_graph(self, name, own, other):
        with self.subTest(graph=name):
            row = self.rows[name]
            quality = folded.Quality("quality: " + row["quality"])
            self.assertGreaterEqual(quality.named, 99, row["quality"])
            self.assertGreaterEqual(quality.rooted, 99, row["quality"])
            stacks = folded.Folded.read(self.out / row["files"]["folded"])
            self.assertEqual(stacks.samples, row["samples"])
            of_shop, of_own = with_package(stacks, "shop/"), with_package(stacks, own)
            both = with_package(of_shop, own)
            self.assertGreater(of_shop.samples / stacks.samples, 0.1, stacks.top())
            self.assertGreater(both.samples / of_shop.samples, 0.1, of_shop.top())
            # The driver runs when a servlet asks it, below Tomcat, and hardly otherwise.
            self.assertGreater(both.samples / of_own.samples, 0.95, of_own.top())
            self.assertGreater(with_package(both, "org/apache/catalina/").samples / both.samples,
                               0.98, both.top())
            self.assertEqual(with_package(stacks, other).samples, 0, stacks.top())
            self.assertGreater(row["requests"]["count"], 0)
            self.assertEqual(row["requests"]["failed"], 0, row["requests"])
            self.assertEqual(set(row["requests"]["labels"]), {"items", "sale", "report"})

    def check_difference(self):
        (pair,) = self.report["differences"]
        self.assertEqual((pair["before"], pair["after"]), ("h2", "postgresql"))
        for change in pair["changes"]:
            if change["method"].startswith("org/h2/"):
                self.assertTrue(change["gone"], change)
            if change["method"].startswith("org/postgresql/"):
                self.assertTrue(change["new"], change)
        rows = [line.rsplit(" ", 2) for line in
                (self.out / pair["files"]["folded"]).read_text().splitlines()]
        self.assertEqual({after for stack, _, after in rows if "org/h2/" in stack}, {"0"})
        self.assertEqual({before for stack, before, _ in rows if "org/postgresql/" in stack}, {"0"})

    def check_packages(self):
        shares = {row["package"]: row["shares"] for row in self.report["packages"]}
        self.assertGreater(shares["org/h2"][0], 0)
        self.assertEqual(shares["org/h2"][1], 0)
        self.assertEqual(shares["org/postgresql"][0], 0)
        self.assertGreater(shares["org/postgresql"][1], 0)

    def check_index(self):
        text = (self.out / "index.html").read_text()
        page = Links(text)
        self.assertGreater(len(page.found), 15)
        for address in page.found:
            self.assertFalse(urllib.parse.urlparse(address).scheme, address)
            if not address.startswith("#"):
                self.assertTrue((self.out / urllib.parse.unquote(address)).is_file(), address)
        self.assertIn("default-src 'none'", text)
        self.assertNotIn("script", page.tags)
        self.assertIn("In the &lt;b&gt;JVM&lt;/b&gt; &amp; &quot;quick&quot;", text)
        self.assertIn(self.rows["h2"]["quality"], text)
        self.assertIn("no database at jdbc:postgresql://127.0.0.1:1/none", text)

    @counted
    def test_two_databases_are_compared_and_a_row_that_fails_is_told(self):
        finished = self.run_matrix(MATRIX)
        self.assertEqual(finished.code, 1, str(finished))
        self.assertEqual({name: row["state"] for name, row in self.rows.items()},
                         {"h2": "done", "postgresql": "done", "unreachable": "failed"},
                         str(finished))
        self.assertIn("unreachable: FAILED in the application", finished.out)
        self.assertIn("shop: no database", self.rows["unreachable"]["reason"])
        self.assertIn("shop: waiting for the database, ",
                      (self.out / self.rows["unreachable"]["files"]["log"]).read_text())
        self.assertIn("postgresql: the database answered after", finished.out)
        self.check_graph("h2", "org/h2/", "org/postgresql/")
        self.check_graph("postgresql", "org/postgresql/", "org/h2/")
        self.check_difference()
        self.check_packages()
        self.check_index()
        self.assertEqual(self.left(), ["", ""])

    def test_an_interrupted_run_leaves_nothing_in_the_engine(self):
        out = self.directory / "out"
        run = self.background(self.compare(self.write("[h2]\ndatabase = h2\n[other]\n"), "-o", out),
                              "compare", env=self.env())
        processes.wait_until(lambda: "under load" in run.text or run.code is not None,
                             lambda: f"the load:\n{run.text}",
                             4 * settings.DEADLINE_SEC)
        self.assertNotEqual(self.left()[0], "", run.text)
        os.kill(run.pid, signal.SIGINT)
        self.assertEqual(run.wait().code, 130, run.text)
        self.assertEqual(self.left(), ["", ""])
        states = [row["state"] for row in json.loads((out / "comparison.json").read_text())
                  ["configurations"]]
        self.assertEqual(states, ["not run", "not run"])
        self.assertEqual(list(pathlib.Path("/tmp").glob("fgcompare.*")), [])

    @plain
    def test_links_and_pipes_that_a_container_left_are_not_read(self):
        secret = self.write("secret", "secret")
        link, pipe, kept = (self.directory / name for name in ("link", "pipe", "kept"))
        link.symlink_to(secret)
        os.mkfifo(pipe)
        for path in (link, pipe):
            with self.assertRaises(Failed):
                plain_file.copy(path, kept, 100)
            with self.assertRaises(Failed):
                plain_file.begin(path, 100)
            self.assertFalse(kept.exists())
        with self.assertRaisesRegex(Failed, "more than 5 bytes"):
            plain_file.copy(secret, kept, 5)
        self.assertEqual(plain_file.begin(secret, 3), b"sec")
        self.assertEqual(plain_file.begin(self.directory / "none", 3), b"")

    @plain
    def test_latency_is_of_requests_answered_while_it_was_recorded(self):
        rows = [(t * 1000, 10 * (t + 1), "a", 200, "OK", "true") for t in range(100)]
        rows[9] = (9000, 1500, "answered in it", 200, "OK", "true")
        rows[59] = (59000, 1500, "answered later", 200, "OK", "true")
        rows[50] = (50000, 5000, "b", 500, "Bad, \"very\"", "false")
        csv = self.write("".join(
            f'{t},{ms},{label},{code},"{message.replace(chr(34), chr(34) * 2)}",{success}\n'
            for t, ms, label, code, message, success in
            [("timeStamp", "elapsed", "label", "responseCode", "responseMessage", "success"),
             *rows]) + "99999,1", "requests.csv")
        found = requests.read(csv, 10, 60)
        self.assertEqual((found["count"], found["failed"]), (50, 1))
        self.assertEqual(found["per_second"], 1)
        self.assertEqual((found["p50_ms"], found["p95_ms"], found["max_ms"]), (350, 590, 5000))
        self.assertEqual(found["failures"], '1 times 500 Bad, "very"')
        self.assertEqual({label: of["count"] for label, of in found["labels"].items()},
                         {"a": 48, "answered in it": 1, "b": 1})
        with self.assertRaisesRegex(Failed, "lacks columns"):
            requests.read(self.write("a,b\n1,2\n", "other.csv"), 0, 1)

    def check(self, text):
        return processes.run([COMPARE, "--check", self.write(text)])

    @plain
    def test_each_mistake_in_a_matrix_is_told_with_its_line(self):
        finished = self.check(BAD_MATRIX)
        self.assertEqual(finished.code, 2, str(finished))
        said = dict(re.findall(r"matrix\.ini:(\d+): (.*)", finished.err))
        for line, *texts in ((1, "no section"), (3, "many", "from 1 to 1000"),
                             (5, "databse", "no such key", "database-wait"),
                             (6, "oracle", "h2 postgresql"), (7, "line 4 already"),
                             (8, "../etc/passwd", "letters, digits"), (9, "<script>", "title ="),
                             (10, "not closed")):
            for text in texts:
                self.assertIn(text, said.get(str(line), ""), finished.err)
        self.assertEqual(len(said), 8, finished.err)
        self.assertNotIn("\x1b", finished.err)

    @plain
    def test_matrices_of_the_page_and_of_the_tool_are_right(self):
        page = (settings.SOURCE / "docs" / "compare.md").read_text()
        (example,) = [block for block in re.findall(r"^```\n(.*?)^```", page, re.M | re.S)
                      if "[load]" in block]
        for finished in (self.check(example), processes.run([COMPARE, "--check"])):
            self.assertEqual(finished.code, 0, str(finished))
        for key in (*matrix.LOAD_KEYS, *matrix.RECORD_KEYS, *matrix.ROW_KEYS):
            self.assertIn(f"`{key}`", page)

    @plain
    def test_files_that_are_no_matrix_are_refused(self):
        self.assert_fails(self.check("# nothing\n[load]\nthreads = 2\n"), 2, "no configuration",
                          "[h2]")
        self.assert_fails(self.check("".join(f"[r{i}]\n" for i in range(40))), 2, "matrix.ini:33",
                          "more than 32")
        (self.directory / "binary").write_bytes(b"[h2]\n\xff\xfe\n")
        for name, text in (("binary", "binary:2: it is not UTF-8"), ("none", "No such file"),
                           (".", "no regular file")):
            self.assert_fails(processes.run([COMPARE, "--check", self.directory / name]), 2, text)
