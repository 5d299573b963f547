// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about names that come late, and about who has to wait for whom (container/names_reader.h).
 * What reads names here stops at a gate, so that it is late for as long as a test wants.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "common/files.h"
#include "common/temp_dir.h"
#include "container/containers.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG_NS (60 * CLOCK_NS_PER_SEC)
#define DIGITS	"%064x"
#define SLOW_MS 400 /* of a maker: slow for three seconds */

static struct containers containers;
static char root[TEMP_DIR_BYTES];

/* ---- the reader ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_open;
static unsigned n_read;
static char order[1024][CONTAINER_ID_BYTES];
static const char *slow = "none"; /* the beginning of IDs that take SLOW_MS */

static void set_open(bool value)
{
	pthread_mutex_lock(&lock);
	is_open = value;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* Waits until the reader has begun with so many. */
static void wait_for_reads(unsigned count)
{
	pthread_mutex_lock(&lock);
	while (n_read < count)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void read_at_gate(struct container_names *names, struct container *container)
{
	bool is_slow;

	pthread_mutex_lock(&lock);
	is_slow = strncmp(container->id, slow, strlen(slow)) == 0;
	strcpy(order[n_read++], container->id);
	pthread_cond_broadcast(&changed);
	while (!is_open)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	if (is_slow)
		poll(NULL, 0, SLOW_MS);
	strcpy(container->name, "web");
	label_set_add(&container->labels, "a", "b");
	names->reads++;
}

static int start(void **state)
{
	n_read = 0;
	slow = "none";
	set_open(false);
	umask(022);
	temp_dir_make(root);
	containers_init(&containers, root, NULL);
	names_reader_names(containers.reader)->proc = root;
	names_reader_use(containers.reader, read_at_gate);
	return 0;
}

static int stop(void **state)
{
	set_open(true);
	containers_fini(&containers);
	temp_dir_remove(root);
	return 0;
}

/* ---- containers ---- */

static struct container_entry *hold(const char *maker, unsigned i)
{
	struct container container = {.namer = maker[0] ? CONTAINER_NAMED_BY_USER
							: CONTAINER_NAMED_BY_ROOT};
	struct container_entry *entry;

	snprintf(container.id, sizeof(container.id), "%s" DIGITS, maker, i);
	entry = containers_hold_as(&containers, &container, 1);
	assert_non_null(entry);
	return entry;
}

/* The first one is with the reader, and stays there; no other is waited for. */
static struct container_entry *hold_first(void)
{
	struct container_entry *const entry = hold("", 0);

	containers_begin_turn(&containers);
	containers.waited_ns = CONTAINERS_TURN_NS;
	wait_for_reads(1);
	return entry;
}

static void check_order(unsigned i, const char *maker, unsigned number)
{
	char id[CONTAINER_ID_BYTES];

	snprintf(id, sizeof(id), "%s" DIGITS, maker, number);
	assert_string_equal(order[i], id);
}

static void settle(void)
{
	set_open(true);
	assert_true(containers_settle(&containers, 1, LONG_NS));
}

static void a_turn_is_not_held_by_names_that_do_not_come(void **state)
{
	struct container_entry *held[100];

	containers_begin_turn(&containers);
	for (unsigned i = 0; i < 100; i++) {
		held[i] = hold("", i);
		assert_string_equal(held[i]->container.name, "");
		assert_true(containers.waited_ns <= CONTAINERS_TURN_NS);
	}
	assert_int_equal(containers.waited_ns, CONTAINERS_TURN_NS);
	assert_true(containers_are_asked(&containers));
	assert_false(containers_settle(&containers, 1, 0));
	assert_int_equal(containers.waited_ns, CONTAINERS_TURN_NS);
	containers_begin_turn(&containers);
	hold("", 0); /* is known, and not waited for again */
	assert_int_equal(containers.waited_ns, 0);

	settle();
	for (unsigned i = 0; i < 100; i++) {
		assert_string_equal(held[i]->container.name, "web");
		assert_int_equal(held[i]->version, 1);
	}
	assert_int_equal(containers.changes, 100);
	assert_false(containers_are_asked(&containers));
}

static void a_descriptor_says_that_names_have_come(void **state)
{
	struct container_entry *const entry = hold_first();
	struct pollfd polled = {.fd = containers_fd(&containers), .events = POLLIN};

	assert_int_equal(poll(&polled, 1, 0), 0);
	set_open(true);
	assert_int_equal(poll(&polled, 1, -1), 1);
	assert_string_equal(entry->container.name, "");
	containers_take(&containers, 1);
	assert_string_equal(entry->container.name, "web");
	assert_int_equal(poll(&polled, 1, 0), 0);
}

static void a_name_that_comes_soon_is_there_at_once(void **state)
{
	unsigned named = 0;

	set_open(true);
	for (unsigned i = 0; i < 100; i++)
		named += hold("", i)->container.name[0] != '\0';
	print_message("%u of 100 names at once\n", named);
	assert_true(named > 0); /* on a busy host the thread has to wait for its turn */
	settle();
}

static void nobody_is_waited_for_after_a_user_has_been_in_vain(void **state)
{
	containers_begin_turn(&containers);
	hold("user-1:", 0);
	assert_int_equal(containers.waited_ns, CONTAINERS_WAIT_NS);
	assert_true(containers.pause_until_ns > 0);
	containers.pause_until_ns = UINT64_MAX;
	containers_begin_turn(&containers);
	hold("user-1:", 1);
	hold("user-2:", 2);
	hold("in-0123456789ab:", 3);
	assert_int_equal(containers.waited_ns, 0);
	hold("", 4);
	assert_int_equal(containers.waited_ns, CONTAINERS_WAIT_NS);
	settle();
}

static void roots_names_come_before_those_of_a_user_with_many(void **state)
{
	hold_first();
	for (unsigned i = 0; i < 300; i++)
		hold("user-1:", i);
	hold("", 1);
	hold("", 2);
	settle();
	check_order(1, "", 1);
	check_order(2, "", 2);
	check_order(3, "user-1:", 0);
	check_order(4, "user-1:", 1);
}

static void who_has_cost_much_time_comes_last(void **state)
{
	slow = "user-1:";
	set_open(true);
	hold("user-1:", 0);
	settle();
	set_open(false);
	hold("user-3:", 0);
	wait_for_reads(2);
	containers_begin_turn(&containers);
	containers.waited_ns = CONTAINERS_TURN_NS;
	hold("user-1:", 1);
	hold("user-1:", 2);
	hold("user-2:", 3);
	hold("", 4);
	settle();
	check_order(2, "", 4);
	check_order(3, "user-2:", 3);
	check_order(4, "user-1:", 1);
	check_order(5, "user-1:", 2);
}

static void a_slow_container_of_roots_leaves_time_to_users(void **state)
{
	struct container_entry *first;
	char id[CONTAINER_ID_BYTES];

	snprintf(id, sizeof(id), DIGITS, 0u);
	slow = id;
	set_open(true);
	first = hold("", 0);
	settle();
	set_open(false);
	hold("", 1);
	wait_for_reads(2);
	first->next_ns = 0;
	containers_step(&containers, 1);
	assert_true(first->asked);
	containers.has_turns = true;
	containers.waited_ns = CONTAINERS_TURN_NS;
	hold("user-1:", 2);
	settle();
	wait_for_reads(4);
	check_order(2, "user-1:", 2);
	check_order(3, "", 0);
}

static void an_answer_for_a_forgotten_container_is_dropped(void **state)
{
	size_t bytes;

	containers_release(&containers, hold_first());
	bytes = containers_bytes(&containers);
	containers_release(&containers, hold("", 1));
	assert_true(containers_bytes(&containers) >= bytes + 2 * sizeof(struct container));
	containers.max_bytes = 1;
	containers_step(&containers, 1);
	assert_int_equal(containers.entries.count, 0);
	assert_false(containers_are_asked(&containers));
	containers.max_bytes = 0;
	containers_release(&containers, hold("", 0)); /* anew, with another question */
	settle();
	assert_string_equal(hold("", 0)->container.name, "web");
	assert_int_equal(containers.entries.count, 1);
	assert_int_equal(containers.changes, 1);
}

static void a_reader_that_never_returns_does_not_hold_up_the_end(void **state)
{
	hold_first();
	hold("", 1);
	containers_fini(&containers); /* the gate is shut */
	containers_init(&containers, root, NULL);
}

/* ---- containers that are stopped ---- */

static void make_stopped(void)
{
	static const char *const dirs[] = {"var", "var/lib", "var/lib/docker",
					   "var/lib/docker/containers"};
	char path[512];

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, dirs[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	snprintf(path, sizeof(path), "%s/%s/" DIGITS, root, dirs[3], 7u);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/%s/" DIGITS "/config.v2.json", root, dirs[3], 7u);
	files_write(path, "{\"ID\":\"0000000000000000000000000000000000000000000000000000000000000"
			  "007\",\"Name\":\"/shop\",\"State\":{\"Running\":false}}");
}

static int find_stopped(const char *name, uint64_t for_ns, struct container *ret)
{
	return containers_find_stopped(&containers, name, for_ns, ret);
}

static void a_search_for_a_stopped_container_does_not_hold_a_turn(void **state)
{
	struct container found = {0};

	make_stopped();
	hold_first();
	assert_int_equal(find_stopped("shop", 0, &found), -EAGAIN);
	assert_int_equal(find_stopped("other", 0, &found), -EAGAIN); /* one at a time */
	assert_true(containers_are_asked(&containers));
	assert_int_equal(containers.waited_ns, CONTAINERS_TURN_NS);
	settle();
	while (containers_are_asked(&containers))
		poll(NULL, 0, 1);
	assert_int_equal(find_stopped("shop", 0, &found), 0); /* what was asked before */
	assert_string_equal(found.name, "shop");
	container_fini(&found);
	assert_int_equal(find_stopped("other", LONG_NS, &found), -ENOENT);
	assert_int_equal(find_stopped("shop", LONG_NS, &found), 0);
	container_fini(&found);
}

int main(void)
{
#define TEST(claim) cmocka_unit_test_setup_teardown(claim, start, stop)
	const struct CMUnitTest tests[] = {
		TEST(a_turn_is_not_held_by_names_that_do_not_come),
		TEST(a_descriptor_says_that_names_have_come),
		TEST(a_name_that_comes_soon_is_there_at_once),
		TEST(nobody_is_waited_for_after_a_user_has_been_in_vain),
		TEST(roots_names_come_before_those_of_a_user_with_many),
		TEST(who_has_cost_much_time_comes_last),
		TEST(a_slow_container_of_roots_leaves_time_to_users),
		TEST(an_answer_for_a_forgotten_container_is_dropped),
		TEST(a_reader_that_never_returns_does_not_hold_up_the_end),
		TEST(a_search_for_a_stopped_container_does_not_hold_a_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
