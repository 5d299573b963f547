// SPDX-License-Identifier: Apache-2.0
/*
 * Another process opens events and closes them last: whoever asked waits for nothing that does not
 * answer, and leaves nothing behind. Needs root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/reach.h"
#include "common/child.h"
#include "elf/probe_notes.h"
#include "probes/event_holder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program with points (tests/unit/sample/probe_target.c). */
static struct {
	pid_t pid;
	int to, from, file;
	struct probe_notes *notes;
} target;

static int start_target(void)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		return -1;
	target.pid = fork();
	if (target.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		execl(FG_TARGET, FG_TARGET, (char *)NULL);
		_exit(1);
	}
	close(to[0]);
	close(from[1]);
	target.to = to[1];
	target.from = from[0];
	return target.pid > 0 ? 0 : -1;
}

static int set_up(void **state)
{
	const int readable = open(FG_TARGET, O_RDONLY | O_CLOEXEC);
	int err = reach_start();

	if (!err)
		err = probe_notes_load(readable, &target.notes);
	close(readable);
	target.file = open(FG_TARGET, O_PATH | O_CLOEXEC);
	return err ? err : start_target();
}

static int tear_down(void **state)
{
	reach_stop();
	child_end(target.pid);
	close(target.to);
	close(target.from);
	close(target.file);
	probe_notes_free(target.notes);
	return 0;
}

static unsigned semaphore(void)
{
	unsigned short value;

	assert_int_equal(write(target.to, "s", 1), 1);
	assert_int_equal(read(target.from, &value, sizeof(value)), sizeof(value));
	return value;
}

static void wait_for_semaphore(unsigned value)
{
	while (semaphore() != value)
		usleep(1000);
}

static struct event_holder *start_holder(void)
{
	struct event_holder *holder;

	assert_int_equal(event_holder_start(target.file, target.pid, &holder), 0);
	return holder;
}

static int open_event(struct event_holder *holder, const char *name, char why[UPROBE_WHY_BYTES])
{
	const struct probe_point *const point =
		probe_notes_find(target.notes, "fgagent", name, NULL);
	const struct uprobe_place place = {-1, point->file_off, point->semaphore_off};
	const struct uprobe_who who = {.cpu = -1, .is_disabled = true};
	enum uprobe_way way = UPROBE_ANY;
	const int fd = event_holder_open(holder, &place, &who, &way, why);

	if (fd >= 0) {
		assert_true(way != UPROBE_ANY);
		assert_string_equal(why, "");
	}
	return fd;
}

/* Skips the test where no events may be opened. */
static int open_some(struct event_holder *holder)
{
	char why[UPROBE_WHY_BYTES];
	const int fd = open_event(holder, "arm", why);

	if (fd < 0) {
		print_message("no events here: %s\n", why);
		event_holder_end(holder);
		skip();
	}
	return fd;
}

/* A child of that process with this name; 0: there is none. */
static pid_t find_child(pid_t parent, const char *name)
{
	DIR *const proc = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while (!found && (entry = readdir(proc))) {
		char path[300], comm[32] = "";
		int pid = 0, of = 0;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		file = atoi(entry->d_name) > 0 ? fopen(path, "re") : NULL;
		if (!file)
			continue;
		if (fscanf(file, "%d (%31[^)]) %*c %d", &pid, comm, &of) == 3 && of == parent &&
		    strcmp(comm, name) == 0)
			found = pid;
		fclose(file);
	}
	closedir(proc);
	return found;
}

/* '\0': it has ended. */
static char state_of(pid_t pid)
{
	char path[64], state = '\0';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%*d (%*31[^)]) %c", &state) != 1)
		state = '\0';
	if (file)
		fclose(file);
	return state;
}

static void the_process_closes_last(void **state)
{
	struct event_holder *const holder = start_holder();
	const int fd = open_some(holder);

	wait_for_semaphore(1);
	close(fd);
	assert_int_equal(semaphore(), 1);
	event_holder_end(holder);
	wait_for_semaphore(0);
}

static void an_event_that_cannot_be_opened_has_its_reason(void **state)
{
	const struct probe_point *const point =
		probe_notes_find(target.notes, "fgagent", "arm", NULL);
	/* All who open one place must name the same semaphore. */
	const struct uprobe_place place = {-1, point->file_off, point->semaphore_off + 2};
	const struct uprobe_who who = {.cpu = -1, .is_disabled = true};
	struct event_holder *const holder = start_holder();
	const int fd = open_some(holder);
	enum uprobe_way way = UPROBE_ANY;
	char why[UPROBE_WHY_BYTES];

	assert_int_equal(event_holder_open(holder, &place, &who, &way, why), -EINVAL);
	assert_string_not_equal(why, "");
	close(fd);
	event_holder_end(holder);
	wait_for_semaphore(0);
}

static void what_a_collector_had_open_is_closed_when_it_was_killed(void **state)
{
	const pid_t collector = fork();
	int status;

	if (collector == 0) {
		char why[UPROBE_WHY_BYTES];

		if (open_event(start_holder(), "arm", why) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	while (semaphore() != 1) {
		if (waitpid(collector, &status, WNOHANG) == collector)
			skip(); /* as open_some */
		usleep(1000);
	}
	assert_int_equal(kill(collector, SIGKILL), 0);
	assert_int_equal(waitpid(collector, NULL, 0), collector);
	wait_for_semaphore(0);
}

static void *open_in_vain(void *arg)
{
	char why[UPROBE_WHY_BYTES];

	return (void *)(intptr_t)open_event(arg, "hit", why);
}

/* The process stands as it does where the kernel waits for a lock or a page. Comes last. */
static void who_is_not_answered_waits_until_calls_end(void **state)
{
	struct event_holder *const holder = start_holder();
	const int fd = open_some(holder);
	const pid_t reach = find_child(getpid(), "fgcollect-reach");
	const pid_t pid = find_child(reach, "fgcollect-hold");
	pthread_t thread;
	void *result;

	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	while (state_of(pid) != 'T')
		usleep(1000);
	assert_int_equal(pthread_create(&thread, NULL, open_in_vain, holder), 0);
	reach_stop();
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_int_equal((intptr_t)result, -ECHILD);
	close(fd);
	event_holder_end(holder);
	assert_int_equal(state_of(pid), 'T'); /* it does not end with the process that forked it */
	assert_int_equal(kill(pid, SIGKILL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_process_closes_last),
		cmocka_unit_test(an_event_that_cannot_be_opened_has_its_reason),
		cmocka_unit_test(what_a_collector_had_open_is_closed_when_it_was_killed),
		cmocka_unit_test(who_is_not_answered_waits_until_calls_end),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
