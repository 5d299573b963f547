// SPDX-License-Identifier: Apache-2.0
/*
 * Files that take over their parser, each in its way: the text of a file says what its parser does.
 * The collector loses the table of that file and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "common/files.h"
#include "confine/parser.h"
#include "files/table_loader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_TEXT 64

static struct table_loader *loader;

/* ---- in the parser ---- */

static int parser_sock;

static bool says(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/* Reads the first byte of the debug file by that name. */
static int read_debug(const struct debug_place *place, const char *name, char *ret)
{
	struct debug_wish wish = {.build_id_len = 0};
	bool is_targets;
	unsigned at = 0;
	int fd, n;

	strcpy(wish.name, name);
	fd = place->ask(place->arg, &wish, &at, &is_targets);
	if (fd < 0)
		return fd;
	n = (int)pread(fd, ret, 1, 0);
	close(fd);
	return n == 1 ? 0 : -EIO;
}

static int load(int fd, const struct debug_place *place, void **ret)
{
	char *text = calloc(1, MAX_TEXT);

	if (!text || pread(fd, text, MAX_TEXT - 1, 0) <= 0)
		return -ENOENT;
	if (says(text, "crash"))
		abort();
	if (says(text, "forbidden"))
		socket(AF_UNIX, SOCK_STREAM, 0);
	if (says(text, "sleep"))
		for (;;)
			recv(parser_sock, text, 1, 0); /* nothing comes */
	if (says(text, "spin"))
		for (volatile int i = 0;; i++)
			;
	if (says(text, "wish without end"))
		while (read_debug(place, "x", &text[0]) != 1)
			;
	if (says(text, "stay"))
		snprintf(text, MAX_TEXT, "stay %d", (int)getpid());
	if (says(text, "debug ") && read_debug(place, text + strlen("debug "), &text[0]) < 0)
		text[0] = '-';
	*ret = text;
	return says(text, "error") ? -ENOEXEC : says(text, "odd error") ? 7 : 0;
}

static void flatten(const void *table, struct flat_writer *writer)
{
	const char *const text = table;
	const uint64_t len = says(text, "too long") ? UINT64_MAX / 2 : strlen(text) + 2;

	flat_write(writer, &len, sizeof(len));
	flat_write(writer, text, says(text, "half") ? 2 : strlen(text) + 2);
	if (says(text, "stay"))
		for (volatile int i = 0;; i++)
			;
}

/* ---- in the collector ---- */

static int restore(struct flat_reader *reader, bool is_private, void **ret)
{
	uint64_t len;
	char *text;

	flat_read(reader, &len, sizeof(len));
	text = flat_read_array(reader, len, 1, MAX_TEXT);
	if (!text)
		return reader->err ? reader->err : -EBADMSG;
	text[len - 1] = '\0';
	text[len - 2] = is_private ? 'P' : '\0';
	*ret = text;
	return 0;
}

static size_t bytes_of(const void *table)
{
	return 1;
}

static bool are_equal(const void *a, const void *b)
{
	return a == b;
}

static const struct table_kind kind = {
	.load = load,
	.role = PARSER_SYMBOLS,
	.flatten = flatten,
	.restore = restore,
	.free = free,
	.bytes = bytes_of,
	.equal = are_equal,
	.needs_place = true,
};

static void serve(int sock)
{
	parser_sock = sock;
	table_parser_serve(&kind, sock);
}

static const struct parser_limits roles[PARSER_ROLES] = {
	[PARSER_SYMBOLS] = {.serve = serve, .memory_bytes = UINT64_C(1) << 40, .cpu_seconds = 300},
};

static int start(void **state)
{
	if (zygote_start() < 0)
		return -1;
	return table_loader_start(&loader);
}

static int stop(void **state)
{
	zygote_stop();
	table_loader_stop(loader);
	loader = NULL;
	return 0;
}

static struct table_job *add(const char *text)
{
	struct table_job *job =
		table_job_new(&kind, files_open_memory(text, strlen(text)), strlen(text));

	assert_non_null(job);
	table_loader_add(loader, job, true);
	return job;
}

static struct table_job *wait_for_one(void)
{
	struct pollfd polled = {.fd = table_loader_fd(loader), .events = POLLIN};

	assert_int_equal(poll(&polled, 1, 50000), 1);
	return table_loader_take(loader);
}

static void assert_text(const char *expected)
{
	struct table_job *job = wait_for_one();

	assert_int_equal(job->err, 0);
	assert_string_equal(job->content, expected);
	table_job_free(job);
}

static void assert_error(int expected)
{
	struct table_job *job = wait_for_one();

	assert_int_equal(job->err, expected);
	assert_null(job->content);
	table_job_free(job);
}

static void a_parser_makes_the_table(void **state)
{
	struct zygote_stats stats;

	add("a table");
	assert_text("a table");
	zygote_stats(&stats);
	assert_int_equal(stats.started, 1);
}

static void a_crash_costs_one_file(void **state)
{
	struct zygote_stats stats;

	add("crash");
	assert_error(-EBADMSG);
	add("forbidden");
	assert_error(-EBADMSG);
	add("next");
	assert_text("next");
	do {
		zygote_tend();
		zygote_stats(&stats);
	} while (stats.died < 2);
	assert_int_equal(stats.died, 2);
	assert_int_equal(stats.forbidden, 1);
}

static void lies_cost_one_file(void **state)
{
	static const char *const lies[] = {"half", "too long", "odd error", "wish without end"};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		add(lies[i]);
		assert_error(-EBADMSG);
	}
	add("error");
	assert_error(-ENOEXEC);
	add("next");
	assert_text("next");
}

static void wait_for_parser(struct table_job *job)
{
	while (job->parser.pid == 0)
		usleep(1000);
}

/* Until the parser is where load() has it sleep: in a recv of one byte. */
static void wait_for_sleep(pid_t pid)
{
	unsigned long number = 0, fd, at, len = 0;
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	while (number != SYS_recvfrom || len != 1) {
		usleep(1000);
		if (file_read_small(path, text, sizeof(text)) <= 0 ||
		    sscanf(text, "%lu %lx %lx %lx", &number, &fd, &at, &len) != 4)
			number = 0;
	}
}

static void a_parser_that_sleeps_is_stuck_and_then_killed(void **state)
{
	struct table_job *job = add("sleep");
	struct zygote_stats stats;
	uint64_t began, now;

	wait_for_parser(job);
	wait_for_sleep(job->parser.pid);
	began = clock_now_ns();
	now = began + TABLE_LOADER_PATIENCE_NS;
	while (table_loader_stuck(loader, NULL) == 0) { /* its thread may still be on its way */
		table_loader_tend(loader, now);
		now += TABLE_LOADER_PATIENCE_NS;
		usleep(20000);
	}
	assert_true(now < began + TABLE_LOADER_LATE_NS);
	add("next");
	assert_text("next");
	table_loader_tend(loader, clock_now_ns() + TABLE_LOADER_MOST_NS);
	assert_error(-EBADMSG);
	zygote_stats(&stats);
	assert_int_equal(stats.killed, 1);
	assert_int_equal(table_loader_stuck(loader, NULL), 0);
}

static void a_parser_that_computes_keeps_its_thread_but_not_for_long(void **state)
{
	struct table_job *job = add("spin");
	uint64_t now;

	wait_for_parser(job);
	now = clock_now_ns();
	for (int i = 1; i < 10; i++)
		table_loader_tend(loader, now + i * TABLE_LOADER_PATIENCE_NS);
	assert_int_equal(table_loader_stuck(loader, NULL), 0); /* it gets on */
	table_loader_tend(loader, now + TABLE_LOADER_LATE_NS);
	assert_int_equal(table_loader_stuck(loader, NULL), 1);
	add("next");
	assert_text("next");
	table_loader_tend(loader, clock_now_ns() + TABLE_LOADER_MOST_NS);
	assert_error(-EBADMSG);
}

static void a_parser_that_has_answered_ends(void **state)
{
	struct table_job *job;
	int pid = 0;

	add("stay");
	job = wait_for_one();
	assert_int_equal(job->err, 0);
	assert_int_equal(sscanf(job->content, "stay %d", &pid), 1);
	table_job_free(job);
	while (kill(pid, 0) == 0) /* without end, but for alarm */
		usleep(1000);
}

/* Has the file parsed as "/lib/file" of a process with that root directory. */
static void add_in(const char *root, const char *text)
{
	struct table_job *job =
		table_job_new(&kind, files_open_memory(text, strlen(text)), strlen(text));

	assert_non_null(job);
	table_job_place(job, open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), "/lib/file");
	table_loader_add(loader, job, true);
}

/* A parser learns of a file only by a name beside the mapped file, in the target's root. */
static void a_parser_gets_files_of_its_root_alone(void **state)
{
	char root[] = "/tmp/fg-parser-XXXXXX", path[128];

	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/lib", root);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/lib/beside", root);
	files_write(path, "yes");
	snprintf(path, sizeof(path), "%s/above", root);
	files_write(path, "no");
	add_in(root, "debug beside");
	assert_text("yebug besideP"); /* and the table is private to the root */
	add_in(root, "debug ../above");
	assert_text("-ebug ../above");
	add_in(root, "debug ..");
	assert_text("-ebug ..");
	snprintf(path, sizeof(path), "rm -r %s", root);
	assert_int_equal(system(path), 0);
}

int main(int argc, char **argv)
{
#define WITH_LOADER(test) cmocka_unit_test_setup_teardown(test, start, stop)
	const struct CMUnitTest tests[] = {
		WITH_LOADER(a_parser_makes_the_table),
		WITH_LOADER(a_crash_costs_one_file),
		WITH_LOADER(lies_cost_one_file),
		WITH_LOADER(a_parser_that_sleeps_is_stuck_and_then_killed),
		WITH_LOADER(a_parser_that_computes_keeps_its_thread_but_not_for_long),
		WITH_LOADER(a_parser_that_has_answered_ends),
		WITH_LOADER(a_parser_gets_files_of_its_root_alone),
	};

	zygote_become(argc, argv, roles);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
