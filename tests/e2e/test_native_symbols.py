# SPDX-License-Identifier: Apache-2.0
"""Frames of programs without a JVM have names, however the programs were built and stripped."""

import math
import os
import re
import shutil

from harness import collector, processes
from harness.case import Case
from harness.marks import counted
from harness.side_by_side import SideBySide, assert_named, named_frames, share

SECONDS = 2
HZ = 299
# Of each program; a recording is made again, longer, until it has them.
LEAST_FRAMES = 500

WORK = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile unsigned sink;
static __attribute__((noinline)) unsigned spin(unsigned n)
{
	unsigned x = n;
	for (unsigned i = 0; i < 20000; i++)
		x = x * 31 + (x >> 7);
	return x;
}
static inline __attribute__((always_inline)) unsigned inlined_part(unsigned n)
{
	unsigned x = n;
	for (unsigned i = 0; i < 20000; i++)
		x = x * 17 ^ (x >> 3);
	return x;
}
static __attribute__((noinline)) unsigned caller(unsigned n)
{
	return inlined_part(n) + spin(n) + 1;
}
static int by_bytes(const void *a, const void *b) { return memcmp(a, b, 4); }
int main(int argc, char **argv)
{
	time_t end = time(NULL) + atoi(argv[1]);
	static int numbers[2000];
	while (time(NULL) < end) {
		for (int i = 0; i < 2000; i++)
			numbers[i] = rand();
		qsort(numbers, 2000, sizeof(int), by_bytes);
		sink += caller(numbers[3]);
	}
	return argc == 99;
}
"""

CXX = r"""
#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>
template <class T> struct Pile {
	std::vector<T> items;
	__attribute__((noinline)) void fill(int n)
	{
		items.clear();
		for (int i = 0; i < n; i++)
			items.push_back(T(std::to_string(i * 7919 % n)));
		std::sort(items.begin(), items.end());
	}
};
int main(int, char **argv)
{
	auto end = std::chrono::steady_clock::now() + std::chrono::seconds(atoi(argv[1]));
	Pile<std::string> pile;
	std::map<std::string, int> counts;
	while (std::chrono::steady_clock::now() < end) {
		pile.fill(2000);
		for (auto &item : pile.items)
			counts[item]++;
	}
	return counts.empty();
}
"""

RUST = r"""
use std::collections::BTreeMap;
trait Shape { fn area(&self, n: u64) -> u64; }
struct Square(u64);
impl Shape for Square {
    #[inline(never)]
    fn area(&self, n: u64) -> u64 { (0..n).fold(0, |s, i| s * 31 % 1000003 + (self.0 ^ i)) }
}
fn main() {
    let seconds: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let start = std::time::Instant::now();
    let mut counts = BTreeMap::new();
    let shape: Box<dyn Shape> = Box::new(Square(3));
    while start.elapsed().as_secs() < seconds {
        let n = shape.area(20000);
        for i in 0..500u64 { *counts.entry(format!("{}", (n + i) % 97)).or_insert(0u64) += 1; }
    }
    println!("{}", counts.len());
}
"""

ZLIB = r"""
#include <stdlib.h>
#include <time.h>
#include <zlib.h>
static unsigned char from[200000], to[300000];
int main(int argc, char **argv)
{
	time_t end = time(NULL) + atoi(argv[1]);
	for (unsigned i = 0; i < sizeof(from); i++)
		from[i] = i * i % 251;
	while (time(NULL) < end) {
		uLongf len = sizeof(to);
		compress(to, &len, from, sizeof(from));
	}
	return argc == 99;
}
"""

# A library that is unpacked under another name each time, whose work is done by a signal's handler.
UNPACKED = r"""
#include <signal.h>
static volatile unsigned sink;
static __attribute__((noinline)) unsigned hidden(unsigned n)
{
	for (unsigned i = 0; i < 200000000; i++)
		n = n * 31 + (n >> 7);
	return n;
}
static void on_signal(int number) { sink += hidden((unsigned)number) + 1; }
void work(void)
{
	signal(SIGUSR1, on_signal);
	for (;;)
		raise(SIGUSR1);
}
"""

OPENER = r"""
#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	((void (*)(void))dlsym(library, "work"))();
}
"""

MINI_DEBUG = """
nm -D {0} --format=posix --defined-only | awk '{{print $1}}' | sort >d
nm {0} --format=posix --defined-only | awk '$2 ~ /[TtD]/ {{print $1}}' | sort | comm -13 d - >k
objcopy --only-keep-debug {0} m; objcopy -S --keep-symbols=k m; xz -f m; strip {0}
objcopy --add-section .gnu_debugdata=m.xz {0}
"""

DEBUG_LINK = """
objcopy --only-keep-debug {0} {0}.debug; strip {0}; objcopy --add-gnu-debuglink={0}.debug {0}
"""


@counted
class NativeSymbols(Case):
    def test_frames_of_native_programs_are_named(self):
        programs = self.build()
        ours, recording, theirs = self.run_both(programs)
        print(f"\n{'':14}{'frames':>8} {'named':>8} {'perf: frames':>14} {'named':>8}")
        for name in programs:
            print(f"{name:14}{ours[name][0]:8} {share(*ours[name]):8.2%} {theirs[name][0]:14} "
                  f"{share(*theirs[name]):8.2%}")
        for name, frames in ours.items():
            assert_named(self, *frames, f"{name}\n{recording}")
        for name in ("whole", "mini_debug", "debug_link"):
            self.assert_shown(recording, name, "main", "caller", "spin")
        for name in ("stripped", "static"):
            self.assert_shown(recording, name, f"{name}:fn@0x[0-9a-f]+")
        self.assert_shown(recording, "cxx", "main", "Pile<std::.*>::fill")
        self.assert_shown(recording, "zlib", r"(deflate.*|compress.*|libz\.so.*:fn@0x[0-9a-f]+)")
        if "rust" in programs:
            self.assert_shown(recording, "rust", "<rust::Square as rust::Shape>::area")

    def test_unpacked_libraries_and_signal_handlers_have_names_that_last(self):
        opener = self.compile("opener", OPENER, "-s")
        library = self.compile("libwork10803334959429481.so", UNPACKED, "-fPIC", "-shared", "-s",
                               "-Wl,-soname,libwork.so.1")
        nameless = self.compile("work-7a3bf7bd-0a44-4c79-9d53-1f5e37f0ad2e.so", UNPACKED, "-fPIC",
                                "-shared", "-s")
        for path, name in ((library, "libwork.so.1"), (nameless, "work.so")):
            program = self.background([opener, path], "opener")
            recording = collector.record(self.place, "-p", program.pid, seconds=SECONDS, hz=HZ)
            raw = collector.record(self.place, "-p", program.pid, "--raw-names", seconds=1, hz=HZ)
            program.stop()
            handler = re.compile(re.escape(name) + ":fn@0x[0-9a-f]+")
            stacks = recording.folded.of_root("opener").stacks
            total = sum(count for _, count in stacks)
            good = sum(count for frames, count in stacks for at, frame in enumerate(frames)
                       if frame == "__restore_rt" and handler.fullmatch(frames[at + 1]))
            self.assertGreater(total, 50, recording)
            self.assertGreater(good, .95 * total, recording)
            self.assert_shown(raw, "opener", re.escape(path.name) + ":fn@0x[0-9a-f]+")

    def test_inlined_functions_and_lines_are_shown_on_request(self):
        program = self.compile("inlines", WORK, "-g")
        self.background([program, "100"], "inlines")
        plain = collector.record(self.place, "-a", seconds=2)
        lines = collector.record(self.place, "-a", "--native-lines", "--lines", seconds=SECONDS)
        self.assert_shown(plain, "inlines", "caller")
        self.assertNotIn("inlined_part", str(plain.folded.stacks))
        below = [frames[at - 1] for frames, _ in lines.folded.of_root("inlines").stacks
                 for at, frame in enumerate(frames) if frame.startswith("inlined_part")]
        self.assertTrue(below, str(lines))
        for frame in below:
            self.assertRegex(frame, r"^caller:\d+$")
        self.assert_shown(lines, "inlines", r"inlined_part:\d+_\[i\]", r"spin:\d+")

    def test_templates_are_shortened_on_request(self):
        program = self.compile("cxx", CXX, "-x", "c++", tool="c++")
        self.background([program, "100"], "cxx")
        recording = collector.record(self.place, "-a", "--cxx-names=simple", seconds=2)
        self.assert_shown(recording, "cxx", re.escape("Pile<...>::fill"))

    def compile(self, name, source, *options, tool="cc"):
        if not shutil.which(tool):
            self.skipTest(f"no {tool}")
        path = self.directory / f"{name}.source"
        path.write_text(source)
        language = [] if "-x" in options else ["-x", "c"]
        libraries = [option for option in options if option.startswith("-l")]
        processes.run([tool, "-O2", *language, *options, path, *libraries, "-o", self.directory / name],
                      check=True)
        return self.directory / name

    def build(self):
        """Builds the programs: {name: path}. Each program runs for as many seconds as its argument
        says."""
        programs = {"whole": self.compile("whole", WORK)}
        programs["stripped"] = self.compile("stripped", WORK, "-s")
        programs["static"] = self.compile("static", WORK, "-s", "-static-pie")
        programs["cxx"] = self.compile("cxx", CXX, "-x", "c++", tool="c++")
        programs["zlib"] = self.compile("zlib", ZLIB, "-lz")
        for name, recipe in (("mini_debug", MINI_DEBUG), ("debug_link", DEBUG_LINK)):
            programs[name] = self.compile(name, WORK)
            processes.run(["sh", "-ec", f"cd {self.directory}\n{recipe.format(name)}"], check=True)
        if shutil.which("rustc"):
            source = self.directory / "rust.rs"
            source.write_text(RUST)
            processes.run(["rustc", "-O", "-o", self.directory / "rust", source], check=True,
                          timeout=120)
            programs["rust"] = self.directory / "rust"
        else:
            print("no rustc: without the program in Rust")
        return programs

    def run_both(self, programs):
        """Runs all programs at once. Returns the frames of each, and fgcollect's and perf's recordings
        of the same seconds."""
        # Long enough for each to have as many samples as on a CPU of its own.
        seconds = SECONDS * math.ceil(len(programs) / os.cpu_count())
        running = {name: self.background([path, "1000"], name) for name, path in programs.items()}
        ours = {}
        while min((frames for frames, _ in ours.values()), default=0) < LEAST_FRAMES:
            self.assertLess(seconds, 100, f"too few frames: {ours}")
            sides = SideBySide(self, seconds, HZ)
            recording = collector.record(self.place, "-a", seconds=seconds, hz=HZ)
            ours = {name: named_frames(recording.folded.of_root(name)) for name in programs}
            sides.perf.wait()
            seconds *= 2
        for program in running.values():
            program.stop()
        return ours, recording, {name: sides.by_perf(program.pid)
                                 for name, program in running.items()}

    def assert_shown(self, recording, name, *frames):
        stacks = recording.folded.of_root(name).stacks
        shown = {frame for stack, _ in stacks for frame in stack[1:]}
        for frame in frames:
            self.assertTrue(any(re.fullmatch(frame, one) for one in shown),
                            f"{name} has no {frame}: {sorted(shown)}")
