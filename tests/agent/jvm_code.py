# SPDX-License-Identifier: Apache-2.0
"""What the agent says of a real JVM's code: levels, inlining, names. Run by run_jvms.py."""

import collections
import contextlib
import os
import re
import subprocess

from jvm_harness import OPTIONS, JvmTestCase, is_hot

# Words of a load's line.
ADDR, SIZE, LEVEL, KIND, CLASS, NAME = 4, 5, 6, 7, 8, 9
FRAME_SIZE, COMPLETE, ENTRY = 12, 13, 14
BYTES, METHODS, NAMED, REGIONS, HOW, ID, LINES = 15, 16, 17, 18, 19, 20, 21
JAVA, WRAPPER, OSR = "1", "2", "3"


def is_load(line):
    return line[1] == "method load"


def is_inlined(line):
    return (line[1] == "region" and line[5].startswith("LSubject;runHot@")
            and line[-1].startswith("LSubject;hotMethod@"))


def human_name(line):
    return f"{line[CLASS][1:-1].replace('/', '.')}.{line[NAME]}"


class AgentTellsCode(JvmTestCase):
    def run_hot(self, flags=(), extra="", wanted=is_hot):
        """Everything a JVM says that has run hot code until one line is as wanted."""
        listener = self.listen()
        jvm = self.start(extra, flags=flags)
        listener.wait_for_kind("resync end")
        jvm.ask("hot")
        listener.wait_for(wanted)
        self.finish(jvm)
        listener.wait_for_kind("bye")
        lines = listener.find(lambda line: True)
        listener.stop()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.assertEqual([line for line in lines if "broken" in line], [])
        return lines

    def test_compile_levels_are_told(self):
        for stop in (1, 2, 3):
            lines = self.run_hot((f"-XX:TieredStopAtLevel={stop}",))
            levels = {line[LEVEL] for line in lines if is_load(line) and line[KIND] != WRAPPER}
            self.assertLessEqual(levels, {"1", str(stop)})
            self.assertEqual({line[LEVEL] for line in lines if is_hot(line)}, {str(stop)})
        lines = self.run_hot(wanted=lambda line: is_hot(line) and line[LEVEL] == "4")
        loads = [line for line in lines if is_load(line)]
        self.assertLessEqual({line[LEVEL] for line in loads if line[KIND] != WRAPPER},
                             {"1", "2", "3", "4"})
        self.assertLessEqual({line[LEVEL] for line in loads if line[KIND] == WRAPPER}, {"0"})

    def test_on_stack_replacement_is_told(self):
        def is_osr(line):
            return is_load(line) and line[NAME] == "runHot" and line[KIND] == OSR

        lines = self.run_hot(wanted=is_osr)
        self.assertTrue(any(line[KIND] == JAVA for line in lines if is_load(line)))
        lines = self.run_hot(("-XX:-UseOnStackReplacement",))
        self.assertFalse(any(line[KIND] == OSR for line in lines if is_load(line)))

    def test_inlined_regions_lie_within_the_code(self):
        lines = self.run_hot(wanted=is_inlined)
        load, end, n = None, 0, collections.Counter()
        for line in lines:
            if is_load(line):
                load, end = line, 0
            if line[1] != "region":
                continue
            self.assertEqual(line[3], load[ADDR])
            self.assertGreater(int(line[4], 16), end)
            end = int(line[4], 16)
            self.assertLessEqual(end, int(load[SIZE], 16))
            self.assertTrue(line[5].startswith(f"{load[CLASS]}{load[NAME]}@"), (load, line))
            n[load[ADDR], load[3]] += 1
        for line in lines:
            if is_load(line):
                self.assertEqual(int(line[REGIONS]), n[line[ADDR], line[3]], line)
        bcis = {int(line[-1].rpartition("@")[2]) for line in lines if is_inlined(line)}
        self.assertLessEqual(max(bcis), 40)

    def test_methods_are_named_once_with_their_lines(self):
        lines = self.run_hot()
        named = [line for line in lines if is_load(line) and line[HOW] == "2"]
        self.assertEqual(len(named), len({line[ID] for line in named}))
        (first,) = [line for line in named if is_hot(line)][:1]
        self.assertEqual(first[LINES], "5")
        lines = self.run_hot(extra=",lines=off")
        self.assertEqual({line[LINES] for line in lines if is_load(line)}, {"0"})

    def perf_map(self, pid):
        """What the JVM itself calls its code, by address."""
        path = f"/tmp/perf-{pid}.map"
        jcmd = f"{OPTIONS.jdk}/bin/jcmd"
        commands = subprocess.run([jcmd, str(pid), "help"], check=True, capture_output=True,
                                  text=True).stdout
        if "Compiler.perfmap" not in commands:
            self.skipTest("this JDK's jcmd has no Compiler.perfmap: 17 is the first that has")
        subprocess.run([jcmd, str(pid), "Compiler.perfmap"], check=True,
                       stdout=subprocess.DEVNULL)
        try:
            with open(path, encoding="utf-8", errors="replace") as lines:
                return {int(addr, 16): name
                        for addr, _, name in (line.rstrip("\n").split(" ", 2) for line in lines)}
        finally:
            os.unlink(path)

    def test_names_are_those_of_the_jvm(self):
        listener = self.listen()
        jvm = self.start(flags=("-Xcomp", "-XX:TieredStopAtLevel=1"))
        listener.wait_for_kind("resync end")
        jvm.ask("churn 3")
        names = self.perf_map(jvm.process.pid)
        self.finish(jvm)
        listener.wait_for_kind("bye")
        self.assertEqual(listener.find(lambda line: "broken" in line), [])
        told = {}
        for line in listener.find(lambda line: line[1] in ("method load", "method unload")):
            told.setdefault(int(line[ADDR], 16), set()).add(
                human_name(line) if is_load(line) else None)
        same = 0
        for addr, expected in names.items():
            match = re.search(r"([^ ]+)\(", expected)
            # Hidden classes and reused addresses prove nothing; JDK 25 gives one jmethodID to all
            # intrinsics of MethodHandle.
            if addr not in told or len(told[addr]) > 1 or not match or "0x" in expected \
                    or match.group(1).startswith("java.lang.invoke.MethodHandle."):
                continue
            self.assertEqual(told[addr], {match.group(1)}, expected)
            same += 1
        self.assertGreater(same, 500)
        self.assertGreater(len(listener.find(lambda line: is_load(line) and line[HOW] == "0")), 0)
