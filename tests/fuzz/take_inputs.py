#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds inputs that a fuzzer found to its corpus, as few as reach the code that is new with them.

    take_inputs.py PROGRAM FOUND CORPUS

The smallest come first, until the corpus has MAX_FILES files or MAX_BYTES bytes. What was there
stays: some inputs were made by hand, and some have failed once.
"""
import hashlib
import pathlib
import subprocess
import sys
import tempfile

MAX_FILES = 100
MAX_BYTES = 256 << 10


def add(merged, corpus):
    there = {path.read_bytes() for path in corpus.iterdir()}
    bytes_there, taken = sum(map(len, there)), 0
    for data in sorted((path.read_bytes() for path in merged.iterdir()), key=len):
        if data in there or len(there) >= MAX_FILES or bytes_there + len(data) > MAX_BYTES:
            continue
        (corpus / hashlib.sha1(data).hexdigest()[:16]).write_bytes(data)
        there.add(data)
        bytes_there += len(data)
        taken += 1
    print(f"{corpus.name}: {taken} inputs are new, {len(there)} in all, {bytes_there} bytes")


def main():
    program, found, corpus = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        merged = pathlib.Path(scratch)
        # What is merged into a folder that has the corpus is what the corpus lacks.
        for path in corpus.iterdir():
            (merged / path.name).write_bytes(path.read_bytes())
        ended = subprocess.run([program, "-merge=1", "-timeout=10", merged, found],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if ended.returncode != 0:
            sys.exit(f"cannot merge what was found for {corpus.name}:\n{ended.stdout[-4000:]}")
        add(merged, corpus)


if __name__ == "__main__":
    main()
