// SPDX-License-Identifier: Apache-2.0
/*
 * Sends batches, see publish_sender.h. A message begins with its topic and a newline. Messages of
 * entries go on with a header, and messages of JSON with a line about the message:
 *
 *    0 "FGP1"            4 u16 version, 1      6 u16 length of the header, 40
 *    8 u64 instance     16 u64 sequence number
 *   24 u64 time         32 u32 entries        36 u32 0
 *
 *   {"topic":"code.json","instance":17,"seq":4,"time_ns":5,"version":1}
 *
 * An answer of entries has a header of 48 bytes: the sequence number is that of the next message of
 * code.wire, and behind the header of a message there is
 *
 *   40 u64 FROM of the next request, 0 if there is no more
 *
 * An answer of JSON has the next sequence number of each topic:
 *
 *   {"answer":"jvms","version":1,"instance":17,"time_ns":5,"next_seq":{"jvm":4,...},"more":0}
 */
#include "publish/publish_sender.h"

#include "base/clock.h"
#include "base/thread.h"
#include "publish/publish_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEAD_BYTES	  40u
#define ANSWER_HEAD_BYTES 48u
#define QUEUE_LEAST	  4u

static const char *const names[PUBLISH_CHANNELS] = {
	[PUBLISH_CH_JVM] = "jvm",
	[PUBLISH_CH_SUMMARY] = "summary",
	[PUBLISH_CH_CODE_WIRE] = "code.wire",
	[PUBLISH_CH_CODE_JSON] = "code.json",
	[PUBLISH_CH_SNAPSHOT_WIRE] = "snapshot.wire",
	[PUBLISH_CH_SNAPSHOT_JSON] = "snapshot.json",
};

static const char *const answers[] = {
	[PUBLISH_ERROR] = "error",
	[PUBLISH_JVMS] = "jvms",
	[PUBLISH_CODE_WIRE] = "code.wire",
	[PUBLISH_CODE_JSON] = "code.json",
};

static void put(uint8_t *out, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (uint8_t)(value >> (8 * i));
}

/* Head and body as one message. NULL: there is no memory. */
static nng_msg *new_message(const void *head, size_t head_len, const struct bytes *body)
{
	nng_msg *msg;

	if (body->failed || nng_msg_alloc(&msg, 0) != 0)
		return NULL;
	if (nng_msg_append(msg, head, head_len) == 0 &&
	    nng_msg_append(msg, body->data, body->len) == 0)
		return msg;
	nng_msg_free(msg);
	return NULL;
}

/* Counts the last messages, of which libnng may have as many as its queues are long. */
static void note_sent(struct publish_sender *sender, size_t len)
{
	uint32_t *const kept = &sender->kept[sender->next_kept++ % sender->queue];

	THREAD_HOLD(&sender->lock);
	sender->stats.kept_bytes += len - *kept;
	sender->stats.messages++;
	sender->stats.bytes += len;
	*kept = (uint32_t)len;
}

static void note_unsent(struct publish_sender *sender)
{
	THREAD_HOLD(&sender->lock);

	sender->stats.messages_unsent++;
}

static void send_message(struct publish_sender *sender, const void *head, size_t head_len,
			 const struct bytes *body)
{
	nng_msg *const msg = new_message(head, head_len, body);

	if (msg && publish_socket_send(sender->socket, msg) == 0)
		note_sent(sender, head_len + body->len);
	else
		note_unsent(sender);
}

/* ---- messages of entries ---- */

/* Writes the topic and the header that messages and answers share. Returns their length. */
static size_t put_head(const struct publish_sender *sender, enum publish_channel channel,
		       const struct publish_batch *batch, char head[PUBLISH_ROOM_FOR_HEAD])
{
	const size_t topic = (size_t)snprintf(head, PUBLISH_ROOM_FOR_HEAD, "%s\n", names[channel]);
	uint8_t *const fields = (uint8_t *)head + topic;

	memcpy(fields, "FGP1", 4);
	put(fields + 4, 1, 2);
	put(fields + 6, batch->is_answer ? ANSWER_HEAD_BYTES : HEAD_BYTES, 2);
	put(fields + 8, sender->instance, 8);
	put(fields + 16, sender->seqs[channel], 8);
	put(fields + 24, batch->time_ns, 8);
	put(fields + 32, batch->count, 4);
	put(fields + 36, 0, 4);
	if (!batch->is_answer)
		return topic + HEAD_BYTES;
	put(fields + HEAD_BYTES, batch->more, 8);
	return topic + ANSWER_HEAD_BYTES;
}

static void send_entries(struct publish_sender *sender, enum publish_channel channel,
			 const struct publish_batch *batch)
{
	char head[PUBLISH_ROOM_FOR_HEAD];
	const size_t len = put_head(sender, channel, batch, head);

	sender->seqs[channel]++;
	send_message(sender, head, len, &batch->bytes);
}

/* ---- messages of JSON ---- */

static size_t put_seqs(const struct publish_sender *sender, const char *key, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, ",\"%s\":{", key);

	for (int i = 0; i < PUBLISH_CHANNELS; i++)
		n += (size_t)snprintf(out + n, size - n, "%s\"%s\":%" PRIu64, i ? "," : "",
				      names[i], sender->seqs[i]);
	return n + (size_t)snprintf(out + n, size - n, "}");
}

static void send_lines(struct publish_sender *sender, enum publish_channel channel,
		       uint64_t time_ns, const struct bytes *lines)
{
	char head[PUBLISH_ROOM_FOR_HEAD];
	size_t n = (size_t)snprintf(head, sizeof(head),
				    "%s\n{\"topic\":\"%s\",\"version\":1,\"instance\":%" PRIu64
				    ",\"seq\":%" PRIu64 ",\"time_ns\":%" PRIu64,
				    names[channel], names[channel], sender->instance,
				    sender->seqs[channel], time_ns);

	sender->seqs[channel]++;
	/* The summary says how many messages each topic had, so that gaps at the end show too. */
	if (channel == PUBLISH_CH_SUMMARY)
		n += put_seqs(sender, "sent", head + n, sizeof(head) - n);
	n += (size_t)snprintf(head + n, sizeof(head) - n, "}\n");
	send_message(sender, head, n, lines);
}

/* Sends the lines that are there. */
static void send_text(struct publish_sender *sender, enum publish_channel channel, uint64_t time_ns)
{
	if (sender->text.len > 0)
		send_lines(sender, channel, time_ns, &sender->text);
	sender->text.len = 0;
}

/* A line could not be made: there is a gap in its place. */
static void lose_line(struct publish_sender *sender, enum publish_channel channel, uint64_t time_ns)
{
	send_text(sender, channel, time_ns);
	sender->seqs[channel]++;
	sender->text.failed = false;
	THREAD_HOLD(&sender->lock);
	sender->stats.events_dropped++;
}

/* Makes the line of an entry in sender->line. */
static bool make_line(struct publish_sender *sender, const struct publish_entry *entry)
{
	sender->line.len = 0;
	sender->line.failed = false; /* of an earlier lack of memory */
	return publish_json_line(entry, &sender->line) == 0;
}

/* Sends the entries as JSON, which may take several messages. */
static void send_json(struct publish_sender *sender, enum publish_channel channel,
		      const struct publish_batch *batch)
{
	struct bytes *const line = &sender->line, *const text = &sender->text;
	struct publish_entry entry;
	size_t pos = 0;

	text->len = 0;
	while (publish_entry_next(batch->bytes.data, batch->bytes.len, &pos, &entry) > 0) {
		if (!make_line(sender, &entry)) {
			lose_line(sender, channel, batch->time_ns);
			continue;
		}
		if (text->len + line->len > PUBLISH_BATCH_MOST)
			send_text(sender, channel, batch->time_ns);
		bytes_add(text, line->data, line->len);
		if (text->failed)
			lose_line(sender, channel, batch->time_ns);
	}
	send_text(sender, channel, batch->time_ns);
}

/* ---- answers ---- */

static size_t put_answer_head(const struct publish_sender *sender,
			      const struct publish_batch *batch, char head[PUBLISH_ROOM_FOR_HEAD])
{
	const char *const name = answers[batch->form];
	const size_t size = PUBLISH_ROOM_FOR_HEAD;
	size_t n = (size_t)snprintf(head, size,
				    "%s\n{\"answer\":\"%s\",\"version\":1,\"instance\":%" PRIu64
				    ",\"time_ns\":%" PRIu64,
				    name, name, sender->instance, batch->time_ns);

	n += put_seqs(sender, "next_seq", head + n, size - n);
	return n + (size_t)snprintf(head + n, size - n, ",\"more\":%" PRIu64 "}\n", batch->more);
}

/* The entries as lines of JSON. The model has left room for them. */
static const struct bytes *lines_of(struct publish_sender *sender,
				    const struct publish_batch *batch)
{
	struct bytes *const text = &sender->text;
	struct publish_entry entry;
	size_t pos = 0;

	text->len = 0;
	text->failed = false;
	while (publish_entry_next(batch->bytes.data, batch->bytes.len, &pos, &entry) > 0) {
		text->failed |= !make_line(sender, &entry);
		bytes_add(text, sender->line.data, sender->line.len);
	}
	return text;
}

static nng_msg *make_answer(struct publish_sender *sender, const struct publish_batch *batch)
{
	const struct bytes *body = &batch->bytes;
	char head[PUBLISH_ROOM_FOR_HEAD];
	nng_msg *msg;
	size_t len;

	if (batch->form == PUBLISH_CODE_WIRE)
		len = put_head(sender, PUBLISH_CH_CODE_WIRE, batch, head);
	else
		len = put_answer_head(sender, batch, head);
	if (batch->form == PUBLISH_CODE_JSON)
		body = lines_of(sender, batch);
	msg = new_message(head, len, body);
	sender->text.len = 0;
	sender->text.failed = false;
	return msg;
}

static void send_answer(struct publish_sender *sender, const struct publish_batch *batch)
{
	nng_msg *const msg = make_answer(sender, batch);
	const int err = publish_inbox_answer(sender->inbox, msg);

	THREAD_HOLD(&sender->lock);
	sender->stats.answers += !err;
	sender->stats.answers_unsent += err != 0;
}

/* ---- batches ---- */

void publish_sender_send(struct publish_sender *sender, const struct publish_batch *batch)
{
	static const enum publish_channel firsts[PUBLISH_TOPICS] = {
		[PUBLISH_JVM] = PUBLISH_CH_JVM,
		[PUBLISH_SUMMARY] = PUBLISH_CH_SUMMARY,
		[PUBLISH_EVENT] = PUBLISH_CH_CODE_WIRE,
		[PUBLISH_SNAPSHOT] = PUBLISH_CH_SNAPSHOT_WIRE};
	const enum publish_channel channel = firsts[batch->topic];

	for (int topic = 0; topic < PUBLISH_TOPICS; topic++) {
		sender->seqs[firsts[topic]] += batch->lost[topic];
		if (firsts[topic] >= PUBLISH_CH_CODE_WIRE)
			sender->seqs[firsts[topic] + 1] += batch->lost[topic];
	}
	if (batch->is_answer) {
		send_answer(sender, batch);
	} else if (channel < PUBLISH_CH_CODE_WIRE) {
		send_lines(sender, channel, batch->time_ns, &batch->bytes);
	} else {
		send_entries(sender, channel, batch);
		send_json(sender, channel + 1, batch);
	}
}

/* ---- the sender ---- */

void publish_sender_init(struct publish_sender *sender, struct publish_socket *socket,
			 struct publish_inbox *inbox)
{
	*sender = (struct publish_sender){
		.socket = socket, .inbox = inbox, .instance = clock_unix_now_ns()};
	pthread_mutex_init(&sender->lock, NULL);
}

void publish_sender_fini(struct publish_sender *sender)
{
	bytes_fini(&sender->line);
	bytes_fini(&sender->text);
	pthread_mutex_destroy(&sender->lock);
}

void publish_sender_forget_kept(struct publish_sender *sender)
{
	sender->next_kept = 0;
	memset(sender->kept, 0, sizeof(sender->kept));
	THREAD_HOLD(&sender->lock);
	sender->stats.kept_bytes = 0;
}

/* The lengths that are kept are those of the queue's messages. */
void publish_sender_set_queue(struct publish_sender *sender, size_t max_bytes)
{
	size_t queue = max_bytes / 2 / PUBLISH_MESSAGE_MOST;

	queue = queue < QUEUE_LEAST	     ? QUEUE_LEAST
		: queue > PUBLISH_QUEUE_MOST ? PUBLISH_QUEUE_MOST
					     : queue;
	if (queue == sender->queue)
		return;
	if (sender->queue)
		publish_socket_set_queue(sender->socket, (unsigned)queue);
	sender->queue = (unsigned)queue;
	publish_sender_forget_kept(sender);
}

void publish_sender_step(struct publish_sender *sender, uint64_t now_ns)
{
	uint64_t renewed;

	publish_socket_step(sender->socket, now_ns);
	renewed = publish_socket_renewed(sender->socket);
	if (sender->inbox) {
		publish_inbox_step(sender->inbox, now_ns);
		renewed += publish_socket_renewed(&sender->inbox->socket);
	}
	THREAD_HOLD(&sender->lock);
	sender->stats.listeners_renewed = renewed;
}

void publish_sender_stats(struct publish_sender *sender, struct publish_stats *ret)
{
	THREAD_HOLD(&sender->lock);

	*ret = sender->stats;
}
