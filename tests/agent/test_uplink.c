// SPDX-License-Identifier: Apache-2.0
/* The agent's socket against the real nng: a PULL listener gets its messages, others are refused.
 */
#include "agent/uplink.h"

#include "shared/wire.h"

#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/pipeline0/push.h>
#include <nng/protocol/pubsub0/sub.h>

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define FILLERS 3

static atomic_bool hurry;
static struct wake wake;
static const struct uplink_patience patience = {.wake = &wake, .hurry = &hurry};

struct fixture {
	char directory[64], path[96], url[128];
	nng_socket socket;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->directory, "/tmp/test-uplink-XXXXXX");
	if (!mkdtemp(f->directory))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/agent.sock", f->directory);
	snprintf(f->url, sizeof(f->url), "ipc://%s", f->path);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	nng_close(f->socket);
	unlink(f->path);
	rmdir(f->directory);
	free(f);
	return 0;
}

static void listen_pull(struct fixture *f)
{
	assert_int_equal(nng_pull0_open(&f->socket), 0);
	assert_int_equal(nng_socket_set_ms(f->socket, NNG_OPT_RECVTIMEO, 30000), 0);
	assert_int_equal(nng_listen(f->socket, f->url, NULL, 0), 0);
}

/* A buffer of stub records whose addresses count up from first. */
static size_t make_records(uint8_t *data, size_t size, uint64_t first)
{
	struct wire_buf buf = {.data = data, .size = size};
	struct wire_stub stub = {.addr = first, .name = wire_str_from("some stub")};

	while (wire_encode_stub(&buf, 0, &stub))
		stub.addr++;
	return buf.len;
}

/* Receives one message, checks its number, and returns the last address in it plus one. */
static uint64_t check_message(struct fixture *f, uint64_t seq, uint64_t first)
{
	struct wire_message message;
	struct wire_reader reader;
	struct wire_record record;
	struct wire_stub stub;
	nng_msg *msg;

	assert_int_equal(nng_recvmsg(f->socket, &msg, 0), 0);
	assert_int_equal(wire_decode_message(nng_msg_body(msg), nng_msg_len(msg), &message), 0);
	assert_int_equal(message.version, WIRE_VERSION);
	assert_int_equal(message.seq, seq);
	wire_reader_init(&reader, &message);
	while (wire_reader_next(&reader, &record) == 1) {
		assert_int_equal(wire_decode_stub(&record, &stub), 0);
		assert_int_equal(stub.addr, first++);
	}
	nng_msg_free(msg);
	return first;
}

static void nng_pull_receives_every_message(void **state)
{
	static uint8_t records[60000];
	struct fixture *f = *state;
	struct uplink uplink;
	uint64_t first = 0, received = 0;

	listen_pull(f);
	assert_int_equal(uplink_open(&uplink, f->path, patience), 0);
	for (uint64_t seq = 0; seq < 50; seq++) {
		const size_t len = make_records(records, seq % 2 ? sizeof(records) : 100, first);

		assert_int_equal(uplink_send(&uplink, records, len), 0);
		received = check_message(f, seq, first);
		assert_true(received > first);
		first = received;
	}
	assert_int_equal(uplink_check(&uplink), 0);
	uplink_close(&uplink);
	assert_false(uplink_is_open(&uplink));
}

static void a_message_larger_than_the_socket_buffer_arrives_whole(void **state)
{
	const size_t size = WIRE_MESSAGE_MAX_BYTES - WIRE_MESSAGE_HEADER_BYTES;
	uint8_t *records = malloc(size);
	struct fixture *f = *state;
	struct uplink uplink;

	listen_pull(f);
	assert_int_equal(uplink_open(&uplink, f->path, patience), 0);
	assert_int_equal(uplink_send(&uplink, records, make_records(records, size, 0)), 0);
	assert_true(check_message(f, 0, 0) > 10000);
	uplink_close(&uplink);
	free(records);
}

static void a_gone_collector_is_noticed(void **state)
{
	uint8_t records[64];
	struct fixture *f = *state;
	struct uplink uplink;
	int err;

	listen_pull(f);
	assert_int_equal(uplink_open(&uplink, f->path, patience), 0);
	nng_close(f->socket);
	do {
		err = uplink_send(&uplink, records, make_records(records, sizeof(records), 0));
	} while (err == 0);
	assert_true(err == -EPIPE || err == -ECONNRESET);
	assert_true(uplink_check(&uplink) < 0);
	uplink_close(&uplink);
}

static void other_protocols_are_refused(void **state)
{
	struct fixture *f = *state;
	struct uplink uplink;

	assert_int_equal(nng_push0_open(&f->socket), 0);
	assert_int_equal(nng_listen(f->socket, f->url, NULL, 0), 0);
	assert_int_equal(uplink_open(&uplink, f->path, patience), -EPROTO);
	nng_close(f->socket);
	assert_int_equal(nng_sub0_open(&f->socket), 0);
	assert_int_equal(nng_listen(f->socket, f->url, NULL, 0), 0);
	assert_int_equal(uplink_open(&uplink, f->path, patience), -EPROTO);
}

/* Behind its greeting a collector says nothing. Reading what another says would never end. */
static void a_byte_behind_the_greeting_ends_the_connection(void **state)
{
	static const uint8_t greeting[] = {0, 'S', 'P', 0, 0, 0x51, 0, 0};
	struct uplink uplink;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
			 0);
	assert_int_equal(write(ends[1], greeting, sizeof(greeting)), sizeof(greeting));
	assert_int_equal(uplink_take(&uplink, ends[0], patience), 0);
	assert_int_equal(uplink_check(&uplink), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(uplink_check(&uplink), -EPROTO);
	uplink_close(&uplink);
	close(ends[1]);
}

static void a_missing_collector_is_an_error(void **state)
{
	char long_path[200];
	struct fixture *f = *state;
	struct uplink uplink;

	assert_int_equal(uplink_open(&uplink, f->path, patience), -ENOENT);
	listen_pull(f);
	nng_close(f->socket);
	assert_true(uplink_open(&uplink, f->path, patience) < 0);
	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = 0;
	assert_int_equal(uplink_open(&uplink, long_path, patience), -ENAMETOOLONG);
}

/*
 * Listens as a collector that accepts nothing, and fills its queue. Returns the listening socket.
 */
static int listen_full(const struct fixture *f, int *fillers, size_t n)
{
	const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	strcpy(addr.sun_path, f->path);
	assert_int_equal(bind(listening, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(listening, (int)n - 1), 0);
	for (size_t i = 0; i < n; i++) {
		fillers[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		assert_int_equal(connect(fillers[i], (const struct sockaddr *)&addr, sizeof(addr)),
				 0);
	}
	return listening;
}

/* A collector that is late: accepts those who wait, and greets the next one. Does not return. */
static void accept_late(int listening)
{
	uint8_t greeting[WIRE_SP_GREETING_BYTES];
	int fd;

	usleep(20000);
	for (size_t i = 0; i < FILLERS; i++)
		close(accept(listening, NULL, NULL));
	fd = accept(listening, NULL, NULL);
	wire_encode_greeting(greeting, WIRE_SP_PULL);
	if (write(fd, greeting, sizeof(greeting)) != (ssize_t)sizeof(greeting))
		abort();
	pause(); /* the connection stays */
	_exit(0);
}

static void close_all(const int *fds, size_t n)
{
	while (n > 0)
		close(fds[--n]);
}

static void a_full_queue_is_tried_again_until_there_is_room(void **state)
{
	struct fixture *f = *state;
	struct uplink uplink;
	int fillers[FILLERS];
	const int listening = listen_full(f, fillers, FILLERS);
	const pid_t collector = fork();
	int err;

	assert_true(collector >= 0);
	if (collector == 0)
		accept_late(listening);
	do /* on a busy machine the collector may be late for all tries of one call */
		err = uplink_open(&uplink, f->path, patience);
	while (err == -EAGAIN);
	kill(collector, SIGKILL);
	waitpid(collector, NULL, 0);
	assert_int_equal(err, 0);
	uplink_close(&uplink);
	close_all(fillers, FILLERS);
	close(listening);
}

static void a_queue_that_stays_full_is_left(void **state)
{
	struct fixture *f = *state;
	struct uplink uplink;
	int fillers[FILLERS];
	const int listening = listen_full(f, fillers, FILLERS);

	assert_int_equal(uplink_open(&uplink, f->path, patience), -EAGAIN);
	atomic_store(&hurry, true);
	assert_int_equal(uplink_open(&uplink, f->path, patience), -ECANCELED);
	atomic_store(&hurry, false);
	close_all(fillers, FILLERS);
	close(listening);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nng_pull_receives_every_message, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_message_larger_than_the_socket_buffer_arrives_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(a_gone_collector_is_noticed, setup, teardown),
		cmocka_unit_test_setup_teardown(other_protocols_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_byte_behind_the_greeting_ends_the_connection,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_missing_collector_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_queue_is_tried_again_until_there_is_room,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_queue_that_stays_full_is_left, setup, teardown),
	};
	int failed = cmocka_run_group_tests_name("agent uplink", tests, NULL, NULL);

	nng_fini(); /* it drops connections behind our back; this waits for that */
	return failed;
}
