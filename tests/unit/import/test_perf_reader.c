// SPDX-License-Identifier: Apache-2.0
/* The text of perf script: headers, frames, names, events. */
#include "imported.h"

#include <stdio.h>

#define HEADER "java 7/8 [001] 12.000001:     250 cycles:P: \n"

static void check(const char *text, const char *expected, uint64_t ignored)
{
	check_import(&all_marks, text, expected, ignored);
}

/* A sample with one frame is called so. */
static void check_frame(const struct import_options *options, const char *frame,
			const char *expected)
{
	char text[512], folded[512];

	snprintf(text, sizeof(text), HEADER "\t    7f0000001234 %s\n\n", frame);
	snprintf(folded, sizeof(folded), "java;%s 250\n", expected);
	check_import(options, text, folded, 0);
}

static void samples_weigh_their_periods(void **state)
{
	const struct import_options samples = {.counts_samples = true};
	static const char text[] = "# comment\n" HEADER "\t    7f0000001234 leaf+0x1f (/bin/x)\n"
				   "\t    7f0000001238 root+0x20 (/bin/x)\n\n" HEADER
				   "\t    7f0000001234 leaf+0x2f (/bin/x)\n"
				   "\t    7f0000001238 root+0x20 (/bin/x)\n\n";

	check(text, "java;root;leaf 500\n", 0);
	check_import(&samples, text, "java;root;leaf 2\n", 0);
}

static void headers_of_every_choice_of_fields_are_read(void **state)
{
	static const char *const headers[] = {
		"a b 7/8 [001] 1.5: 3 cycles: \n", "a b  7/8 1.5: 3 cycles: \n",
		"a b 8 1.5: 3 cycles:u: \n",	   "             a b 7/8 [012] 1.5: 3 cycles:\n",
		"a b 7/8 [001] 3 cycles:\n",	   "a b 7/8 [001]\n",
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		char text[256];
		const bool has_period = strstr(headers[i], " 3 cycles") != NULL;

		snprintf(text, sizeof(text), "%s\t    7f0000001234 f (/bin/x)\n\n", headers[i]);
		check(text, has_period ? "a_b;f 3\n" : "a_b;f 1\n", 0);
	}
}

static void comm_may_hold_numbers(void **state)
{
	check("pool 3 thread 12 7/8 [001] 1.5: 1 cycles: \n\t    7f0000001234 f (/bin/x)\n\n",
	      "pool_3_thread_12;f 1\n", 0);
}

static void pid_and_tid_are_in_the_lowest_frame(void **state)
{
	const struct import_options pid = {.has_pid = true};
	const struct import_options tid = {.has_tid = true};
	static const char one[] = HEADER "\t    7f0000001234 f (/bin/x)\n\n";

	check_import(&pid, one, "java-7;f 250\n", 0);
	check_import(&tid, one, "java-7/8;f 250\n", 0);
	check_import(&tid, "java 8 1.5: 1 cycles:\n\t    7f0000001234 f (/bin/x)\n\n",
		     "java-?/8;f 1\n", 0);
}

static void frames_have_names_and_kinds(void **state)
{
	check_frame(&all_marks, "vfs_read+0x1 ([kernel.kallsyms])", "vfs_read_[k]");
	check_frame(&all_marks, "[blocked: read] ([waiting])", "[blocked: read]_[w]");
	check_frame(&all_marks, "java.lang.Object[] ([class])", "java.lang.Object[]_[c]");
	check_frame(&all_marks, "nf_hook (/lib/modules/6/nf.ko.xz)", "nf_hook_[k]");
	check_frame(&all_marks, "nf_hook ([nf_tables])", "nf_hook_[k]");
	check_frame(&all_marks, "__vdso_gettime ([vdso])", "__vdso_gettime");
	check_frame(&all_marks, "[unknown] (/lib/libc.so.6)", "[libc.so.6]");
	check_frame(&all_marks, "[unknown] ([unknown])", "[unknown]");
	check_frame(&all_marks, "f(int, long) const+0x3 (/bin/x)", "f");
	check_frame(&all_marks, "(anonymous namespace)::f(int) (/bin/x)",
		    "(anonymous namespace)::f");
	check_frame(&all_marks, "A::operator()(int) (/bin/x)", "A::operator()");
	check_frame(&all_marks, "main.(*T).f (/bin/x)", "main.(*T).f");
	check_frame(&all_marks, "f (/tmp/x (deleted))", "f");
	check_frame(&all_marks, "inner (inlined)", "inner_[i]");
	check_frame(&all_marks, "a;b (/bin/x)", "a:b");
}

static void generated_code_is_a_method_only_if_it_is_called_like_one(void **state)
{
	static const char map[] = "(/tmp/perf-7.map)";
	char frame[256];

	snprintf(frame, sizeof(frame), "Lorg/x/Y;::m+0x10 %s", map);
	check_frame(&all_marks, frame, "org/x/Y.m_[j]");
	snprintf(frame, sizeof(frame), "LMain;::main %s", map);
	check_frame(&all_marks, frame, "Main.main_[j]");
	snprintf(frame, sizeof(frame), "Interpreter %s", map);
	check_frame(&all_marks, frame, "Interpreter");
	snprintf(frame, sizeof(frame), "call_stub %s", map);
	check_frame(&all_marks, frame, "call_stub");
	snprintf(frame, sizeof(frame), "La/B;::c->Ld/E;::f->Lg/H;::i %s", map);
	check_frame(&all_marks, frame, "a/B.c_[j];d/E.f_[i];g/H.i_[i]");
	check_frame(&all_marks, "La/B;.c(Lx/Y;)I (/x/jitted-7-12.so)", "a/B.c_[j]");
	check_frame(&all_marks, "A::operator->() (/bin/x)", "A::operator->");
}

static void only_the_parameters_of_cxx_are_cut(void **state)
{
	static const char *const names[][2] = {
		{"std::function<void ()>::~function()", "std::function<void ()>::~function"},
		{"std::function<void ()>::operator()() const",
		 "std::function<void ()>::operator()"},
		{"foo()::{lambda()#1}::operator()() const", "foo()::{lambda()#1}::operator()"},
		{"a::b<(c)1, d(*)(int)>::e(int) [clone .part.0]", "a::b<(c)1, d(*)(int)>::e"},
		{"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
		{"g(std::pair<int, int>&&) noexcept", "g"},
		{"operator<<(std::ostream&, x const&)", "operator<<"},
		{"x::operator->()", "x::operator->"},
		{"x::operator bool() const", "x::operator bool"},
		{"void sort<int*>(int*, int*)", "void sort<int*>"},
		{"main.(*T).f", "main.(*T).f"},
		{"net/http.(*conn).serve.func1", "net/http.(*conn).serve.func1"},
		{"f(", "f"},
		{"<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		 "<alloc::vec::Vec<T> as core::ops::Drop>::drop"},
	};
	char frame[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(frame, sizeof(frame), "%s+0x1 (/bin/x)", names[i][0]);
		check_frame(&all_marks, frame, names[i][1]);
	}
}

static void names_of_the_linker_are_those_of_the_source(void **state)
{
	check_frame(&all_marks, "_ZN3foo3barEi+0x1 (/bin/x)", "foo::bar");
	check_frame(&all_marks, "_RNvCs1234_7mycrate3foo+0x1 (/bin/x)", "mycrate::foo");
	check_frame(&all_marks, "_ZN4core3fmt5write17h0123456789abcdefE (/bin/x)",
		    "core::fmt::write");
	check_frame(&all_marks, "core::fmt::write::h0123456789abcdef+0x1 (/bin/x)",
		    "core::fmt::write");
	check_frame(&all_marks, "x::h0123+0x1 (/bin/x)", "x::h0123");
	check_frame(&all_marks,
		    "_$LT$term..Terminal$LT$T$GT$$u20$as$u20$core..fmt..Debug$GT$::fmt::"
		    "_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef+0x1 (/bin/x)",
		    "<term::Terminal<T> as core::fmt::Debug>::fmt::{{closure}}");
	check_frame(&all_marks,
		    "a::_$u5b$u8$u3b$$u20$4$u5d$::b_$c::$u::$zz$::h0123456789abcdef+0x1 (/bin/x)",
		    "a::[u8: 4]::b_$c::$u::$zz$");
	check_frame(&all_marks, "a$LT$b..c+0x1 (/bin/x)", "a$LT$b..c");
	check_frame(&all_marks, "_Z (/bin/x)", "_Z");
}

static void styles_of_perf_maps_come_back(void **state)
{
	static const char *const names[][2] = {
		{"Lcom/acme/Foo;::bar in Lcom/acme/Main;::run",
		 "com/acme/Main.run_[j];com/acme/Foo.bar_[i]"},
		{"com.acme.Foo::bar in com.acme.Main::run",
		 "com/acme/Main.run_[j];com/acme/Foo.bar_[i]"},
		{"com.acme.Foo::bar()I", "com/acme/Foo.bar_[j]"},
		{"Main::main", "Main.main_[j]"},
		{"java.util.Map$Entry::of(Map.java:12)", "java/util/Map$Entry.of_[j]"},
		{"com.acme.Main::run->com.acme.Foo::bar",
		 "com/acme/Main.run_[j];com/acme/Foo.bar_[i]"},
		{"Lcom/acme/Foo;::<init>(I)V", "com/acme/Foo.<init>_[j]"},
		{"com.acme.Foo::<clinit>", "com/acme/Foo.<clinit>_[j]"},
		/* other runtimes' */
		{"JS:^turn in /app/main.js:10:14", "JS:^turn in /app/main.js:10:14_[j]"},
		{"wasm::std::sort", "wasm::std::sort_[j]"},
	};
	char frame[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(frame, sizeof(frame), "%s+0x4 (/tmp/perf-7.map)", names[i][0]);
		check_frame(&all_marks, frame, names[i][1]);
	}
}

static void caches_of_jits_are_not_the_kernel(void **state)
{
	check_frame(&all_marks, "f ([JIT app cache])", "f");
	check_frame(&all_marks, "[unknown] ([anon:dalvik-jit-code-cache])",
		    "[anon:dalvik-jit-code-cache]");
	check_frame(&all_marks, "f ([anon:v8])", "f");
	check_frame(&all_marks, "f ([jit] tid 7)", "f");
	check_frame(&all_marks, "f ([stack:7])", "f");
	check_frame(&all_marks, "f ([nf_tables])", "f_[k]");
	check_frame(&all_marks, "f ([guest.kernel.kallsyms])", "f_[k]");
}

static void kinds_can_be_left_out(void **state)
{
	const struct import_options kernel = {.marks_kernel = true};
	const struct import_options jit = {.marks_jit = true};

	check_frame(&kernel, "f ([kernel.kallsyms])", "f_[k]");
	check_frame(&kernel, "La/B;::c (/tmp/perf-7.map)", "a/B.c");
	check_frame(&jit, "f ([kernel.kallsyms])", "f");
	check_frame(&jit, "La/B;::c (/tmp/perf-7.map)", "a/B.c_[j]");
}

static void addresses_are_shown_where_names_are_missing(void **state)
{
	const struct import_options addrs = {.has_addrs = true};

	check_frame(&addrs, "[unknown] (/lib/libc.so.6)", "[libc.so.6 <7f0000001234>]");
	check_frame(&addrs, "f (/lib/libc.so.6)", "f");
}

#define SAMPLE(event, name)                                                                        \
	"x 7/8 [001] 1.5: 1 " event ": \n\t    7f0000001234 " name " (/bin/x)\n\n"

static void one_event_is_kept_and_the_others_are_counted(void **state)
{
	static const char text[] = SAMPLE("cycles:P", "a") SAMPLE("faults", "b")
		SAMPLE("cycles:P", "a") SAMPLE("cycles:u", "c");
	const struct import_options faults = {.event = "faults"};
	const struct import_options cycles = {.event = "cycles"};
	struct imported imported;

	import_bytes(&imported, &all_marks, text, strlen(text));
	check_profile(&imported.profile, "x;a 2\n");
	assert_string_equal(imported.report.event, "cycles:P");
	assert_int_equal(imported.report.other_events, 2);
	assert_string_equal(imported.report.other_event, "faults");
	imported_fini(&imported);
	check_import(&faults, text, "x;b 1\n", 0);
	check_import(&cycles, text, "x;a 2\nx;c 1\n", 0);
}

static void samples_without_a_chain_have_their_frame_in_the_first_line(void **state)
{
	check("            java  7/8 [001] 1.5:  3 cycles:  7f0000001234 f+0x1 (/bin/x)\n"
	      "             ace  7/8 [001] 1.6:  4 cycles:  7f0000001234 g+0x1 (/bin/x)\n",
	      "ace;g 4\njava;f 3\n", 0);
}

static void sample_without_frames_is_its_process(void **state)
{
	check(HEADER "\n" HEADER "\t    7f0000001234 f (/bin/x)\n\n", "java 250\njava;f 250\n", 0);
}

static void what_is_cut_off_is_kept_or_told(void **state)
{
	check(HEADER "\t    7f0000001234 f (/bin/x)", "java;f 250\n", 0);
	check("\t    7f0000001234 f (/bin/x)\n\n" HEADER "\t    7f0000001234 g (/bin/x)\n\n",
	      "java;g 250\n", 1);
}

static void periods_that_overflow_are_told(void **state)
{
	check("x 7/8 [001] 1.5: 18446744073709551615 c: \n\t    7f0000001234 f (/bin/x)\n\n"
	      "x 7/8 [001] 1.5: 1 c: \n\t    7f0000001234 g (/bin/x)\n\n",
	      "x;f 18446744073709551615\n", 1);
}

static void too_deep_samples_are_told(void **state)
{
	static const char frame[] = "\t    7f0000001234 f (/bin/x)\n";
	const size_t n = IMPORT_MAX_DEPTH + 1;
	char *const text = malloc(sizeof(HEADER) + n * sizeof(frame) + 64);
	char *to = text;

	to += sprintf(to, HEADER);
	for (size_t i = 0; i < n; i++)
		to += sprintf(to, "%s", frame);
	sprintf(to, "\n" HEADER "%s\n", frame);
	check(text, "java;f 250\n", 1);
	free(text);
}

static void check_module(const char *line, enum frame_kind kind, const char *module)
{
	struct imported imported;
	char text[200];

	snprintf(text, sizeof(text), "x 1 [0] 1.0: 1 c:\n\t7f0000001000 %s\n\n", line);
	import_bytes(&imported, &all_marks, text, strlen(text));
	assert_int_equal(imported.rc, 0);
	assert_int_equal(imported.profile.nodes[2].kind, kind);
	assert_string_equal(imported.profile.nodes[2].module, module);
	imported_fini(&imported);
}

static void files_are_modules_and_tell_the_kind(void **state)
{
	check_module("f+0x1 (/usr/lib/libc.so.6)", FRAME_NATIVE, "libc.so.6");
	check_module("JVM_Sleep+0x1 (/usr/lib/jvm/lib/server/libjvm.so)", FRAME_JVM, "libjvm.so");
	check_module("vfs_read+0x1 ([kernel.kallsyms])", FRAME_KERNEL, "[kernel]");
}

/* The kinds that were opened. target is the first member, see open_kind. */
struct opened {
	struct import_target target;
	char kinds[256];
	int answer;
};

static int open_kind(struct import_target *target, const struct profile_kind *kind)
{
	struct opened *const opened = (struct opened *)target;
	const size_t len = strlen(opened->kinds);

	snprintf(opened->kinds + len, sizeof(opened->kinds) - len, "%s %s;", kind->name,
		 kind->unit);
	return opened->answer;
}

static void check_kind(const struct import_options *options, const char *event, int answer,
		       const char *kinds, uint64_t total)
{
	struct opened opened = {.target = {.open = open_kind}, .answer = answer};
	struct profile profile;
	char text[256];
	int fd;

	snprintf(text, sizeof(text),
		 "a 1/2 [0] 1.0: 1499 %s:\n\t7f0000001000 f (/f)\n\n"
		 "a 1/2 [0] 1.0: 1500 %s:\n\t7f0000001000 f (/f)\n\n",
		 event, event);
	fd = files_open_memory(text, strlen(text));
	assert_int_equal(profile_init(&profile, 0), 0);
	opened.target.profile = &profile;
	assert_int_equal(import_read(fd, options, &opened.target), 0);
	close(fd);
	assert_string_equal(opened.kinds, kinds);
	assert_int_equal(profile.nodes[0].total, total);
	assert_int_equal(opened.target.report.has_periods,
			 strcmp(kinds, "cpu samples;") == 0 && !options->counts_samples);
	profile_fini(&profile);
}

static void event_tells_the_kind(void **state)
{
	const struct import_options samples = {.counts_samples = true};

	check_kind(&all_marks, "cycles:P", 0, "cpu samples;", 2999);
	check_kind(&all_marks, "wall-clock", 0, "wall microseconds;", 3);
	check_kind(&all_marks, "offcpu-time", 0, "offcpu microseconds;", 3);
	check_kind(&all_marks, "alloc", 0, "alloc bytes;", 2999);
	check_kind(&all_marks, "objects", 0, "objects count;", 2999);
	check_kind(&all_marks, "lock", 0, "lock microseconds;", 3);
	check_kind(&all_marks, "contentions", 0, "contentions count;", 2999);
	check_kind(&all_marks, "exceptions", 0, "exceptions count;", 2999);
	check_kind(&all_marks, "lock:contention_begin", 0, "cpu samples;", 2999);
	check_kind(&samples, "offcpu-time", 0, "cpu samples;", 2);
	check_kind(&all_marks, "offcpu-time", 1, "offcpu microseconds;", 0);
}

static void too_long_name_is_told(void **state)
{
	static char text[100000];
	struct imported imported;
	int len = sprintf(text, "x 1 [0] 1.0: 1 c:\n\t7f0000001000 ");

	memset(text + len, 'n', 70000);
	strcpy(text + len + 70000, "+0x1 (/f)\n\n");
	import_bytes(&imported, &all_marks, text, strlen(text));
	assert_int_equal(imported.rc, 0);
	assert_int_equal(imported.report.ignored, 1);
	assert_string_equal(imported.report.first_reason, "a name of more than 64 KiB");
	imported_fini(&imported);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_weigh_their_periods),
		cmocka_unit_test(headers_of_every_choice_of_fields_are_read),
		cmocka_unit_test(comm_may_hold_numbers),
		cmocka_unit_test(pid_and_tid_are_in_the_lowest_frame),
		cmocka_unit_test(frames_have_names_and_kinds),
		cmocka_unit_test(generated_code_is_a_method_only_if_it_is_called_like_one),
		cmocka_unit_test(only_the_parameters_of_cxx_are_cut),
		cmocka_unit_test(names_of_the_linker_are_those_of_the_source),
		cmocka_unit_test(styles_of_perf_maps_come_back),
		cmocka_unit_test(caches_of_jits_are_not_the_kernel),
		cmocka_unit_test(kinds_can_be_left_out),
		cmocka_unit_test(addresses_are_shown_where_names_are_missing),
		cmocka_unit_test(one_event_is_kept_and_the_others_are_counted),
		cmocka_unit_test(samples_without_a_chain_have_their_frame_in_the_first_line),
		cmocka_unit_test(sample_without_frames_is_its_process),
		cmocka_unit_test(what_is_cut_off_is_kept_or_told),
		cmocka_unit_test(periods_that_overflow_are_told),
		cmocka_unit_test(too_deep_samples_are_told),
		cmocka_unit_test(files_are_modules_and_tell_the_kind),
		cmocka_unit_test(event_tells_the_kind),
		cmocka_unit_test(too_long_name_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
