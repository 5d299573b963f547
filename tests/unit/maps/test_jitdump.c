// SPDX-License-Identifier: Apache-2.0
/* Claims about maps/jitdump.h and maps/jitdump_target.h, each in a directory of its own. */
#include "maps/jitdump_target.h"

#include "base/clock.h"
#include "common/child.h"
#include "common/temp_dir.h"
#include "jitdump_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIME 123456789
#define PAGE 4096

static char dir[TEMP_DIR_BYTES], path[128];
static struct jitdump *dump;
static struct jitdump_reader reader;
static uint8_t code[64];
static uint64_t used_bytes;

/* ---- helpers ---- */

static int set_up(void **state)
{
	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, (int)getpid());
	memset(code, 0xc3, sizeof(code));
	used_bytes = 0;
	return jitdump_open(dir, JITDUMP_MAX_BYTES, &dump);
}

static int tear_down(void **state)
{
	jitdump_close(dump);
	free(reader.bytes);
	reader = (struct jitdump_reader){0};
	dump = NULL;
	unlink(path);
	temp_dir_remove_empty(dir);
	return 0;
}

static void end_dump(void)
{
	jitdump_close(dump);
	dump = NULL;
	free(reader.bytes);
	jitdump_reader_read(&reader, dir);
}

static struct code_range range_of(const void *addr, uint32_t size)
{
	return (struct code_range){
		.addr = (uintptr_t)addr,
		.size = size,
		.dump_index = jitdump_number(dump),
		.class_name = "com/acme/Main",
		.name = "run",
	};
}

static int add_of(pid_t pid, const void *addr, uint32_t size)
{
	const struct code_range range = range_of(addr, size);
	const struct jitdump_load load = {.pid = pid, .time_ns = TIME, .range = &range};

	return jitdump_add_load(dump, &load, &used_bytes);
}

static int add(void)
{
	return add_of(getpid(), code, sizeof(code));
}

static void check_stats(uint64_t written, uint64_t skipped)
{
	struct jitdump_stats stats;

	jitdump_stats(dump, &stats);
	assert_int_equal(stats.written, written);
	assert_int_equal(stats.skipped, skipped);
}

static void check_last_is_close(void)
{
	const struct jitdump_record *last = &reader.records[reader.n_records - 1];

	assert_true(reader.n_records > 0);
	assert_int_equal(last->id, 3);
	assert_int_equal(last->total_size, 16);
}

static bool is_mapped_for_execution(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	bool found = false;
	char line[512];

	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps))
		found = strstr(line, "r-xp 00000000") && strstr(line, path);
	fclose(maps);
	return found;
}

/* ---- what is written ---- */

static void header_is_as_perf_reads_it(void **state)
{
	end_dump();
	assert_int_equal(u32_at(reader.bytes, 0), 0x4A695444);
	assert_int_equal(u32_at(reader.bytes, 4), 1);
	assert_int_equal(u32_at(reader.bytes, 8), 40);
	assert_int_equal(u32_at(reader.bytes, 12), 62); /* EM_X86_64 */
	assert_int_equal(u32_at(reader.bytes, 16), 0);
	assert_int_equal(u32_at(reader.bytes, 20), getpid());
	assert_in_range(u64_at(reader.bytes, 24), 1, clock_now_ns());
	assert_int_equal(u64_at(reader.bytes, 32), 0);
	assert_int_equal(reader.n_records, 1);
	check_last_is_close();
}

static void load_has_process_time_name_and_that_processs_code(void **state)
{
	uint8_t theirs[sizeof(code)];
	pid_t child;

	memset(code, 0x90, sizeof(code));
	memcpy(theirs, code, sizeof(code));
	child = child_start();
	memset(code, 0xcc, sizeof(code)); /* ours alone */
	assert_int_equal(add_of(child, code, sizeof(code)), 0);
	child_end(child);
	check_stats(1, 0);
	end_dump();
	assert_int_equal(reader.n_records, 2);
	check_load(&reader, 0, child, TIME, "Lcom/acme/Main;::run", code, theirs, sizeof(theirs));
	check_last_is_close();
}

static void loads_are_numbered_in_their_order(void **state)
{
	uint64_t first;

	for (int i = 0; i < 3; i++)
		assert_int_equal(add(), 0);
	end_dump();
	first = u64_at(reader.records[0].body, 32);
	assert_int_equal(u64_at(reader.records[1].body, 32), first + 1);
	assert_int_equal(u64_at(reader.records[2].body, 32), first + 2);
}

static void source_lines_come_before_their_code(void **state)
{
	const struct jitdump_line lines[] = {
		{(uintptr_t)code, 7, "Main.java"},
		{(uintptr_t)code + 8, 11, "Util.java"},
	};
	const struct code_range range = range_of(code, sizeof(code));
	const struct jitdump_load load = {
		.pid = getpid(), .time_ns = TIME, .range = &range, .lines = lines, .n_lines = 2};
	const uint8_t *body;

	assert_int_equal(jitdump_add_load(dump, &load, &used_bytes), 0);
	end_dump();
	assert_int_equal(reader.n_records, 3);
	assert_int_equal(reader.records[0].id, 2);
	assert_int_equal(reader.records[0].total_size, 16 + 16 + 2 * (16 + 10));
	body = reader.records[0].body;
	assert_int_equal(u64_at(body, 0), (uintptr_t)code);
	assert_int_equal(u64_at(body, 8), 2);
	assert_int_equal(u64_at(body, 16), (uintptr_t)code);
	assert_int_equal(u32_at(body, 24), 7);
	assert_string_equal(body + 32, "Main.java");
	assert_int_equal(u64_at(body, 42), (uintptr_t)code + 8);
	assert_int_equal(u32_at(body, 50), 11);
	assert_string_equal(body + 58, "Util.java");
	check_load(&reader, 1, getpid(), TIME, "Lcom/acme/Main;::run", code, code, sizeof(code));
}

/* Names of files are from the JVM, and perf prints them. */
static void source_files_have_no_characters_that_harm(void **state)
{
	const struct jitdump_line lines[] = {
		{(uintptr_t)code, 7,
		 "a\n\x1b\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xff\xc3\xa9.java"},
		{(uintptr_t)code + 8, 11, "Util.java"},
	};
	const struct code_range range = range_of(code, sizeof(code));
	const struct jitdump_load load = {
		.pid = getpid(), .time_ns = TIME, .range = &range, .lines = lines, .n_lines = 2};
	const uint8_t *body;

	assert_int_equal(jitdump_add_load(dump, &load, &used_bytes), 0);
	end_dump();
	body = reader.records[0].body;
	assert_string_equal(body + 32, "a???????\xc3\xa9.java");
	assert_string_equal(body + 32 + sizeof("a???????\xc3\xa9.java") + 16, "Util.java");
	check_load(&reader, 1, getpid(), TIME, "Lcom/acme/Main;::run", code, code, sizeof(code));
}

static void source_lines_without_end_are_cut(void **state)
{
	enum { COUNT = JITDUMP_MAX_LINE_BYTES / 16 };
	struct jitdump_line *lines = calloc(COUNT, sizeof(*lines));
	const struct code_range range = range_of(code, sizeof(code));
	const struct jitdump_load load = {.pid = getpid(),
					  .time_ns = TIME,
					  .range = &range,
					  .lines = lines,
					  .n_lines = COUNT};

	assert_non_null(lines);
	for (size_t i = 0; i < COUNT; i++)
		lines[i] = (struct jitdump_line){(uintptr_t)code, 1, "Main.java"};
	assert_int_equal(jitdump_add_load(dump, &load, &used_bytes), 0);
	free(lines);
	end_dump();
	assert_in_range(reader.records[0].total_size, JITDUMP_MAX_LINE_BYTES - 26,
			JITDUMP_MAX_LINE_BYTES);
	check_load(&reader, 1, getpid(), TIME, "Lcom/acme/Main;::run", code, code, sizeof(code));
}

static void repeat_is_a_move_of_the_load_to_its_own_place(void **state)
{
	const struct code_range range = range_of(code, sizeof(code));
	struct jitdump_load load = {.pid = getpid(), .time_ns = TIME, .range = &range};
	const uint8_t *body;

	assert_int_equal(jitdump_add_load(dump, &load, &used_bytes), 0);
	load.time_ns = TIME + 5;
	assert_int_equal(jitdump_add_repeat(dump, &load, &used_bytes), 0);
	check_stats(1, 0);
	end_dump();
	assert_int_equal(reader.records[1].id, 1);
	assert_int_equal(reader.records[1].time_ns, TIME + 5);
	assert_int_equal(reader.records[1].total_size, 64);
	body = reader.records[1].body;
	assert_int_equal(u32_at(body, 0), getpid());
	for (size_t offset = 8; offset <= 24; offset += 8)
		assert_int_equal(u64_at(body, offset), (uintptr_t)code);
	assert_int_equal(u64_at(body, 32), sizeof(code));
	assert_int_equal(u64_at(body, 40), u64_at(reader.records[0].body, 32));
}

/* ---- when ---- */

static void load_is_flushed_after_100_ms(void **state)
{
	uint64_t due, before;
	struct stat st;

	assert_int_equal(jitdump_due_ns(dump), 0);
	before = clock_now_ns();
	assert_int_equal(add(), 0);
	due = jitdump_due_ns(dump);
	assert_in_range(due, before + 100 * CLOCK_NS_PER_MS,
			clock_now_ns() + 100 * CLOCK_NS_PER_MS);
	jitdump_step(dump, due - 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 40);
	jitdump_step(dump, due);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 40 + 56 + strlen("Lcom/acme/Main;::run") + 1 + sizeof(code));
	assert_int_equal(jitdump_due_ns(dump), 0);
}

/* ---- what cannot be written ---- */

static void dead_process_is_counted(void **state)
{
	const pid_t child = child_start();

	child_end(child);
	assert_int_equal(add_of(child, code, sizeof(code)), -ESRCH);
	check_stats(0, 1);
	assert_int_equal(add(), 0);
	check_stats(1, 1);
	end_dump();
	assert_int_equal(reader.n_records, 2);
}

static void process_that_may_not_be_read_is_counted(void **state)
{
	const pid_t child = fork();

	if (child == 0) {
		struct jitdump_stats stats;
		const bool is_root = geteuid() == 0;

		if (is_root && !child_becomes_nobody())
			_exit(2);
		if (add_of(1, code, sizeof(code)) != -EPERM) /* init is root's */
			_exit(1);
		jitdump_stats(dump, &stats);
		_exit(stats.skipped == 1 && stats.written == 0 ? 0 : 1);
	}
	child_check(child);
}

static void code_that_is_not_all_there_is_counted(void **state)
{
	uint8_t *two =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(two, MAP_FAILED);
	assert_int_equal(munmap(two + PAGE, PAGE), 0);
	assert_int_equal(add_of(getpid(), two + PAGE - 8, 16), -EFAULT);
	assert_int_equal(add_of(getpid(), NULL, 16), -EFAULT);
	munmap(two, PAGE);
	check_stats(0, 2);
	end_dump();
	assert_int_equal(reader.n_records, 1);
}

static void code_larger_than_any_is_counted(void **state)
{
	assert_int_equal(add_of(getpid(), code, JITDUMP_MAX_CODE_BYTES + 1), -EFBIG);
	check_stats(0, 1);
}

static void process_gets_no_more_than_its_share(void **state)
{
	assert_int_equal(add(), 0);
	assert_int_equal(used_bytes, 56 + strlen("Lcom/acme/Main;::run") + 1 + sizeof(code));
	used_bytes = JITDUMP_MAX_PROCESS_BYTES;
	assert_int_equal(add(), -EFBIG);
	check_stats(1, 1);
}

static void file_at_its_limit_ends_with_a_whole_record(void **state)
{
	jitdump_close(dump);
	assert_int_equal(jitdump_open(dir, 600, &dump), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(add(), 0);
	assert_int_equal(add(), -ENOSPC);
	assert_int_equal(add(), -ENOSPC);
	check_stats(3, 2);
	assert_int_equal(jitdump_due_ns(dump), 0);
	end_dump();
	assert_int_equal(reader.n_records, 3);
	assert_true(reader.size <= 600);
}

static void full_disk_ends_it_with_a_whole_record_and_is_counted(void **state)
{
	struct rlimit old, tiny;

	assert_int_equal(add(), 0);
	jitdump_step(dump, jitdump_due_ns(dump));
	assert_int_equal(add(), 0);
	assert_int_equal(add(), 0);
	check_stats(3, 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	tiny = (struct rlimit){.rlim_cur = 400, .rlim_max = old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
	jitdump_step(dump, jitdump_due_ns(dump));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	check_stats(1, 2);
	assert_int_equal(add(), -ENOSPC);
	check_stats(1, 3);
	end_dump();
	assert_int_equal(reader.n_records, 1);
}

/* ---- the file ---- */

static void perf_can_find_it_until_it_is_closed(void **state)
{
	assert_true(is_mapped_for_execution());
	end_dump();
	assert_false(is_mapped_for_execution());
}

static void file_is_its_users_alone(void **state)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void directory_that_cannot_be_used_is_an_error(void **state)
{
	struct jitdump *none = NULL;

	assert_int_equal(jitdump_open("/nonexistent/fg", JITDUMP_MAX_BYTES, &none), -ENOENT);
	assert_int_equal(jitdump_open("/dev/null", JITDUMP_MAX_BYTES, &none), -ENOTDIR);
	assert_true(jitdump_open("/proc/self", JITDUMP_MAX_BYTES, &none) < 0);
	assert_null(none);
}

static void dump_of_a_process_that_had_our_pid_is_replaced(void **state)
{
	assert_int_equal(add(), 0);
	end_dump();
	assert_int_equal(reader.n_records, 2);
	assert_int_equal(jitdump_open(dir, JITDUMP_MAX_BYTES, &dump), 0);
	end_dump();
	assert_int_equal(reader.n_records, 1);
}

static void what_is_no_dump_of_ours_stays(void **state)
{
	static const char text[] = "precious, and longer than the header of a dump would be";
	char target[128], got[sizeof(text)] = "";
	int fd;

	end_dump();
	snprintf(target, sizeof(target), "%s/target", dir);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink("target", path), 0);
	assert_int_equal(jitdump_open(dir, JITDUMP_MAX_BYTES, &dump), -EEXIST);
	assert_int_equal(unlink(path), 0);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	assert_int_equal(jitdump_open(dir, JITDUMP_MAX_BYTES, &dump), -EEXIST);
	assert_int_equal(pread(fd, got, sizeof(got), 0), sizeof(text));
	close(fd);
	assert_string_equal(got, text);
	assert_int_equal(unlink(target), 0);
}

/* ---- heaps that grow ---- */

/* Room for three pages, of which the first and the last are there. */
static uint8_t *make_heap(void)
{
	uint8_t *heap = mmap(NULL, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(heap, MAP_FAILED);
	assert_int_equal(mprotect(heap, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	assert_int_equal(mprotect(heap + 4 * PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	return heap;
}

static void load_into(struct jitdump_target *target, struct code_map *map, const uint8_t *addr)
{
	struct code_range range = range_of(addr, 32);

	assert_int_equal(code_map_add(map, &range, false), 1);
	jitdump_target_add(target, getpid(), &range, TIME, clock_now_ns());
}

static void step(struct jitdump_target *target, const struct code_map *map)
{
	jitdump_target_step(target, getpid(), map, jitdump_target_due_ns(target));
}

static void code_is_said_again_when_its_heap_has_grown(void **state)
{
	struct jitdump_target target = {.dump = dump};
	uint8_t *heap = make_heap();
	struct code_map *map;
	uint64_t grew_ns;

	assert_int_equal(code_map_new(&map), 0);
	load_into(&target, map, heap);
	load_into(&target, map, heap + 4 * PAGE);
	step(&target, map); /* both, for nothing was known before */
	assert_int_equal(jitdump_target_due_ns(&target), 0);
	load_into(&target, map, heap + 64);
	assert_int_equal(jitdump_target_due_ns(&target), 0); /* within what is known */
	assert_int_equal(mprotect(heap + PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	grew_ns = clock_now_ns();
	load_into(&target, map, heap + PAGE - 16); /* the end of it is beyond */
	assert_true(jitdump_target_due_ns(&target) > 0);
	step(&target, map);
	jitdump_target_fini(&target);
	code_map_free(map);
	end_dump();
	munmap(heap, 5 * PAGE);
	assert_int_equal(reader.n_records, 2 + 2 + 2 + 3 + 1);
	for (size_t i = 6; i < 9; i++) { /* not what lies in the heap that did not grow */
		assert_int_equal(reader.records[i].id, 1);
		assert_in_range(reader.records[i].time_ns, grew_ns, clock_now_ns());
		assert_in_range(u64_at(reader.records[i].body, 8), (uintptr_t)heap,
				(uintptr_t)heap + PAGE);
	}
}

static void nothing_is_said_without_a_dump(void **state)
{
	struct jitdump_target target = {0};
	const struct code_range range = {.addr = (uintptr_t)code, .size = sizeof(code)};

	assert_int_equal(jitdump_target_number(&target), 0);
	jitdump_target_add(&target, getpid(), &range, TIME, 1);
	assert_int_equal(jitdump_target_due_ns(&target), 0);
	jitdump_target_fini(&target);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(header_is_as_perf_reads_it),
		CLAIM(load_has_process_time_name_and_that_processs_code),
		CLAIM(loads_are_numbered_in_their_order),
		CLAIM(source_lines_come_before_their_code),
		CLAIM(source_files_have_no_characters_that_harm),
		CLAIM(source_lines_without_end_are_cut),
		CLAIM(repeat_is_a_move_of_the_load_to_its_own_place),
		CLAIM(load_is_flushed_after_100_ms),
		CLAIM(dead_process_is_counted),
		CLAIM(process_that_may_not_be_read_is_counted),
		CLAIM(code_that_is_not_all_there_is_counted),
		CLAIM(code_larger_than_any_is_counted),
		CLAIM(process_gets_no_more_than_its_share),
		CLAIM(file_at_its_limit_ends_with_a_whole_record),
		CLAIM(full_disk_ends_it_with_a_whole_record_and_is_counted),
		CLAIM(perf_can_find_it_until_it_is_closed),
		CLAIM(file_is_its_users_alone),
		CLAIM(directory_that_cannot_be_used_is_an_error),
		CLAIM(dump_of_a_process_that_had_our_pid_is_replaced),
		CLAIM(what_is_no_dump_of_ours_stays),
		CLAIM(code_is_said_again_when_its_heap_has_grown),
		CLAIM(nothing_is_said_without_a_dump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
