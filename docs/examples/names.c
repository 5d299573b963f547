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
 *   names EVENTS STATE PID +                 follows, and prints the map for each line of its input
 *
 * EVENTS and STATE are the two URLs. ADDR is hexadecimal. TIME is of CLOCK_MONOTONIC in nanoseconds,
 * now unless given. Code that has ended is known for a minute, and what lived when this program
 * began is known since its birth. Code of which events were missed has no name: it is "?".
 *
 * docs/publish.md says what the bytes of a message mean, and how an answer and events are joined.
 */
#define _GNU_SOURCE

#include <inttypes.h>
#include <nng/nng.h>
#include <nng/protocol/pubsub0/sub.h>
#include <nng/protocol/reqrep0/req.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EVENTS	  "code.wire\n"
#define SECOND	  "summary\n" /* says each second how many messages there were */
#define MS	  UINT64_C(1000000)
#define LAG_NS	  (300 * MS)   /* events come that much later at most */
#define KEPT_NS	  (60000 * MS) /* how long code that has ended is known */
#define AGAIN_NS  (100 * MS)   /* before what is asked for again */
#define AGENT_NS  (10000 * MS) /* until an agent has found a daemon that is new */
#define SILENT_MS 5000	       /* a daemon says something each second */
#define FOREVER	  UINT64_MAX
#define ENTRY_TOP 44u /* up to the first text of an entry */

enum { RESYNC_BEGIN = 2, RESYNC_END = 3, METHOD_LOAD = 4, METHOD_UNLOAD = 5, STUB = 6 };

struct range {
	uint64_t addr, size, birth_ns, death_ns;
	uint64_t doubt_ns; /* the time before a gap since which nothing has told of it; 0: none */
	bool was_named;	   /* since the last begin */
	char *name;
};

static struct range *ranges;
static size_t n_ranges, room;
static struct link {
	const char *url;
	nng_socket socket;
	nng_dialer dialer;
} events, state;
static uint64_t instance, position; /* of the stream: the sequence number that is next */
static uint64_t pid, start_ticks, epoch;
static uint64_t heard_ns, quiet_ns; /* all events up to these times have come */
static uint64_t message_ns;	    /* when the last message came, or was last dialled for */
static uint64_t refused_ns;	    /* since when no such JVM is known; 0: it is */
static uint64_t expired_ns;
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

static void must(const struct link *link, int err)
{
	if (err)
		die(link->url, err);
}

/*
 * A dialer of libnng 1.5 whose connections are cut again and again does not connect any more at
 * times. The next one does.
 */
static void dial_again(struct link *link)
{
	nng_dialer_close(link->dialer);
	must(link, nng_dial(link->socket, link->url, &link->dialer, NNG_FLAG_NONBLOCK));
}

/* ---- the map ---- */

/* When code ended of which events were missed is not known: it has a name up to the gap. */
static void end_range(struct range *r, uint64_t time_ns)
{
	r->death_ns = r->doubt_ns ? r->doubt_ns : time_ns;
	r->doubt_ns = 0;
}

static void end_between(uint64_t addr, uint64_t end, uint64_t time_ns)
{
	for (size_t i = 0; i < n_ranges; i++)
		if (ranges[i].death_ns == FOREVER && ranges[i].addr < end &&
		    ranges[i].addr + ranges[i].size > addr)
			end_range(&ranges[i], time_ns);
}

/* The living range that is named again. Other code may lie there by now, of just that size. */
static struct range *find_same(uint64_t addr, uint64_t size, const char *name, size_t len)
{
	for (size_t i = 0; i < n_ranges; i++)
		if (ranges[i].death_ns == FOREVER && ranges[i].addr == addr &&
		    ranges[i].size == size && strncmp(ranges[i].name, name, len) == 0 &&
		    !ranges[i].name[len])
			return &ranges[i];
	return NULL;
}

/* Forgets what ended long ago. */
static void expire(void)
{
	const uint64_t time_ns = now();
	size_t kept = 0;

	if (time_ns < expired_ns + KEPT_NS / 4)
		return;
	expired_ns = time_ns;
	for (size_t i = 0; i < n_ranges; i++) {
		if (ranges[i].death_ns != FOREVER && ranges[i].death_ns + KEPT_NS < time_ns)
			free(ranges[i].name);
		else
			ranges[kept++] = ranges[i];
	}
	n_ranges = kept;
}

static void add(const struct range *range)
{
	expire();
	if (n_ranges == room) {
		room = room ? 2 * room : 4096;
		ranges = realloc(ranges, room * sizeof(*ranges));
	}
	if (!ranges || !range->name)
		die("no memory", 0);
	ranges[n_ranges++] = *range;
}

static void load(const uint8_t *entry, bool is_repeated)
{
	const uint64_t addr = get(entry + 24, 8), size = get(entry + 32, 4);
	const char *const name = (const char *)entry + ENTRY_TOP;
	const size_t len = get(entry + 42, 2);
	struct range *same = is_repeated ? find_same(addr, size, name, len) : NULL;

	if (same) {
		same->was_named = true;
		same->doubt_ns = 0;
		return;
	}
	end_between(addr, addr + size, get(entry + 16, 8));
	add(&(struct range){.addr = addr,
			    .size = size,
			    .birth_ns = get(entry + 16, 8),
			    .death_ns = FOREVER,
			    .was_named = true,
			    .name = strndup(name, len)});
	if (prints && !is_repeated && (entry[36] == 2 || entry[36] == 3)) {
		printf("%" PRIu64 " %" PRIx64 " %" PRIx64 " %.*s\n", get(entry + 16, 8), addr, size,
		       (int)len, name);
		fflush(stdout);
	}
}

static void drop(uint64_t addr, uint64_t time_ns)
{
	for (size_t i = 0; i < n_ranges; i++)
		if (ranges[i].addr == addr && ranges[i].death_ns == FOREVER)
			end_range(&ranges[i], time_ns);
}

/* What a complete resynchronisation has not named is gone; without its begin it proves nothing. */
static void resync(bool ends, uint64_t number, bool is_complete, uint64_t time_ns)
{
	for (size_t i = 0; i < n_ranges; i++) {
		if (!ends)
			ranges[i].was_named = false;
		else if (is_walking && number == epoch && is_complete && !ranges[i].was_named &&
			 ranges[i].death_ns == FOREVER)
			end_range(&ranges[i], time_ns);
	}
	epoch = number;
	is_walking = !ends;
}

/* Whether the entry's texts and its record lie in the message. */
static bool is_sound(const uint8_t *entry, size_t left)
{
	const size_t len = left >= ENTRY_TOP ? get(entry, 4) : 0;
	const size_t texts = len >= ENTRY_TOP ? get(entry + 40, 2) : 0;

	return len >= ENTRY_TOP && len <= left && 42 + texts + 8 <= len &&
	       2 + get(entry + 42, 2) <= texts;
}

static void take_entry(const uint8_t *entry)
{
	const uint8_t *const record = entry + 42 + get(entry + 40, 2);
	const uint64_t kind = get(record, 2), time_ns = get(entry + 16, 8);
	const bool has_epoch = get(record + 4, 4) >= 16 && record + 24 <= entry + get(entry, 4);

	if (get(entry + 4, 4) != pid || get(entry + 8, 8) != start_ticks)
		return;
	if (kind == METHOD_LOAD || kind == STUB)
		load(entry, (get(record + 2, 2) & 1) != 0);
	else if (kind == METHOD_UNLOAD)
		drop(get(entry + 24, 8), time_ns);
	else if ((kind == RESYNC_BEGIN || kind == RESYNC_END) && has_epoch)
		resync(kind == RESYNC_END, get(record + 16, 4), get(record + 20, 4) != 0, time_ns);
}

static void take_entries(const uint8_t *head, size_t len)
{
	const uint8_t *const behind = head + len, *entry = head + get(head + 6, 2);

	for (; entry < behind; entry += get(entry, 4)) {
		if (!is_sound(entry, (size_t)(behind - entry)))
			die("a message is not as docs/publish.md says", 0);
		take_entry(entry);
	}
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
	if (!has_gap)
		heard_ns = number_behind(text, "\"time_ns\":");
}

static void take_message(const char *body, size_t len)
{
	const uint8_t *const head = (const uint8_t *)body + strlen(EVENTS);

	if (strncmp(body, SECOND, strlen(SECOND)) == 0) {
		take_second(body);
	} else if (len >= strlen(EVENTS) + 40 && memcmp(head, "FGP1", 4) == 0) {
		move(get(head + 8, 8), get(head + 16, 8), get(head + 16, 8) + 1);
		take_entries(head, len - strlen(EVENTS));
		if (!has_gap)
			heard_ns = get(head + 24, 8);
	}
}

/* Takes the next message, for which it waits for a moment. */
static void hear(void)
{
	nng_msg *msg;
	const int err = nng_recvmsg(events.socket, &msg, 0);
	const size_t len = err ? 0 : nng_msg_len(msg);

	if (err == NNG_ETIMEDOUT) {
		quiet_ns = now();
		if (quiet_ns < message_ns + SILENT_MS * MS)
			return;
		message_ns = quiet_ns;
		dial_again(&events);
		return;
	}
	must(&events, err ? err : nng_msg_append(msg, "", 1));
	message_ns = now();
	take_message(nng_msg_body(msg), len);
	nng_msg_free(msg);
}

/* ---- the state ---- */

static int ask_once(char *text, size_t len, nng_msg **answer)
{
	const int err = nng_send(state.socket, text, len, 0);

	return err ? err : nng_recvmsg(state.socket, answer, 0);
}

static nng_msg *ask(const char *format, uint64_t from)
{
	char text[128];
	nng_msg *answer = NULL;
	int n, err;

	n = snprintf(text, sizeof(text), format, pid, start_ticks, from);
	while ((err = ask_once(text, (size_t)n, &answer)) == NNG_ETIMEDOUT)
		dial_again(&state);
	must(&state, err ? err : nng_msg_append(answer, "", 1));
	return answer;
}

/* The rows of JVMs from this PID on: the first is the JVM's. */
static void find_jvm(void)
{
	nng_msg *const answer = ask("jvms %" PRIu64, 0);
	const char *const head = strchr(nng_msg_body(answer), '\n');
	const char *const rows = head ? strchr(head + 1, '\n') : NULL;

	if (!rows || number_behind(rows, "\"pid\":") != pid)
		die("no such JVM is known", 0);
	start_ticks = number_behind(rows, "\"start_ticks\":");
	nng_msg_free(answer);
}

/*
 * The JVM's agent is just telling all of its code, or has not found a daemon that is new; what it
 * tells comes meanwhile. A JVM that has ended is not known either.
 */
static void wait_for_state(const char *error)
{
	const uint64_t until_ns = now() + AGAIN_NS;

	if (strstr(error, "\"again\":true"))
		refused_ns = 0;
	else if (!refused_ns)
		refused_ns = now();
	if (refused_ns && now() > refused_ns + AGENT_NS)
		die(error, 0);
	while (now() < until_ns)
		hear();
}

/* One page, at its place in the stream. False: it was the last; else *from is of the next one. */
static bool take_page(uint64_t *from)
{
	nng_msg *const answer = ask("code.wire %" PRIu64 " %" PRIu64 " %" PRIu64, *from);
	const char *const body = nng_msg_body(answer);
	const size_t len = nng_msg_len(answer) - 1;
	const uint8_t *const head = (const uint8_t *)body + strlen(EVENTS);
	bool has_more = true;

	if (strncmp(body, "error\n", 6) == 0) {
		wait_for_state(body);
	} else if (len < strlen(EVENTS) + 48) {
		die("an answer is not as docs/publish.md says", 0);
	} else {
		refused_ns = 0;
		while (!has_gap && position < get(head + 16, 8))
			hear();
		has_gap |= get(head + 8, 8) != instance;
		if (!has_gap)
			take_entries(head, len - strlen(EVENTS));
		*from = get(head + 40, 8);
		has_more = *from != 0;
	}
	nng_msg_free(answer);
	return has_more;
}

/* What lived before the gap may live, or have ended at any time since. */
static void doubt_all(void)
{
	for (size_t i = 0; i < n_ranges; i++)
		if (ranges[i].death_ns == FOREVER && !ranges[i].doubt_ns)
			ranges[i].doubt_ns = heard_ns;
}

static void end_doubted(void)
{
	for (size_t i = 0; i < n_ranges; i++)
		if (ranges[i].doubt_ns)
			end_range(&ranges[i], ranges[i].doubt_ns);
}

/*
 * Asks for all that lives, at first and after each gap, also where events are missed meanwhile. An
 * answer of before the gap is no good.
 */
static void join(void)
{
	do {
		uint64_t from = 0;

		doubt_all();
		has_gap = has_position = is_walking = false;
		refused_ns = 0;
		while (!has_position)
			hear();
		while (!has_gap && take_page(&from))
			;
	} while (has_gap);
	end_doubted();
}

static void hear_and_join(void)
{
	hear();
	if (has_gap)
		join();
}

/* ---- addresses ---- */

/*
 * What lived there then. Of code that is told of later than it was there, so much at most, and only
 * where nothing is known to have lived.
 */
static const char *name_at(uint64_t addr, uint64_t time_ns)
{
	const struct range *best = NULL;

	for (size_t i = 0; i < n_ranges; i++) {
		const struct range *const r = &ranges[i];

		if (addr < r->addr || addr - r->addr >= r->size || r->death_ns <= time_ns ||
		    r->birth_ns > time_ns + LAG_NS)
			continue;
		if (!best || r->birth_ns < best->birth_ns)
			best = r;
	}
	return best ? best->name : "?";
}

/* Until the events of that time have come. */
static void catch_up(uint64_t time_ns)
{
	const uint64_t due_ns = (time_ns < now() ? time_ns : now()) + LAG_NS;

	while (heard_ns < due_ns && quiet_ns < due_ns)
		hear_and_join();
}

static void name(uint64_t addr, uint64_t time_ns)
{
	catch_up(time_ns);
	printf("%" PRIx64 " %s\n", addr, name_at(addr, time_ns));
	fflush(stdout);
}

/* The input, of which events are heard while it has nothing to say. */
static struct {
	char text[4096];
	size_t len;
	bool has_ended;
} input;

static void read_input(void)
{
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
	ssize_t n;

	while (poll(&fd, 1, 0) == 0)
		hear_and_join();
	n = read(STDIN_FILENO, input.text + input.len, sizeof(input.text) - input.len);
	input.has_ended = n <= 0;
	input.len += n > 0 ? (size_t)n : 0;
}

/* Lines without two numbers are passed over. */
static void name_line(const char *line)
{
	char *end;
	const uint64_t time_ns = strtoull(line, &end, 10), addr = strtoull(end, NULL, 16);

	if (time_ns && addr)
		name(addr, time_ns);
}

static int by_addr(const void *a, const void *b)
{
	const struct range *const ra = a, *const rb = b;

	return (ra->addr > rb->addr) - (ra->addr < rb->addr);
}

/* What lives, and an empty line. */
static void print_map(void)
{
	catch_up(now());
	qsort(ranges, n_ranges, sizeof(*ranges), by_addr);
	for (size_t i = 0; i < n_ranges; i++)
		if (ranges[i].death_ns == FOREVER)
			printf("%" PRIx64 " %" PRIx64 " %s\n", ranges[i].addr, ranges[i].size,
			       ranges[i].name);
	printf("\n");
	fflush(stdout);
}

static void take_lines(bool prints_map)
{
	while (!input.has_ended) {
		char *line = input.text, *newline;

		read_input();
		while ((newline = memchr(line, '\n', input.len))) {
			*newline = '\0';
			if (prints_map)
				print_map();
			else
				name_line(line);
			input.len -= (size_t)(newline + 1 - line);
			line = newline + 1;
		}
		if (input.len == sizeof(input.text))
			input.len = 0; /* no number is so long */
		memmove(input.text, line, input.len);
	}
}

static void name_args(char **args)
{
	for (; *args; args++) {
		char *end;
		const uint64_t addr = strtoull(*args, &end, 16);

		name(addr, *end == '@' ? strtoull(end + 1, NULL, 10) : now());
	}
}

static void connect_to(char **urls)
{
	events.url = urls[0];
	state.url = urls[1];
	must(&events, nng_sub0_open(&events.socket));
	must(&events, nng_socket_set(events.socket, NNG_OPT_SUB_SUBSCRIBE, EVENTS, strlen(EVENTS)));
	must(&events, nng_socket_set(events.socket, NNG_OPT_SUB_SUBSCRIBE, SECOND, strlen(SECOND)));
	must(&events, nng_socket_set_int(events.socket, NNG_OPT_RECVBUF, 4096));
	must(&events, nng_socket_set_ms(events.socket, NNG_OPT_RECVTIMEO, 20));
	must(&events, nng_dial(events.socket, events.url, &events.dialer, 0));
	must(&state, nng_req0_open(&state.socket));
	must(&state, nng_socket_set_ms(state.socket, NNG_OPT_SENDTIMEO, SILENT_MS));
	must(&state, nng_socket_set_ms(state.socket, NNG_OPT_RECVTIMEO, SILENT_MS));
	must(&state, nng_dial(state.socket, state.url, &state.dialer, 0));
	message_ns = now();
}

int main(int argc, char **argv)
{
	const char *const what = argc > 4 ? argv[4] : "";

	if (argc < 4) {
		fprintf(stderr, "usage: names EVENTS STATE PID [ADDR[@TIME]... | - | = | +]\n");
		return 2;
	}
	pid = strtoull(argv[3], NULL, 10);
	connect_to(argv + 1);
	find_jvm();
	join();
	fprintf(stderr, "joined\n");
	prints = argc == 4;
	if (strcmp(what, "-") == 0 || strcmp(what, "+") == 0)
		take_lines(what[0] == '+');
	else if (strcmp(what, "=") == 0)
		print_map();
	else if (argc > 4)
		name_args(argv + 4);
	while (prints)
		hear_and_join();
	return 0;
}
