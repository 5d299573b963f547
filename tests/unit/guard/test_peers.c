// SPDX-License-Identifier: Apache-2.0
/* Who may be heard at a socket, when the answer comes at once, late or never. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/guarded.h"
#include "guard/peers.h"

#define NOW UINT64_C(1000000000)

static struct peers peers;
static int pair[2];
static struct guarded_call *kept; /* which has not run */

static void keep_call(void *arg, pid_t pid, struct guarded_call *call)
{
	(void)arg;
	assert_int_equal(pid, getpid());
	assert_null(kept);
	kept = call;
}

static const struct guarded_runner keeper = {.leave = keep_call};

static void let_run(void)
{
	kept->run(kept);
	kept->free(kept);
	kept = NULL;
}

static int set_up(void **state)
{
	(void)state;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	return peers_open(&peers);
}

static int tear_down(void **state)
{
	(void)state;
	guarded_use(NULL);
	peers_close(&peers);
	if (kept)
		let_run(); /* when nobody asks any more */
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static void assert_nobody(uint64_t now_ns)
{
	enum peers_verdict verdict;
	pid_t pid;

	assert_int_equal(peers_next(&peers, now_ns, &verdict, &pid), -1);
}

static void assert_verdict(uint64_t now_ns, enum peers_verdict expected)
{
	enum peers_verdict verdict;
	pid_t pid;

	assert_int_equal(peers_next(&peers, now_ns, &verdict, &pid), pair[0]);
	assert_int_equal(verdict, expected);
	assert_int_equal(pid, getpid());
	assert_int_equal(peers.count, 0);
}

static bool is_timed(void)
{
	struct pollfd timer = {.fd = peers.timer_fd, .events = POLLIN};

	return poll(&timer, 1, -1) == 1;
}

static void who_is_in_no_container_is_heard(void **state)
{
	(void)state;
	assert_int_equal(peers_ask(&peers, pair[0], NOW), 0);
	assert_true(is_timed());
	assert_verdict(NOW, PEERS_WELCOME);
	assert_nobody(NOW);
}

static void who_is_asked_about_waits_and_nobody_else(void **state)
{
	(void)state;
	guarded_use(&keeper);
	assert_int_equal(peers_ask(&peers, pair[0], NOW), 0);
	assert_nobody(NOW);
	assert_true(is_timed()); /* to look again */
	assert_nobody(NOW + PEERS_PATIENCE_NS - 1);
	let_run();
	assert_verdict(NOW + PEERS_PATIENCE_NS - 1, PEERS_WELCOME);
}

static void who_never_answers_is_let_go(void **state)
{
	(void)state;
	guarded_use(&keeper);
	assert_int_equal(peers_ask(&peers, pair[0], NOW), 0);
	assert_verdict(NOW + PEERS_PATIENCE_NS, PEERS_SILENT);
	let_run(); /* the answer comes when nobody has the question any more */
	assert_nobody(NOW + PEERS_PATIENCE_NS);
}

static void as_many_are_asked_about_as_there_is_room_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEERS_MAX; i++)
		assert_int_equal(peers_ask(&peers, pair[0], NOW), 0);
	assert_int_equal(peers_ask(&peers, pair[0], NOW), -EAGAIN);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(who_is_in_no_container_is_heard),
		CLAIM(who_is_asked_about_waits_and_nobody_else),
		CLAIM(who_never_answers_is_let_go),
		CLAIM(as_many_are_asked_about_as_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
