# SPDX-License-Identifier: Apache-2.0
"""fgcollect render reads what other people's tools write: each kind of input in several shapes.

An input is made here, as small as its kind allows; beside it stand the folded stacks that it is.
"""

import gzip
import lzma
import re

from harness import collector
from harness.case import Case
from harness.marks import plain, shared

BOM = "\ufeff"
REFUSED = None      # instead of stacks: an error, and nothing written


def sample(*frames, head="app 1/1 1.000001:  10 cycles:"):
    """A sample of perf script. frames: leaf first, without the address."""
    return f"{head}\n" + "".join(f"\t{i + 1:x}000 {frame}\n" for i, frame in enumerate(frames)) + "\n"


ONE = sample("f (/x/app)")
PLAIN = "\t1000 f (/x/app)\n\n"


@plain
@shared
class Inputs(Case):
    def gives(self, data, wanted, *options, suffix="txt"):
        path = self.directory / f"in.{suffix}"
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        finished = collector.fgcollect("render", path, *options, "-f", "folded")
        if wanted is REFUSED:
            self.assertEqual((finished.code, finished.out), (1, ""), f"{data!r}: {finished}")
            self.assertRegex(finished.err, rf"^fgcollect: {re.escape(str(path))}: \S+")
        else:
            self.assertEqual((finished.code, finished.out), (0, wanted), f"{data!r}: {finished}")

    def test_texts_may_have_a_byte_order_mark_and_be_wide(self):
        self.gives(BOM + "x;y 3\n", "x;y 3\n")
        self.gives((BOM + "x;y 3\nz 1\n").encode("utf-16-le"), "x;y 3\nz 1\n")
        self.gives((BOM + "x;y 3\r\nz;w 4\r\n").encode("utf-16-be"), "x;y 3\nz;w 4\n")

    def test_comments_of_folded_stacks_are_none_of_them(self):
        self.gives("# made by x\na;b 1\n", "a;b 1\n")
        self.gives("# a 1 2 3\n\n# b\na;b 1\na;c 2\n", "a;b 1\na;c 2\n")
        self.gives("a;b 1\n# total 7\n", "a;b 1\n")

    def test_names_of_cxx_are_cut_at_their_own_parameters(self):
        self.gives(sample("ns::(anonymous namespace)::go(int, char const*)+0x3 (/x/app)", "main (/x/app)"),
                   "app;main;ns::(anonymous namespace)::go 10\n")
        self.gives(sample("std::map<int, void (*)(int)>::operator[](int const&)+0x1 (/x/app)"),
                   "app;std::map<int, void (*)(int)>::operator[] 10\n")
        self.gives(sample("bool operator< <char>(std::string const&, int)+0x1 (/x/app)"),
                   "app;bool operator< <char> 10\n")

    def test_an_address_of_data_is_no_frame(self):
        self.gives("app 1/1 1.5: 1 cycles: ffff8000\n\t1000 f (/x/app)\n\t2000 main (/x/app)\n\n",
                   "app;main;f 1\n")
        self.gives("app 1/1 [000] 1.5:          1 cycles:      7f00deadbeef\n" + PLAIN, "app;f 1\n")
        self.gives("app 1 1.5: 1 mem-loads:uP:      7f00deadbeef         2a0b00142 |OP LOAD\n" + PLAIN,
                   "app;f 1\n")

    def test_each_text_may_be_compressed(self):
        self.gives(gzip.compress(b"a;b 3\n"), "a;b 3\n", suffix="gz")
        self.gives(lzma.compress(ONE.encode()), "app;f 10\n", suffix="xz")
        self.gives(stored_zstd(b"a;b 3\nc 2\n"), "a;b 3\nc 2\n", suffix="zst")

    def test_fractions_are_rounded_or_refused(self):
        self.gives("a;b 1.0\na;c 2.0\n", "a;b 1\na;c 2\n")
        self.gives("a;b 1234.4\na;c 99.6\n", "a;b 1234\na;c 100\n")
        self.gives("a;b 0.2\na;c 0.3\n", REFUSED)

    def test_methods_of_go_keep_their_receiver(self):
        self.gives("main;net/http.(*conn).serve 3\n", "main;net/http.(*conn).serve 3\n")
        self.gives("main;encoding/json.(*Decoder).Decode;main.Map[...].Do 2\n",
                   "main;encoding/json.(*Decoder).Decode;main.Map[...].Do 2\n")
        self.gives(sample("github.com/a/b.(*T).M.func1 (/x/app)", "runtime.goexit (/x/app)"),
                   "app;runtime.goexit;github.com/a/b.(*T).M.func1 10\n")

    def test_a_column_between_processor_and_time_is_one_whatever_it_says(self):
        self.gives("app 1/1 [001] d..1. 1.5: 10 cycles:\n" + PLAIN, "app;f 10\n")
        self.gives("app 1/1 [001] 1.5: 10 cycles:u:\n" + PLAIN, "app;f 10\n")
        self.gives("swapper 0 [000] H 1.5: 10 cycles:\n\t1000 f ([kernel.kallsyms])\n\n",
                   "swapper;f_[k] 10\n")

    def test_mappings_are_no_samples(self):
        self.gives("app 7/7 1.1: PERF_RECORD_MMAP2 7/7: [0x400000(0x1000) @ 0 08:01 1 1]: r-xp /x/app\n" + ONE,
                   "app;f 10\n")
        self.gives(ONE + "app 7/7 1.1: PERF_RECORD_MMAP 7/7: [0x400000(0x1000) @ 0]: x /x/app\n" + ONE,
                   "app;f 20\n")
        self.gives("app 0 [000] 0.0: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1000) @ 0]: x "
                   "[kernel.kallsyms]_text\n" + ONE, "app;f 10\n")

    def test_frames_may_stand_at_the_lines_beginning(self):
        self.gives("app 1/1 1.5: 10 cycles:\n1000 f (/x/app)\n2000 main (/x/app)\n\n", "app;main;f 10\n")
        self.gives("app 1/1 1.5: 10 cycles:\n1000 f (/x/app)\n\napp 1/1 1.6: 10 cycles:\n1000 g (/x/app)",
                   "app;f 10\napp;g 10\n")
        self.gives("app 1/1 1.5: 10 cycles:\r\n1000 f (/x/app)\r\n\r\n", "app;f 10\n")

    def test_what_is_no_stack_file_is_refused(self):
        self.gives("<!DOCTYPE html><html><body>x</body></html>\n", REFUSED)
        self.gives("# callgrind format\nversion: 1\nevents: Ir\nfn=main\n1 2\n", REFUSED)
        self.gives(b"FLR\0\0\2\0\1" + b"\0" * 80, REFUSED)
        self.gives('{"traceEvents":[]}\n', REFUSED)

    def test_without_a_symbol_the_file_is_the_name(self):
        self.gives(sample("[unknown] (/x/liby.so.2)", "main (/x/app)"), "app;main;[liby.so.2] 10\n")
        self.gives(sample("[unknown] ([unknown])", "main (/x/app)"), "app;main;[unknown] 10\n")
        self.gives(sample("[unknown] (/usr/lib/a b.so)"), "app;[a b.so] 10\n")

    def test_processes_may_have_no_pid(self):
        self.gives(":-1 -1 1.5: 10 cycles:\n" + PLAIN, ":-1;f 10\n")
        self.gives("swapper -1/-1 1.5: 10 cycles:\n" + PLAIN, "swapper;f 10\n")
        self.gives(":-1 -1/-1 [000] 1.5: 10 cycles:\n" + PLAIN + sample("g (/x/app)"), ":-1;f 10\napp;g 10\n")

    def test_lines_of_other_programs_are_passed_over(self):
        for stray in ("Warning: 3 events lost\n", "cmd__record 42\n", "Processing 100\n",
                      "Reading 12 of 34 5\n", "[ perf record: Woken up 1 times to write data ]\n"):
            self.gives(stray + ONE, "app;f 10\n")
            self.gives(ONE + stray + ONE, "app;f 20\n")
        self.gives(ONE + "done in 3\n", "app;f 10\n")

    def test_events_of_tasks_are_no_samples(self):
        self.gives("app 7/7 1.1: PERF_RECORD_COMM: app:7/7\n" + ONE, "app;f 10\n")
        self.gives("app 7/7 1.1: PERF_RECORD_FORK(7:8):(7:7)\n" + ONE +
                   "app 7/7 9.1: PERF_RECORD_EXIT(7:7):(1:1)\n", "app;f 10\n")
        self.gives("app 7/7 1.1: PERF_RECORD_NAMESPACES 7/7 - nr_namespaces: 7\n"
                   "\t\t[0/net: 4/0x1, 1/uts: 4/0x2]\n" + ONE, "app;f 10\n")

    def test_tracepoints_are_samples(self):
        self.gives("app 1/1 [000] 1.5: sched:sched_switch: prev_comm=app prev_pid=1 ==> next_comm=x\n" + PLAIN,
                   "app;f 1\n")
        self.gives("app 1 [000] 1.5: syscalls:sys_enter_write: fd: 0x00000001, count: 0x0000000c\n" + PLAIN,
                   "app;f 1\n")
        self.gives("app 1 [000] 1.5: 1 probe_libc:malloc: (7f0012)\n" + PLAIN, "app;f 1\n")

    def test_a_head_of_comments_is_no_sample(self):
        self.gives("# ========\n# captured on    : Sat\n# hostname : h\n# ========\n#\n"
                   "app 1 [000] 1.5: block:block_rq_issue: 8,0 R 4096 () 1 + 8 [app]\n" + PLAIN, "app;f 1\n")
        self.gives("# cmdline : perf record -e x:y 42\n#\n"
                   "app 1 1.5: kmem:kmalloc: call_site=f ptr=0x0 bytes_req=3\n" + PLAIN, "app;f 1\n")
        self.gives("# event : name = x:y, , id = { 1, 2 } 7\napp 1 1.5: x:y: a=1 b=2\n" + PLAIN, "app;f 1\n")

    def test_stacks_begin_at_each_base(self):
        self.gives("a;b 1\nc;d 2\ne;f 3\n", "b 1\nf 3\n", "--base", "b", "--base", "f")
        self.gives("a;b;c 1\na;d;c 2\n", "c 3\n", "--base", "c", "--base", "x")
        self.gives("a;b;c 1\nb;a 2\n", "a;b;c 1\nb;a 2\n", "--base", "b", "--base", "a")

    def test_styles_of_perf_maps_come_back(self):
        unfolded = "java;com/acme/Main.run_[j];com/acme/Foo.bar_[i] 10\n"
        head = "java 1/1 1.5: 10 cycles:"
        self.gives(sample("Lcom/acme/Foo;::bar in Lcom/acme/Main;::run (/tmp/perf-1.map)", head=head), unfolded)
        self.gives(sample("com.acme.Foo::bar in com.acme.Main::run (/tmp/perf-1.map)", head=head), unfolded)
        self.gives(sample("Lcom/acme/Main;::run->Lcom/acme/A;::a->Lcom/acme/Foo;::bar (/tmp/perf-1.map)",
                          head=head),
                   "java;com/acme/Main.run_[j];com/acme/A.a_[i];com/acme/Foo.bar_[i] 10\n")


def stored_zstd(data):
    """A frame of zstd as RFC 8878 has it, of one block that is not compressed, with its size."""
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) + (len(data) << 3 | 1).to_bytes(3, "little") + data
