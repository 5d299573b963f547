// SPDX-License-Identifier: Apache-2.0
/* The HTTP server over a store: who is answered, who waits, who is refused, and who is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../store/samples.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "common/temp_dir.h"
#include "web/http_places.h"
#include "web/http_server.h"
#include "web/web_desk.h"

#define NOW	 1699999200
#define ATTEMPTS 600 /* of 50 ms */
#define BYTES	 (1u << 20)
#define TOKEN	 "0123456789abcdef"

#define GET(path)   "GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define STORE	    GET("/api/v1/store")
#define PROCESSES   GET("/api/v1/processes?to=1800000000000")
#define FOLDED	    GET("/api/v1/graph?from=1699999200000&format=folded")
#define MAX_CLIENTS 150

static char dir[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 32], token_path[TEMP_DIR_BYTES + 32];
static struct http_server_options options;
static struct http_server *server;
static struct http_address any;
static struct http_hosts hosts;
static unsigned port;
static int clients[MAX_CLIENTS];
static char *answer; /* the last one */

static int set_up(void **state)
{
	const struct store_process process = samples_process(4711, 7, "org.example.Main");
	struct store *store;

	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/page.sock", dir);
	snprintf(token_path, sizeof(token_path), "%s/token", dir);
	store = samples_open(dir, NOW);
	for (unsigned i = 0; i < 20; i++)
		samples_write(store, NOW + 1000, &process, "A.a", NOW + i * 10, 19);
	store_close(store);
	any = (struct http_address){.addr.ss_family = AF_INET};
	((struct sockaddr_in *)&any.addr)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	options = (struct http_server_options){.addresses = &any,
					       .n_addresses = 1,
					       .hosts = &hosts,
					       .store_dir = dir,
					       .window_ns = 10 * SAMPLES_SEC,
					       .max_bytes = 64 * BYTES};
	answer = malloc(BYTES);
	for (size_t i = 0; i < MAX_CLIENTS; i++)
		clients[i] = -1;
	return answer ? 0 : -1;
}

static int tear_down(void **state)
{
	for (size_t i = 0; i < MAX_CLIENTS; i++)
		if (clients[i] >= 0)
			close(clients[i]);
	http_server_close(server);
	server = NULL;
	free(answer);
	temp_dir_remove(dir);
	return 0;
}

static void start(void)
{
	assert_int_equal(http_server_open(&options, &server), 0);
	if (!any.unix_path)
		assert_int_equal(sscanf(http_server_url(server, 0), "http://127.0.0.1:%u", &port),
				 1);
}

static int dial(void)
{
	const struct timeval patience = {.tv_sec = 20};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct sockaddr_in to = *(struct sockaddr_in *)&any.addr;
	int fd = socket(any.unix_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	to.sin_port = htons((uint16_t)port);
	assert_int_equal(any.unix_path ? connect(fd, (struct sockaddr *)&at, sizeof(at))
				       : connect(fd, (struct sockaddr *)&to, sizeof(to)),
			 0);
	return fd;
}

static void say(int fd, const char *request)
{
	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
}

/* The status of the answer; 0: none came. */
static int hear(int fd)
{
	size_t len = 0;
	ssize_t n;
	int status = 0;

	while ((n = recv(fd, answer + len, BYTES - 1 - len, 0)) > 0)
		len += (size_t)n;
	answer[len] = '\0';
	return sscanf(answer, "HTTP/1.1 %d ", &status) == 1 ? status : 0;
}

static int ask(const char *request)
{
	const int fd = dial();
	int status;

	say(fd, request);
	status = hear(fd);
	close(fd);
	return status;
}

static void check_has(const char *text)
{
	if (!strstr(answer, text))
		fail_msg("no \"%s\" in %.500s", text, answer);
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

static void what_is_stored_is_answered(void **state)
{
	start();
	assert_int_equal(ask(STORE), 200);
	check_has("\"processes\":1,");
	check_has("Cache-Control: no-store\r\n");
	check_has("X-Content-Type-Options: nosniff\r\n");
	check_has("Content-Security-Policy: default-src 'none'; frame-ancestors 'self'\r\n");
	assert_int_equal(ask(PROCESSES), 200);
	check_has("\"samples\":380,");
	assert_int_equal(ask(FOLDED), 200);
	check_has("\r\n\r\nMain.main_[0];A.a_[j] 380\n");
	check_has("filename=\"org.example.Main-PID-4711-20231114T220000Z-");
	assert_int_equal(ask(GET("/api/v1/graph?from=1699999200000")), 200);
	check_has("Content-Type: text/html; charset=utf-8\r\n");
	check_has("Content-Security-Policy: frame-ancestors 'self'; ");
	assert_null(strstr(answer, "attachment"));
	assert_int_equal(ask(GET("/")), 200);
	check_has("script-src 'sha256-");
	assert_int_equal(stats().web.queries, 4);
	assert_int_equal(stats().web.answer_bytes, 0);
}

static void heads_alone_are_answered_with_heads(void **state)
{
	start();
	assert_int_equal(ask("HEAD /api/v1/store HTTP/1.1\r\nHost: localhost\r\n\r\n"), 200);
	check_has("Content-Length: ");
	assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
	assert_int_equal(ask("POST /api/v1/store HTTP/1.1\r\nHost: localhost\r\n\r\n"), 405);
	assert_int_equal(ask("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 405);
}

static void bad_requests_are_told_why(void **state)
{
	start();
	assert_int_equal(ask(GET("/api/v1/heat?columns=x")), 400);
	check_has("{\"error\": \"columns x: a number");
	assert_int_equal(ask(GET("/api/v1/graph?from=%00")), 400);
	assert_int_equal(ask(GET("/api/v1/graph?from=1600000000000&to=1600000001000")), 404);
	check_has("no samples of what was asked for");
	assert_int_equal(ask(GET("/api/v1/other")), 404);
	assert_int_equal(ask(GET("/api")), 404);
	assert_int_equal(stats().web.failed, 0);
}

static void without_a_store_there_are_metrics_alone(void **state)
{
	options.store_dir = NULL;
	start();
	assert_int_equal(ask(STORE), 404);
	check_has("start it with --store DIR");
	assert_int_equal(ask(GET("/")), 404);
	assert_int_equal(ask(GET("/healthz")), 200);
}

static void a_store_that_is_gone_is_said(void **state)
{
	char index[TEMP_DIR_BYTES + 32];

	start();
	snprintf(index, sizeof(index), "%s/index.db", dir);
	assert_int_equal(truncate(index, 100), 0);
	assert_int_equal(ask(STORE), 500);
	check_has("is damaged; the files in segments/ can be read one by one");
	assert_int_equal(unlink(index), 0);
	assert_int_equal(ask(STORE), 404);
	check_has("there is no index.db");
	assert_int_equal(stats().web.failed, 1);
}

static void what_is_not_whole_is_said(void **state)
{
	char segment[TEMP_DIR_BYTES + 64];

	start();
	snprintf(segment, sizeof(segment), "%s/segments/20231114T220010Z-4711-7.fgrec", dir);
	assert_int_equal(truncate(segment, 100), 0);
	assert_int_equal(ask(FOLDED), 200);
	check_has("Fgcollect-Warning: ");
	check_has("1 files of the range are damaged or cannot be read; the first is "
		  "20231114T220010Z-4711-7.fgrec");
	check_has("A.a_[j] 361\n");
	assert_int_equal(ask(GET("/api/v1/graph?from=1699999200000&format=svg")), 200);
	check_has("1 files of the range are damaged");
	assert_non_null(strstr(strstr(answer, "<svg"), "1 files of the range are damaged"));
}

static void a_token_is_asked_for(void **state)
{
	FILE *const file = fopen(token_path, "w");

	fputs(TOKEN "\n", file);
	fclose(file);
	assert_int_equal(chmod(token_path, 0600), 0);
	options.token_file = token_path;
	start();
	assert_int_equal(ask(STORE), 401);
	check_has("WWW-Authenticate: Basic realm=\"fgcollect\"");
	assert_int_equal(ask(GET("/")), 401);
	assert_int_equal(ask(GET("/metrics")), 503); /* none are published yet */
	assert_int_equal(ask("GET /api/v1/store HTTP/1.1\r\nHost: localhost\r\n"
			     "Authorization: Bearer " TOKEN "\r\n\r\n"),
			 200);
	assert_int_equal(ask("GET /api/v1/store HTTP/1.1\r\nHost: localhost\r\n"
			     "Authorization: Basic YW55OjAxMjM0NTY3ODlhYmNkZWY=\r\n\r\n"),
			 200);
	assert_int_equal(ask("GET /api/v1/store HTTP/1.1\r\nHost: localhost\r\n"
			     "Authorization: Basic !!!\r\n\r\n"),
			 401);
	assert_int_equal(stats().denied, 3);
	assert_int_equal(stats().web.queries, 2);
}

static void other_sites_get_no_data(void **state)
{
	start();
	assert_int_equal(ask("GET /api/v1/store HTTP/1.1\r\nHost: localhost\r\n"
			     "Sec-Fetch-Site: cross-site\r\n\r\n"),
			 403);
	assert_int_equal(ask("GET / HTTP/1.1\r\nHost: localhost\r\n"
			     "Sec-Fetch-Site: cross-site\r\n\r\n"),
			 200); /* a link */
	assert_int_equal(ask("GET /api/v1/store HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 421);
}

static void a_unix_socket_is_for_its_user(void **state)
{
	struct stat st;

	any.unix_path = path;
	start();
	assert_string_equal(http_server_url(server, 0) + strlen("unix:"), path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(ask(STORE), 200);
	assert_int_equal(ask("GET /api/v1/store HTTP/1.1\r\nHost: any.example\r\n\r\n"), 421);
	assert_int_equal(ask("GET /healthz HTTP/1.1\r\nHost: any.example\r\n\r\n"), 200);
	http_server_close(server);
	server = NULL;
	assert_int_equal(stat(path, &st), -1);
}

static void a_stale_socket_is_replaced_and_a_used_one_is_not(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct http_server *second = NULL;
	const int stale = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	assert_int_equal(bind(stale, (struct sockaddr *)&at, sizeof(at)), 0);
	close(stale);
	any.unix_path = path;
	start();
	assert_int_equal(ask(STORE), 200);
	assert_int_equal(http_server_open(&options, &second), -EADDRINUSE);
	assert_int_equal(ask(STORE), 200);
}

/* What is seen over one address is not seen over all. */
static void each_address_has_its_own_rules(void **state)
{
	struct http_address addresses[3] = {any, any, {.unix_path = path}};
	struct stat st;
	unsigned second;

	((struct sockaddr_in *)&addresses[1].addr)->sin_addr.s_addr = htonl(INADDR_ANY);
	options.addresses = addresses;
	options.n_addresses = 3;
	start();
	assert_int_equal(sscanf(http_server_url(server, 1), "http://0.0.0.0:%u", &second), 1);
	assert_string_equal(http_server_url(server, 2) + strlen("unix:"), path);
	assert_null(http_server_url(server, 3));
	assert_int_equal(ask(STORE), 200);
	port = second;
	assert_int_equal(ask(STORE), 403);
	assert_int_equal(ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"), 200);
	any.unix_path = path;
	assert_int_equal(ask(STORE), 200);
	http_server_close(server);
	server = NULL;
	assert_int_equal(stat(path, &st), -1);
}

static void an_address_that_is_taken_leaves_no_other(void **state)
{
	struct http_address addresses[2] = {{.unix_path = path}, any};
	struct http_server *second = NULL;
	struct stat st;

	start();
	((struct sockaddr_in *)&addresses[1].addr)->sin_port = htons(1);
	((struct sockaddr_in *)&addresses[1].addr)->sin_addr.s_addr = htonl(0xc0000201);
	options.addresses = addresses;
	options.n_addresses = 2;
	assert_true(http_server_open(&options, &second) < 0); /* 192.0.2.1 is nobody's */
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(ask(STORE), 200);
}

static void a_place_where_others_may_put_a_socket_is_refused(void **state)
{
	any.unix_path = path;
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(http_server_open(&options, &server), -EPERM);
	assert_int_equal(chmod(dir, 01777), 0);
	start();
	assert_int_equal(ask(STORE), 200);
}

static void many_clients_are_answered_or_told_to_come_again(void **state)
{
	unsigned answered = 0, refused = 0;

	start();
	for (size_t i = 0; i < 100; i++) {
		clients[i] = dial();
		say(clients[i], FOLDED);
	}
	for (size_t i = 0; i < 100; i++) {
		const int status = hear(clients[i]);

		answered += status == 200;
		refused += status == 503;
		if (status == 503)
			check_has("Retry-After: 2\r\n");
	}
	assert_int_equal(answered + refused, 100);
	assert_true(answered >= WEB_MAX_WAITING);
	assert_int_equal(stats().web.refused, refused);
	assert_int_equal(stats().web.queries, 100);
}

static void clients_that_are_gone_are_not_answered(void **state)
{
	struct http_stats now;

	start();
	for (size_t i = 0; i < 30; i++) {
		clients[i] = dial();
		say(clients[i], FOLDED);
	}
	for (size_t i = 0; i < 30; i++) {
		close(clients[i]);
		clients[i] = -1;
	}
	for (unsigned i = 0; i < ATTEMPTS; i++) {
		now = stats();
		if (now.open == 0 && now.web.waiting + now.web.begun == 0)
			break;
		http_server_expire(server, clock_now_ns());
		pause_briefly();
	}
	assert_int_equal(now.open, 0);
	assert_int_equal(now.web.answer_bytes, 0);
	assert_int_equal(ask(STORE), 200);
}

static void clients_that_hang_keep_nobody_out(void **state)
{
	start();
	for (size_t i = 0; i < MAX_CLIENTS; i++) {
		clients[i] = dial();
		say(clients[i], "GET /api/v1/store HTTP/1.1\r\nHost: loc");
	}
	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(ask(STORE), 200);
	assert_true(stats().evicted >= MAX_CLIENTS - HTTP_MAX_WAITING);
}

static void ending_answers_those_that_wait_with_nothing(void **state)
{
	start();
	for (size_t i = 0; i < 20; i++) {
		clients[i] = dial();
		say(clients[i], FOLDED);
	}
	while (stats().web.queries < 20)
		pause_briefly();
	http_server_close(server);
	server = NULL;
	for (size_t i = 0; i < 20; i++) {
		const int status = hear(clients[i]);

		assert_true(status == 200 || status == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_stored_is_answered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(heads_alone_are_answered_with_heads, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(bad_requests_are_told_why, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_store_there_are_metrics_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_store_that_is_gone_is_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_whole_is_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_token_is_asked_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_sites_get_no_data, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_unix_socket_is_for_its_user, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_stale_socket_is_replaced_and_a_used_one_is_not,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_address_has_its_own_rules, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_address_that_is_taken_leaves_no_other, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_place_where_others_may_put_a_socket_is_refused,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_clients_are_answered_or_told_to_come_again,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(clients_that_are_gone_are_not_answered, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(clients_that_hang_keep_nobody_out, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(ending_answers_those_that_wait_with_nothing, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
