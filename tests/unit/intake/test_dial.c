// SPDX-License-Identifier: Apache-2.0
/*
 * Dialling through a process's root in which anything may have been put where the socket should be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/child.h"
#include "intake/dial.h"
#include "fake_proc.h"

#define TICKS 1000

static char inside[160]; /* the last path of in_root */

static int setup(void **state)
{
	fake_proc_make();
	fake_proc_add(getpid(), TICKS, "/usr/bin/java", NULL);
	return 0;
}

static int teardown(void **state)
{
	fake_proc_remove();
	return 0;
}

static const char *in_root(const char *path)
{
	snprintf(inside, sizeof(inside), "%s%s", fake_root, path);
	return inside;
}

static int listen_at(const char *path, int type)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static int dial(const char *path)
{
	char dir[96];
	int proc_fd, ret;

	snprintf(dir, sizeof(dir), "%s/%d", fake_proc, (int)getpid());
	proc_fd = open(dir, O_PATH | O_DIRECTORY);
	ret = dial_process(proc_fd, getpid(), path);
	close(proc_fd);
	return ret;
}

static void its_own_socket_is_connected_to(void **state)
{
	const int listener = listen_at(in_root("/agent.sock"), SOCK_STREAM);
	const int fd = dial("/agent.sock");
	char byte;
	int peer;

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	peer = accept(listener, NULL, NULL);
	assert_true(peer >= 0);
	assert_int_equal(recv(peer, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	close(peer);
	close(fd);
	close(listener);
}

static void the_length_of_the_roots_own_path_does_not_matter(void **state)
{
	char deep[160] = "/";
	int listener;

	memset(deep + 1, 'd', 60);
	assert_int_equal(mkdir(in_root(deep), 0755), 0);
	assert_int_equal(chdir(inside), 0);
	listener = listen_at("agent-with-a-long-name.sock", SOCK_STREAM);
	strcat(deep, "/agent-with-a-long-name.sock");
	assert_true(strlen(in_root(deep)) > 108);
	assert_true(dial(deep) >= 0);
	close(listener);
	assert_int_equal(chdir("/"), 0);
}

/* Whatever leads there, to a socket that is this process's own. */
static void no_symbolic_link_is_followed(void **state)
{
	const int listener = listen_at(in_root("/real.sock"), SOCK_STREAM);
	char outside[128];

	assert_int_equal(symlink("real.sock", in_root("/link.sock")), 0);
	assert_int_equal(dial("/link.sock"), -ELOOP);
	assert_int_equal(symlink(".", in_root("/dir")), 0);
	assert_int_equal(dial("/dir/real.sock"), -ELOOP);
	snprintf(outside, sizeof(outside), "%s/outside.sock", fake_proc);
	close(listen_at(outside, SOCK_STREAM));
	assert_int_equal(symlink(outside, in_root("/out.sock")), 0);
	assert_int_equal(dial("/out.sock"), -ELOOP);
	assert_int_equal(accept(listener, NULL, NULL), -1);
	close(listener);
}

static void the_root_is_not_left(void **state)
{
	char outside[128];
	int listener;

	snprintf(outside, sizeof(outside), "%s/outside.sock", fake_proc);
	listener = listen_at(outside, SOCK_STREAM);
	assert_int_equal(dial("/../outside.sock"), -ENOENT);
	assert_int_equal(dial("/../../../../outside.sock"), -ENOENT);
	assert_int_equal(accept(listener, NULL, NULL), -1);
	close(listener);
}

static void what_is_no_socket_is_not_touched(void **state)
{
	close(open(in_root("/file"), O_CREAT | O_WRONLY, 0600));
	assert_int_equal(dial("/file"), -ENOTSOCK);
	assert_int_equal(mkfifo(in_root("/fifo"), 0600), 0);
	assert_int_equal(dial("/fifo"), -ENOTSOCK); /* or it would wait for a writer */
	assert_int_equal(mkdir(in_root("/dir"), 0755), 0);
	assert_int_equal(dial("/dir"), -ENOTSOCK);
	assert_int_equal(dial("/missing"), -ENOENT);
	assert_true(dial("/file/agent.sock") < 0);
	if (geteuid() == 0 && mknod(in_root("/null"), S_IFCHR | 0600, 0x103) == 0)
		assert_int_equal(dial("/null"), -ENOTSOCK);
}

static void sockets_that_answer_nobody_are_told_apart(void **state)
{
	const int busy = listen_at(in_root("/busy.sock"), SOCK_STREAM);
	const int datagram = listen_at(in_root("/datagram.sock"), SOCK_DGRAM);

	close(listen_at(in_root("/stale.sock"), SOCK_STREAM));
	assert_int_equal(dial("/stale.sock"), -ECONNREFUSED);
	assert_int_equal(dial("/datagram.sock"), -ENOTSOCK);
	assert_true(dial("/busy.sock") >= 0);
	assert_true(dial("/busy.sock") >= 0);
	assert_int_equal(dial("/busy.sock"), -EAGAIN); /* at once */
	close(busy);
	close(datagram);
}

/* As a container would have it that puts the socket of something else there. */
static void nothing_is_sent_to_another_processs_socket(void **state)
{
	int ready[2];
	char byte;
	pid_t other;

	in_root("/others.sock");
	assert_int_equal(pipe(ready), 0);
	other = fork();
	if (other == 0) {
		const int listener = listen_at(inside, SOCK_STREAM);
		int fd;

		prctl(PR_SET_PDEATHSIG, SIGKILL); /* where the test fails and leaves it behind */
		fcntl(listener, F_SETFL, 0);
		if (write(ready[1], "", 1) != 1)
			_exit(2);
		fd = accept(listener, NULL, NULL);
		_exit(fd >= 0 && read(fd, &byte, 1) == 0 ? 0
							 : 1); /* it is hung up on, unspoken to */
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(dial("/others.sock"), -ESTALE);
	child_check(other);
	close(ready[0]);
	close(ready[1]);
}

static void a_process_that_is_gone_is_not_dialled(void **state)
{
	const int listener = listen_at(in_root("/agent.sock"), SOCK_STREAM);
	char dir[96];
	int proc_fd;

	snprintf(dir, sizeof(dir), "%s/%d", fake_proc, (int)getpid());
	proc_fd = open(dir, O_PATH | O_DIRECTORY);
	fake_proc_drop(getpid());
	assert_int_equal(dial_process(proc_fd, getpid(), "/agent.sock"), -ESRCH);
	close(proc_fd);
	close(listener);
}

/* It ends between the connection and the last look: its PID may be another's by then. */
static void a_connection_to_a_process_that_ends_meanwhile_is_closed(void **state)
{
	const int listener = listen_at(in_root("/agent.sock"), SOCK_STREAM);
	char path[128];

	snprintf(path, sizeof(path), "%s/%d/stat", fake_proc, (int)getpid());
	assert_int_equal(unlink(path), 0);
	assert_int_equal(dial("/agent.sock"), -ESRCH);
	close(listener);
}

static void every_reason_has_words(void **state)
{
	static const int errs[] = {ESRCH,  ENOENT, ELOOP, EXDEV,  ENOTSOCK, ECONNREFUSED, EAGAIN,
				   ESTALE, EACCES, EPERM, EUSERS, EPROTO,   EMFILE};

	for (size_t i = 0; i < sizeof(errs) / sizeof(*errs); i++)
		assert_true(strlen(dial_reason(-errs[i])) > 10 &&
			    strlen(dial_remedy(-errs[i])) > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(its_own_socket_is_connected_to),
		TEST(the_length_of_the_roots_own_path_does_not_matter),
		TEST(no_symbolic_link_is_followed),
		TEST(the_root_is_not_left),
		TEST(what_is_no_socket_is_not_touched),
		TEST(sockets_that_answer_nobody_are_told_apart),
		TEST(nothing_is_sent_to_another_processs_socket),
		TEST(a_process_that_is_gone_is_not_dialled),
		TEST(a_connection_to_a_process_that_ends_meanwhile_is_closed),
		TEST(every_reason_has_words),
	};

	return cmocka_run_group_tests_name("intake dial", tests, NULL, NULL);
}
