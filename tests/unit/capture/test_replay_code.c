// SPDX-License-Identifier: Apache-2.0
/* A replay finds code by the rule of code_map.h, of ranges that come with their times. */
#include "capture/replay_code.h"

#include "code/inline_table.h"
#include "foreign/foreign_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#define A    UINT64_C(0x7f0000010000)
#define PAGE 4096u
#define BIG  (1024u * PAGE)

static struct process *process;
static struct replay_code *code;
static uint8_t records[64][1024]; /* facts borrow them */
static size_t n_records;

static int set_up(void **state)
{
	n_records = 0;
	if (process_new_replayed(4711, 1, &process) < 0 || process_add_jvm(process) < 0)
		return -1;
	return replay_code_new(process, &code);
}

static int tear_down(void **state)
{
	replay_code_free(code);
	process_free(process);
	return 0;
}

/* ---- facts ---- */

static struct wire_buf room(void)
{
	assert_true(n_records < sizeof(records) / sizeof(records[0]));
	return (struct wire_buf){.data = records[n_records++], .size = sizeof(records[0])};
}

static struct replay_code_fact fact_of(const struct wire_buf *buf, uint64_t birth_ns,
				       uint64_t death_ns)
{
	struct replay_code_fact fact = {.birth_ns = birth_ns, .death_ns = death_ns};
	struct wire_reader reader = {.data = buf->data, .len = buf->len};

	assert_int_equal(wire_reader_next(&reader, &fact.record), 1);
	return fact;
}

static struct replay_code_fact stub(const char *name, uint64_t addr, uint32_t size,
				    uint64_t birth_ns, uint64_t death_ns)
{
	struct wire_buf buf = room();

	assert_true(wire_encode_stub(
		&buf, 0,
		&(struct wire_stub){.addr = addr, .size = size, .name = wire_str_from(name)}));
	return fact_of(&buf, birth_ns, death_ns);
}

/* A method of 64 bytes, into whose first 16 bytes another one is inlined. */
static struct replay_code_fact method(const char *name, uint64_t birth_ns, uint64_t death_ns)
{
	uint8_t table_bytes[512], section_bytes[512];
	struct wire_buf table = {.data = table_bytes, .size = sizeof(table_bytes)};
	struct wire_buf section = {.data = section_bytes, .size = sizeof(section_bytes)};
	struct wire_buf buf = room();
	struct wire_method_load load = {.addr = A,
					.size = 64,
					.level = 4,
					.frame = {.size = 32, .complete = 8, .entry = 4},
					.class_sig = wire_str_from("Lcom/acme/Out;"),
					.method = wire_str_from(name),
					.method_sig = wire_str_from("(I)V"),
					.source_file = wire_str_from("Out.java")};
	const struct wire_method self = {.how = WIRE_METHOD_SELF},
				 inner = {.how = WIRE_METHOD_NAMED,
					  .class_sig = wire_str_from("Lcom/acme/In;"),
					  .name = wire_str_from("in"),
					  .sig = wire_str_from("()V")};

	wire_encode_inline_count(&table, 2);
	wire_encode_inline_method(&table, &self, NULL);
	wire_encode_inline_method(&table, &inner, NULL);
	wire_encode_inline_count(&table, 1);
	wire_encode_inline_region(&table, &(struct wire_region){.size = 16, .depth = 2});
	wire_encode_inline_frame(&table, &(struct wire_inline_frame){.method = 0, .bci = 7});
	wire_encode_inline_frame(&table, &(struct wire_inline_frame){.method = 1, .bci = 3});
	assert_true(wire_encode_section(&section, WIRE_SECTION_INLINE, table.data,
					(uint32_t)table.len));
	load.sections = section.data;
	load.sections_len = section.len;
	assert_true(wire_encode_method_load(&buf, 0, &load));
	return fact_of(&buf, birth_ns, death_ns);
}

static void add(struct replay_code_fact fact)
{
	assert_int_equal(replay_code_add(code, &fact), 0);
}

static void check_damaged(struct replay_code_fact fact)
{
	assert_int_equal(replay_code_add(code, &fact), -EINVAL);
}

static void check_name(const struct code_range *range, const char *expected)
{
	assert_string_equal(range ? range->name : "none", expected);
}

static void check(uint64_t addr, uint64_t time_ns, const char *expected)
{
	check_name(code_map_find(process->code, addr, time_ns), expected);
}

/* ---- which range ---- */

static void a_range_holds_its_addresses_and_no_others(void **state)
{
	add(stub("one", A, 64, 100, 0));
	check(A, 100, "one");
	check(A + 63, 100, "one");
	check(A - 1, 100, "none");
	check(A + 64, 100, "none");
}

/* Events lag the code. */
static void before_its_birth_the_next_range_is_found(void **state)
{
	add(stub("late", A, 64, 300, 0));
	add(stub("next", A, 64, 200, 300));
	check(A, 100, "next");
	check(A, 199, "next");
}

static void of_several_ranges_the_one_that_lived_is_found(void **state)
{
	add(stub("second", A, 64, 200, 300));
	add(stub("first", A, 64, 100, 200));
	add(stub("third", A, 64, 300, 0));
	check(A, 100, "first");
	check(A, 199, "first");
	check(A, 200, "second");
	check(A, 299, "second");
	check(A, 300, "third");
	check(A, UINT64_MAX - 1, "third");
}

static void in_a_gap_the_next_range_is_found(void **state)
{
	add(stub("dead", A, 64, 100, 150));
	add(stub("next", A, 64, 200, 0));
	check(A, 149, "dead");
	check(A, 150, "next");
	check(A, 199, "next");
}

static void a_dead_range_is_found_while_no_other_was_born_there(void **state)
{
	add(stub("dead", A, 64, 100, 150));
	check(A, 149, "dead");
	check(A, 5000, "dead");
	add(stub("beside", A + 64, 64, 200, 0));
	check(A, 5000, "dead");
	add(stub("heir", A + 32, 64, 300, 0));
	check(A, 5000, "dead");
	check(A + 32, 5000, "heir");
	check(A + 32, 149, "dead");
}

static void the_times_say_when_a_range_was_found_to_have_died(void **state)
{
	const struct replay_code_fact alive = stub("one", A, 64, 100, 0);
	struct replay_code_fact dead = alive;

	dead.death_ns = 150;
	add(alive);
	add(stub("two", A, 64, 200, 0));
	check(A, 150, "one");
	add(dead);
	check(A, 149, "one");
	check(A, 150, "two");
}

/* ---- many pages ---- */

static void a_range_is_found_on_each_of_its_pages(void **state)
{
	add(stub("pages", A + 100, 3 * PAGE, 100, 0));
	add(stub("other", A, 100, 100, 0));
	check(A + 100, 100, "pages");
	check(A + PAGE, 100, "pages");
	check(A + 2 * PAGE + 5, 100, "pages");
	check(A + 3 * PAGE + 99, 100, "pages");
	check(A + 3 * PAGE + 100, 100, "none");
	check(A + 99, 100, "other");
}

static void a_big_range_is_found_like_any_other(void **state)
{
	add(stub("big", A, BIG + PAGE, 100, 200));
	add(stub("small", A + PAGE, 64, 200, 0));
	check(A, 100, "big");
	check(A + BIG + PAGE - 1, 150, "big");
	check(A + BIG + PAGE, 150, "none");
	check(A + PAGE, 199, "big");
	check(A + PAGE, 200, "small");
	check(A + PAGE + 64, 200, "big");
	add(stub("big", A, BIG + PAGE, 100, 150)); /* known already */
	check(A + PAGE, 150, "small");
}

/* Each look-up on the page goes along all of them. */
static void a_page_has_so_many_ranges_and_no_more(void **state)
{
	for (uint64_t i = 0; i < 512; i++) {
		n_records = 0;
		memset(records[0], 0, sizeof(records[0]));
		add(stub("same", A, 64, 100 + i, 0));
	}
	check_damaged(stub("more", A, 64, 1000, 0));
	add(stub("other page", A + PAGE, 64, 1000, 0));
	check(A, 1000, "same");
}

/* ---- what is known of a range ---- */

static const struct code_range *found(void)
{
	const struct code_range *const range = code_map_find(process->code, A, 100);

	assert_non_null(range);
	return range;
}

static void a_method_has_its_names_its_frame_and_its_inline_table(void **state)
{
	struct inline_frame frames[4];

	add(method("out", 100, 0));
	assert_string_equal(found()->class_name, "com/acme/Out");
	assert_string_equal(found()->name, "out");
	assert_string_equal(found()->signature, "(I)V");
	assert_string_equal(found()->source_file, "Out.java");
	assert_int_equal(found()->kind, CODE_JAVA);
	assert_int_equal(found()->level, 4);
	assert_int_equal(found()->frame.size, 32);
	assert_int_equal(found()->frame.complete, 8);
	assert_int_equal(found()->frame.entry, 4);
	assert_int_equal(inline_table_find(found()->inlines, 3, frames, 4), 2);
	assert_string_equal(frames[0].method->name, "in");
	assert_int_equal(frames[0].bci, 3);
	assert_string_equal(frames[1].method->name, "out");
	assert_int_equal(frames[1].bci, 7);
}

static void an_equal_record_keeps_the_inline_table(void **state)
{
	uint64_t serial;

	add(method("out", 100, 0));
	serial = inline_table_serial(found()->inlines);
	add(method("out", 100, 500)); /* other bytes with equal contents */
	assert_int_equal(inline_table_serial(found()->inlines), serial);
	assert_int_equal(found()->death_ns, 500);
	add(method("out", 100, 0));
	assert_int_equal(found()->death_ns, CODE_TIME_FOREVER);
	assert_int_equal(inline_table_serial(found()->inlines), serial);
}

static void another_record_replaces_what_was_known(void **state)
{
	const struct wire_method_load bare = {.addr = A,
					      .size = 64,
					      .level = 3,
					      .class_sig = wire_str_from("Lcom/acme/Out;"),
					      .method = wire_str_from("bare")};
	struct wire_buf buf = room();
	uint64_t serial;

	assert_true(wire_encode_method_load(&buf, 0, &bare));
	add(fact_of(&buf, 100, 0));
	assert_null(found()->inlines);
	add(method("out", 100, 0));
	check(A, 100, "out");
	assert_non_null(found()->inlines);
	serial = inline_table_serial(found()->inlines);
	add(method("renamed", 100, 0));
	check(A, 100, "renamed");
	assert_int_not_equal(inline_table_serial(found()->inlines), serial);
	add(fact_of(&buf, 100, 0));
	assert_null(found()->inlines);
	assert_int_equal(found()->level, 3);
}

static void damaged_facts_are_refused(void **state)
{
	struct replay_code_fact cut = method("out", 100, 0);
	struct wire_buf frame = room(), hello = room();
	const struct wire_stub deep = {.addr = A,
				       .size = 64,
				       .frame = {.size = CODE_FRAME_MAX_BYTES + 8},
				       .name = wire_str_from("deep")};

	check_damaged(stub("empty", A, 0, 100, 0));
	check_damaged(stub("wraps", UINT64_MAX - 8, 64, 100, 0));
	check_damaged(stub("", A, 64, 100, 0));
	assert_true(wire_encode_stub(&frame, 0, &deep));
	check_damaged(fact_of(&frame, 100, 0));
	assert_true(wire_encode_hello(&hello, &(struct wire_hello){.pid = 1}, NULL, NULL));
	check_damaged(fact_of(&hello, 100, 0));
	cut.record.len = 4;
	check_damaged(cut);
	check(A, 100, "none");
}

/* ---- other ranges ---- */

static void foreign_ranges_are_of_the_perf_map(void **state)
{
	struct replay_code_fact one = stub("LazyCompile:~one", A, 64, 100, 0),
				again = stub("LazyCompile:*one", A, 64, 200, 0),
				java = method("out", 100, 0);

	one.is_foreign = again.is_foreign = java.is_foreign = true;
	assert_null(process->foreign.map);
	assert_int_equal(replay_code_add_foreign(process, &java), -EINVAL);
	assert_int_equal(replay_code_add_foreign(process, &one), 0);
	assert_int_equal(replay_code_add_foreign(process, &again), 0);
	check_name(foreign_map_find(process->foreign.map, A + 63, 100), "LazyCompile:~one");
	check_name(foreign_map_find(process->foreign.map, A + 63, 200), "LazyCompile:*one");
	check_name(foreign_map_find(process->foreign.map, A + 64, 200), "none");
	check(A, 100, "none");
	assert_int_equal(foreign_map_count(process->foreign.map), 1);
}

static void the_code_map_answers_again_when_the_store_is_gone(void **state)
{
	static const struct code_range own = {.addr = A, .size = 64, .birth_ns = 1, .name = "own"};

	assert_int_equal(code_map_add(process->code, &own, false), 1);
	check(A, 100, "none");
	replay_code_free(code);
	code = NULL;
	check(A, 100, "own");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_range_holds_its_addresses_and_no_others),
		CASE(before_its_birth_the_next_range_is_found),
		CASE(of_several_ranges_the_one_that_lived_is_found),
		CASE(in_a_gap_the_next_range_is_found),
		CASE(a_dead_range_is_found_while_no_other_was_born_there),
		CASE(the_times_say_when_a_range_was_found_to_have_died),
		CASE(a_range_is_found_on_each_of_its_pages),
		CASE(a_big_range_is_found_like_any_other),
		CASE(a_page_has_so_many_ranges_and_no_more),
		CASE(a_method_has_its_names_its_frame_and_its_inline_table),
		CASE(an_equal_record_keeps_the_inline_table),
		CASE(another_record_replaces_what_was_known),
		CASE(damaged_facts_are_refused),
		CASE(foreign_ranges_are_of_the_perf_map),
		CASE(the_code_map_answers_again_when_the_store_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
