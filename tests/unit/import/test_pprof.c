// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of pprof: files written here byte by byte, by the published numbers of the fields, and
 * what is read of them; files that lie.
 */
#include "import/pprof.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

/* Fields of Profile. */
enum {
	SAMPLE_TYPE = 1,
	SAMPLE = 2,
	MAPPING = 3,
	LOCATION = 4,
	FUNCTION = 5,
	TEXT = 6,
	TIME_NANOS = 9,
	DURATION_NANOS = 10,
	PERIOD_TYPE = 11,
	PERIOD = 12,
	DEFAULT_TYPE = 14,
};

struct message {
	unsigned char data[16384];
	size_t len;
};

static void put_varint(struct message *message, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		message->data[message->len++] = (unsigned char)(value | 0x80);
	message->data[message->len++] = (unsigned char)value;
}

static void put_number(struct message *message, unsigned field, uint64_t value)
{
	put_varint(message, field << 3);
	put_varint(message, value);
}

static void put_bytes(struct message *message, unsigned field, const void *data, size_t len)
{
	put_varint(message, field << 3 | 2);
	put_varint(message, len);
	memcpy(message->data + message->len, data, len);
	message->len += len;
}

/* A message of numbers: field, value, field, value, ..., 0. */
static void put_message(struct message *message, unsigned field, const uint64_t *numbers)
{
	struct message inner = {.len = 0};

	for (; *numbers; numbers += 2)
		put_number(&inner, (unsigned)numbers[0], numbers[1]);
	put_bytes(message, field, inner.data, inner.len);
}

#define PUT(message, field, ...) put_message(message, field, (const uint64_t[]){__VA_ARGS__, 0})

static void put_location(struct message *message, uint64_t id, const uint64_t *functions)
{
	struct message inner = {.len = 0};

	put_number(&inner, 1, id);
	for (; *functions; functions++)
		PUT(&inner, 4, 1, *functions, 2, 10 + *functions);
	put_bytes(message, LOCATION, inner.data, inner.len);
}

#define LINES(message, id, ...) put_location(message, id, (const uint64_t[]){__VA_ARGS__, 0})

/* Texts, in the order of their numbers. */
enum {
	T_EMPTY,
	T_SAMPLES,
	T_COUNT,
	T_CPU,
	T_NANOSECONDS,
	T_MAIN,
	T_WORK,
	T_HELP,
	T_FILE,
	T_LIBC,
	T_KERNEL,
	T_JIT_NAME,
	T_SPACE,
	T_BYTES,
	T_JAVA,
	T_CPP,
	T_WALL,
	T_THREAD,
	T_THREAD_ID,
	T_TRACE,
	T_PID,
	T_PROCESS,
	TEXTS,
};

static void put_texts(struct message *message)
{
	static const char *const texts[TEXTS] = {
		"",
		"samples",
		"count",
		"cpu",
		"nanoseconds",
		"main",
		"work",
		"help",
		"src/main.c",
		"/usr/lib/libc.so.6",
		"[kernel.kallsyms]",
		"help_[jit]",
		"space",
		"bytes",
		"java/lang/String.hashCode",
		"std::sort",
		"wall",
		"thread",
		"thread_id",
		"trace",
		"pid",
		"process",
	};

	for (int i = 0; i < TEXTS; i++)
		put_bytes(message, TEXT, texts[i], strlen(texts[i]));
}

/* Functions 1 main, 2 work, 3 help; locations 1 main, 2 work, 3 help inlined into work. */
static void put_tables(struct message *message)
{
	put_texts(message);
	PUT(message, FUNCTION, 1, 1, 2, T_MAIN, 4, T_FILE);
	PUT(message, FUNCTION, 1, 2, 2, T_WORK);
	PUT(message, FUNCTION, 1, 3, 2, T_HELP);
	LINES(message, 1, 1);
	LINES(message, 2, 2);
	LINES(message, 3, 3, 2);
}

/* The samples first, as Go writes them, and behind them what they need. */
static struct message profile_of(const uint64_t *sample)
{
	struct message message = {.len = 0};

	PUT(&message, SAMPLE_TYPE, 1, T_SAMPLES, 2, T_COUNT);
	put_message(&message, SAMPLE, sample);
	put_tables(&message);
	return message;
}

#define PROFILE(...) profile_of((const uint64_t[]){__VA_ARGS__, 0})

static int take(const void *data, size_t len, struct profile *profile, struct import_report *report)
{
	assert_int_equal(profile_init(profile, 0), 0);
	struct import_target target = {.profile = profile};
	const int rc = import_pprof(data, len, &target);

	*report = target.report;
	return rc;
}

static const struct profile_node *leaf_of(const struct profile *profile)
{
	const struct profile_node *node = &profile->nodes[0];

	while (node->first_child)
		node = &profile->nodes[node->first_child];
	return node;
}

static const char *path_of(const struct profile *profile, char ret[256])
{
	const struct profile_node *node = &profile->nodes[0];

	ret[0] = '\0';
	while (node->first_child) {
		node = &profile->nodes[node->first_child];
		if (ret[0])
			strcat(ret, ";");
		strcat(ret, node->name);
	}
	return ret;
}

static void check(const struct message *message, const char *path, uint64_t count)
{
	struct import_report report;
	struct profile profile;
	char text[256];

	assert_int_equal(take(message->data, message->len, &profile, &report), 0);
	assert_string_equal(path_of(&profile, text), path);
	assert_int_equal(leaf_of(&profile)->self, count);
	assert_int_equal(report.ignored, 0);
	profile_fini(&profile);
}

static void check_fails(const void *data, size_t len, int err, const char *reason)
{
	struct import_report report;
	struct profile profile;

	assert_int_equal(take(data, len, &profile, &report), err);
	assert_non_null(report.first_reason);
	assert_non_null(strstr(report.first_reason, reason));
	profile_fini(&profile);
}

static void tables_may_follow_samples(void **state)
{
	const struct message message = PROFILE(1, 2, 1, 1, 2, 7);

	check(&message, "main;work", 7);
}

static void packed_locations_are_read(void **state)
{
	struct message message = {.len = 0}, sample = {.len = 0};

	PUT(&message, SAMPLE_TYPE, 1, T_SAMPLES, 2, T_COUNT);
	put_tables(&message);
	put_bytes(&sample, 1, "\x02\x01\x01", 3);
	put_bytes(&sample, 2, "\x80\x01", 2);
	put_bytes(&message, SAMPLE, sample.data, sample.len);
	check(&message, "main;main;work", 128);
}

static void inlined_functions_are_frames_of_their_own(void **state)
{
	const struct message message = PROFILE(1, 3, 1, 1, 2, 4);
	struct import_report report;
	struct profile profile;

	check(&message, "main;work;help", 4);
	assert_int_equal(take(message.data, message.len, &profile, &report), 0);
	assert_int_equal(leaf_of(&profile)->kind, FRAME_NATIVE_INLINED);
	assert_int_equal(leaf_of(&profile)->line, 13);
	assert_int_equal(profile.nodes[leaf_of(&profile)->parent].kind, FRAME_NATIVE);
	assert_string_equal(profile.nodes[1].file, "src/main.c");
	profile_fini(&profile);
}

static void put_two_types(struct message *message, const uint64_t types[4])
{
	PUT(message, SAMPLE_TYPE, 1, types[0], 2, types[1]);
	PUT(message, SAMPLE_TYPE, 1, types[2], 2, types[3]);
	PUT(message, SAMPLE, 1, 1, 2, 5, 2, 50);
	put_tables(message);
}

static void last_type_is_taken(void **state)
{
	struct message message = {.len = 0};

	put_two_types(&message, (const uint64_t[]){T_CPU, T_NANOSECONDS, T_SPACE, T_BYTES});
	check(&message, "main", 50);
}

static void type_that_the_file_wants_is_taken(void **state)
{
	struct message message = {.len = 0};

	put_two_types(&message, (const uint64_t[]){T_SPACE, T_BYTES, T_CPU, T_NANOSECONDS});
	put_number(&message, DEFAULT_TYPE, T_SPACE);
	check(&message, "main", 5);
}

static void samples_are_taken_and_not_their_time(void **state)
{
	struct message message = {.len = 0};

	put_two_types(&message, (const uint64_t[]){T_SAMPLES, T_COUNT, T_CPU, T_NANOSECONDS});
	check(&message, "main", 5);
}

/* A sample of that many of main, with labels: key, text, number, key, text, number, ..., 0. */
static void put_labelled(struct message *message, uint64_t count, const uint64_t *labels)
{
	struct message inner = {.len = 0};

	put_number(&inner, 1, 1);
	put_number(&inner, 2, count);
	for (; *labels; labels += 3)
		PUT(&inner, 3, 1, labels[0], labels[1] ? 2 : 3, labels[1] ? labels[1] : labels[2]);
	put_bytes(message, SAMPLE, inner.data, inner.len);
}

#define LABELLED(message, count, ...)                                                              \
	put_labelled(message, count, (const uint64_t[]){__VA_ARGS__, 0})

static void read_labelled(const struct message *message, struct profile *profile,
			  struct import_recording *recording)
{
	struct import_target target = {.profile = profile, .recording = recording};

	*recording = (struct import_recording){.is_read = false};
	timeline_init(&recording->timeline, 0);
	assert_int_equal(profile_init(profile, 0), 0);
	assert_int_equal(import_pprof(message->data, message->len, &target), 0);
	assert_true(recording->is_read);
}

static void check_row(const struct timeline *timeline, size_t row, const char *expected)
{
	const struct timeline_thread *const thread = &timeline->threads[row];
	const struct timeline_process *const process = &timeline->processes[thread->process];
	uint64_t weight = 0;
	char found[200];

	for (size_t i = 0; i < timeline->n_entries; i++)
		weight += timeline->entries[i].thread == row ? timeline->entries[i].weight : 0;
	snprintf(found, sizeof(found), "%d %s|%d %s|%s|%d", (int)process->pid, process->title,
		 (int)thread->tid, thread->name, thread->labels, (int)weight);
	assert_string_equal(found, expected);
}

static void labels_tell_threads_and_stay_labels(void **state)
{
	struct message message = {.len = 0};
	struct import_recording recording;
	struct profile profile;

	PUT(&message, SAMPLE_TYPE, 1, T_SAMPLES, 2, T_COUNT);
	LABELLED(&message, 3, T_THREAD, T_WORK, 0, T_THREAD_ID, 0, 17, T_TRACE, T_HELP, 0);
	LABELLED(&message, 5, T_THREAD, T_WORK, 0, T_THREAD_ID, 0, 17, T_TRACE, T_MAIN, 0);
	LABELLED(&message, 7, T_THREAD, T_WORK, 0, T_TRACE, T_HELP, 0);
	LABELLED(&message, 9, T_PID, 0, 40, T_PROCESS, T_JAVA, 0);
	LABELLED(&message, 11, T_PID, 0, 40, T_PROCESS, T_CPP, 0);
	LABELLED(&message, 2, 0);
	put_tables(&message);
	read_labelled(&message, &profile, &recording);
	assert_int_equal(profile.nodes[0].total, 37);
	assert_int_equal(recording.timeline.n_threads, 5);
	check_row(&recording.timeline, 0,
		  "0 [process not known]|17 work|thread_id\t17\t\ntrace\thelp\n|3");
	check_row(&recording.timeline, 1,
		  "0 [process not known]|17 work|thread_id\t17\t\ntrace\tmain\n|5");
	check_row(&recording.timeline, 2,
		  "0 [process not known]|0 work|thread\twork\ntrace\thelp\n|7");
	check_row(&recording.timeline, 3, "40 java/lang/String.hashCode|0 ||9");
	check_row(&recording.timeline, 4,
		  "0 [process not known]|0 |pid\t40\t\nprocess\tstd::sort\n|11");
	timeline_fini(&recording.timeline);
	profile_fini(&profile);
}

static void what_a_file_says_of_its_time_is_taken(void **state)
{
	struct message message = {.len = 0};
	struct import_recording recording;
	struct profile profile;

	PUT(&message, SAMPLE_TYPE, 1, T_SAMPLES, 2, T_COUNT);
	PUT(&message, SAMPLE_TYPE, 1, T_CPU, 2, T_NANOSECONDS);
	PUT(&message, SAMPLE, 1, 1, 2, 3, 2, 30000000);
	put_tables(&message);
	put_number(&message, TIME_NANOS, 1700000000000000000);
	put_number(&message, DURATION_NANOS, 2000000000);
	PUT(&message, PERIOD_TYPE, 1, T_CPU, 2, T_NANOSECONDS);
	put_number(&message, PERIOD, 10101010);
	read_labelled(&message, &profile, &recording);
	assert_int_equal(recording.info.start_unix_ns, 1700000000000000000);
	assert_int_equal(recording.info.duration_ns, 2000000000);
	assert_int_equal(recording.info.hz, 99);
	assert_int_equal(recording.timeline.n_entries, 0);
	timeline_fini(&recording.timeline);
	profile_fini(&profile);
}

/* Where kinds go. target is the first member, see open_kind. */
struct opened {
	struct import_target target;
	struct profile profiles[PROFILE_MAX_KINDS];
	char names[PROFILE_MAX_KINDS][PROFILE_KIND_BYTES];
	size_t n, refused;
	const char *unwanted;
};

static int open_kind(struct import_target *target, const struct profile_kind *kind)
{
	struct opened *const opened = (struct opened *)target;

	if (opened->unwanted && strcmp(opened->unwanted, kind->name) == 0) {
		opened->refused++;
		return 1;
	}
	assert_true(opened->n < PROFILE_MAX_KINDS);
	snprintf(opened->names[opened->n], PROFILE_KIND_BYTES, "%s", kind->name);
	assert_int_equal(profile_init(&opened->profiles[opened->n], 0), 0);
	target->profile = &opened->profiles[opened->n++];
	return 0;
}

static void take_kinds(const struct message *message, struct opened *opened)
{
	opened->target.open = open_kind;
	assert_int_equal(import_pprof(message->data, message->len, &opened->target), 0);
}

static void opened_fini(struct opened *opened)
{
	for (size_t i = 0; i < opened->n; i++)
		profile_fini(&opened->profiles[i]);
}

static struct message three_types(void)
{
	struct message message = {.len = 0};

	PUT(&message, SAMPLE_TYPE, 1, T_SAMPLES, 2, T_COUNT);
	PUT(&message, SAMPLE_TYPE, 1, T_CPU, 2, T_NANOSECONDS);
	PUT(&message, SAMPLE_TYPE, 1, T_WALL, 2, T_NANOSECONDS);
	PUT(&message, SAMPLE, 1, 1, 2, 3, 2, 30000000, 2, 2000);
	PUT(&message, SAMPLE, 1, 2, 1, 1, 2, 0, 2, 0, 2, 5000);
	put_tables(&message);
	put_number(&message, DEFAULT_TYPE, T_CPU);
	return message;
}

static void each_type_goes_to_its_kind(void **state)
{
	const struct message message = three_types();
	struct opened opened = {.n = 0};

	take_kinds(&message, &opened);
	assert_int_equal(opened.n, 2);
	assert_string_equal(opened.names[0], "cpu");
	assert_int_equal(opened.profiles[0].nodes[0].total, 3);
	assert_int_equal(opened.profiles[0].count, 2); /* nothing of the other kind's stack */
	assert_string_equal(opened.names[1], "wall");
	assert_int_equal(opened.profiles[1].nodes[0].total, 7);
	assert_string_equal(leaf_of(&opened.profiles[1])->name, "work");
	assert_int_equal(leaf_of(&opened.profiles[1])->self, 5);
	assert_int_equal(opened.target.report.stacks, 2);
	opened_fini(&opened);
}

static void kind_that_is_not_wanted_is_left_out(void **state)
{
	const struct message message = three_types();
	struct opened opened = {.unwanted = "cpu"};

	take_kinds(&message, &opened);
	assert_int_equal(opened.refused, 1);
	assert_int_equal(opened.n, 1);
	assert_string_equal(opened.names[0], "wall");
	assert_int_equal(opened.profiles[0].nodes[0].total, 7);
	opened_fini(&opened);
}

static void kinds_without_a_place_are_counted(void **state)
{
	struct message message = {.len = 0}, sample = {.len = 0};
	struct opened opened = {.n = 0};

	for (unsigned i = 0; i < PROFILE_MAX_KINDS + 2; i++)
		PUT(&message, SAMPLE_TYPE, 1, T_MAIN + i, 2, T_BYTES);
	put_tables(&message);
	put_bytes(&sample, 1, "\x01", 1);
	put_bytes(&sample, 2, "\1\1\1\1\1\1\1\1\1\1", PROFILE_MAX_KINDS + 2);
	put_bytes(&message, SAMPLE, sample.data, sample.len);
	take_kinds(&message, &opened);
	assert_int_equal(opened.n, PROFILE_MAX_KINDS);
	assert_int_equal(opened.target.report.other_kinds, 2);
	opened_fini(&opened);
}

static void address_without_a_function_is_named_by_its_file(void **state)
{
	struct message message = {.len = 0};

	PUT(&message, SAMPLE_TYPE, 1, T_SAMPLES, 2, T_COUNT);
	put_texts(&message);
	PUT(&message, MAPPING, 1, 9, 2, 0x7000, 3, 0x9000, 4, 0x200, 5, T_LIBC);
	PUT(&message, LOCATION, 1, 1, 2, 9, 3, 0x7123);
	PUT(&message, LOCATION, 1, 2, 3, 0x7123);
	PUT(&message, SAMPLE, 1, 1, 1, 2, 2, 1);
	check(&message, "[unknown]+0x7123;libc.so.6+0x323", 1);
}

static void check_named_kind(uint64_t name_text, uint64_t mapping_text, uint64_t system_text,
			     enum frame_kind kind)
{
	struct message message = {.len = 0};
	struct import_report report;
	struct profile profile;

	PUT(&message, SAMPLE_TYPE, 1, T_SAMPLES, 2, T_COUNT);
	put_texts(&message);
	PUT(&message, MAPPING, 1, 1, 5, mapping_text);
	PUT(&message, FUNCTION, 1, 1, 2, name_text, 3, system_text);
	PUT(&message, SAMPLE, 1, 1, 2, 1);
	put_bytes(&message, LOCATION, "\x08\x01\x10\x01\x22\x02\x08\x01", 8);
	assert_int_equal(take(message.data, message.len, &profile, &report), 0);
	assert_int_equal(leaf_of(&profile)->kind, kind);
	profile_fini(&profile);
}

static void check_kind(uint64_t mapping_text, uint64_t system_text, enum frame_kind kind)
{
	check_named_kind(T_HELP, mapping_text, system_text, kind);
}

static void name_tells_the_kind_where_no_mapping_does(void **state)
{
	check_named_kind(T_JAVA, T_EMPTY, T_JAVA, FRAME_JAVA);
	check_named_kind(T_JAVA, T_LIBC, T_JAVA, FRAME_NATIVE);
	check_named_kind(T_CPP, T_EMPTY, T_CPP, FRAME_NATIVE);
}

static void mapping_or_system_name_tells_the_kind(void **state)
{
	check_kind(T_KERNEL, T_HELP, FRAME_KERNEL);
	check_kind(T_LIBC, T_HELP, FRAME_NATIVE);
	check_kind(T_LIBC, T_JIT_NAME, FRAME_JIT);
}

static void negative_value_is_ignored_and_said(void **state)
{
	struct message message = PROFILE(1, 1, 2, UINT64_MAX);
	struct import_report report;
	struct profile profile;

	PUT(&message, SAMPLE, 1, 1, 2, 3);
	assert_int_equal(take(message.data, message.len, &profile, &report), 0);
	assert_int_equal(report.ignored, 1);
	assert_int_equal(report.first_ignored, 1);
	assert_int_equal(report.stacks, 1);
	assert_non_null(strstr(report.first_reason, "negative"));
	assert_int_equal(profile.nodes[0].total, 3);
	profile_fini(&profile);
}

static void too_deep_stack_is_ignored_and_said(void **state)
{
	enum { DEPTH = (128 << 10) + 1 };
	struct message head = {.len = 0}, sample = {.len = 0};
	unsigned char *const file = malloc(DEPTH + 1024);
	struct import_report report;
	struct profile profile;
	size_t len;

	assert_non_null(file);
	PUT(&head, SAMPLE_TYPE, 1, T_SAMPLES, 2, T_COUNT);
	put_tables(&head);
	put_varint(&sample, 1 << 3 | 2);
	put_varint(&sample, DEPTH);
	put_varint(&head, SAMPLE << 3 | 2);
	put_varint(&head, sample.len + DEPTH + 2);
	memcpy(file, head.data, head.len);
	memcpy(file + head.len, sample.data, sample.len);
	memset(file + head.len + sample.len, 1, DEPTH);
	len = head.len + sample.len + DEPTH;
	memcpy(file + len, "\x10\x01", 2);
	assert_int_equal(take(file, len + 2, &profile, &report), 0);
	assert_int_equal(report.ignored, 1);
	assert_int_equal(profile.nodes[0].total, 0);
	profile_fini(&profile);
	free(file);
}

static void numbers_that_lead_nowhere_are_errors(void **state)
{
	struct message message = PROFILE(1, 4, 2, 1);

	check_fails(message.data, message.len, -EINVAL, "location is not there");
	message = PROFILE(1, 1, 2, 1);
	PUT(&message, FUNCTION, 1, 4, 2, TEXTS);
	LINES(&message, 4, 4);
	check_fails(message.data, message.len, -EINVAL, "text's number");
	message = PROFILE(1, 1, 2, 1);
	PUT(&message, FUNCTION, 1, 4, 2, UINT64_MAX);
	LINES(&message, 4, 4);
	check_fails(message.data, message.len, -EINVAL, "text's number");
	message = PROFILE(1, 1, 2, 1);
	LINES(&message, 4, 77);
	check_fails(message.data, message.len, -EINVAL, "function is not there");
	message = PROFILE(1, 1, 2, 1);
	PUT(&message, LOCATION, 1, 5, 2, 77);
	check_fails(message.data, message.len, -EINVAL, "mapping is not there");
	message = PROFILE(1, 1, 2, 1);
	LINES(&message, 1, 1);
	check_fails(message.data, message.len, -EINVAL, "twice");
	message = PROFILE(1, 1, 2, 1, 2, 1);
	check_fails(message.data, message.len, -EINVAL, "as many values");
}

static void counts_that_overflow_are_an_error(void **state)
{
	struct message message = PROFILE(1, 1, 2, INT64_MAX);

	PUT(&message, SAMPLE, 1, 1, 2, INT64_MAX);
	check(&message, "main", 2 * (uint64_t)INT64_MAX);
	PUT(&message, SAMPLE, 1, 2, 2, 2);
	check_fails(message.data, message.len, -EOVERFLOW, "2^64");
}

static void what_is_no_profile_is_said(void **state)
{
	check_fails("", 0, -EINVAL, "no pprof profile");
	check_fails("main;work 7\n", 12, -EINVAL, "no pprof profile");
	check_fails("\x1f\x8b\x08 and so on", 13, -EINVAL, "gzip");
}

/* What nanopb then gives is a copy: it must not be taken for a place in the file. */
static void text_that_is_a_number_is_an_error(void **state)
{
	struct message message = PROFILE(1, 1, 2, 1);

	put_number(&message, TEXT, UINT64_MAX);
	check_fails(message.data, message.len, -EINVAL, "no pprof profile");
}

/* Of its very size, so that the sanitizer sees what is read behind it. */
static void every_cut_is_survived(void **state)
{
	const struct message message = PROFILE(1, 3, 1, 1, 2, 4);

	for (size_t len = 0; len < message.len; len++) {
		unsigned char *const cut = malloc(len ? len : 1);
		struct import_report report;
		struct profile profile;

		assert_non_null(cut);
		memcpy(cut, message.data, len);
		if (take(cut, len, &profile, &report) < 0)
			assert_non_null(report.first_reason);
		profile_fini(&profile);
		free(cut);
	}
}

/* The caller frees. */
static unsigned char *zip(const void *data, size_t len, size_t *ret_len)
{
	z_stream z = {0};
	unsigned char *ret;

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
	*ret_len = deflateBound(&z, len);
	ret = malloc(*ret_len);
	assert_non_null(ret);
	z.next_in = (unsigned char *)(uintptr_t)data;
	z.avail_in = (unsigned)len;
	z.next_out = ret;
	z.avail_out = (unsigned)*ret_len;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	*ret_len = z.total_out;
	deflateEnd(&z);
	return ret;
}

static void members_of_gzip_are_joined(void **state)
{
	const struct message message = PROFILE(1, 2, 1, 1, 2, 7);
	struct message both = {.len = 0};

	for (int half = 0; half < 2; half++) {
		const size_t from = half ? message.len / 2 : 0;
		const size_t to = half ? message.len : message.len / 2;
		size_t len;
		unsigned char *const zipped = zip(message.data + from, to - from, &len);

		memcpy(both.data + both.len, zipped, len);
		both.len += len;
		free(zipped);
	}
	check(&both, "main;work", 7);
	both.len--;
	check_fails(both.data, both.len, -EINVAL, "gzip is cut");
}

/* 600 MiB of zeros, as members of 1 MiB each. */
static void bomb_is_refused(void **state)
{
	enum { MEMBERS = 600, MEMBER_BYTES = 1 << 20 };
	unsigned char *const zeros = calloc(1, MEMBER_BYTES);
	unsigned char *zipped, *bomb;
	size_t len;

	assert_non_null(zeros);
	zipped = zip(zeros, MEMBER_BYTES, &len);
	bomb = malloc(len * MEMBERS);
	assert_non_null(bomb);
	for (size_t i = 0; i < MEMBERS; i++)
		memcpy(bomb + i * len, zipped, len);
	check_fails(bomb, len * MEMBERS, -EFBIG, "512 MiB");
	free(bomb);
	free(zipped);
	free(zeros);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_may_follow_samples),
		cmocka_unit_test(packed_locations_are_read),
		cmocka_unit_test(inlined_functions_are_frames_of_their_own),
		cmocka_unit_test(last_type_is_taken),
		cmocka_unit_test(type_that_the_file_wants_is_taken),
		cmocka_unit_test(samples_are_taken_and_not_their_time),
		cmocka_unit_test(labels_tell_threads_and_stay_labels),
		cmocka_unit_test(what_a_file_says_of_its_time_is_taken),
		cmocka_unit_test(each_type_goes_to_its_kind),
		cmocka_unit_test(kind_that_is_not_wanted_is_left_out),
		cmocka_unit_test(kinds_without_a_place_are_counted),
		cmocka_unit_test(address_without_a_function_is_named_by_its_file),
		cmocka_unit_test(mapping_or_system_name_tells_the_kind),
		cmocka_unit_test(name_tells_the_kind_where_no_mapping_does),
		cmocka_unit_test(negative_value_is_ignored_and_said),
		cmocka_unit_test(too_deep_stack_is_ignored_and_said),
		cmocka_unit_test(numbers_that_lead_nowhere_are_errors),
		cmocka_unit_test(counts_that_overflow_are_an_error),
		cmocka_unit_test(what_is_no_profile_is_said),
		cmocka_unit_test(text_that_is_a_number_is_an_error),
		cmocka_unit_test(every_cut_is_survived),
		cmocka_unit_test(members_of_gzip_are_joined),
		cmocka_unit_test(bomb_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
