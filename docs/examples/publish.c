// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps the map of one JVM by the events of `fgcollect --watch --publish`, without any file.
 *
 *   cc -o publish publish.c -lnng
 *   publish ipc:///run/fgcollect-publish/events PID [SECONDS]
 *
 * Prints the map after so many seconds (10 unless given), one line a range as perf maps have them,
 * with "+" in front of code that lives and "-" in front of code that was dropped. Then it prints on
 * stderr how many messages were missed, and whether all code of the JVM is known.
 *
 * docs/publish.md says what the bytes of a message mean.
 */
#define _GNU_SOURCE

#include <inttypes.h>
#include <nng/nng.h>
#include <nng/protocol/pubsub0/sub.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RESYNC_BEGIN = 2, RESYNC_END = 3, METHOD_LOAD = 4, METHOD_UNLOAD = 5, STUB = 6 };
enum { CODE, SNAPSHOT, TOPICS };

static const char *const topics[TOPICS] = {"code.wire\n", "snapshot.wire\n"};

/* Ranges never overlap. */
struct range {
	uint64_t addr;
	uint32_t size;
	bool lives;
	bool was_named[TOPICS]; /* since the last begin on the topic */
	char *name;
};

static struct range *ranges;
static size_t n_ranges, room;
static bool walks[TOPICS];	/* between begin and end */
static uint64_t epochs[TOPICS]; /* of the begin */
static bool is_whole;
static uint64_t instance, next_seq[TOPICS], missed;

static uint64_t get(const uint8_t *data, size_t n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value << 8 | data[n];
	return value;
}

static void add(uint64_t addr, uint64_t size, const char *name, size_t len, bool lives)
{
	if (n_ranges == room) {
		room = room ? 2 * room : 1024;
		ranges = realloc(ranges, room * sizeof(*ranges));
		if (!ranges)
			exit(1);
	}
	ranges[n_ranges++] = (struct range){.addr = addr,
					    .size = (uint32_t)size,
					    .lives = lives,
					    .was_named = {true, true},
					    .name = strndup(name, len)};
}

/* What a load overlaps ends; what is left of it has its old name. */
static void load(uint64_t addr, uint32_t size, const char *name, size_t len)
{
	for (size_t i = 0; i < n_ranges;) {
		const struct range old = ranges[i];
		const uint64_t old_end = old.addr + old.size, end = addr + size;

		if (old.addr >= end || old_end <= addr) {
			i++;
			continue;
		}
		ranges[i] = ranges[--n_ranges];
		if (old.addr < addr)
			add(old.addr, addr - old.addr, old.name, strlen(old.name), false);
		if (old_end > end)
			add(end, old_end - end, old.name, strlen(old.name), false);
		free(old.name);
	}
	add(addr, size, name, len, true);
}

static void drop(uint64_t addr)
{
	for (size_t i = 0; i < n_ranges; i++)
		if (ranges[i].addr == addr)
			ranges[i].lives = false;
}

static void begin(int topic, uint64_t epoch)
{
	walks[topic] = true;
	epochs[topic] = epoch;
	for (size_t i = 0; i < n_ranges; i++)
		ranges[i].was_named[topic] = false;
}

/*
 * What a complete walk has not named is gone. A walk with a gap proves nothing, and neither does an
 * end of another begin.
 */
static void end(int topic, uint64_t epoch, bool complete)
{
	walks[topic] &= epoch == epochs[topic];
	for (size_t i = 0; walks[topic] && complete && i < n_ranges; i++)
		ranges[i].lives &= ranges[i].was_named[topic];
	is_whole |= walks[topic] && complete;
	walks[topic] = false;
}

static void take_entry(int topic, const uint8_t *entry, uint32_t pid)
{
	const uint8_t *const record = entry + 42 + get(entry + 40, 2);
	const uint64_t addr = get(entry + 24, 8);
	const bool is_resync = get(record, 2) == RESYNC_BEGIN || get(record, 2) == RESYNC_END;

	/* A record that was too long is left out. */
	if (get(entry + 4, 4) != pid || (is_resync && get(record + 4, 4) < 16))
		return;
	switch (get(record, 2)) {
	case METHOD_LOAD:
	case STUB:
		load(addr, (uint32_t)get(entry + 32, 4), (const char *)entry + 44,
		     get(entry + 42, 2));
		break;
	case METHOD_UNLOAD:
		drop(addr);
		break;
	case RESYNC_BEGIN:
		begin(topic, get(record + 16, 4));
		break;
	case RESYNC_END:
		end(topic, get(record + 16, 4), get(record + 20, 4) != 0);
		break;
	}
}

/* Another daemon begins anew, with other numbers. */
static void note_seq(int topic, uint64_t daemon, uint64_t seq)
{
	if (daemon != instance) {
		for (size_t i = 0; i < n_ranges; i++)
			free(ranges[i].name);
		n_ranges = 0;
		is_whole = walks[CODE] = walks[SNAPSHOT] = false;
		next_seq[CODE] = next_seq[SNAPSHOT] = UINT64_MAX;
		instance = daemon;
	}
	if (next_seq[topic] != UINT64_MAX && seq != next_seq[topic]) {
		missed += seq - next_seq[topic];
		is_whole = walks[CODE] = walks[SNAPSHOT] = false; /* until the next snapshot */
	}
	next_seq[topic] = seq + 1;
}

static void take_message(int topic, const uint8_t *data, size_t len, uint32_t pid)
{
	const uint8_t *const behind = data + len;
	const uint8_t *const head = data + strlen(topics[topic]);

	if (behind - head < 40 || memcmp(head, "FGP1", 4) != 0)
		return;
	note_seq(topic, get(head + 8, 8), get(head + 16, 8));
	for (const uint8_t *entry = head + get(head + 6, 2); behind - entry >= 42;
	     entry += get(entry, 4))
		take_entry(topic, entry, pid);
}

static int by_addr(const void *a, const void *b)
{
	const struct range *const ra = a, *const rb = b;

	return (ra->addr > rb->addr) - (ra->addr < rb->addr);
}

static void print(void)
{
	if (n_ranges > 0)
		qsort(ranges, n_ranges, sizeof(*ranges), by_addr);
	for (size_t i = 0; i < n_ranges; i++)
		printf("%c %" PRIx64 " %x %s\n", ranges[i].lives ? '+' : '-', ranges[i].addr,
		       (unsigned)ranges[i].size, ranges[i].name);
	fprintf(stderr, "%" PRIu64 " messages missed, %s\n", missed,
		is_whole ? "all code is known" : "not all code is known");
}

int main(int argc, char **argv)
{
	const time_t until = time(NULL) + (argc > 3 ? atoi(argv[3]) : 10);
	nng_socket socket;
	nng_msg *msg;
	int err;

	if (argc < 3) {
		fprintf(stderr, "usage: publish URL PID [SECONDS]\n");
		return 2;
	}
	err = nng_sub0_open(&socket);
	for (int i = 0; !err && i < TOPICS; i++)
		err = nng_socket_set(socket, NNG_OPT_SUB_SUBSCRIBE, topics[i], strlen(topics[i]));
	if (!err)
		err = nng_socket_set_int(socket, NNG_OPT_RECVBUF, 1024);
	if (!err)
		err = nng_socket_set_ms(socket, NNG_OPT_RECVTIMEO, 500);
	if (!err)
		err = nng_dial(socket, argv[1], NULL, 0);
	while (!err && time(NULL) < until) {
		const int got = nng_recvmsg(socket, &msg, 0);

		if (got == NNG_ETIMEDOUT)
			continue;
		err = got;
		for (int i = 0; !err && i < TOPICS; i++)
			if (nng_msg_len(msg) > strlen(topics[i]) &&
			    memcmp(nng_msg_body(msg), topics[i], strlen(topics[i])) == 0)
				take_message(i, nng_msg_body(msg), nng_msg_len(msg),
					     (uint32_t)atoi(argv[2]));
		if (!err)
			nng_msg_free(msg);
	}
	if (err)
		fprintf(stderr, "%s: %s\n", argv[1], nng_strerror(err));
	print();
	/* Without nng_close, which in libnng 1.5 does not return at times for a SUB socket. */
	return err != 0;
}
