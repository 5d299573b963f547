#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that libfgagent.so is a file that any glibc since 2.17, and musl, can load.

usage: check_elf.py libfgagent.so
"""

import re
import subprocess
import sys

MAX_GLIBC = (2, 17)
EXPORTS = {"Agent_OnLoad", "Agent_OnUnload"}


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], check=True, capture_output=True,
                          text=True).stdout


def dynamic_symbols(path):
    """(name, version or None, is defined) of each."""
    for line in readelf("--dyn-syms", path).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].endswith(":") and fields[0] != "Num:":
            name, _, version = fields[7].partition("@")
            yield name, version.lstrip("@") or None, fields[6] != "UND"


def problems(path):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path))
    if needed != ["libc.so.6"]:
        yield f"NEEDED is {needed}, not libc.so.6 alone"
    for tag in ("TEXTREL", "RPATH", "RUNPATH", "RELR"):
        if f"({tag})" in readelf("-d", path):
            yield f"has {tag}"
    if "NODELETE" not in readelf("-d", path):
        yield "can be unloaded while a callback is in it (no NODELETE)"
    segments = readelf("-l", path)
    if re.search(r"^\s*TLS\s", segments, re.M):
        yield "has a TLS segment"
    if re.search(r"GNU_STACK.*RWE", segments):
        yield "wants an executable stack"
    exports = set()
    for name, version, defined in dynamic_symbols(path):
        if defined:
            exports.add(name)
            continue
        if name.endswith("_chk"):
            yield f"is fortified: {name}"
        if name.startswith(("__asan", "__ubsan", "__tsan", "__tls_get_addr")):
            yield f"uses {name}"
        if version and version.startswith("GLIBC_"):
            number = tuple(int(part) for part in version[len("GLIBC_"):].split("."))
            if number > MAX_GLIBC:
                yield f"needs {name}@{version}"
    if exports != EXPORTS:
        yield f"exports {sorted(exports)}"


def main():
    found = list(problems(sys.argv[1]))
    for problem in found:
        print(f"{sys.argv[1]}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
