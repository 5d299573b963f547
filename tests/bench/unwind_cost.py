# SPDX-License-Identifier: Apache-2.0
"""What it costs to walk, name and add a sample, for programs with few, many and very many frames.

Of samples with some 80 physical frames walk and name together should take 20 us in the median and
60 us at the 99th percentile at most. Run as root, from a build with optimisation.
"""

import argparse
import subprocess

from bench_place import java, place, processes, settings

# Flags of the JVM, then the program; what is inlined is no physical frame.
PROGRAMS = {"recursion80": (["-XX:-Inline"], ["Recursion", "80"]),
            "recursion500": (["-XX:-Inline"], ["Recursion", "500"]),
            "inlined80": ([], ["Recursion", "80"]),
            "mixed": ([], ["Mixed"])}

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("programs", nargs="*", metavar="PROGRAM",
                       help=f"all, or of: {', '.join(PROGRAMS)}")
arguments.add_argument("--seconds", type=float, default=5)
arguments.add_argument("--hz", type=int, default=999)
arguments.add_argument("--stack-bytes", type=int, default=32 << 10,
                       help="of a snapshot; 0: the kernel's walk along frame pointers")
arguments.add_argument("--jdk", type=int, action="append", help="17 and 25 unless given")
arguments.add_argument("--framepointer", default="off", choices=("off", "auto", "on"))
options = arguments.parse_args()

bench = settings.BUILD / "tests" / "bench" / "unwind_cost"
for name in options.programs or PROGRAMS:
    for jdk in options.jdk or [17, 25]:
        with place() as here:
            # In time for the agent's first dial, or for the next, which comes within a second.
            flags, program = PROGRAMS[name]
            command = java(here, *program, jdk=jdk, flags=flags)
            command[1] += f",framepointer={options.framepointer}"
            jvm = processes.Background(command, here.directory / "java.log")
            try:
                processes.wait_until(lambda jvm=jvm: "ready" in jvm.text, "the JVM is warm")
                print(f"{name}, JDK {jdk}, framepointer={options.framepointer}, {options.hz} Hz",
                      flush=True)
                subprocess.run([bench, here.socket, here.maps, str(options.seconds),
                                str(options.hz), str(options.stack_bytes)], check=True)
            finally:
                jvm.stop()
