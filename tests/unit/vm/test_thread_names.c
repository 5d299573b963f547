// SPDX-License-Identifier: Apache-2.0
#include "fake_class.h"

#include "vm/thread_names.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MAX_THREADS 32

static struct fake_class fake;
static struct thread_layout layout;
static uint64_t threads[MAX_THREADS];
static size_t n_threads;
static char told[8192];

/* As JDK 17 to 25 have it: a list, handles, narrow references, texts of one or two bytes. */
static const struct thread_layout usual = {
	.is_valid = true,
	.is_handle = true,
	.list_len = 4,
	.list_threads = 16,
	.next = 40,
	.os_thread = 8,
	.thread_id = 12,
	.object = 24,
	.handle = 0,
	.name = 20,
	.value = 16,
	.coder = 24,
	.array_len = 12,
	.reference_bytes = 4,
	.narrow_base = FAKE_CLASS_BASE - 0x1000,
	.narrow_shift = 3,
};

static int set_up(void **state)
{
	(void)state;
	fake_class_init(&fake);
	layout = usual;
	n_threads = 0;
	layout.list = fake_class_take(&fake, 8);
	return 0;
}

/* ---- objects ---- */

static uint64_t coloured(uint64_t addr)
{
	return layout.is_coloured ? addr << 14 | 1u << 13 : addr;
}

static void set_reference(uint64_t at, uint64_t to)
{
	if (layout.reference_bytes == 4)
		fake_class_set_u32(&fake, at,
				   (uint32_t)((to - layout.narrow_base) >> layout.narrow_shift));
	else
		fake_class_set_u64(&fake, at, coloured(to));
}

/* An array of so many bytes, with a hole behind its length; returns where the array is. */
static uint64_t add_array(const void *text, size_t bytes, uint32_t len, size_t hole)
{
	const uint64_t array = fake_class_take(&fake, layout.array_len + 4 + hole + bytes);

	fake_class_set_u32(&fake, array + layout.array_len, len);
	fake_class_set(&fake, array + layout.array_len + 4 + hole, text, bytes);
	return array;
}

static uint64_t add_string(uint64_t array, uint8_t coder)
{
	const uint64_t string = fake_class_take(&fake, 48);

	set_reference(string + layout.value, array);
	if (layout.coder)
		fake_class_set(&fake, string + layout.coder, &coder, sizeof(coder));
	return string;
}

static uint64_t latin1(const char *text)
{
	return add_string(add_array(text, strlen(text), (uint32_t)strlen(text), 0), 0);
}

/* Returns the JavaThread. */
static uint64_t add_thread(uint32_t tid, uint64_t string)
{
	const uint64_t thread = fake_class_take(&fake, 64);
	const uint64_t os_thread = fake_class_take(&fake, 16);
	const uint64_t object = fake_class_take(&fake, 48);
	const uint64_t handle = fake_class_take(&fake, 8);

	set_reference(object + layout.name, string);
	fake_class_set_u64(&fake, handle, coloured(object));
	fake_class_set_u64(&fake, thread + layout.object,
			   layout.is_handle ? handle : coloured(object));
	fake_class_set_u64(&fake, thread + layout.os_thread, os_thread);
	fake_class_set_u32(&fake, os_thread + layout.thread_id, tid);
	assert_true(n_threads < MAX_THREADS);
	threads[n_threads++] = thread;
	return thread;
}

static void make_list(void)
{
	const uint64_t list = fake_class_take(&fake, 24);
	const uint64_t array = fake_class_take(&fake, n_threads * 8);

	fake_class_set(&fake, array, threads, n_threads * 8);
	fake_class_set_u32(&fake, list + layout.list_len, (uint32_t)n_threads);
	fake_class_set_u64(&fake, list + layout.list_threads, array);
	fake_class_set_u64(&fake, layout.list, list);
}

static void take(void *arg, uint32_t tid, const char *name, size_t len)
{
	const size_t at = strlen(told);

	(void)arg;
	assert_int_equal(strlen(name), len);
	assert_true(len <= THREAD_NAME_BYTES);
	snprintf(told + at, sizeof(told) - at, "%u %s\n", tid, name);
}

static int ask(const uint32_t *tids, size_t n)
{
	told[0] = '\0';
	return thread_names_read(&fake.memory, &layout, tids, n, take, NULL);
}

/* ---- claims ---- */

static void threads_that_are_wanted_have_their_names(void **state)
{
	static const uint16_t wide[] = {0x77ed, 0x3044, 'x', 0xe9, 0};
	const uint32_t tids[] = {103, 101, 999, 102};

	(void)state;
	add_thread(100, latin1("somebody else"));
	add_thread(101, latin1("a-very-long-name-of-a-thread"));
	add_thread(102, add_string(add_array(wide, sizeof(wide), sizeof(wide), 0), 1));
	add_thread(103, latin1("caf\xe9"));
	make_list();
	assert_int_equal(ask(tids, 4), 0);
	assert_string_equal(told, "101 a-very-long-name-of-a-thread\n"
				  "102 \xe7\x9f\xad\xe3\x81\x84x\xc3\xa9\xc0\x80\n"
				  "103 caf\xc3\xa9\n");
}

static void jdks_with_a_chain_of_threads_and_whole_references_are_read(void **state)
{
	static const uint16_t text[] = {'o', 'l', 'd', 0xfc};
	const uint32_t tids[] = {7, 8};

	(void)state;
	layout.is_linked = true;
	layout.is_handle = false;
	layout.reference_bytes = 8;
	layout.coder = 0;
	add_thread(8, add_string(add_array(text, sizeof(text), 4, 0), 0));
	add_thread(7, add_string(add_array(text, sizeof(text), 3, 0), 0));
	fake_class_set_u64(&fake, layout.list, threads[0]);
	fake_class_set_u64(&fake, threads[0] + layout.next, threads[1]);
	assert_int_equal(ask(tids, 2), 0);
	assert_string_equal(told, "8 old\xc3\xbc\n7 old\n");
	fake_class_set_u64(&fake, threads[1] + layout.next, threads[0]); /* a circle */
	told[0] = '\0';
	fake.memory.max_bytes = UINT64_MAX / 2;
	assert_int_equal(ask(tids, 2), 0);
	assert_string_equal(told, "8 old\xc3\xbc\n7 old\n");
}

static void references_with_colours_are_followed(void **state)
{
	const uint32_t tid = 5;

	(void)state;
	layout.is_coloured = true;
	layout.reference_bytes = 8;
	add_thread(5, latin1("a-thread-of-zgc"));
	make_list();
	assert_int_equal(ask(&tid, 1), 0);
	assert_string_equal(told, "5 a-thread-of-zgc\n");
}

/* Where an object's class has a whole word, the text may begin at the next whole word. */
static void the_text_begins_behind_the_length_or_a_hole(void **state)
{
	const uint32_t tids[] = {1, 2, 3};

	(void)state;
	layout.array_len = 16;
	add_thread(1, add_string(add_array("with-a-hole", 11, 11, 4), 0));
	add_thread(2, add_string(add_array("without-a-hole...", 17, 14, 0), 0));
	make_list();
	assert_int_equal(ask(tids, 2), 0);
	assert_string_equal(told, "1 with-a-hole\n2 without-a-hole\n");
	set_up(state);
	layout.array_len = 8; /* a header of one word */
	add_thread(3, latin1("compact"));
	make_list();
	assert_int_equal(ask(tids + 2, 1), 0);
	assert_string_equal(told, "3 compact\n");
}

static void long_names_are_cut(void **state)
{
	static char text[3 * THREAD_NAME_BYTES + 1];
	const uint32_t tids[] = {1, 2};

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	add_thread(1, latin1(text));
	add_thread(2, add_string(add_array(text, sizeof(text) - 1, UINT32_MAX, 0), 0));
	make_list();
	assert_int_equal(ask(tids, 2), 0);
	assert_int_equal(strlen(told), 2 * (THREAD_NAME_BYTES - 2 + 3));
}

/* Of memory that changes while it is read, or that lies. */
static void what_leads_nowhere_has_no_name(void **state)
{
	const uint32_t tids[] = {1, 2, 3, 4, 5};
	uint64_t string;

	(void)state;
	add_thread(1, latin1("whole"));
	add_thread(2, FAKE_CLASS_BASE + FAKE_CLASS_BYTES);
	string = latin1("without an array");
	fake_class_set_u32(&fake, string + layout.value, 0);
	add_thread(3, string);
	add_thread(4, add_string(add_array("", 0, 0, 0), 0));
	add_thread(5, latin1("without a handle"));
	fake_class_set_u64(&fake, threads[4] + layout.object, UINT64_MAX - 4);
	make_list();
	assert_int_equal(ask(tids, 5), 0);
	assert_string_equal(told, "1 whole\n");
	fake_class_set_u64(&fake, threads[0] + layout.os_thread, 3);
	assert_int_equal(ask(tids, 5), 0);
	assert_string_equal(told, "");
	fake_class_set_u64(&fake, layout.list, 0);
	assert_int_equal(ask(tids, 5), 0);
	fake_class_set_u64(&fake, layout.list, 0x10);
	assert_int_equal(ask(tids, 5), -EFAULT);
	assert_int_equal(ask(tids, 0), 0);
}

static void a_list_that_says_to_be_endless_is_read_up_to_a_bound(void **state)
{
	const uint64_t list = fake_class_take(&fake, 24);
	const uint32_t tid = 1;

	(void)state;
	fake_class_set_u32(&fake, list + layout.list_len, UINT32_MAX);
	fake_class_set_u64(&fake, list + layout.list_threads, FAKE_CLASS_BASE);
	fake_class_set_u64(&fake, layout.list, list);
	assert_true(ask(&tid, 1) < 0); /* so many threads are not there */
	assert_string_equal(told, "");
	assert_true(fake.memory.bytes < 64);
}

/*
 * ZGC moves an object, and its old place stays for a while, is used by others, or is given back. A
 * reference that nobody has mended still leads there. What is told then is compared with the
 * kernel's name (thread_history.h).
 */
static void an_object_that_has_moved_is_found_again_once_its_reference_is_mended(void **state)
{
	const uint32_t tid = 5;
	uint64_t handle, object, moved;

	(void)state;
	layout.is_coloured = true;
	layout.reference_bytes = 8;
	add_thread(5, latin1("worker-of-zgc"));
	make_list();
	memcpy(&handle, fake.bytes + (threads[0] + layout.object - FAKE_CLASS_BASE), 8);
	memcpy(&object, fake.bytes + (handle - FAKE_CLASS_BASE), 8);
	object >>= 14;
	moved = fake_class_take(&fake, 48);
	set_reference(moved + layout.name, latin1("worker-of-zgc"));
	set_reference(object + layout.name, latin1("somebody-else"));
	assert_int_equal(ask(&tid, 1), 0);
	assert_string_equal(told, "5 somebody-else\n");
	fake_class_set_u64(&fake, object + layout.name, 0);
	assert_int_equal(ask(&tid, 1), 0);
	assert_string_equal(told, "");
	fake_class_set_u64(&fake, object + layout.name, UINT64_MAX);
	assert_int_equal(ask(&tid, 1), 0);
	assert_string_equal(told, "");
	fake_class_set_u64(&fake, handle, coloured(moved));
	assert_int_equal(ask(&tid, 1), 0);
	assert_string_equal(told, "5 worker-of-zgc\n");
}

static uint32_t next_random(uint32_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random;
}

/* Bytes and pointers of what leads to the names become others. */
static void spoil(uint32_t *random)
{
	for (uint32_t n = 1 + next_random(random) % 8; n > 0; n--) {
		const uint64_t at = FAKE_CLASS_BASE + next_random(random) % (fake.used - 8);

		if (n % 2)
			fake_class_set_u64(&fake, at / 8 * 8,
					   FAKE_CLASS_BASE + next_random(random) % fake.used);
		else
			fake_class_set_u32(&fake, at, next_random(random));
	}
}

static void spoil_threads(uint32_t times)
{
	static uint8_t whole[FAKE_CLASS_BYTES];
	const uint32_t tids[] = {1, 2, 3};
	uint32_t random = 2463534242;

	memcpy(whole, fake.bytes, sizeof(whole));
	while (times-- > 0) {
		memcpy(fake.bytes, whole, sizeof(whole));
		fake.memory.bytes = 0;
		spoil(&random);
		assert_true(ask(tids, 3) <= 0); /* names are checked where they are told */
		assert_true(fake.memory.bytes <= fake.memory.max_bytes);
	}
}

static void whatever_the_memory_holds_names_are_texts_and_reading_ends(void **state)
{
	for (int kind = 0; kind < 3; kind++) {
		set_up(state);
		layout.is_linked = kind == 1;
		layout.is_handle = kind != 1;
		layout.is_coloured = kind == 2;
		layout.reference_bytes = kind == 0 ? 4 : 8;
		fake.memory.max_bytes = 1u << 20;
		add_thread(1, latin1("a-thread-with-a-long-name"));
		add_thread(2, latin1("another-one"));
		add_thread(3, latin1(""));
		if (layout.is_linked) {
			fake_class_set_u64(&fake, layout.list, threads[0]);
			fake_class_set_u64(&fake, threads[0] + layout.next, threads[1]);
			fake_class_set_u64(&fake, threads[1] + layout.next, threads[2]);
		} else {
			make_list();
		}
		spoil_threads(2000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(threads_that_are_wanted_have_their_names, set_up),
		cmocka_unit_test_setup(jdks_with_a_chain_of_threads_and_whole_references_are_read,
				       set_up),
		cmocka_unit_test_setup(references_with_colours_are_followed, set_up),
		cmocka_unit_test_setup(
			an_object_that_has_moved_is_found_again_once_its_reference_is_mended,
			set_up),
		cmocka_unit_test_setup(whatever_the_memory_holds_names_are_texts_and_reading_ends,
				       set_up),
		cmocka_unit_test_setup(the_text_begins_behind_the_length_or_a_hole, set_up),
		cmocka_unit_test_setup(long_names_are_cut, set_up),
		cmocka_unit_test_setup(what_leads_nowhere_has_no_name, set_up),
		cmocka_unit_test_setup(a_list_that_says_to_be_endless_is_read_up_to_a_bound,
				       set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
