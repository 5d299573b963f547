// SPDX-License-Identifier: Apache-2.0
/* What is no capture, what is damaged and what would take too long is refused, with a reason. */
#include "capture/replay.h"

#include "capture/capture_codec.h"
#include "capture/capture_format.h"
#include "encode/compressor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#define PID 4711

static struct bytes records, fields;
static char *file;
static size_t file_len;
static struct replay *replay;

static int tear_down(void **state)
{
	bytes_fini(&records);
	bytes_fini(&fields);
	records = fields = (struct bytes){0};
	free(file);
	file = NULL;
	replay_free(replay);
	replay = NULL;
	return 0;
}

/* ---- records ---- */

static void put(uint64_t number)
{
	bytes_add_varint(&fields, number);
}

static void text(const char *text)
{
	capture_put_text(&fields, text);
}

static void end_record(enum capture_kind kind)
{
	bytes_add_char(&records, (char)kind);
	capture_put_data(&records, fields.data, fields.len);
	fields.len = 0;
}

static void header(void)
{
	text("x86_64");
	put(17);
	end_record(CAPTURE_HEADER);
}

static void process(uint64_t number)
{
	put(number);
	put(PID);
	put(1);
	text("demo");
	for (int i = 0; i < 5; i++)
		text("");
	put(0); /* no JVM */
	end_record(CAPTURE_PROCESS);
}

/* Of the kernel's walk alone: so many user frames. */
static void sample(uint64_t id, uint32_t depth)
{
	put(id);
	put(1000);
	put(PID);
	put(PID);
	put(1);
	put(0);
	put(depth + 1);
	put((uint64_t)PERF_CONTEXT_USER);
	for (uint32_t i = 0; i < depth; i++)
		put(i % 100 + 1);
	put(0); /* registers */
	capture_put_data(&fields, NULL, 0);
	end_record(CAPTURE_SAMPLE);
}

static void step(enum sample_step step, uint64_t id, uint64_t process)
{
	put(step);
	put(id);
	put(process);
	put(2000);
	put(0); /* is gone */
	put(0); /* missing tables */
	put(0); /* reads */
	end_record(CAPTURE_STEP);
}

static void mapping(uint64_t start, uint64_t len)
{
	put(start);
	put(len);
	for (int i = 0; i < 5; i++)
		put(0);
	text("/lib/demo.so");
}

static void file_fact(uint64_t number)
{
	put(number);
	put(PID);
	put(8);
	put(1);
	put(number);
	text("/lib/demo.so");
	end_record(CAPTURE_FILE);
}

static void end(void)
{
	for (int i = 0; i < 5; i++)
		text("");
	for (int i = 0; i < 7; i++)
		put(0);
	end_record(CAPTURE_END);
}

/* ---- files ---- */

static void make_file_of(char version)
{
	static struct compressor compressor;
	FILE *stream;

	free(file);
	assert_false(records.failed || fields.failed);
	assert_int_equal(fields.len, 0);
	stream = open_memstream(&file, &file_len);
	assert_non_null(stream);
	assert_int_equal(compressor_init(&compressor, COMPRESSION_GZIP, stream), 0);
	compressor_add(&compressor, CAPTURE_MAGIC, sizeof(CAPTURE_MAGIC) - 1);
	compressor_add(&compressor, &version, 1);
	compressor_add(&compressor, records.data, records.len);
	assert_int_equal(compressor_finish(&compressor), 0);
	compressor_fini(&compressor);
	fclose(stream);
}

static void check_reason(const void *data, size_t len, const char *expected)
{
	const char *reason = "";

	assert_int_equal(replay_open_bytes(data, len, &replay, &reason), -EINVAL);
	assert_null(replay);
	if (!strstr(reason, expected))
		fail_msg("%s: not %s", reason, expected);
}

static void check_refused(const char *expected)
{
	make_file_of(CAPTURE_VERSION);
	check_reason(file, file_len, expected);
	bytes_fini(&records);
	records = (struct bytes){0};
}

/* Opens the capture of the records, and runs it. */
static int run_with(struct replay_run run, struct replay_counts *ret)
{
	static const struct chain_style style = {.has_native_lines = true};
	const char *reason = "";
	int err;

	make_file_of(CAPTURE_VERSION);
	if (replay_open_bytes(file, file_len, &replay, &reason) < 0)
		fail_msg("not opened: %s", reason);
	run.style = &style;
	err = replay_run(replay, &run, ret);
	replay_free(replay);
	replay = NULL;
	bytes_fini(&records);
	records = (struct bytes){0};
	return err;
}

static int run(void)
{
	struct replay_counts counts;

	return run_with((struct replay_run){0}, &counts);
}

/* ---- what is a capture ---- */

static void what_is_no_capture_is_refused(void **state)
{
	check_reason("#!/bin/sh\n", 10, "is no capture");
	check_reason("", 0, "is no capture");
	header();
	end();
	make_file_of(CAPTURE_VERSION);
	check_reason(file, file_len / 2, "damaged or cut short");
	check_reason(file, file_len - 1, "damaged or cut short");
	file[file_len - 8] ^= 1; /* the checksum */
	check_reason(file, file_len, "damaged");
	make_file_of(CAPTURE_VERSION + 1);
	check_reason(file, file_len, "another version");
}

static void a_capture_begins_with_a_header_and_ends_with_an_end(void **state)
{
	check_refused("has no end");
	header();
	check_refused("has no end");
	end();
	check_refused("damaged");
	process(1);
	header();
	end();
	check_refused("damaged");
	text("z8000");
	put(17);
	end_record(CAPTURE_HEADER);
	end();
	check_refused("damaged");
	text("x86_64");
	put(16); /* another number of registers */
	end_record(CAPTURE_HEADER);
	end();
	check_refused("damaged");
}

/* What goes from stage to stage is a line each, of a replay as of a recording. */
static void a_replay_dumps_what_its_stages_make(void **state)
{
	char *lines = NULL;
	size_t len = 0;
	FILE *const stream = open_memstream(&lines, &len);
	const struct dump dump = {.kinds = DUMP_RECORDS | DUMP_STACKS | DUMP_FRAMES,
				  .stream = stream};
	struct replay_counts counts;

	header();
	process(1);
	sample(1, 3);
	step(SAMPLE_TAKE, 1, 1);
	end();
	assert_int_equal(run_with((struct replay_run){.dump = &dump}, &counts), 0);
	fclose(stream);
	assert_int_equal(counts.samples, 1);
	assert_non_null(strstr(lines, "record "));
	assert_non_null(strstr(lines, "\nstack  "));
	assert_non_null(strstr(lines, "\nframes "));
	free(lines);
}

static void a_file_is_read_to_its_end_whatever_it_is(void **state)
{
	const int fd = memfd_create("capture", 0);
	const char *reason;

	header();
	process(1);
	sample(1, 3);
	end();
	make_file_of(CAPTURE_VERSION);
	assert_int_equal(write(fd, file, file_len), file_len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(replay_open(fd, &replay, &reason), 0);
	close(fd);
	assert_int_equal(replay_open(-1, &replay, &reason), -EBADF);
	assert_string_equal(reason, "the file cannot be read");
}

static void records_of_kinds_that_nobody_knows_are_passed_over(void **state)
{
	struct replay_counts counts;

	header();
	text("of a later version");
	end_record(CAPTURE_KINDS + 3);
	process(1);
	sample(1, 3);
	step(SAMPLE_TAKE, 1, 1);
	end();
	assert_int_equal(run_with((struct replay_run){0}, &counts), 0);
	assert_int_equal(counts.samples, 1);
}

/* ---- damage ---- */

static void a_step_needs_its_sample_and_its_process(void **state)
{
	header();
	process(1);
	sample(1, 3);
	step(SAMPLE_TAKE, 2, 1);
	end();
	assert_int_equal(run(), -EINVAL);
	header();
	process(1);
	sample(1, 3);
	step(SAMPLE_TAKE, 1, 2);
	end();
	assert_int_equal(run(), -EINVAL);
	header();
	sample(1, 3);
	step(SAMPLE_TAKE, 1, 0); /* gone */
	end();
	assert_int_equal(run(), 0);
	header();
	sample(1, 3);
	step(SAMPLE_LOOK, 1, 0);
	end();
	assert_int_equal(run(), -EINVAL);
	header();
	process(1);
	sample(1, 3);
	step(SAMPLE_STEPS, 1, 1);
	end();
	assert_int_equal(run(), -EINVAL);
}

static void mappings_rise(void **state)
{
	header();
	process(1);
	put(1);
	put(2);
	mapping(0x1000, 0x1000);
	mapping(0x2000, 0x1000);
	end_record(CAPTURE_MAPPINGS);
	end();
	assert_int_equal(run(), 0);
	header();
	process(1);
	put(1);
	put(2);
	mapping(0x2000, 0x1000);
	mapping(0x1000, 0x1000);
	end_record(CAPTURE_MAPPINGS);
	end();
	assert_int_equal(run(), -EINVAL);
	header();
	process(1);
	put(1);
	put(1);
	mapping(UINT64_MAX - 4, 8); /* wraps */
	end_record(CAPTURE_MAPPINGS);
	end();
	assert_int_equal(run(), -EINVAL);
}

static void each_cut_of_the_records_is_refused(void **state)
{
	size_t len;

	header();
	process(1);
	file_fact(1);
	sample(1, 3);
	step(SAMPLE_TAKE, 1, 1);
	end();
	for (len = records.len; len-- > 0;) {
		records.len = len;
		make_file_of(CAPTURE_VERSION);
		check_reason(file, file_len, "");
	}
}

/* ---- limits ---- */

static void there_are_as_many_processes_as_a_writer_has(void **state)
{
	header();
	process(CAPTURE_MAX_PROCESSES);
	end();
	assert_int_equal(run(), 0);
	header();
	process(CAPTURE_MAX_PROCESSES + 1);
	end();
	assert_int_equal(run(), -EINVAL);
}

static void there_are_as_many_files_as_a_writer_has(void **state)
{
	header();
	for (uint64_t i = 1; i <= CAPTURE_MAX_FILES; i++)
		file_fact(i);
	end();
	assert_int_equal(run(), 0);
	header();
	for (uint64_t i = 1; i <= CAPTURE_MAX_FILES + 1; i++)
		file_fact(i);
	end();
	check_refused("damaged");
}

static void there_are_as_many_records_as_a_writer_has(void **state)
{
	header();
	for (uint32_t i = 0; i < CAPTURE_MAX_RECORDS - 1; i++)
		end_record(CAPTURE_KINDS);
	end();
	check_refused("damaged");
}

/* Facts of code that are all of one range: a stub of the wire's format. */
static int run_code_facts(uint32_t n)
{
	static const uint8_t stub[] = {6, 0, 0, 0,    23, 0, 0,	 0, /* the record's header */
				       1, 0, 0, 0,    0,  0, 0,	 0, /* its time */
				       0, 0, 0, 0x10, 0,  0, 0,	 0, /* its address */
				       8, 0, 0, 0,    1,  0, 's'};

	header();
	process(1);
	for (uint32_t i = 0; i < n; i++) {
		put(1);
		put(1); /* of the process's perf map */
		put(5);
		put(0);
		capture_put_data(&fields, stub, sizeof(stub));
		end_record(CAPTURE_CODE);
	}
	end();
	return run();
}

static void there_are_as_many_facts_of_code_as_a_writer_has(void **state)
{
	assert_int_equal(run_code_facts(CAPTURE_MAX_CODE), 0);
	assert_int_equal(run_code_facts(CAPTURE_MAX_CODE + 1), -EINVAL);
}

/* Steps are short, whatever they do: so a small file could keep a replay busy for hours. */
static void a_replay_walks_twice_as_many_frames_as_a_writer_has_and_no_more(void **state)
{
	const uint32_t depth = CAPTURE_MAX_CHAIN - 1;
	const uint64_t most = 2 * CAPTURE_MAX_FRAMES / depth;
	struct replay_counts counts;

	header();
	process(1);
	sample(1, depth);
	for (uint64_t i = 0; i < most + 100; i++)
		step(SAMPLE_LOOK, 1, 1);
	end();
	assert_int_equal(run_with((struct replay_run){0}, &counts), -EINVAL);
	assert_int_equal(counts.steps, most + 1);
}

#define CASE(test) cmocka_unit_test_teardown(test, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_replay_dumps_what_its_stages_make),
		CASE(what_is_no_capture_is_refused),
		CASE(a_capture_begins_with_a_header_and_ends_with_an_end),
		CASE(a_file_is_read_to_its_end_whatever_it_is),
		CASE(records_of_kinds_that_nobody_knows_are_passed_over),
		CASE(a_step_needs_its_sample_and_its_process),
		CASE(mappings_rise),
		CASE(each_cut_of_the_records_is_refused),
		CASE(there_are_as_many_processes_as_a_writer_has),
		CASE(there_are_as_many_files_as_a_writer_has),
		CASE(there_are_as_many_records_as_a_writer_has),
		CASE(there_are_as_many_facts_of_code_as_a_writer_has),
		CASE(a_replay_walks_twice_as_many_frames_as_a_writer_has_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
