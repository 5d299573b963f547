// SPDX-License-Identifier: Apache-2.0
/* The HTTP server under clients that hold connections, over loopback as a probe is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "web/http_places.h"
#include "web/http_server.h"

#define HANGING	   300
#define LONG_BYTES (16 << 20) /* more than the kernel takes for a client that does not read */
#define ATTEMPTS   60000      /* of 50 ms */

#define HEALTH "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

static struct http_server *server;
static struct sockaddr_in address;
static int hanging[HANGING];
static char answer[4096]; /* the last one */

static int set_up(void **state)
{
	const struct rlimit files = {4096, 4096};
	struct http_address any = {.addr.ss_family = AF_INET};
	struct http_hosts hosts = {0};
	unsigned port;

	(void)state;
	setrlimit(RLIMIT_NOFILE, &files);
	((struct sockaddr_in *)&any.addr)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	http_hosts_add(&hosts, "node1");
	if (http_server_open(&(struct http_server_options){.addresses = &any,
							   .n_addresses = 1,
							   .hosts = &hosts},
			     &server) < 0 ||
	    sscanf(http_server_url(server, 0), "http://127.0.0.1:%u", &port) != 1)
		return -1;
	address = *(struct sockaddr_in *)&any.addr;
	address.sin_port = htons((uint16_t)port);
	for (size_t i = 0; i < HANGING; i++)
		hanging[i] = -1;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < HANGING; i++)
		close(hanging[i]);
	http_server_close(server);
	return 0;
}

static int dial(int receive_bytes)
{
	const struct timeval patience = {.tv_sec = 3000};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	if (receive_bytes)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* The status of the answer, or 0 if no answer came. */
static int ask(const char *request)
{
	int fd = dial(0), status = 0;

	memset(answer, 0, sizeof(answer));
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0 ||
	    recv(fd, answer, sizeof(answer) - 1, 0) <= 0 ||
	    sscanf(answer, "HTTP/1.1 %d ", &status) != 1)
		status = 0;
	close(fd);
	return status;
}

static void hang(const char *request, int receive_bytes)
{
	for (size_t i = 0; i < HANGING; i++) {
		hanging[i] = dial(receive_bytes);
		send(hanging[i], request, strlen(request), MSG_NOSIGNAL);
	}
}

static struct http_stats stats(void)
{
	struct http_stats now;

	http_server_stats(server, &now);
	return now;
}

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
}

static void wait_until_open(uint64_t least, uint64_t most)
{
	struct http_stats now = stats();

	for (unsigned i = 0; i < ATTEMPTS && (now.open < least || now.open > most); i++) {
		pause_briefly();
		now = stats();
	}
	assert_in_range(now.open, least, most);
}

static void publish_long_metrics(void)
{
	char *text = malloc(LONG_BYTES);

	assert_non_null(text);
	memset(text, '#', LONG_BYTES);
	http_server_publish(server, text, LONG_BYTES, NULL);
}

static void check_that_hanging_clients_keep_nobody_out(const char *request)
{
	hang(request, 0);
	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(ask(HEALTH), 200);
	/* An asker takes the place of another one, and leaves the place free. */
	wait_until_open(1, HTTP_MAX_WAITING);
	assert_true(stats().evicted >= HANGING - HTTP_MAX_WAITING);
}

static void clients_that_send_nothing_keep_nobody_out(void **state)
{
	(void)state;
	check_that_hanging_clients_keep_nobody_out("");
}

static void clients_that_send_half_a_head_keep_nobody_out(void **state)
{
	(void)state;
	check_that_hanging_clients_keep_nobody_out("GET /healthz HTTP/1.1\r\nHost: local");
}

static void clients_that_do_not_read_keep_nobody_out(void **state)
{
	(void)state;
	publish_long_metrics();
	hang("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 4096);
	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(ask(HEALTH), 200);
	wait_until_open(1, HTTP_MAX_ANSWERED);
	assert_true(stats().evicted >= HANGING - HTTP_MAX_ANSWERED);
	assert_int_equal(stats().scrapes, HANGING);
}

static void a_client_that_has_its_answer_keeps_no_place(void **state)
{
	(void)state;
	hang("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n", 0);
	wait_until_open(0, 0);
	assert_int_equal(stats().expired, 0);
	assert_int_equal(ask(HEALTH), 200);
	assert_non_null(strstr(answer, "Connection: close\r\n"));
}

/* The library closes connections only after it has answered all whose requests have come. */
static void answers_that_are_taken_are_not_too_many(void **state)
{
	const size_t count = HTTP_MAX_WAITING;

	(void)state;
	for (unsigned round = 0; round < 8; round++) {
		for (size_t i = 0; i < count; i++)
			hanging[i] = dial(0);
		wait_until_open(count, count);
		for (size_t i = 0; i < count; i++)
			assert_true(send(hanging[i], HEALTH, strlen(HEALTH), MSG_NOSIGNAL) > 0);
		wait_until_open(0, 0);
		for (size_t i = 0; i < count; i++) {
			assert_true(recv(hanging[i], answer, sizeof(answer), 0) > 0);
			close(hanging[i]);
			hanging[i] = -1;
		}
	}
	assert_int_equal(stats().evicted, 0);
}

static void a_head_that_is_late_is_not_waited_for(void **state)
{
	(void)state;
	hanging[0] = dial(0);
	send(hanging[0], "G", 1, MSG_NOSIGNAL);
	wait_until_open(1, 1);
	http_server_expire(server, clock_now_ns());
	assert_int_equal(stats().expired, 0);
	http_server_expire(server, clock_now_ns() + HTTP_MAX_HEAD_NS);
	assert_int_equal(stats().expired, 1);
	wait_until_open(0, 0);
}

static void an_answer_that_is_not_taken_is_given_up(void **state)
{
	const char *const request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

	(void)state;
	publish_long_metrics();
	hanging[0] = dial(4096);
	send(hanging[0], request, strlen(request), MSG_NOSIGNAL);
	for (unsigned i = 0; i < ATTEMPTS && stats().scrapes == 0; i++)
		pause_briefly();
	http_server_expire(server, clock_now_ns() + HTTP_MAX_HEAD_NS);
	assert_int_equal(stats().expired, 0);
	http_server_expire(server, clock_now_ns() + HTTP_MAX_ANSWER_NS);
	assert_int_equal(stats().expired, 1);
	wait_until_open(0, 0);
}

/* What the kernel holds for a client after the server has closed has that limit alone. */
static void the_kernel_gives_up_what_is_not_taken(void **state)
{
	struct sockaddr_in own;
	unsigned most_ms = 0, found = 0;

	(void)state;
	hanging[0] = dial(0);
	wait_until_open(1, 1);
	for (int fd = 3; fd < 64; fd++) {
		socklen_t own_len = sizeof(own), len = sizeof(most_ms);

		if (getsockname(fd, (struct sockaddr *)&own, &own_len) < 0 ||
		    own.sin_port != address.sin_port)
			continue;
		assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &most_ms, &len), 0);
		assert_int_equal(most_ms, HTTP_MAX_ANSWER_NS / CLOCK_NS_PER_MS);
		found++;
	}
	assert_int_equal(found, 2); /* the socket that listens, and the connection */
}

static void a_connection_that_ends_without_a_request_is_counted(void **state)
{
	(void)state;
	close(dial(0));
	for (unsigned i = 0; i < ATTEMPTS && stats().unfinished == 0; i++)
		pause_briefly();
	assert_int_equal(stats().unfinished, 1);
	assert_int_equal(stats().evicted + stats().expired, 0);
}

static void requests_for_other_hosts_are_refused(void **state)
{
	(void)state;
	assert_int_equal(ask("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"), 200);
	assert_int_equal(ask("GET /healthz HTTP/1.1\r\nhost: NODE1\r\n\r\n"), 200);
	assert_int_equal(ask("GET /healthz HTTP/1.0\r\n\r\n"), 200);
	assert_int_equal(stats().misdirected, 0);
	assert_int_equal(ask("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 421);
	assert_int_equal(ask("GET /metrics HTTP/1.1\r\nHost: node1.evil.example\r\n\r\n"), 421);
	assert_int_equal(ask("GET /healthz HTTP/1.1\r\nHost:\r\n\r\n"), 421);
	assert_int_equal(ask("GET /healthz HTTP/1.0\r\nHost: evil.example\r\n\r\n"), 421);
	assert_non_null(strstr(answer, "--http-host"));
	assert_int_equal(stats().misdirected, 4);
	assert_int_equal(ask("GET /healthz HTTP/1.1\r\n\r\n"), 400);
	assert_int_equal(stats().refused, 0);
	assert_int_equal(ask("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n"
			     "Host: localhost\r\n\r\n"),
			 400);
	assert_int_equal(stats().refused, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(clients_that_send_nothing_keep_nobody_out, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(clients_that_send_half_a_head_keep_nobody_out,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(clients_that_do_not_read_keep_nobody_out, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_client_that_has_its_answer_keeps_no_place, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(answers_that_are_taken_are_not_too_many, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_head_that_is_late_is_not_waited_for, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_answer_that_is_not_taken_is_given_up, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_kernel_gives_up_what_is_not_taken, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_connection_that_ends_without_a_request_is_counted,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(requests_for_other_hosts_are_refused, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
