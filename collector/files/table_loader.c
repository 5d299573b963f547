// SPDX-License-Identifier: Apache-2.0
/*
 * Three lists of jobs under one lock: urgent, likely and done, see table_loader.h. A thread owns
 * the job that it has taken, and holds no lock while it reads. A read that hangs cannot be ended,
 * and the kernel's count of the thread's switches stays as it is.
 * So the loader's state is freed by the last thread that uses it: one of the loader's threads, or
 * the caller's.
 *
 * One file, because each step of a job, and who has the most of the lists, is decided under the
 * lock that all of it shares.
 */
#include "files/table_loader.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/root_file.h"
#include "base/thread.h"
#include "guard/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define STOP_PATIENCE_NS CLOCK_NS_PER_SEC
#define FORGET_NS	 (1 * CLOCK_NS_PER_SEC)
#define FORGET_SHARE	 16 /* of the time that owners have taken; forgotten each FORGET_NS */

struct job_list {
	struct table_job *first, **end; /* end: where the next job is put */
};

/* The files that a thread loads. */
enum size { SMALL_FILES, LARGE_FILES, SIZES };

#define MAX_WORKERS (SIZES + TABLE_LOADER_MAX_STUCK)

/* One of the loader's threads. */
struct worker {
	struct table_loader *loader; /* NULL: the place is free */
	enum size size;
	pid_t tid;	       /* 0: the thread has not begun */
	struct table_job *job; /* NULL: the thread waits for a job */
	uint64_t began_ns;     /* when the job began */
	uint64_t seen_ns;      /* when the thread was last seen to get on with its job */
	uint64_t switches;     /* of the thread to others, at that time */
	bool is_apart;	       /* is stuck or may soon be; another thread has its place */
	bool is_stuck;
};

struct table_loader {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job_list urgent, likely, done;
	int done_fd;
	bool is_stopping; /* the threads take no more jobs */
	bool is_left;	  /* the caller has not waited for the threads' ends */
	struct worker workers[MAX_WORKERS];
	struct pool spent; /* milliseconds of owners' jobs, lately */
	uint64_t forgot_ns;
	unsigned running;	 /* workers */
	unsigned getting[SIZES]; /* of these, those that are not apart */
};

/* ---- jobs ---- */

struct table_job *table_job_new(const struct table_kind *kind, int path_fd, uint64_t file_bytes)
{
	struct table_job *job = calloc(1, sizeof(*job));

	if (!job) {
		close(path_fd);
		return NULL;
	}
	*job = (struct table_job){
		.kind = kind, .path_fd = path_fd, .root_fd = -1, .file_bytes = file_bytes};
	return job;
}

void table_job_place(struct table_job *job, int root_fd, const char *path)
{
	job->root_fd = root_fd;
	job->path = strdup(path); /* without memory only a build ID leads to a debug file */
}

void table_job_free(struct table_job *job)
{
	if (!job)
		return;
	if (job->path_fd >= 0)
		close(job->path_fd);
	if (job->root_fd >= 0)
		close(job->root_fd);
	free(job->path);
	if (job->content)
		job->kind->free(job->content);
	free(job);
}

static int load(struct table_job *job)
{
	const struct table_kind *const kind = job->kind;
	struct stat st;
	const struct debug_place place = {
		.root = job->root_fd,
		.path = job->path,
		.self = root_file_stat(job->path_fd, &st) == 0 ? &st : NULL,
	};

	if (!kind->restore || !zygote_is_used()) {
		_cleanup_close_ const int fd = root_file_read(job->path_fd);

		return fd < 0 ? fd : kind->load(fd, &place, &job->content);
	}
	return table_parser_load(kind, job->path_fd, kind->needs_place ? &place : NULL,
				 &job->parser, &job->content);
}

void table_job_run(struct table_job *job)
{
	const uint64_t began_ns = clock_now_ns();

	job->err = load(job);
	close(job->path_fd);
	job->path_fd = -1;
	if (job->root_fd >= 0)
		close(job->root_fd);
	job->root_fd = -1;
	job->took_ns = clock_now_ns() - began_ns;
}

/* ---- lists ---- */

static void append(struct job_list *list, struct table_job *job)
{
	job->next = NULL;
	*list->end = job;
	list->end = &job->next;
}

static struct table_job *remove_first(struct job_list *list)
{
	struct table_job *job = list->first;

	if (!job)
		return NULL;
	list->first = job->next;
	if (!list->first)
		list->end = &list->first;
	return job;
}

static bool remove_job(struct job_list *list, const struct table_job *job)
{
	struct table_job **at = &list->first;

	while (*at && *at != job)
		at = &(*at)->next;
	if (!*at)
		return false;
	*at = job->next;
	if (!*at)
		list->end = at;
	return true;
}

static bool has_job(const struct job_list *list, const struct table_job *job)
{
	const struct table_job *at = list->first;

	while (at && at != job)
		at = at->next;
	return at;
}

static enum size size_of(const struct table_job *job)
{
	return job->file_bytes < TABLE_LOADER_LARGE_BYTES ? SMALL_FILES : LARGE_FILES;
}

/*
 * How many threads are stuck with files of the owner and of the owner's container; SIZE_MAX: the
 * owner's jobs have to wait for one.
 */
static size_t count_stuck(const struct table_loader *loader, struct owner owner)
{
	struct owner_use use = {0};

	for (size_t i = 0; i < MAX_WORKERS; i++) {
		const struct worker *const worker = &loader->workers[i];

		if (worker->loader && worker->is_apart)
			owner_count(&use, owner, worker->job->owner);
	}
	return owner_has_all(use, TABLE_LOADER_OWNER_STUCK) ? SIZE_MAX : use.user + use.container;
}

/* How many seconds the owner's jobs have taken lately. */
static uint64_t seconds_of(const struct table_loader *loader, struct owner owner)
{
	return pool_amount(&loader->spent, owner_group(owner)) / 1000;
}

/* Called with the lock held. Without memory the time is forgotten. */
static void charge(struct table_loader *loader, struct owner owner, uint64_t ns)
{
	(void)pool_charge(&loader->spent, owner_group(owner), ns / CLOCK_NS_PER_MS);
}

void table_loader_spend(struct table_loader *loader, struct owner owner, uint64_t ns)
{
	THREAD_HOLD(&loader->lock);

	charge(loader, owner, ns);
}

/* Forgets a part of all time. What is removed may move an owner: it has its turn the next time. */
static void forget_some(struct table_loader *loader, uint64_t now_ns)
{
	size_t pos = 0;
	uint64_t group;
	void *value;

	if (now_ns < loader->forgot_ns + FORGET_NS)
		return;
	loader->forgot_ns = now_ns;
	while (map64_next(&loader->spent.amounts, &pos, &group, &value))
		pool_release(&loader->spent, group, (uintptr_t)value / FORGET_SHARE + 1);
}

/* How much speaks against a job, the most important first. */
struct rank {
	size_t owner_stuck;  /* see count_stuck; SIZE_MAX: the job has to wait */
	size_t device_stuck; /* threads that are stuck with files of the job's device */
	uint64_t seconds;    /* see seconds_of */
	uint64_t file_bytes;
};

static struct rank rank_job(const struct table_loader *loader, const struct table_job *job)
{
	struct rank rank = {.owner_stuck = count_stuck(loader, job->owner),
			    .seconds = seconds_of(loader, job->owner),
			    .file_bytes = job->file_bytes};

	for (size_t i = 0; i < MAX_WORKERS; i++) {
		const struct worker *const worker = &loader->workers[i];

		if (!worker->loader || !worker->is_apart)
			continue;
		if (job->file && worker->job->file == job->file)
			rank.owner_stuck = SIZE_MAX;
		rank.device_stuck += job->device && worker->job->device == job->device;
	}
	return rank;
}

static bool is_before(struct rank a, struct rank b)
{
	if (a.owner_stuck != b.owner_stuck)
		return a.owner_stuck < b.owner_stuck;
	if (a.device_stuck != b.device_stuck)
		return a.device_stuck < b.device_stuck;
	if (a.seconds != b.seconds)
		return a.seconds < b.seconds;
	return a.file_bytes < b.file_bytes;
}

/*
 * Removes the job of the smallest file of that size; of equal files the first job. Owners and
 * devices with threads that are stuck come last.
 */
static struct table_job *remove_sized(const struct table_loader *loader, struct job_list *list,
				      enum size size)
{
	struct table_job *best = NULL;
	struct rank best_rank = {0};

	for (struct table_job *job = list->first; job; job = job->next) {
		const struct rank rank = rank_job(loader, job);

		if (size_of(job) != size || rank.owner_stuck == SIZE_MAX ||
		    (best && !is_before(rank, best_rank)))
			continue;
		best = job;
		best_rank = rank;
	}
	if (best)
		remove_job(list, best);
	return best;
}

static void free_list(struct job_list *list)
{
	struct table_job *job;

	while ((job = remove_first(list)))
		table_job_free(job);
}

/* ---- the thread ---- */

static void free_loader(struct table_loader *loader)
{
	free_list(&loader->urgent);
	free_list(&loader->likely);
	free_list(&loader->done);
	if (loader->done_fd >= 0)
		close(loader->done_fd);
	pool_fini(&loader->spent);
	pthread_cond_destroy(&loader->changed);
	pthread_mutex_destroy(&loader->lock);
	free(loader);
}

/* Waits for a job. The lock is held. NULL: the loader is stopping. */
static struct table_job *wait_for_job(struct table_loader *loader, enum size size)
{
	struct table_job *job = NULL;

	while (!loader->is_stopping && !job) {
		job = remove_sized(loader, &loader->urgent, size);
		if (!job)
			job = remove_sized(loader, &loader->likely, size);
		if (!job)
			pthread_cond_wait(&loader->changed, &loader->lock);
	}
	return job;
}

static int start_worker(struct table_loader *loader, enum size size);

/* Called with the lock held. */
static void begin_job(struct worker *worker, struct table_job *job)
{
	struct table_loader *const loader = worker->loader;
	const struct rank rank = rank_job(loader, job);

	/* What is likely not to answer must not have the last thread: others would wait for it. */
	if (rank.owner_stuck + rank.device_stuck > 0) {
		worker->is_apart = true;
		if (--loader->getting[worker->size] == 0)
			(void)start_worker(loader,
					   worker->size); /* table_loader_tend tries again */
	}
	worker->job = job;
	worker->seen_ns = worker->began_ns = clock_now_ns();
	worker->switches = UINT64_MAX; /* not looked at yet */
}

/* Called with the lock held. False: another thread has taken this one's place. */
static bool end_job(struct worker *worker, struct table_job *job)
{
	struct table_loader *const loader = worker->loader;
	const bool was_apart = worker->is_apart;

	charge(loader, job->owner, job->took_ns);
	append(&loader->done, job);
	eventfd_write(loader->done_fd, 1);
	worker->job = NULL;
	worker->is_apart = worker->is_stuck = false;
	if (!was_apart)
		return true;
	if (loader->getting[worker->size] > 0)
		return false;
	loader->getting[worker->size]++;
	return true;
}

static void *run(void *arg)
{
	struct worker *const worker = arg;
	struct table_loader *const loader = worker->loader;
	struct table_job *job;
	bool is_needed = true, is_last;

	pthread_mutex_lock(&loader->lock);
	worker->tid = gettid();
	while (is_needed && (job = wait_for_job(loader, worker->size))) {
		begin_job(worker, job);
		pthread_mutex_unlock(&loader->lock);
		table_job_run(job);
		pthread_mutex_lock(&loader->lock);
		is_needed = end_job(worker, job);
	}
	loader->getting[worker->size] -= is_needed;
	*worker = (struct worker){0};
	is_last = --loader->running == 0 && loader->is_left;
	/* For who waits for the threads' ends, and for jobs that were held because of this one. */
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	if (is_last)
		free_loader(loader);
	return NULL;
}

/* Called with the lock held. */
static int start_worker(struct table_loader *loader, enum size size)
{
	struct worker *worker = NULL;
	pthread_t thread;
	int err;

	for (size_t i = 0; !worker && i < MAX_WORKERS; i++) {
		if (!loader->workers[i].loader)
			worker = &loader->workers[i];
	}
	if (!worker)
		return -EAGAIN;
	*worker = (struct worker){.loader = loader, .size = size};
	err = thread_start(&thread, run, worker);
	if (err) {
		*worker = (struct worker){0};
		return err;
	}
	pthread_detach(thread);
	loader->running++;
	loader->getting[size]++;
	return 0;
}

/* Starts a worker for each size that has none. Called with the lock held. */
static int start_workers(struct table_loader *loader)
{
	int err = 0;

	for (enum size size = 0; !err && size < SIZES; size++) {
		if (loader->getting[size] == 0)
			err = start_worker(loader, size);
	}
	return err;
}

int table_loader_start(struct table_loader **ret)
{
	struct table_loader *loader = calloc(1, sizeof(*loader));
	int err;

	if (!loader)
		return -ENOMEM;
	pthread_mutex_init(&loader->lock, NULL);
	thread_cond_init(&loader->changed);
	loader->urgent.end = &loader->urgent.first;
	loader->likely.end = &loader->likely.first;
	loader->done.end = &loader->done.first;
	loader->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_lock(&loader->lock);
	err = loader->done_fd < 0 ? -errno : start_workers(loader);
	pthread_mutex_unlock(&loader->lock);
	if (err) {
		table_loader_stop(loader);
		return err;
	}
	*ret = loader;
	return 0;
}

void table_loader_stop(struct table_loader *loader)
{
	const uint64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + STOP_PATIENCE_NS;
	bool is_last;

	if (!loader)
		return;
	pthread_mutex_lock(&loader->lock);
	loader->is_stopping = true;
	pthread_cond_broadcast(&loader->changed);
	while (loader->getting[SMALL_FILES] + loader->getting[LARGE_FILES] > 0 &&
	       thread_cond_wait_until(&loader->changed, &loader->lock, until_ns))
		;
	is_last = loader->running == 0;
	loader->is_left = !is_last;
	pthread_mutex_unlock(&loader->lock);
	if (is_last)
		free_loader(loader);
}

/* ---- the caller's side ---- */

void table_loader_add(struct table_loader *loader, struct table_job *job, bool is_urgent)
{
	THREAD_HOLD(&loader->lock);

	append(is_urgent ? &loader->urgent : &loader->likely, job);
	pthread_cond_broadcast(&loader->changed); /* the job may be for either thread */
}

/*
 * Called with the lock held. A job of a thread keeps its owner, who has to wait for it. Of all who
 * need a file the one with the fewest threads that are stuck has the file read.
 */
static void share(struct table_loader *loader, struct table_job *job, struct owner owner)
{
	if (owner_is(job->owner, owner) ||
	    (!has_job(&loader->urgent, job) && !has_job(&loader->likely, job)) ||
	    count_stuck(loader, owner) >= count_stuck(loader, job->owner))
		return;
	job->owner = owner;
	pthread_cond_broadcast(&loader->changed);
}

void table_loader_share(struct table_loader *loader, struct table_job *job, struct owner owner)
{
	THREAD_HOLD(&loader->lock);

	share(loader, job, owner);
}

static struct table_job *remove_last_of(struct job_list *list, uint64_t group)
{
	struct table_job *last = NULL;

	for (struct table_job *job = list->first; job; job = job->next)
		last = job->group == group ? job : last;
	if (last)
		remove_job(list, last);
	return last;
}

struct table_job *table_loader_drop(struct table_loader *loader, uint64_t group)
{
	struct table_job *job;

	THREAD_HOLD(&loader->lock);
	job = remove_last_of(&loader->likely, group);
	if (!job)
		job = remove_last_of(&loader->urgent, group);
	return job;
}

void table_loader_hurry(struct table_loader *loader, struct table_job *job, struct owner owner)
{
	THREAD_HOLD(&loader->lock);

	if (remove_job(&loader->likely, job))
		append(&loader->urgent, job);
	share(loader, job, owner);
}

/*
 * Adds to ret how often a thread has waited or made way to others. False: the thread runs now, or
 * nothing is known of it.
 */
static bool add_switches(const char *path, uint64_t *ret)
{
	unsigned long long own = 0, others = 0;
	char text[4096];
	const char *at;

	if (file_read_small(path, text, sizeof(text)) <= 0 || strstr(text, "\nState:\tR"))
		return false;
	at = strstr(text, "\nvoluntary_ctxt_switches:");
	if (!at || sscanf(at, "\nvoluntary_ctxt_switches: %llu nonvoluntary_ctxt_switches: %llu",
			  &own, &others) != 2)
		return false;
	*ret += own + others;
	return true;
}

/* As add_switches, of the thread and of the parser that it waits for. */
static bool count_switches(const struct worker *worker, uint64_t *ret)
{
	const pid_t parser = worker->job->parser.pid;
	char path[64];

	*ret = 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)worker->tid);
	if (worker->tid == 0 || !add_switches(path, ret))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)parser);
	return parser == 0 || add_switches(path, ret);
}

/* Whether the worker has got on with its job in the last PATIENCE. */
static bool gets_on(struct worker *worker, uint64_t now_ns)
{
	uint64_t switches = UINT64_MAX;

	if (!worker->job || now_ns < worker->seen_ns + TABLE_LOADER_PATIENCE_NS)
		return true;
	if (now_ns >= worker->began_ns + TABLE_LOADER_LATE_NS)
		return false;
	if (count_switches(worker, &switches) && switches == worker->switches)
		return false;
	worker->switches = switches;
	worker->seen_ns = now_ns;
	return true;
}

/* The parser's end wakes the thread. A parser is killed once. */
static void kill_parser(struct table_job *job)
{
	const uint64_t id = job->parser.id;

	job->parser.id = 0;
	if (id && job->parser.pid)
		zygote_kill_parser(id, true);
}

void table_loader_tend(struct table_loader *loader, uint64_t now_ns)
{
	THREAD_HOLD(&loader->lock);

	for (size_t i = 0; i < MAX_WORKERS; i++) {
		struct worker *const worker = &loader->workers[i];

		if (worker->job && now_ns >= worker->began_ns + TABLE_LOADER_MOST_NS)
			kill_parser(worker->job);
		if (!worker->loader || worker->is_stuck || gets_on(worker, now_ns))
			continue;
		worker->is_stuck = true;
		if (!worker->is_apart)
			loader->getting[worker->size]--;
		worker->is_apart = true;
	}
	if (!loader->is_stopping)
		start_workers(loader);
	forget_some(loader, now_ns);
}

size_t table_loader_stuck(struct table_loader *loader, const struct table_kind *kind)
{
	size_t n = 0;

	THREAD_HOLD(&loader->lock);
	for (size_t i = 0; i < MAX_WORKERS; i++) {
		const struct worker *const worker = &loader->workers[i];

		n += worker->loader && worker->is_stuck && (!kind || worker->job->kind == kind);
	}
	return n;
}

bool table_loader_gets_on(struct table_loader *loader)
{
	bool any = false;

	THREAD_HOLD(&loader->lock);
	for (size_t i = 0; i < MAX_WORKERS && !any; i++) {
		const struct worker *const worker = &loader->workers[i];

		any = worker->loader && worker->job && !worker->is_stuck;
	}
	return any;
}

struct table_job *table_loader_take(struct table_loader *loader)
{
	struct table_job *job;
	eventfd_t count;

	THREAD_HOLD(&loader->lock);
	job = remove_first(&loader->done);
	if (!loader->done.first)
		(void)eventfd_read(loader->done_fd, &count);
	return job;
}

int table_loader_fd(const struct table_loader *loader)
{
	return loader->done_fd;
}
