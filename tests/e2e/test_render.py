# SPDX-License-Identifier: Apache-2.0
"""fgcollect render draws recordings of other programs. The expected graphs are computed here."""

import collections
import os
import re
import subprocess
import xml.etree.ElementTree

from harness import collector, settings
from harness.case import Case
from harness.marks import plain

FOLDED = """\
main;a/B.c_[j];vfs_read_[k] 40
main;a/B.c_[j];x/Y.z_[i] 30
main;a/B.c_[j] 20
other thread;start_thread;Thread::run() 10
"""
SVG = "{http://www.w3.org/2000/svg}"


def perf_sample(comm, event, period, *frames):
    """A sample as perf script prints it. frames: root first, each (name, file)."""
    lines = [f"{comm} 7/8 [001] 12.000001: {period:10} {event}: "]
    lines += [f"\t{0x7f0000001000 + 16 * i:16x} {name}+0x11 ({file})"
              for i, (name, file) in enumerate(reversed(frames))]
    return "\n".join(lines) + "\n\n"


def stacks(text):
    counts = collections.Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        counts[stack] += int(count)
    return counts


@plain
class Render(Case):
    def write(self, name, text):
        path = self.directory / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def render(self, *args, stdin=None):
        prefix = [] if stdin is None else ["sh", "-c", 'exec "$@" < "$0"', stdin]
        return collector.fgcollect("render", *args, prefix=prefix)

    def folded(self, *args, stdin=None):
        finished = self.render(*args, "-f", "folded", stdin=stdin)
        self.assertEqual(finished.code, 0, str(finished))
        return finished.out

    def test_folded_comes_out_as_it_went_in(self):
        path = self.write("in.folded", FOLDED)
        self.assertEqual(self.folded(path), "".join(sorted(FOLDED.splitlines(True))))
        self.assertEqual(self.folded(stdin=path), self.folded("-", stdin=path))

    def test_several_files_are_added_up(self):
        paths = [self.write(f"{i}.folded", FOLDED) for i in range(3)]
        once = stacks(FOLDED)
        self.assertEqual(stacks(self.folded(*paths)), {k: 3 * n for k, n in once.items()})

    def test_svg_shows_true_counts_and_shares(self):
        out = self.directory / "x.svg"
        finished = self.render(self.write("in.folded", FOLDED), "-o", out, "--countname", "ms",
                               "--title", "<T> & co")
        self.assertEqual(finished.code, 0, str(finished))
        root = xml.etree.ElementTree.parse(out).getroot()
        titles = {t.text for t in root.iter(SVG + "title")}
        self.assertIn("a/B.c (90 ms, 90.00%)", titles)
        self.assertIn("vfs_read (40 ms, 40.00%)", titles)
        self.assertIn("<T> & co", {t.text for t in root.iter(SVG + "text")})

    def test_names_keep_their_colours_by_palette_map(self):
        path, palette = self.write("in.folded", FOLDED), self.directory / "palette.map"
        prefix = ["sh", "-c", 'cd "$0" && exec "$@"', self.directory]
        for name in ("0.svg", "1.svg", "2.svg"):
            if name == "1.svg":
                self.assertNotIn("#010203", (self.directory / "0.svg").read_text())
                palette.write_text("x/Y.z_[i]->rgb(1,2,3)\n")
            finished = collector.fgcollect("render", path, "--cp", "-o", name, prefix=prefix)
            self.assertEqual(finished.code, 0, str(finished))
        self.assertIn('fill="#010203"', (self.directory / "2.svg").read_text())
        self.assertEqual((self.directory / "1.svg").read_text(),
                         (self.directory / "2.svg").read_text())
        names = {line.split("->")[0] for line in palette.read_text().splitlines()}
        self.assertLess({"x/Y.z_[i]", "a/B.c_[j]", "vfs_read_[k]", "main"}, names)

    def test_stacks_begin_where_the_user_says(self):
        path = self.write("in.folded", FOLDED)
        self.assertEqual(stacks(self.folded(path, "--base", "a/B.c")),
                         {"a/B.c_[j];vfs_read_[k]": 40, "a/B.c_[j];x/Y.z_[i]": 30, "a/B.c_[j]": 20})
        self.assertEqual(stacks(self.folded(path, "--skip-after", "x/Y.z")),
                         {"main;a/B.c_[j];vfs_read_[k]": 40, "x/Y.z_[i]": 30, "main;a/B.c_[j]": 20,
                          "other thread;start_thread;Thread::run()": 10})
        finished = self.render(path, "--base", "a/B.c", "-f", "folded")
        self.assertIn("10 samples whose stacks have no frame called a/B.c are left out", finished.err)
        finished = self.render(path, "--base", "none", "-f", "folded")
        self.assertNotEqual(finished.code, 0)

    def test_option_of_another_tool_says_what_to_do_instead(self):
        finished = self.render(self.write("in.folded", FOLDED), "--flamechart")
        self.assertEqual(finished.code, 2)
        self.assertIn("in the order of time", finished.err)

    def test_perf_script_is_what_its_samples_say(self):
        java = ("Lorg/x/Y;::m", "/tmp/perf-7.map")
        kernel = ("vfs_read", "[kernel.kallsyms]")
        text = "".join(
            [perf_sample("my java", "cycles:P", 100, java, kernel)] * 3 +
            [perf_sample("my java", "cycles:P", 50, java, ("[unknown]", "/lib/libc.so.6"))] +
            [perf_sample("my java", "faults", 1, java)])
        path = self.write("p.txt", text)
        self.assertEqual(stacks(self.folded(path)), {
            "my_java;org/x/Y.m_[j];vfs_read_[k]": 300, "my_java;org/x/Y.m_[j];[libc.so.6]": 50})
        self.assertEqual(stacks(self.folded(path, "--samples", "--tid", "--kernel")), {
            "my_java-7/8;org/x/Y.m;vfs_read_[k]": 3, "my_java-7/8;org/x/Y.m;[libc.so.6]": 1})
        self.assertEqual(stacks(self.folded(path, "--event-filter", "faults")),
                         {"my_java;org/x/Y.m_[j]": 1})
        finished = self.render(path, "-f", "folded")
        self.assertIn("1 samples of other events than cycles:P left out", finished.err)

    def test_abbreviated_options_of_flamegraph_are_understood(self):
        finished = self.render(self.write("in.folded", FOLDED), "--color=java", "--hash",
                               "--reverse", "--inverted", "--minwidth", "0.5%", "--bgcolors",
                               "#ffeedd", "--width=900", "--height=18", "--nametype=Method:",
                               "--total=200", "--factor=2", "--notes", "n", "--subtitle", "s")
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("<title>vfs_read (80 samples, 20.00%)</title>", finished.out)

    def test_bad_lines_are_told_and_the_others_drawn(self):
        path = self.write("in.folded", FOLDED + "nonsense\n\nb -3\n")
        finished = self.render(path, "-f", "folded")
        self.assertEqual(finished.code, 0)
        self.assertEqual(stacks(finished.out), stacks(FOLDED))
        self.assertIn("3 of 7 lines ignored; the first is line 5: it does not end in a count",
                      finished.err)

    def test_what_is_no_stacks_is_an_error_that_says_why(self):
        for name, data, text in (("empty", b"", "is empty"), ("text", b"hello\n", "no stacks in it"),
                                 ("perf.data", b"PERFILE2\0\0", "perf script -i"),
                                 ("blob", bytes(range(256)) * 9, "binary")):
            path = self.write(name, data)
            out = self.directory / f"{name}.svg"
            self.assert_fails(self.render(path, "-o", out), 1, path, text)
            self.assertFalse(out.exists())
        self.assert_fails(self.render(self.directory), 1, self.directory, "directory")
        self.assert_fails(self.render("/nonexistent"), 1, "/nonexistent", "No such file")

    def test_files_of_other_tools_are_called_by_what_they_are(self):
        for name, data, text in (
                ("a.json", '{\n  "kind": "trace",\n  "endValue": 14\n}\n', "JSON"),
                ("b.json", '[{"a": 1},\n {"b": 2}]\n', "JSON"),
                ("c.json", '{"traceEvents": []}\n', "perfetto"),
                ("d.json", '{"$schema":"https://www.speedscope.app/file-format-schema.json"}', "speedscope"),
                ("e.html", "<html><body>1\n", "drawn already"),
                ("f.out", "# callgrind format\nversion: 1\nfn=(1) main\n16 400\n", "kcachegrind"),
                ("g.jfr", b"FLR\0\0\2", "jfrconv"),
                ("h.txt", "Full thread dump OpenJDK 64-Bit Server VM\n\n\"main\" #1\n", "jstack"),
                ("i.txt", "one line\nand one more\nand a third\na;b 3\n", "more than half"),
                ("j.folded", "a;b 0.25\na;c 0.40\n", "fractions")):
            path = self.write(name, data)
            out = self.directory / f"{name}.svg"
            self.assert_fails(self.render(path, "-o", out), 1, path, text)
            self.assertFalse(out.exists())

    def test_several_events_are_never_added_silently(self):
        frame = ("f", "/bin/x")
        first = self.write("1.txt", perf_sample("x", "cycles", 5, frame))
        other = self.write("2.txt", perf_sample("x", "faults", 7, frame))
        both = self.write("3.txt", perf_sample("x", "faults", 7, frame) +
                          perf_sample("x", "cycles", 9, frame))
        self.assertEqual(stacks(self.folded(first, both)), {"x;f": 14})
        self.assert_fails(self.render(first, other, "-f", "folded"), 1, "faults", "cycles")
        self.assertEqual(stacks(self.folded(other, both, "--event-filter", "faults")), {"x;f": 14})

    def test_stacks_begin_at_any_of_several_frames(self):
        path = self.write("in.folded", "a;b 1\nc;d 1\ne;f;d;b 4\ng 8\n")
        self.assertEqual(stacks(self.folded(path, "--base", "b", "--base", "d")),
                         {"b": 1, "d": 1, "d;b": 4})

    def test_files_have_the_modes_that_their_owner_wants(self):
        path, out = self.write("in.folded", FOLDED), self.directory / "x.svg"
        for umask, mode, wanted in (("077", None, 0o600), ("022", 0o600, 0o600), ("022", None, 0o644),
                                    ("002", 0o664, 0o664)):
            out.unlink(missing_ok=True)
            if mode is not None:
                out.touch()
                out.chmod(mode)
            prefix = ["sh", "-c", f'umask {umask} && exec "$@"', "sh"]
            finished = collector.fgcollect("render", path, "-o", out, prefix=prefix)
            self.assertEqual(finished.code, 0, str(finished))
            self.assertEqual(out.stat().st_mode & 0o777, wanted)

    def test_a_format_may_have_any_file(self):
        path, out = self.write("in.folded", FOLDED), self.directory / "picture.of.today"
        finished = self.render(path, "-f", "svg", "-o", out)
        self.assertEqual((finished.code, finished.out), (0, ""), str(finished))
        self.assertTrue(out.read_text().startswith("<?xml"))

    def test_a_page_refuses_the_options_of_pictures(self):
        path = self.write("in.folded", FOLDED)
        for option in (["--colors", "hot"], ["--width", "800"], ["--inverted"], ["--factor", "2"],
                       ["--minwidth", "1"], ["--countname", "ms"], ["-c", "hot"]):
            name = {"-c": "colors"}.get(option[0], option[0].lstrip("-"))
            self.assert_fails(self.render(path, *option, "-o", self.directory / "x.html"), 2,
                              f"--{name} is for .svg")
        finished = self.render(path, "--inverted", "-o", self.directory / "x.html",
                               "-o", self.directory / "x.svg")
        self.assertEqual(finished.code, 0)
        self.assertIn("--inverted is for .svg", finished.err)

    def test_wrong_options_are_usage_errors(self):
        path = self.write("in.folded", FOLDED)
        for args, text in ((["--colors", "pink"], "hot"), (["-f", "png"], ".svg"),
                           (["-o", "x.png"], ".svg"), (["--minwidth", "5x"], "%"),
                           (["--width", "-3"], "--width"), (["--no-such"], "no-such"),
                           (["--factor", "0"], "greater than 0")):
            self.assert_fails(self.render(path, *args), 2, text, "--help")

    def test_names_never_become_markup(self):
        hostile = "<script>alert(1)</script>;\x1b[31mred;]]>;&amp;\"';\u202eevil;\udcff 5\n"
        path = self.write("in.folded", hostile.encode("utf-8", "surrogateescape"))
        out = self.directory / "x.svg"
        self.assertEqual(self.render(path, "-o", out).code, 0)
        root = xml.etree.ElementTree.parse(out).getroot()
        self.assertEqual(len(list(root.iter(SVG + "script"))), 1)
        data = out.read_bytes()
        self.assertNotIn(b"\x1b", data)
        self.assertNotIn("\u202e".encode(), data)
        self.assertNotIn(b"\x1b", self.folded(path).encode())

    def test_full_disk_leaves_no_file(self):
        mount = self.directory / "small"
        mount.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", mount],
                              capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest(f"no tmpfs can be mounted: {made.stderr}")
        self.addCleanup(subprocess.run, ["umount", mount], check=True)
        many = "".join(f"main;{'x' * 60}{i};leaf{i} 1\n" for i in range(5000))
        path = self.write("in.folded", many)
        for name in ("x.svg", "x.folded"):
            out = mount / name
            out.write_text("kept")
            self.assert_fails(self.render(path, "-o", out), 1, out, "No space left")
            self.assertEqual(out.read_text(), "kept")
            self.assertEqual(os.listdir(mount), [name])
            out.unlink()
        finished = collector.fgcollect("render", path, prefix=["sh", "-c",
                                                               'exec "$0" "$@" > /dev/full'])
        self.assert_fails(finished, 1, "standard output", "No space left")

    def test_gibibyte_takes_little_memory(self):
        """The input comes from a pipe, which has no size. The tree is small, so memory is, too."""
        line = "main;" + ";".join(f"a/b/C{i}.method_[j]" for i in range(90)) + " 1"
        code = f"import sys\nb = ({line!r} + '\\n').encode() * 512\n" \
               f"for _ in range((1 << 30) // len(b) + 1): sys.stdout.buffer.write(b)"
        script = f"python3 -c \"$0\" | (ulimit -v 200000; exec \"$1\" render -f folded)"
        done = subprocess.run(["sh", "-c", script, code, settings.COLLECTOR], capture_output=True,
                              text=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(re.fullmatch(r"main;.* \d+\n", done.stdout))
        size = len(line) + 1
        self.assertEqual(int(done.stdout.rsplit(" ", 1)[1]), ((1 << 30) // (size * 512) + 1) * 512)
