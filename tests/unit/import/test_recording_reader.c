// SPDX-License-Identifier: Apache-2.0
/*
 * Recordings of our own: what was written is read again whole, and nothing that a file says is
 * believed. Files that no program of ours writes are made of records by hand.
 */
#include "../render/profile_of.h"
#include "common/files.h"
#include "encode/bytes.h"
#include "encode/compressor.h"
#include "import/import.h"
#include "profile/recording_format.h"
#include "render/render.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define HEAD RECORDING_FORMAT_MAGIC RECORDING_FORMAT_VERSION

static uint32_t max_nodes; /* of profiles that are read into; 0: as many as can be */

struct reading {
	struct profile profile, before;
	struct import_recording recording;
	struct import_target target;
	int err;
};

static void read_bytes(const void *data, size_t len, struct reading *ret)
{
	static const struct import_options options = {0};
	const int fd = files_open_memory(data, len);

	*ret = (struct reading){.err = 0};
	assert_int_equal(profile_init(&ret->profile, max_nodes), 0);
	assert_int_equal(profile_init(&ret->before, 0), 0);
	timeline_init(&ret->recording.timeline, 0);
	ret->target = (struct import_target){
		.profile = &ret->profile, .before = &ret->before, .recording = &ret->recording};
	ret->err = import_read(fd, &options, &ret->target);
	close(fd);
}

static void reading_fini(struct reading *reading)
{
	profile_fini(&reading->profile);
	profile_fini(&reading->before);
	timeline_fini(&reading->recording.timeline);
}

/* ---- a recording as it is made ---- */

static const struct profile_info info = {
	.host = "host",
	.boot_id = "boot",
	.kernel = "6.1",
	.event = "cpu-clock",
	.program = "fgcollect",
	.hz = 99,
	.start_unix_ns = UINT64_C(1700000000123456789),
	.duration_ns = UINT64_C(3000000000),
	.reasons = {[2] = "no rule", [5] = "snapshot ended"},
};

struct made {
	struct profile profile;
	struct timeline timeline;
	struct profile_info info;
	struct render_options options;
};

static void add_time(struct made *made, uint64_t at_ns, const char *thread_name, uint32_t node)
{
	const struct timeline_process process = {
		.pid = 77,
		.title = "Shop",
		.container = "c0ffee",
		.runtime = "a JVM",
		.pod = "shop-0",
		.container_name = "app",
		.name_space = "test",
		.image = "registry.example/shop/cart:1.4.2",
		.service = "cart",
	};
	const struct timeline_thread thread = {
		.process = timeline_process(&made->timeline, &process),
		.tid = 700 + (pid_t)strlen(thread_name),
		.name = thread_name,
		.labels = thread_name[0] == 'm' ? "trace\tabc\n" : NULL,
	};
	const struct timeline_entry entry = {
		.thread = timeline_thread(&made->timeline, &thread), .node = node, .weight = 1};

	timeline_add(&made->timeline, at_ns, &entry);
}

static void make(struct made *made)
{
	static const struct frame frames[] = {
		{"read", "libc.so.6", NULL, 0, FRAME_NATIVE, "c0ffee"},
		{"a/B.c", NULL, "B.java", 42, FRAME_JIT, NULL},
		{"Shop", NULL, NULL, 0, FRAME_LABEL, NULL},
	};
	uint32_t leaf;

	*made = (struct made){.info = info};
	assert_int_equal(profile_init(&made->profile, 0), 0);
	timeline_init(&made->timeline, 0);
	for (uint32_t i = 0; i < 50; i++) {
		assert_int_equal(
			profile_add_leaf(&made->profile, frames + i % 3, 3 - i % 3, 1, &leaf), 0);
		add_time(made, i * UINT64_C(100000000), i % 2 ? "main" : "GC", leaf);
	}
	timeline_sort(&made->timeline);
	made->timeline.lost_samples = 3;
	made->timeline.lost_names = 1;
	made->profile.quality.lost_samples = 4;
	made->profile.quality.truncated_samples[5] = 6;
	made->profile.quality.unnamed_samples = 7;
	made->profile.quality.unnamed_java_samples = 8;
	made->profile.quality.unrooted_samples = 9;
	made->profile.quality.stackless_samples = 10;
	made->profile.quality.overflow_samples = 11;
	made->info.quality = made->profile.quality;
	made->options = (struct render_options){.title = "T <&>",
						.subtitle = "S",
						.notes = "N",
						.count_name = "cycles",
						.info = &made->info,
						.timeline = &made->timeline};
}

static void made_fini(struct made *made)
{
	profile_fini(&made->profile);
	timeline_fini(&made->timeline);
}

static void check_same(const struct made *made, struct reading *reading, enum render_format format)
{
	const struct import_recording *const recording = &reading->recording;
	const struct render_options options = {.title = recording->title,
					       .subtitle = recording->subtitle,
					       .notes = recording->notes,
					       .count_name = recording->count_name,
					       .info = &recording->info,
					       .timeline = &recording->timeline};
	size_t len, again_len;
	char *const data = rendered(&made->profile, format, &made->options, &len);
	char *const again = rendered(&reading->profile, format, &options, &again_len);

	assert_int_equal(again_len, len);
	assert_memory_equal(again, data, len);
	free(data);
	free(again);
}

static void every_format_made_of_a_recording_is_as_when_it_was_made(void **state)
{
	struct made made;
	struct reading reading;
	size_t len;
	char *data;

	make(&made);
	data = rendered(&made.profile, RENDER_RECORDING, &made.options, &len);
	read_bytes(data, len, &reading);
	assert_int_equal(reading.err, 0);
	assert_true(reading.recording.is_read);
	assert_int_equal(reading.profile.quality.samples, 50);
	assert_string_equal(reading.recording.timeline.processes[0].pod, "shop-0");
	assert_string_equal(reading.recording.timeline.processes[0].container_name, "app");
	assert_string_equal(reading.recording.timeline.processes[0].name_space, "test");
	assert_string_equal(reading.recording.timeline.processes[0].image,
			    "registry.example/shop/cart:1.4.2");
	assert_string_equal(reading.recording.timeline.processes[0].service, "cart");
	for (int format = RENDER_FOLDED; format <= RENDER_RECORDING; format++)
		check_same(&made, &reading, (enum render_format)format);
	free(data);
	reading_fini(&reading);
	made_fini(&made);
}

static void cut_recording_is_an_error_wherever_it_was_cut(void **state)
{
	struct made made;
	size_t len;
	char *data;

	make(&made);
	data = rendered(&made.profile, RENDER_RECORDING, &made.options, &len);
	for (size_t cut = sizeof(HEAD); cut < len; cut++) {
		struct reading reading;

		read_bytes(data, cut, &reading);
		assert_int_equal(reading.err, -EINVAL);
		assert_non_null(reading.target.report.first_reason);
		assert_false(reading.recording.is_read);
		reading_fini(&reading);
	}
	free(data);
	made_fini(&made);
}

static void times_are_passed_over_where_they_are_not_wanted(void **state)
{
	static const struct import_options options = {0};
	struct import_target target = {0};
	struct profile profile;
	struct made made;
	size_t len;
	char *data;
	int fd;

	make(&made);
	data = rendered(&made.profile, RENDER_RECORDING, &made.options, &len);
	assert_int_equal(profile_init(&profile, 0), 0);
	target.profile = &profile;
	fd = files_open_memory(data, len);
	assert_int_equal(import_read(fd, &options, &target), 0);
	assert_int_equal(profile.quality.samples, 50);
	close(fd);
	free(data);
	profile_fini(&profile);
	made_fini(&made);
}

/* ---- records by hand ---- */

struct file {
	struct bytes records;
	uint64_t count;
};

static void record(struct file *file, int type, const char *data, size_t len)
{
	bytes_add_char(&file->records, (char)type);
	bytes_add_varint(&file->records, len);
	bytes_add(&file->records, data, len);
	file->count++;
}

static void text(struct file *file, const char *words)
{
	record(file, RECORDING_TEXT, words, strlen(words));
}

#define FIELDS(file, type, ...)                                                                    \
	do {                                                                                       \
		const char bytes[] = {__VA_ARGS__};                                                \
		record((file), (type), bytes, sizeof(bytes));                                      \
	} while (0)

/* A root, and below it a (1) of kind native (2). */
static struct file begin(void)
{
	struct file file = {.count = 0};

	text(&file, "a");
	text(&file, "native");
	FIELDS(&file, RECORDING_NODE, 0, 0, 0, 0, 0, 0, 0);
	FIELDS(&file, RECORDING_NODE, 1, 1, 2, 0, 0, 0, 5);
	return file;
}

static void end(struct file *file)
{
	struct bytes fields = {0};

	bytes_add_varint(&fields, file->count);
	record(file, RECORDING_END, fields.data, fields.len);
	bytes_fini(&fields);
}

/* Frees the file's records. */
static void read_packed(const char *head, enum compression compression, struct file *file,
			struct reading *ret)
{
	static struct compressor compressor;
	char *data = NULL;
	size_t len = 0;
	FILE *const stream = open_memstream(&data, &len);

	assert_non_null(stream);
	fputs(head, stream);
	assert_int_equal(compressor_init(&compressor, compression, stream), 0);
	compressor_add(&compressor, file->records.data, file->records.len);
	assert_int_equal(compressor_finish(&compressor), 0);
	compressor_fini(&compressor);
	fclose(stream);
	read_bytes(data, len, ret);
	free(data);
	bytes_fini(&file->records);
}

static void read_records(const char *head, struct file *file, struct reading *ret)
{
	read_packed(head, COMPRESSION_GZIP, file, ret);
}

static void check_refused(struct file *file, int err, const char *reason)
{
	struct reading reading;

	end(file);
	read_records(HEAD, file, &reading);
	assert_int_equal(reading.err, err);
	assert_non_null(strstr(reading.target.report.first_reason, reason));
	reading_fini(&reading);
}

static void records_and_fields_of_a_later_program_are_passed_over(void **state)
{
	struct file file = begin();
	struct reading reading;

	record(&file, 99, "who knows", 9);
	FIELDS(&file, RECORDING_NODE, 1, 1, 2, 0, 0, 0, 2, 77, 78);
	end(&file);
	read_records(HEAD, &file, &reading);
	assert_int_equal(reading.err, 0);
	assert_int_equal(reading.profile.quality.samples, 7);
	reading_fini(&reading);
}

static void builds_of_one_module_stay_apart(void **state)
{
	struct file file = begin();
	struct reading reading;

	text(&file, "libx.so");
	text(&file, "libx.so");
	text(&file, "c0ffee");
	FIELDS(&file, RECORDING_BUILD, 4, 5);
	FIELDS(&file, RECORDING_NODE, 1, 1, 2, 3, 0, 0, 2);
	FIELDS(&file, RECORDING_NODE, 1, 1, 2, 4, 0, 0, 2);
	end(&file);
	read_records(HEAD, &file, &reading);
	assert_int_equal(reading.err, 0);
	assert_string_equal(reading.profile.nodes[2].module, "libx.so");
	assert_null(profile_build_id(reading.profile.nodes[2].module));
	assert_string_equal(reading.profile.nodes[3].module, "libx.so");
	assert_string_equal(profile_build_id(reading.profile.nodes[3].module), "c0ffee");
	reading_fini(&reading);
}

/* ---- kinds ---- */

/* Samples of cpu (5), and 7 of a kind that no program of ours knows. */
static struct file begin_kinds(void)
{
	struct file file = {.count = 0};

	text(&file, "a");
	text(&file, "native");
	text(&file, "cpu");
	text(&file, "samples");
	text(&file, "moon");
	text(&file, "bytes");
	FIELDS(&file, RECORDING_KIND, 3, 4);
	FIELDS(&file, RECORDING_NODE, 0, 0, 0, 0, 0, 0, 0);
	FIELDS(&file, RECORDING_NODE, 1, 1, 2, 0, 0, 0, 5);
	FIELDS(&file, RECORDING_KIND, 5, 6);
	FIELDS(&file, RECORDING_NODE, 0, 0, 0, 0, 0, 0, 0);
	FIELDS(&file, RECORDING_NODE, 1, 1, 2, 0, 0, 0, 7);
	return file;
}

static void first_kind_alone_is_read_if_no_more_are_wanted(void **state)
{
	struct file file = begin_kinds();
	struct reading reading;

	end(&file);
	read_records(RECORDING_FORMAT_MAGIC RECORDING_FORMAT_KINDS, &file, &reading);
	assert_int_equal(reading.err, 0);
	assert_int_equal(reading.profile.quality.samples, 5);
	reading_fini(&reading);
}

static void kinds_are_bounded(void **state)
{
	struct file twice = begin_kinds(), many = begin_kinds(), nameless = begin_kinds();
	struct file long_name = begin_kinds();
	char name[PROFILE_KIND_BYTES + 1] = "";

	FIELDS(&twice, RECORDING_KIND, 3, 4);
	check_refused(&twice, -EINVAL, "a kind is there twice");
	for (unsigned i = 0; i < PROFILE_MAX_KINDS - 1; i++) {
		name[0] = (char)('A' + i);
		text(&many, name);
		FIELDS(&many, RECORDING_KIND, (char)(7 + i), 4);
	}
	check_refused(&many, -EFBIG, "more than 8 kinds");
	FIELDS(&nameless, RECORDING_KIND, 0, 4);
	check_refused(&nameless, -EINVAL, "a kind has no name");
	memset(name, 'n', PROFILE_KIND_BYTES);
	text(&long_name, name);
	FIELDS(&long_name, RECORDING_KIND, 7, 4);
	check_refused(&long_name, -EINVAL, "a kind has no name");
}

static void build_of_nothing_is_refused(void **state)
{
	struct file none = begin(), later = begin(), cut = begin();

	FIELDS(&none, RECORDING_BUILD, 0, 1);
	check_refused(&none, -EINVAL, "a build is of nothing");
	FIELDS(&later, RECORDING_BUILD, 3, 1);
	check_refused(&later, -EINVAL, "a text is not there");
	FIELDS(&cut, RECORDING_BUILD, 1);
	check_refused(&cut, -EINVAL, "a record is cut");
}

static void process_with_fewer_fields_is_cut(void **state)
{
	struct file file = begin();

	FIELDS(&file, RECORDING_PROCESS, 7, 1, 1, 1, 0, 0);
	check_refused(&file, -EINVAL, "a record is cut");
}

/* Older writers have seven fields, without image and service. */
static void process_of_an_older_writer_has_no_image_and_no_service(void **state)
{
	struct file file = begin();
	struct reading reading;

	FIELDS(&file, RECORDING_PROCESS, 7, 1, 1, 1, 1, 1, 1);
	FIELDS(&file, RECORDING_THREAD, 0, 8, 0);
	end(&file);
	read_records(HEAD, &file, &reading);
	assert_int_equal(reading.err, 0);
	assert_int_equal(reading.recording.timeline.n_processes, 1);
	assert_string_not_equal(reading.recording.timeline.processes[0].name_space, "");
	assert_string_equal(reading.recording.timeline.processes[0].image, "");
	assert_string_equal(reading.recording.timeline.processes[0].service, "");
	reading_fini(&reading);
}

static void service_that_is_no_text_is_damage(void **state)
{
	struct file file = begin();

	FIELDS(&file, RECORDING_PROCESS, 7, 0, 0, 0, 0, 0, 0, 0, 99);
	check_refused(&file, -EINVAL, "a text is not there");
}

static void image_that_is_cut_or_no_text_is_damage(void **state)
{
	struct file cut = begin(), none = begin();

	FIELDS(&cut, RECORDING_PROCESS, 7, 0, 0, 0, 0, 0, 0, (char)0x80);
	check_refused(&cut, -EINVAL, "a record is cut");
	FIELDS(&none, RECORDING_PROCESS, 7, 0, 0, 0, 0, 0, 0, 99);
	check_refused(&none, -EINVAL, "a text is not there");
}

static void line_that_cannot_be_is_none(void **state)
{
	struct file file = begin();
	struct reading reading;

	/* 2^24 + 1 */
	FIELDS(&file, RECORDING_NODE, 1, 1, 2, 0, 0, (char)0x81, (char)0x80, (char)0x80, 8, 2);
	end(&file);
	read_records(HEAD, &file, &reading);
	assert_int_equal(reading.err, 0);
	assert_int_equal(reading.profile.nodes[2].self, 2);
	assert_int_equal(reading.profile.nodes[2].line, 0);
	reading_fini(&reading);
}

/* A chain as deep as can be, and very many stacks that end below it. */
static void more_frames_than_text_could_write_are_refused(void **state)
{
	struct file file = begin();

	for (int i = 0; i < 131069; i++)
		FIELDS(&file, RECORDING_NODE, 1, 1, 2, 0, 0, 0, 0);
	for (uint32_t i = 1; i <= 33000; i++) {
		struct bytes fields = {0};
		char name[16];

		snprintf(name, sizeof(name), "%u", i);
		text(&file, name);
		bytes_add_varint(&fields, i);
		bytes_add_varint(&fields, i + 2);
		bytes_add(&fields, "\2\0\0\0\1", 5);
		record(&file, RECORDING_NODE, fields.data, fields.len);
		bytes_fini(&fields);
	}
	check_refused(&file, -EFBIG, "more than 2^32 frames");
}

static void stacks_past_the_cap_of_nodes_are_counted(void **state)
{
	struct file file = begin();
	struct reading reading;

	for (int i = 0; i < 100; i++)
		FIELDS(&file, RECORDING_NODE, 1, 1, 2, 0, 0, 0, 1);
	end(&file);
	max_nodes = 50;
	read_records(HEAD, &file, &reading);
	max_nodes = 0;
	assert_int_equal(reading.err, 0);
	assert_int_equal(reading.profile.quality.samples, 105);
	assert_in_range(reading.profile.quality.overflow_samples, 50, 60);
	reading_fini(&reading);
}

static void kind_of_a_later_program_is_native(void **state)
{
	struct file file = begin();
	struct reading reading;

	text(&file, "quantum");
	FIELDS(&file, RECORDING_NODE, 2, 1, 3, 0, 0, 0, 2);
	end(&file);
	read_records(HEAD, &file, &reading);
	assert_int_equal(reading.err, 0);
	assert_int_equal(reading.profile.nodes[1].self, 7);
	reading_fini(&reading);
}

static void version_3_is_packed_as_xz(void **state)
{
	const char *const head = RECORDING_FORMAT_MAGIC RECORDING_FORMAT_XZ;
	struct file file = begin();
	struct reading reading;

	end(&file);
	read_packed(head, COMPRESSION_XZ, &file, &reading);
	assert_int_equal(reading.err, 0);
	assert_int_equal(reading.profile.quality.samples, 5);
	reading_fini(&reading);
	file = begin();
	end(&file);
	read_packed(HEAD, COMPRESSION_XZ, &file, &reading);
	assert_int_equal(reading.err, -EINVAL);
	assert_non_null(strstr(reading.target.report.first_reason, "damaged"));
	reading_fini(&reading);
	file = begin();
	end(&file);
	read_records(head, &file, &reading);
	assert_int_equal(reading.err, -EINVAL);
	assert_non_null(strstr(reading.target.report.first_reason, "damaged"));
	reading_fini(&reading);
}

static void another_version_is_said(void **state)
{
	struct file file = begin();
	struct reading reading;

	end(&file);
	read_records(RECORDING_FORMAT_MAGIC "4\n", &file, &reading);
	assert_int_equal(reading.err, -EINVAL);
	assert_non_null(strstr(reading.target.report.first_reason, "another version"));
	reading_fini(&reading);
}

static void what_has_not_come_before_is_refused(void **state)
{
	struct file file;

	file = begin();
	FIELDS(&file, RECORDING_NODE, 1, 9, 2, 0, 0, 0, 1);
	check_refused(&file, -EINVAL, "a text is not there");
	file = begin();
	FIELDS(&file, RECORDING_NODE, 3, 1, 2, 0, 0, 0, 1);
	check_refused(&file, -EINVAL, "a caller is not there");
	file = begin();
	FIELDS(&file, RECORDING_NODE, 0, 1, 2, 0, 0, 0, 1);
	check_refused(&file, -EINVAL, "a caller is not there");
	file = begin();
	FIELDS(&file, RECORDING_THREAD, 0, 1, 1);
	check_refused(&file, -EINVAL, "a process is not there");
	file = begin();
	FIELDS(&file, RECORDING_TIME, 0, 0, 1, 1);
	check_refused(&file, -EINVAL, "a thread or a frame is not there");
	file = begin();
	FIELDS(&file, RECORDING_PROCESS, 7, 0, 0, 0, 0, 0, 0);
	FIELDS(&file, RECORDING_THREAD, 0, 8, 0);
	FIELDS(&file, RECORDING_TIME, 0, 0, 2, 1);
	check_refused(&file, -EINVAL, "a thread or a frame is not there");
}

static void damaged_record_is_refused(void **state)
{
	struct file file;

	file = begin();
	FIELDS(&file, RECORDING_NODE, 1, 1, 2, 0, 0, 0);
	check_refused(&file, -EINVAL, "a record is cut");
	file = begin();
	FIELDS(&file, RECORDING_NODE, 1, 1, 2, 0, 0, 0, (char)0x80);
	check_refused(&file, -EINVAL, "a record is cut");
	file = begin();
	record(&file, RECORDING_TEXT, "x\0y", 3);
	check_refused(&file, -EINVAL, "a text is none");
	file = begin();
	file.count++;
	check_refused(&file, -EINVAL, "records are missing");
	file = begin();
	text(&file, "bucket_ns");
	FIELDS(&file, RECORDING_FACT, 3, 0, 5);
	check_refused(&file, -EINVAL, "no known length");
}

static void stack_without_an_end_is_refused(void **state)
{
	struct file file = begin();

	for (int i = 0; i < 140000; i++)
		FIELDS(&file, RECORDING_NODE, 1, 1, 2, 0, 0, 0, 0);
	check_refused(&file, -EFBIG, "131,072 frames");
}

/* 2^63 and 2^63. */
static void counts_that_overflow_are_refused(void **state)
{
	struct file file = begin();
	const char huge[] = {1,	   1,	 2,    0,    0,	   0,	 -128, -128,
			     -128, -128, -128, -128, -128, -128, -128, 1};

	record(&file, RECORDING_NODE, huge, sizeof(huge));
	record(&file, RECORDING_NODE, huge, sizeof(huge));
	check_refused(&file, -EOVERFLOW, "2^64");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_made_of_a_recording_is_as_when_it_was_made),
		cmocka_unit_test(cut_recording_is_an_error_wherever_it_was_cut),
		cmocka_unit_test(times_are_passed_over_where_they_are_not_wanted),
		cmocka_unit_test(records_and_fields_of_a_later_program_are_passed_over),
		cmocka_unit_test(kind_of_a_later_program_is_native),
		cmocka_unit_test(version_3_is_packed_as_xz),
		cmocka_unit_test(another_version_is_said),
		cmocka_unit_test(what_has_not_come_before_is_refused),
		cmocka_unit_test(damaged_record_is_refused),
		cmocka_unit_test(stack_without_an_end_is_refused),
		cmocka_unit_test(counts_that_overflow_are_refused),
		cmocka_unit_test(builds_of_one_module_stay_apart),
		cmocka_unit_test(first_kind_alone_is_read_if_no_more_are_wanted),
		cmocka_unit_test(kinds_are_bounded),
		cmocka_unit_test(build_of_nothing_is_refused),
		cmocka_unit_test(process_with_fewer_fields_is_cut),
		cmocka_unit_test(process_of_an_older_writer_has_no_image_and_no_service),
		cmocka_unit_test(service_that_is_no_text_is_damage),
		cmocka_unit_test(image_that_is_cut_or_no_text_is_damage),
		cmocka_unit_test(line_that_cannot_be_is_none),
		cmocka_unit_test(more_frames_than_text_could_write_are_refused),
		cmocka_unit_test(stacks_past_the_cap_of_nodes_are_counted),
	};

	return cmocka_run_group_tests_name("recording_reader", tests, NULL, NULL);
}
