// SPDX-License-Identifier: Apache-2.0
/* Pages of this process that were written to, or never. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/child.h"
#include "memory/page_map.h"

#define PAGES 8

static uint8_t *map_pages(void)
{
	uint8_t *pages = mmap(NULL, PAGES * PAGE_MAP_PAGE_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	madvise(pages, PAGES * PAGE_MAP_PAGE_BYTES, MADV_NOHUGEPAGE);
	return pages;
}

static void pages_that_were_never_written_to_are_told_from_others(void **state)
{
	uint8_t *pages = map_pages();
	struct page_map map = {0};

	pages[1 * PAGE_MAP_PAGE_BYTES] = 1;
	pages[6 * PAGE_MAP_PAGE_BYTES + 17] = 1;
	/* Any address of a page stands for the page. */
	assert_int_equal(page_map_read(getpid(), (uintptr_t)pages + 5, PAGES, &map), 0);
	assert_int_equal(map.untouched, 0xff & ~(1 << 1 | 1 << 6));
	assert_int_equal(map.swapped, 0);
	munmap(pages, PAGES * PAGE_MAP_PAGE_BYTES);
}

/* Only where there is swap. */
static void pages_that_were_swapped_out_are_told_from_others(void **state)
{
	uint8_t *pages = map_pages();
	struct page_map map = {0};

	for (int i = 0; i < 4; i++)
		pages[i * PAGE_MAP_PAGE_BYTES] = 1;
	madvise(pages, 2 * PAGE_MAP_PAGE_BYTES, MADV_PAGEOUT);
	assert_int_equal(page_map_read(getpid(), (uintptr_t)pages, PAGES, &map), 0);
	assert_int_equal(map.untouched, 0xf0);
	if (map.swapped == 0)
		print_message("there is no swap on this machine\n");
	else
		assert_int_equal(map.swapped, 0x3);
	munmap(pages, PAGES * PAGE_MAP_PAGE_BYTES);
}

static void nothing_is_said_of_who_is_gone(void **state)
{
	struct page_map map = {.untouched = 4711};

	assert_true(page_map_read(child_gone(), 0x10000, 1, &map) < 0);
	assert_int_equal(map.untouched, 4711);
}

static void a_word_has_room_for_so_many_pages(void **state)
{
	struct page_map map;

	assert_int_equal(page_map_read(getpid(), 0x10000, 0, &map), -EINVAL);
	assert_int_equal(page_map_read(getpid(), 0x10000, PAGE_MAP_MAX_PAGES + 1, &map), -EINVAL);
	assert_int_equal(page_map_read(getpid(), 0x10000, PAGE_MAP_MAX_PAGES, &map), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_that_were_never_written_to_are_told_from_others),
		cmocka_unit_test(pages_that_were_swapped_out_are_told_from_others),
		cmocka_unit_test(nothing_is_said_of_who_is_gone),
		cmocka_unit_test(a_word_has_room_for_so_many_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
