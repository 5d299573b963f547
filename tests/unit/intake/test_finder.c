// SPDX-License-Identifier: Apache-2.0
/* Which processes are looked into, how often, and what is believed of what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "intake/announcement.h"
#include "intake/finder.h"
#include "fake_proc.h"

#define JVM 4242

static struct finder finder;
static uint64_t now_ns;
static size_t n_found;
static bool takes_none; /* of what is found */
static struct {
	pid_t pid;
	uint64_t start_ticks;
	char path[ANNOUNCEMENT_PATH_BYTES];
} found;

static int setup(void **state)
{
	fake_proc_make();
	finder_init(&finder, fake_proc);
	now_ns = clock_now_ns();
	n_found = 0;
	takes_none = false;
	return 0;
}

static int teardown(void **state)
{
	finder_fini(&finder);
	fake_proc_remove();
	return 0;
}

static bool on_found(void *arg, const struct finder_found *f)
{
	(void)arg;
	n_found++;
	found.pid = f->pid;
	found.start_ticks = f->start_ticks;
	strcpy(found.path, f->path);
	return !takes_none;
}

/* However busy the machine is: a round takes as many steps as it takes. */
static void go_rounds(size_t n)
{
	for (const uint64_t end = finder.stats.rounds + n;
	     finder.stats.rounds < end || finder.dir;) {
		if (now_ns < finder_next_ns(&finder))
			now_ns = finder_next_ns(&finder);
		finder_step(&finder, now_ns, on_found, NULL);
	}
}

static void a_listening_agent_is_found_once(void **state)
{
	fake_proc_add(1, 1, "/sbin/init", NULL);
	fake_proc_add_listening(JVM, 77, "/tmp/.fgagent-1.sock");
	go_rounds(300);
	assert_int_equal(n_found, 1);
	assert_int_equal(found.pid, JVM);
	assert_int_equal(found.start_ticks, 77);
	assert_string_equal(found.path, "/tmp/.fgagent-1.sock");
}

static void a_process_is_looked_into_less_and_less(void **state)
{
	fake_proc_add(JVM, 77, "/bin/sleep", NULL);
	go_rounds(1);
	assert_int_equal(finder.stats.looks, 1);
	go_rounds(8);
	assert_int_equal(finder.stats.looks, 5); /* rounds 0, 1, 2, 4, 8 */
	go_rounds(1000);
	assert_int_equal(finder.stats.looks, 9); /* 16, 32, 64, 128, and never again */
}

static void an_agent_that_listens_late_is_found(void **state)
{
	fake_proc_add_listening(JVM, 77, NULL);
	go_rounds(20);
	fake_proc_add_listening(JVM, 77, "/x");
	assert_int_equal(n_found, 0);
	go_rounds(13); /* round 32 */
	assert_int_equal(n_found, 1);
}

static enum guarded_end pause_call(void *arg, pid_t pid, struct guarded_call *call)
{
	return GUARDED_PAUSED;
}

static void leave_call(void *arg, pid_t pid, struct guarded_call *call)
{
	call->run(call);
	call->free(call);
}

/*
 * The agent listens only in the last round in which it is looked for, and there is no answer then.
 */
static void a_look_without_an_answer_is_made_again(void **state)
{
	const struct guarded_runner pausing = {.run = pause_call, .leave = leave_call};
	uint64_t looks;

	fake_proc_add_listening(JVM, 77, NULL);
	go_rounds(128);
	fake_proc_add_listening(JVM, 77, "/x");
	guarded_use(&pausing);
	go_rounds(3);
	guarded_use(NULL);
	assert_int_equal(n_found, 0);
	assert_true(finder.stats.put_off >= 3);
	go_rounds(1);
	assert_int_equal(n_found, 1);
	/* Who never answers is left alone in the end. */
	fake_proc_add_listening(JVM + 1, 78, NULL);
	guarded_use(&pausing);
	go_rounds(400);
	looks = finder.stats.looks;
	go_rounds(400);
	guarded_use(NULL);
	assert_int_equal(finder.stats.looks, looks);
}

static void another_program_in_the_same_process_is_looked_into(void **state)
{
	fake_proc_add(JVM, 77, "/bin/sh", NULL);
	go_rounds(500);
	fake_proc_add_listening(JVM, 77, "/x"); /* exec java */
	go_rounds(4);
	assert_int_equal(n_found, 1);
}

static void another_process_with_the_same_pid_is_looked_into(void **state)
{
	fake_proc_add_listening(JVM, 77, "/x");
	go_rounds(10);
	assert_int_equal(n_found, 1);
	fake_proc_set_aside(JVM);
	fake_proc_add_listening(JVM, 99, "/x");
	go_rounds(2);
	assert_int_equal(n_found, 2);
	assert_int_equal(found.start_ticks, 99);
}

static void a_jvm_that_begins_is_found_without_waiting_for_a_round(void **state)
{
	go_rounds(1);
	fake_proc_add_listening(JVM, 77, NULL);
	finder_expect(&finder, JVM, now_ns);
	now_ns += 30 * CLOCK_NS_PER_MS;
	assert_true(finder_next_ns(&finder) <= now_ns);
	finder_step(&finder, now_ns, on_found, NULL);
	assert_int_equal(finder.stats.looks, 1);
	fake_proc_add_listening(JVM, 77, "/x");
	now_ns += 30 * CLOCK_NS_PER_MS;
	finder_step(&finder, now_ns, on_found, NULL);
	assert_int_equal(n_found, 1);
	assert_int_equal(finder.stats.rounds, 1);
}

static void what_is_expected_has_a_limit_and_an_end(void **state)
{
	for (pid_t pid = 1; pid <= FINDER_MAX_EXPECTED + 3; pid++)
		finder_expect(&finder, pid, now_ns);
	assert_int_equal(finder.stats.unexpected, 3);
	for (int i = 0; i < 200; i++) {
		now_ns += CLOCK_NS_PER_SEC;
		finder_step(&finder, now_ns, on_found, NULL);
	}
	for (pid_t pid = 1; pid <= FINDER_MAX_EXPECTED; pid++)
		finder_expect(&finder, 1000 + pid, now_ns);
	assert_int_equal(finder.stats.unexpected, 3);
}

static void processes_that_end_are_forgotten(void **state)
{
	for (pid_t pid = 1; pid <= 50; pid++)
		fake_proc_add(pid, 1, "/bin/true", NULL);
	go_rounds(2);
	assert_int_equal(finder.seen.count, 50);
	for (pid_t pid = 1; pid <= 49; pid++)
		fake_proc_drop(pid);
	go_rounds(2);
	assert_int_equal(finder.seen.count, 1);
}

/* Lines of mappings, and the path in them, NULL for none. */
static void paths_are_read_from_whole_lines_alone(void **state)
{
#define AT "7f0000002000-7f0000003000 ---p 00000000 00:01 9        "
	static const struct {
		const char *text, *path;
	} cases[] = {
		{AT "/memfd:fgagent-listen:/a b (deleted)\n", "/a b"},
		{AT "/memfd:fgagent-listen:/a (deleted) (deleted)\n", "/a (deleted)"},
		{AT "/memfd:fgagent-listen:/a (deleted)", NULL},
		{AT "/memfd:fgagent-listen:/a\n", NULL},
		{AT "/memfd:fgagent-listen:a (deleted)\n", NULL},
		{AT "/memfd:fgagent-listen: (deleted)\n", NULL},
		{AT "/memfd:fgagent-listen:\n", NULL},
		{AT "/memfd:fgagent-listen:/a\\012b (deleted)\n", NULL},
		{AT "/memfd:fgagent-listen:/a\033b (deleted)\n", NULL},
		{AT "/memfd:fgagent (deleted)\n", NULL},
		{AT "/memfd:fgagent-listen:x (deleted)\n" AT "/memfd:fgagent-listen:/b (deleted)\n",
		 "/b"},
		{"", NULL},
	};
	char path[ANNOUNCEMENT_PATH_BYTES], text[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const bool has = announcement_find(cases[i].text, strlen(cases[i].text), path);

		assert_int_equal(has, cases[i].path != NULL);
		if (has)
			assert_string_equal(path, cases[i].path);
	}
	for (int len = 100; len < 120; len++) {
		snprintf(text, sizeof(text), AT "/memfd:fgagent-listen:/%0*d (deleted)\n", len - 1,
			 7);
		assert_int_equal(announcement_find(text, strlen(text), path),
				 len < ANNOUNCEMENT_PATH_BYTES);
	}
}

static int read_own(char path[ANNOUNCEMENT_PATH_BYTES])
{
	const int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY);
	const int err = announcement_read(proc_fd, getpid(), path);

	close(proc_fd);
	return err;
}

/* What the kernel really writes, behind so many mappings that they are read in several parts. */
static void the_kernels_own_text_is_understood(void **state)
{
	char path[ANNOUNCEMENT_PATH_BYTES], *pages;
	const size_t n = 2000;
	int fd;
	void *region;

	assert_int_equal(read_own(path), -ENOENT);
	pages = mmap(NULL, 2 * n * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(mprotect(pages + 2 * i * 4096, 4096, PROT_NONE), 0);
	fd = memfd_create("fgagent-listen:/some/where", MFD_CLOEXEC);
	region = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE, fd, 0);
	close(fd);
	assert_int_equal(read_own(path), 0);
	assert_string_equal(path, "/some/where");
	munmap(region, 1);
	munmap(pages, 2 * n * 4096);
	assert_int_equal(read_own(path), -ENOENT);
}

/* Wherever the reads of a longer text happen to end. */
static void a_line_may_be_read_in_parts(void **state)
{
	static char text[40000];
	char path[ANNOUNCEMENT_PATH_BYTES], dir[96];
	int proc_fd;

	for (size_t before = 32600; before < 32800; before += 7) {
		memset(text, 'x', before - 1);
		snprintf(text + before - 1, 200, "\n" AT "/memfd:fgagent-listen:/a (deleted)\n");
		for (size_t i = 100; i < before; i += 100)
			text[i] = '\n';
		fake_proc_add(JVM, 77, "/x", text);
		snprintf(dir, sizeof(dir), "%s/%d", fake_proc, JVM);
		proc_fd = open(dir, O_PATH | O_DIRECTORY);
		assert_int_equal(announcement_read(proc_fd, getpid(), path), 0);
		assert_string_equal(path, "/a");
		close(proc_fd);
	}
}

/* A reading that was too late is made again: how late, is a matter of the machine. */
static int read_in_the_end(int proc_fd, char *ret_path)
{
	int err;

	do
		err = announcement_read(proc_fd, getpid(), ret_path);
	while (err == -EAGAIN);
	return err;
}

static void mappings_without_lines_or_end_are_given_up(void **state)
{
	char path[ANNOUNCEMENT_PATH_BYTES], dir[96], name[128];
	FILE *file;
	int proc_fd;

	fake_proc_add(JVM, 77, "/x", NULL);
	snprintf(dir, sizeof(dir), "%s/%d", fake_proc, JVM);
	snprintf(name, sizeof(name), "%s/maps", dir);
	proc_fd = open(dir, O_PATH | O_DIRECTORY);
	file = fopen(name, "w");
	for (int i = 0; i < 100000; i++)
		fputc('x', file);
	fclose(file);
	assert_int_equal(read_in_the_end(proc_fd, path), -EBADMSG);
	file = fopen(name, "w");
	for (size_t i = 0; i < ANNOUNCEMENT_MAX_BYTES / 64 + 10; i++)
		fprintf(file, "%063d\n", 0);
	fclose(file);
	assert_int_equal(read_in_the_end(proc_fd, path), -EFBIG);
	close(proc_fd);
}

/* Who has no place now, gets one later. */
static void an_agent_that_was_not_taken_is_found_again(void **state)
{
	takes_none = true;
	fake_proc_add_listening(JVM, 77, "/x");
	go_rounds(1000);
	assert_in_range(n_found, 1000 / FINDER_AGAIN_ROUNDS - 2, 1000 / FINDER_AGAIN_ROUNDS + 2);
	takes_none = false;
	n_found = 0;
	go_rounds(1000);
	assert_int_equal(n_found, 1);
	finder_look_later(&finder, JVM);
	go_rounds(1000);
	assert_int_equal(n_found, 2);
}

/* The two thousand and first process on is another user's. */
static uint64_t group_by_pid(void *arg, pid_t pid)
{
	return pid > 2000 ? 2 : 1;
}

static void who_has_most_processes_gets_no_more_places(void **state)
{
	finder_set_group(&finder, group_by_pid, NULL);
	finder.max_seen = 16;
	for (pid_t pid = 1001; pid <= 1020; pid++)
		fake_proc_add(pid, 1, "/bin/sleep", NULL);
	go_rounds(3);
	for (pid_t pid = 2001; pid <= 2004; pid++)
		fake_proc_add_listening(pid, 1, "/x");
	go_rounds(4);
	assert_int_equal(n_found, 4);
	for (pid_t pid = 1001; pid <= 1020; pid++)
		fake_proc_drop(pid);
	fake_proc_add_listening(1500, 1, "/x"); /* has as much right again, once there is room */
	go_rounds(3);
	assert_int_equal(n_found, 5);
}

static void who_has_most_that_are_expected_makes_room(void **state)
{
	finder_set_group(&finder, group_by_pid, NULL);
	for (pid_t pid = 1; pid <= FINDER_MAX_EXPECTED + 8; pid++)
		finder_expect(&finder, pid, now_ns);
	assert_int_equal(finder.stats.unexpected, 8);
	finder.next_ns = UINT64_MAX; /* no rounds */
	fake_proc_add_listening(2001, 1, "/x");
	finder_expect(&finder, 2001, now_ns);
	assert_int_equal(finder.stats.unexpected, 9);
	now_ns += CLOCK_NS_PER_SEC;
	finder_step(&finder, now_ns, on_found, NULL);
	assert_int_equal(n_found, 1);
	assert_int_equal(found.pid, 2001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_listening_agent_is_found_once),
		TEST(a_process_is_looked_into_less_and_less),
		TEST(an_agent_that_listens_late_is_found),
		TEST(a_look_without_an_answer_is_made_again),
		TEST(another_program_in_the_same_process_is_looked_into),
		TEST(another_process_with_the_same_pid_is_looked_into),
		TEST(a_jvm_that_begins_is_found_without_waiting_for_a_round),
		TEST(what_is_expected_has_a_limit_and_an_end),
		TEST(an_agent_that_was_not_taken_is_found_again),
		TEST(who_has_most_processes_gets_no_more_places),
		TEST(who_has_most_that_are_expected_makes_room),
		TEST(processes_that_end_are_forgotten),
		TEST(paths_are_read_from_whole_lines_alone),
		TEST(the_kernels_own_text_is_understood),
		TEST(a_line_may_be_read_in_parts),
		TEST(mappings_without_lines_or_end_are_given_up),
	};

	return cmocka_run_group_tests_name("intake finder", tests, NULL, NULL);
}
