// SPDX-License-Identifier: Apache-2.0
/* What is said of processes without a connected agent: threads and children of this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/child.h"
#include "inspect/diagnose_process.h"

#define SOCKET	   "/run/fgcollect/agent.sock"
#define PATIENT_NS UINT64_C(60000000000)

static char text[DIAGNOSE_BYTES];
static pid_t child;
static int ready[2];

static void map_file(const char *name)
{
	char dir[] = "/tmp/fg-diagnose-XXXXXX", path[64];
	int fd;

	if (!mkdtemp(dir))
		_exit(1);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT, 0700);
	if (ftruncate(fd, 4096) < 0 ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(1);
	unlink(path);
	rmdir(dir);
}

/* Tells that it is there, by its thread ID, and waits for its end. */
static void *wait_as(void *name)
{
	const pid_t tid = (pid_t)syscall(SYS_gettid);

	prctl(PR_SET_NAME, name);
	if (write(ready[1], &tid, sizeof(tid)) != sizeof(tid))
		_exit(1);
	for (;;)
		pause();
}

static bool has_agents_file;

/* A child that maps libjvm.so. Returns the ID of its second thread, which has the name. */
static pid_t begin_jvm(const char *thread_name)
{
	pid_t tid;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		map_file("libjvm.so");
		if (has_agents_file)
			map_file("libfgagent.so");
		pthread_create(&thread, NULL, wait_as, (void *)(uintptr_t)thread_name);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &tid, sizeof(tid)), sizeof(tid));
	close(ready[0]);
	return tid;
}

static int tear_down(void **state)
{
	if (child > 0)
		child_end(child);
	child = 0;
	return 0;
}

static void a_threads_number_is_told_with_its_process(void **state)
{
	const pid_t tid = begin_jvm("worker");
	char expected[64];

	assert_int_equal(diagnose_pid(tid, SOCKET, PATIENT_NS, text), DIAGNOSE_SEEN_NOTHING);
	snprintf(expected, sizeof(expected), "but a thread of PID %d: use -p %d", child, child);
	assert_non_null(strstr(text, expected));
	assert_true(diagnose_is_thread(tid));
	assert_false(diagnose_is_thread(child));
	assert_false(diagnose_may_connect(tid));
}

static void an_agent_is_found_by_its_thread_whatever_its_file_is_called(void **state)
{
	begin_jvm("fgagent");
	assert_int_equal(diagnose_pid(child, SOCKET, PATIENT_NS, text), DIAGNOSE_SEEN_JVM);
	assert_non_null(strstr(text, "has the agent loaded"));
}

/* The children of this test are forks of it, which began no program. */
static void a_fork_has_no_agent_but_by_its_thread(void **state)
{
	has_agents_file = true;
	begin_jvm("worker");
	has_agents_file = false;
	assert_int_equal(diagnose_pid(child, SOCKET, PATIENT_NS, text), DIAGNOSE_SEEN_JVM);
	assert_null(strstr(text, "has the agent loaded"));
}

static void a_jvm_without_the_agent_is_told_to_take_it(void **state)
{
	begin_jvm("worker");
	assert_int_equal(diagnose_pid(child, SOCKET, PATIENT_NS, text), DIAGNOSE_SEEN_JVM);
	assert_non_null(strstr(text, "is a JVM without the agent: add " DIAGNOSE_AGENT_LINE));
}

/* On a busy host a right setup looks like this for a while. */
static void an_agent_that_has_not_connected_is_blamed_for_nothing(void **state)
{
	begin_jvm("fgagent");
	diagnose_pid(child, SOCKET, PATIENT_NS, text);
	assert_non_null(strstr(text, "has not connected to " SOCKET " so far"));
	assert_non_null(strstr(text, "ask again; if that does not help, 'fgcollect doctor' looks"));
	assert_null(strstr(text, "check the socket="));
}

static void who_does_not_answer_in_time_is_blamed_for_nothing(void **state)
{
	begin_jvm("fgagent");
	assert_int_equal(diagnose_pid(child, SOCKET, 0, text), DIAGNOSE_SEEN_LATE);
	assert_non_null(strstr(text, "has not told its mappings in time"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_threads_number_is_told_with_its_process, tear_down),
		cmocka_unit_test_teardown(
			an_agent_is_found_by_its_thread_whatever_its_file_is_called, tear_down),
		cmocka_unit_test_teardown(a_fork_has_no_agent_but_by_its_thread, tear_down),
		cmocka_unit_test_teardown(a_jvm_without_the_agent_is_told_to_take_it, tear_down),
		cmocka_unit_test_teardown(an_agent_that_has_not_connected_is_blamed_for_nothing,
					  tear_down),
		cmocka_unit_test_teardown(who_does_not_answer_in_time_is_blamed_for_nothing,
					  tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
