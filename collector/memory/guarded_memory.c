// SPDX-License-Identifier: Apache-2.0
/* Reads memory by helpers, see guarded_memory.h. */
#include "memory/guarded_memory.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PIECES 16
#define MAX_BYTES  (4u << 20) /* of one read */

/* A process whose memory has not answered. */
struct late_process {
	pid_t pid; /* 0: the place is free */
	uint64_t owner;
	unsigned times;
	uint64_t until_ns;   /* end of the pause */
	bool is_out;	     /* a helper waits, as far as the caller has seen */
	atomic_bool is_back; /* set by the helper when the read has returned after all */
};

/* Outlives the guarded memory while helpers wait. */
struct late_processes {
	struct late_process places[GUARDED_MEMORY_MAX_LATE];
	atomic_uint users; /* helpers that wait, and the owner */
};

/* One read, with memory of its own: a helper may write there at any later time. */
struct call {
	struct helpers_call base;
	pid_t pid;
	struct iovec from[MAX_PIECES];
	unsigned long n;
	ssize_t result;
	struct late_processes *late; /* set when the call may turn out late */
	struct late_process *place;
	size_t size;
	uint8_t bytes[];
};

struct guarded_memory {
	struct process_memory_source source;
	struct helpers *helpers;
	struct late_processes *late;
	size_t n_late;	   /* places that are not free */
	struct call *call; /* at hand, or NULL */
	uint64_t (*owner)(void *arg, pid_t pid);
	void *owner_arg;
	struct log_limit log;
	struct guarded_memory_stats stats;
};

/* ---- on a helper's thread ---- */

static void run(struct helpers_call *base)
{
	struct call *const call = (struct call *)base;
	const struct iovec to = {call->bytes, call->size};

	call->result = process_memory_read_plain(call->pid, &to, 1, call->from, call->n);
}

static void drop(struct late_processes *late)
{
	if (atomic_fetch_sub(&late->users, 1) == 1)
		free(late);
}

static void end_late(struct helpers_call *base)
{
	struct call *const call = (struct call *)base;
	struct late_processes *const late = call->late;

	atomic_store(&call->place->is_back, true);
	free(call);
	drop(late);
}

/* ---- who has to wait ---- */

static struct late_process *find_late(struct guarded_memory *guarded, pid_t pid)
{
	for (size_t i = 0; guarded->n_late > 0 && i < GUARDED_MEMORY_MAX_LATE; i++) {
		if (guarded->late->places[i].pid == pid)
			return &guarded->late->places[i];
	}
	return NULL;
}

/* A place for a process that may be late: its own, a free one, or that of the oldest pause. */
static struct late_process *choose_place(struct guarded_memory *guarded, pid_t pid)
{
	struct late_process *best = find_late(guarded, pid);

	for (size_t i = 0; !best && i < GUARDED_MEMORY_MAX_LATE; i++) {
		if (guarded->late->places[i].pid == 0)
			best = &guarded->late->places[i];
	}
	if (best)
		return best;
	for (size_t i = 0; i < GUARDED_MEMORY_MAX_LATE; i++) {
		struct late_process *const place = &guarded->late->places[i];

		if (!place->is_out && (!best || place->until_ns < best->until_ns))
			best = place;
	}
	return best;
}

static void see_who_is_back(struct guarded_memory *guarded)
{
	guarded->stats.late = 0;
	for (size_t i = 0; i < GUARDED_MEMORY_MAX_LATE; i++) {
		struct late_process *const place = &guarded->late->places[i];

		if (place->is_out && atomic_load(&place->is_back))
			place->is_out = false;
		guarded->stats.late += place->is_out;
	}
}

static bool is_owner_full(const struct guarded_memory *guarded, pid_t pid)
{
	const uint64_t owner = guarded->owner(guarded->owner_arg, pid);
	size_t n = 0;

	for (size_t i = 0; i < GUARDED_MEMORY_MAX_LATE; i++) {
		const struct late_process *const place = &guarded->late->places[i];

		n += place->is_out && place->owner == owner;
	}
	return n >= GUARDED_MEMORY_OWNER_LATE;
}

/* Nothing is looked up while all memory answers. */
static bool has_to_wait(struct guarded_memory *guarded, pid_t pid)
{
	const struct late_process *place;

	if (guarded->n_late == 0)
		return false;
	see_who_is_back(guarded);
	place = find_late(guarded, pid);
	if (place && (place->is_out || clock_now_ns() < place->until_ns))
		return true;
	return guarded->stats.late >= GUARDED_MEMORY_OWNER_LATE && is_owner_full(guarded, pid);
}

static void note_late(struct guarded_memory *guarded, struct late_process *place, pid_t pid)
{
	const uint64_t now_ns = clock_now_ns();

	if (place->pid != pid)
		place->times = 0;
	guarded->n_late += place->pid == 0;
	place->pid = pid;
	place->owner = guarded->owner(guarded->owner_arg, pid);
	place->until_ns = now_ns + (GUARDED_MEMORY_PAUSE_NS << place->times);
	place->times += place->times < GUARDED_MEMORY_DOUBLINGS;
	place->is_out = true;
	guarded->stats.late_reads++;
	if (log_limit_allows(&guarded->log, now_ns))
		log_warning("PID %d: its memory does not answer: its stacks are not whole, and its "
			    "interpreted methods have no names, until it does",
			    (int)pid);
}

/* ---- reads ---- */

static struct call *take_call(struct guarded_memory *guarded, size_t size)
{
	struct call *call = guarded->call;

	if (call && call->size >= size)
		return call;
	free(call);
	guarded->call = NULL;
	call = calloc(1, sizeof(*call) + size);
	if (!call)
		return NULL;
	call->base = (struct helpers_call){.run = run, .free = end_late};
	call->size = size;
	guarded->call = call;
	return call;
}

static void copy_out(const struct call *call, const struct iovec *to, unsigned long n)
{
	size_t left = call->result > 0 ? (size_t)call->result : 0;
	const uint8_t *at = call->bytes;

	for (unsigned long i = 0; i < n && left > 0; i++) {
		const size_t part = to[i].iov_len < left ? to[i].iov_len : left;

		memcpy(to[i].iov_base, at, part);
		at += part;
		left -= part;
	}
}

static ssize_t read_guarded(void *arg, pid_t pid, const struct iovec *to, const struct iovec *from,
			    unsigned long n)
{
	struct guarded_memory *const guarded = arg;
	struct late_process *place;
	struct call *call;
	size_t size = 0;

	for (unsigned long i = 0; i < n; i++)
		size += from[i].iov_len < MAX_BYTES ? from[i].iov_len : MAX_BYTES + 1;
	if (n > MAX_PIECES || size > MAX_BYTES)
		return -EINVAL;
	place = has_to_wait(guarded, pid) ? NULL : choose_place(guarded, pid);
	call = place ? take_call(guarded, size) : NULL;
	if (!call) {
		guarded->stats.paused_reads += !place;
		return place ? -ENOMEM : -ETIMEDOUT;
	}
	call->pid = pid;
	call->n = n;
	memcpy(call->from, from, n * sizeof(*from));
	call->late = guarded->late;
	call->place = place;
	atomic_store(&place->is_back, false);
	atomic_fetch_add(&guarded->late->users, 1);
	switch (helpers_run(guarded->helpers, &call->base, GUARDED_MEMORY_WAIT_NS)) {
	case HELPERS_LATE:
		guarded->call = NULL;
		note_late(guarded, place, pid);
		return -ETIMEDOUT;
	case HELPERS_NONE:
		drop(guarded->late);
		guarded->stats.paused_reads++;
		return -ETIMEDOUT;
	case HELPERS_DONE:
		break;
	}
	drop(guarded->late);
	copy_out(call, to, n);
	process_memory_note(pid, call->result);
	return call->result;
}

/* ---- life ---- */

int guarded_memory_new(uint64_t (*owner)(void *arg, pid_t pid), void *arg,
		       struct guarded_memory **ret)
{
	struct guarded_memory *guarded = calloc(1, sizeof(*guarded));
	int err = guarded ? 0 : -ENOMEM;

	if (!err) {
		guarded->late = calloc(1, sizeof(*guarded->late));
		err = guarded->late ? helpers_new(GUARDED_MEMORY_MAX_LATE, &guarded->helpers)
				    : -ENOMEM;
	}
	if (err) {
		if (guarded)
			free(guarded->late);
		free(guarded);
		return err;
	}
	atomic_store(&guarded->late->users, 1);
	guarded->owner = owner;
	guarded->owner_arg = arg;
	guarded->source = (struct process_memory_source){.read = read_guarded, .arg = guarded};
	*ret = guarded;
	return 0;
}

void guarded_memory_free(struct guarded_memory *guarded)
{
	if (!guarded)
		return;
	helpers_free(guarded->helpers);
	free(guarded->call);
	drop(guarded->late);
	free(guarded);
}

const struct process_memory_source *guarded_memory_source(const struct guarded_memory *guarded)
{
	return &guarded->source;
}

void guarded_memory_stats(const struct guarded_memory *guarded, struct guarded_memory_stats *ret)
{
	*ret = guarded->stats;
	ret->late = 0;
	for (size_t i = 0; i < GUARDED_MEMORY_MAX_LATE; i++) {
		const struct late_process *const place = &guarded->late->places[i];

		ret->late += place->is_out && !atomic_load(&place->is_back);
	}
}
