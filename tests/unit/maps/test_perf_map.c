// SPDX-License-Identifier: Apache-2.0
/* Claims about maps/perf_map.h, each in a directory of its own. */
#include "maps/perf_map.h"

#include "whole_map.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/root_file.h"
#include "code/inline_table.h"
#include "common/child.h"
#include "common/files.h"
#include "common/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PID	 424242
#define MAP_NAME "perf-424242.map"
#define BESIDE	 MAP_NAME ".fgcollect"
#define MARKER	 "0 0 fg\n"
#define MAX_TEXT (64u << 20)

struct fixture {
	char dir[TEMP_DIR_BYTES];
	char path[128]; /* the last that path_of made */
	struct code_map *map;
};

/* ---- helpers ---- */

static const char *path_of(struct fixture *f, const char *name)
{
	snprintf(f->path, sizeof(f->path), "%s/%s", f->dir, name);
	return f->path;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	temp_dir_make(f->dir);
	*state = f;
	return code_map_new(&f->map);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	temp_dir_remove(f->dir);
	code_map_free(f->map);
	free(f);
	return 0;
}

static void add_stub(struct fixture *f, uint64_t addr, uint32_t size, const char *name)
{
	const struct code_range range = {.addr = addr, .size = size, .name = name};

	assert_int_equal(code_map_add(f->map, &range, false), 1);
}

static void add_method(struct fixture *f, uint64_t addr, const char *class_name, const char *name)
{
	const struct code_range range = {
		.addr = addr,
		.size = 0x40,
		.kind = CODE_JAVA,
		.class_name = class_name,
		.name = name,
		.signature = "()V",
	};

	assert_int_equal(code_map_add(f->map, &range, false), 1);
}

static void check_file(struct fixture *f, const char *name, const char *text)
{
	_cleanup_free_ char *got = NULL;

	assert_true(file_read_whole(path_of(f, name), MAX_TEXT, &got) >= 0);
	assert_string_equal(got, text);
}

static void write_file(struct fixture *f, const char *name, const char *text)
{
	files_write(path_of(f, name), text);
}

static size_t file_count(const struct fixture *f)
{
	DIR *dir = opendir(f->dir);
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

/* ---- contents ---- */

static void lines_rise_and_name_methods_as_perf_users_know_them(void **state)
{
	struct fixture *f = *state;

	add_stub(f, 0x7f00deadbee0, 0x120, "vtable stub");
	add_method(f, 0x7f0000001000, "java/lang/String", "hashCode");
	add_method(f, 0x7f0000002000, "Main$$Lambda/0x00007f", "lambda$main$0");
	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	check_file(f, MAP_NAME,
		   MARKER "7f0000001000 40 Ljava/lang/String;::hashCode\n"
			  "7f0000002000 40 LMain$$Lambda/0x00007f;::lambda$main$0\n"
			  "7f00deadbee0 120 vtable stub\n");
}

static void dead_code_stays_until_its_place_is_taken(void **state)
{
	struct fixture *f = *state;

	add_stub(f, 0x1000, 0x100, "dead");
	add_stub(f, 0x2000, 0x100, "replaced");
	code_map_remove(f->map, 0x1000, 10);
	code_map_remove(f->map, 0x2000, 10);
	add_stub(f, 0x20ff, 1, "newcomer");
	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	check_file(f, MAP_NAME, MARKER "1000 100 dead\n2000 ff replaced\n20ff 1 newcomer\n");
}

static void names_cannot_forge_lines(void **state)
{
	struct fixture *f = *state;

	add_stub(f, 0x1000, 1, "a\nffff 1 forged\r\t\x1b[0m\x7f.");
	add_method(f, 0x2000, "a\nb", "c\nd \xc3\xa9\xe2\x80\xa8");
	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	check_file(f, MAP_NAME,
		   MARKER "1000 1 a?ffff 1 forged???[0m?.\n2000 40 La?b;::c?d \xc3\xa9?\n");
}

static void names_that_perf_would_skip_are_made_longer(void **state)
{
	struct fixture *f = *state;

	add_stub(f, 0x1000, 1, "abc");
	add_stub(f, 0x1001, 1, "ab");
	add_stub(f, 0x1002, 1, "a");
	add_stub(f, 0x1003, 1, "");
	add_stub(f, 0x1004, 1, NULL);
	add_method(f, 0x2000, "", "");
	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	check_file(f, MAP_NAME,
		   MARKER "1000 1 abc\n1001 1 ab()\n1002 1 a()\n1003 1 [unnamed]\n"
			  "1004 1 [unnamed]\n2000 40 L;::[unnamed]\n");
}

static void maps_longer_than_the_buffer_are_whole(void **state)
{
	enum { COUNT = PERF_MAP_PIECE - 1, LONG = PERF_MAP_MAX_NAME_BYTES };
	struct fixture *f = *state;
	_cleanup_free_ char *name = malloc(LONG + 1), *got = NULL;
	const char *at;
	ssize_t len;

	assert_non_null(name);
	memset(name, 'x', LONG);
	name[LONG] = '\0';
	for (unsigned int i = 0; i < COUNT; i++)
		add_stub(f, 0x100000 + i * 0x100, 0x100, "stub");
	add_stub(f, 0x1000, 0x100, name);
	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	len = file_read_whole(path_of(f, MAP_NAME), MAX_TEXT, &got);
	assert_int_equal(len, strlen(MARKER "1000 100 ") + LONG + 1 +
				      COUNT * strlen("100000 100 stub\n"));
	at = got + strlen(MARKER "1000 100 ") + LONG + 1;
	for (unsigned int i = 0; i < COUNT; i++, at += strlen("100000 100 stub\n")) {
		char line[32];

		snprintf(line, sizeof(line), "%x 100 stub\n", 0x100000 + i * 0x100);
		assert_memory_equal(at, line, strlen(line));
	}
}

/* text: what a line should hold behind "1000 40 ". */
static void check_name(struct fixture *f, const char *text)
{
	_cleanup_free_ char *line = NULL;

	assert_true(strlen(text) <= PERF_MAP_MAX_NAME_BYTES);
	assert_true(asprintf(&line, MARKER "1000 40 %s\n", text) > 0);
	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	check_file(f, MAP_NAME, line);
	code_map_remove(f->map, 0x1000, 1);
}

static void long_names_are_cut_between_characters(void **state)
{
	struct fixture *f = *state;
	char text[1001], expected[600];

	memset(text, 'x', 1000);
	text[1000] = '\0';
	add_method(f, 0x1000, text, "run");
	snprintf(expected, sizeof(expected), "L%.505s;::run", text);
	check_name(f, expected);
	add_method(f, 0x1000, "Main", text);
	snprintf(expected, sizeof(expected), "LMain;::%.504s", text);
	check_name(f, expected);
	add_method(f, 0x1000, text, text);
	snprintf(expected, sizeof(expected), "L%.381s;::%.127s", text, text);
	check_name(f, expected);
	memcpy(text + 511, "\xc3\xa4", 2);
	add_stub(f, 0x1000, 0x40, text);
	snprintf(expected, sizeof(expected), "%.511s", text);
	check_name(f, expected);
}

static void lines_are_in_the_style_that_is_asked_for(void **state)
{
	const struct perf_map_form form = {
		.max_bytes = PERF_MAP_MAX_BYTES,
		.style = {.dotted = true, .signatures = true},
	};
	const struct code_range added = {
		.addr = 0x3000, .size = 1, .class_name = "a/B", .name = "c", .signature = "(I)I"};
	struct fixture *f = *state;
	_cleanup_free_ struct perf_map_draft *draft = malloc(sizeof(*draft));

	assert_non_null(draft);
	add_stub(f, 0x1000, 1, "stub");
	add_method(f, 0x2000, "java/lang/String", "notify");
	assert_int_equal(perf_map_draft(f->dir, PID, f->map, &form, draft), 0);
	perf_map_add(draft, f->map, &added);
	assert_int_equal(perf_map_publish(draft, f->map), 0);
	check_file(f, MAP_NAME,
		   MARKER "1000 1 stub\n2000 40 java.lang.String::notify()V\n"
			  "3000 1 a.B::c(I)I\n");
}

/* outer alone in [0, 8) and [24, 32), inner within it in [8, 16) and [16, 24), by other lines. */
static struct inline_table *nested_table(struct code_methods *store)
{
	const struct wire_method none = {0};
	const struct wire_inline_frame frames[] = {{0, 0}, {1, 4}, {1, 5}, {0, 1}};
	const struct wire_region regions[] = {{8, 1, 0}, {8, 2, 1}, {8, 2, 1}, {8, 1, 0}};
	uint8_t bytes[64];
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};
	struct wire_inline wire = {
		.n_methods = 2, .n_regions = 4, .regions_left = 4, .has_regions = true};
	struct code_method *methods[2];
	struct inline_table *table;

	for (int i = 0; i < 2; i++) {
		const struct code_method names = {.class_name = "a/B",
						  .name = i ? "inner" : "outer"};

		assert_int_equal(code_methods_add(store, &names, &none, &methods[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		wire_encode_inline_region(&buf, &regions[i]);
		wire_encode_inline_frame(&buf, &frames[i]);
	}
	wire.data = buf.data;
	wire.left = buf.len;
	assert_int_equal(inline_table_new(store, methods, &wire, 0x40, &table), 0);
	for (int i = 0; i < 2; i++)
		code_methods_unref(store, methods[i]);
	return table;
}

static void check_unfolded(struct fixture *f, enum perf_map_unfold unfold, const char *expected)
{
	const struct perf_map_form form = {.max_bytes = PERF_MAP_MAX_BYTES,
					   .style = {.unfold = unfold, .dotted = true}};
	_cleanup_free_ struct perf_map_draft *draft = malloc(sizeof(*draft));

	assert_non_null(draft);
	assert_int_equal(perf_map_draft(f->dir, PID, f->map, &form, draft), 0);
	assert_int_equal(perf_map_publish(draft, f->map), 0);
	check_file(f, MAP_NAME, expected);
}

static void inlined_code_has_lines_of_its_own_if_asked_for(void **state)
{
	struct fixture *f = *state;
	struct code_methods store = {0};
	const struct code_range range = {.addr = 0x1000,
					 .size = 0x40,
					 .class_name = "a/B",
					 .name = "outer",
					 .inlines = nested_table(&store)};

	assert_int_equal(code_map_add(f->map, &range, false), 1);
	check_unfolded(f, PERF_MAP_FOLDED, MARKER "1000 40 a.B::outer\n");
	check_unfolded(f, PERF_MAP_UNFOLD_SIMPLE,
		       MARKER "1000 8 a.B::outer\n1008 10 a.B::inner\n1018 28 a.B::outer\n");
	check_unfolded(f, PERF_MAP_UNFOLD,
		       MARKER "1000 8 a.B::outer\n1008 10 a.B::inner in a.B::outer\n"
			      "1018 28 a.B::outer\n");
	check_unfolded(f, PERF_MAP_UNFOLD_ALL,
		       MARKER "1000 8 a.B::outer\n1008 10 a.B::outer->a.B::inner\n"
			      "1018 28 a.B::outer\n");
	code_map_free(f->map); /* before the store of its tables goes */
	assert_int_equal(code_map_new(&f->map), 0);
	assert_int_equal(store.bytes, 0);
}

static void file_that_would_grow_too_large_ends_with_a_whole_line(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *got = NULL;
	ssize_t len, cut;

	for (unsigned int i = 0; i < 10000; i++)
		add_stub(f, 0x100000 + i * 0x100, 0x100, "stub");
	cut = whole_map_write(f->dir, PID, f->map, 100000);
	len = file_read_whole(path_of(f, MAP_NAME), MAX_TEXT, &got);
	assert_in_range(len, 99000, 100000);
	assert_int_equal(got[len - 1], '\n');
	assert_int_equal(len, strlen(MARKER) + (10000 - cut) * strlen("100000 100 stub\n"));
}

static void empty_map_is_written_too(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	check_file(f, MAP_NAME, MARKER);
}

/* ---- the file ---- */

static void file_is_ours_and_readable_by_all(void **state)
{
	struct fixture *f = *state;
	const mode_t mask = umask(0077);
	struct stat st;

	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	umask(mask);
	assert_int_equal(lstat(path_of(f, MAP_NAME), &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(file_count(f), 1);
}

static void rewrite_makes_a_new_file(void **state)
{
	struct fixture *f = *state;
	struct stat before, after;

	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	_cleanup_close_ int fd = open(path_of(f, MAP_NAME), O_RDONLY | O_CLOEXEC);
	add_stub(f, 0x1000, 1, "stub");
	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	assert_int_equal(fstat(fd, &before), 0); /* whoever reads the old one reads on */
	assert_int_equal(before.st_size, strlen(MARKER));
	assert_int_equal(stat(path_of(f, MAP_NAME), &after), 0);
	assert_int_not_equal(before.st_ino, after.st_ino);
	assert_int_equal(file_count(f), 1);
}

static void symlink_in_its_place_is_neither_followed_nor_replaced(void **state)
{
	struct fixture *f = *state;
	char target[128];
	struct stat st;

	write_file(f, "victim", MARKER "precious");
	strcpy(target, path_of(f, "victim"));
	assert_int_equal(symlink(target, path_of(f, MAP_NAME)), 0);
	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	check_file(f, "victim", MARKER "precious");
	assert_int_equal(lstat(path_of(f, MAP_NAME), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	check_file(f, BESIDE, MARKER);
}

static void file_of_another_program_stays_and_ours_is_beside(void **state)
{
	struct fixture *f = *state;

	write_file(f, MAP_NAME, "7000 10 foreign\n");
	for (int i = 0; i < 2; i++) { /* also when there is one of ours to replace */
		assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
		check_file(f, MAP_NAME, "7000 10 foreign\n");
		check_file(f, BESIDE, MARKER);
		assert_int_equal(file_count(f), 2);
	}
}

/* As one of an earlier collector of ours that another program has opened since. */
static void file_of_ours_that_another_program_writes_to_stays(void **state)
{
	struct fixture *f = *state;
	int fd;

	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	fd = open(path_of(f, MAP_NAME), O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	assert_int_equal(write(fd, "7 1 foreign\n", 12), 12);
	check_file(f, MAP_NAME, MARKER "7 1 foreign\n");
	check_file(f, BESIDE, MARKER);
	close(fd);
}

static void both_places_taken_is_an_error(void **state)
{
	struct fixture *f = *state;

	write_file(f, MAP_NAME, "7000 10 foreign\n");
	write_file(f, BESIDE, "precious");
	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), -EEXIST);
	check_file(f, BESIDE, "precious");
	assert_int_equal(file_count(f), 2);
}

/* Puts a file in the place while there are so many free descriptors. */
static int put_with(struct fixture *f, rlim_t descriptors)
{
	static const struct perf_map_name temp = {"temp"}, name = {MAP_NAME};
	struct rlimit before, few;
	int err;
	_cleanup_close_ const int dirfd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const int free_fd = dup(dirfd);

	assert_true(free_fd >= 0);
	close(free_fd);
	write_file(f, temp.text, MARKER);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){(rlim_t)free_fd + descriptors, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	err = perf_map_put(dirfd, &temp, &name, NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	return err;
}

/* Whose the file is was not learnt. */
static void without_a_descriptor_the_place_is_not_said_to_be_taken(void **state)
{
	struct fixture *f = *state;

	write_file(f, MAP_NAME, MARKER "7 1 ours\n");
	assert_int_equal(put_with(f, 0), -EMFILE); /* to find the file */
	assert_int_equal(put_with(f, 1), -EMFILE); /* to read it */
	check_file(f, MAP_NAME, MARKER "7 1 ours\n");
	assert_int_equal(put_with(f, 2), 1);
	check_file(f, MAP_NAME, MARKER);
}

/* The one child of this process. */
static pid_t only_child(void)
{
	char path[64], text[32] = "";

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	return file_read_small(path, text, sizeof(text)) > 0 ? (pid_t)atoi(text) : 0;
}

/*
 * As when no process of the host can fork. Whoever waits for a process that makes a call would wait
 * here for ever.
 */
static void a_place_is_taken_while_no_process_answers(void **state)
{
	static const struct perf_map_name temp = {"temp"}, name = {MAP_NAME};
	struct fixture *f = *state;
	pid_t child;

	write_file(f, MAP_NAME, MARKER "7 1 ours\n");
	write_file(f, temp.text, MARKER);
	child = fork();
	if (child == 0) {
		const int dirfd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		pid_t stopped;
		int left;

		if (reach_start() < 0 ||
		    root_file_open_at(dirfd, MAP_NAME, O_PATH, RESOLVE_BENEATH) < 0)
			_exit(2); /* it has not answered */
		stopped = only_child();
		if (stopped <= 0 || kill(stopped, SIGSTOP) < 0)
			_exit(3);
		left = perf_map_put(dirfd, &temp, &name, NULL);
		kill(stopped, SIGKILL);
		_exit(left != 1);
	}
	child_check(child);
	check_file(f, MAP_NAME, MARKER);
}

static void failed_write_keeps_the_old_map_and_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct rlimit old, tiny;

	add_stub(f, 0x1000, 1, "stub");
	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	for (unsigned int i = 0; i < 1000; i++)
		add_stub(f, 0x2000 + i * 64, 1, "more");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	tiny = (struct rlimit){.rlim_cur = 4096, .rlim_max = old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
	const int err = whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(err, -EFBIG);
	check_file(f, MAP_NAME, MARKER "1000 1 stub\n");
	assert_int_equal(file_count(f), 1);
}

static void place_that_cannot_be_taken_is_an_error(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(whole_map_write("/nonexistent/fg", PID, f->map, PERF_MAP_MAX_BYTES),
			 -ENOENT);
}

/* Anybody may make one in a directory that all may write to. */
static void directory_in_its_place_stays(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkdir(path_of(f, MAP_NAME), 0700), 0);
	assert_int_equal(whole_map_write(f->dir, PID, f->map, PERF_MAP_MAX_BYTES), 0);
	check_file(f, BESIDE, MARKER);
	assert_int_equal(rmdir(path_of(f, MAP_NAME)), 0);
	assert_int_equal(file_count(f), 1);
}

/* ---- shadows ---- */

/* A process whose root is dir, with mounts of its own, until its end of the pipe is closed. */
struct room {
	pid_t pid;
	int door;
};

static void live_in_room(const char *dir, int ready, int door)
{
	char byte = 0;

	if (unshare(CLONE_NEWNS) == 0 && chroot(dir) == 0 && chdir("/") == 0)
		byte = 1;
	if (write(ready, &byte, 1) == 1 && read(door, &byte, 1) < 0)
		_exit(1);
	_exit(0);
}

static bool open_room(const char *dir, struct room *ret)
{
	int ready[2], door[2];
	char byte = 0;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(pipe2(door, O_CLOEXEC), 0);
	ret->pid = fork();
	if (ret->pid == 0) {
		close(door[1]);
		live_in_room(dir, ready[1], door[0]);
	}
	assert_true(ret->pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	close(door[0]);
	ret->door = door[1];
	return byte == 1;
}

static void close_room(struct room *room)
{
	close(room->door);
	assert_int_equal(waitpid(room->pid, NULL, 0), room->pid);
}

static void check_shadow(const struct room *room, int expected)
{
	char path[64] = "untouched";

	assert_int_equal(perf_map_find_shadow(room->pid, 1, NULL, path, sizeof(path)), expected);
	assert_string_equal(path, expected > 0 ? "/tmp/perf-1.map" : "untouched");
}

static void map_in_the_container_is_found(void **state)
{
	struct fixture *f = *state;
	char root[128], tmp[160], map[192], outside[192];
	struct room room;

	strcpy(root, path_of(f, "root"));
	snprintf(tmp, sizeof(tmp), "%s/tmp", root);
	snprintf(map, sizeof(map), "%s/perf-1.map", tmp);
	snprintf(outside, sizeof(outside), "../../%s/outside", f->dir);
	write_file(f, "outside", "");
	assert_int_equal(mkdir(root, 0755), 0);
	if (!open_room(root, &room)) {
		close_room(&room);
		rmdir(root);
		print_message("needs root for mount namespaces and chroot\n");
		skip();
	}
	check_shadow(&room, 0); /* not even a /tmp */
	assert_int_equal(mkdir(tmp, 0755), 0);
	check_shadow(&room, 0);
	close(open(map, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	check_shadow(&room, PERF_MAP_SHADOW_OTHER); /* empty, but perf takes it */
	files_write(map, "1000 10 foreign\n");
	check_shadow(&room, PERF_MAP_SHADOW_USED);
	assert_int_equal(utimensat(AT_FDCWD, map, (const struct timespec[2]){{1, 0}, {1, 0}}, 0),
			 0);
	check_shadow(&room, PERF_MAP_SHADOW_OTHER); /* of an earlier process */
	assert_int_equal(unlink(map), 0);
	assert_int_equal(symlink(path_of(f, "outside"), map), 0);
	check_shadow(&room, 0); /* absolute, therefore from the container's root */
	assert_int_equal(unlink(map), 0);
	assert_int_equal(symlink(outside, map), 0);
	check_shadow(&room, 0);
	assert_int_equal(unlink(map), 0);
	assert_int_equal(symlink("/tmp/perf-1.map", map), 0);
	check_shadow(&room, 0); /* a loop */
	close_room(&room);
	unlink(map);
	rmdir(tmp);
}

static void path_that_does_not_fit_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct room room;
	char path[] = "untouched";

	if (!open_room(f->dir, &room)) {
		close_room(&room);
		print_message("needs root for mount namespaces and chroot\n");
		skip();
	}
	assert_int_equal(perf_map_find_shadow(room.pid, 1, NULL, path, sizeof(path)), -ERANGE);
	assert_string_equal(path, "untouched");
	close_room(&room);
}

static void process_with_our_mounts_has_no_shadow(void **state)
{
	struct fixture *f = *state;
	const pid_t pid = getpid();
	char path[64], written[64];

	assert_int_equal(whole_map_write("/tmp", pid, f->map, PERF_MAP_MAX_BYTES), 0);
	assert_int_equal(perf_map_find_shadow(pid, pid, NULL, path, sizeof(path)), 0);
	snprintf(written, sizeof(written), "/tmp/perf-%d.map", (int)pid);
	assert_int_equal(unlink(written), 0);
}

static void file_that_ours_is_beside_is_the_shadow(void **state)
{
	struct fixture *f = *state;
	const pid_t pid = getpid();
	char path[128], name[64];

	snprintf(name, sizeof(name), "perf-%d.map", (int)pid);
	assert_int_equal(perf_map_find_shadow(pid, pid, f->dir, path, sizeof(path)), 0);
	write_file(f, name, "1000 10 foreign\n");
	assert_int_equal(perf_map_find_shadow(pid, pid, f->dir, path, sizeof(path)),
			 PERF_MAP_SHADOW_USED);
	assert_string_equal(path, path_of(f, name));
}

static void shadow_of_a_dead_process_cannot_be_told(void **state)
{
	char path[64];

	assert_int_equal(perf_map_find_shadow(child_gone(), 1, NULL, path, sizeof(path)), -ENOENT);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(lines_rise_and_name_methods_as_perf_users_know_them),
		CLAIM(dead_code_stays_until_its_place_is_taken),
		CLAIM(names_cannot_forge_lines),
		CLAIM(names_that_perf_would_skip_are_made_longer),
		CLAIM(long_names_are_cut_between_characters),
		CLAIM(lines_are_in_the_style_that_is_asked_for),
		CLAIM(inlined_code_has_lines_of_its_own_if_asked_for),
		CLAIM(file_that_would_grow_too_large_ends_with_a_whole_line),
		CLAIM(maps_longer_than_the_buffer_are_whole),
		CLAIM(empty_map_is_written_too),
		CLAIM(file_is_ours_and_readable_by_all),
		CLAIM(rewrite_makes_a_new_file),
		CLAIM(symlink_in_its_place_is_neither_followed_nor_replaced),
		CLAIM(file_of_another_program_stays_and_ours_is_beside),
		CLAIM(file_of_ours_that_another_program_writes_to_stays),
		CLAIM(both_places_taken_is_an_error),
		CLAIM(without_a_descriptor_the_place_is_not_said_to_be_taken),
		CLAIM(a_place_is_taken_while_no_process_answers),
		CLAIM(failed_write_keeps_the_old_map_and_leaves_nothing),
		CLAIM(place_that_cannot_be_taken_is_an_error),
		CLAIM(directory_in_its_place_stays),
		CLAIM(map_in_the_container_is_found),
		CLAIM(path_that_does_not_fit_is_an_error),
		CLAIM(process_with_our_mounts_has_no_shadow),
		CLAIM(file_that_ours_is_beside_is_the_shadow),
		CLAIM(shadow_of_a_dead_process_cannot_be_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
