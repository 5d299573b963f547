// SPDX-License-Identifier: Apache-2.0
/*
 * Three lists of jobs under one lock: urgent, likely and done, see table_loader.h. A thread owns
 * the job that it has taken, and holds no lock while it reads. A read that hangs cannot be ended,
 * and the kernel's count of the thread's switches stays as it is.
 * So the loader's state is freed by the last thread that uses it: one of the loader's threads, or
 * the caller's.
 */
#include "files/table_loader.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/root_file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define STOP_PATIENCE_SEC 1

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
	pid_t tid;		     /* 0: the thread has not begun */
	const struct table_job *job; /* NULL: the thread waits for a job */
	uint64_t seen_ns;	     /* when the thread was last seen to get on with its job */
	uint64_t switches;	     /* of the thread to others, at that time */
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
	unsigned running;	 /* workers */
	unsigned getting[SIZES]; /* of these, those that are not stuck */
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

void table_job_run(struct table_job *job)
{
	const uint64_t began_ns = clock_now_ns();
	const struct debug_place place = {.root = job->root_fd, .path = job->path};
	const int fd = root_file_read(job->path_fd);

	job->err = fd < 0 ? fd : job->kind->load(fd, &place, &job->content);
	if (fd >= 0)
		close(fd);
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
 * job has to wait for one.
 */
static size_t count_stuck(const struct table_loader *loader, const struct table_job *job)
{
	struct owner_use use = {0};

	for (size_t i = 0; i < MAX_WORKERS; i++) {
		const struct worker *const worker = &loader->workers[i];

		if (!worker->loader || !worker->is_stuck)
			continue;
		if (job->file && worker->job->file == job->file)
			return SIZE_MAX;
		owner_count(&use, job->owner, worker->job->owner);
	}
	return owner_has_all(use, TABLE_LOADER_OWNER_STUCK) ? SIZE_MAX : use.user + use.container;
}

/*
 * Removes the job of the smallest file of that size; of equal files the first job. Owners with
 * threads that are stuck come last.
 */
static struct table_job *remove_sized(const struct table_loader *loader, struct job_list *list,
				      enum size size)
{
	struct table_job *best = NULL;
	size_t best_stuck = SIZE_MAX;

	for (struct table_job *job = list->first; job; job = job->next) {
		const size_t stuck = size_of(job) == size ? count_stuck(loader, job) : SIZE_MAX;

		if (stuck < best_stuck ||
		    (best && stuck == best_stuck && job->file_bytes < best->file_bytes)) {
			best = job;
			best_stuck = stuck;
		}
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

static void begin_job(struct worker *worker, const struct table_job *job)
{
	worker->job = job;
	worker->seen_ns = clock_now_ns();
	worker->switches = UINT64_MAX; /* not looked at yet */
}

/* Called with the lock held. False: another thread has taken this one's place. */
static bool end_job(struct worker *worker, struct table_job *job)
{
	struct table_loader *const loader = worker->loader;
	const bool was_stuck = worker->is_stuck;

	append(&loader->done, job);
	eventfd_write(loader->done_fd, 1);
	worker->job = NULL;
	worker->is_stuck = false;
	if (!was_stuck)
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
	err = pthread_create(&thread, NULL, run, worker);
	if (err) {
		*worker = (struct worker){0};
		return -err;
	}
	pthread_detach(thread);
	loader->running++;
	loader->getting[size]++;
	return 0;
}

/* Starts a worker for each size that has none. Called with the lock held. */
static int start_workers(struct table_loader *loader)
{
	sigset_t all, before;
	int err = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the other threads */
	for (enum size size = 0; !err && size < SIZES; size++) {
		if (loader->getting[size] == 0)
			err = start_worker(loader, size);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int table_loader_start(struct table_loader **ret)
{
	struct table_loader *loader = calloc(1, sizeof(*loader));
	pthread_condattr_t monotonic;
	int err;

	if (!loader)
		return -ENOMEM;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&loader->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
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
	struct timespec until;
	bool is_last;

	if (!loader)
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STOP_PATIENCE_SEC;
	pthread_mutex_lock(&loader->lock);
	loader->is_stopping = true;
	pthread_cond_broadcast(&loader->changed);
	while (loader->getting[SMALL_FILES] + loader->getting[LARGE_FILES] > 0 &&
	       pthread_cond_timedwait(&loader->changed, &loader->lock, &until) == 0)
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
	pthread_mutex_lock(&loader->lock);
	append(is_urgent ? &loader->urgent : &loader->likely, job);
	pthread_cond_broadcast(&loader->changed); /* the job may be for either thread */
	pthread_mutex_unlock(&loader->lock);
}

/* A job of a thread keeps its owner, who has to wait for it. */
void table_loader_hurry(struct table_loader *loader, struct table_job *job, struct owner owner)
{
	pthread_mutex_lock(&loader->lock);
	if (remove_job(&loader->likely, job))
		append(&loader->urgent, job);
	if (has_job(&loader->urgent, job) && !owner_is(job->owner, owner)) {
		job->owner = owner;
		pthread_cond_broadcast(&loader->changed);
	}
	pthread_mutex_unlock(&loader->lock);
}

/*
 * Sets ret to how often the thread has waited or made way to others. False: the thread runs now, or
 * nothing is known of it.
 */
static bool count_switches(pid_t tid, uint64_t *ret)
{
	unsigned long long own = 0, others = 0;
	char path[64], text[4096];
	const char *at;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)tid);
	if (tid == 0 || file_read_small(path, text, sizeof(text)) <= 0 ||
	    strstr(text, "\nState:\tR"))
		return false;
	at = strstr(text, "\nvoluntary_ctxt_switches:");
	if (!at || sscanf(at, "\nvoluntary_ctxt_switches: %llu nonvoluntary_ctxt_switches: %llu",
			  &own, &others) != 2)
		return false;
	*ret = own + others;
	return true;
}

/* Whether the worker has got on with its job in the last PATIENCE. */
static bool gets_on(struct worker *worker, uint64_t now_ns)
{
	uint64_t switches = UINT64_MAX;

	if (!worker->job || now_ns < worker->seen_ns + TABLE_LOADER_PATIENCE_NS)
		return true;
	if (count_switches(worker->tid, &switches) && switches == worker->switches)
		return false;
	worker->switches = switches;
	worker->seen_ns = now_ns;
	return true;
}

void table_loader_tend(struct table_loader *loader, uint64_t now_ns)
{
	pthread_mutex_lock(&loader->lock);
	for (size_t i = 0; i < MAX_WORKERS; i++) {
		struct worker *const worker = &loader->workers[i];

		if (!worker->loader || worker->is_stuck || gets_on(worker, now_ns))
			continue;
		worker->is_stuck = true;
		loader->getting[worker->size]--;
	}
	if (!loader->is_stopping)
		start_workers(loader);
	pthread_mutex_unlock(&loader->lock);
}

size_t table_loader_stuck(struct table_loader *loader, const struct table_kind *kind)
{
	size_t n = 0;

	pthread_mutex_lock(&loader->lock);
	for (size_t i = 0; i < MAX_WORKERS; i++) {
		const struct worker *const worker = &loader->workers[i];

		n += worker->loader && worker->is_stuck && (!kind || worker->job->kind == kind);
	}
	pthread_mutex_unlock(&loader->lock);
	return n;
}

struct table_job *table_loader_take(struct table_loader *loader)
{
	struct table_job *job;
	eventfd_t count;

	pthread_mutex_lock(&loader->lock);
	job = remove_first(&loader->done);
	if (!loader->done.first)
		(void)eventfd_read(loader->done_fd, &count);
	pthread_mutex_unlock(&loader->lock);
	return job;
}

int table_loader_fd(const struct table_loader *loader)
{
	return loader->done_fd;
}
