#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the USDT probes of libfgagent.so: what tools read of them, and what the kernel needs.

usage: check_notes.py libfgagent.so
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

# pylint: disable=wrong-import-position
from harness import usdt  # noqa: E402

EM_X86_64, EM_AARCH64 = 62, 183
NOPS = {EM_X86_64: bytes.fromhex("0f1f440000"), EM_AARCH64: bytes.fromhex("1f2003d5")}
REGISTERS = {EM_X86_64: ("%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9"), EM_AARCH64: ("x0", "x1", "x2", "x3", "x4", "x5")}
# Of each point: who shares its semaphore (None: it has none), and the number of its arguments.
POINTS = {
    "alloc": ("512k", 5),
    "alloc__sample": (None, 5),
    "alloc__arm": ("512k", 0),
    "alloc__arm_16k": ("16k", 0),
    "alloc__arm_64k": ("64k", 0),
    "alloc__arm_2m": ("2m", 0),
    "alloc_dead": ("dead", 6),
    "alloc_dead__sample": (None, 6),
    "alloc_dead__arm": ("dead", 0),
    "lock_enter": ("lock", 3),
    "lock_enter__sample": (None, 3),
    "lock_entered": ("lock", 3),
    "lock_entered__sample": (None, 3),
    "lock__arm": ("lock", 0),
}


def point_problems(file, point):
    nop = NOPS[file.machine]
    segment = file.segment_of(point.pc)
    if not segment or not segment.flags & usdt.PF_X:
        yield "is not in code"
    elif file.data[file.offset_of(point.pc):][:len(nop)] != nop:
        yield "is no instruction that does nothing"
    registers = REGISTERS[file.machine][:POINTS[point.name][1]]
    if point.args != " ".join(f"8@{register}" for register in registers):
        yield f"has the arguments {point.args!r}"
    if point.base != file.sections[".stapsdt.base"].addr:
        yield "has another base than .stapsdt.base"


def semaphore_problems(file, addr):
    segment, section = file.segment_of(addr), file.sections[".probes"]
    if not segment or not segment.flags & usdt.PF_W:
        yield "is not in the file, or not writable"
        return
    if segment.flags & usdt.PF_X:
        yield "is in code"
    if any(relro.addr < addr + 2 and addr < relro.addr + relro.size
           for relro in file.segments if relro.kind == usdt.PT_GNU_RELRO):
        yield "is made read-only after the start"
    if section.kind != usdt.SHT_PROGBITS or not section.addr <= addr < section.addr + section.size:
        yield "is not in .probes"
    if file.offset_of(addr) != addr - section.addr + section.offset:
        yield "has another place in the file than its section says"
    if addr % 2:
        yield "is not aligned"
    if file.data[file.offset_of(addr):][:2] != b"\0\0":
        yield "is raised in the file"


def problems(path):
    file = usdt.File(path)
    if set(file.points) != set(POINTS):
        yield f"has the points {sorted(file.points)}"
        return
    shared = {}
    for name, point in file.points.items():
        yield from (f"{name} {problem}" for problem in point_problems(file, point))
        if point.semaphore:
            yield from (f"{name}'s semaphore {problem}"
                        for problem in semaphore_problems(file, point.semaphore))
        shared.setdefault(POINTS[name][0], set()).add(point.semaphore)
    if shared.pop(None) != {0}:
        yield "has a semaphore at a point that shall have none"
    if any(len(addrs) != 1 for addrs in shared.values()):
        yield "has two semaphores where one is shared"
    if len(set.union(*shared.values())) != len(shared):
        yield "shares a semaphore between points that shall not"
    if len({point.pc for point in file.points.values()}) != len(POINTS):
        yield "has two points at one place"


def main():
    found = list(problems(sys.argv[1]))
    for problem in found:
        print(f"{sys.argv[1]}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
