// SPDX-License-Identifier: Apache-2.0
/*
 * Batches what is published, see publisher.h. What is lost on a batch's way is counted where it is
 * lost, and shows in the next message.
 */
#include "publish/publisher.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map64.h"
#include "base/thread.h"
#include "publish/publish_json.h"
#include "publish/publish_sender.h"
#include "publish/publish_threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STEP_NS (500 * CLOCK_NS_PER_MS)

struct publisher {
	struct publish_socket socket;
	struct publish_inbox inbox;
	bool has_inbox;
	int wake_fd; /* -1: nobody can ask */

	/* the model's */
	struct publish_batch *open; /* NULL: there is none */
	uint64_t lost[PUBLISH_TOPICS];
	struct map64 shares; /* group -> bytes of this second, as a pointer */
	uint64_t second_ns;  /* when that began */
	uint64_t now_ns;

	/* the thread's */
	pthread_t thread;
	struct publish_sender sender;

	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t changed;
	struct publish_batch *first, **end;
	size_t waiting_bytes;
	size_t max_bytes;
	struct publish_stats stats;
	bool is_closing;
};

/* ---- the thread ---- */

/* NULL: none has come for a moment, or the publisher ends. */
static struct publish_batch *wait_for_batch(struct publisher *publisher, size_t *ret_max,
					    bool *ret_ends)
{
	const uint64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + STEP_NS;
	struct publish_batch *batch;

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

static void settle_batch(struct publisher *publisher, struct publish_batch *batch)
{
	pthread_mutex_lock(&publisher->lock);
	publisher->waiting_bytes -= publish_batch_bytes(batch);
	pthread_mutex_unlock(&publisher->lock);
	publish_batch_free(batch);
}

/* Returns when the next step is due. */
static uint64_t step_if_due(struct publisher *publisher, uint64_t due_ns)
{
	const uint64_t now_ns = clock_now_ns();

	if (now_ns < due_ns)
		return due_ns;
	publish_sender_step(&publisher->sender, now_ns);
	return now_ns + STEP_NS;
}

static void *run(void *arg)
{
	struct publisher *const publisher = arg;
	uint64_t next_step_ns = 0;
	bool ends = false;

	publish_threads_yield();
	while (!ends) {
		size_t max_bytes;
		struct publish_batch *const batch = wait_for_batch(publisher, &max_bytes, &ends);

		publish_sender_set_queue(&publisher->sender, max_bytes);
		if (!publisher_is_heard(publisher))
			publish_sender_forget_kept(&publisher->sender);
		if (batch) {
			publish_sender_send(&publisher->sender, batch);
			settle_batch(publisher, batch);
		}
		next_step_ns = step_if_due(publisher, next_step_ns);
	}
	return NULL;
}

/* ---- the model's side ---- */

/* The queue's length is known before the socket is. */
static int open_sockets(struct publisher *publisher, const struct publisher_options *options)
{
	const uint64_t now_ns = clock_now_ns();
	int err;

	publish_sender_set_queue(&publisher->sender, options->max_bytes);
	err = publish_socket_open(&publisher->socket, PUBLISH_PUB, &options->events,
				  publisher->sender.queue, now_ns);
	if (err || !options->state.count)
		return err;
	publisher->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = publisher->wake_fd < 0 ? -errno : 0;
	if (!err)
		err = publish_inbox_open(&publisher->inbox, &options->state, publisher->wake_fd,
					 now_ns);
	publisher->has_inbox = !err;
	if (err)
		publish_socket_close(&publisher->socket);
	else
		publisher->sender.inbox = &publisher->inbox;
	return err;
}

static void close_sockets(struct publisher *publisher)
{
	if (publisher->has_inbox)
		publish_inbox_close(&publisher->inbox);
	publish_socket_close(&publisher->socket);
}

static void free_all(struct publisher *publisher)
{
	if (publisher->wake_fd >= 0)
		close(publisher->wake_fd);
	map64_fini(&publisher->shares);
	publish_sender_fini(&publisher->sender);
	pthread_cond_destroy(&publisher->changed);
	pthread_mutex_destroy(&publisher->lock);
	free(publisher);
}

int publisher_open(const struct publisher_options *options, struct publisher **ret)
{
	struct publisher *publisher;
	int err;

	if (!publish_threads_can_start(publish_threads_wanted()))
		return -EAGAIN;
	publisher = calloc(1, sizeof(*publisher));
	if (!publisher)
		return -ENOMEM;
	publisher->max_bytes = options->max_bytes;
	publisher->end = &publisher->first;
	publisher->wake_fd = -1;
	pthread_mutex_init(&publisher->lock, NULL);
	thread_cond_init(&publisher->changed);
	publish_sender_init(&publisher->sender, &publisher->socket, NULL);
	err = open_sockets(publisher, options);
	if (!err) {
		err = thread_start(&publisher->thread, run, publisher);
		if (err)
			close_sockets(publisher);
	}
	if (err) {
		free_all(publisher);
		return err;
	}
	*ret = publisher;
	return 0;
}

static void close_batches(struct publisher *publisher)
{
	for (struct publish_batch *batch = publisher->first, *next; batch; batch = next) {
		next = batch->next;
		publish_batch_free(batch);
	}
	publish_batch_free(publisher->open);
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
	close_sockets(publisher);
	close_batches(publisher);
	free_all(publisher);
}

void publisher_set_max_bytes(struct publisher *publisher, size_t max_bytes)
{
	THREAD_HOLD(&publisher->lock);

	publisher->max_bytes = max_bytes;
}

bool publisher_is_heard(const struct publisher *publisher)
{
	return atomic_load(&publisher->socket.clients) > 0;
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
	const size_t open = publisher->open ? publish_batch_bytes(publisher->open) : 0;
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

/* The batch comes behind the gaps that there are. */
static void take_lost(struct publisher *publisher, struct publish_batch *batch)
{
	memcpy(batch->lost, publisher->lost, sizeof(batch->lost));
	memset(publisher->lost, 0, sizeof(publisher->lost));
}

/* The batch that takes so many bytes of the topic; NULL: there is no memory. */
static struct publish_batch *batch_for(struct publisher *publisher, enum publish_topic topic,
				       size_t len)
{
	struct publish_batch *batch = publisher->open;

	if (batch && (batch->topic != topic || batch->bytes.len + len > PUBLISH_BATCH_MOST)) {
		publisher_flush(publisher, publisher->now_ns);
		batch = NULL;
	}
	if (batch)
		return batch;
	batch = calloc(1, sizeof(*batch));
	if (!batch)
		return NULL;
	batch->topic = topic;
	take_lost(publisher, batch);
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

void publisher_skip(struct publisher *publisher, enum publish_topic topic)
{
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
	struct publish_batch *batch;

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
	struct publish_batch *batch = NULL;

	if (publish_json_put(line, &text) < 0 || text.len > PUBLISH_BATCH_MOST) {
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

void publisher_add_none(struct publisher *publisher, enum publish_topic topic)
{
	publisher->now_ns = clock_now_ns();
	if (!batch_for(publisher, topic, 0))
		leave_gap(publisher, topic);
}

static void enqueue(struct publisher *publisher, struct publish_batch *batch)
{
	THREAD_HOLD(&publisher->lock);

	*publisher->end = batch;
	publisher->end = &batch->next;
	publisher->waiting_bytes += publish_batch_bytes(batch);
	pthread_cond_signal(&publisher->changed);
}

void publisher_flush(struct publisher *publisher, uint64_t now_ns)
{
	struct publish_batch *const batch = publisher->open;

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
		publish_batch_free(batch);
		return;
	}
	batch->time_ns = now_ns;
	enqueue(publisher, batch);
}

int publisher_wake_fd(const struct publisher *publisher)
{
	return publisher->wake_fd;
}

bool publisher_next_request(struct publisher *publisher, char text[PUBLISH_REQUEST_BYTES],
			    size_t *ret_len)
{
	uint64_t wakes;

	if (!publisher->has_inbox)
		return false;
	/* Cleared first: a request that comes now is seen, or wakes again. */
	if (read(publisher->wake_fd, &wakes, sizeof(wakes)) < 0)
		wakes = 0;
	return publish_inbox_next(&publisher->inbox, text, ret_len);
}

static void count_request(struct publisher *publisher, const struct publish_batch *answer)
{
	THREAD_HOLD(&publisher->lock);

	publisher->stats.requests_refused += answer->form == PUBLISH_ERROR;
}

void publisher_answer(struct publisher *publisher, struct publish_batch *answer, uint64_t now_ns)
{
	publisher_flush(publisher, now_ns);
	if (!answer) {
		/* Who asks is not left waiting behind this one: the next is heard. */
		publish_inbox_pass(&publisher->inbox);
		THREAD_HOLD(&publisher->lock);
		publisher->stats.answers_unsent++;
		return;
	}
	answer->time_ns = now_ns;
	count_request(publisher, answer);
	take_lost(publisher, answer);
	enqueue(publisher, answer);
}

void publisher_count_snapshot(struct publisher *publisher)
{
	THREAD_HOLD(&publisher->lock);

	publisher->stats.snapshots++;
}

/* The sender's stats have what it counts; those of the model's side and of sockets are added. */
void publisher_stats(struct publisher *publisher, struct publish_stats *ret)
{
	const struct publish_socket *const socket = &publisher->socket;

	publish_sender_stats(&publisher->sender, ret);
	pthread_mutex_lock(&publisher->lock);
	ret->events = publisher->stats.events;
	ret->events_dropped += publisher->stats.events_dropped;
	ret->events_left_out = publisher->stats.events_left_out;
	ret->records_cut = publisher->stats.records_cut;
	ret->snapshots = publisher->stats.snapshots;
	ret->requests_refused = publisher->stats.requests_refused;
	ret->answers_unsent += publisher->stats.answers_unsent;
	ret->waiting_bytes = publisher->waiting_bytes;
	pthread_mutex_unlock(&publisher->lock);
	ret->subscribers = atomic_load(&socket->clients);
	ret->subscribers_joined = atomic_load(&socket->joined);
	ret->subscribers_refused = atomic_load(&socket->refused);
	if (!publisher->has_inbox)
		return;
	ret->askers = atomic_load(&publisher->inbox.socket.clients);
	ret->askers_joined = atomic_load(&publisher->inbox.socket.joined);
	ret->askers_refused = atomic_load(&publisher->inbox.socket.refused);
}
