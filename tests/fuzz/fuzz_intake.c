// SPDX-License-Identifier: Apache-2.0
/*
 * The intake's framing as a stream. A connection's bytes are sent twice: as fast as the socket
 * takes them, and in pieces whose lengths follow from the input's first byte, with one message a
 * call. A simple reader here says what has to come of them, and both must say the same: which
 * sessions begin and end, each record, and how many messages were broken.
 *
 * The clock is the fuzzer's too: turns end at any point, as on a machine that has more to do.
 *
 * The second byte says how the rest becomes the stream: as it stands; or behind a greeting; or as
 * frames with right lengths, of which the byte in front of each says how long it is.
 */
#include "fuzzer.h"

#include "base/log.h"
#include "intake/intake.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STREAM_BYTES (4u << 20)
#define LONG_FRAME   0xff   /* the next three bytes are the length of a frame of one long record */
#define JUMP_NS	     700000 /* most of a connection's turn */
#define MAX_CALLS    200000

/* What has been told, as one number; and how much of each kind. */
struct told {
	uint64_t hash;
	uint64_t opened, records, gaps, closed;
	uint64_t messages, bytes, broken, other_version;
};

static struct intake *intake;
static uint64_t now_ns = UINT64_C(1000000000);
static uint32_t seed;
static uint8_t stream[STREAM_BYTES];
static size_t stream_len;

static uint32_t next_random(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

/* Takes the place of the clock's function, see CMakeLists.txt. */
uint64_t __wrap_clock_now_ns(void);
uint64_t __wrap_clock_now_ns(void)
{
	now_ns += next_random() % 16 == 0 ? JUMP_NS : 1000;
	return now_ns;
}

static void mix(struct told *told, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		told->hash = (told->hash ^ p[i]) * UINT64_C(0x100000001b3);
}

static void mix_record(struct told *told, const struct wire_record *record)
{
	told->records++;
	mix(told, &record->kind, sizeof(record->kind));
	mix(told, &record->flags, sizeof(record->flags));
	mix(told, &record->len, sizeof(record->len));
	mix(told, record->payload, record->len);
}

static void on_event(void *arg, const struct intake_event *event)
{
	struct told *const told = arg;

	if (told->closed > 0 || (event->kind != INTAKE_OPENED && told->opened == 0))
		abort(); /* a session's events come between its beginning and its end */
	switch (event->kind) {
	case INTAKE_OPENED:
		told->opened++;
		return;
	case INTAKE_RECORD:
		mix_record(told, &event->record);
		return;
	case INTAKE_GAP:
		told->gaps++;
		mix(told, "gap", 3);
		return;
	case INTAKE_CLOSED:
		told->closed++;
		if (event->session->messages != told->messages && told->messages > 0)
			abort();
	}
}

/* ---- what has to come ---- */

/* A message's records. False: the connection ends with it. */
static bool expect_message(struct told *told, const uint8_t *data, size_t len, uint64_t *next_seq)
{
	struct wire_message message;
	struct wire_reader reader;
	struct wire_record record;
	int n = wire_decode_message(data, len, &message);

	told->messages++;
	told->bytes += len;
	if (n == 0 && message.seq != *next_seq) {
		told->gaps++;
		mix(told, "gap", 3);
	}
	if (n == 0) {
		*next_seq = message.seq + 1;
		wire_reader_init(&reader, &message);
		while ((n = wire_reader_next(&reader, &record)) > 0)
			mix_record(told, &record);
	}
	told->other_version += n == -EPROTONOSUPPORT;
	told->broken += n < 0 && n != -EPROTONOSUPPORT;
	return n == 0;
}

static struct told expect(void)
{
	struct told told = {.hash = 1};
	size_t at = WIRE_SP_GREETING_BYTES;
	uint64_t next_seq = 0, len;

	if (stream_len < at)
		return told;
	if (wire_check_greeting(stream, WIRE_SP_PUSH) < 0) {
		told.broken = 1;
		return told;
	}
	told.opened = told.closed = 1;
	while (stream_len - at >= WIRE_SP_FRAME_HEADER_BYTES) {
		memcpy(&len, stream + at + 1, sizeof(len));
		len = be64toh(len);
		if (stream[at] != 1 || len > WIRE_MESSAGE_MAX_BYTES) {
			told.broken++;
			break;
		}
		at += WIRE_SP_FRAME_HEADER_BYTES;
		if (len > stream_len - at || !expect_message(&told, stream + at, len, &next_seq))
			break;
		at += len;
	}
	return told;
}

/* ---- what comes ---- */

static struct told receive(uint32_t max_piece, size_t max_messages)
{
	struct told told = {.hash = 1};
	struct intake_stats before, after;
	size_t at = 0, messages = 0;
	bool is_greeted, is_over = false;
	uint32_t id;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		abort();
	intake_stats(intake, &before);
	if (intake_add(intake, pair[0], 0, &id) < 0)
		abort();
	for (unsigned calls = 0; intake_has(intake, id, &is_greeted); calls++) {
		size_t len = stream_len - at;

		if (max_piece && len > max_piece)
			len = 1 + next_random() % max_piece;
		if (len > 0) {
			const ssize_t n = send(pair[1], stream + at, len, MSG_NOSIGNAL);

			at += n > 0 ? (size_t)n : 0;
			is_over = n < 0 && errno != EAGAIN;
		}
		if (at == stream_len || is_over)
			shutdown(pair[1], SHUT_WR);
		messages += intake_read(intake, max_messages, on_event, &told);
		if (calls > MAX_CALLS)
			abort(); /* the connection never ends */
	}
	messages += intake_read(intake, 1, on_event, &told);
	close(pair[1]);
	intake_stats(intake, &after);
	told.messages = after.messages - before.messages;
	told.bytes = after.bytes - before.bytes;
	told.broken = after.broken - before.broken;
	told.other_version = after.other_version - before.other_version;
	if (messages != told.messages || told.gaps != after.gaps - before.gaps ||
	    after.sessions != 0 || after.buffer_bytes != 0)
		abort();
	return told;
}

/* ---- the stream ---- */

static void put(const void *data, size_t len)
{
	if (len > STREAM_BYTES - stream_len)
		len = STREAM_BYTES - stream_len;
	memcpy(stream + stream_len, data, len);
	stream_len += len;
}

static void put_frame(const uint8_t *data, size_t len)
{
	uint8_t header[WIRE_SP_FRAME_HEADER_BYTES];

	wire_encode_frame(header, len);
	put(header, sizeof(header));
	put(data, len);
}

/* A whole message with one record of that many bytes, of a kind that nobody knows. */
static void put_long(size_t len)
{
	static uint8_t message[WIRE_MESSAGE_MAX_BYTES];
	const size_t least = WIRE_MESSAGE_HEADER_BYTES + WIRE_RECORD_HEADER_BYTES;
	const uint16_t kind = htole16(77);
	uint32_t payload;

	len = len < least ? least : len > sizeof(message) ? sizeof(message) : len;
	payload = htole32((uint32_t)(len - least));
	wire_encode_message(message, 0, 1);
	memset(message + WIRE_MESSAGE_HEADER_BYTES, 0, WIRE_RECORD_HEADER_BYTES);
	memcpy(message + WIRE_MESSAGE_HEADER_BYTES, &kind, sizeof(kind));
	memcpy(message + WIRE_MESSAGE_HEADER_BYTES + 4, &payload, sizeof(payload));
	put_frame(message, len);
}

static void put_frames(const uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		size_t len = data[at++];

		if (len == LONG_FRAME && size - at >= 3) {
			put_long((size_t)data[at] << 16 | (size_t)data[at + 1] << 8 | data[at + 2]);
			at += 3;
			continue;
		}
		len = len < size - at ? len : size - at;
		put_frame(data + at, len);
		at += len;
	}
}

static void make_stream(uint8_t way, const uint8_t *data, size_t size)
{
	uint8_t greeting[WIRE_SP_GREETING_BYTES];

	stream_len = 0;
	wire_encode_greeting(greeting, WIRE_SP_PUSH);
	if (way % 3 > 0)
		put(greeting, sizeof(greeting));
	if (way % 3 == 2)
		put_frames(data, size);
	else
		put(data, size);
}

static void set_up(void)
{
	char dir[] = "/tmp/fuzz-intake.XXXXXX", path[sizeof(dir) + sizeof("/socket")];

	log_set_level(LOG_LEVEL_ERROR);
	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/socket", dir);
	if (intake_open(path, &intake) < 0)
		abort();
	unlink(path);
	rmdir(dir);
}

static void check(const struct told *told, const struct told *expected)
{
	if (memcmp(told, expected, sizeof(*told)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct told expected, told;

	if (size < 2)
		return 0;
	if (!intake)
		set_up();
	make_stream(data[1], data + 2, size - 2);
	expected = expect();
	seed = data[0];
	told = receive(0, 1000);
	check(&told, &expected);
	/* Pieces of a few bytes, but for streams so long that these would take a second. */
	told = receive(stream_len > 8192 ? 65536 : 1u + data[0], 1);
	check(&told, &expected);
	return 0;
}
