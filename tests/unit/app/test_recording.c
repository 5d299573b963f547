// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about what app/recording.h notes of records as they come. The recording has no sampler:
 * records are made here, of this process and of ones that nobody knows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "app/recording.h"

#define STRANGER 0x7ffffff0 /* beyond any PID */
#define SEC	 UINT64_C(1000000000)

static struct targets targets;
static struct recording_model model = {.targets = &targets};
static struct recording recording;

static int set_up(void **state)
{
	(void)state;
	targets_init(&targets, NULL);
	recording = (struct recording){0};
	return table_cache_new(64u << 20, false, &model.tables);
}

static int tear_down(void **state)
{
	(void)state;
	hold_fini(&recording.hold);
	map64_fini(&recording.execs);
	targets_fini(&targets);
	table_cache_free(model.tables);
	return 0;
}

/* ---- a program begins ---- */

static void begin_program(pid_t pid, bool is_exec, uint64_t time_ns)
{
	const struct perf_record record = {.kind = PERF_COMM,
					   .pid = pid,
					   .tid = pid,
					   .time_ns = time_ns,
					   .comm = {.name = "java", .is_exec = is_exec}};

	recording_hear(&recording, &model, &record);
}

/* Of a process that has become a JVM since. */
static bool wants_sample_at(pid_t pid, uint64_t time_ns)
{
	static struct jvm jvm;
	const struct process process = {.pid = pid, .jvm = &jvm};
	const struct perf_record record = {.kind = PERF_SAMPLE, .pid = pid, .time_ns = time_ns};

	return recording_wants_sample(&recording, &process, &record);
}

static void samples_of_the_program_before_are_not_counted(void **state)
{
	(void)state;
	begin_program(STRANGER, true, 10 * SEC);
	assert_false(wants_sample_at(STRANGER, 9 * SEC));
	assert_true(wants_sample_at(STRANGER, 10 * SEC));
	assert_true(wants_sample_at(STRANGER + 1, 9 * SEC));
	begin_program(STRANGER, true, 20 * SEC); /* as launchers do that start themselves anew */
	assert_false(wants_sample_at(STRANGER, 19 * SEC));
}

static void a_thread_that_takes_a_name_begins_no_program(void **state)
{
	(void)state;
	begin_program(STRANGER, false, 10 * SEC);
	assert_true(wants_sample_at(STRANGER, 9 * SEC));
}

static void of_all_processes_every_program_is_counted(void **state)
{
	(void)state;
	begin_program(STRANGER, true, 10 * SEC);
	recording.options.all = true;
	assert_true(wants_sample_at(STRANGER, 9 * SEC));
}

static void programs_without_end_take_no_more_than_their_room(void **state)
{
	(void)state;
	for (int i = 0; i < 3 * RECORDING_MAX_EXECS; i++) {
		begin_program(STRANGER - i, true, 10 * SEC);
		assert_true(recording.execs.count <= RECORDING_MAX_EXECS);
		assert_false(wants_sample_at(STRANGER - i, 9 * SEC));
	}
}

/* ---- a JVM begins ---- */

static void map_file(pid_t pid, const char *path)
{
	const struct perf_record record = {
		.kind = PERF_MMAP,
		.pid = pid,
		.tid = pid,
		.time_ns = 10 * SEC,
		.mmap = {.addr = 0x10000, .len = 0x1000, .inode = 1, .path = path}};

	recording_hear(&recording, &model, &record);
}

static void a_process_is_known_from_when_it_maps_libjvm(void **state)
{
	const struct process *process;

	(void)state;
	map_file(getpid(), "/lib/jvm/lib/server/libjvm.so");
	process = targets_find(&targets, getpid());
	assert_non_null(process);
	assert_int_equal(process->jvm_mapped_ns, 10 * SEC);
	assert_int_equal(recording.hasty_until_ns, 10 * SEC + RECORDING_YOUNG_NS);
	assert_false(recording_wants(&recording.options, process)); /* no agent has been heard */
}

static void a_process_that_maps_anything_else_stays_unknown(void **state)
{
	static const char *const paths[] = {"/lib/libjvm.so.1",
					    "/lib/notlibjvm.so",
					    "libjvm.so",
					    "/lib/libjvm.so (deleted)",
					    "",
					    "//anon"};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		map_file(getpid(), paths[i]);
	assert_null(targets_find(&targets, getpid()));
	assert_int_equal(recording.hasty_until_ns, 0);
	assert_int_equal(recording.hold.bytes, 0);
}

static void a_jvm_that_is_gone_already_is_nobody(void **state)
{
	(void)state;
	map_file(STRANGER, "/lib/jvm/lib/server/libjvm.so");
	assert_null(targets_find(&targets, STRANGER));
	assert_int_equal(recording.hasty_until_ns, 0);
}

static void rings_are_read_more_often_while_stacks_are_deep(void **state)
{
	(void)state;
	recording = (struct recording){0};
	recording_note_depth(&recording, 7, 10 * SEC); /* of earlier recordings */
	assert_int_equal(recording.hasty_until_ns, 0);
	recording_note_depth(&recording, 7, 11 * SEC);
	assert_int_equal(recording.hasty_until_ns, 0);
	recording_note_depth(&recording, 8, 12 * SEC);
	assert_int_equal(recording.hasty_until_ns, 13 * SEC);
	recording_note_depth(&recording, 8, 14 * SEC);
	assert_int_equal(recording.hasty_until_ns, 13 * SEC);
	recording.hasty_until_ns = 20 * SEC; /* for another reason */
	recording_note_depth(&recording, 9, 15 * SEC);
	assert_int_equal(recording.hasty_until_ns, 20 * SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_are_read_more_often_while_stacks_are_deep),
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(samples_of_the_program_before_are_not_counted),
		TEST(a_thread_that_takes_a_name_begins_no_program),
		TEST(of_all_processes_every_program_is_counted),
		TEST(programs_without_end_take_no_more_than_their_room),
		TEST(a_process_is_known_from_when_it_maps_libjvm),
		TEST(a_process_that_maps_anything_else_stays_unknown),
		TEST(a_jvm_that_is_gone_already_is_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
