// SPDX-License-Identifier: Apache-2.0
/* Claims about memory/space_reader.h: a piece at a time, and all of it in the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/guarded.h"
#include "common/child.h"
#include "common/codes.h"
#include "memory/space_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PAGE	CODES_PAGE
#define N_CODES 3000 /* several pieces */

static char *codes;

static int make_codes(void **state)
{
	codes = codes_make(N_CODES);
	return codes ? 0 : -1;
}

static int remove_codes(void **state)
{
	guarded_use(NULL);
	return codes_remove(codes, N_CODES);
}

static void check_all(const struct address_space *space)
{
	assert_true(space->count > N_CODES);
	for (size_t i = 0; i < N_CODES; i++) {
		const uint64_t addr = (uint64_t)(uintptr_t)codes + 2 * i * PAGE;

		assert_non_null(address_space_find(space, addr));
		assert_null(address_space_find(space, addr + PAGE));
	}
}

static void pieces_are_all_of_it_in_the_end(void **state)
{
	struct space_reader *const reader = space_reader_new(getpid());
	struct address_space space = {0};
	int pieces = 1;

	while (space_reader_step(reader, 0) > 0)
		pieces++;
	assert_true(pieces > 3);
	space_reader_take(reader, &space);
	space_reader_free(reader);
	check_all(&space);
	address_space_fini(&space);
}

static void at_once_is_the_same(void **state)
{
	struct address_space space = {0};

	assert_int_equal(address_space_read(&space, getpid()), 0);
	check_all(&space);
	address_space_fini(&space);
}

static void who_is_gone_has_none(void **state)
{
	struct space_reader *const reader = space_reader_new(child_gone());

	assert_int_equal(space_reader_step(reader, UINT64_MAX), -ENOENT);
	space_reader_free(reader);
}

static enum guarded_end pause_call(void *arg, pid_t pid, struct guarded_call *call)
{
	return GUARDED_PAUSED;
}

/* The call never comes back; here it is freed at once. */
static enum guarded_end be_late(void *arg, pid_t pid, struct guarded_call *call)
{
	call->free(call);
	return GUARDED_LATE;
}

static void a_kernel_that_does_not_answer_is_an_error(void **state)
{
	const struct guarded_runner pausing = {.run = pause_call}, late = {.run = be_late};
	struct space_reader *reader = space_reader_new(getpid());

	guarded_use(&pausing);
	assert_int_equal(space_reader_step(reader, UINT64_MAX), -ETIMEDOUT);
	space_reader_free(reader);
	reader = space_reader_new(getpid());
	guarded_use(&late);
	assert_int_equal(space_reader_step(reader, UINT64_MAX), -ETIMEDOUT);
	assert_int_equal(space_reader_step(reader, UINT64_MAX), -ETIMEDOUT);
	space_reader_free(reader);
}

static void paths_have_a_limit_of_their_own(void **state)
{
	static char path[4000];
	struct mapping mapping = {.path = path};
	struct address_space space = {0};
	size_t n = 0;

	memset(path, 'x', sizeof(path) - 1);
	do {
		mapping.start = mapping.end + PAGE;
		mapping.end = mapping.start + PAGE;
		n++;
	} while (address_space_add(&space, &mapping) == 0);
	assert_int_equal(n, ADDRESS_SPACE_MAX_PATH_BYTES / sizeof(path) + 1);
	assert_int_equal(space.dropped, 1);
	assert_int_equal(space.path_bytes, (n - 1) * sizeof(path));
	address_space_forget_before(&space, 1);
	assert_int_equal(space.path_bytes, 0);
	assert_int_equal(address_space_add(&space, &mapping), 0);
	mapping.path = "/other";
	mapping.start += 0x100;
	mapping.end -= 0x100;
	assert_int_equal(address_space_add(&space, &mapping),
			 0); /* leaves two pieces of the first */
	assert_int_equal(space.path_bytes, 2 * sizeof(path) + sizeof("/other"));
	address_space_fini(&space);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, make_codes, remove_codes)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(pieces_are_all_of_it_in_the_end),
		CLAIM(at_once_is_the_same),
		CLAIM(who_is_gone_has_none),
		CLAIM(a_kernel_that_does_not_answer_is_an_error),
		CLAIM(paths_have_a_limit_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
