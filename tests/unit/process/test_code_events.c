// SPDX-License-Identifier: Apache-2.0
/* What an agent may say, and how much of it is kept; the process is this test's own. */
#include "process/code_events.h"
#include "own_jvm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#define NOW UINT64_C(1000000000000)

static uint8_t bytes[4u << 20];
static struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};
static struct process *process;

/* ---- helpers ---- */

static int set_up(void **state)
{
	buf.len = 0;
	process = own_jvm_new();
	process_open_session(process, 1, NOW);
	return 0;
}

static int tear_down(void **state)
{
	process_free(process);
	return 0;
}

static void apply(void)
{
	own_jvm_hear(process, &buf, NOW);
}

static void say_hello(void)
{
	own_jvm_hear_hello(process, NOW);
}

static void say_resync(enum wire_kind kind, uint32_t epoch)
{
	wire_encode_resync(&buf, kind,
			   &(struct wire_resync){.time_ns = 1, .epoch = epoch, .complete = true});
	apply();
}

static void say_load(uint64_t addr, uint32_t size, const char *class_name, const char *method)
{
	wire_encode_method_load(&buf, 0,
				&(struct wire_method_load){
					.time_ns = 500,
					.addr = addr,
					.size = size,
					.class_sig = wire_str_from(class_name),
					.method = wire_str_from(method),
					.method_sig = wire_str_from("()V"),
				});
	apply();
}

static void say_thread(uint32_t tid, const char *name)
{
	wire_encode_thread(&buf, &(struct wire_thread){.tid = tid, .name = wire_str_from(name)});
	apply();
}

static struct code_map_stats stats(void)
{
	struct code_map_stats ret;

	code_map_stats(process->code, &ret);
	return ret;
}

static const struct code_range *range_at(uint64_t addr)
{
	const struct code_range *range = code_map_find(process->code, addr, NOW);

	assert_non_null(range);
	return range;
}

/* A name of len bytes that no other number has. */
static const char *unique_name(unsigned int number, size_t len)
{
	static char name[2000];

	assert_true(len < sizeof(name));
	memset(name, 'x', len);
	name[len] = '\0';
	name[snprintf(name, sizeof(name), "%u", number)] = '-';
	return name;
}

/* ---- order ---- */

static void nothing_counts_before_the_hello(void **state)
{
	say_load(0x1000, 64, "LMain;", "run");
	say_resync(WIRE_RESYNC_BEGIN, 1);
	say_resync(WIRE_RESYNC_END, 1);
	assert_int_equal(process->jvm->bad_records, 3);
	assert_int_equal(process->jvm->state, JVM_RESYNCING);
	assert_int_equal(stats().loads, 0);
	say_hello();
	say_load(0x1000, 64, "LMain;", "run");
	assert_int_equal(process->jvm->bad_records, 3);
	assert_int_equal(stats().loads, 1);
}

static void each_session_begins_with_a_hello(void **state)
{
	say_hello();
	process_open_session(process, 2, NOW);
	say_load(0x1000, 64, "LMain;", "run");
	assert_int_equal(process->jvm->bad_records, 1);
	assert_int_equal(stats().loads, 0);
}

static void the_end_of_another_resync_proves_nothing(void **state)
{
	say_hello();
	say_load(0x1000, 64, "LMain;", "run");
	say_resync(WIRE_RESYNC_BEGIN, 7);
	say_resync(WIRE_RESYNC_END, 6);
	assert_int_equal(process->jvm->bad_records, 1);
	assert_int_equal(process->jvm->state, JVM_RESYNCING);
	assert_int_equal(stats().live, 1);
	say_resync(WIRE_RESYNC_END, 7);
	assert_int_equal(process->jvm->state, JVM_CURRENT);
	assert_int_equal(stats().live, 0);
}

static void an_end_without_a_begin_of_its_session_proves_nothing(void **state)
{
	say_hello();
	say_load(0x1000, 64, "LMain;", "run");
	say_resync(WIRE_RESYNC_BEGIN, 7);
	process_open_session(process, 2, NOW);
	say_hello();
	say_resync(WIRE_RESYNC_END, 7);
	assert_int_equal(process->jvm->bad_records, 1);
	assert_int_equal(process->jvm->state, JVM_RESYNCING);
	assert_int_equal(stats().live, 1);
}

/* ---- probes ---- */

static void say_probes(uint64_t alloc_events)
{
	wire_encode_probes(&buf, &(struct wire_probes){.flags = WIRE_PROBES_ALLOC,
						       .alloc_events = alloc_events});
	apply();
}

/* A new session begins with nothing, because an agent that has counted nothing does not tell. */
static void what_probes_count_is_kept_until_the_next_hello(void **state)
{
	say_hello();
	say_probes(3);
	say_probes(4);
	assert_int_equal(process->jvm->probes.alloc_events, 4);
	assert_int_equal(process->jvm->unknown_records, 0);
	process_open_session(process, 2, NOW);
	assert_int_equal(process->jvm->probes.alloc_events, 4);
	say_hello();
	assert_int_equal(process->jvm->probes.alloc_events, 0);
	assert_int_equal(process->jvm->probes.flags, 0);
}

/* ---- frames ---- */

static void say_frames(uint16_t flags, struct wire_frame frame)
{
	wire_encode_method_load(&buf, flags,
				&(struct wire_method_load){.time_ns = 500,
							   .addr = 0x1000,
							   .size = 64,
							   .frame = frame,
							   .class_sig = wire_str_from("LMain;"),
							   .method = wire_str_from("run")});
	wire_encode_stub(&buf, flags,
			 &(struct wire_stub){.time_ns = 500,
					     .addr = 0x2000,
					     .size = 64,
					     .frame = frame,
					     .name = wire_str_from("stub")});
	apply();
}

static void check_frame_at(uint64_t addr, struct wire_frame expected)
{
	const struct code_frame *frame = &range_at(addr)->frame;

	assert_int_equal(frame->size, expected.size);
	assert_int_equal(frame->complete, expected.complete);
	assert_int_equal(frame->entry, expected.entry);
}

static void check_frames(struct wire_frame expected)
{
	check_frame_at(0x1000, expected);
	check_frame_at(0x2000, expected);
}

static void frames_are_kept_of_loads_and_stubs(void **state)
{
	say_hello();
	say_frames(0, (struct wire_frame){48, 64, 32});
	check_frames((struct wire_frame){48, 64, 32});
	assert_int_equal(process->jvm->lost_frames, 0);
}

static void a_repeat_brings_the_frame_that_was_not_known(void **state)
{
	say_hello();
	say_frames(0, (struct wire_frame){0});
	check_frames((struct wire_frame){0});
	say_frames(WIRE_FLAG_RESYNC, (struct wire_frame){48, 20, 4});
	check_frames((struct wire_frame){48, 20, 4});
	say_frames(WIRE_FLAG_RESYNC, (struct wire_frame){64, 21, 5});
	check_frames((struct wire_frame){48, 20, 4});
	assert_int_equal(stats().loads, 2);
	assert_int_equal(stats().repeats, 4);
}

static void frames_that_cannot_be_are_counted_and_not_kept(void **state)
{
	static const struct wire_frame frames[] = {
		{CODE_FRAME_MAX_BYTES + 8, 20, 4}, /* too large */
		{UINT32_MAX, 20, 4},
		{44, 20, 4}, /* no whole words */
		{48, 65, 4}, /* beyond the code */
		{48, 20, 65},
		{48, 20, UINT32_MAX},
	};

	say_hello();
	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		say_frames(0, frames[i]);
		check_frames((struct wire_frame){0});
		assert_int_equal(process->jvm->lost_frames, 2 * (i + 1));
	}
	say_frames(0, (struct wire_frame){0, 20, 4}); /* of use to nobody, but not wrong */
	check_frames((struct wire_frame){0});
	assert_int_equal(process->jvm->lost_frames, 12);
	assert_int_equal(process->jvm->bad_records, 0);
	say_frames(0, (struct wire_frame){CODE_FRAME_MAX_BYTES, 20, 4});
	check_frames((struct wire_frame){CODE_FRAME_MAX_BYTES, 20, 4});
}

static void broken_frames_are_counted_and_the_code_kept(void **state)
{
	uint8_t section[16];
	struct wire_buf sections = {.data = section, .size = sizeof(section)};

	say_hello();
	wire_encode_section(&sections, WIRE_SECTION_FRAME, "\x30\x80", 2);
	wire_encode_method_load(&buf, 0,
				&(struct wire_method_load){.addr = 0x1000,
							   .size = 64,
							   .sections = section,
							   .sections_len = sections.len});
	wire_encode_stub(&buf, 0, &(struct wire_stub){.addr = 0x2000, .size = 64});
	buf.data[buf.len - 1] = 0x80; /* the entry, which nothing follows */
	apply();
	check_frames((struct wire_frame){0});
	assert_int_equal(process->jvm->lost_frames, 2);
	assert_int_equal(process->jvm->lost_inlines, 0);
	assert_int_equal(process->jvm->bad_records, 0);
}

/* ---- stubs ---- */

static void say_stub(uint64_t addr, uint32_t size, const char *name)
{
	wire_encode_stub(
		&buf, WIRE_FLAG_RESYNC,
		&(struct wire_stub){
			.time_ns = 500, .addr = addr, .size = size, .name = wire_str_from(name)});
	apply();
}

/* As HotSpot tells of it: the low 32 bits of the distance to address 0, of either sign. */
static void a_stub_that_is_being_generated_takes_no_code_away(void **state)
{
	static const uint64_t begins[] = {UINT64_C(0x7f12345678c0), UINT64_C(0x7f12b45678c0)};

	say_hello();
	for (size_t i = 0; i < 2; i++) {
		const uint64_t begin = begins[i], behind = begin + (64u << 20);

		say_load(behind, 64, "LMain;", "run");
		say_stub(begin, (uint32_t)(0 - begin), "counterMode_AESCrypt");
		assert_null(code_map_find(process->code, begin, 1000));
		assert_string_equal(range_at(behind)->name, "run");
		say_stub(begin, 1024, "counterMode_AESCrypt");
		assert_string_equal(range_at(begin + 1023)->name, "counterMode_AESCrypt");
	}
	assert_int_equal(process->jvm->bad_records, 0);
}

/* ---- names ---- */

static void senseless_ranges_leave_no_names(void **state)
{
	size_t count;

	say_hello();
	count = process->names.by_hash.count;
	say_load(0x1000, 0, "LEmpty;", "empty");
	say_load(UINT64_MAX - 8, 64, "LWraps;", "wraps");
	wire_encode_stub(&buf, 0, &(struct wire_stub){.addr = 1, .name = wire_str_from("nil")});
	apply();
	assert_int_equal(process->names.by_hash.count, count);
	assert_int_equal(process->jvm->bad_records, 3);
}

static void names_are_cut_between_characters(void **state)
{
	char name[1100];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memcpy(name + PROCESS_MAX_NAME_BYTES - 1, "\xc3\xa4", 2);
	say_hello();
	say_load(0x1000, 64, "LMain;", name);
	assert_int_equal(strlen(range_at(0x1000)->name), PROCESS_MAX_NAME_BYTES - 1);
}

static void names_that_are_held_have_a_limit(void **state)
{
	const size_t enough = NAME_POOL_MAX_BYTES / 1000;
	const char *limited;

	say_hello();
	for (unsigned int i = 0; i < enough + 100; i++)
		say_load(0x1000 + i * UINT64_C(64), 64, "LMain;", unique_name(i, 1000));
	assert_true(process->names.arena.total_bytes <= NAME_POOL_MAX_BYTES);
	assert_true(process->jvm->name_limit_hits > 0);
	limited = range_at(0x1000 + (enough + 50) * UINT64_C(64))->name;
	assert_string_equal(limited, NAME_POOL_LIMIT_TEXT);
	/* What is known already is known still. */
	assert_int_equal(stats().repeats, 0);
	say_load(0x1000, 64, "LMain;", unique_name(0, 1000));
	assert_int_equal(stats().repeats, 1);
}

static void a_full_pool_has_room_again_once_code_is_dropped(void **state)
{
	say_hello();
	for (unsigned int i = 0; i < NAME_POOL_MAX_BYTES / 1000; i++)
		say_load(0x1000 + i * UINT64_C(64), 64, "LMain;", unique_name(i, 1000));
	say_resync(WIRE_RESYNC_BEGIN, 1);
	say_resync(WIRE_RESYNC_END, 1);
	code_map_expire(process->code, CODE_TIME_FOREVER, 0);
	wire_encode_bye(&buf, &(struct wire_bye){0}); /* any record will do */
	own_jvm_hear(process, &buf, NOW + UINT64_C(20000000000));
	say_load(0x1000, 64, "LMain;", "anew");
	assert_string_equal(range_at(0x1000)->name, "anew");
}

static void names_of_dropped_code_are_given_back(void **state)
{
	size_t most = 0;

	say_hello();
	say_load(0x100000, 64, "LStays;", "stays");
	say_thread((uint32_t)getpid(), "a thread with a long name");
	for (unsigned int i = 0; i < 30000; i++) {
		say_load(0x1000, 64, "LHidden;", unique_name(i, 1000));
		if (i % 100 == 0)
			code_map_expire(process->code, CODE_TIME_FOREVER, 100);
		if (name_pool_bytes(&process->names) > most)
			most = name_pool_bytes(&process->names);
	}
	assert_true(most < 3 * NAME_POOL_MOVE_BYTES);
	assert_int_equal(process->jvm->name_limit_hits, 0);
	assert_string_equal(range_at(0x1000)->name, unique_name(29999, 1000));
	assert_string_equal(range_at(0x100000)->class_name, "Stays");
	say_load(0x100000, 64, "LStays;", "stays"); /* equal names are equal pointers still */
	assert_int_equal(stats().repeats, 1);
	process_set_comm(process, getpid(), "a thread with a", 1);
	assert_string_equal(process_thread_name(process, getpid()), "a thread with a long name");
}

/* ---- hello ---- */

static void fill_hello(struct wire_attr *attrs, size_t n_attrs, struct wire_value *values,
		       size_t n_values, const char *text)
{
	const struct wire_hello hello = {.n_attrs = (uint16_t)n_attrs,
					 .n_values = (uint16_t)n_values};
	static char keys[1000][8];

	for (size_t i = 0; i < n_attrs || i < n_values; i++) {
		snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
		if (i < n_attrs)
			attrs[i] = (struct wire_attr){wire_str_from(keys[i]), wire_str_from(text)};
		if (i < n_values)
			values[i] = (struct wire_value){wire_str_from(keys[i]), (int64_t)i};
	}
	wire_encode_hello(&buf, &hello, attrs, values);
}

static void a_hello_has_limits(void **state)
{
	struct wire_attr attrs[300];
	struct wire_value values[600];
	char text[5000];
	int64_t value;

	memset(text, 't', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	fill_hello(attrs, 300, values, 600, "short");
	apply();
	assert_int_equal(process->jvm->hello.n_attrs, JVM_MAX_ATTRS);
	assert_int_equal(process->jvm->hello.n_values, JVM_MAX_VALUES);
	assert_string_equal(process_attr(process, "k255"), "short");
	assert_true(process_value(process, "k511", &value) && value == 511);
	assert_int_equal(process->jvm->bad_records, 44 + 88);
	fill_hello(attrs, 1, values, 1, text);
	apply();
	assert_int_equal(strlen(process_attr(process, "k0")), JVM_MAX_TEXT_BYTES);
	assert_null(process_attr(process, "k1"));
	assert_int_equal(process->jvm->bad_records, 44 + 88 + 1);
}

static void the_next_hello_frees_the_texts_of_the_last(void **state)
{
	struct wire_attr attrs[8];
	size_t first = 0;

	for (unsigned int i = 0; i < 200; i++) {
		fill_hello(attrs, 8, NULL, 0, unique_name(i, 1900));
		apply();
		if (i == 0)
			first = process->jvm->hello.texts.total_bytes;
	}
	assert_int_equal(process->jvm->hello.texts.total_bytes, first);
	assert_string_equal(process_attr(process, "k7"), unique_name(199, 1900));
}

/* ---- threads ---- */

static void check_thread_name(const char *comm, const char *expected)
{
	process_set_comm(process, getpid(), comm, 1);
	assert_string_equal(process_thread_name(process, getpid()), expected);
}

/* A thread that is renamed to one that begins alike has the new name, as the kernel has it. */
static void full_name_is_used_where_the_jvm_cuts_it_to_the_kernels(void **state)
{
	say_hello();
	process_set_comm(process, getpid(), "x", 1);
	say_thread((uint32_t)getpid(), "http-nio-8080-exec-1");
	check_thread_name("http-nio-8080-e", "http-nio-8080-exec-1");
	check_thread_name("http-ni..exec-1", "http-nio-8080-exec-1");
	check_thread_name("http-ni..exec-2", "http-ni..exec-2");
	check_thread_name("http-nio-8443-e", "http-nio-8443-e");
	check_thread_name("http-nio-8080", "http-nio-8080");
}

/* The JVM tells the kernel a surrogate pair as six bytes. */
static void thread_name_is_in_unicode(void **state)
{
	say_hello();
	check_thread_name("m\xed\xa0\xbd\xed\xb8\x80-send", "m\xf0\x9f\x98\x80-send");
	check_thread_name("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	say_thread((uint32_t)getpid(), "mail-\xed\xa0\xbd\xed\xb8\x80-send-to-all");
	check_thread_name("mail-\xed\xa0\xbd\xed\xb8\x80-sen", "mail-\xf0\x9f\x98\x80-send-to-all");
	check_thread_name("post-\xed\xa0\xbd\xed\xb8\x80-sen", "post-\xf0\x9f\x98\x80-sen");
}

/* The thread's sample was read at read_ns. Returns how many threads are asked for at now_ns. */
static size_t ask_at(uint64_t read_ns, uint64_t now_ns)
{
	uint32_t tids[2] = {0};
	size_t n;

	process_see_thread(process, &(struct thread_at){.tid = getpid(), .time_ns = read_ns});
	process_set_comm(process, getpid(), "http-nio-8080-e", read_ns);
	n = process_ask_threads(process, now_ns, tids, 2);
	assert_true(n == 0 || tids[0] == (uint32_t)getpid());
	return n;
}

/* A thread that is renamed, and begins alike, has its new name a second later. */
static void full_names_are_asked_for_again_while_samples_come(void **state)
{
	const uint64_t age_ns = PROCESS_NAME_AGE_NS;

	say_hello();
	assert_int_equal(process_ask_threads(process, 1, &(uint32_t){0}, 1), 0); /* none is known */
	assert_int_equal(ask_at(5 * age_ns, 5 * age_ns), 1);
	assert_int_equal(ask_at(5 * age_ns + 1, 5 * age_ns + 1), 0);
	assert_int_equal(process_count_cut_threads(process, 5 * age_ns), 1);
	assert_int_equal(process_count_cut_threads(process, 5 * age_ns), 0); /* once a thread */
	assert_int_equal(ask_at(6 * age_ns, 6 * age_ns), 1);
	say_thread((uint32_t)getpid(), "http-nio-8080-exec-1");
	assert_int_equal(process_count_cut_threads(process, 6 * age_ns), 0);
	assert_string_equal(process_thread_name(process, getpid()), "http-nio-8080-exec-1");
	assert_int_equal(process_ask_threads(process, 8 * age_ns, &(uint32_t){0}, 1), 0);
	assert_int_equal(ask_at(9 * age_ns, 9 * age_ns), 1);
	say_thread((uint32_t)getpid(), "http-nio-8080-exec-2");
	assert_string_equal(process_thread_name(process, getpid()), "http-nio-8080-exec-2");
}

static const char *last_name_of(uint64_t tid)
{
	const struct thread_full_names *const names = map64_find(&process->thread_names, tid);

	assert_non_null(names);
	return names->names[0].text;
}

static void thread_names_are_learnt_anew_at_the_limit(void **state)
{
	say_hello();
	process_thread_name(process, getpid());
	for (uint32_t tid = 1; tid <= PROCESS_MAX_THREADS; tid++)
		say_thread(tid, "pool");
	say_thread(7, "renamed"); /* known: no reason to forget the others */
	assert_int_equal(process->thread_names.count, PROCESS_MAX_THREADS);
	assert_string_equal(last_name_of(7), "renamed");
	say_thread(PROCESS_MAX_THREADS + 1, "new");
	assert_int_equal(process->thread_names.count, 1);
	assert_int_equal(process->threads.count, 0);
	assert_string_equal(last_name_of(PROCESS_MAX_THREADS + 1), "new");
	assert_int_equal(process->jvm->bad_records, 0);
}

/* ---- beside the agent ---- */

static size_t apply_beside(void)
{
	struct wire_reader reader = {.data = buf.data, .len = buf.len};
	struct wire_record record;
	size_t n = 0;

	while (wire_reader_next(&reader, &record) == 1)
		n += code_events_apply_beside(process, &record, NOW);
	buf.len = 0;
	return n;
}

/* Code of size 64 that was read at a time. */
static size_t read_load(uint64_t addr, uint64_t time_ns, const char *class_name, const char *method)
{
	wire_encode_method_load(&buf, 0,
				&(struct wire_method_load){
					.time_ns = time_ns,
					.addr = addr,
					.size = 64,
					.class_sig = wire_str_from(class_name),
					.method = wire_str_from(method),
					.method_sig = wire_str_from(class_name[0] ? "()V" : ""),
				});
	return apply_beside();
}

static size_t read_unload(uint64_t addr)
{
	wire_encode_method_unload(&buf, &(struct wire_method_unload){.time_ns = 900, .addr = addr});
	return apply_beside();
}

static void code_of_which_the_agent_has_not_told_is_added(void **state)
{
	say_hello();
	assert_int_equal(read_load(0x1000, 600, "Main", "run"), 1);
	assert_string_equal(range_at(0x1000)->name, "run");
	assert_int_equal(read_unload(0x1000), 1);
	assert_null(code_map_living(process->code, 0x1000));
}

static void what_the_agent_told_of_is_not_ended_by_a_reading(void **state)
{
	say_hello();
	say_load(0x1000, 64, "LMain;", "run");
	assert_int_equal(read_load(0x1000, 600, "Main", "other"), 0);
	assert_string_equal(range_at(0x1000)->name, "run");
	assert_int_equal(read_unload(0x1000), 0);
	assert_non_null(code_map_living(process->code, 0x1000));
}

static void code_that_came_after_the_reading_stays(void **state)
{
	say_hello();
	say_load(0x1000, 128, "LMain;", "run"); /* at 500 */
	assert_int_equal(read_load(0x1040, 500, "Main", "older"), 0);
	assert_string_equal(range_at(0x1040)->name, "run");
	assert_int_equal(read_load(0x1040, 501, "Main", "newer"), 1);
	assert_string_equal(range_at(0x1040)->name, "newer");
}

static void functions_of_other_languages_keep_their_names(void **state)
{
	say_hello();
	say_load(0x1000, 64, "Lcom/oracle/truffle/runtime/OptimizedCallTarget;", "profiledPERoot");
	assert_true(process->jvm->has_guests);
	assert_int_equal(read_load(0x1000, 600, "", "fib"), 1);
	assert_string_equal(range_at(0x1000)->name, "fib");
	assert_null(range_at(0x1000)->class_name);
	assert_int_equal(read_load(0x1000, 700, "", "fib"), 0);
	/* The agent repeats it under its Java name. */
	say_load(0x1000, 64, "Lcom/oracle/truffle/runtime/OptimizedCallTarget;", "profiledPERoot");
	assert_string_equal(range_at(0x1000)->name, "fib");
	assert_int_equal(stats().repeats, 1);
}

/* The JVM has told nobody that the function's code is gone. */
static void a_functions_name_is_not_that_of_the_next_code_at_its_place(void **state)
{
	say_hello();
	assert_int_equal(read_load(0x1000, 600, "", "fib"), 1);
	say_load(0x1000, 64, "LMain;", "run");
	assert_string_equal(range_at(0x1000)->name, "run");
	/* What was read before is late. */
	assert_int_equal(read_load(0x1000, 700, "", "fib"), 0);
	assert_string_equal(range_at(0x1000)->name, "run");
}

static void a_method_has_not_the_name_of_a_stub_that_was_read(void **state)
{
	say_hello();
	wire_encode_stub(
		&buf, 0,
		&(struct wire_stub){
			.time_ns = 400, .addr = 0x2000, .size = 64, .name = wire_str_from("stub")});
	assert_int_equal(apply_beside(), 1);
	say_load(0x2000, 64, "LMain;", "run");
	assert_string_equal(range_at(0x2000)->name, "run");
}

static void stubs_that_were_read_fill_gaps_alone(void **state)
{
	say_hello();
	say_load(0x1000, 64, "LMain;", "run");
	wire_encode_stub(
		&buf, 0,
		&(struct wire_stub){
			.time_ns = 900, .addr = 0x1020, .size = 64, .name = wire_str_from("blob")});
	wire_encode_stub(
		&buf, 0,
		&(struct wire_stub){
			.time_ns = 900, .addr = 0x2000, .size = 64, .name = wire_str_from("stub")});
	assert_int_equal(apply_beside(), 1);
	assert_string_equal(range_at(0x1020)->name, "run");
	assert_string_equal(range_at(0x2000)->name, "stub");
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(nothing_counts_before_the_hello),
		CLAIM(code_of_which_the_agent_has_not_told_is_added),
		CLAIM(what_the_agent_told_of_is_not_ended_by_a_reading),
		CLAIM(code_that_came_after_the_reading_stays),
		CLAIM(functions_of_other_languages_keep_their_names),
		CLAIM(a_functions_name_is_not_that_of_the_next_code_at_its_place),
		CLAIM(a_method_has_not_the_name_of_a_stub_that_was_read),
		CLAIM(stubs_that_were_read_fill_gaps_alone),
		CLAIM(each_session_begins_with_a_hello),
		CLAIM(the_end_of_another_resync_proves_nothing),
		CLAIM(an_end_without_a_begin_of_its_session_proves_nothing),
		CLAIM(what_probes_count_is_kept_until_the_next_hello),
		CLAIM(frames_are_kept_of_loads_and_stubs),
		CLAIM(a_stub_that_is_being_generated_takes_no_code_away),
		CLAIM(a_repeat_brings_the_frame_that_was_not_known),
		CLAIM(frames_that_cannot_be_are_counted_and_not_kept),
		CLAIM(broken_frames_are_counted_and_the_code_kept),
		CLAIM(senseless_ranges_leave_no_names),
		CLAIM(names_are_cut_between_characters),
		CLAIM(names_that_are_held_have_a_limit),
		CLAIM(a_full_pool_has_room_again_once_code_is_dropped),
		CLAIM(names_of_dropped_code_are_given_back),
		CLAIM(a_hello_has_limits),
		CLAIM(the_next_hello_frees_the_texts_of_the_last),
		CLAIM(full_name_is_used_where_the_jvm_cuts_it_to_the_kernels),
		CLAIM(thread_name_is_in_unicode),
		CLAIM(full_names_are_asked_for_again_while_samples_come),
		CLAIM(thread_names_are_learnt_anew_at_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
