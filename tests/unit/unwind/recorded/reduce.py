#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a recording for test_recorded of what recorder.c wrote and an agent's listener printed.

usage: reduce.py DIRECTORY TITLE [COUNT [PC...]] > recording

DIRECTORY has samples, methods, maps, code and events, see record.sh. COUNT samples are chosen so
that as many kinds of places as possible are among them, the first of each PC before all; without
COUNT all are taken. Of files and of code only what these samples need goes into the recording: see
README.md for its form.
"""

import bisect
import collections
import itertools
import os
import re
import struct
import sys

WORD = struct.Struct("<Q")
REGS = 33
SP, PC, LR = 31, 32, 30
ADDR_MASK = (1 << 48) - 1
ENTRY_BYTES, AT_BYTES, CALL_BYTES = 64, 24, 16
KINDS = {"1": "java", "2": "native", "3": "osr"}


class Words:
    """A stream of 8-byte words."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def __bool__(self):
        return self.at < len(self.data)

    def next(self):
        (word,) = WORD.unpack_from(self.data, self.at)
        self.at += WORD.size
        return word

    def next_signed(self):
        word = self.next()
        return word - (1 << 64) if word >> 63 else word

    def bytes(self, count):
        self.at += count
        return self.data[self.at - count:self.at]


class Sample:
    def __init__(self, words):
        self.thread, self.time_ns = words.next(), words.next()
        self.regs = [words.next() for _ in range(REGS)]
        self.java_status = words.next_signed()
        self.java = []
        for _ in range(self.java_status):
            self.java.append((words.next(), words.next_signed()))
        self.native = [words.next() for _ in range(words.next())]
        self.stack = words.bytes(words.next())

    @property
    def pc(self):
        return self.regs[PC]

    @property
    def is_signed(self):
        """Whether a return address on the native part of the stack is."""
        whole = len(self.stack) // 8 * 8
        return any(word >> 48 and word & ADDR_MASK in self.native
                   for (word,) in WORD.iter_unpack(self.stack[:whole]))

    def addrs(self):
        """All that may be an address of code."""
        whole = len(self.stack) // 8 * 8
        yield self.pc
        yield self.regs[LR] & ADDR_MASK
        for (word,) in WORD.iter_unpack(self.stack[:whole]):
            yield word & ADDR_MASK


Mapping = collections.namedtuple("Mapping", "start end offset path")
Code = collections.namedtuple("Code", "addr size kind frame name birth")


def read_maps(path):
    """Executable mappings, those without a file joined."""
    found = []
    for line in open(path, encoding="utf-8"):
        match = re.match(r"([0-9a-f]+)-([0-9a-f]+) (....) ([0-9a-f]+) \S+ \d+\s*(.*)", line)
        if not match or match[3][2] != "x":
            continue
        mapping = Mapping(int(match[1], 16), int(match[2], 16), int(match[4], 16), match[5])
        if found and found[-1].end == mapping.start and not found[-1].path and not mapping.path:
            found[-1] = found[-1]._replace(end=mapping.end)
        else:
            found.append(mapping)
    return found


class Events:
    """What the agent said: code that lived to the end, and the hello's values."""

    def __init__(self, path):
        self.code, self.hello, self.dead = {}, {}, []
        for line in open(path, encoding="utf-8", errors="replace"):
            words = line.rstrip("\n").split("\t")
            if words[1] == "hello":
                self.hello = dict(word.split("=", 1) for word in words[3:] if "=" in word)
            elif words[1] == "method load":
                owner = words[8][1:-1] if words[8].startswith("L") else words[8]
                self.add(Code(int(words[4], 16), int(words[5], 16), KINDS[words[7]],
                              tuple(map(int, words[12:15])), f"{owner}.{words[9]}",
                              int(words[3])))
            elif words[1] == "stub":
                self.add(Code(int(words[4], 16), int(words[5], 16), "stub",
                              tuple(map(int, words[6:9])), words[9], int(words[3])))
            elif words[1] == "method unload":
                self.dead.append(self.code.pop(int(words[4], 16), None))

    def add(self, code):
        old = self.code.get(code.addr)
        if old and old[1:5] != code[1:5]:
            self.dead.append(old)
        self.code[code.addr] = code if not old else code._replace(birth=old.birth)

    def finder(self):
        ranges = sorted(self.code.values())
        starts = [code.addr for code in ranges]

        def find(addr):
            i = bisect.bisect_right(starts, addr) - 1
            return ranges[i] if i >= 0 and addr < ranges[i].addr + ranges[i].size else None
        return find


def read_memory(path):
    data, found, at = open(path, "rb").read(), [], 0
    while at < len(data):
        start, length = struct.unpack_from("<QQ", data, at)
        found.append((start, data[at + 16:at + 16 + length]))
        at += 16 + length
    return found


def bytes_at(memory, addr, count):
    for start, data in memory:
        if start <= addr < start + len(data):
            return data[addr - start:addr - start + count]
    return b""


class Elf:
    """A library's segments and its unwind entries; reduced() has only the entries that are needed.

    Entries keep their instructions byte by byte. What counts from its own place is counted anew.
    """

    def __init__(self, path):
        self.data = open(path, "rb").read()
        header = struct.unpack_from("<16sHHIQQQIHHHHHH", self.data)
        phoff, shoff, phentsize, phnum, shentsize, shnum, shstrndx = (
            header[5], header[6], header[9], header[10], header[11], header[12], header[13])
        self.segments = [struct.unpack_from("<IIQQQQQQ", self.data, phoff + i * phentsize)
                         for i in range(phnum)]
        sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, shoff + i * shentsize)
                    for i in range(shnum)]
        names = sections[shstrndx][4]
        self.frames = []
        for section in sections:
            end = self.data.index(b"\0", names + section[0])
            if self.data[names + section[0]:end] == b".eh_frame":
                self.addr, self.off, self.size = section[3], section[4], section[5]
                self.read_frames()

    def addr_of(self, offset):
        for kind, _, off, vaddr, _, filesz, _, _ in self.segments:
            if kind == 1 and off <= offset < off + filesz:
                return vaddr + offset - off
        return None

    def read_frames(self):
        """(start, end, CIE's place, entry's place and length) of each, places in the section."""
        at, section = 0, self.data[self.off:self.off + self.size]
        while at + 8 <= len(section):
            length, back = struct.unpack_from("<II", section, at)
            if length == 0:
                break
            if back != 0:
                begin, size = struct.unpack_from("<iI", section, at + 8)
                start = (self.addr + at + 8 + begin) & ADDR_MASK
                self.frames.append((start, start + size, at + 4 - back, at, length + 4))
            at += length + 4
        self.frames.sort()

    def reduced(self, addrs):
        section = self.data[self.off:self.off + self.size]
        wanted = [frame for frame in self.frames
                  if any(frame[0] <= addr < frame[1] for addr in addrs)]
        out, cies = bytearray(), {}
        for start, _, cie, at, length in wanted:
            if cie not in cies:
                (cie_length,) = struct.unpack_from("<I", section, cie)
                # A personality's place counts from its own too, and is not needed: zeros.
                cies[cie] = len(out)
                out += section[cie:cie + 4 + cie_length]
            entry = bytearray(section[at:at + length])
            here = self.addr + len(out)
            struct.pack_into("<Ii", entry, 4, len(out) + 4 - cies[cie], start - (here + 8))
            out += entry
        out += bytes(4)
        return self.file(bytes(out))

    def file(self, frames):
        loads = [segment for segment in self.segments if segment[0] == 1]
        names = b"\0.eh_frame\0.shstrtab\0"
        at = 64 + 56 * len(loads)
        shoff = at + len(frames) + len(names)
        shoff += -shoff % 8
        data = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1" + bytes(9), 3, 183, 1, 0, 64,
                           shoff, 0, 64, 56, len(loads), 64, 3, 2)
        for load in loads:
            data += struct.pack("<IIQQQQQQ", *load)
        data += frames + names
        data += bytes(shoff - len(data))
        data += bytes(64)
        data += struct.pack("<IIQQQQIIQQ", 1, 1, 2, self.addr, at, len(frames), 0, 0, 8, 0)
        data += struct.pack("<IIQQQQIIQQ", 11, 3, 0, 0, at + len(frames), len(names), 0, 0, 1, 0)
        return data


def place_of(sample, find, mappings):
    """A word or two for where it was stopped, by which samples are chosen."""
    code = find(sample.pc)
    if not code:
        for mapping in mappings:
            if mapping.start <= sample.pc < mapping.end:
                return os.path.basename(mapping.path)
        return "nowhere"
    offset = sample.pc - code.addr
    if code.kind == "stub":
        return f"stub {code.name}"
    if offset < code.frame[1]:
        return f"{code.kind} prologue {offset - code.frame[2]}"
    return f"{code.kind} body"


def first_of_each(samples, pcs):
    return [next(sample for sample in samples if sample.pc == pc) for pc in pcs]


def choose(samples, count, find, mappings, memory):
    """The richest of each place in turn; code near returns is a place of its own."""
    groups = collections.defaultdict(list)
    for sample in samples:
        place = place_of(sample, find, mappings)
        words = struct.iter_unpack("<I", bytes_at(memory, sample.pc, 24) or bytes(24))
        for i, (word,) in enumerate(words):
            if word == 0xd65f03c0:
                place += f" {i} before return"
        groups[place + " signed" * sample.is_signed].append(sample)
    chosen = []
    for members in groups.values():
        members.sort(key=lambda sample: (sample.java_status <= 0, len(sample.stack)))
    while len(chosen) < count and any(groups.values()):
        for place in sorted(groups):
            if groups[place] and len(chosen) < count:
                chosen.append(groups[place].pop(0))
    return chosen


def stack_lines(stack):
    """In words, N times the same one as N*word."""
    whole = len(stack) // 8 * 8
    line = []
    for word, same in itertools.groupby(word for (word,) in WORD.iter_unpack(stack[:whole])):
        count = len(list(same))
        line.append(f"{count}*{word:x}" if count > 1 else f"{word:x}")
        if len(line) == 8:
            print("stack", *line)
            line = []
    if line:
        print("stack", *line)


def hex_lines(word, data, each=64):
    for i in range(0, len(data), each):
        print(word, data[i:i + each].hex())


def main():
    directory, title = sys.argv[1:3]
    events = Events(f"{directory}/events")
    mappings = read_maps(f"{directory}/maps")
    memory = read_memory(f"{directory}/code")
    words = Words(open(f"{directory}/samples", "rb").read())
    samples = []
    while words:
        samples.append(Sample(words))
    find = events.finder()
    dead = [code for code in events.dead if code]

    def is_stable(sample):
        """Nothing on its stack has come or gone since."""
        for addr in sample.addrs():
            code = find(addr)
            if code and code.birth > sample.time_ns:
                return False
            if any(old.addr <= addr < old.addr + old.size for old in dead):
                return False
        return True
    total = len(samples)
    samples = [sample for sample in samples if is_stable(sample)]
    if len(sys.argv) > 3:
        wanted = first_of_each(samples, [int(pc, 16) for pc in sys.argv[4:]])
        samples = wanted + choose([sample for sample in samples if sample not in wanted],
                                  int(sys.argv[3]) - len(wanted), find, mappings, memory)
    print(f"{len(samples)} of {total} samples", file=sys.stderr)
    print(f"title {title}")
    print(f"constmethod {events.hello['sizeof(ConstMethod)']}")
    addrs = {addr for sample in samples for addr in sample.addrs()}
    addrs |= {addr for sample in samples for addr in sample.native}
    write_mappings(mappings, addrs)
    write_code(find, memory, addrs, {sample.pc for sample in samples})
    write_methods(f"{directory}/methods", samples)
    for sample in samples:
        print("sample", re.sub(r"\s+", "-", place_of(sample, find, mappings)))
        print("regs", *(f"{reg:x}" for reg in sample.regs))
        stack_lines(sample.stack)
        print("native", *(f"{addr:x}" for addr in sample.native))
        print("java", *(f"{method:x}@{bci}" for method, bci in sample.java))


def write_mappings(mappings, addrs):
    for mapping in mappings:
        inside = [addr for addr in addrs if mapping.start <= addr < mapping.end]
        if not mapping.path:
            print(f"anon {mapping.start:x} {mapping.end:x}")
        elif inside:
            elf = Elf(mapping.path)
            print(f"file {mapping.start:x} {mapping.end:x} {mapping.offset:x} "
                  f"{os.path.basename(mapping.path)}")
            places = {elf.addr_of(addr - bias - mapping.start + mapping.offset)
                      for addr in inside for bias in (0, 1)} - {None}
            hex_lines("elf", elf.reduced(places))


def write_code(find, memory, addrs, pcs):
    used = {}
    for addr in addrs:
        for probe in (addr, addr - 1):
            code = find(probe)
            if code:
                used.setdefault(code.addr, (code, set()))[1].add(addr)
    for code, inside in sorted(used.values(), key=lambda pair: pair[0].addr):
        print(f"code {code.addr:x} {code.size:x} {code.kind} {' '.join(map(str, code.frame))} "
              f"{code.name}")
        pieces = {(code.addr, ENTRY_BYTES), (code.addr + code.frame[2], ENTRY_BYTES)}
        pieces |= {(addr, AT_BYTES) for addr in inside & pcs}
        pieces |= {(addr - CALL_BYTES, CALL_BYTES) for addr in inside - pcs}
        end = code.addr + code.size
        for start, count in sorted(pieces):
            start = max(start, code.addr)
            data = bytes_at(memory, start, min(count, end - start))
            if data:
                print(f"bytes {start:x} {data.hex()}")


def write_methods(path, samples):
    wanted = {method for sample in samples for method, _ in sample.java}
    for line in open(path, encoding="utf-8"):
        method, where, const, owner, name = line.split()
        if int(method, 16) in wanted:
            print(f"method {method} {where} {const} {owner[1:-1]}.{name}")


if __name__ == "__main__":
    main()
