#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a libFuzzer program on its corpus for some time, and says what came of it.

    run_fuzzer.py [--seconds N] [--seed N] [--keep DIR] PROGRAM CORPUS

The seed is always the same unless FG_FUZZ_SEED is another, so that a commit is judged by what it
changes; scripts/fuzz takes seeds by chance. An input that fails is printed, compressed and in
base64, for

    base64 -d | gunzip >tests/fuzz/corpus/NAME/WORD

and is kept in DIR with what is new, if DIR is given. Exit: 1 if an input failed.
"""
import argparse
import base64
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PRINTED_BYTES = 64 << 10
TAIL_LINES = 60
# A single input: seconds; and memory in MiB, with the sanitizers' own.
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=1024"]


def run(args, found, failed):
    command = [args.program, f"-seed={args.seed}", f"-max_total_time={args.seconds}", *LIMITS,
               "-print_final_stats=1", f"-artifact_prefix={failed}/", found, args.corpus]
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)


def last(pattern, text):
    found = re.findall(pattern, text)
    return found[-1] if found else "?"


def report_failures(failed):
    for path in sorted(failed.iterdir()):
        data = path.read_bytes()
        print(f"{path.name}: {len(data)} bytes")
        if len(data) <= PRINTED_BYTES:
            print(base64.encodebytes(gzip.compress(data)).decode())


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("program")
    parser.add_argument("corpus")
    args = parser.parse_args()
    if args.seed is None:
        args.seed = int(os.environ.get("FG_FUZZ_SEED", "1"))
    name = pathlib.Path(args.program).name.removeprefix("fuzz_")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        found = args.keep / name if args.keep else pathlib.Path(scratch) / "found"
        failed = args.keep / f"{name}.failed" if args.keep else pathlib.Path(scratch) / "failed"
        found.mkdir(parents=True, exist_ok=True)
        failed.mkdir(parents=True, exist_ok=True)
        ended = run(args, found, failed)
        output = ended.stdout
        print(f"{name}: seed {args.seed}, {args.seconds} s: "
              f"{last(r'number_of_executed_units: *([0-9]+)', output)} executions, "
              f"{last(r'cov: ([0-9]+)', output)} edges, "
              f"{len(list(found.iterdir()))} new inputs, "
              f"{last(r'peak_rss_mb: *([0-9]+)', output)} MiB", flush=True)
        if ended.returncode == 0:
            return 0
        said = [line for line in output.splitlines() if not re.match(r"#[0-9]+\t", line)]
        print("\n".join(said[-TAIL_LINES:]))
        report_failures(failed)
        return 1


if __name__ == "__main__":
    sys.exit(main())
