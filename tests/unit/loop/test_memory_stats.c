// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about loop/memory_stats.h: what the pools that all share say of themselves is at least
 * nine tenths of what malloc has given for them, and no more than that and a tenth. The limit of
 * memory is read again.
 */
#include "loop/memory_stats.h"

#include "common/charged.h"
#include "common/files.h"
#include "common/temp_dir.h"
#include "loop/engine.h"
#include "profile/window.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/parsers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB    (1u << 20)
#define NOBODY 5000000 /* no process has such a PID */
#define VICTIM 6000000
#define GREEDY 7000000

static char dir[TEMP_DIR_BYTES];

static void check_charged(size_t accounted, size_t least)
{
	const size_t given = charged_given();

	print_message("%zu KiB given, %zu KiB accounted\n", given >> 10, accounted >> 10);
	if (!charged_can_count())
		return;
	assert_true(given > least);
	assert_true(accounted >= given / 10 * 9);
	assert_true(accounted <= given / 10 * 11);
}

static void symbols_of_the_kernel_are_accounted(void **state)
{
	const size_t size = 16 * MIB;
	char *text = malloc(size), path[TEMP_DIR_BYTES + 16];
	struct kernel_symbols *symbols;
	size_t len = 0;

	(void)state;
	for (unsigned i = 0; i < 100000; i++)
		len += (size_t)snprintf(text + len, size - len,
					"ffffffff%08x t a_function_of_the_kernel_%u\t[module_%u]\n",
					i * 64, i, i / 1000);
	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	files_write(path, text);
	free(text);
	charged_begin();
	assert_int_equal(kernel_symbols_load_from(path, &symbols), 0);
	assert_int_equal(kernel_symbols_count(symbols), 100000);
	check_charged(kernel_symbols_bytes(symbols), 2 * MIB);
	assert_int_equal(kernel_symbols_loading_bytes(), 0);
	kernel_symbols_free(symbols);
}

static struct owner owner_of(void *arg, pid_t pid)
{
	(void)arg;
	return (struct owner){.user = (uint64_t)pid / 1000000};
}

static size_t file_bytes(const struct table_cache *tables)
{
	struct table_cache_stats stats;

	table_cache_stats(tables, &stats);
	return stats.bytes;
}

static void see(struct table_cache *tables, pid_t pid, unsigned n)
{
	const struct mapping mapping = {.start = 0x600000000000 + n * UINT64_C(8192),
					.end = 0x600000001000 + n * UINT64_C(8192),
					.inode = n + 1,
					.path = "/nonexistent/library"};

	table_cache_see(tables, pid, &mapping);
}

static void mappings_are_accounted(void **state)
{
	struct table_cache *tables;

	(void)state;
	assert_int_equal(table_cache_new(64 * MIB, false, &tables), 0);
	charged_begin();
	for (unsigned i = 0; i < 30000; i++)
		see(tables, NOBODY + (pid_t)(i % 100), i);
	check_charged(file_bytes(tables), MIB);
	for (pid_t pid = NOBODY; pid < NOBODY + 100; pid++)
		table_cache_forget(tables, pid);
	assert_true(file_bytes(tables) < MIB + MIB / 4); /* the slots of its maps */
	table_cache_free(tables);
}

static void files_are_accounted(void **state)
{
	struct table_cache *tables;
	char path[TEMP_DIR_BYTES + 32];
	struct stat st;

	(void)state;
	assert_int_equal(table_cache_new(64 * MIB, false, &tables), 0);
	charged_begin();
	for (unsigned i = 0; i < 3000; i++) {
		struct mapping mapping = {.start = 0x600000000000 + i * UINT64_C(8192),
					  .end = 0x600000001000 + i * UINT64_C(8192),
					  .path = path};

		snprintf(path, sizeof(path), "%s/library%u", dir, i);
		files_write(path, "x");
		assert_int_equal(stat(path, &st), 0);
		mapping.inode = st.st_ino;
		mapping.dev_major = major(st.st_dev);
		mapping.dev_minor = minor(st.st_dev);
		table_cache_see(tables, getpid(), &mapping);
	}
	check_charged(file_bytes(tables), MIB);
	table_cache_free(tables);
}

static uint64_t tries(const struct table_cache *tables)
{
	struct table_cache_stats stats;

	table_cache_stats(tables, &stats);
	return stats.opened + stats.unopened;
}

static void the_owner_with_the_most_mappings_makes_room(void **state)
{
	struct table_cache_stats stats;
	struct table_cache *tables;
	uint64_t before;

	(void)state;
	assert_int_equal(table_cache_new(64 * MIB, false, &tables), 0);
	table_cache_set_owner(tables, owner_of, NULL);
	table_cache_set_limits(tables, 64 * MIB, MIB / 2);
	for (unsigned i = 0; i < 1000; i++)
		see(tables, VICTIM + (pid_t)(i % 10), i);
	for (unsigned i = 0; i < 20000; i++)
		see(tables, GREEDY + (pid_t)(i % 10), i);
	table_cache_stats(tables, &stats);
	assert_true(stats.forgotten > 1);
	assert_true(stats.bytes <= MIB / 2 + MIB / 4); /* a map's slots double at once */
	before = tries(tables);
	for (unsigned i = 0; i < 1000; i++)
		see(tables, VICTIM + (pid_t)(i % 10), i);
	assert_int_equal(tries(tables), before);
	table_cache_set_limits(tables, 64 * MIB, MIB / 4); /* lowered */
	see(tables, GREEDY, 100000);
	assert_true(file_bytes(tables) <= MIB / 4);
	table_cache_free(tables);
}

static void fill(struct window *window, unsigned n)
{
	const struct profile_quality flaws = {0};
	char name[64];

	for (unsigned i = 0; i < n; i++) {
		const uint64_t now_ns = 1000 + i * UINT64_C(1000);
		struct timeline *timeline = window_timeline(window, now_ns);
		const struct timeline_process process = {.pid = (pid_t)i + 1, .title = "Main"};
		const struct timeline_thread thread = {.process =
							       timeline_process(timeline, &process),
						       .tid = (pid_t)i + 1,
						       .name = "main"};
		const struct frame frame = {.name = name, .kind = FRAME_JIT};
		const struct window_sample sample = {.time_ns = now_ns,
						     .frames = &frame,
						     .n_frames = 1,
						     .weight = 1,
						     .thread = timeline_thread(timeline, &thread),
						     .flaws = &flaws};

		snprintf(name, sizeof(name), "a.method.with.a.name.number%u", i);
		assert_int_equal(window_add(window, &sample), 0);
	}
}

static void a_window_is_accounted(void **state)
{
	struct window window;

	(void)state;
	charged_begin();
	assert_int_equal(window_init(&window, 1000, 10), 0);
	fill(&window, 60000);
	check_charged(window_bytes(&window), 4 * MIB);
	window_fini(&window);
}

static void a_window_keeps_its_limit(void **state)
{
	struct window_copy sum;
	struct window window;

	(void)state;
	assert_int_equal(window_init(&window, 1000, 10), 0);
	window_set_max_bytes(&window, 2 * MIB);
	fill(&window, 60000);
	window_sum(&window, &sum);
	assert_int_equal(sum.quality.samples, 60000);
	assert_true(sum.quality.overflow_samples > 30000);
	assert_true(profile_bytes(&window.generations[0].profile) < 2 * MIB);
	window_set_max_bytes(&window, MIB); /* lowered: no more comes to it */
	window_fini(&window);
}

/* An engine gives up rights for good, so a process of its own has the engine. */
#define ensure(claim)                                                                              \
	do {                                                                                       \
		if (!(claim)) {                                                                    \
			fprintf(stderr, "not so: %s\n", #claim);                                   \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void follow_the_limit(void)
{
	char own[TEMP_DIR_BYTES + 16], meminfo[TEMP_DIR_BYTES + 16], limit[TEMP_DIR_BYTES + 16],
		sock[TEMP_DIR_BYTES + 16];
	const struct budget_files files = {
		.own = own, .meminfo = meminfo, .v1 = dir, .v2 = dir, .hybrid = dir};
	const struct engine_options options = {
		.socket_path = sock, .map_dir = dir, .budget_files = &files};
	struct table_cache_stats table_stats;
	struct memory_stats memory;
	struct engine engine;

	snprintf(own, sizeof(own), "%s/own", dir);
	snprintf(meminfo, sizeof(meminfo), "%s/meminfo", dir);
	snprintf(limit, sizeof(limit), "%s/memory.max", dir);
	snprintf(sock, sizeof(sock), "%s/sock", dir);
	files_write(own, "0::/\n");
	files_write(meminfo, "MemTotal: 67108864 kB\n");
	files_write(limit, "1073741824\n");
	ensure(engine_open(&engine, &options) == 0);
	ensure(engine.budget.bytes == 768 * MIB);
	files_write(limit, "268435456\n");
	engine_step(&engine, 0);
	ensure(engine.budget.bytes == 768 * MIB); /* not within a minute */
	engine.budget_next_ns = 0;
	engine_step(&engine, 0);
	ensure(engine.budget.bytes == 192 * MIB);
	engine_memory_stats(&engine, &memory);
	table_cache_stats(engine.tables, &table_stats);
	ensure(memory.limit == 192 * MIB);
	ensure(table_stats.max_bytes == 192 * MIB / 8);
	ensure(engine.targets.foreign.max_bytes == 192 * MIB / 8);
	ensure(engine.targets.containers.max_bytes == 192 * MIB / 64);
	ensure(engine.targets.max_bytes <= 192 * MIB);
	files_write(limit, "max\n");
	engine.budget_next_ns = 0;
	engine_step(&engine, 0);
	ensure(engine.budget.bytes == BUDGET_MOST);
	engine_close(&engine);
}

static void a_limit_that_is_changed_is_taken(void **state)
{
	const pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		follow_the_limit();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int set_up(void **state)
{
	(void)state;
	temp_dir_make(dir);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	temp_dir_remove(dir);
	return 0;
}

#define MEMORY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		MEMORY_TEST(symbols_of_the_kernel_are_accounted),
		MEMORY_TEST(mappings_are_accounted),
		MEMORY_TEST(files_are_accounted),
		MEMORY_TEST(the_owner_with_the_most_mappings_makes_room),
		MEMORY_TEST(a_window_is_accounted),
		MEMORY_TEST(a_window_keeps_its_limit),
		MEMORY_TEST(a_limit_that_is_changed_is_taken),
	};

	zygote_become(argc, argv, parser_roles);
	return cmocka_run_group_tests_name("memory_stats", tests, NULL, NULL);
}
