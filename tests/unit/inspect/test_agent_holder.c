// SPDX-License-Identifier: Apache-2.0
/* Claims about inspect/agent_holder.h: this process is the agent, and its child the collector. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/child.h"
#include "common/temp_dir.h"
#include "inspect/agent_holder.h"

static char dir[TEMP_DIR_BYTES];
static char path[128];
static int listener;
static pid_t child;

static int set_up(void **state)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/agent.sock", dir);
	memcpy(addr.sun_path, path, strlen(path) + 1);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(listener, 1), 0);
	return 0;
}

static int tear_down(void **state)
{
	close(listener);
	if (child > 0)
		child_end(child);
	child = 0;
	temp_dir_remove(dir);
	return 0;
}

/* Connects, and stays. */
static void connect_and_stay(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(addr.sun_path, path, strlen(path) + 1);
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		_exit(1);
	for (;;)
		pause();
}

static int accept_from_child(void)
{
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		connect_and_stay();
	}
	return accept(listener, NULL, NULL);
}

static void nobody_holds_an_agent_that_only_listens(void **state)
{
	assert_int_equal(agent_holder_find(getpid(), path), 0);
}

/* The connection counts that the process itself has, and no other one of a socket of that name. */
static void a_process_without_such_a_connection_serves_nobody(void **state)
{
	const pid_t other = child_start();
	const int fd = accept_from_child();

	assert_true(fd >= 0);
	assert_int_equal(agent_holder_find(other, path), 0);
	close(fd);
	child_end(other);
}

static void whoever_has_connected_holds_the_agent(void **state)
{
	const int fd = accept_from_child();

	assert_true(fd >= 0);
	assert_int_equal(agent_holder_find(getpid(), path), child);
	assert_int_equal(agent_holder_find(getpid(), "/another"), 0);
	close(fd);
	assert_int_equal(agent_holder_find(getpid(), path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nobody_holds_an_agent_that_only_listens, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_process_without_such_a_connection_serves_nobody,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(whoever_has_connected_holds_the_agent, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
