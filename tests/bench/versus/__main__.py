# SPDX-License-Identifier: Apache-2.0
"""Every row beside its peers, in alternation: JSON, a Markdown table, and a page with plots.

usage: sudo python3 tests/bench/versus [--out DIR] [--rounds N] [ROW ...]
       python3 tests/bench/versus --compare A.json --compare B.json

Without rows all of them are measured, which takes hours; --list names them. Results are written
after each row, and --add keeps what an earlier run in DIR has of rows and values that are not measured
now. --compare measures nothing: the ratios of runs of different days or machines beside each other.
"""

import argparse
import contextlib
import datetime
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "e2e")]

# pylint: disable=wrong-import-position
from bench_place import settings  # noqa: E402
from versus import compare, growth, model, peers, plots, report  # noqa: E402
from versus.rows import ROWS  # noqa: E402


def read_arguments():
    parser = argparse.ArgumentParser(prog="versus", description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help="all unless given")
    parser.add_argument("--list", action="store_true", help="name the rows, and end")
    parser.add_argument("--out", default="versus", help="directory of versus.json, .md and .html")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at", action="append", default=[], metavar="VALUE",
                        help="of what drives a row's cost, only this; may be repeated")
    parser.add_argument("--add", action="store_true", help="to the results that are there")
    parser.add_argument("--compare", action="append", default=[], metavar="FILE",
                        help="a run's versus.json; print the ratios of two or more, and end")
    parser.add_argument("--inferno", help="inferno-flamegraph, with the others beside it")
    parser.add_argument("--flamegraph", help="flamegraph.pl, with the others beside it")
    options = parser.parse_args()
    known = [row.name for row in ROWS]
    for name in options.rows:
        if name not in known:
            parser.error(f"{name}: no such row; there are: {', '.join(known)}")
    if len(options.compare) == 1:
        parser.error("--compare needs two files or more: --compare A.json --compare B.json")
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: at least 1")
    return options


def read_earlier(path):
    """Results of an earlier run, by the name of the row."""
    if not path.exists():
        return {}
    rows = {row.name: row for row in ROWS}
    found = {}
    for given in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        if given["name"] in rows:
            found[given["name"]] = model.Results(
                rows[given["name"]],
                {(one["at"], one["contender"], one["quantity"]): one["values"]
                 for one in given["figures"]},
                {(one["at"], one["contender"]): one["why"] for one in given["missing"]})
    return found


def compare_runs(paths):
    try:
        abouts = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        text = compare.as_markdown(abouts, [read_earlier(path) for path in paths])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"--compare: a versus.json is needed, as --out makes it: {error!r}") from error
    with contextlib.suppress(BrokenPipeError):
        print(text, flush=True)
    return 0


def write(directory, found, about):
    ordered = [found[row.name] for row in ROWS if row.name in found]
    about["growth"] = growth.on_paper(found)
    for name, text in (("versus.json", json.dumps(report.as_json(ordered, about), indent=1)),
                       ("versus.md", report.as_markdown(ordered, about)),
                       ("versus.html", plots.as_html(ordered, about))):
        (directory / name).write_text(text, encoding="utf-8")


def main():
    options = read_arguments()
    if options.list:
        with contextlib.suppress(BrokenPipeError):
            print("\n".join(f"{row.name:16} {row.group:10} {row.title}" for row in ROWS), flush=True)
        return 0
    if options.compare:
        return compare_runs([pathlib.Path(path) for path in options.compare])
    if not settings.COLLECTOR.exists():
        raise SystemExit(f"{settings.COLLECTOR} is not there: build the preset release first")
    directory = pathlib.Path(options.out)
    directory.mkdir(parents=True, exist_ok=True)
    found = read_earlier(directory / "versus.json") if options.add else {}
    known = peers.Peers(options)
    about = {"date": datetime.date.today().isoformat(), "machine": report.machine(),
             "versions": known.versions(), "rounds": options.rounds}
    for row in ROWS:
        if not options.rows or row.name in options.rows:
            found[row.name] = model.measure_row(row, known, options.rounds, options.at,
                                                found.get(row.name))
            write(directory, found, about)
    print((directory / "versus.md").read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
