# SPDX-License-Identifier: Apache-2.0
"""Drawing: folded stacks and perf script in; SVG, HTML, pprof and folded stacks out."""

import contextlib
import pathlib
import subprocess
import sys

from bench_place import place, settings
from versus.model import OURS, Quantity, Row, run_child, run_pipe

TIME = {"cpu": Quantity("s", "half of inferno's"), "memory": Quantity("MiB", "half of inferno's")}
SIZE = {"file": Quantity("MB")}
GENERATOR = pathlib.Path(__file__).resolve().parents[2] / "folded_stacks.py"


def generate(path, *args):
    """By another process, because a child's memory counts from its parent's on."""
    with open(path, "wb") as stream:
        subprocess.run([sys.executable, GENERATOR, *args], stdout=stream, check=True)
    return path


class Drawing(Row):
    """One file in, one file out. {in} and {out} in a command stand for the files."""

    group = "Drawing"
    driver, unit_of_driver = "stacks", " stacks"
    values = (1000, 10000, 100000)
    most_of_perl = 100000
    quantities = {**TIME, **SIZE}

    @contextlib.contextmanager
    def at(self, value):
        with place() as here:
            yield generate(here.directory / "in", "--unique", str(value))

    def measure(self, context, contender, value):
        if contender[0] == "perl" and value > self.most_of_perl:
            raise LookupError("would take minutes, and of memory up to 14 GB")
        out = context.with_name("out")
        files = {"{in}": context, "{out}": out}
        args = [files.get(arg, arg) for arg in contender]
        if "{out}" in contender:
            figures = run_child(args)
        else:
            with open(out, "wb") as stream:
                figures = run_child(args, stream)
        return {**figures, "file": out.stat().st_size / 1e6}


class Svg(Drawing):
    name, title = "draw-svg", "folded stacks to an SVG"
    values = (*Drawing.values, 1000000)

    def contenders(self, peers):
        return {OURS: [settings.COLLECTOR, "render", "{in}"],
                "inferno": peers.make("inferno", lambda home: [
                    home / "inferno-flamegraph", "--colors=java", "{in}"]),
                "flamegraph.pl": peers.make("flamegraph", lambda home: [
                    "perl", home / "flamegraph.pl", "--colors=java", "{in}"])}


class Html(Drawing):
    name, title = "draw-html", "folded stacks to a page"

    def contenders(self, peers):
        return {OURS: [settings.COLLECTOR, "render", "-f", "html", "{in}"],
                "jfr-converter": peers.make("converter", lambda java: [
                    *java, "-o", "html", "{in}", "{out}"])}


class Pprof(Drawing):
    name, title = "draw-pprof", "folded stacks to pprof"
    not_to_be_had = {"others": "no peer makes pprof of folded stacks"}

    def contenders(self, peers):
        return {OURS: [settings.COLLECTOR, "render", "-f", "pb.gz", "{in}"]}


class Collapse(Drawing):
    name, title = "collapse", "perf script to folded stacks"
    values = (*Drawing.values, 1000000)
    driver, unit_of_driver = "samples", " samples"

    @contextlib.contextmanager
    def at(self, value):
        with place() as here:
            yield generate(here.directory / "in", "--perf", str(value))

    def contenders(self, peers):
        return {OURS: [settings.COLLECTOR, "render", "-f", "folded", "{in}"],
                "inferno": peers.make("inferno", lambda home: [
                    home / "inferno-collapse-perf", "--all", "{in}"]),
                "flamegraph.pl": peers.make("flamegraph", lambda home: [
                    "perl", home / "stackcollapse-perf.pl", "--all", "{in}"])}


class Diff(Drawing):
    """Two files in; the peers' programs make folded stacks of two columns first."""

    name, title = "diff", "two files of folded stacks to a differential SVG"

    @contextlib.contextmanager
    def at(self, value):
        with place() as here:
            generate(here.directory / "after", "--unique", str(value), "--seed", "2")
            yield generate(here.directory / "in", "--unique", str(value))

    def contenders(self, peers):
        return {OURS: [[settings.COLLECTOR, "diff", "-f", "svg", "{in}", "{after}"]],
                "inferno": peers.make("inferno", lambda home: [
                    [home / "inferno-diff-folded", "{in}", "{after}"],
                    [home / "inferno-flamegraph", "--colors=java"]]),
                "flamegraph.pl": peers.make("flamegraph", lambda home: [
                    ["perl", home / "difffolded.pl", "{in}", "{after}"],
                    ["perl", home / "flamegraph.pl", "--colors=java"]])}

    def measure(self, context, contender, value):
        out = context.with_name("out")
        files = {"{in}": context, "{after}": context.with_name("after")}
        figures = run_pipe([[files.get(arg, arg) for arg in args] for args in contender],
                           "/dev/null", out)
        return {name: figures[name] for name in TIME} | {"file": out.stat().st_size / 1e6}


ROWS = [Svg(), Html(), Pprof(), Collapse(), Diff()]
