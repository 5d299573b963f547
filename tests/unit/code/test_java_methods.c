// SPDX-License-Identifier: Apache-2.0
/*
 * A method's names from this very process's memory, laid out as a JVM's, true, broken and changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../process/own_jvm.h"
#include "code/java_methods.h"
#include "common/child.h"
#include "fake_hotspot.h"
#include "memory/process_memory.h"

#define NEVER_MAPPED UINT64_C(0x10000)
#define LATER(n)     (1 + (n)*JAVA_METHODS_CHECK_NS)

static struct process *process;
static struct fake_hotspot fake;
static enum java_methods_reason why;

static int set_up(void **state)
{
	fake_hotspot_init(&fake);
	process = own_jvm_new();
	fake_hotspot_say_hello(process, NULL);
	return 0;
}

static int tear_down(void **state)
{
	process_memory_use(NULL);
	process_free(process);
	return 0;
}

static const struct java_method *find(uint64_t now_ns)
{
	const struct java_method *const method =
		process_java_method(process, fake_addr(&fake.method), now_ns, &why);
	uint32_t unnamed[JAVA_METHODS_REASONS] = {0};

	unnamed[why] = !method;
	process_count_unnamed(process, unnamed);
	return method;
}

/* Anew each time, whatever was said before. */
static void check_reason(const char *expected)
{
	java_methods_clear(&process->java_methods);
	assert_null(find(1));
	assert_string_equal(java_methods_reason_name(why), expected);
}

static void a_method_has_its_names_and_lines(void **state)
{
	const uint64_t code = fake_addr(fake.const_method.code);
	const struct java_method *method = find(1);

	assert_non_null(method);
	assert_string_equal(method->class_name, "com/acme/Main");
	assert_string_equal(method->name, "run");
	assert_string_equal(method->signature, "(I)V");
	assert_string_equal(method->source_file, "Main.java");
	assert_int_equal(java_method_bci(method, code), 0);
	assert_int_equal(java_method_bci(method, code + 15), 15);
	assert_int_equal(java_method_bci(method, code + 16), -1);
	assert_int_equal(java_method_bci(method, code - 1), -1);
	assert_int_equal(java_method_bci(method, 0), -1);
	assert_int_equal(java_method_line(method, 3), 11);
	assert_int_equal(java_method_line(method, 4), 12);
	assert_int_equal(java_method_line(method, -1), 0);
}

static void each_broken_pointer_is_a_reason(void **state)
{
	static const uint64_t wrong[] = {0, 8, 0x10001, UINT64_C(1) << 63, UINT64_MAX};
	uint64_t *const pointers[] = {
		&fake.method.const_method, &fake.const_method.constants, &fake.pool.holder,
		&fake.klass.name,	   &fake.pool.entries[1],	 &fake.pool.entries[2],
	};

	for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		for (size_t j = 0; j < sizeof(wrong) / sizeof(wrong[0]); j++) {
			fake_hotspot_init(&fake);
			*pointers[i] = wrong[j];
			check_reason("no method there");
		}
		*pointers[i] = NEVER_MAPPED;
		check_reason("not mapped");
	}
	assert_int_equal(process->jvm->unnamed_methods[JAVA_METHODS_NOT_MAPPED], 6);
	assert_int_equal(process->jvm->unnamed_methods[JAVA_METHODS_NO_METHOD], 30);
}

static void each_broken_number_is_a_reason(void **state)
{
	fake.const_method.name_index = 0;
	check_reason("no method there");
	fake.const_method.name_index = 4;
	fake.pool.entries[4] = fake_addr(&fake.name);
	fake.pool.length = 5;
	java_methods_clear(&process->java_methods);
	assert_non_null(find(1));
	fake.pool.length = 4;
	check_reason("no method there");
	fake_hotspot_init(&fake);
	fake.const_method.signature_index = UINT16_MAX;
	check_reason("no method there");
	fake_hotspot_init(&fake);
	fake.const_method.words = 7;
	check_reason("no method there");
	fake_hotspot_init(&fake);
	fake.pool.length = -1;
	check_reason("no method there");
	fake.pool.length = INT32_MAX;
	check_reason("no method there");
	fake_hotspot_init(&fake);
	fake.name.length = 0;
	check_reason("no method there");
}

static void a_signature_looks_like_one(void **state)
{
	fake_symbol_set(&fake.signature, "I)V");
	check_reason("no method there");
	fake_symbol_set(&fake.signature, "(IV");
	check_reason("no method there");
}

static void structures_that_point_at_each_other_are_no_method(void **state)
{
	fake.const_method.constants = fake_addr(&fake.const_method);
	assert_null(find(1));
	fake_hotspot_init(&fake);
	fake.klass.name = fake_addr(&fake.klass);
	check_reason("no method there");
	fake_hotspot_init(&fake);
	fake.method.const_method = fake_addr(&fake.method);
	check_reason("no method there");
}

static void addresses_without_a_method_are_a_reason(void **state)
{
	static const uint64_t garbage[] = {
		0, 1, 4095, UINT64_MAX, UINT64_MAX - 7, UINT64_C(0xffffffff81000000)};

	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		assert_null(process_java_method(process, garbage[i], 1, &why));
		assert_string_equal(java_methods_reason_name(why), "no method there");
	}
	assert_null(process_java_method(process, NEVER_MAPPED, 1, &why));
	assert_string_equal(java_methods_reason_name(why), "not mapped");
}

/* At the end of what is mapped, as far as there is anything, and no further. */
static void a_giant_length_ends_with_the_memory(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fake_symbol *symbol = (struct fake_symbol *)(void *)(pages + page - 64);

	assert_true(pages != MAP_FAILED);
	fake_symbol_set(symbol, "(I)V");
	fake.pool.entries[2] = fake_addr(symbol);
	symbol->length = UINT16_MAX;
	memset(symbol->body + 4, 'x', sizeof(symbol->body) - 4);
	assert_non_null(find(1)); /* the second page is there, the rest of the text NULs */
	munmap(pages + page, page);
	check_reason("not mapped");
	munmap(pages, page);
}

static void a_long_name_is_cut(void **state)
{
	static struct {
		struct fake_symbol symbol;
		char more[UINT16_MAX];
	} giant;
	const struct java_method *method;

	memset(&giant, 'x', sizeof(giant));
	giant.symbol.length = UINT16_MAX;
	fake.pool.entries[1] = fake_addr(&giant.symbol);
	method = find(1);
	assert_non_null(method);
	assert_int_equal(strlen(method->name), PROCESS_MAX_NAME_BYTES);
}

static void bytes_that_are_no_utf_8_become_question_marks(void **state)
{
	fake_symbol_set(&fake.name, "r\xffn\xc3\xa4\xed");
	assert_string_equal(find(1)->name, "r?n\xc3\xa4?");
}

static void a_hidden_class_is_called_as_jvmti_calls_it(void **state)
{
	fake_symbol_set(&fake.class_name, "com/acme/A+B$$Lambda+0x00007fa83c001428");
	assert_string_equal(find(1)->class_name, "com/acme/A+B$$Lambda.0x00007fa83c001428");
}

static void what_is_not_needed_may_be_missing(void **state)
{
	const struct java_method *method;

	fake.pool.source_file_index = 0;
	fake.const_method.flags = 0;
	method = find(1);
	assert_non_null(method);
	assert_null(method->source_file);
	assert_int_equal(java_method_line(method, 4), 0);
	java_methods_clear(&process->java_methods);
	fake.pool.source_file_index = 3;
	fake.pool.entries[3] = NEVER_MAPPED;
	fake.const_method.flags = 1;
	memset(fake.const_method.lines, 0x0a, sizeof(fake.const_method.lines));
	method = find(1);
	assert_non_null(method);
	assert_null(method->source_file);
	assert_int_equal(java_method_line(method, 4), 0);
}

static void a_method_that_takes_anothers_place_has_its_own_name(void **state)
{
	struct fake_symbol other;

	assert_string_equal(find(1)->name, "run");
	/* The same bytes of the same symbol at the same place, as an allocator would do it. */
	fake_symbol_set(&fake.name, "fly");
	assert_string_equal(find(LATER(1) / 2)->name, "run");
	assert_string_equal(find(LATER(1))->name, "fly");
	fake_symbol_set(&other, "sit");
	fake.pool.entries[1] = fake_addr(&other);
	assert_string_equal(find(LATER(2))->name, "sit");
	fake_symbol_set(&fake.class_name, "com/acme/Tree");
	assert_string_equal(find(LATER(3))->class_name, "com/acme/Tree");
	assert_int_equal(process->java_methods.lines_bytes, 10); /* and those of the last one */
	fake.method.const_method = NEVER_MAPPED;
	assert_null(find(LATER(4)));
	assert_int_equal(process->java_methods.lines_bytes, 5);
	assert_string_equal(java_methods_reason_name(why), "not mapped");
	assert_int_equal(process->java_methods.by_addr.count, 1);
}

/* All are read in time, and hardly ever more than one for a sample. */
static void methods_that_were_met_together_are_read_again_one_by_one(void **state)
{
	enum { METHODS = 5, SAMPLES = 40 };
	const uint64_t sample_ns = JAVA_METHODS_CHECK_NS / SAMPLES;
	struct fake_method methods[METHODS];
	uint32_t reads = 0, most = 0;

	for (size_t sample = 0; sample < 2 * SAMPLES; sample++) {
		const uint64_t now_ns = 1 + sample * sample_ns;

		process->java_methods.window_began_ns = now_ns;
		process->java_methods.reads = 0;
		for (size_t i = 0; i < METHODS; i++) {
			if (sample == 0)
				methods[i] = fake.method;
			assert_non_null(
				process_java_method(process, fake_addr(&methods[i]), now_ns, &why));
		}
		reads += process->java_methods.reads;
		if (sample > 0 && process->java_methods.reads > most)
			most = process->java_methods.reads;
	}
	assert_int_equal(most, 1);
	assert_true(reads >= 2 * METHODS && reads <= 3 * METHODS);
}

static void an_address_that_becomes_a_method_soon_has_a_name(void **state)
{
	fake.method.const_method = 0;
	assert_null(find(1));
	fake_hotspot_init(&fake);
	assert_null(find(JAVA_METHODS_RETRY_NS));
	assert_non_null(find(1 + JAVA_METHODS_RETRY_NS));
}

/* As where a class is redefined again and again: samples are named when their methods are gone. */
static void a_method_that_has_gone_since_names_the_samples_before(void **state)
{
	assert_non_null(find(LATER(0)));
	assert_non_null(find(LATER(1) - 2));
	fake.method.const_method = 0;
	assert_null(find(LATER(2))); /* the address is on a stack again, and nothing is there */
	assert_string_equal(find(LATER(0))->name, "run");
	assert_string_equal(find(LATER(1) - 2)->name, "run");
	assert_string_equal(find(LATER(1))->name, "run");
	assert_null(find(LATER(2)));
	assert_string_equal(java_methods_reason_name(why), "no method there");
}

static void of_two_methods_at_an_address_the_nearer_one_counts(void **state)
{
	find(LATER(0));
	find(LATER(1));
	fake_symbol_set(&fake.name, "fly");
	assert_string_equal(find(LATER(5))->name, "fly");
	assert_string_equal(find(LATER(0))->name, "run");
	assert_string_equal(find(LATER(2))->name, "run");
	assert_string_equal(find(LATER(4))->name, "fly");
	assert_string_equal(find(LATER(5))->name, "fly");
}

/* When the sample came there was a method of the same sample that was checked early. */
static void a_sample_that_is_named_late_checks_nothing_early(void **state)
{
	struct fake_method other = fake.method, third = fake.method;
	const uint64_t early_ns = LATER(1) - 2;
	uint32_t reads;

	find(1);
	process_java_method(process, fake_addr(&other), 1, &why);
	process_java_method(process, fake_addr(&third), 1, &why);
	process_java_method(process, fake_addr(&other), early_ns, &why);
	process_java_method(process, fake_addr(&third), early_ns + 1, &why);
	reads = process->java_methods.reads;
	fake.method.const_method = 0;
	assert_string_equal(find(early_ns)->name, "run");
	assert_int_equal(process->java_methods.reads, reads);
}

static void names_outlive_a_move(void **state)
{
	const struct java_method *method = find(1);
	char text[64];

	for (int i = 0; name_pool_bytes(&process->names) < NAME_POOL_MOVE_BYTES; i++) {
		snprintf(text, sizeof(text), "%060d", i);
		process_name(process, text, strlen(text));
	}
	process_compact_names(process, 1);
	assert_true(name_pool_bytes(&process->names) < NAME_POOL_MOVE_BYTES);
	assert_ptr_equal(find(2), method);
	assert_string_equal(method->class_name, "com/acme/Main");
	assert_ptr_equal(method->name, process_name(process, "run", 3));
	assert_string_equal(method->signature, "(I)V");
	assert_string_equal(method->source_file, "Main.java");
}

/* Any word of it any number, or an address within it; always the same ones. */
static void whatever_lies_there_is_a_method_or_a_reason(void **state)
{
	enum { ROUNDS = 4000 };
	uint64_t *const all = (uint64_t *)(void *)&fake, random = 1;
	uint64_t counted = 0, named = 0;

	for (int i = 0; i < ROUNDS; i++) {
		fake_hotspot_init(&fake);
		for (int j = 0; j < 1 + i % 4; j++) {
			size_t at;

			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			at = (random >> 33) % (sizeof(fake) / sizeof(*all));
			all[at] = random & 1 ? random * random
					     : fake_addr(&all[(random >> 17) % (sizeof(fake) / 8)]);
		}
		java_methods_clear(&process->java_methods);
		named += find((uint64_t)i * JAVA_METHODS_WINDOW_NS) != NULL;
	}
	for (int i = 0; i < JAVA_METHODS_REASONS; i++)
		counted += process->jvm->unnamed_methods[i];
	assert_int_equal(named + counted, ROUNDS);
	assert_true(named > 100 && counted > 100);
	assert_int_equal(counted, process->jvm->unnamed_methods[JAVA_METHODS_NOT_MAPPED] +
					  process->jvm->unnamed_methods[JAVA_METHODS_NO_METHOD]);
}

static void the_cache_and_the_reading_have_a_maximum(void **state)
{
	static struct fake_method many[JAVA_METHODS_MAX + 8];
	uint64_t now_ns = 1;

	for (size_t i = 0; i < JAVA_METHODS_MAX + 8; i++) {
		if (i % JAVA_METHODS_MAX_READS == 0)
			now_ns += JAVA_METHODS_WINDOW_NS;
		many[i] = fake.method;
		assert_non_null(process_java_method(process, fake_addr(&many[i]), now_ns, &why));
		assert_true(process->java_methods.by_addr.count <= JAVA_METHODS_MAX);
	}
	assert_int_equal(process->java_methods.by_addr.count, 8);
	assert_int_equal(process->java_methods.lines_bytes, 8 * 5);
	now_ns += JAVA_METHODS_WINDOW_NS;
	for (size_t i = 0; i < JAVA_METHODS_MAX_READS; i++)
		assert_non_null(process_java_method(process, fake_addr(&many[i]), now_ns, &why));
	assert_null(find(now_ns));
	assert_string_equal(java_methods_reason_name(why), "too many at once");
	assert_non_null(find(now_ns + JAVA_METHODS_WINDOW_NS));
}

static void of_a_process_that_is_gone_nothing_is_read(void **state)
{
	process->gone_ns = 5;
	assert_null(find(1));
	assert_string_equal(java_methods_reason_name(why), "process gone");
	process->gone_ns = 0;
	assert_non_null(find(1));
	process->gone_ns = 5;
	fake_symbol_set(&fake.name, "fly");
	assert_string_equal(find(LATER(9))->name, "run");
}

/* Of all reads one is late; counts down to it. */
static ssize_t answer_too_late(void *arg, pid_t pid, const struct iovec *to,
			       const struct iovec *from, unsigned long n)
{
	unsigned *const left = arg;

	return *left > 0 && --*left == 0 ? -ETIMEDOUT : process_memory_read_live(pid, to, from, n);
}

/* Whose memory is late once has the name at the next look, also of the same sample. */
static void what_is_late_is_read_again(void **state)
{
	unsigned left = 1;
	const struct process_memory_source late = {.read = answer_too_late, .arg = &left};

	process_memory_use(&late);
	assert_null(find(1));
	assert_string_equal(java_methods_reason_name(why), "no answer in time");
	assert_int_equal(process->java_methods.by_addr.count, 0);
	assert_string_equal(find(1)->name, "run");
	left = 1;
	fake_symbol_set(&fake.name, "fly");
	assert_string_equal(find(LATER(1))->name, "run"); /* not known to be another one */
	assert_int_equal(left, 0);
	assert_string_equal(find(LATER(1))->name, "fly");
	assert_int_equal(process->jvm->unnamed_methods[JAVA_METHODS_NO_ANSWER], 1);
}

/* Whichever of the reads is late: nothing is kept of a method that is not known whole. */
static void a_method_of_which_a_part_is_late_is_whole_later(void **state)
{
	unsigned left, reads = 0;
	const struct process_memory_source late = {.read = answer_too_late, .arg = &left};
	const struct java_method *method;

	process_memory_use(&late);
	do {
		java_methods_clear(&process->java_methods);
		left = ++reads;
		assert_true(reads < 20);
		method = find(1);
		assert_true((method == NULL) == (left == 0));
		method = find(1);
		assert_string_equal(method->source_file, "Main.java");
		assert_true(method->lines_len > 0);
	} while (left == 0);
	assert_true(reads > 5);
}

/* A child without privilege looks at the test's memory. */
static void without_permission_there_is_no_name(void **state)
{
	pid_t pid;

	if (getuid() != 0)
		skip(); /* only root can become somebody else */
	pid = fork();
	if (pid == 0)
		_exit(!child_becomes_nobody() || find(1) ||
		      strcmp(java_methods_reason_name(why), "no permission") != 0 ||
		      process->jvm->unnamed_methods[JAVA_METHODS_NO_PERMISSION] != 1);
	child_check(pid);
}

static void each_missing_value_switches_names_off(void **state)
{
	static const char *const needed[] = {"Method::_constMethod",
					     "ConstMethod::_constants",
					     "ConstMethod::_constMethod_size",
					     "ConstMethod::_code_size",
					     "ConstMethod::_name_index",
					     "ConstMethod::_signature_index",
					     "sizeof(ConstMethod)",
					     "ConstantPool::_pool_holder",
					     "ConstantPool::_length",
					     "sizeof(ConstantPool)",
					     "Klass::_name",
					     "Symbol::_length",
					     "Symbol::_body"};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		fake_hotspot_say_hello(process, needed[i]);
		assert_false(vm_layout_has_methods(&process->jvm->layout));
		assert_null(find(1));
		assert_string_equal(java_methods_reason_name(why), "layout not known");
	}
	fake_hotspot_say_hello(process, "constant ConstMethod::_has_linenumber_table");
	assert_int_equal(java_method_line(find(1), 4), 0);
	fake_hotspot_say_hello(process, "ConstantPool::_source_file_name_index");
	assert_null(find(1)->source_file);
}

static void a_new_hello_forgets_what_was_read(void **state)
{
	assert_string_equal(find(1)->name, "run");
	fake_symbol_set(&fake.name, "fly");
	fake_hotspot_say_hello(process, NULL);
	assert_string_equal(find(2)->name, "fly");
	assert_true(process_exec(process, 3));
	assert_null(find(4));
	assert_string_equal(java_methods_reason_name(why), "layout not known");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_method_has_its_names_and_lines),
		CASE(each_broken_pointer_is_a_reason),
		CASE(each_broken_number_is_a_reason),
		CASE(a_signature_looks_like_one),
		CASE(structures_that_point_at_each_other_are_no_method),
		CASE(addresses_without_a_method_are_a_reason),
		CASE(a_giant_length_ends_with_the_memory),
		CASE(a_long_name_is_cut),
		CASE(bytes_that_are_no_utf_8_become_question_marks),
		CASE(a_hidden_class_is_called_as_jvmti_calls_it),
		CASE(what_is_not_needed_may_be_missing),
		CASE(a_method_that_takes_anothers_place_has_its_own_name),
		CASE(methods_that_were_met_together_are_read_again_one_by_one),
		CASE(an_address_that_becomes_a_method_soon_has_a_name),
		CASE(a_method_that_has_gone_since_names_the_samples_before),
		CASE(of_two_methods_at_an_address_the_nearer_one_counts),
		CASE(a_sample_that_is_named_late_checks_nothing_early),
		CASE(names_outlive_a_move),
		CASE(whatever_lies_there_is_a_method_or_a_reason),
		CASE(the_cache_and_the_reading_have_a_maximum),
		CASE(of_a_process_that_is_gone_nothing_is_read),
		CASE(what_is_late_is_read_again),
		CASE(a_method_of_which_a_part_is_late_is_whole_later),
		CASE(without_permission_there_is_no_name),
		CASE(each_missing_value_switches_names_off),
		CASE(a_new_hello_forgets_what_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
