# SPDX-License-Identifier: Apache-2.0
"""Whether the frames that the agent tells are those that the code makes. Run by run_jvms.py.

The code is read from the JVM's memory while it lives. On x86_64 a compiled method begins in one of
two ways, and what is said to be the offset at which the frame is whole lies right behind:

    push rbp; [mov rbp, rsp]; [sub rsp, N]                               a frame of N + 16 bytes
    sub rsp, N; mov [rsp + N - 8], rbp; [mov rbp, rsp; add rbp, N - 8]   a frame of N + 8 bytes

The second is C2's where the stack need not be probed. Before it stands a probe of the stack (or the
jump that takes its place once nobody may enter any more) and, in static methods of classes that are
not initialised yet, a check; behind it, where the collector or the JDK wants one, a barrier.
"""

import collections
import contextlib
import os
import platform
import re
import unittest

from jvm_code import (ADDR, CLASS, COMPLETE, ENTRY, FRAME_SIZE, JAVA, KIND, LEVEL, NAME, OSR, SIZE,
                      WRAPPER, is_load)
from jvm_harness import JvmTestCase, is_hot

STUB_FRAME_SIZE, STUB_COMPLETE, STUB_ENTRY, STUB_NAME = 6, 7, 8, 9
SHARE_MIN = 0.95

BARRIER = rb"(?:[\x66\x90]*\x41\x81\x7f.{5}(?:\x74.\xe8.{4}|\x0f\x85.{4}))?"
PUSHING = re.compile(rb"\x55(?:\x48\x8b\xec)?(?:\x48\x83\xec(.)|\x48\x81\xec(.{4}))?"
                     + BARRIER + rb"\Z", re.DOTALL)
STORING = re.compile(rb"\x48\x89(?:\x6c\x24(.)|\xac\x24(.{4}))"
                     rb"(?:\x48\x8b\xec(?:\x48\x83\xc5.|\x48\x81\xc5.{4})?)?"
                     + BARRIER + rb"\Z", re.DOTALL)
ENTRIES = (b"\x89\x84\x24", b"\xe9", b"\x48\x81\xec", b"\x49\xba")  # probe, jump, sub, check


def frame_bytes(prologue):
    """The size of the frame that is whole at the end of these bytes, None if it is not."""
    match = STORING.search(prologue) or PUSHING.search(prologue)
    if not match:
        return None
    return 16 + int.from_bytes(match.group(1) or match.group(2) or b"", "little")


def is_intrinsic(line):
    """Jumps to what a method handle says, and makes no frame. Or enters a virtual thread by hand."""
    return line[CLASS] in ("Ljava/lang/invoke/MethodHandle;", "Ljdk/internal/vm/Continuation;")


def live_code(listener):
    """The line of each piece of code that was told and not taken back, by its address."""
    live = {}
    for line in listener.find(lambda line: is_load(line) or line[1] in ("stub", "method unload")):
        live.pop(line[ADDR], None)
        if line[1] != "method unload":
            live[line[ADDR]] = line
    return live


@unittest.skipUnless(platform.machine() == "x86_64", "knows the bytes of x86_64 only")
class AgentTellsFrames(JvmTestCase):
    def run_code(self, flags=(), extra="", wanted=is_hot, count=1):
        """All that lives once hot code has run and lines are as wanted: lines and their bytes.

        Code that was unloaded by the end may have been overwritten before its bytes were read.
        Loading classes is much code: under -Xcomp all of it is compiled."""
        listener = self.listen()
        jvm = self.start(extra, flags=flags)
        listener.wait_for_kind("resync end")
        jvm.ask("hot")
        jvm.ask("churn 3")
        listener.wait_for(wanted, count)
        live = live_code(listener)
        with open(f"/proc/{jvm.process.pid}/mem", "rb", buffering=0) as memory:
            read = {addr: os.pread(memory.fileno(), int(line[SIZE], 16), int(addr, 16))
                    for addr, line in live.items()}
        self.finish(jvm)
        listener.wait_for_kind("bye")
        self.assertEqual(listener.find(lambda line: "broken" in line), [])
        still = live_code(listener)
        listener.stop()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        return [(line, read[addr]) for addr, line in live.items() if still.get(addr) == line]

    def check_share(self, what, good, bad, at_least):
        """Counts, says, and fails below the share."""
        print(f"{what}: {len(good)} of {len(good) + len(bad)}", flush=True)
        self.assertGreaterEqual(len(good) + len(bad), at_least, what)
        self.assertGreaterEqual(len(good), SHARE_MIN * (len(good) + len(bad)), (what, bad[:5]))

    def check_frames(self, what, found, at_least):
        results = {True: [], False: []}
        entries = {True: [], False: []}
        for line, code in found:
            size, complete, entry = (int(word) for word in line[FRAME_SIZE:ENTRY + 1])
            self.assertLessEqual(max(complete, entry), len(code), line)
            results[size > 0 and frame_bytes(code[:complete]) == size].append(line)
            if line[KIND] == JAVA:
                entries[entry < complete and code[entry:].startswith(ENTRIES)].append(line)
        self.check_share(f"{what}: frames", results[True], results[False], at_least)
        if any(entries.values()):
            self.check_share(f"{what}: entries", entries[True], entries[False], 0)

    def check_compiler(self, flags, level):
        for extra in ("", ",framepointer=auto"):
            found = self.run_code(flags, extra, is_load, 600)
            loads = [(line, code) for line, code in found
                     if is_load(line) and not is_intrinsic(line)]
            methods = [(line, code) for line, code in loads if line[KIND] == JAVA]
            wrappers = [(line, code) for line, code in loads if line[KIND] == WRAPPER]
            self.assertEqual({line[LEVEL] for line, _ in methods}, {level})
            self.check_frames(f"{flags}{extra}: methods", methods, 300)
            self.check_frames(f"{flags}{extra}: native wrappers", wrappers, 20)

    def test_frames_of_c1_are_those_of_its_prologues(self):
        self.check_compiler(("-Xcomp", "-XX:TieredStopAtLevel=1"), "1")

    def test_frames_of_c2_are_those_of_its_prologues(self):
        self.check_compiler(("-Xcomp", "-XX:-TieredCompilation"), "4")

    def sizes_of_code(self, *flags):
        """Of each method that was compiled once."""
        found = self.run_code(("-Xcomp", "-Xbatch", *flags), "", is_load, 600)
        methods = [line for line, _ in found if is_load(line) and line[KIND] == JAVA]
        names = collections.Counter((line[CLASS], line[NAME], line[LEVEL]) for line in methods)
        return {(line[CLASS], line[NAME], line[LEVEL]): line[SIZE] for line in methods
                if names[(line[CLASS], line[NAME], line[LEVEL])] == 1}

    def check_code_is_the_same(self, *flags):
        """The only thing that the agent changes about code: how much HotSpot writes down of it."""
        with_records = self.sizes_of_code(*flags)
        without = self.sizes_of_code(*flags, "-XX:+UnlockDiagnosticVMOptions",
                                     "-XX:-DebugNonSafepoints")
        both = with_records.keys() & without.keys()
        differing = [name for name in both if with_records[name] != without[name]]
        self.check_share(f"{flags}: the same code", sorted(both - set(differing)), differing, 300)

    def test_code_of_c1_is_the_same_without_its_records(self):
        self.check_code_is_the_same("-XX:TieredStopAtLevel=1")

    def test_code_of_c2_is_the_same_without_its_records(self):
        self.check_code_is_the_same("-XX:-TieredCompilation")

    def test_frames_with_entry_barriers_are_those_of_the_prologues(self):
        found = self.run_code(("-Xcomp", "-XX:-UseSerialGC", "-XX:+UseG1GC"), "", is_load, 600)
        loads = [(line, code) for line, code in found if is_load(line) and not is_intrinsic(line)]
        self.check_frames("G1", loads, 500)

    def test_frames_entered_by_on_stack_replacement_are_told(self):
        def is_osr(line):
            return is_load(line) and line[NAME] == "runHot" and line[KIND] == OSR

        loads = []
        for _ in range(3):  # a better version may take its place before its bytes are read
            found = self.run_code(wanted=is_osr)
            loads += [(line, code) for line, code in found if is_load(line) and line[KIND] == OSR]
            if loads:
                break
        self.check_frames("OSR", loads, 1)

    def test_frames_are_told_of_stubs_that_have_one(self):
        found = [(line, code) for line, code in self.run_code() if line[1] == "stub"]
        sizes = {}
        for line, code in found:
            size, complete, entry = (int(word) for word in line[STUB_FRAME_SIZE:STUB_ENTRY + 1])
            self.assertEqual(entry, 0, line)
            self.assertLessEqual(complete, len(code), line)
            self.assertEqual(size % 16, 0, line)
            self.assertTrue(size > 0 or complete == 0, line)
            sizes.setdefault(line[STUB_NAME], set()).add(size)
        # Where registers are saved the frame is large.
        for name in ("DeoptimizationBlob", "SafepointBlob"):
            self.assertGreaterEqual(min(sizes[name]), 512, name)
        self.assertEqual(sizes["ExceptionBlob"], {16})
        for name in ("Interpreter", "I2C/C2I adapters", "vtable stub"):
            self.assertEqual(sizes.get(name, {0}), {0}, name)
        self.assertGreater(sum(0 not in of_name for of_name in sizes.values()), 20)
        throwing = [(line, code) for line, code in found
                    if "throw_StackOverflowError" in line[STUB_NAME]
                    or line[STUB_NAME] == "StackOverflowError throw_exception"]
        self.assertEqual([frame_bytes(code[:int(line[STUB_COMPLETE])]) for line, code in throwing],
                         [int(line[STUB_FRAME_SIZE]) for line, _ in throwing])
        self.assertEqual(len(throwing), 1)

    def test_a_repetition_tells_the_same_frames(self):
        first = self.listen()
        jvm = self.start()
        jvm.ask("hot")
        first.wait_for(is_hot)
        first.stop()
        os.unlink(self.path)
        second = self.listen()
        second.wait_for_kind("resync end")
        self.finish(jvm)
        told = {line[ADDR]: line for line in first.find(is_load)}
        again = [line for line in second.find(is_load)
                 if line[ADDR] in told and told[line[ADDR]][NAME] == line[NAME]]
        for line in again:
            self.assertEqual(line[FRAME_SIZE:ENTRY + 1],
                             told[line[ADDR]][FRAME_SIZE:ENTRY + 1], line)
        self.assertGreaterEqual(len(again), 5)
