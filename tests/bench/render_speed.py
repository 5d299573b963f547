# SPDX-License-Identifier: Apache-2.0
"""What drawing costs: processor time, memory and size of the file, side by side with others.

Programs take turns, so that what else the machine does meets all of them. Those that are not
given are said to be left out. Times are of the processor, user and system.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--fgcollect", default=os.environ.get("FG_COLLECTOR"), required=not
                       os.environ.get("FG_COLLECTOR"))
arguments.add_argument("--flamegraph", help="flamegraph.pl, with stackcollapse-perf.pl beside it")
arguments.add_argument("--inferno", help="inferno-flamegraph, with inferno-collapse-perf beside it")
arguments.add_argument("--converter", help="async-profiler's jfr-converter.jar")
arguments.add_argument("--stacks", default="1000,10000,100000")
arguments.add_argument("--samples", type=int, default=10000, help="of perf script; 0: none")
arguments.add_argument("--input", action="append", default=[], help="a file of folded stacks more")
arguments.add_argument("--runs", type=int, default=3)
options = arguments.parse_args()


def beside(program, name):
    return str(pathlib.Path(program).with_name(name))


def drawers():
    yield "fgcollect", [options.fgcollect, "render"]
    if options.flamegraph:
        yield "flamegraph.pl", ["perl", options.flamegraph, "--colors=java"]
    if options.inferno:
        yield "inferno", [options.inferno, "--colors=java"]
    if options.converter:
        yield "converter", ["java", "-jar", options.converter, "-o", "html", "{in}", "{out}"]


def collapsers():
    yield "fgcollect", [options.fgcollect, "render", "-f", "folded"]
    if options.flamegraph:
        yield "stackcollapse", ["perl", beside(options.flamegraph, "stackcollapse-perf.pl"), "--all"]
    if options.inferno:
        yield "inferno", [beside(options.inferno, "inferno-collapse-perf"), "--all"]


def run(command, source, out):
    """Seconds of the processor and KiB of memory."""
    files = {"{in}": str(source), "{out}": str(out)}
    args = [files.get(arg, arg) for arg in command]
    takes_files = "{in}" in command
    with open(out if not takes_files else os.devnull, "wb") as stream:
        child = subprocess.Popen(args if takes_files else [*args, str(source)], stdout=stream,
                                 stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(args)}: exit {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def table(title, programs, source, directory):
    programs = list(programs)
    taken = {name: [] for name, _ in programs}
    sizes = {}
    for _ in range(options.runs):
        for name, command in programs:
            out = directory / "out"
            taken[name].append(run(command, source, out))
            sizes[name] = out.stat().st_size
    print(f"\n{title}: {source.stat().st_size / 1e6:.1f} MB, median of {options.runs}")
    print(f"{'':15}{'time':>9}{'ratio':>8}{'memory':>11}{'ratio':>8}{'file':>11}")
    own = [statistics.median(column) for column in zip(*taken["fgcollect"])]
    for name, _ in programs:
        seconds, kib = (statistics.median(column) for column in zip(*taken[name]))
        print(f"{name:15}{seconds:7.2f} s{seconds / own[0]:8.2f}{kib / 1024:8.1f} MB"
              f"{kib / own[1]:8.2f}{sizes[name] / 1e6:8.2f} MB", flush=True)


def generate(source, *args):
    """By another process, because a child's memory counts from its parent's on."""
    with open(source, "wb") as stream:
        subprocess.run([sys.executable, pathlib.Path(__file__).with_name("folded_stacks.py"), *args],
                       stdout=stream, check=True)


def main():
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"less than {floor / 1024:.1f} MB of memory are shown as that")
    for name, path in (("flamegraph.pl", options.flamegraph), ("inferno", options.inferno),
                       ("async-profiler's converter", options.converter)):
        if not path:
            print(f"{name} is left out: its option says where it is")
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        for unique in map(int, filter(None, options.stacks.split(","))):
            source = directory / "in.folded"
            generate(source, "--unique", str(unique))
            table(f"{unique} stacks", drawers(), source, directory)
        for path in options.input:
            table(path, drawers(), pathlib.Path(path), directory)
        if options.samples:
            source = directory / "in.perf.txt"
            generate(source, "--perf", str(options.samples))
            table(f"{options.samples} samples of perf script", collapsers(), source, directory)


main()
