// SPDX-License-Identifier: Apache-2.0
/*
 * The text of perf script in every shape that its options give it: columns, records that are no
 * samples, lines of other programs, missing ends. What each file gives is its folded stacks.
 */
#include "imported.h"

#include <stdio.h>

#define FRAME  "\t            1004 f+0x4 (/app)\n"
#define MAIN   "\t            1005 main+0x4 (/app)\n"
#define SAMPLE "app 7 [000] 1.100000: 250 cycles: \n" FRAME "\n"

static void check(const char *text, const char *expected, uint64_t ignored)
{
	check_import(&all_marks, text, expected, ignored);
}

static void tracepoints_of_any_subsystem_are_samples(void **state)
{
	check("app 7 [000] 1.0: sched:sched_switch: prev_pid=7 ==> next_pid=0\n" FRAME "\n",
	      "app;f 1\n", 0);
	check("# hostname : one\n#\n"
	      "app 7 [000] 1.0: kmem:kmalloc: call_site=f ptr=0x10 bytes_alloc=64\n" FRAME "\n",
	      "app;f 1\n", 0);
	check("app 7 [000] 1.0: block:block_rq_issue: 8,0 W 4096 () 12345 + 8 [kworker/0:1]\n" FRAME
	      "\n",
	      "app;f 1\n", 0);
	check("app 7 [000] 1.0: irq:softirq_entry: vec=1 [action=TIMER]\n" FRAME MAIN "\n",
	      "app;main;f 1\n", 0);
	check("app 7 [000] 1.0: probe:f: (ffffffff81000000) path=\"a;b 1\"\n" FRAME "\n",
	      "app;f 1\n", 0);
	/* Where no sample has a chain, each line ends as a folded stack may. */
	check("app 7 [000] 1.0: raw_syscalls:sys_exit: NR 0 = 64\n"
	      "app 7 [000] 1.1: raw_syscalls:sys_exit: NR 1 = 65\n",
	      "app 2\n", 0);
}

static void records_that_are_no_samples_are_passed_over(void **state)
{
	check("app 7 [000] 1.0: PERF_RECORD_MMAP2 7/7: [0x1000(0x1000) @ 0 00:00 1 1]: r-xp "
	      "/app\n" SAMPLE,
	      "app;f 250\n", 0);
	check("app 7 [000] 1.0: PERF_RECORD_COMM exec: app:7/7\n" SAMPLE, "app;f 250\n", 0);
	check("app 7 1.0: PERF_RECORD_NAMESPACES 7/7 - nr_namespaces: 7\n"
	      "\t\t[0/net: 3/0xf0000098, 1/uts: 3/0xeffffffe,\n" SAMPLE,
	      "app;f 250\n", 0);
	check(SAMPLE "app 7 [000] 1.2: PERF_RECORD_SWITCH OUT preempt\n"
		     "app 7 [001] 1.3: PERF_RECORD_FORK(8:8):(7:7)\n" SAMPLE,
	      "app;f 500\n", 0);
	/* perf puts no empty line between. */
	check("app 7 [000] 1.1: 250 cycles: \n" FRAME
	      "app 7 [000] 1.2: PERF_RECORD_EXIT(7:7):(1:1)\n" SAMPLE,
	      "app;f 500\n", 0);
}

static void samples_that_the_kernel_lost_are_counted(void **state)
{
	static const char text[] = "app 7 [000] 1.0: PERF_RECORD_LOST lost 5\n" SAMPLE
				   "app 7 [000] 1.2: PERF_RECORD_LOST_SAMPLES lost 12\n" SAMPLE;
	struct imported imported;

	import_bytes(&imported, &all_marks, text, strlen(text));
	check_profile(&imported.profile, "app;f 500\n");
	assert_int_equal(imported.profile.quality.lost_samples, 17);
	imported_fini(&imported);
}

static void stray_lines_are_ignored_and_counted(void **state)
{
	check("Processed 100 events and lost 3 chunks!\n\n" SAMPLE, "app;f 250\n", 1);
	check("Reading from fd 3\n" SAMPLE, "app;f 250\n", 1);
	check("Total 5 errors: 3\n" SAMPLE, "app;f 250\n", 1);
	check("java 7\n" SAMPLE "Check IO/CPU overload!\n\n" SAMPLE "Reading from fd 3\n",
	      "app;f 500\n", 3);
	check("[ perf record: Woken up 1 times to write data ]\n" SAMPLE, "app;f 250\n", 1);
	check(SAMPLE "lib.so: file not found 12\n" SAMPLE, "app;f 500\n", 1);
}

static void samples_may_have_any_columns(void **state)
{
	check("app 7 [000] U 1.1: 250 cycles: \n" FRAME "\n", "app;f 250\n", 0);
	check("app 7 Sp 1.1: 250 cycles: \n" FRAME "\n", "app;f 250\n", 0);
	check("app 7 [000] d..1. 1.1: 250 cycles: \n" FRAME "\n", "app;f 250\n", 0);
	check("app 7/8 [000] K 250 cycles: \n" FRAME "\n", "app;f 250\n", 0);
	check("app 7 1.0: 3 page-faults: 7f0010 var+0x0 (/app)\n" FRAME MAIN "\n", "app;main;f 3\n",
	      0);
	check("app 7 1.0: 3 page-faults: 7f0010 var+0x0 (/app)     1004 f+0x4 (/app)\n",
	      "app;f 3\n", 0);
	check("app 7 1.0: 3 page-faults: 7f0010     1004 f+0x4 (/app)\n", "app;f 3\n", 0);
	check("app 7 1.0: 3 cycles: 7f0000001234 add (/app)\n", "app;add 3\n", 0);
	check("app 7 1.1: 250 cycles: \n" FRAME "  app.c:12\n" MAIN "  libc.so.6[2724a]\n"
	      " ABI:2    AX:0x0    BX:0x7ffc\n\n",
	      "app;main;f 250\n", 0);
	check("app 7 [-01] 1.1: 250 cycles: \n\t 1004 f+0x4 (/app+0x1004)\n\n", "app;f 250\n", 0);
}

static void samples_may_lack_any_column(void **state)
{
	check("app\n" FRAME MAIN "\napp\n" FRAME "\n", "app;f 1\napp;main;f 1\n", 0);
	check("my app 7 \n" FRAME "\nmy app 7 \n\n", "my_app 1\nmy_app;f 1\n", 0);
	check("app 7 cycles: \n\t            1004 f\n\n", "app;f 1\n", 0);
	check("app 1.5: 3 cycles: \n" FRAME "\n", "app;f 3\n", 0);
	check("app 7 1.5: 3 cycles: \n\t            1004\n\n", "app;[unknown] 3\n", 0);
	check("app 7 1.5: 3 cycles: \n\t            1004 (/lib/libx.so)\n\n", "app;[libx.so] 3\n",
	      0);
	check("app 7 1.5: 3 cycles: \n\t            1004  (/x/libx.so.1 (deleted))\n\n",
	      "app;[libx.so.1 (deleted)] 3\n", 0);
	check("app 7 1.5: 3 cycles: \n\t7f0000001004  ([vdso])\n\n", "app;[vdso] 3\n", 0);
}

static void processes_that_perf_does_not_know_are_samples(void **state)
{
	check(":-1 -1 [001] 1.1: 250 cycles: \n" FRAME "\n", ":-1;f 250\n", 0);
	check(":-1 -1/-1 [001] 1.1: 250 cycles: \n" FRAME "\n", ":-1;f 250\n", 0);
	check(":7 7/7 [-01] 250 cycles: \n" FRAME "\n", ":7;f 250\n", 0);
	check("   :-1    -1    1.1: cycles:      7f0000001004 f+0x4 (/app)\n", ":-1;f 1\n", 0);
}

static void frames_may_lack_their_indent(void **state)
{
	check("app 7 1.0: 250 cycles:\n1004 f+0x4 (/app)\n1005 main+0x4 (/app)\n\n",
	      "app;main;f 250\n", 0);
	check("app 7/7 [000] 1.0: cycles:\n7f0000001004 [unknown] ([unknown])\n"
	      "1005 main (/app)\n\napp 7/7 [000] 1.1: cycles:\n1005 main (/app)\n",
	      "app;main 1\napp;main;[unknown] 1\n", 0);
	check("app 7\n1004 f (/app)\n\napp 7\n1005 g (/app)\n\n", "app;f 1\napp;g 1\n", 0);
	check("1004 7 1.0: 250 cycles:\n1004 f+0x4 (/app)\n\n", "1004;f 250\n", 0);
	check("            1004  7/7 [000] 1.0: 3 cycles: \n            1004 f+0x4 (/app)\n\n",
	      "1004;f 3\n", 0);
}

static void source_of_a_frame_is_kept(void **state)
{
	static const char text[] =
		"app 7 1.1: 250 cycles: \n" FRAME "  /src/my app.c:12\n" MAIN "  app.c:7\n\n";
	struct imported imported;
	const struct profile_node *nodes;

	import_bytes(&imported, &all_marks, text, strlen(text));
	nodes = imported.profile.nodes;
	assert_string_equal(nodes[2].name, "main");
	assert_string_equal(nodes[2].file, "app.c");
	assert_int_equal(nodes[2].line, 7);
	assert_string_equal(nodes[3].file, "/src/my app.c");
	assert_int_equal(nodes[3].line, 12);
	imported_fini(&imported);
}

static void threads_and_times_are_kept(void **state)
{
	static const char text[] = "main 7/7 [000] 100.000000: 3 cycles: \n" FRAME "\n"
				   "io 1 7/8 [000] 100.500000: 5 cycles: \n" FRAME "\n"
				   "cat 9 [000] 101.000000000: 7 cycles: \n" FRAME "\n"
				   ":-1 -1 [000] 99.000000: 9 cycles: \n" FRAME "\n";
	struct import_recording recording = {0};
	struct timeline *const timeline = &recording.timeline;
	struct profile profile;
	struct import_target target = {.profile = &profile, .recording = &recording};
	const int fd = files_open_memory(text, strlen(text));

	timeline_init(timeline, 0);
	assert_int_equal(profile_init(&profile, 0), 0);
	assert_int_equal(import_read(fd, &all_marks, &target), 0);
	close(fd);
	assert_true(recording.is_read);
	assert_int_equal(recording.info.duration_ns, 1000000000);
	assert_string_equal(recording.info.event, "cycles");
	assert_int_equal(timeline->n_threads, 4);
	assert_string_equal(timeline->threads[1].name, "io 1");
	assert_int_equal(timeline->threads[1].tid, 8);
	assert_int_equal(timeline->processes[timeline->threads[1].process].pid, 7);
	assert_string_equal(timeline->processes[0].title, "main");
	assert_string_equal(timeline->processes[timeline->threads[2].process].title,
			    "[process not known]");
	assert_int_equal(timeline->n_entries, 4);
	/* in order of time; what is earlier than the first is at the start */
	assert_int_equal(timeline->entries[2].bucket, 32);
	assert_int_equal(timeline->entries[2].weight, 5);
	assert_int_equal(timeline->entries[3].bucket, 64);
	assert_int_equal(timeline->entries[3].weight, 7);
	profile_fini(&profile);
	timeline_fini(timeline);
}

static void comments_stand_anywhere(void **state)
{
	check("# ========\n#\n# captured on    : Fri Jan  2 03:04:05 2026\n" SAMPLE
	      "# event : name = cycles, 7 [000] 1.0: a: 3\n" SAMPLE,
	      "app;f 500\n", 0);
	check("#1 pool 7 [000] 1.1: 250 cycles: \n" FRAME "\n", "#1_pool;f 250\n", 0);
}

static void last_empty_line_may_be_missing(void **state)
{
	check(SAMPLE "app 7 [000] 1.2: 250 cycles: \n\t            1005 main+0x4 (/app)",
	      "app;f 250\napp;main 250\n", 0);
	check("app 7 [000] 1.1: 250 cycles: \n" FRAME SAMPLE, "app;f 500\n", 0);
	check("app 7 [000] 1.1: 250 cycles: \r\n\t            1004 f+0x4 (/app)\r\n\r\n",
	      "app;f 250\n", 0);
}

/* The shape of records decides, and not the end of a line. */
static void stacks_that_resemble_a_sample_are_stacks(void **state)
{
	check("worker 3 [2] idle;main 12\nworker 4 [2] idle;main 3\n",
	      "worker_3_[2]_idle;main 12\nworker_4_[2]_idle;main 3\n", 0);
	check("main;app 7 [000] 1.0: c: d 3\n", "main;app_7_[000]_1.0:_c:_d 3\n", 0);
	check("Reading from fd 3\nmain;f 4\n", "Reading from fd 3\nmain;f 4\n", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracepoints_of_any_subsystem_are_samples),
		cmocka_unit_test(records_that_are_no_samples_are_passed_over),
		cmocka_unit_test(samples_that_the_kernel_lost_are_counted),
		cmocka_unit_test(stray_lines_are_ignored_and_counted),
		cmocka_unit_test(samples_may_have_any_columns),
		cmocka_unit_test(samples_may_lack_any_column),
		cmocka_unit_test(processes_that_perf_does_not_know_are_samples),
		cmocka_unit_test(frames_may_lack_their_indent),
		cmocka_unit_test(source_of_a_frame_is_kept),
		cmocka_unit_test(threads_and_times_are_kept),
		cmocka_unit_test(comments_stand_anywhere),
		cmocka_unit_test(last_empty_line_may_be_missing),
		cmocka_unit_test(stacks_that_resemble_a_sample_are_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
