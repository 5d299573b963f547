// SPDX-License-Identifier: Apache-2.0
/*
 * A queue of questions, a thread that answers them, and a list of answers, see names_reader.h. One
 * lock guards all; the thread does not hold the lock while it reads.
 */
#include "container/names_reader.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/thread.h"
#include "confine/zygote.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* All that a user's question may wait for parsers: one record of the largest size that hangs. */
#define USERS_WAIT_NS (RECORD_PARSER_NS + CONTAINER_USERS_MAX_BYTES * RECORD_PARSER_BYTE_NS)

struct question {
	struct question *next;
	uint64_t maker; /* a hash */
	struct names_answer answer;
};

struct slow_maker {
	uint64_t maker, spent_ns, at_ns; /* 0: the place is free */
};

enum search_state {
	SEARCH_NONE,
	SEARCH_ASKED,
	SEARCH_RUNS,
	SEARCH_DONE,
};

/* A search for a container that is stopped. */
struct search {
	enum search_state state;
	char name[CONTAINER_NAME_BYTES];
	struct container found;
	bool is_found;
	uint64_t done_ns;
};

struct names_reader {
	/* the thread's, or the caller's if there is no thread */
	struct container_names names;
	struct record_waits slow_waits[2]; /* of root's slow questions, and of others' */
	names_read_fn *read;

	/* the caller's */
	bool is_threaded;
	uint64_t last_number;

	/* under the lock */
	pthread_mutex_t lock;
	pthread_cond_t asked, answered;
	pthread_t thread;
	bool has_thread, is_stopping, has_ended, is_abandoned;
	int fd;
	struct question *first, **end; /* questions, in their order */
	struct question *done, **done_end;
	size_t bytes; /* of questions and answers */
	struct slow_maker slow[NAMES_READER_SLOW];
	struct search search;
	struct names_stats stats;
};

/* ---- who is slow ---- */

static uint64_t maker_of(const struct container *container)
{
	return hash_seed_bytes(container->id, container_owner_len(container->id));
}

static uint64_t spent_now(const struct slow_maker *slow, uint64_t now_ns)
{
	const uint64_t sec = now_ns > slow->at_ns ? (now_ns - slow->at_ns) / CLOCK_NS_PER_SEC : 0;

	return sec < 64 ? slow->spent_ns >> sec : 0;
}

/* What the maker has cost; 0 if that is little. */
static uint64_t spent_by(const struct names_reader *reader, uint64_t maker, uint64_t now_ns)
{
	for (size_t i = 0; i < NAMES_READER_SLOW; i++) {
		const uint64_t spent_ns = spent_now(&reader->slow[i], now_ns);

		if (reader->slow[i].maker == maker)
			return spent_ns >= NAMES_READER_SLOW_NS ? spent_ns : 0;
	}
	return 0;
}

/* The maker's place, or that of the maker who has cost the least. */
static struct slow_maker *place_of(struct names_reader *reader, uint64_t maker, uint64_t now_ns)
{
	struct slow_maker *least = &reader->slow[0];

	for (size_t i = 0; i < NAMES_READER_SLOW; i++) {
		struct slow_maker *const slow = &reader->slow[i];

		if (slow->maker == maker)
			return slow;
		if (spent_now(slow, now_ns) < spent_now(least, now_ns))
			least = slow;
	}
	return least;
}

static void note_spent(struct names_reader *reader, uint64_t maker, uint64_t took_ns)
{
	const uint64_t now_ns = clock_now_ns();
	struct slow_maker *const place = place_of(reader, maker, now_ns);
	const uint64_t before = spent_now(place, now_ns);

	if (place->maker != maker && took_ns <= before)
		return;
	*place = (struct slow_maker){maker, took_ns + (place->maker == maker ? before : 0), now_ns};
}

static bool is_roots(const struct question *question)
{
	return question->answer.container.namer == CONTAINER_NAMED_BY_ROOT;
}

/* Takes the question that is next out of the queue. There is one. */
static struct question *choose(struct names_reader *reader)
{
	const uint64_t now_ns = clock_now_ns();
	struct question **best = &reader->first, *chosen;
	uint64_t best_spent = spent_by(reader, (*best)->maker, now_ns);

	for (struct question **link = &(*best)->next; *link; link = &(*link)->next) {
		const uint64_t spent = spent_by(reader, (*link)->maker, now_ns);

		if (spent > best_spent ||
		    (spent == best_spent && (is_roots(*best) || !is_roots(*link))))
			continue;
		best = link;
		best_spent = spent;
	}
	chosen = *best;
	*best = chosen->next;
	if (reader->end == &chosen->next)
		reader->end = best;
	return chosen;
}

/* ---- answers ---- */

static size_t bytes_of(const struct question *question)
{
	return heap_bytes(sizeof(*question)) + question->answer.container.labels.texts.total_bytes;
}

static void question_free(struct question *question)
{
	container_fini(&question->answer.container);
	free(question);
}

static void copy_stats(struct names_reader *reader)
{
	const struct container_names *const names = &reader->names;

	reader->stats = (struct names_stats){.reads = names->reads,
					     .broken = names->broken,
					     .unlisted = names->unlisted,
					     .untrusted = names->untrusted,
					     .engines_left_out = names->engines_left_out,
					     .lost = names->lost,
					     .delayed = names->delayed};
}

/* Reads for the question. How long it may wait for parsers, its maker's past decides. */
static void read_names(struct names_reader *reader, struct question *question, bool is_slow)
{
	struct container_names *const names = &reader->names;
	struct record_waits *const shared = &reader->slow_waits[!is_roots(question)];
	const uint64_t missed = names->lost + names->delayed;

	names->waits = (struct record_waits){.began_ns = clock_now_ns()};
	if (!is_roots(question))
		names->waits.waited_ns = RECORD_PARSER_WAITS_NS - USERS_WAIT_NS;
	if (is_slow)
		names->waits = *shared;
	reader->read(names, &question->answer.container);
	if (is_slow)
		*shared = names->waits;
	question->answer.is_whole = names->lost + names->delayed == missed;
}

static void add_answer(struct names_reader *reader, struct question *question)
{
	question->next = NULL;
	*reader->done_end = question;
	reader->done_end = &question->next;
	reader->bytes += bytes_of(question);
}

/* ---- the thread; all are called with the lock held ---- */

static void answer_next(struct names_reader *reader)
{
	struct question *const question = choose(reader);
	const uint64_t began_ns = clock_now_ns();
	const bool is_slow = spent_by(reader, question->maker, began_ns) > 0;
	const size_t asked_bytes = bytes_of(question);

	pthread_mutex_unlock(&reader->lock);
	read_names(reader, question, is_slow);
	pthread_mutex_lock(&reader->lock);
	note_spent(reader, question->maker, clock_now_ns() - began_ns);
	reader->bytes -= asked_bytes;
	add_answer(reader, question);
	copy_stats(reader);
	pthread_cond_broadcast(&reader->answered);
	eventfd_write(reader->fd, 1);
}

static void search_stopped(struct names_reader *reader)
{
	struct search *const search = &reader->search;

	search->state = SEARCH_RUNS;
	reader->names.waits = (struct record_waits){0};
	pthread_mutex_unlock(&reader->lock);
	search->is_found =
		container_names_find_stopped(&reader->names, search->name, &search->found);
	pthread_mutex_lock(&reader->lock);
	search->state = SEARCH_DONE;
	search->done_ns = clock_now_ns();
	copy_stats(reader);
	pthread_cond_broadcast(&reader->answered);
}

static void destroy(struct names_reader *reader);

static void *run(void *arg)
{
	struct names_reader *const reader = arg;
	bool is_abandoned;

	pthread_mutex_lock(&reader->lock);
	while (!reader->is_stopping) {
		if (reader->search.state == SEARCH_ASKED)
			search_stopped(reader);
		else if (reader->first)
			answer_next(reader);
		else
			pthread_cond_wait(&reader->asked, &reader->lock);
	}
	reader->has_ended = true;
	is_abandoned = reader->is_abandoned;
	pthread_cond_broadcast(&reader->answered);
	pthread_mutex_unlock(&reader->lock);
	if (is_abandoned)
		destroy(reader);
	return NULL;
}

/* ---- life ---- */

int names_reader_new(const char *root, const char *mounts_path, struct names_reader **ret)
{
	struct names_reader *const reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	container_names_init(&reader->names, root, mounts_path);
	reader->read = container_names_read;
	reader->fd = -1;
	reader->end = &reader->first;
	reader->done_end = &reader->done;
	reader->bytes = heap_bytes(sizeof(*reader));
	pthread_mutex_init(&reader->lock, NULL);
	pthread_cond_init(&reader->asked, NULL);
	thread_cond_init(&reader->answered);
	*ret = reader;
	return 0;
}

static void free_all(struct question *first)
{
	for (struct question *next; first; first = next) {
		next = first->next;
		question_free(first);
	}
}

static void destroy(struct names_reader *reader)
{
	free_all(reader->first);
	free_all(reader->done);
	container_fini(&reader->search.found);
	container_names_fini(&reader->names);
	if (reader->fd >= 0)
		close(reader->fd);
	pthread_cond_destroy(&reader->answered);
	pthread_cond_destroy(&reader->asked);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

/* Waits until something is answered, or the thread ends. False: the time is over. */
static bool wait_until(struct names_reader *reader, uint64_t until_ns)
{
	return thread_cond_wait_until(&reader->answered, &reader->lock, until_ns);
}

void names_reader_free(struct names_reader *reader)
{
	const uint64_t until_ns = clock_now_ns() + NAMES_READER_END_NS;
	bool is_abandoned;
	pthread_t thread;

	if (!reader)
		return;
	if (!reader->has_thread) {
		destroy(reader);
		return;
	}
	thread = reader->thread;
	pthread_mutex_lock(&reader->lock);
	reader->is_stopping = true;
	pthread_cond_signal(&reader->asked);
	while (!reader->has_ended && wait_until(reader, until_ns))
		;
	is_abandoned = reader->is_abandoned = !reader->has_ended;
	pthread_mutex_unlock(&reader->lock);
	if (is_abandoned) {
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	destroy(reader);
}

struct container_names *names_reader_names(struct names_reader *reader)
{
	return &reader->names;
}

void names_reader_use(struct names_reader *reader, names_read_fn *read)
{
	reader->read = read;
	reader->is_threaded = true;
}

/* ---- the caller ---- */

/* Whether there is a thread. The thread is made when it is needed: after the zygote. */
static int begin(struct names_reader *reader, bool *ret_has_thread)
{
	int err;

	if (!reader->has_thread && !reader->is_threaded && !zygote_is_used()) {
		*ret_has_thread = false;
		return 0;
	}
	if (reader->fd < 0)
		reader->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reader->fd < 0)
		return -errno;
	err = reader->has_thread ? 0 : thread_start(&reader->thread, run, reader);
	*ret_has_thread = reader->has_thread = !err;
	return err;
}

int names_reader_ask(struct names_reader *reader, const struct container *container,
		     uint64_t *ret_number)
{
	struct question *question;
	bool has_thread = false;
	int err = begin(reader, &has_thread);

	if (err)
		return err;
	question = calloc(1, sizeof(*question));
	if (!question)
		return -ENOMEM;
	question->answer.container =
		(struct container){.namer = container->namer, .user = container->user};
	strcpy(question->answer.container.id, container->id);
	strcpy(question->answer.container.pod_uid, container->pod_uid);
	question->maker = maker_of(container);
	question->answer.number = *ret_number = ++reader->last_number;
	if (!has_thread)
		read_names(reader, question, false);
	THREAD_HOLD(&reader->lock);
	if (has_thread) {
		*reader->end = question;
		reader->end = &question->next;
		reader->bytes += bytes_of(question);
		pthread_cond_signal(&reader->asked);
	} else {
		add_answer(reader, question);
		copy_stats(reader);
	}
	return 0;
}

bool names_reader_take(struct names_reader *reader, struct names_answer *ret)
{
	struct question *question;
	eventfd_t count;

	pthread_mutex_lock(&reader->lock);
	question = reader->done;
	if (question) {
		reader->done = question->next;
		reader->bytes -= bytes_of(question);
	}
	if (!reader->done) {
		reader->done_end = &reader->done;
		if (reader->fd >= 0)
			eventfd_read(reader->fd, &count);
	}
	pthread_mutex_unlock(&reader->lock);
	if (!question)
		return false;
	*ret = question->answer;
	free(question);
	return true;
}

void names_reader_wait(struct names_reader *reader, uint64_t for_ns)
{
	const uint64_t until_ns = clock_now_ns() + for_ns;

	THREAD_HOLD(&reader->lock);
	while (!reader->done && wait_until(reader, until_ns))
		;
}

int names_reader_fd(const struct names_reader *reader)
{
	return reader->fd;
}

/* Called with the lock held. Begins a search, unless there is one. False: another one runs. */
static bool begin_search(struct names_reader *reader, const char *name)
{
	struct search *const search = &reader->search;
	const bool is_old = search->state == SEARCH_DONE &&
			    (strcmp(search->name, name) != 0 ||
			     clock_now_ns() > search->done_ns + NAMES_READER_KEEP_NS);

	if (search->state != SEARCH_NONE && !is_old)
		return strcmp(search->name, name) == 0;
	container_fini(&search->found);
	*search = (struct search){.state = SEARCH_ASKED};
	strcpy(search->name, name);
	pthread_cond_signal(&reader->asked);
	return true;
}

int names_reader_find_stopped(struct names_reader *reader, const char *name, uint64_t for_ns,
			      struct container *ret)
{
	const uint64_t until_ns = clock_now_ns() + for_ns;
	struct search *const search = &reader->search;
	bool has_thread = false, is_done;
	int err = begin(reader, &has_thread);

	if (err || strlen(name) >= sizeof(search->name))
		return err ? err : -ENOENT;
	if (!has_thread)
		return container_names_find_stopped(&reader->names, name, ret) ? 0 : -ENOENT;
	THREAD_HOLD(&reader->lock);
	if (begin_search(reader, name)) {
		while (search->state != SEARCH_DONE && wait_until(reader, until_ns))
			;
	}
	is_done = search->state == SEARCH_DONE && strcmp(search->name, name) == 0;
	err = !is_done ? -EAGAIN : search->is_found ? 0 : -ENOENT;
	if (is_done) { /* handed over once */
		if (!err)
			*ret = search->found;
		*search = (struct search){.state = SEARCH_NONE};
	}
	return err;
}

bool names_reader_is_searching(struct names_reader *reader)
{
	THREAD_HOLD(&reader->lock);

	return reader->search.state == SEARCH_ASKED || reader->search.state == SEARCH_RUNS;
}

size_t names_reader_bytes(struct names_reader *reader)
{
	THREAD_HOLD(&reader->lock);

	return reader->bytes;
}

void names_reader_stats(struct names_reader *reader, struct names_stats *ret)
{
	THREAD_HOLD(&reader->lock);

	*ret = reader->stats;
}
