// SPDX-License-Identifier: Apache-2.0
/* A table of the kernel that is kept equal to a list. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

#include "sample/bpf_wanted.h"

#define ROOM 4

static struct bpf_wanted open_wanted(void)
{
	const int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "wanted", sizeof(__u32), sizeof(__u64),
				      ROOM, NULL);

	if (fd < 0) {
		print_message("no BPF here: %s\n", strerror(-fd));
		skip();
	}
	return (struct bpf_wanted){.fd = fd};
}

static void close_wanted(struct bpf_wanted *wanted)
{
	bpf_wanted_fini(wanted);
	close(wanted->fd);
}

static bool has(const struct bpf_wanted *wanted, pid_t pid)
{
	const __u32 key = (__u32)pid;
	__u64 value;

	return bpf_map_lookup_elem(wanted->fd, &key, &value) == 0;
}

static void check_has(const struct bpf_wanted *wanted, const pid_t *pids, size_t n)
{
	size_t count = 0;

	for (pid_t pid = 0; pid < 20; pid++)
		count += has(wanted, pid);
	assert_int_equal(count, n);
	for (size_t i = 0; i < n; i++)
		assert_true(has(wanted, pids[i]));
}

static void the_table_has_the_last_list(void **state)
{
	struct bpf_wanted wanted = open_wanted();

	assert_int_equal(bpf_wanted_set(&wanted, (const pid_t[]){1, 2, 3}, 3), 0);
	check_has(&wanted, (const pid_t[]){1, 2, 3}, 3);
	assert_int_equal(bpf_wanted_set(&wanted, (const pid_t[]){3, 9, 3}, 3), 0);
	check_has(&wanted, (const pid_t[]){3, 9}, 2);
	assert_true(bpf_wanted_add(&wanted, 7));
	check_has(&wanted, (const pid_t[]){3, 7, 9}, 3);
	assert_int_equal(bpf_wanted_set(&wanted, NULL, 0), 0);
	check_has(&wanted, NULL, 0);
	close_wanted(&wanted);
}

static void a_list_that_is_repeated_costs_no_system_call(void **state)
{
	const pid_t pids[] = {1, 2, 3};
	struct bpf_wanted wanted = open_wanted();
	const int fd = wanted.fd;

	bpf_wanted_set(&wanted, pids, 3);
	wanted.fd = -1; /* each call would fail */
	assert_int_equal(bpf_wanted_set(&wanted, pids, 3), 0);
	assert_true(bpf_wanted_add(&wanted, 2));
	wanted.fd = fd;
	close_wanted(&wanted);
}

static void whoever_has_no_room_is_counted(void **state)
{
	const pid_t seven[] = {1, 2, 3, 4, 5, 6, 7};
	struct bpf_wanted wanted = open_wanted();

	assert_int_equal(bpf_wanted_set(&wanted, seven, 7), 7 - ROOM);
	check_has(&wanted, seven, ROOM);
	assert_int_equal(bpf_wanted_set(&wanted, seven, 7), 7 - ROOM);
	assert_false(bpf_wanted_add(&wanted, 8));
	assert_true(bpf_wanted_add(&wanted, 1));
	close_wanted(&wanted);
}

static void whoever_had_no_room_has_it_when_others_go(void **state)
{
	struct bpf_wanted wanted = open_wanted();

	assert_int_equal(bpf_wanted_set(&wanted, (const pid_t[]){1, 2, 3, 4, 5, 6}, 6), 2);
	assert_int_equal(bpf_wanted_set(&wanted, (const pid_t[]){3, 4, 5, 6}, 4), 0);
	check_has(&wanted, (const pid_t[]){3, 4, 5, 6}, 4);
	close_wanted(&wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_has_the_last_list),
		cmocka_unit_test(a_list_that_is_repeated_costs_no_system_call),
		cmocka_unit_test(whoever_has_no_room_is_counted),
		cmocka_unit_test(whoever_had_no_room_has_it_when_others_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
