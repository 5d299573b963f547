// SPDX-License-Identifier: Apache-2.0
/* Which processes are waited for when a recording is asked for, by children of this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process_stat.h"
#include "common/child.h"
#include "inspect/diagnose_process.h"
#include "serve/dial_wait.h"

static struct engine engine;
static struct recording_options options;
static pid_t child;

static const char *child_comm;

static void nothing(int number)
{
	(void)number;
}

/* It has mapped a file called libjvm.so if told so, and sleeps, again after each SIGUSR1. */
static void be_child(bool is_jvm, int ready_fd)
{
	char dir[] = "/tmp/fg-young-XXXXXX", path[64];
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, child_comm);
	signal(SIGUSR1, nothing);
	if (is_jvm && mkdtemp(dir)) {
		snprintf(path, sizeof(path), "%s/libjvm.so", dir);
		fd = open(path, O_RDWR | O_CREAT, 0700);
		if (ftruncate(fd, 4096) < 0 ||
		    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		unlink(path);
		rmdir(dir);
	}
	if (write(ready_fd, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void begin_child(bool is_jvm)
{
	int pipe_fds[2];
	char byte;

	assert_int_equal(pipe(pipe_fds), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		be_child(is_jvm, pipe_fds[1]);
	close(pipe_fds[1]);
	assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
	close(pipe_fds[0]);
}

static int set_up(void **state)
{
	engine = (struct engine){0};
	options = (struct recording_options){0};
	targets_init(&engine.targets);
	dialer_init(&engine.dialer, NULL, "/proc");
	child = 0;
	child_comm = "fg-young";
	return 0;
}

static int tear_down(void **state)
{
	if (child > 0)
		child_end(child);
	dialer_fini(&engine.dialer);
	targets_fini(&engine.targets);
	return 0;
}

/* How many processes are worth waiting for, in steps of one process each. */
static size_t expect(void)
{
	struct young_processes search;
	size_t count, steps = 1;

	assert_int_equal(young_processes_begin(&search, &engine, &options), 0);
	while (!young_processes_step(&search, 0))
		steps++;
	assert_true(options.pid > 0 ? steps == 1 : steps > 1);
	count = search.count;
	young_processes_end(&search);
	return count;
}

/* Whether a whole search finds nobody to wait for. */
static bool is_nobody_missing(void)
{
	struct dial_wait wait;
	bool is_nobody;

	dial_wait_begin(&wait, &engine, &options);
	do
		is_nobody = dial_wait_step(&wait, clock_now_ns());
	while (!wait.has_searched);
	dial_wait_end(&wait);
	return is_nobody;
}

static void a_collector_that_has_begun_waits_while_a_jvm_may_dial(void **state)
{
	begin_child(true);
	options.pid = child;
	assert_false(is_nobody_missing());
	child_end(child);
	child = 0;
	assert_true(is_nobody_missing());
}

static void a_collector_that_has_begun_waits_for_nobody_of_a_container_that_is_none(void **state)
{
	begin_child(true);
	assert_null(selector_set_container(&options.select, "nosuch"));
	assert_true(is_nobody_missing());
}

/* Makes one search, at a time of its own. */
static bool search_once(struct dial_wait *wait, uint64_t *now_ns)
{
	wait->has_searched = false;
	*now_ns += CLOCK_NS_PER_SEC;
	do
		dial_wait_step(wait, *now_ns);
	while (!wait->has_searched);
	return wait->found == 0;
}

static void an_agent_that_has_dialled_and_not_come_is_not_waited_for(void **state)
{
	uint64_t now_ns = clock_now_ns() + 60 * CLOCK_NS_PER_SEC;
	struct diagnose_dialler dialler;
	struct dial_wait wait;

	child_comm = "fgagent";
	begin_child(true);
	options.pid = child;
	do
		assert_true(diagnose_read_dialler(child, &dialler));
	while (!dialler.is_asleep);
	dial_wait_begin(&wait, &engine, &options);
	for (int i = 0; i < 20; i++)
		assert_false(search_once(&wait, &now_ns));
	assert_int_equal(kill(child, SIGUSR1), 0);
	while (!search_once(&wait, &now_ns))
		;
	dial_wait_end(&wait);
}

static void wait_until_old(void)
{
	const struct timespec pause = {.tv_nsec = 50000000};

	while (process_stat_age_ns(child) < DIAGNOSE_YOUNG_NS)
		nanosleep(&pause, NULL);
}

static void a_pid_is_waited_for_while_it_is_young(void **state)
{
	begin_child(false);
	options.pid = child;
	assert_int_equal(expect(), 1);
	assert_true(dialer_next_ns(&engine.dialer) <= clock_now_ns() + CLOCK_NS_PER_SEC / 10);
	wait_until_old();
	assert_int_equal(expect(), 0);
}

/* Which may take a while on a busy host, until its agent is there. */
static void a_jvm_is_waited_for_longer_than_what_may_become_one(void **state)
{
	begin_child(true);
	options.pid = child;
	wait_until_old();
	assert_int_equal(expect(), 1);
	assert_true(diagnose_may_connect(child));
}

static void a_pid_that_is_none_is_not_waited_for(void **state)
{
	begin_child(false);
	options.pid = child;
	child_end(child);
	child = 0;
	assert_int_equal(expect(), 0);
}

static void a_name_that_fits_makes_any_young_process_one(void **state)
{
	begin_child(false);
	strcpy(options.select.comm, "fg-young");
	assert_int_equal(expect(), 1);
	strcpy(options.select.container, "web"); /* it is in no such container */
	assert_int_equal(expect(), 0);
}

/* Main class and labels are what the agent says. */
static void what_only_an_agent_can_say_makes_every_young_jvm_one(void **state)
{
	strcpy(options.select.jvm, "Main");
	strcpy(options.select.comm, "fg-young");
	begin_child(true);
	assert_int_equal(expect(), 1);
	options.select.comm[0] = '\0';
	assert_true(expect() >= 1);
	options = (struct recording_options){0};
	assert_true(expect() >= 1);
}

static void a_jvm_that_still_tells_of_its_code_is_waited_for(void **state)
{
	struct process *process;

	begin_child(false);
	options.pid = child;
	wait_until_old();
	process = targets_find_or_read(&engine.targets, child);
	assert_non_null(process);
	assert_int_equal(process_add_jvm(process), 0);
	engine.targets.n_jvms++;
	process->jvm->state = JVM_RESYNCING;
	assert_int_equal(expect(), 1);
	process->jvm->state = JVM_CURRENT;
	assert_int_equal(expect(), 0);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(a_pid_is_waited_for_while_it_is_young),
		CLAIM(a_jvm_is_waited_for_longer_than_what_may_become_one),
		CLAIM(a_pid_that_is_none_is_not_waited_for),
		CLAIM(a_name_that_fits_makes_any_young_process_one),
		CLAIM(what_only_an_agent_can_say_makes_every_young_jvm_one),
		CLAIM(a_jvm_that_still_tells_of_its_code_is_waited_for),
		CLAIM(a_collector_that_has_begun_waits_while_a_jvm_may_dial),
		CLAIM(an_agent_that_has_dialled_and_not_come_is_not_waited_for),
		CLAIM(a_collector_that_has_begun_waits_for_nobody_of_a_container_that_is_none),
	};

	return cmocka_run_group_tests_name("app young_processes", tests, NULL, NULL);
}
