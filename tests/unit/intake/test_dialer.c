// SPDX-License-Identifier: Apache-2.0
/* Listening agents become sessions, and become them again; others get no word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/log.h"
#include "intake/dialer.h"
#include "fake_proc.h"

static struct intake *intake;
static struct dialer dialer;
static uint64_t real_ticks; /* of this process: sessions are checked against the real /proc */
static uint64_t now_ns;
static int listener;
static size_t n_opened, n_closed;
static bool was_dialled;
static uint64_t opened_ticks;

static uint64_t own_ticks(void)
{
	const int fd = open("/proc/self", O_PATH | O_DIRECTORY);
	unsigned long long ticks = 0;
	char text[1024] = "";
	FILE *file = fopen("/proc/self/stat", "r");

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	close(fd);
	sscanf(strrchr(text, ')'),
	       ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
	       &ticks);
	return ticks;
}

static int setup(void **state)
{
	char path[160];

	fake_proc_make();
	snprintf(path, sizeof(path), "%s/run/agent.sock", fake_proc);
	assert_int_equal(intake_open(path, &intake), 0);
	dialer_init(&dialer, intake, fake_proc);
	real_ticks = own_ticks();
	now_ns = clock_now_ns();
	listener = -1;
	n_opened = n_closed = 0;
	return 0;
}

static int teardown(void **state)
{
	dialer_fini(&dialer);
	intake_close(intake);
	if (listener >= 0)
		close(listener);
	fake_proc_remove();
	return 0;
}

static void listen_at(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s%s", fake_root, path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(listener, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(listener, 1), 0);
}

static void on_event(void *arg, const struct intake_event *event)
{
	(void)arg;
	n_opened += event->kind == INTAKE_OPENED;
	n_closed += event->kind == INTAKE_CLOSED;
	if (event->kind == INTAKE_OPENED) {
		was_dialled = event->session->is_dialled;
		opened_ticks = event->session->start_ticks;
	}
	dialer_heard(&dialer, event);
}

/* So much time passes, as the dialer sees it. */
static void pass(uint64_t ms)
{
	const uint64_t end_ns = now_ns + ms * CLOCK_NS_PER_MS;

	for (; now_ns < end_ns; now_ns += 10 * CLOCK_NS_PER_MS) {
		dialer_step(&dialer, now_ns);
		intake_read(intake, 100, on_event, NULL);
	}
}

/* The agent's side of a connection that waits; -1 if none does. */
static int answer(void)
{
	uint8_t greeting[WIRE_SP_GREETING_BYTES];
	const int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		return -1;
	assert_int_equal(recv(fd, greeting, sizeof(greeting), 0), sizeof(greeting));
	assert_int_equal(wire_check_greeting(greeting, WIRE_SP_PULL), 0);
	wire_encode_greeting(greeting, WIRE_SP_PUSH);
	assert_int_equal(send(fd, greeting, sizeof(greeting), 0), sizeof(greeting));
	return fd;
}

static struct dialer_stats stats(void)
{
	struct dialer_stats ret;

	dialer_stats(&dialer, &ret);
	return ret;
}

static void a_listening_agent_becomes_a_session(void **state)
{
	int fd;

	listen_at("/agent.sock");
	fake_proc_add_listening(getpid(), real_ticks, "/agent.sock");
	pass(10);
	fd = answer();
	assert_true(fd >= 0);
	pass(200);
	assert_int_equal(n_opened, 1);
	assert_true(was_dialled);
	assert_int_equal(opened_ticks, real_ticks);
	assert_int_equal(stats().agents, 1);
	assert_int_equal(stats().reached, 1);
	assert_int_equal(stats().dialled, 1);
	pass(60000);
	assert_int_equal(stats().dialled, 1); /* once is enough */
	close(fd);
}

static void an_agent_that_hangs_up_is_dialled_again(void **state)
{
	int fd;

	listen_at("/agent.sock");
	fake_proc_add_listening(getpid(), real_ticks, "/agent.sock");
	pass(10);
	fd = answer();
	pass(500);
	close(fd);
	pass(500);
	assert_int_equal(n_closed, 1);
	assert_int_equal(stats().dialled, 2);
	fd = answer();
	pass(50);
	assert_int_equal(n_opened, 2);
	close(fd);
}

static void who_does_not_answer_is_tried_less_and_less(void **state)
{
	struct dialer_stats first;

	fake_proc_add_listening(getpid(), real_ticks, "/agent.sock"); /* where nothing is */
	pass(10000);
	first = stats();
	assert_in_range(first.dialled, 5, 9); /* 0, 50, 150, 350, 750 ms ... */
	assert_int_equal(first.failed, first.dialled);
	pass(600000);
	assert_in_range(stats().dialled, first.dialled + 18, first.dialled + 24);
	listen_at("/agent.sock");
	pass(DIALER_MAX_WAIT_NS / CLOCK_NS_PER_MS + 100);
	close(answer());
	pass(10);
	assert_int_equal(n_opened, 1);
}

static void one_that_is_waited_for_is_dialled_again_at_once(void **state)
{
	uint64_t dialled;

	fake_proc_add_listening(getpid(), real_ticks, "/agent.sock"); /* where nothing is */
	pass(300000);
	dialled = stats().dialled;
	listen_at("/agent.sock");
	pass(1000);
	assert_int_equal(stats().dialled, dialled); /* its turn comes in half a minute */
	dialer_expect(&dialer, getpid(), now_ns);
	pass(20);
	assert_int_equal(stats().dialled, dialled + 1);
	close(answer());
	pass(20);
	assert_int_equal(n_opened, 1);
}

/* The PID means another process than the one in which the agent was found. */
static void a_pid_that_was_used_again_is_not_dialled(void **state)
{
	fake_proc_add_listening(getpid(), 5, "/agent.sock");
	pass(20);
	assert_int_equal(stats().dialled, 1);
	fake_proc_add_listening(getpid(), 6, "/agent.sock");
	listen_at("/agent.sock");
	pass(100);
	assert_int_equal(stats().dialled, 1);
	assert_int_equal(stats().agents, 0);
	assert_int_equal(accept(listener, NULL, NULL), -1);
}

static void an_agent_that_listens_no_more_is_forgotten(void **state)
{
	fake_proc_add_listening(getpid(), real_ticks, "/agent.sock");
	pass(10);
	fake_proc_add(getpid(), real_ticks, "/usr/bin/java", NULL);
	pass(200);
	assert_int_equal(stats().agents, 0);
	assert_int_equal(stats().dialled, 1);
}

/* Of process 1, which does not listen there: this one does. */
static void another_processs_socket_gets_no_word(void **state)
{
	char byte;
	int fd;

	listen_at("/agent.sock");
	fake_proc_add_listening(1, 1, "/agent.sock");
	pass(10);
	assert_int_equal(stats().not_theirs, 1);
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	close(fd);
	pass(100);
	assert_int_equal(n_opened, 0);
}

static void who_hangs_up_before_a_greeting_is_put_off(void **state)
{
	listen_at("/agent.sock");
	fake_proc_add_listening(getpid(), real_ticks, "/agent.sock");
	for (int i = 0; i < 1000; i++) {
		const int fd = accept(listener, NULL, NULL);

		if (fd >= 0)
			close(fd);
		pass(10);
	}
	assert_int_equal(n_opened, 0);
	assert_in_range(stats().dialled, 4, 9); /* in 10 s */
	assert_true(stats().failed >= stats().dialled - 1);
}

static void hang_up_until(uint64_t failed)
{
	for (int i = 0; i < 1000 && stats().failed < failed; i++) {
		const int fd = accept(listener, NULL, NULL);

		if (fd >= 0)
			close(fd);
		pass(10);
	}
	assert_int_equal(stats().failed, failed);
}

static void who_fails_once_is_no_line_and_who_does_so_again_is_one(void **state)
{
	static struct log_catch caught;

	listen_at("/agent.sock");
	fake_proc_add_listening(getpid(), real_ticks, "/agent.sock");
	log_catch(&caught);
	hang_up_until(1);
	log_catch(NULL);
	assert_string_equal(caught.warnings, "");
	log_catch(&caught);
	hang_up_until(2);
	log_catch(NULL);
	assert_non_null(strstr(caught.warnings, "cannot be reached: it hung up"));
	caught.warnings[0] = '\0';
	log_catch(&caught);
	hang_up_until(4);
	log_catch(NULL);
	assert_string_equal(caught.warnings, "");
}

/* The limits that hold for agents that dial hold here. */
static void one_process_cannot_have_more_connections_by_listening(void **state)
{
	struct intake_stats intake_counts;
	uint32_t id;
	int pair[2];

	for (int i = 0; i < 17; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
		assert_int_equal(intake_add(intake, pair[0], getpid(), &id), i < 16 ? 0 : -EUSERS);
		close(pair[1]);
	}
	close(pair[0]);
	intake_stats(intake, &intake_counts);
	assert_int_equal(intake_counts.refused, 1);
}

static pid_t others; /* of another user than all other processes */

static struct owner owner_of(void *arg, pid_t pid)
{
	return (struct owner){.user = pid == others ? 1 : 2};
}

static void announce(pid_t first, pid_t n)
{
	for (pid_t pid = first; pid < first + n; pid++)
		fake_proc_add_listening(pid, 1, "/none.sock");
}

static void who_announces_most_agents_makes_room(void **state)
{
	int fd;

	others = getpid();
	intake_set_owner(intake, owner_of, NULL);
	dialer.max_agents = 4;
	announce(70001, 6);
	pass(1000);
	assert_int_equal(stats().agents, 4);
	assert_int_equal(stats().refused, 2);
	listen_at("/agent.sock");
	fake_proc_add_listening(getpid(), real_ticks, "/agent.sock");
	pass(2000);
	fd = answer();
	assert_true(fd >= 0);
	pass(200);
	assert_int_equal(n_opened, 1);
	assert_int_equal(stats().agents, 4);
	assert_int_equal(stats().evicted, 1);
	pass(60000); /* and stays, whoever is announced again and again */
	assert_int_equal(stats().reached, 1);
	assert_int_equal(stats().evicted, 1);
	assert_true(stats().refused > 3);
	close(fd);
}

static void who_never_greeted_goes_first(void **state)
{
	int fd;

	others = 70004;
	intake_set_owner(intake, owner_of, NULL);
	dialer.max_agents = 4;
	announce(70001, 3);
	pass(2000);
	listen_at("/agent.sock");
	fake_proc_add_listening(getpid(), real_ticks, "/agent.sock"); /* the latest */
	pass(2000);
	fd = answer();
	assert_true(fd >= 0);
	pass(200);
	announce(70004, 1);
	pass(2000);
	assert_int_equal(stats().evicted, 1);
	assert_non_null(dialer_find(&dialer, 70004));
	assert_int_equal(stats().reached, 1);
	assert_int_equal(n_closed, 0);
	close(fd);
}

static struct guarded_call *left;

static enum guarded_end run_at_once(void *arg, pid_t pid, struct guarded_call *call)
{
	call->run(call);
	return GUARDED_DONE;
}

/* Keeps the call, as if the socket's file system did not answer. */
static void keep(void *arg, pid_t pid, struct guarded_call *call)
{
	left = call;
}

static void a_socket_that_does_not_answer_is_waited_for_by_nobody(void **state)
{
	static const struct guarded_runner runner = {.run = run_at_once, .leave = keep};

	guarded_use(&runner);
	listen_at("/agent.sock");
	fake_proc_add_listening(getpid(), real_ticks, "/agent.sock");
	pass(5000);
	assert_int_equal(stats().dialled, 1);
	assert_int_equal(stats().failed, 0);
	pass(6000);
	assert_int_equal(stats().failed, 1);
	assert_int_equal(dialer_find(&dialer, getpid())->err, -ETIMEDOUT);
	pass(60000);
	assert_int_equal(stats().dialled, 1); /* one at a time */
	assert_int_equal(stats().failed, 1);
	left->run(left); /* it answers after all */
	left->free(left);
	pass(200);
	close(answer());
	pass(10);
	assert_int_equal(n_opened, 1);
	guarded_use(NULL);
}

static void what_is_dialled_for_nobody_is_closed(void **state)
{
	static const struct guarded_runner runner = {.run = run_at_once, .leave = keep};
	char byte;
	int fd;

	guarded_use(&runner);
	listen_at("/agent.sock");
	fake_proc_add_listening(getpid(), real_ticks, "/agent.sock");
	pass(20);
	dialer_fini(&dialer);
	left->run(left);
	left->free(left);
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 0);
	close(fd);
	guarded_use(NULL);
	dialer_init(&dialer, intake, fake_proc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_listening_agent_becomes_a_session),
		TEST(an_agent_that_hangs_up_is_dialled_again),
		TEST(who_does_not_answer_is_tried_less_and_less),
		TEST(one_that_is_waited_for_is_dialled_again_at_once),
		TEST(a_pid_that_was_used_again_is_not_dialled),
		TEST(an_agent_that_listens_no_more_is_forgotten),
		TEST(another_processs_socket_gets_no_word),
		TEST(one_process_cannot_have_more_connections_by_listening),
		TEST(who_hangs_up_before_a_greeting_is_put_off),
		TEST(who_fails_once_is_no_line_and_who_does_so_again_is_one),
		TEST(who_announces_most_agents_makes_room),
		TEST(who_never_greeted_goes_first),
		TEST(a_socket_that_does_not_answer_is_waited_for_by_nobody),
		TEST(what_is_dialled_for_nobody_is_closed),
	};

	return cmocka_run_group_tests_name("intake dialer", tests, NULL, NULL);
}
