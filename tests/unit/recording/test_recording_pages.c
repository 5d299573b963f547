// SPDX-License-Identifier: Apache-2.0
/* Snapshots of this process's memory with pages that could not be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recording/recording.h"
#include "sample/sample_regs.h"

#define PAGE   4096u
#define PAGES  4u
#define BELOW  0x230u /* the stack pointer lies so far above the first page's begin */
#define LENGTH (PAGES * PAGE - BELOW)

static uint8_t *pages, *garbage;
static uint64_t regs[SAMPLE_REGS_COUNT];

static int set_up(void **state)
{
	pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	garbage = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_ptr_not_equal(garbage, MAP_FAILED);
	madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	memset(garbage, 0xaa, PAGES * PAGE);
	for (size_t i = 0; i < SAMPLE_REGS_COUNT; i++)
		regs[i] = (uintptr_t)pages + BELOW; /* the stack pointer is one of them */
	return 0;
}

static int tear_down(void **state)
{
	munmap(pages, PAGES * PAGE);
	munmap(garbage, PAGES * PAGE);
	return 0;
}

static struct record settle(uint64_t unread)
{
	const struct record record = {
		.kind = RECORD_SAMPLE,
		.pid = getpid(),
		.sample = {.regs = regs,
			   .stack = garbage,
			   .stack_len = LENGTH,
			   .unread_pages = unread},
	};
	struct record ret;

	recording_settle_pages(&record, &ret);
	return ret;
}

static bool is_all(const struct sample *sample, size_t from, size_t to, uint8_t byte)
{
	for (size_t i = from; i < to; i++) {
		if (sample->stack[i] != byte)
			return false;
	}
	return true;
}

static void pages_that_were_never_written_to_are_zeros(void **state)
{
	const struct record record = settle(1 << 0 | 1 << 2 | 1 << 3);
	const size_t second = PAGE - BELOW, third = 2 * PAGE - BELOW;

	assert_false(record.sample.ends_at_page);
	assert_int_equal(record.sample.unread_pages, 0);
	assert_int_equal(record.sample.stack_len, LENGTH);
	assert_true(is_all(&record.sample, 0, second, 0));
	assert_true(is_all(&record.sample, second, third, 0xaa));
	assert_true(is_all(&record.sample, third, LENGTH, 0));
}

static void pages_that_are_there_now_stay_unknown(void **state)
{
	struct record record;

	pages[2 * PAGE] = 1;
	record = settle(1 << 1 | 1 << 2 | 1 << 3);
	assert_false(record.sample.ends_at_page);
	assert_int_equal(record.sample.unread_pages, 1 << 2);
	assert_int_equal(record.sample.stack_len, LENGTH);
	assert_true(is_all(&record.sample, 0, PAGE - BELOW, 0xaa));
	assert_true(is_all(&record.sample, PAGE - BELOW, LENGTH, 0));
}

static void of_who_is_gone_nothing_is_known(void **state)
{
	struct record record = {
		.pid = 0x3fffff,
		.sample = {.regs = regs,
			   .stack = garbage,
			   .stack_len = LENGTH,
			   .unread_pages = 1 << 1},
	};

	recording_settle_pages(&record, &record);
	assert_false(record.sample.ends_at_page);
	assert_int_equal(record.sample.unread_pages, 1 << 1);
	assert_int_equal(record.sample.stack_len, LENGTH);
}

/* Only where there is swap. */
static void the_snapshot_ends_in_front_of_a_page_that_was_swapped_out(void **state)
{
	struct record record;

	memset(pages, 1, PAGES * PAGE);
	madvise(pages + 2 * PAGE, PAGE, MADV_PAGEOUT);
	record = settle(1 << 1 | 1 << 2 | 1 << 3);
	if (!record.sample.ends_at_page) {
		print_message("there is no swap on this machine\n");
		return;
	}
	assert_int_equal(record.sample.stack_len, 2 * PAGE - BELOW);
	assert_int_equal(record.sample.unread_pages, 1 << 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pages_that_were_never_written_to_are_zeros, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(pages_that_are_there_now_stay_unknown, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(of_who_is_gone_nothing_is_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_snapshot_ends_in_front_of_a_page_that_was_swapped_out, set_up,
			tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
