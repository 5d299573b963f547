// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about reads of memory that does not answer. The memory is this test's own, and is handed
 * to userfaultfd(2), which needs root or CAP_SYS_PTRACE.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "guard/guard.h"
#include "memory/guarded_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE_BYTES 4096
#define CHILDREN   6

static struct guard *guard;
static struct guarded_memory *guarded;

/* A page that does not answer, until it is filled. */
struct silent_page {
	int fd;
	void *page;
};

static void open_silent(struct silent_page *silent)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	silent->fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	assert_true(silent->fd >= 0);
	silent->page =
		mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(silent->page != MAP_FAILED);
	assert_int_equal(ioctl(silent->fd, UFFDIO_API, &api), 0);
	range.range.start = (uintptr_t)silent->page;
	range.range.len = PAGE_BYTES;
	assert_int_equal(ioctl(silent->fd, UFFDIO_REGISTER, &range), 0);
}

static void fill(const struct silent_page *silent)
{
	struct uffdio_zeropage zero = {
		.range = {.start = (uintptr_t)silent->page, .len = PAGE_BYTES}};

	assert_int_equal(ioctl(silent->fd, UFFDIO_ZEROPAGE, &zero), 0);
}

static void close_silent(const struct silent_page *silent)
{
	munmap(silent->page, PAGE_BYTES);
	close(silent->fd);
}

static struct owner one_owner(void *arg, pid_t pid)
{
	return (struct owner){.user = 1};
}

static struct owner own_owner(void *arg, pid_t pid)
{
	return (struct owner){.user = (uint64_t)pid};
}

static void begin(owner_fn owner)
{
	assert_int_equal(guard_new(owner, NULL, &guard), 0);
	guarded_use(guard_runner(guard));
	assert_int_equal(guarded_memory_new(&guarded), 0);
}

static void end(void)
{
	guarded_memory_free(guarded);
	guarded_use(NULL);
	guard_free(guard);
}

static ssize_t read_word(pid_t pid, const void *at, uint64_t *ret)
{
	const struct process_memory_source *const source = guarded_memory_source(guarded);
	const struct iovec to = {ret, sizeof(*ret)};
	const struct iovec from = {(void *)(uintptr_t)at, sizeof(*ret)};

	return source->read(source->arg, pid, &to, &from, 1);
}

static void test_memory_that_answers_is_read(void **state)
{
	const uint64_t words[2] = {42, 43};
	uint64_t got[2] = {0};
	const struct iovec to[] = {{&got[1], 8}, {&got[0], 8}};
	const struct iovec from[] = {{(void *)(uintptr_t)&words[0], 8},
				     {(void *)(uintptr_t)&words[1], 8}};
	const struct process_memory_source *source;
	uint64_t word;

	begin(one_owner);
	source = guarded_memory_source(guarded);
	assert_int_equal(source->read(source->arg, getpid(), to, from, 2), 16);
	assert_int_equal(got[1], 42);
	assert_int_equal(got[0], 43);
	assert_int_equal(read_word(getpid(), (void *)8, &word), -EFAULT);
	end();
}

static void test_page_that_does_not_answer_costs_one_wait_and_then_a_pause(void **state)
{
	const uint64_t word = 42;
	struct guard_stats stats;
	struct silent_page silent;
	uint64_t got = 0;
	uint64_t until_ns;

	open_silent(&silent);
	begin(one_owner);
	assert_int_equal(read_word(getpid(), silent.page, &got), -ETIMEDOUT);
	/* Not even memory that would answer: its helper waits. */
	assert_int_equal(read_word(getpid(), &word, &got), -ETIMEDOUT);
	guard_stats(guard, &stats);
	assert_int_equal(stats.unanswered, 1);
	assert_int_equal(stats.late_calls, 1);
	assert_int_equal(stats.paused_calls, 1);
	fill(&silent);
	until_ns = clock_now_ns() + 20 * CLOCK_NS_PER_SEC;
	while (read_word(getpid(), &word, &got) < 0 && clock_now_ns() < until_ns)
		poll(NULL, 0, 10);
	assert_int_equal(got, 42);
	guard_stats(guard, &stats);
	assert_int_equal(stats.unanswered, 0);
	assert_int_equal(stats.late_calls, 1);
	end();
	close_silent(&silent);
}

/* Children that have each the silent page; they end with their pipe. */
static void fork_children(pid_t pids[CHILDREN], struct silent_page silent[CHILDREN], int *ret_end)
{
	int ends[2], ready[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	for (int i = 0; i < CHILDREN; i++) {
		assert_int_equal(pipe(ready), 0);
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			close(ends[1]);
			open_silent(&silent[i]);
			if (write(ready[1], &silent[i].page, sizeof(silent[i].page)) < 0 ||
			    read(ends[0], &byte, 1) < 0)
				_exit(1);
			_exit(0);
		}
		assert_int_equal(read(ready[0], &silent[i].page, sizeof(silent[i].page)),
				 sizeof(silent[i].page));
		close(ready[0]);
		close(ready[1]);
	}
	close(ends[0]);
	*ret_end = ends[1];
}

static void end_children(const pid_t pids[CHILDREN], int end)
{
	int status;

	close(end);
	for (int i = 0; i < CHILDREN; i++)
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
}

static void test_owner_has_no_more_than_its_helpers_and_others_are_read(void **state)
{
	const owner_fn owners[] = {one_owner, own_owner};
	static const uint64_t late[] = {GUARD_OWNER_LATE, CHILDREN};
	struct silent_page silent[CHILDREN];
	struct guard_stats stats;
	pid_t pids[CHILDREN];
	uint64_t word;
	int ends;

	for (int way = 0; way < 2; way++) {
		fork_children(pids, silent, &ends);
		begin(owners[way]);
		for (int i = 0; i < CHILDREN; i++)
			assert_int_equal(read_word(pids[i], silent[i].page, &word), -ETIMEDOUT);
		guard_stats(guard, &stats);
		assert_int_equal(stats.unanswered, late[way]);
		assert_int_equal(stats.paused_calls, CHILDREN - late[way]);
		if (owners[way] == own_owner)
			assert_int_equal(read_word(getpid(), &ends, &word), sizeof(word));
		end();
		end_children(pids, ends);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_that_answers_is_read),
		cmocka_unit_test(test_page_that_does_not_answer_costs_one_wait_and_then_a_pause),
		cmocka_unit_test(test_owner_has_no_more_than_its_helpers_and_others_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
