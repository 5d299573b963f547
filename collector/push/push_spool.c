// SPDX-License-Identifier: Apache-2.0
/* Keeps bodies of requests until they are sent, see push_spool.h. */
#include "push/push_spool.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "base/thread.h"
#include "push/spool_files.h"
#include "push/spool_leftovers.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAITS	".push"
#define SENDING ".sending"
#define REFUSED ".refused"

struct push_entry {
	struct spool_head head;
	char *body; /* NULL: in a file */
	const char *
		suffix; /* of the file: a literal; that of one that waits if it cannot be renamed */
	struct push_entry *next;
};

/* By their numbers. */
struct entries {
	struct push_entry *first, **end;
};

struct push_spool {
	char *name;
	struct spool_files files; /* those of no directory: in memory alone */
	uint64_t max_bytes, max_age_ns, max_memory;
	bool has_failed;		  /* the disk did; said once */
	struct log_limit said;		  /* damaged files; the thread's that loads */
	struct spool_leftovers leftovers; /* has a lock of its own */
	pthread_mutex_t lock;		  /* guards the members below */
	uint64_t next_number;
	struct entries waiting;
	struct entries aside;	/* whose files cannot be read now */
	struct push_entry *out; /* being sent, by their next */
	struct push_target_stats stats;
};

static void count(struct push_amount *amount, const struct push_entry *entry)
{
	amount->profiles++;
	amount->samples += entry->head.samples;
}

static void count_off(struct push_amount *amount, const struct push_entry *entry)
{
	amount->profiles--;
	amount->samples -= entry->head.samples;
}

/* ---- lists ---- */

static void append(struct entries *entries, struct push_entry *entry)
{
	entry->next = NULL;
	*entries->end = entry;
	entries->end = &entry->next;
}

/* The list has one. */
static struct push_entry *last_of(const struct entries *entries)
{
	return (struct push_entry *)((char *)entries->end - offsetof(struct push_entry, next));
}

/* The list has one. */
static struct push_entry *take_first(struct entries *entries)
{
	struct push_entry *const entry = entries->first;

	entries->first = entry->next;
	if (!entries->first)
		entries->end = &entries->first;
	entry->next = NULL;
	return entry;
}

/* Behind those before its number, of which *at is in front. Returns where the next may begin. */
static struct push_entry **insert(struct entries *entries, struct push_entry **at,
				  struct push_entry *entry)
{
	while (*at && (*at)->head.number < entry->head.number)
		at = &(*at)->next;
	entry->next = *at;
	*at = entry;
	if (!entry->next)
		entries->end = &entry->next;
	return &entry->next;
}

static void remove_out(struct push_spool *spool, const struct push_entry *entry)
{
	struct push_entry **at = &spool->out;

	while (*at && *at != entry)
		at = &(*at)->next;
	if (*at)
		*at = entry->next;
}

static void add_waiting(struct push_spool *spool, struct push_entry *entry)
{
	append(&spool->waiting, entry);
	count(&spool->stats.waiting, entry);
	spool->stats.waiting_bytes += entry->head.bytes;
}

/* ---- opening ---- */

/* Takes over a file of an earlier run. */
static void find_file(struct push_spool *spool, uint64_t number, bool is_sending)
{
	struct push_entry *const entry = calloc(1, sizeof(*entry));
	const char *const suffix = is_sending ? SENDING : WAITS;
	const int err =
		entry ? spool_files_look(&spool->files, number, suffix, &entry->head) : -ENOMEM;

	if (err) {
		spool->stats.damaged++;
		if (err == -EBADMSG)
			spool_leftovers_remove(&spool->leftovers, &spool->files, number, suffix);
		else if (log_limit_allows(&spool->said, 0, clock_now_ns()))
			log_error("%s: a profile of an earlier run cannot be read, and stays: %s",
				  spool->files.path, strerror(-err));
		free(entry);
		return;
	}
	count(&spool->stats.found, entry);
	entry->suffix = suffix;
	if (!is_sending) {
		add_waiting(spool, entry);
		return;
	}
	count(&spool->stats.in_doubt, entry);
	spool_leftovers_remove(&spool->leftovers, &spool->files, number, suffix);
	free(entry);
}

static int find_files(struct push_spool *spool)
{
	static const char *const suffixes[] = {SENDING, WAITS, REFUSED};
	int err = 0;

	for (size_t s = 0; !err && s < 3; s++) {
		struct spool_numbers numbers = {0};

		err = spool_files_list(&spool->files, suffixes[s], &numbers);
		for (size_t i = 0; !err && i < numbers.count; i++) {
			if (s == 2)
				spool_files_keep(&spool->files, numbers.items[i]);
			else
				find_file(spool, numbers.items[i], s == 0);
			if (numbers.items[i] >= spool->next_number)
				spool->next_number = numbers.items[i] + 1;
		}
		free(numbers.items);
	}
	return err;
}

int push_spool_open(const struct push_spool_options *options, struct push_spool **ret)
{
	struct push_spool *const spool = calloc(1, sizeof(*spool));
	int err;

	if (!spool)
		return -ENOMEM;
	pthread_mutex_init(&spool->lock, NULL);
	spool->files.fd = -1;
	spool->waiting.end = &spool->waiting.first;
	spool->aside.end = &spool->aside.first;
	spool_leftovers_init(&spool->leftovers);
	spool->max_bytes = options->max_bytes;
	spool->max_age_ns = options->max_age_ns;
	spool->max_memory = options->max_memory;
	spool->next_number = 1;
	spool->name = strdup(options->name);
	err = spool->name ? 0 : -ENOMEM;
	if (!err && options->dir)
		err = spool_files_open(&spool->files, options->dir, spool->name);
	if (!err && options->dir)
		err = find_files(spool);
	if (err) {
		push_spool_close(spool);
		return err;
	}
	*ret = spool;
	return 0;
}

static void free_entry(struct push_entry *entry)
{
	free(entry->body);
	free(entry);
}

static void free_entries(struct entries *entries)
{
	while (entries->first)
		free_entry(take_first(entries));
}

void push_spool_close(struct push_spool *spool)
{
	if (!spool)
		return;
	free_entries(&spool->waiting);
	free_entries(&spool->aside);
	spool_leftovers_retry(&spool->leftovers, &spool->files);
	spool_leftovers_fini(&spool->leftovers);
	spool_files_fini(&spool->files);
	pthread_mutex_destroy(&spool->lock);
	free(spool->name);
	free(spool);
}

/* ---- adding, and making room ---- */

/* Counts the entry off; it is in no list. */
static void count_out(struct push_spool *spool, const struct push_entry *entry)
{
	count_off(&spool->stats.waiting, entry);
	spool->stats.waiting_bytes -= entry->head.bytes;
	if (entry->body)
		spool->stats.memory_bytes -= entry->head.bytes;
}

/* Takes the oldest off the list, and puts it before dropped. */
static struct push_entry *drop_first(struct push_spool *spool, struct entries *entries,
				     struct push_amount *reason, struct push_entry *dropped)
{
	struct push_entry *const entry = take_first(entries);

	count(reason, entry);
	count_out(spool, entry);
	entry->next = dropped;
	return entry;
}

/* Without the lock: others must not wait for the disk. */
static void free_dropped(struct push_spool *spool, struct push_entry *dropped)
{
	struct push_entry *next;

	for (; dropped; dropped = next) {
		next = dropped->next;
		if (!dropped->body)
			spool_leftovers_remove(&spool->leftovers, &spool->files,
					       dropped->head.number, dropped->suffix);
		free_entry(dropped);
	}
}

static bool is_too_old(const struct push_spool *spool, const struct push_entry *entry,
		       uint64_t now_unix_ns)
{
	return now_unix_ns > entry->head.made_unix_ns &&
	       now_unix_ns - entry->head.made_unix_ns > spool->max_age_ns;
}

/* Takes the oldest that waits in memory off the list; NULL: there is none. */
static struct push_entry *take_in_memory(struct entries *entries)
{
	struct push_entry **at = &entries->first, *entry;

	while (*at && !(*at)->body)
		at = &(*at)->next;
	entry = *at;
	if (!entry)
		return NULL;
	*at = entry->next;
	if (!*at)
		entries->end = at;
	return entry;
}

/*
 * Those that cannot be read go first. For room in memory, those in memory go alone. Returns what
 * was dropped.
 */
static struct push_entry *make_room(struct push_spool *spool, uint64_t bytes, bool in_memory)
{
	struct push_entry *dropped = NULL, *entry;

	while ((spool->aside.first || spool->waiting.first) &&
	       (spool->stats.waiting_bytes + bytes > spool->max_bytes ||
		spool->stats.waiting.profiles >= PUSH_SPOOL_ENTRIES))
		dropped = drop_first(spool, spool->aside.first ? &spool->aside : &spool->waiting,
				     &spool->stats.dropped_full, dropped);
	while (in_memory && spool->stats.memory_bytes + bytes > spool->max_memory &&
	       (entry = take_in_memory(&spool->waiting))) {
		count(&spool->stats.dropped_full, entry);
		count_out(spool, entry);
		entry->next = dropped;
		dropped = entry;
	}
	return dropped;
}

static void say_failure(struct push_spool *spool, int err)
{
	if (err && !spool->has_failed)
		log_error("--push-spool %s: %s: profiles wait in memory; is there room, and may "
			  "the daemon write?",
			  spool->files.path, strerror(-err));
	spool->has_failed = err != 0;
}

static bool keep_in_memory(struct push_spool *spool, struct push_entry *entry,
			   const struct bytes *body)
{
	entry->body = malloc(body->len ? body->len : 1);
	if (!entry->body || entry->head.bytes > spool->max_memory ||
	    entry->head.bytes > spool->max_bytes)
		return false;
	memcpy(entry->body, body->data, body->len);
	return true;
}

void push_spool_add(struct push_spool *spool, const struct bytes *body, uint64_t samples,
		    uint64_t now_unix_ns)
{
	struct push_entry *const entry = calloc(1, sizeof(*entry));
	struct push_entry *dropped = NULL;
	bool is_kept = false;
	int err = -ENOENT;

	pthread_mutex_lock(&spool->lock);
	if (entry) {
		entry->head.number = spool->next_number++;
		entry->head.made_unix_ns = now_unix_ns;
		entry->head.samples = samples;
		entry->head.bytes = body->len;
		entry->suffix = WAITS;
		dropped = make_room(spool, entry->head.bytes, spool->files.fd < 0);
	}
	pthread_mutex_unlock(&spool->lock);
	free_dropped(spool, dropped);
	dropped = NULL;
	if (entry && spool->files.fd >= 0 && entry->head.bytes <= spool->max_bytes) {
		err = spool_files_write(&spool->files, &entry->head, body);
		say_failure(spool, err);
		is_kept = !err;
	}
	if (entry && err)
		is_kept = keep_in_memory(spool, entry, body);
	pthread_mutex_lock(&spool->lock);
	spool->stats.made.profiles++;
	spool->stats.made.samples += samples;
	if (is_kept && entry->body) {
		dropped = make_room(spool, entry->head.bytes, true);
		spool->stats.memory_bytes += entry->head.bytes;
	}
	if (is_kept) {
		add_waiting(spool, entry);
	} else {
		spool->stats.dropped_failed.profiles++;
		spool->stats.dropped_failed.samples += samples;
		if (entry)
			free_entry(entry);
	}
	pthread_mutex_unlock(&spool->lock);
	free_dropped(spool, dropped);
}

/* ---- sending ---- */

void push_spool_expire(struct push_spool *spool, uint64_t now_unix_ns)
{
	struct push_entry *dropped = NULL;

	pthread_mutex_lock(&spool->lock);
	for (struct entries *entries = &spool->aside;; entries = &spool->waiting) {
		while (entries->first && is_too_old(spool, entries->first, now_unix_ns))
			dropped = drop_first(spool, entries, &spool->stats.dropped_old, dropped);
		if (entries == &spool->waiting)
			break;
	}
	pthread_mutex_unlock(&spool->lock);
	free_dropped(spool, dropped);
}

void push_spool_retry(struct push_spool *spool)
{
	struct push_entry **at;

	pthread_mutex_lock(&spool->lock);
	at = &spool->waiting.first;
	while (spool->aside.first)
		at = insert(&spool->waiting, at, take_first(&spool->aside));
	pthread_mutex_unlock(&spool->lock);
	spool_leftovers_retry(&spool->leftovers, &spool->files);
}

/* Has the file's name say that it is being sent. A disk that is read-only keeps the name. */
static void mark_sending(struct push_spool *spool, struct push_entry *entry)
{
	if (strcmp(entry->suffix, WAITS) == 0 &&
	    spool_files_rename(&spool->files, entry->head.number, WAITS, SENDING) == 0)
		entry->suffix = SENDING;
}

struct push_entry *push_spool_take(struct push_spool *spool, uint64_t now_unix_ns)
{
	struct push_entry *entry;

	push_spool_expire(spool, now_unix_ns);
	pthread_mutex_lock(&spool->lock);
	entry = spool->waiting.first ? take_first(&spool->waiting) : NULL;
	if (entry) {
		entry->next = spool->out;
		spool->out = entry;
	}
	pthread_mutex_unlock(&spool->lock);
	if (entry && !entry->body)
		mark_sending(spool, entry);
	return entry;
}

static void count_fate(struct push_spool *spool, const struct push_entry *entry,
		       enum push_fate fate)
{
	struct push_target_stats *const stats = &spool->stats;

	if (fate == PUSH_SENT) {
		count(&stats->sent, entry);
		stats->sent_bytes += entry->head.bytes;
	} else if (fate == PUSH_REFUSED) {
		count(&stats->refused, entry);
	} else if (fate == PUSH_IN_DOUBT) {
		count(&stats->in_doubt, entry);
	} else {
		stats->failed_tries++;
	}
}

static bool keep_refused(struct push_spool *spool, const struct push_entry *entry, const char *why)
{
	const uint64_t number = entry->head.number;

	if (spool_files_rename(&spool->files, number, entry->suffix, REFUSED) < 0)
		return false;
	spool_files_say_why(&spool->files, number, why);
	spool_files_keep(&spool->files, number);
	return true;
}

static void settle_file(struct push_spool *spool, struct push_entry *entry, enum push_fate fate,
			const char *why)
{
	const uint64_t number = entry->head.number;

	if (fate == PUSH_AGAIN) {
		if (strcmp(entry->suffix, SENDING) == 0 &&
		    spool_files_rename(&spool->files, number, SENDING, WAITS) == 0)
			entry->suffix = WAITS;
	} else if (fate != PUSH_REFUSED || !keep_refused(spool, entry, why)) {
		spool_leftovers_remove(&spool->leftovers, &spool->files, number, entry->suffix);
	}
}

void push_spool_settle(struct push_spool *spool, struct push_entry *entry, enum push_fate fate,
		       const char *why)
{
	if (!entry->body)
		settle_file(spool, entry, fate, why);
	pthread_mutex_lock(&spool->lock);
	count_fate(spool, entry, fate);
	remove_out(spool, entry);
	if (fate == PUSH_AGAIN)
		insert(&spool->waiting, &spool->waiting.first, entry);
	else
		count_out(spool, entry);
	pthread_mutex_unlock(&spool->lock);
	if (fate != PUSH_AGAIN)
		free_entry(entry);
}

/* A file that could not be renamed is there still when it was sent, which has to be remembered. */
static int read_file(struct push_spool *spool, const struct push_entry *entry, struct bytes *ret)
{
	if (strcmp(entry->suffix, WAITS) == 0 && !spool_leftovers_have_room(&spool->leftovers))
		return -ENOSPC;
	return spool_files_read(&spool->files, &entry->head, entry->suffix, ret);
}

static void lose_damaged(struct push_spool *spool, struct push_entry *entry)
{
	spool_leftovers_remove(&spool->leftovers, &spool->files, entry->head.number, entry->suffix);
	pthread_mutex_lock(&spool->lock);
	remove_out(spool, entry);
	spool->stats.damaged++;
	count(&spool->stats.dropped_failed, entry);
	count_out(spool, entry);
	pthread_mutex_unlock(&spool->lock);
	free_entry(entry);
}

/* Mostly behind all others; not if it is one that was sent in vain before. */
static void put_aside(struct push_spool *spool, struct push_entry *entry)
{
	struct entries *const aside = &spool->aside;

	THREAD_HOLD(&spool->lock);
	remove_out(spool, entry);
	if (aside->first && last_of(aside)->head.number > entry->head.number)
		insert(aside, &aside->first, entry);
	else
		append(aside, entry);
}

int push_spool_load(struct push_spool *spool, struct push_entry *entry, struct bytes *ret)
{
	int err = 0;

	if (entry->body)
		bytes_add(ret, entry->body, entry->head.bytes);
	else
		err = read_file(spool, entry, ret);
	if (ret->failed)
		err = -ENOMEM;
	if (!err)
		return 0;
	if (is_shortage(err)) {
		push_spool_settle(spool, entry, PUSH_AGAIN, NULL);
		return -EAGAIN;
	}
	if (log_limit_allows(&spool->said, 0, clock_now_ns()))
		log_error("%s: a profile cannot be read again and %s: %s", spool->files.path,
			  err == -EBADMSG || err == -ENOENT ? "is lost" : "waits",
			  err == -EBADMSG ? "its file is damaged" : strerror(-err));
	if (err == -EBADMSG || err == -ENOENT)
		lose_damaged(spool, entry);
	else
		put_aside(spool, entry);
	return err;
}

void push_spool_count_try(struct push_spool *spool)
{
	THREAD_HOLD(&spool->lock);

	spool->stats.failed_tries++;
}

/* When the oldest was made of those that are not settled; 0: there is none. */
static uint64_t oldest_unix_ns(const struct push_spool *spool)
{
	const struct push_entry *const heads[] = {spool->waiting.first, spool->aside.first};
	uint64_t oldest_ns = UINT64_MAX;

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (heads[i] && heads[i]->head.made_unix_ns < oldest_ns)
			oldest_ns = heads[i]->head.made_unix_ns;
	for (const struct push_entry *entry = spool->out; entry; entry = entry->next)
		if (entry->head.made_unix_ns < oldest_ns)
			oldest_ns = entry->head.made_unix_ns;
	return oldest_ns == UINT64_MAX ? 0 : oldest_ns;
}

void push_spool_stats(struct push_spool *spool, struct push_target_stats *ret)
{
	pthread_mutex_lock(&spool->lock);
	*ret = spool->stats;
	ret->oldest_unix_ns = oldest_unix_ns(spool);
	pthread_mutex_unlock(&spool->lock);
	ret->undeleted = spool_leftovers_count(&spool->leftovers);
	snprintf(ret->name, sizeof(ret->name), "%s", spool->name);
}
