// SPDX-License-Identifier: Apache-2.0
/*
 * The collector's end of the socket, against clients that speak the protocol by hand: well, badly
 * and not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <nng/nng.h>
#include <nng/protocol/pipeline0/push.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/process_stat.h"
#include "common/child.h"
#include "common/files.h"
#include "common/temp_dir.h"
#include "intake/intake.h"
#include "intake/listen.h"

#define MAX_EVENTS 256

static char dir[TEMP_DIR_BYTES], path[128];
static struct intake *intake; /* NULL: none is open */

struct seen {
	enum intake_kind kind;
	uint16_t record_kind;
	pid_t pid;
	uint64_t start_ticks;
};

static struct seen seen[MAX_EVENTS];
static size_t n_seen;

static void on_event(void *arg, const struct intake_event *event)
{
	(void)arg;
	assert_true(n_seen < MAX_EVENTS);
	seen[n_seen++] = (struct seen){
		.kind = event->kind,
		.record_kind = event->kind == INTAKE_RECORD ? event->record.kind : 0,
		.pid = event->session->pid,
		.start_ticks = event->session->start_ticks,
	};
}

/* Reads until n events have been seen; a test that waits in vain ends by ctest's time limit. */
static void wait_for(size_t n)
{
	while (n_seen < n) {
		struct pollfd fd = {.fd = intake_fd(intake), .events = POLLIN};

		poll(&fd, 1, 100);
		intake_read(intake, 100, on_event, NULL);
	}
}

static int dial(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	memcpy(addr.sun_path, path, strlen(path) + 1);
	while (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0) {
		assert_int_equal(errno, EAGAIN); /* the collector rests from accepting */
		intake_read(intake, 100, on_event, NULL);
	}
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	return fd;
}

static void send_all(int fd, const void *data, size_t len)
{
	assert_int_equal(send(fd, data, len, MSG_NOSIGNAL), (ssize_t)len);
}

/* The collector answers when it is called, so it is called until its greeting is there. */
static int dial_agent(void)
{
	uint8_t greeting[WIRE_SP_GREETING_BYTES];
	const int fd = dial();

	wire_encode_greeting(greeting, WIRE_SP_PUSH);
	send_all(fd, greeting, sizeof(greeting));
	while (recv(fd, greeting, sizeof(greeting), MSG_DONTWAIT) != sizeof(greeting))
		intake_read(intake, 100, on_event, NULL);
	assert_int_equal(wire_check_greeting(greeting, WIRE_SP_PULL), 0);
	return fd;
}

static void send_message(int fd, const struct wire_buf *buf)
{
	uint8_t frame[WIRE_SP_FRAME_HEADER_BYTES];

	wire_encode_frame(frame, buf->len);
	send_all(fd, frame, sizeof(frame));
	send_all(fd, buf->data, buf->len);
}

static uint8_t bytes[4096];

/* Reads until nothing is left to do, also where the collector rests from accepting. */
static void settle(void)
{
	for (int i = 0; i < 100; i++) {
		intake_read(intake, 100, on_event, NULL);
		while (intake_due_ns(intake))
			intake_read(intake, 100, on_event, NULL);
	}
}

/* Reads what the collector still has to say, and closes. True if it has ended the connection. */
static bool is_ended(int fd)
{
	uint8_t byte;
	ssize_t n = 1;

	for (int i = 0; i < 100 && n != 0; i++) {
		settle();
		n = recv(fd, &byte, 1, MSG_DONTWAIT);
	}
	close(fd);
	return n == 0 || errno == ECONNRESET;
}

static struct wire_buf message(uint64_t seq)
{
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};

	wire_encode_message(bytes, seq, 1);
	buf.len = WIRE_MESSAGE_HEADER_BYTES;
	wire_encode_bye(&buf, &(struct wire_bye){.time_ns = 1, .reason = 1});
	wire_encode_method_unload(&buf, &(struct wire_method_unload){.time_ns = 1, .addr = 2});
	return buf;
}

static int setup(void **state)
{
	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/run/agent.sock", dir);
	n_seen = 0;
	return 0;
}

static int setup_intake(void **state)
{
	return setup(state) < 0 ? -1 : intake_open(path, &intake);
}

static int teardown(void **state)
{
	char run[96];

	intake_close(intake);
	intake = NULL;
	unlink(path);
	snprintf(run, sizeof(run), "%s/run", dir);
	rmdir(run);
	temp_dir_remove_empty(dir);
	return 0;
}

static void records_come_with_the_kernels_word_on_who_sent_them(void **state)
{
	struct wire_buf buf;
	uint64_t ticks;
	int fd;

	fd = dial_agent();
	buf = message(0);
	send_message(fd, &buf);
	wait_for(3);
	close(fd);
	wait_for(4);
	assert_int_equal(seen[0].kind, INTAKE_OPENED);
	assert_int_equal(seen[0].pid, getpid());
	assert_int_equal(process_stat_start_ticks(getpid(), &ticks), 0);
	assert_int_equal(seen[0].start_ticks, ticks);
	assert_int_equal(seen[1].record_kind, WIRE_BYE);
	assert_int_equal(seen[2].record_kind, WIRE_METHOD_UNLOAD);
	assert_int_equal(seen[3].kind, INTAKE_CLOSED);
	intake_close(intake);
	intake = NULL;
	assert_int_equal(access(path, F_OK), -1); /* the socket is gone */
}

static void socket_is_open_to_everybody_in_a_directory_that_is_not(void **state)
{
	struct stat st;
	char run[96];

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
	snprintf(run, sizeof(run), "%s/run", dir);
	assert_int_equal(stat(run, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
}

static void sequence_gap_is_noticed(void **state)
{
	struct intake_stats stats;
	struct wire_buf buf;
	int fd;

	fd = dial_agent();
	buf = message(0);
	send_message(fd, &buf);
	buf = message(2);
	send_message(fd, &buf);
	wait_for(6);
	assert_int_equal(seen[3].kind, INTAKE_GAP);
	assert_int_equal(seen[4].record_kind, WIRE_BYE);
	intake_stats(intake, &stats);
	assert_int_equal(stats.gaps, 1);
	assert_int_equal(stats.sessions, 1);
	close(fd);
}

static void broken_message_ends_the_session_but_not_what_came_before(void **state)
{
	struct intake_stats stats;
	struct wire_buf buf;
	int fd;

	fd = dial_agent();
	buf = message(0);
	buf.data[WIRE_MESSAGE_HEADER_BYTES + 18 + 4] = 0xff; /* the second record's length */
	send_message(fd, &buf);
	wait_for(3);
	assert_int_equal(seen[1].record_kind, WIRE_BYE);
	assert_int_equal(seen[2].kind, INTAKE_CLOSED);
	intake_stats(intake, &stats);
	assert_int_equal(stats.broken, 1);
	assert_int_equal(recv(fd, bytes, 1, 0), 0); /* the agent sees the end and dials again */
	close(fd);
	fd = dial_agent();
	wait_for(4);
	assert_int_equal(seen[3].kind, INTAKE_OPENED);
	close(fd);
}

static void another_version_is_told_and_ended(void **state)
{
	struct intake_stats stats;
	struct wire_buf buf;
	int fd;

	fd = dial_agent();
	buf = message(0);
	buf.data[4] = 9;
	send_message(fd, &buf);
	wait_for(2);
	assert_int_equal(seen[1].kind, INTAKE_CLOSED);
	intake_stats(intake, &stats);
	assert_int_equal(stats.other_version, 1);
	close(fd);
}

static void garbage_and_giants_do_not_disturb_others(void **state)
{
	struct wire_buf buf;
	uint8_t frame[WIRE_SP_FRAME_HEADER_BYTES];
	int garbage, giant, good;

	garbage = dial();
	send_all(garbage, "GET / HT", 8);
	giant = dial_agent();
	wire_encode_frame(frame, WIRE_MESSAGE_MAX_BYTES + 1);
	send_all(giant, frame, sizeof(frame));
	good = dial_agent();
	buf = message(0);
	send_message(good, &buf);
	for (size_t records = 0; records < 2;) {
		wait_for(n_seen + 1);
		records = 0;
		for (size_t i = 0; i < n_seen; i++)
			records += seen[i].kind == INTAKE_RECORD;
	}
	assert_true(is_ended(garbage));
	assert_true(is_ended(giant));
	close(good);
}

static void clients_that_leave_at_once_harm_nobody(void **state)
{
	int fd;

	for (int i = 0; i < 200; i++) {
		close(dial());
		if (i % 10 == 0)
			intake_read(intake, 100, on_event, NULL);
	}
	settle(); /* accepts the last of them, then sees that they are gone */
	fd = dial_agent();
	wait_for(1);
	assert_int_equal(n_seen, 1);
	close(fd);
}

/* The connection stays open in this process, so its maker's PID could mean another one by now. */
static void a_connection_does_not_outlive_who_made_it_unnoticed(void **state)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	uint8_t greeting[WIRE_SP_GREETING_BYTES];
	pid_t maker;

	memcpy(addr.sun_path, path, strlen(path) + 1);
	maker = fork();
	if (maker == 0) {
		if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0)
			pause();
		_exit(1);
	}
	while (recv(fd, greeting, sizeof(greeting), MSG_DONTWAIT) != sizeof(greeting))
		intake_read(intake, 100, on_event, NULL);
	child_end(maker);
	wire_encode_greeting(greeting, WIRE_SP_PUSH);
	send_all(fd, greeting, sizeof(greeting));
	assert_true(is_ended(fd));
	assert_int_equal(n_seen, 0);
}

static void one_process_cannot_take_all_connections(void **state)
{
	struct intake_stats stats;
	int fds[40];

	for (int i = 0; i < 40; i++) {
		fds[i] = dial();
		intake_read(intake, 100, on_event, NULL);
	}
	settle();
	intake_stats(intake, &stats);
	assert_int_equal(stats.refused, 40 - 16);
	for (int i = 0; i < 40; i++)
		close(fds[i]);
	settle();
	close(dial_agent()); /* there is room again */
}

/* Whose the next connections are. */
static struct owner dialler;

static struct owner owner_of_dialler(void *arg, pid_t pid)
{
	(void)arg;
	(void)pid;
	return dialler;
}

static void dial_as(uint64_t container, int *fds, size_t count)
{
	dialler = (struct owner){.container = container};
	for (size_t i = 0; i < count; i++)
		fds[i] = dial_agent();
}

static bool is_open(int fd)
{
	uint8_t byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

static void who_has_the_most_connections_makes_room(void **state)
{
	struct intake_stats stats;
	int many[6], few[2], one;

	intake_set_limits(intake, 8, INTAKE_MAX_BUFFER_BYTES);
	intake_set_owner(intake, owner_of_dialler, NULL);
	dial_as(7, many, 6);
	dial_as(8, few, 2);
	dial_as(8, &one, 1);
	settle();
	for (int i = 0; i < 5; i++)
		assert_true(is_open(many[i]));
	assert_false(is_open(many[5]));
	assert_true(is_open(few[0]) && is_open(few[1]) && is_open(one));
	close(one);
	settle();
	dialler.container = 7;
	one = dial_agent(); /* the place of the one that is closed */
	settle();
	assert_true(is_open(one));
	close(many[5]);
	many[5] = one;
	dialler.container = 7;
	one = dial();
	assert_true(is_ended(one)); /* nobody has more than this one would have */
	intake_stats(intake, &stats);
	assert_int_equal(stats.evicted, 1);
	assert_int_equal(stats.refused, 1);
	close_all(many, 6);
	close_all(few, 2);
}

/* A message of which all but the last byte is there. */
static void begin_message(int fd, size_t len)
{
	static const uint8_t zeros[4096];
	uint8_t frame[WIRE_SP_FRAME_HEADER_BYTES];

	wire_encode_frame(frame, len);
	send_all(fd, frame, sizeof(frame));
	for (size_t sent = 1; sent < len;) {
		const size_t n = len - sent < sizeof(zeros) ? len - sent : sizeof(zeros);

		send_all(fd, zeros, n);
		sent += n;
		intake_read(intake, 100, on_event, NULL);
	}
}

static void who_has_the_most_unfinished_bytes_makes_room(void **state)
{
	struct intake_stats stats;
	int many[6], one;

	intake_set_limits(intake, INTAKE_MAX_SESSIONS, 1 << 20);
	intake_set_owner(intake, owner_of_dialler, NULL);
	dial_as(7, many, 6);
	dial_as(8, &one, 1);
	for (int i = 0; i < 6; i++)
		begin_message(many[i], (100 + 10 * (size_t)i) << 10);
	begin_message(one, 400 << 10);
	intake_stats(intake, &stats);
	assert_int_equal(stats.evicted, 1);
	assert_int_equal(stats.broken, 0);
	assert_false(is_open(many[5])); /* the largest */
	for (int i = 0; i < 5; i++)
		assert_true(is_open(many[i]));
	assert_true(is_open(one));
	assert_in_range(stats.buffer_bytes, 400 << 10, 1 << 20);
	close_all(many, 6);
	close(one);
}

static void messages_come_in_any_pieces(void **state)
{
	struct wire_buf buf;
	uint8_t frame[WIRE_SP_FRAME_HEADER_BYTES];
	int fd;

	fd = dial_agent();
	for (uint64_t seq = 0; seq < 3; seq++) {
		buf = message(seq);
		wire_encode_frame(frame, buf.len);
		for (size_t i = 0; i < sizeof(frame); i++) {
			send_all(fd, &frame[i], 1);
			intake_read(intake, 100, on_event, NULL);
		}
		for (size_t i = 0; i < buf.len; i++) {
			send_all(fd, &buf.data[i], 1);
			intake_read(intake, 100, on_event, NULL);
		}
	}
	wait_for(7);
	for (size_t i = 1; i < 7; i += 2) {
		assert_int_equal(seen[i].record_kind, WIRE_BYE);
		assert_int_equal(seen[i + 1].record_kind, WIRE_METHOD_UNLOAD);
	}
	close(fd);
}

static void a_busy_reader_takes_one_message_at_a_time(void **state)
{
	struct wire_buf buf;
	int fd;

	fd = dial_agent();
	for (uint64_t seq = 0; seq < 20; seq++) {
		buf = message(seq);
		send_message(fd, &buf);
	}
	close(fd);
	while (n_seen < 42)
		assert_true(intake_read(intake, 1, on_event, NULL) <= 1);
	assert_int_equal(seen[41].kind, INTAKE_CLOSED);
	for (size_t i = 1; i < 41; i++)
		assert_int_equal(seen[i].kind, INTAKE_RECORD);
}

#define SLOW_RECORDS 24

static void on_slow_event(void *arg, const struct intake_event *event)
{
	on_event(arg, event);
	if (event->kind == INTAKE_RECORD)
		usleep(2000); /* longer than a turn of the connection */
}

static void a_message_of_slow_records_takes_several_turns(void **state)
{
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};
	const int fd = dial_agent();
	struct intake_stats stats;

	intake_read(intake, 100, on_event, NULL);
	wire_encode_message(bytes, 0, 1);
	buf.len = WIRE_MESSAGE_HEADER_BYTES;
	for (uint64_t i = 0; i < SLOW_RECORDS; i++)
		wire_encode_method_unload(&buf,
					  &(struct wire_method_unload){.time_ns = 1, .addr = i});
	send_message(fd, &buf);
	buf = message(1);
	send_message(fd, &buf);
	for (size_t before; n_seen < 1 + SLOW_RECORDS + 2;) {
		before = n_seen;
		intake_read(intake, 100, on_slow_event, NULL);
		assert_true(n_seen - before <= 8); /* four of them, or two turns */
		if (n_seen > 1 && n_seen < 1 + SLOW_RECORDS)
			assert_true(intake_has_more(intake));
	}
	for (size_t i = 1; i <= SLOW_RECORDS; i++)
		assert_int_equal(seen[i].record_kind, WIRE_METHOD_UNLOAD);
	assert_int_equal(seen[SLOW_RECORDS + 1].record_kind, WIRE_BYE);
	intake_stats(intake, &stats);
	assert_int_equal(stats.messages, 2);
	assert_int_equal(stats.gaps, 0);
	close(fd);
}

static void what_was_heard_ends_before_what_waits(void **state)
{
	struct wire_buf buf;
	uint64_t heard_ns;
	int fd;

	fd = dial_agent();
	intake_read(intake, 100, on_event, NULL);
	heard_ns = intake_heard_ns(intake);
	for (uint64_t seq = 0; seq < 20; seq++) {
		buf = message(seq);
		send_message(fd, &buf);
	}
	for (int i = 0; i < 19; i++) {
		intake_read(intake, 1, on_event, NULL);
		assert_int_equal(intake_heard_ns(intake), heard_ns);
	}
	wait_for(41);
	intake_read(intake, 1, on_event, NULL);
	assert_true(intake_heard_ns(intake) > heard_ns);
	close(fd);
}

/* A test that waits in vain ends by ctest's time limit. */
static void who_never_stops_talking_does_not_stop_the_clock(void **state)
{
	struct wire_buf buf;
	uint64_t seq = 0, heard_ns;
	int fd;

	fd = dial_agent();
	heard_ns = intake_heard_ns(intake);
	do {
		for (uint64_t end = seq + 2; seq < end; seq++) {
			buf = message(seq);
			send_message(fd, &buf);
		}
		n_seen = 0;
		intake_read(intake, 1, on_event, NULL);
		assert_true(intake_has_more(intake));
		usleep(5000);
	} while (intake_heard_ns(intake) == heard_ns);
	close(fd);
}

static void libnngs_own_push_socket_is_understood(void **state)
{
	struct wire_buf buf;
	nng_socket push;
	char url[160];

	snprintf(url, sizeof(url), "ipc://%s", path);
	assert_int_equal(nng_push0_open(&push), 0);
	assert_int_equal(nng_dial(push, url, NULL, NNG_FLAG_NONBLOCK), 0);
	wait_for(1);
	for (uint64_t seq = 0; seq < 5; seq++) {
		buf = message(seq);
		assert_int_equal(nng_send(push, buf.data, buf.len, 0), 0);
		wait_for(3 + 2 * seq);
	}
	assert_int_equal(n_seen, 11);
	nng_close(push);
	wait_for(12);
	assert_int_equal(seen[11].kind, INTAKE_CLOSED);
}

static void a_dead_collectors_socket_is_replaced(void **state)
{
	const pid_t child = fork();

	if (child == 0) {
		/* Dies without cleaning up, as after SIGKILL. */
		_exit(intake_open(path, &intake) == 0 ? 0 : 1);
	}
	child_check(child);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(listen_owner(path), 0);
	assert_int_equal(intake_open(path, &intake), 0);
	close(dial_agent());
}

static void a_live_collectors_socket_is_left_alone(void **state)
{
	struct intake *other = NULL;

	assert_int_equal(listen_owner(path), getpid());
	assert_int_equal(intake_open(path, &other), -EADDRINUSE);
	assert_null(other);
	close(dial_agent()); /* the first still serves */
}

static void what_is_no_socket_is_not_removed(void **state)
{
	char run[96];

	snprintf(run, sizeof(run), "%s/run", dir);
	assert_int_equal(mkdir(run, 0755), 0);
	files_write(path, "");
	assert_int_equal(intake_open(path, &intake), -EEXIST);
	assert_int_equal(access(path, F_OK), 0);
}

static void a_path_that_is_too_long_is_an_error(void **state)
{
	char long_path[200];

	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[0] = '/';
	long_path[sizeof(long_path) - 1] = '\0';
	assert_int_equal(intake_open(long_path, &intake), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CLOSED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST(name)   cmocka_unit_test_setup_teardown(name, setup_intake, teardown)
		CLOSED(a_dead_collectors_socket_is_replaced), /* before libnng has threads */
		TEST(records_come_with_the_kernels_word_on_who_sent_them),
		TEST(socket_is_open_to_everybody_in_a_directory_that_is_not),
		TEST(sequence_gap_is_noticed),
		TEST(broken_message_ends_the_session_but_not_what_came_before),
		TEST(another_version_is_told_and_ended),
		TEST(garbage_and_giants_do_not_disturb_others),
		TEST(clients_that_leave_at_once_harm_nobody),
		TEST(a_connection_does_not_outlive_who_made_it_unnoticed),
		TEST(one_process_cannot_take_all_connections),
		TEST(who_has_the_most_connections_makes_room),
		TEST(who_has_the_most_unfinished_bytes_makes_room),
		TEST(messages_come_in_any_pieces),
		TEST(a_busy_reader_takes_one_message_at_a_time),
		TEST(a_message_of_slow_records_takes_several_turns),
		TEST(what_was_heard_ends_before_what_waits),
		TEST(who_never_stops_talking_does_not_stop_the_clock),
		TEST(libnngs_own_push_socket_is_understood),
		TEST(a_live_collectors_socket_is_left_alone),
		CLOSED(what_is_no_socket_is_not_removed),
		CLOSED(a_path_that_is_too_long_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
