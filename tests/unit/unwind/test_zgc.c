// SPDX-License-Identifier: Apache-2.0
/* Claims about unwind/zgc.h. A heap and its tables are laid out in the memory of this process. */
#include "../process/own_jvm.h"
#include "unwind/zgc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define GRANULES    32u
#define GRANULE	    (UINT64_C(1) << 21)
#define HEAP_BASE   (UINT64_C(1) << 44)
#define BAD	    (UINT64_C(1) << 12)
#define GOOD	    (UINT64_C(1) << 13)
#define SHIFT	    4u
#define PAGE	    (5 * GRANULE)
#define PAGE_TABLE  40u
#define COUNT	    16u
#define HEADER	    64u /* bytes of a ZForwarding; its entries lie behind */
#define MOST_VALUES 16
/* Indexes of objects, by the place of 16 at which their search begins, worked out by hand. */
#define AT_15	  67u
#define AT_15_TOO 103u

static uint64_t offset_mask, bad_mask;
static const uint64_t *globals[2] = {&offset_mask, &bad_mask};
static const void *globals_at = globals;
static uint8_t forwarding[HEADER + 8 * COUNT];
static uint64_t old[GRANULES], young[GRANULES], pages[GRANULES];
static uint64_t heap[4096];
static const void *heap_at = heap;
static struct process *process;
static struct zgc zgc;
static uint32_t reads;

static void tell(const char *key, int64_t value)
{
	assert_true(process->jvm->hello.n_values < MOST_VALUES);
	process->jvm->hello.values[process->jvm->hello.n_values].key = key;
	process->jvm->hello.values[process->jvm->hello.n_values++].value = value;
}

static void put(uint32_t at, uint64_t value)
{
	memcpy(forwarding + at, &value, sizeof(value));
}

static uint64_t entry_of(uint64_t index, uint64_t to)
{
	return index << 46 | to << 1 | 1;
}

static void put_entry(uint32_t place, uint64_t index, uint64_t to)
{
	put(HEADER + 8 * place, entry_of(index, to));
}

static void tell_all(void)
{
	tell("ZGlobalsForVMStructs::_instance_p", (int64_t)(uintptr_t)&globals_at);
	tell("ZGlobalsForVMStructs::_ZAddressOffsetMask", 0);
	tell("ZGlobalsForVMStructs::_ZPointerLoadBadMask", 8);
	tell("Universe::_collectedHeap", (int64_t)(uintptr_t)&heap_at);
	tell("ZCollectedHeap::_heap", 16);
	tell("ZHeap::_page_table", PAGE_TABLE);
	tell("ZForwarding::_virtual", 0);
	tell("ZVirtualMemory::_start", 0);
	tell("ZVirtualMemory::_size", 8);
	tell("ZForwarding::_object_alignment_shift", 16);
	tell("ZForwarding::_entries", 24);
	tell("ZAttachedArrayForForwarding::_length", 8);
	tell("sizeof(ZForwarding)", HEADER);
}

static int set_up(void **state)
{
	static struct jvm_value values[MOST_VALUES];

	process = own_jvm_new();
	process->jvm->hello.values = values;
	tell_all();
	offset_mask = HEAP_BASE - 1;
	bad_mask = BAD;
	memset(forwarding, 0, sizeof(forwarding));
	memset(heap, 0, sizeof(heap));
	memset(old, 0, sizeof(old));
	memset(young, 0, sizeof(young));
	heap[(16 + PAGE_TABLE) / 8] = GRANULES;
	heap[(16 + PAGE_TABLE) / 8 + 1] = (uintptr_t)pages;
	heap[100] = GRANULES; /* a number that is the same by chance */
	heap[200] = GRANULES;
	heap[201] = (uintptr_t)old;
	heap[300] = GRANULES;
	heap[301] = (uintptr_t)young;
	young[PAGE / GRANULE] = (uintptr_t)forwarding;
	put(0, PAGE);
	put(8, GRANULE);
	put(16, SHIFT);
	put(32, COUNT);
	reads = 0;
	zgc_init(&zgc, process, &reads, UINT32_MAX);
	return 0;
}

static int tear_down(void **state)
{
	process->jvm->hello.values = NULL;
	process->jvm->hello.n_values = 0;
	process_free(process);
	return 0;
}

static uint64_t place_of(uint64_t index)
{
	return HEAP_BASE | (PAGE + (index << SHIFT));
}

static void check(uint64_t index, uint64_t to)
{
	assert_int_equal(zgc_resolve(&zgc, BAD, place_of(index)), to);
}

static void what_has_moved_is_found(void **state)
{
	put_entry(15, AT_15, 0x1230);
	put_entry(0, AT_15_TOO, 0x4560); /* its place was taken; they go round */
	check(AT_15, HEAP_BASE | 0x1230);
	check(AT_15_TOO, HEAP_BASE | 0x4560);
	young[PAGE / GRANULE] = 0;
	old[PAGE / GRANULE] = (uintptr_t)forwarding;
	check(AT_15, HEAP_BASE | 0x1230);
}

static void what_has_not_moved_stays(void **state)
{
	put_entry(15, AT_15, 0x1230);
	assert_int_equal(zgc_resolve(&zgc, GOOD, place_of(AT_15)), place_of(AT_15));
	assert_int_equal(zgc_resolve(&zgc, BAD, 0), 0);
	check(AT_15_TOO, place_of(AT_15_TOO)); /* another one is there, and nothing behind it */
	young[PAGE / GRANULE] = 0;
	check(AT_15, place_of(AT_15));
	/* An address behind the whole heap. */
	assert_int_equal(zgc_resolve(&zgc, BAD, HEAP_BASE | GRANULES * GRANULE),
			 HEAP_BASE | GRANULES * GRANULE);
}

static void what_does_not_fit_together_is_not_believed(void **state)
{
	static const struct {
		uint32_t at;
		uint64_t value;
	} wrong[] = {
		{0, PAGE + GRANULE},	 {8, 16}, {16, 2}, {16, 22}, {32, 0}, {32, COUNT + 1},
		{32, UINT64_C(1) << 40},
	};

	put_entry(15, AT_15, 0x1230);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		uint64_t right;

		memcpy(&right, forwarding + wrong[i].at, sizeof(right));
		put(wrong[i].at, wrong[i].value);
		check(AT_15, place_of(AT_15));
		put(wrong[i].at, right);
		check(AT_15, HEAP_BASE | 0x1230);
	}
	young[PAGE / GRANULE] = 8; /* nothing is there */
	check(AT_15, place_of(AT_15));
}

static void no_more_is_read_than_the_caller_allows(void **state)
{
	uint32_t needed;

	put_entry(15, AT_15, 0x1230);
	check(AT_15, HEAP_BASE | 0x1230);
	needed = reads;
	for (uint32_t max = 0; max < needed; max++) {
		reads = 0;
		zgc_init(&zgc, process, &reads, max);
		check(AT_15, place_of(AT_15));
		assert_int_equal(reads, max);
	}
}

static void an_agent_that_says_nothing_of_it_is_no_harm(void **state)
{
	put_entry(15, AT_15, 0x1230);
	for (size_t i = 0; i < process->jvm->hello.n_values; i++) {
		const char *key = process->jvm->hello.values[i].key;

		process->jvm->hello.values[i].key = "other";
		zgc_init(&zgc, process, &reads, UINT32_MAX);
		check(AT_15, place_of(AT_15));
		process->jvm->hello.values[i].key = key;
	}
	zgc_init(&zgc, process, &reads, UINT32_MAX);
	check(AT_15, HEAP_BASE | 0x1230);
}

/* Two offsets whose sum overflows to a small number, which no JVM reports. */
static void offsets_that_no_struct_has_are_not_believed(void **state)
{
	put_entry(15, AT_15, 0x1230);
	for (size_t i = 0; i < process->jvm->hello.n_values; i++) {
		struct jvm_value *value = &process->jvm->hello.values[i];
		const int64_t right = value->value;

		if (!strstr(value->key, "ZForwarding") && !strstr(value->key, "ZVirtual") &&
		    !strstr(value->key, "Attached"))
			continue;
		value->value = INT64_MAX;
		check(AT_15, place_of(AT_15));
		value->value = right;
	}
	for (size_t i = 0; i < process->jvm->hello.n_values; i++) {
		if (strstr(process->jvm->hello.values[i].key, "::_virtual") ||
		    strstr(process->jvm->hello.values[i].key, "ZVirtualMemory::"))
			process->jvm->hello.values[i].value = INT64_MAX - 2;
	}
	check(AT_15, place_of(AT_15));
}

/* A process may pretend to have such a table. */
static void a_full_table_is_not_searched_for_ever(void **state)
{
	for (uint32_t place = 0; place < COUNT; place++)
		put_entry(place, 1 << 17, 0x1230);
	check(AT_15, place_of(AT_15));
	assert_true(reads < 32);
}

#define CLAIM(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(what_has_moved_is_found),
		CLAIM(what_has_not_moved_stays),
		CLAIM(what_does_not_fit_together_is_not_believed),
		CLAIM(no_more_is_read_than_the_caller_allows),
		CLAIM(an_agent_that_says_nothing_of_it_is_no_harm),
		CLAIM(offsets_that_no_struct_has_are_not_believed),
		CLAIM(a_full_table_is_not_searched_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
