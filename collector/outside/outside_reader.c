// SPDX-License-Identifier: Apache-2.0
/* Has steps of a reading made by helpers, see outside_reader.h. */
#include "outside/outside_reader.h"

#include "base/clock.h"
#include "base/guarded.h"
#include "memory/process_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* What a step uses. The reader and a step hold it once each, and the last one frees it. */
struct shared {
	atomic_uint holders;
	atomic_bool is_back;
	atomic_ulong turns;
	pid_t pid;
	struct vm_reading *reading;
	struct vm_reading_now now;
	uint32_t tids[THREAD_NAMES_MAX]; /* of now */
	bool has_texts;			 /* the program's texts have been told */
	struct outside_told told;
};

struct outside_reader {
	struct shared *shared;
	bool is_out;
};

struct step_call {
	struct guarded_call base;
	struct shared *shared;
};

static void drop(struct shared *shared)
{
	if (atomic_fetch_sub(&shared->holders, 1) > 1)
		return;
	vm_reading_free(shared->reading);
	free(shared);
}

static ssize_t read_memory(void *arg, const struct iovec *to, const struct iovec *from,
			   unsigned long n)
{
	struct shared *const shared = arg;
	ssize_t got;

	atomic_fetch_add(&shared->turns, 1);
	got = process_memory_read_plain(shared->pid, to, n, from, n);
	atomic_fetch_add(&shared->turns, 1);
	return got;
}

static void read_texts(struct shared *shared, struct program_texts *texts)
{
	atomic_fetch_add(&shared->turns, 1);
	program_texts_read(shared->pid, texts);
	atomic_fetch_add(&shared->turns, 1);
	shared->told.is_cut = texts->is_cut;
}

static void step(struct shared *shared, struct vm_memory *memory)
{
	struct outside_told *const told = &shared->told;

	memory->read = read_memory;
	memory->arg = shared;
	told->err = vm_reading_step(shared->reading, memory, &shared->now, &told->told);
	vm_reading_stats(shared->reading, &told->stats);
	told->bytes = vm_reading_bytes(shared->reading);
}

static void run(struct guarded_call *base)
{
	struct shared *const shared = ((struct step_call *)base)->shared;
	struct vm_memory *const memory = calloc(1, sizeof(*memory));
	struct program_texts *const texts = shared->has_texts ? NULL : calloc(1, sizeof(*texts));
	const uint64_t began_ns = clock_thread_ns();

	atomic_fetch_add(&shared->turns, 1); /* a helper has it */
	shared->told = (struct outside_told){.err = -ENOMEM};
	if (texts)
		read_texts(shared, texts);
	shared->now.texts = texts;
	if (memory && (texts || shared->has_texts)) {
		shared->has_texts = true;
		step(shared, memory);
	}
	free(texts);
	free(memory);
	shared->told.took_ns = clock_thread_ns() - began_ns;
	atomic_store(&shared->is_back, true);
}

static void free_call(struct guarded_call *base)
{
	drop(((struct step_call *)base)->shared);
	free(base);
}

int outside_reader_new(pid_t pid, const struct vm_image_mapping *libjvm, bool is_beside,
		       struct outside_reader **ret)
{
	struct outside_reader *const reader = calloc(1, sizeof(*reader));
	struct shared *const shared = reader ? calloc(1, sizeof(*shared)) : NULL;

	if (!shared || vm_reading_new(libjvm, is_beside, &shared->reading) < 0) {
		free(shared);
		free(reader);
		return -ENOMEM;
	}
	shared->pid = pid;
	atomic_store(&shared->holders, 1);
	reader->shared = shared;
	*ret = reader;
	return 0;
}

void outside_reader_free(struct outside_reader *reader)
{
	if (reader)
		drop(reader->shared);
	free(reader);
}

int outside_reader_start(struct outside_reader *reader, const struct vm_reading_now *now)
{
	struct step_call *call;

	if (reader->is_out)
		return 0;
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	call->base = (struct guarded_call){.run = run, .free = free_call};
	call->shared = reader->shared;
	reader->shared->now = *now;
	reader->shared->now.tids = reader->shared->tids;
	reader->shared->now.n_tids =
		now->n_tids < THREAD_NAMES_MAX ? now->n_tids : THREAD_NAMES_MAX;
	for (size_t i = 0; i < reader->shared->now.n_tids; i++)
		reader->shared->tids[i] = now->tids[i];
	atomic_store(&reader->shared->is_back, false);
	atomic_fetch_or(&reader->shared->turns, 1); /* no helper has it yet */
	atomic_fetch_add(&reader->shared->holders, 1);
	reader->is_out = true;
	guarded_leave(reader->shared->pid, &call->base);
	return 0;
}

bool outside_reader_is_out(const struct outside_reader *reader)
{
	return reader->is_out;
}

unsigned long outside_reader_turns(const struct outside_reader *reader)
{
	return atomic_load(&reader->shared->turns);
}

bool outside_reader_take(struct outside_reader *reader, struct outside_told *ret)
{
	if (!reader->is_out || !atomic_load(&reader->shared->is_back))
		return false;
	reader->is_out = false;
	*ret = reader->shared->told;
	return true;
}
