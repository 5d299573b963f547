// SPDX-License-Identifier: Apache-2.0
/* Claims about publish/publish_socket.h, with subscribers and clients that are none. */
#include "publish/publish_socket.h"

#include "subscriber.h"

#include "base/log.h"
#include "common/files.h"
#include "common/temp_dir.h"
#include "publish/publish_threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NOW UINT64_C(1000000000)

static char dir[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 16];
static struct publish_socket published;

static int set_up(void **state)
{
	const struct publish_paths paths = {.option = "--publish", .paths = {path}, .count = 1};

	log_set_level(LOG_LEVEL_SILENT);
	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/events", dir);
	return publish_socket_open(&published, PUBLISH_PUB, &paths, 4, NOW);
}

static int tear_down(void **state)
{
	if (published.n_listeners)
		publish_socket_close(&published);
	temp_dir_remove(dir);
	return 0;
}

static void rest(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static void send_text(const char *text)
{
	nng_msg *msg;

	assert_int_equal(nng_msg_alloc(&msg, 0), 0);
	assert_int_equal(nng_msg_append(msg, text, strlen(text)), 0);
	assert_int_equal(publish_socket_send(&published, msg), 0);
}

/* Whether a subscriber that comes now gets what is sent. */
static bool subscriber_is_served(void)
{
	const uint64_t before = published.clients;
	struct subscriber subscriber;
	size_t len;
	bool is_served;

	subscriber_open(&subscriber, path, "");
	for (int i = 0; i < 50 && published.clients == before; i++)
		rest();
	send_text("hello");
	is_served = subscriber_next(&subscriber, 500, &len) != NULL;
	subscriber_close(&subscriber);
	return is_served && subscriber_wait(&published.clients, before);
}

/* Ends libnng's listener as a client does that goes away while it is greeted. */
static void end_listener(void)
{
	for (int i = 0; i < 20 && subscriber_is_served(); i++) {
		struct sockaddr_un addr = {.sun_family = AF_UNIX};
		const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
		assert_int_equal(connect(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
		assert_int_equal(send(fd, "GET / HT", 8, 0), 8);
		close(fd);
		rest();
	}
}

/* Lets the check run for so long, by its clock. */
static void check_for(uint64_t from_ns, uint64_t until_ns)
{
	for (uint64_t now = from_ns; now <= until_ns; now += NOW / 2) {
		publish_socket_step(&published, now);
		rest();
	}
}

static void the_librarys_threads_leave_processors_to_the_caller(void **state)
{
	const int own = getpriority(PRIO_PROCESS, 0);
	DIR *const tasks = opendir("/proc/self/task");
	unsigned nicer = 0;

	assert_non_null(tasks);
	for (struct dirent *task; (task = readdir(tasks));) {
		const pid_t tid = (pid_t)atoi(task->d_name);
		const int priority = tid > 0 ? getpriority(PRIO_PROCESS, (id_t)tid) : 0;

		nicer += tid > 0 && priority == own + PUBLISH_NICE;
	}
	closedir(tasks);
	assert_true(nicer > 4); /* the fewest that libnng starts are more */
}

static void path_is_this_users_alone_and_goes_at_the_end(void **state)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	publish_socket_close(&published);
	assert_int_equal(access(path, F_OK), -1);
}

static void subscribers_are_counted_while_they_are_there(void **state)
{
	struct subscriber one, two;

	subscriber_open(&one, path, "");
	subscriber_open(&two, path, "");
	assert_true(subscriber_wait(&published.clients, 2));
	subscriber_close(&one);
	assert_true(subscriber_wait(&published.clients, 1));
	subscriber_close(&two);
	assert_true(subscriber_wait(&published.clients, 0));
	assert_int_equal(published.joined, 2);
	assert_int_equal(published.refused, 0);
}

static void slow_subscriber_has_the_last_messages(void **state)
{
	struct subscriber subscriber;
	size_t len;
	const char *text;
	int last = -1, n = 0;

	subscriber_open(&subscriber, path, "");
	assert_true(subscriber_wait(&published.joined, 1));
	for (int i = 0; i < 20000; i++) {
		char message[1024];

		snprintf(message, sizeof(message), "%1000d", i);
		send_text(message); /* waits for nobody */
	}
	for (; (text = subscriber_next(&subscriber, 500, &len)); n++) {
		assert_true(atoi(text) > last);
		last = atoi(text);
	}
	assert_int_equal(last, 19999);
	assert_in_range(n, 5, 19999);
	subscriber_close(&subscriber);
}

static void one_too_many_is_refused(void **state)
{
	struct subscriber subscribers[PUBLISH_MAX_CLIENTS + 1];

	for (size_t i = 0; i <= PUBLISH_MAX_CLIENTS; i++) {
		subscriber_open(&subscribers[i], path, "");
		if (i < PUBLISH_MAX_CLIENTS)
			assert_true(subscriber_wait(&published.clients, i + 1));
	}
	for (int i = 0; i < 1000 && published.refused == 0; i++)
		rest();
	assert_true(published.refused > 0);
	assert_int_equal(published.clients, PUBLISH_MAX_CLIENTS);
	for (size_t i = 0; i <= PUBLISH_MAX_CLIENTS; i++)
		subscriber_close(&subscribers[i]);
	assert_true(subscriber_wait(&published.clients, 0));
}

/* Clients that are refused, and one that says a half of its greeting, keep nobody away. */
static void thousand_and_a_silent_one_keep_nobody_away(void **state)
{
	const int silent = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	static struct subscriber subscribers[1000];

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(connect(silent, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(send(silent, "\0SP\0", 4, 0), 4);
	for (size_t i = 0; i < 1000; i++)
		subscriber_open(&subscribers[i], path, "");
	assert_true(subscriber_wait(&published.refused, 1000 - PUBLISH_MAX_CLIENTS));
	assert_int_equal(published.clients, PUBLISH_MAX_CLIENTS);
	for (size_t i = 0; i < 1000; i++)
		subscriber_close(&subscribers[i]);
	assert_true(subscriber_wait(&published.clients, 0));
	assert_true(subscriber_is_served());
	close(silent);
}

static void check_is_no_subscriber_and_changes_nothing(void **state)
{
	check_for(NOW, NOW + 4 * PUBLISH_CHECK_NS);
	assert_int_equal(published.joined, 0);
	assert_int_equal(published.clients, 0);
	assert_int_equal(published.refused, 0);
	assert_int_equal(publish_socket_renewed(&published), 0);
	assert_true(subscriber_is_served());
}

/* Also who has connected meanwhile, and was not served. */
static void listener_that_has_ended_is_replaced_and_serves_all(void **state)
{
	struct subscriber early, meanwhile;
	size_t len;

	subscriber_open(&early, path, "");
	assert_true(subscriber_wait(&published.clients, 1));
	end_listener();
	assert_false(subscriber_is_served());
	subscriber_open(&meanwhile, path, "");
	check_for(NOW + PUBLISH_CHECK_NS, NOW + 2 * PUBLISH_CHECK_NS);
	assert_int_equal(publish_socket_renewed(&published), 1);
	while (subscriber_next(&early, 5000, &len))
		continue;
	assert_null(subscriber_next(&meanwhile, 5000, &len));
	assert_true(early.has_ended && meanwhile.has_ended); /* so that they connect again */
	assert_true(subscriber_wait(&published.clients, 0));
	assert_true(subscriber_is_served());
	subscriber_close(&early);
	subscriber_close(&meanwhile);
}

static void path_that_was_removed_comes_again(void **state)
{
	struct stat st;

	assert_int_equal(unlink(path), 0);
	check_for(NOW + PUBLISH_CHECK_NS, NOW + PUBLISH_CHECK_NS);
	assert_int_equal(publish_socket_renewed(&published), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	assert_true(subscriber_is_served());
}

static void what_others_have_put_there_stays(void **state)
{
	struct stat st;

	assert_int_equal(unlink(path), 0);
	files_write(path, "mine");
	check_for(NOW + PUBLISH_CHECK_NS, NOW + 3 * PUBLISH_CHECK_NS);
	assert_int_equal(publish_socket_renewed(&published), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

int main(void)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CLAIM(the_librarys_threads_leave_processors_to_the_caller),
		CLAIM(path_is_this_users_alone_and_goes_at_the_end),
		CLAIM(subscribers_are_counted_while_they_are_there),
		CLAIM(slow_subscriber_has_the_last_messages),
		CLAIM(one_too_many_is_refused),
		CLAIM(thousand_and_a_silent_one_keep_nobody_away),
		CLAIM(check_is_no_subscriber_and_changes_nothing),
		CLAIM(listener_that_has_ended_is_replaced_and_serves_all),
		CLAIM(path_that_was_removed_comes_again),
		CLAIM(what_others_have_put_there_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
