# SPDX-License-Identifier: Apache-2.0
"""Interpreted methods of a real JVM, named from its memory by the values of a hello. Run by
run_jvms.py."""

import os
import pathlib
import re
import subprocess

from jvm_harness import OPTIONS, JvmTestCase

DEPTH = 40
PING = "Nest$Inner.ping(ILjava/lang/String;[J)I"
PONG = "Nest$Inner.pong(ID)I"


def line_of(text):
    """The number of the one line of Nest.java with that text."""
    source = pathlib.Path(OPTIONS.java, "Nest.java").read_text(encoding="utf-8").splitlines()
    (number,) = [i for i, line in enumerate(source, 1) if text in line]
    return str(number)


class InterpretedMethodsAreNamed(JvmTestCase):
    def thread_of(self, jvm, name):
        for task in pathlib.Path(f"/proc/{jvm.process.pid}/task").iterdir():
            if (task / "comm").read_text() == name + "\n":
                return task.name
        raise AssertionError(f"no thread {name}")

    def methods_of(self, *flags):
        """(name, source file, bci, line) of each Method* on the nested thread's stack, leaf first."""
        listener = self.listen()
        jvm = self.start(flags=flags, main=("Nest", str(DEPTH)))
        (hello,) = listener.wait_for_kind("hello")
        answer = subprocess.run(
            [OPTIONS.stack_methods, str(jvm.process.pid), self.thread_of(jvm, "nested")],
            input="\t".join(hello[3:]) + "\n", capture_output=True, text=True, encoding="utf-8")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.finish(jvm)
        listener.stop()
        os.unlink(self.path)
        lines = [line.split("\t") for line in answer.stdout.splitlines()]
        figures = lines.pop()
        self.assertEqual(figures[0], "figures")
        print(f"{len(lines)} methods on the stack; of {figures[1]} each took {figures[2]} ns to "
              f"read, {figures[3]} to read again, {figures[4]} to find", flush=True)
        return lines

    def check_nest(self, *flags):
        found = self.methods_of(*flags)
        frames = [line for line in found if line[2] != "-1"]
        nest = [line for line in frames if line[0].startswith("Nest")]
        recursion = [line for line in nest if line[0] in (PING, PONG)]
        # As many as there are, in their order, each at the line of its call.
        self.assertEqual([line[0] for line in recursion], [PING, PONG] * (DEPTH // 2) + [PING])
        self.assertEqual({tuple(line[1:2] + line[3:]) for line in recursion if line[0] == PONG},
                         {("Nest.java", line_of("return ping("))})
        self.assertEqual({tuple(line[1:2] + line[3:]) for line in recursion if line[0] == PING},
                         {("Nest.java", line_of("? park() : pong"))})
        others = [line for line in nest if line not in recursion]
        # Neither javac nor the JVM numbers lambdas alike in all versions.
        names = [re.sub(r"(\$\$Lambda).*\.|(\$)\d+(?=\()", lambda m: m[1] + "." if m[1] else m[2],
                        line[0]) for line in others]
        self.assertEqual(names, [
            "Nest.park()I", "Nest.änderung(I)I", "Nest.lambda$enter$(LNest;I)I",
            "Nest$$Lambda.down(I)I", "Nest.enter(I)V",
            "Nest.lambda$main$([Ljava/lang/String;)V", "Nest$$Lambda.run()V"])
        self.assertEqual([line[3] for line in others if line[1]], [
            line_of("LockSupport.park()"), line_of("return Inner.ping("),
            line_of("n -> nest"), line_of("step.down"), line_of("Integer.parseInt(args")])
        for line in others:
            self.assertNotIn("+0x", line[0])
        park = [line for line in frames if line[0].endswith("LockSupport.park()V")]
        self.assertEqual([line[0] for line in park],
                         ["java/util/concurrent/locks/LockSupport.park()V"])
        (run,) = [line for line in frames if line[0] == "java/lang/Thread.run()V"]
        # A runtime that jlink made for production has no sources and lines of the JDK's classes.
        if not OPTIONS.javac:
            self.assertEqual(park[0][1], "LockSupport.java")
            self.assertGreater(int(park[0][3]), 1)
            self.assertEqual(run[1], "Thread.java")
        # Native methods have no bytecodes.
        self.assertTrue(any(line[0].endswith("Unsafe.park(ZJ)V") for line in found))

    def test_interpreted_methods_are_named_from_memory(self):
        self.check_nest("-Xint")

    def test_shared_and_unshared_classes_are_laid_out_alike(self):
        self.check_nest("-Xint", "-Xshare:off")
