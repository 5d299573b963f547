// SPDX-License-Identifier: Apache-2.0
/* The records that a writer was given are in its file, facts once, and no more than its limit. */
#include "capture/capture_writer.h"

#include "capture/capture_codec.h"
#include "import/decompressor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

static struct capture_writer writer;
static struct bytes fields;
static FILE *stream;
static char *file;
static size_t file_len;
static unsigned char *unzipped;
static struct capture_cursor records;

static int set_up(void **state)
{
	stream = open_memstream(&file, &file_len);
	return stream ? capture_writer_init(&writer, stream) : -1;
}

static int tear_down(void **state)
{
	capture_writer_fini(&writer);
	bytes_fini(&fields);
	if (stream)
		fclose(stream);
	free(file);
	free(unzipped);
	unzipped = NULL;
	return 0;
}

static struct bytes *say(const char *text)
{
	assert_int_equal(fields.len, 0);
	bytes_add(&fields, text, strlen(text));
	return &fields;
}

/* Ends the file, and opens it. */
static void finish(const char *text)
{
	size_t len;

	assert_int_equal(capture_writer_end(&writer, CAPTURE_END, say(text)), 0);
	fclose(stream);
	stream = NULL;
	assert_int_equal(decompressor_gunzip(file, file_len, CAPTURE_MAX_BYTES, &unzipped, &len),
			 0);
	assert_int_equal(len, writer.bytes);
	assert_memory_equal(unzipped, CAPTURE_MAGIC, sizeof(CAPTURE_MAGIC) - 1);
	assert_int_equal(unzipped[sizeof(CAPTURE_MAGIC) - 1], CAPTURE_VERSION);
	records = (struct capture_cursor){.at = unzipped + sizeof(CAPTURE_MAGIC),
					  .end = unzipped + len};
}

static void check_next(enum capture_kind kind, const char *text)
{
	const uint8_t *data;
	size_t len;

	assert_true(records.at < records.end);
	assert_int_equal(*records.at++, kind);
	data = capture_get_data(&records, CAPTURE_MAX_BYTES, &len);
	assert_false(records.failed);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(data, text, len);
}

static void check_no_more(void)
{
	assert_ptr_equal(records.at, records.end);
}

/* As if so many bytes had been written. */
static void pretend_bytes(uint64_t bytes)
{
	writer.bytes = bytes;
}

static void records_are_written_in_their_order(void **state)
{
	static char longer[300];

	memset(longer, 'l', sizeof(longer) - 1);
	assert_true(capture_write(&writer, CAPTURE_STEP, say("one")));
	assert_true(capture_write(&writer, CAPTURE_STEP, say("one")));
	assert_true(capture_write(&writer, CAPTURE_SAMPLE, say("")));
	assert_true(capture_write(&writer, CAPTURE_SAMPLE, say(longer)));
	finish("end");
	check_next(CAPTURE_STEP, "one");
	check_next(CAPTURE_STEP, "one");
	check_next(CAPTURE_SAMPLE, "");
	check_next(CAPTURE_SAMPLE, longer);
	check_next(CAPTURE_END, "end");
	check_no_more();
}

static void a_fact_is_written_once(void **state)
{
	for (int i = 0; i < 3; i++) {
		assert_true(capture_write_fact(&writer, CAPTURE_ROW, say("a")));
		assert_true(capture_write_fact(&writer, CAPTURE_ROW, say("b")));
		assert_true(capture_write_fact(&writer, CAPTURE_START, say("a")));
	}
	finish("");
	check_next(CAPTURE_ROW, "a");
	check_next(CAPTURE_ROW, "b");
	check_next(CAPTURE_START, "a"); /* of another kind: another fact */
	check_next(CAPTURE_END, "");
	check_no_more();
}

static void a_change_is_written_when_something_has_changed(void **state)
{
	static const struct {
		enum capture_kind kind;
		uint64_t key;
		const char *text;
	} said[] = {
		{CAPTURE_THREAD, 1, "main"},  {CAPTURE_THREAD, 2, "main"},
		{CAPTURE_THREAD, 1, "main"},  {CAPTURE_THREAD, 1, "worker"},
		{CAPTURE_THREAD, 2, "main"},  {CAPTURE_THREAD, 1, "main"}, /* once more */
		{CAPTURE_PROCESS, 1, "main"},
	};

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		assert_true(capture_write_change(&writer, said[i].kind, said[i].key,
						 say(said[i].text)));
	finish("");
	check_next(CAPTURE_THREAD, "main");
	check_next(CAPTURE_THREAD, "main");
	check_next(CAPTURE_THREAD, "worker");
	check_next(CAPTURE_THREAD, "main");
	check_next(CAPTURE_PROCESS, "main");
	check_next(CAPTURE_END, "");
	check_no_more();
}

static void past_the_limit_only_the_end_is_written(void **state)
{
	capture_write(&writer, CAPTURE_STEP, say("first"));
	pretend_bytes(CAPTURE_MAX_BYTES - 1000); /* too few for the room of the end */
	assert_false(writer.is_full);
	assert_false(capture_write(&writer, CAPTURE_STEP, say("no room")));
	assert_true(writer.is_full);
	assert_false(capture_write_fact(&writer, CAPTURE_ROW, say("no room")));
	assert_false(capture_write_change(&writer, CAPTURE_THREAD, 1, say("no room")));
	assert_int_equal(writer.bytes, CAPTURE_MAX_BYTES - 1000);
	assert_int_equal(writer.err, 0);
	pretend_bytes(sizeof(CAPTURE_MAGIC) + 2 + strlen("first"));
	assert_false(capture_write(&writer, CAPTURE_STEP, say("full once, full for good")));
	finish("end");
	check_next(CAPTURE_STEP, "first");
	check_next(CAPTURE_END, "end");
	check_no_more();
}

/* The largest end that there is: five texts, and numbers. */
static void with_its_end_a_full_capture_has_not_more_bytes_than_its_limit(void **state)
{
	static char end[5 * CAPTURE_MAX_TEXT + 100];

	for (uint64_t bytes = CAPTURE_MAX_BYTES - 70000; !writer.is_full; bytes += 7) {
		pretend_bytes(bytes);
		capture_write(&writer, CAPTURE_STEP, say("step"));
	}
	memset(end, 'e', sizeof(end) - 1);
	assert_int_equal(capture_writer_end(&writer, CAPTURE_END, say(end)), 0);
	assert_true(writer.bytes <= CAPTURE_MAX_BYTES);
}

static void past_the_most_records_only_the_end_is_written(void **state)
{
	writer.records = CAPTURE_MAX_RECORDS - 2;
	assert_true(capture_write(&writer, CAPTURE_STEP, say("last")));
	assert_false(capture_write(&writer, CAPTURE_STEP, say("no room")));
	assert_true(writer.is_full);
	finish("end");
	assert_int_equal(writer.records, CAPTURE_MAX_RECORDS);
	check_next(CAPTURE_STEP, "last");
	check_next(CAPTURE_END, "end");
	check_no_more();
}

static void a_record_without_memory_is_an_error_that_stays(void **state)
{
	say("lost")->failed = true;
	assert_false(capture_write(&writer, CAPTURE_STEP, &fields));
	assert_int_equal(writer.err, -ENOMEM);
	fields.failed = false;
	assert_false(capture_write(&writer, CAPTURE_STEP, say("next")));
	assert_int_equal(fields.len, 0);
	assert_int_equal(capture_writer_end(&writer, CAPTURE_END, say("end")), -ENOMEM);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(records_are_written_in_their_order),
		CASE(a_fact_is_written_once),
		CASE(a_change_is_written_when_something_has_changed),
		CASE(past_the_limit_only_the_end_is_written),
		CASE(with_its_end_a_full_capture_has_not_more_bytes_than_its_limit),
		CASE(past_the_most_records_only_the_end_is_written),
		CASE(a_record_without_memory_is_an_error_that_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
