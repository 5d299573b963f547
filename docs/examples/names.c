// SPDX-License-Identifier: Apache-2.0
/*
 * Names the generated code of one JVM, from its state and its events:
 *
 *   fgcollect --watch --publish ipc:///run/fgcollect-publish/events \
 *       --publish-state ipc:///run/fgcollect-publish/state
 *   cc -o names names.c -lnng
 *   names EVENTS STATE PID                   prints each method that is compiled from now on
 *   names EVENTS STATE PID ADDR[@TIME]...    names addresses, and ends
 *   names EVENTS STATE PID -                 names "TIME ADDR" of each line of its input
 *   names EVENTS STATE PID =                 prints the map of all living code, and ends
 *
 * EVENTS and STATE are the two URLs. ADDR is hexadecimal. TIME is of CLOCK_MONOTONIC in nanoseconds,
 * now unless given: code of an address is known at any time since this program has begun, and what
 * lived then at any time since its birth.
 *
 * docs/publish.md says what the bytes of a message mean, and how an answer and events are joined.
 */
#define _GNU_SOURCE

#include <inttypes.h>
#include <nng/nng.h>
#include <nng/protocol/pubsub0/sub.h>
#include <nng/protocol/reqrep0/req.h>
#include <nng/supplemental/util/platform.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EVENTS "code.wire\n"
#define SECOND "summary\n"	   /* says each second how many messages there were */
#define LAG_NS UINT64_C(300000000) /* events come that much later at most */

enum { RESYNC_BEGIN = 2, RESYNC_END = 3, METHOD_LOAD = 4, METHOD_UNLOAD = 5, STUB = 6 };

struct range {
	uint64_t addr, size, birth_ns, death_ns;
	bool was_named; /* since the last begin */
	char *name;
};

static struct range *ranges;
static size_t n_ranges, room;
static nng_socket events, state;
static uint64_t instance, position; /* of the stream: the sequence number that is next */
static uint64_t pid, start_ticks, epoch;
static bool has_position, has_gap, is_walking, prints;

static void die(const char *what, int err)
{
	fprintf(stderr, "%s%s%s\n", what, err ? ": " : "", err ? nng_strerror(err) : "");
	/* Without nng_close, which in libnng 1.5 does not return at times for a SUB socket. */
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t get(const uint8_t *data, size_t n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value << 8 | data[n];
	return value;
}

/* ---- the map ---- */

static void end_between(uint64_t addr, uint64_t end, uint64_t time_ns)
{
	for (size_t i = 0; i < n_ranges; i++)
		if (ranges[i].death_ns == UINT64_MAX && ranges[i].addr < end &&
		    ranges[i].addr + ranges[i].size > addr)
			ranges[i].death_ns = time_ns;
}

/* The living range that is named again. */
static struct range *find_same(uint64_t addr, uint64_t size)
{
	for (size_t i = 0; i < n_ranges; i++)
		if (ranges[i].death_ns == UINT64_MAX && ranges[i].addr == addr &&
		    ranges[i].size == size)
			return &ranges[i];
	return NULL;
}

static void load(const uint8_t *entry, bool is_repeated)
{
	const uint64_t addr = get(entry + 24, 8), size = get(entry + 32, 4);
	const char *const name = (const char *)entry + 44;
	const int len = (int)get(entry + 42, 2);
	struct range *same = is_repeated ? find_same(addr, size) : NULL;

	if (same) {
		same->was_named = true;
		return;
	}
	end_between(addr, addr + size, get(entry + 16, 8));
	if (n_ranges == room) {
		room = room ? 2 * room : 4096;
		ranges = realloc(ranges, room * sizeof(*ranges));
		if (!ranges)
			die("no memory", 0);
	}
	ranges[n_ranges++] = (struct range){.addr = addr,
					    .size = size,
					    .birth_ns = get(entry + 16, 8),
					    .death_ns = UINT64_MAX,
					    .was_named = true,
					    .name = strndup(name, (size_t)len)};
	if (prints && !is_repeated && (entry[36] == 2 || entry[36] == 3)) {
		printf("%" PRIu64 " %" PRIx64 " %" PRIx64 " %.*s\n", get(entry + 16, 8), addr, size,
		       len, name);
		fflush(stdout);
	}
}

static void drop(uint64_t addr, uint64_t time_ns)
{
	for (size_t i = 0; i < n_ranges; i++)
		if (ranges[i].addr == addr && ranges[i].death_ns == UINT64_MAX)
			ranges[i].death_ns = time_ns;
}

/* What a complete resynchronisation has not named is gone; without its begin it proves nothing. */
static void resync(bool ends, uint64_t number, bool is_complete, uint64_t time_ns)
{
	for (size_t i = 0; i < n_ranges; i++) {
		if (!ends)
			ranges[i].was_named = false;
		else if (is_walking && number == epoch && is_complete && !ranges[i].was_named &&
			 ranges[i].death_ns == UINT64_MAX)
			ranges[i].death_ns = time_ns;
	}
	epoch = number;
	is_walking = !ends;
}

static void take_entry(const uint8_t *entry)
{
	const uint8_t *const record = entry + 42 + get(entry + 40, 2);
	const uint64_t kind = get(record, 2), time_ns = get(entry + 16, 8);

	if (get(entry + 4, 4) != pid || get(entry + 8, 8) != start_ticks)
		return;
	if (kind == METHOD_LOAD || kind == STUB)
		load(entry, (get(record + 2, 2) & 1) != 0);
	else if (kind == METHOD_UNLOAD)
		drop(get(entry + 24, 8), time_ns);
	else if (kind == RESYNC_BEGIN || kind == RESYNC_END)
		resync(kind == RESYNC_END, get(record + 16, 4), get(record + 20, 4) != 0, time_ns);
}

static void take_entries(const uint8_t *head, size_t len)
{
	const uint8_t *const behind = head + len;

	for (const uint8_t *entry = head + get(head + 6, 2); behind - entry >= 42;
	     entry += get(entry, 4))
		take_entry(entry);
}

/* ---- the events ---- */

/* Messages up to this one have come, or are missing. */
static void move(uint64_t daemon, uint64_t seq, uint64_t next)
{
	has_gap |= has_position && (daemon != instance || seq != position);
	has_position = true;
	instance = daemon;
	position = next;
}

static uint64_t number_behind(const char *text, const char *key)
{
	const char *const found = strstr(text, key);

	return found ? strtoull(found + strlen(key), NULL, 10) : 0;
}

/* The head of a message of summary, whose text ends with a 0. */
static void take_second(const char *text)
{
	const char *const sent = strstr(text, "\"sent\":");
	const uint64_t seq = sent ? number_behind(sent, "\"code.wire\":") : 0;

	if (sent)
		move(number_behind(text, "\"instance\":"), seq, seq);
}

/* Takes the next message, for which it waits for a moment. */
static void hear(void)
{
	const uint8_t *head;
	nng_msg *msg;
	const int err = nng_recvmsg(events, &msg, 0);
	size_t len;

	if (err == NNG_ETIMEDOUT)
		return;
	if (err || nng_msg_append(msg, "", 1) != 0)
		die("events", err);
	head = (const uint8_t *)nng_msg_body(msg) + strlen(EVENTS);
	len = nng_msg_len(msg) - 1 - strlen(EVENTS);
	if (memcmp(nng_msg_body(msg), SECOND, strlen(SECOND)) == 0) {
		take_second(nng_msg_body(msg));
	} else if (memcmp(head, "FGP1", 4) == 0) {
		move(get(head + 8, 8), get(head + 16, 8), get(head + 16, 8) + 1);
		take_entries(head, len);
	}
	nng_msg_free(msg);
}

/* ---- the state ---- */

static nng_msg *ask(const char *format, uint64_t from)
{
	char text[128];
	nng_msg *answer;
	int n, err;

	n = snprintf(text, sizeof(text), format, pid, start_ticks, from);
	err = nng_send(state, text, (size_t)n, 0);
	if (!err)
		err = nng_recvmsg(state, &answer, 0);
	if (!err)
		err = nng_msg_append(answer, "", 1);
	if (err)
		die("state", err);
	return answer;
}

/* The rows of JVMs from this PID on: the first is the JVM's. */
static void find_jvm(void)
{
	nng_msg *const answer = ask("jvms %" PRIu64, 0);
	const char *const rows =
		strchr((const char *)nng_msg_body(answer) + strlen("jvms\n"), '\n');

	if (!rows || number_behind(rows, "\"pid\":") != pid)
		die("no such JVM is known", 0);
	start_ticks = number_behind(rows, "\"start_ticks\":");
	nng_msg_free(answer);
}

/* One page, at its place in the stream. Returns FROM of the next one; 0: it was the last. */
static uint64_t take_page(uint64_t from)
{
	nng_msg *const answer = ask("code.wire %" PRIu64 " %" PRIu64 " %" PRIu64, from);
	const char *const body = nng_msg_body(answer);
	const uint8_t *const head = (const uint8_t *)body + strlen(EVENTS);

	if (strncmp(body, "error\n", 6) == 0) {
		if (!strstr(body, "\"again\":true"))
			die(body, 0);
		nng_msg_free(answer);
		nng_msleep(100);
		return from;
	}
	while (!has_gap && position < get(head + 16, 8))
		hear();
	has_gap |= get(head + 8, 8) != instance;
	take_entries(head, nng_msg_len(answer) - 1 - strlen(EVENTS));
	from = get(head + 40, 8);
	nng_msg_free(answer);
	return from;
}

/* Asks for all that lives, at first and after each gap. An answer of before the gap is no good. */
static void join(void)
{
	uint64_t from;

	do {
		has_gap = has_position = is_walking = false;
		end_between(0, UINT64_MAX, now());
		while (!has_position)
			hear();
		from = 0;
		do
			from = take_page(from);
		while (from && !has_gap);
	} while (has_gap);
}

/* ---- addresses ---- */

struct wanted {
	uint64_t addr, time_ns, due_ns;
};

static void name(const struct wanted *wanted)
{
	const struct range *next = NULL;

	for (size_t i = 0; i < n_ranges; i++) {
		const struct range *const r = &ranges[i];

		if (wanted->addr < r->addr || wanted->addr - r->addr >= r->size ||
		    r->death_ns <= wanted->time_ns)
			continue;
		/* Who is not born yet is told of later than it was there. */
		if (!next || r->birth_ns < next->birth_ns)
			next = r;
	}
	printf("%" PRIx64 " %s\n", wanted->addr, next ? next->name : "?");
	fflush(stdout);
}

/* Names each address once its events have come. */
static void name_all(struct wanted *wanted, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		while (now() < wanted[i].due_ns || has_gap) {
			hear();
			if (has_gap)
				join();
		}
		name(&wanted[i]);
	}
}

static struct wanted wanted_at(uint64_t addr, uint64_t time_ns)
{
	return (struct wanted){addr, time_ns, (time_ns > now() ? time_ns : now()) + LAG_NS};
}

/* Lines without two numbers are passed over. */
static void name_lines(void)
{
	char line[256];
	struct wanted wanted;

	while (fgets(line, sizeof(line), stdin)) {
		char *end;
		const uint64_t time_ns = strtoull(line, &end, 10);
		const uint64_t addr = strtoull(end, NULL, 16);

		if (!time_ns || !addr)
			continue;
		wanted = wanted_at(addr, time_ns);
		name_all(&wanted, 1);
	}
}

static void name_args(char **args)
{
	for (; *args; args++) {
		char *end;
		const uint64_t addr = strtoull(*args, &end, 16);
		struct wanted wanted =
			wanted_at(addr, *end == '@' ? strtoull(end + 1, NULL, 10) : now());

		name_all(&wanted, 1);
	}
}

static int by_addr(const void *a, const void *b)
{
	const struct range *const ra = a, *const rb = b;

	return (ra->addr > rb->addr) - (ra->addr < rb->addr);
}

static void print_map(void)
{
	qsort(ranges, n_ranges, sizeof(*ranges), by_addr);
	for (size_t i = 0; i < n_ranges; i++)
		if (ranges[i].death_ns == UINT64_MAX)
			printf("%" PRIx64 " %" PRIx64 " %s\n", ranges[i].addr, ranges[i].size,
			       ranges[i].name);
}

static void connect_to(const char *events_url, const char *state_url)
{
	int err = nng_sub0_open(&events);

	if (!err)
		err = nng_socket_set(events, NNG_OPT_SUB_SUBSCRIBE, EVENTS, strlen(EVENTS));
	if (!err)
		err = nng_socket_set(events, NNG_OPT_SUB_SUBSCRIBE, SECOND, strlen(SECOND));
	if (!err)
		err = nng_socket_set_int(events, NNG_OPT_RECVBUF, 4096);
	if (!err)
		err = nng_socket_set_ms(events, NNG_OPT_RECVTIMEO, 100);
	if (!err)
		err = nng_dial(events, events_url, NULL, 0);
	if (!err)
		err = nng_req0_open(&state);
	if (!err)
		err = nng_dial(state, state_url, NULL, 0);
	if (err)
		die(events_url, err);
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: names EVENTS STATE PID [ADDR[@TIME]... | - | =]\n");
		return 2;
	}
	pid = strtoull(argv[3], NULL, 10);
	connect_to(argv[1], argv[2]);
	find_jvm();
	join();
	fprintf(stderr, "joined\n");
	if (argc > 4 && strcmp(argv[4], "-") == 0) {
		name_lines();
	} else if (argc > 4 && strcmp(argv[4], "=") == 0) {
		print_map();
	} else if (argc > 4) {
		name_args(argv + 4);
	} else {
		prints = true;
		for (;;) {
			hear();
			if (has_gap)
				join();
		}
	}
	return 0;
}
