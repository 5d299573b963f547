// SPDX-License-Identifier: Apache-2.0
/*
 * Publishes batches, see publisher.h. A message begins with its topic and a newline. Messages of
 * entries go on with a header, and messages of JSON with a line about the message:
 *
 *    0 "FGP1"            4 u16 version, 1      6 u16 length of the header, 40
 *    8 u64 instance     16 u64 sequence number
 *   24 u64 time         32 u32 entries        36 u32 0
 *
 *   {"topic":"code.json","instance":17,"seq":4,"time_ns":5,"version":1}
 *
 * One file, because a batch's way from the model's thread to libnng is one subject: what is lost on
 * it is counted where it is lost, and shows in the next message.
 */
#include "publish/publisher.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map64.h"
#include "base/thread.h"
#include "guard/heap_bytes.h"
#include "publish/publish_json.h"
#include "publish/publish_socket.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES    40u
#define ROOM_FOR_HEAD 512u /* of a message: topic, header or first line */
#define BATCH_MOST    (PUBLISH_MESSAGE_MOST - ROOM_FOR_HEAD)
#define QUEUE_LEAST   4u   /* messages that libnng keeps */
#define QUEUE_MOST    256u /* the same */
#define STEP_NS	      (500 * CLOCK_NS_PER_MS)

/* The names that messages have. */
enum channel { JVM, SUMMARY, CODE_WIRE, CODE_JSON, SNAPSHOT_WIRE, SNAPSHOT_JSON, CHANNELS };

static const char *const names[CHANNELS] = {
	[JVM] = "jvm",
	[SUMMARY] = "summary",
	[CODE_WIRE] = "code.wire",
	[CODE_JSON] = "code.json",
	[SNAPSHOT_WIRE] = "snapshot.wire",
	[SNAPSHOT_JSON] = "snapshot.json",
};

/* Entries or lines of one topic. */
struct batch {
	struct batch *next;
	enum publish_topic topic;
	uint32_t count;		       /* of entries or lines */
	uint64_t lost[PUBLISH_TOPICS]; /* messages of each topic that were lost before this one */
	uint64_t time_ns;
	struct bytes bytes;
};

struct publisher {
	struct publish_socket socket;
	uint64_t instance;

	/* the model's */
	struct batch *open; /* NULL: there is none */
	uint64_t lost[PUBLISH_TOPICS];
	struct map64 shares; /* group -> bytes of this second, as a pointer */
	uint64_t second_ns;  /* when that began */
	uint64_t now_ns;

	/* the thread's */
	pthread_t thread;
	uint64_t seqs[CHANNELS];
	struct bytes line;	   /* of JSON */
	struct bytes text;	   /* lines of the message that is being made */
	unsigned queue;		   /* messages that libnng keeps */
	uint32_t kept[QUEUE_MOST]; /* lengths of the last messages, a ring */
	size_t next_kept;

	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t changed;
	struct batch *first, **end;
	size_t waiting_bytes;
	size_t max_bytes;
	struct publish_stats stats;
	bool is_closing;
};

/* ---- messages ---- */

static void put(uint8_t *out, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (uint8_t)(value >> (8 * i));
}

/* Counts the last messages, of which libnng may have as many as its queues are long. */
static void note_sent(struct publisher *publisher, size_t len, int err)
{
	uint32_t *const kept = &publisher->kept[publisher->next_kept++ % publisher->queue];

	pthread_mutex_lock(&publisher->lock);
	publisher->stats.kept_bytes += len - *kept;
	publisher->stats.messages += !err;
	publisher->stats.messages_unsent += err != 0;
	publisher->stats.bytes += err ? 0 : len;
	pthread_mutex_unlock(&publisher->lock);
	*kept = (uint32_t)len;
}

/* Sends head and body as one message. */
static void send_message(struct publisher *publisher, const void *head, size_t head_len,
			 const struct bytes *body)
{
	nng_msg *msg;
	int err = nng_msg_alloc(&msg, 0);

	if (!err && (nng_msg_append(msg, head, head_len) != 0 ||
		     nng_msg_append(msg, body->data, body->len) != 0)) {
		nng_msg_free(msg);
		err = NNG_ENOMEM;
	}
	if (!err)
		err = publish_socket_send(&publisher->socket, msg);
	note_sent(publisher, head_len + body->len, err);
}

static void send_entries(struct publisher *publisher, enum channel channel,
			 const struct batch *batch)
{
	char head[ROOM_FOR_HEAD];
	const size_t topic = (size_t)snprintf(head, sizeof(head), "%s\n", names[channel]);
	uint8_t *const fields = (uint8_t *)head + topic;

	memcpy(fields, "FGP1", 4);
	put(fields + 4, 1, 2);
	put(fields + 6, HEAD_BYTES, 2);
	put(fields + 8, publisher->instance, 8);
	put(fields + 16, publisher->seqs[channel]++, 8);
	put(fields + 24, batch->time_ns, 8);
	put(fields + 32, batch->count, 4);
	put(fields + 36, 0, 4);
	send_message(publisher, head, topic + HEAD_BYTES, &batch->bytes);
}

/* The summary says how many messages each topic had, so that gaps at the end show too. */
static size_t put_sent(const struct publisher *publisher, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, ",\"sent\":{");

	for (int i = 0; i < CHANNELS; i++)
		n += (size_t)snprintf(out + n, size - n, "%s\"%s\":%" PRIu64, i ? "," : "",
				      names[i], publisher->seqs[i]);
	return n + (size_t)snprintf(out + n, size - n, "}");
}

static void send_lines(struct publisher *publisher, enum channel channel, uint64_t time_ns,
		       const struct bytes *lines)
{
	char head[ROOM_FOR_HEAD];
	size_t n = (size_t)snprintf(head, sizeof(head),
				    "%s\n{\"topic\":\"%s\",\"version\":1,\"instance\":%" PRIu64
				    ",\"seq\":%" PRIu64 ",\"time_ns\":%" PRIu64,
				    names[channel], names[channel], publisher->instance,
				    publisher->seqs[channel], time_ns);

	publisher->seqs[channel]++;
	if (channel == SUMMARY)
		n += put_sent(publisher, head + n, sizeof(head) - n);
	n += (size_t)snprintf(head + n, sizeof(head) - n, "}\n");
	send_message(publisher, head, n, lines);
}

/* Sends the lines that are there. */
static void send_text(struct publisher *publisher, enum channel channel, uint64_t time_ns)
{
	if (publisher->text.len > 0)
		send_lines(publisher, channel, time_ns, &publisher->text);
	publisher->text.len = 0;
}

/* A line could not be made: there is a gap in its place. */
static void lose_line(struct publisher *publisher, enum channel channel, uint64_t time_ns)
{
	send_text(publisher, channel, time_ns);
	publisher->seqs[channel]++;
	publisher->text.failed = false;
	THREAD_HOLD(&publisher->lock);
	publisher->stats.events_dropped++;
}

/* Sends the entries as JSON, which may take several messages. */
static void send_json(struct publisher *publisher, enum channel channel, const struct batch *batch)
{
	struct bytes *const line = &publisher->line, *const text = &publisher->text;
	struct publish_entry entry;
	size_t pos = 0;

	text->len = 0;
	while (publish_entry_next(batch->bytes.data, batch->bytes.len, &pos, &entry) > 0) {
		line->len = 0;
		line->failed = false; /* of an earlier lack of memory */
		if (publish_json_line(&entry, line) < 0) {
			lose_line(publisher, channel, batch->time_ns);
			continue;
		}
		if (text->len + line->len > BATCH_MOST)
			send_text(publisher, channel, batch->time_ns);
		bytes_add(text, line->data, line->len);
		if (text->failed)
			lose_line(publisher, channel, batch->time_ns);
	}
	send_text(publisher, channel, batch->time_ns);
}

static void send_batch(struct publisher *publisher, const struct batch *batch)
{
	static const enum channel firsts[PUBLISH_TOPICS] = {[PUBLISH_JVM] = JVM,
							    [PUBLISH_SUMMARY] = SUMMARY,
							    [PUBLISH_EVENT] = CODE_WIRE,
							    [PUBLISH_SNAPSHOT] = SNAPSHOT_WIRE};
	const enum channel channel = firsts[batch->topic];

	for (int topic = 0; topic < PUBLISH_TOPICS; topic++) {
		publisher->seqs[firsts[topic]] += batch->lost[topic];
		if (firsts[topic] >= CODE_WIRE)
			publisher->seqs[firsts[topic] + 1] += batch->lost[topic];
	}
	if (channel < CODE_WIRE) {
		send_lines(publisher, channel, batch->time_ns, &batch->bytes);
		return;
	}
	send_entries(publisher, channel, batch);
	send_json(publisher, channel + 1, batch);
}

/* ---- the thread ---- */

static size_t batch_bytes(const struct batch *batch)
{
	return heap_bytes(sizeof(*batch)) + heap_bytes(batch->bytes.size);
}

static void free_batch(struct batch *batch)
{
	if (batch)
		bytes_fini(&batch->bytes);
	free(batch);
}

/* Nobody is there, and so nobody's queue. */
static void forget_kept(struct publisher *publisher)
{
	publisher->next_kept = 0;
	memset(publisher->kept, 0, sizeof(publisher->kept));
	THREAD_HOLD(&publisher->lock);
	publisher->stats.kept_bytes = 0;
}

/* The lengths that are kept are those of the queue's messages. */
static void set_queue(struct publisher *publisher, size_t max_bytes)
{
	size_t queue = max_bytes / 2 / PUBLISH_MESSAGE_MOST;

	queue = queue < QUEUE_LEAST ? QUEUE_LEAST : queue > QUEUE_MOST ? QUEUE_MOST : queue;
	if (queue == publisher->queue)
		return;
	if (publisher->queue)
		publish_socket_set_queue(&publisher->socket, (unsigned)queue);
	publisher->queue = (unsigned)queue;
	forget_kept(publisher);
}

/* NULL: none has come for a moment, or the publisher ends. */
static struct batch *wait_for_batch(struct publisher *publisher, size_t *ret_max, bool *ret_ends)
{
	const uint64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + STEP_NS;
	struct batch *batch;

	THREAD_HOLD(&publisher->lock);
	while (!publisher->first && !publisher->is_closing &&
	       thread_cond_wait_until(&publisher->changed, &publisher->lock, until_ns))
		;
	batch = publisher->first;
	if (batch) {
		publisher->first = batch->next;
		if (!publisher->first)
			publisher->end = &publisher->first;
	}
	*ret_max = publisher->max_bytes;
	*ret_ends = publisher->is_closing && !batch;
	return batch;
}

static void settle_batch(struct publisher *publisher, struct batch *batch)
{
	pthread_mutex_lock(&publisher->lock);
	publisher->waiting_bytes -= batch_bytes(batch);
	pthread_mutex_unlock(&publisher->lock);
	free_batch(batch);
}

static void step_socket(struct publisher *publisher)
{
	publish_socket_step(&publisher->socket, clock_now_ns());
	THREAD_HOLD(&publisher->lock);
	publisher->stats.listeners_renewed = publisher->socket.renewed;
}

static void *run(void *arg)
{
	struct publisher *const publisher = arg;
	bool ends = false;

	while (!ends) {
		size_t max_bytes;
		struct batch *const batch = wait_for_batch(publisher, &max_bytes, &ends);

		set_queue(publisher, max_bytes);
		if (!publisher_is_heard(publisher))
			forget_kept(publisher);
		if (batch) {
			send_batch(publisher, batch);
			settle_batch(publisher, batch);
		}
		step_socket(publisher);
	}
	return NULL;
}

/* ---- the model's side ---- */

int publisher_open(const char *path, size_t max_bytes, struct publisher **ret)
{
	struct publisher *const publisher = calloc(1, sizeof(*publisher));
	int err;

	if (!publisher)
		return -ENOMEM;
	publisher->instance = clock_unix_now_ns();
	publisher->max_bytes = max_bytes;
	publisher->end = &publisher->first;
	pthread_mutex_init(&publisher->lock, NULL);
	thread_cond_init(&publisher->changed);
	set_queue(publisher, max_bytes);
	err = publish_socket_open(&publisher->socket, path, publisher->queue, clock_now_ns());
	if (!err) {
		err = thread_start(&publisher->thread, run, publisher);
		if (err)
			publish_socket_close(&publisher->socket);
	}
	if (err) {
		free(publisher);
		return err;
	}
	*ret = publisher;
	return 0;
}

static void close_batches(struct publisher *publisher)
{
	for (struct batch *batch = publisher->first, *next; batch; batch = next) {
		next = batch->next;
		free_batch(batch);
	}
	free_batch(publisher->open);
}

void publisher_close(struct publisher *publisher)
{
	if (!publisher)
		return;
	publisher_flush(publisher, publisher->now_ns);
	pthread_mutex_lock(&publisher->lock);
	publisher->is_closing = true;
	pthread_cond_signal(&publisher->changed);
	pthread_mutex_unlock(&publisher->lock);
	pthread_join(publisher->thread, NULL); /* sending waits for nobody */
	publish_socket_close(&publisher->socket);
	close_batches(publisher);
	map64_fini(&publisher->shares);
	bytes_fini(&publisher->line);
	bytes_fini(&publisher->text);
	pthread_cond_destroy(&publisher->changed);
	pthread_mutex_destroy(&publisher->lock);
	free(publisher);
}

void publisher_set_max_bytes(struct publisher *publisher, size_t max_bytes)
{
	THREAD_HOLD(&publisher->lock);

	publisher->max_bytes = max_bytes;
}

bool publisher_is_heard(const struct publisher *publisher)
{
	return atomic_load(&publisher->socket.subscribers) > 0;
}

uint64_t publisher_joined(const struct publisher *publisher)
{
	return atomic_load(&publisher->socket.joined);
}

/* Whether the events of a group may have so much more of the room for batches. */
static bool takes_share(struct publisher *publisher, uint64_t group, size_t len, bool is_short,
			size_t room)
{
	const size_t had = (uintptr_t)map64_find(&publisher->shares, group);

	if (is_short && had + len > room / 8)
		return false;
	/* Without memory for the count the group is not held back. */
	map64_put(&publisher->shares, group, (void *)(uintptr_t)(had + len));
	return true;
}

/* Ends the second of the shares. */
static void renew_shares(struct publisher *publisher)
{
	const uint64_t now_ns = clock_now_ns();

	publisher->now_ns = now_ns;
	if (now_ns < publisher->second_ns + CLOCK_NS_PER_SEC)
		return;
	publisher->second_ns = now_ns;
	map64_fini(&publisher->shares);
	publisher->shares = (struct map64){0};
}

/* Counts an event for which there is no room, or for whose owner there is none. */
static bool has_room(struct publisher *publisher, uint64_t group, size_t len)
{
	const size_t open = publisher->open ? batch_bytes(publisher->open) : 0;
	size_t room, used;
	bool is_full, may;

	renew_shares(publisher);
	THREAD_HOLD(&publisher->lock);
	room = publisher->max_bytes / 2;
	used = publisher->waiting_bytes + open;
	is_full = used + len > room;
	may = !is_full && takes_share(publisher, group, len, used > room / 2, room);
	publisher->stats.events_dropped += is_full;
	publisher->stats.events_left_out += !is_full && !may;
	publisher->stats.events += may;
	return may;
}

/* The batch that takes so many bytes of the topic; NULL: there is no memory. */
static struct batch *batch_for(struct publisher *publisher, enum publish_topic topic, size_t len)
{
	struct batch *batch = publisher->open;

	if (batch && (batch->topic != topic || batch->bytes.len + len > BATCH_MOST)) {
		publisher_flush(publisher, publisher->now_ns);
		batch = NULL;
	}
	if (batch)
		return batch;
	batch = calloc(1, sizeof(*batch));
	if (!batch)
		return NULL;
	batch->topic = topic;
	memcpy(batch->lost, publisher->lost, sizeof(batch->lost));
	memset(publisher->lost, 0, sizeof(publisher->lost));
	publisher->open = batch;
	return batch;
}

/*
 * Something of the topic is missing: what comes next comes behind a gap, and what was there before
 * does not, so that a resync that began before is seen to have lost something.
 */
static void leave_gap(struct publisher *publisher, enum publish_topic topic)
{
	if (publisher->open && publisher->open->topic == topic)
		publisher_flush(publisher, publisher->now_ns);
	publisher->lost[topic] = 1;
}

void publisher_lose(struct publisher *publisher, enum publish_topic topic)
{
	pthread_mutex_lock(&publisher->lock);
	publisher->stats.events_dropped++;
	pthread_mutex_unlock(&publisher->lock);
	leave_gap(publisher, topic);
}

/* The event has been counted as one that is published. */
static bool fail_add(struct publisher *publisher, enum publish_topic topic)
{
	pthread_mutex_lock(&publisher->lock);
	publisher->stats.events--;
	pthread_mutex_unlock(&publisher->lock);
	publisher_lose(publisher, topic);
	return false;
}

static size_t entry_bytes(const struct publish_entry *entry)
{
	size_t len = PUBLISH_ENTRY_HEAD_BYTES + WIRE_RECORD_HEADER_BYTES;

	for (size_t i = 0; i < PUBLISH_TEXTS; i++)
		len += 2u + entry->texts[i].len;
	return len + (entry->record.len > PUBLISH_RECORD_MOST ? 0 : entry->record.len);
}

bool publisher_add_entry(struct publisher *publisher, enum publish_topic topic, uint64_t group,
			 const struct publish_entry *entry)
{
	const size_t len = entry_bytes(entry);
	struct batch *batch;

	if (!has_room(publisher, group, len)) {
		leave_gap(publisher, topic);
		return false;
	}
	batch = batch_for(publisher, topic, len);
	if (!batch)
		return fail_add(publisher, topic);
	if (publish_entry_encode(entry, &batch->bytes)) {
		pthread_mutex_lock(&publisher->lock);
		publisher->stats.records_cut++;
		pthread_mutex_unlock(&publisher->lock);
	}
	batch->count++;
	return true;
}

bool publisher_add_line(struct publisher *publisher, enum publish_topic topic, uint64_t group,
			json_t *line)
{
	struct bytes text = {0};
	struct batch *batch = NULL;

	if (publish_json_put(line, &text) < 0 || text.len > BATCH_MOST) {
		bytes_fini(&text);
		publisher_lose(publisher, topic);
		return false;
	}
	if (!has_room(publisher, group, text.len)) {
		bytes_fini(&text);
		leave_gap(publisher, topic);
		return false;
	}
	batch = batch_for(publisher, topic, text.len);
	if (batch) {
		bytes_add(&batch->bytes, text.data, text.len);
		batch->count++;
	}
	bytes_fini(&text);
	return batch || fail_add(publisher, topic);
}

void publisher_flush(struct publisher *publisher, uint64_t now_ns)
{
	struct batch *const batch = publisher->open;

	publisher->open = NULL;
	if (!batch)
		return;
	if (batch->bytes.failed) {
		for (int topic = 0; topic < PUBLISH_TOPICS; topic++)
			publisher->lost[topic] |= batch->lost[topic];
		publisher->lost[batch->topic] = 1;
		pthread_mutex_lock(&publisher->lock);
		publisher->stats.events_dropped += batch->count;
		publisher->stats.events -= batch->count;
		pthread_mutex_unlock(&publisher->lock);
		free_batch(batch);
		return;
	}
	batch->time_ns = now_ns;
	pthread_mutex_lock(&publisher->lock);
	*publisher->end = batch;
	publisher->end = &batch->next;
	publisher->waiting_bytes += batch_bytes(batch);
	pthread_cond_signal(&publisher->changed);
	pthread_mutex_unlock(&publisher->lock);
}

void publisher_count_snapshot(struct publisher *publisher)
{
	THREAD_HOLD(&publisher->lock);

	publisher->stats.snapshots++;
}

void publisher_stats(struct publisher *publisher, struct publish_stats *ret)
{
	const struct publish_socket *const socket = &publisher->socket;

	pthread_mutex_lock(&publisher->lock);
	*ret = publisher->stats;
	ret->waiting_bytes = publisher->waiting_bytes;
	pthread_mutex_unlock(&publisher->lock);
	ret->subscribers = atomic_load(&socket->subscribers);
	ret->subscribers_joined = atomic_load(&socket->joined);
	ret->subscribers_refused = atomic_load(&socket->refused);
}
