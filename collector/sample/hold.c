// SPDX-License-Identifier: Apache-2.0
/*
 * A binary heap of copied records, see hold.h. A copy is one block: the record, then the data that
 * its pointers point at.
 */
#include "sample/hold.h"

#include "sample/perf_regs.h"

#include <stdlib.h>
#include <string.h>

struct held {
	uint64_t arrival;
	size_t bytes;
	struct perf_record record;
	uint64_t extra[]; /* call chain, registers, snapshot; or a text */
};

static bool is_before(const struct held *a, const struct held *b)
{
	if (a->record.time_ns != b->record.time_ns)
		return a->record.time_ns < b->record.time_ns;
	return a->arrival < b->arrival;
}

static size_t regs_bytes(const struct perf_sample *sample)
{
	return sample->regs ? SAMPLER_REGS_COUNT * sizeof(*sample->regs) : 0;
}

static size_t extra_bytes(const struct perf_record *record)
{
	switch (record->kind) {
	case PERF_SAMPLE:
		return record->sample.chain_len * sizeof(uint64_t) + regs_bytes(&record->sample) +
		       record->sample.stack_len;
	case PERF_MMAP:
		return strlen(record->mmap.path) + 1;
	case PERF_KSYMBOL:
		return strlen(record->ksymbol.name) + 1;
	default:
		return 0;
	}
}

/*
 * Copies the sample's data. The snapshot is last, because its length need not be a multiple of 8.
 */
static void copy_sample(uint64_t *to, struct perf_sample *sample)
{
	const size_t n_regs = regs_bytes(sample) / sizeof(*to);
	uint64_t *regs = to + sample->chain_len, *stack = regs + n_regs;

	if (sample->chain_len > 0)
		memcpy(to, sample->chain, sample->chain_len * sizeof(*to));
	sample->chain = to;
	if (n_regs > 0)
		sample->regs = memcpy(regs, sample->regs, n_regs * sizeof(*regs));
	if (sample->stack_len > 0)
		sample->stack = memcpy(stack, sample->stack, sample->stack_len);
}

static void copy_extra(struct held *held, size_t bytes)
{
	struct perf_record *record = &held->record;

	switch (record->kind) {
	case PERF_SAMPLE:
		copy_sample(held->extra, &record->sample);
		break;
	case PERF_MMAP:
		record->mmap.path = memcpy(held->extra, record->mmap.path, bytes);
		break;
	case PERF_KSYMBOL:
		record->ksymbol.name = memcpy(held->extra, record->ksymbol.name, bytes);
		break;
	default:
		break;
	}
}

static bool make_room(struct hold *hold)
{
	const size_t size = hold->size ? hold->size * 2 : 256;
	struct held **heap;

	if (hold->count < hold->size)
		return true;
	heap = realloc(hold->heap, size * sizeof(*heap));
	if (!heap)
		return false;
	hold->heap = heap;
	hold->size = size;
	return true;
}

/* Returns the record, or lean without the snapshot if held snapshots take too much memory. */
static const struct perf_record *without_stack(struct hold *hold, const struct perf_record *record,
					       struct perf_record *lean)
{
	if (record->kind != PERF_SAMPLE || record->sample.stack_len == 0 ||
	    hold->bytes + extra_bytes(record) <= HOLD_STACKS_BYTES)
		return record;
	hold->stacks_left_out++;
	*lean = *record;
	lean->sample.stack = NULL;
	lean->sample.stack_len = 0;
	return lean;
}

/* Puts held into the heap, which must have room. */
static void put(struct hold *hold, struct held *held)
{
	size_t i;

	hold->bytes += held->bytes;
	for (i = hold->count++; i > 0 && is_before(held, hold->heap[(i - 1) / 2]); i = (i - 1) / 2)
		hold->heap[i] = hold->heap[(i - 1) / 2];
	hold->heap[i] = held;
}

static void add(struct hold *hold, const struct perf_record *record)
{
	const size_t extra = extra_bytes(record);
	const size_t bytes = sizeof(struct held) + extra;
	struct held *held = NULL;

	if (hold->bytes + bytes <= HOLD_MAX_BYTES && make_room(hold))
		held = malloc(bytes);
	if (!held) {
		hold->dropped++;
		return;
	}
	held->arrival = hold->arrivals++;
	held->bytes = bytes;
	held->record = *record;
	copy_extra(held, extra);
	put(hold, held);
}

void hold_add(struct hold *hold, const struct perf_record *record)
{
	struct perf_record lean;

	add(hold, without_stack(hold, record, &lean));
}

static struct held *take_first(struct hold *hold)
{
	struct held *first = hold->heap[0];
	struct held *last = hold->heap[--hold->count];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= hold->count)
			break;
		if (child + 1 < hold->count && is_before(hold->heap[child + 1], hold->heap[child]))
			child++;
		if (!is_before(hold->heap[child], last))
			break;
		hold->heap[i] = hold->heap[child];
		i = child;
	}
	hold->heap[i] = last;
	return first;
}

const struct perf_record *hold_next(struct hold *hold, uint64_t until_ns)
{
	free(hold->last);
	hold->last = NULL;
	if (hold->count == 0 || hold->heap[0]->record.time_ns > until_ns)
		return NULL;
	hold->last = take_first(hold);
	hold->bytes -= hold->last->bytes;
	return &hold->last->record;
}

void hold_put_back(struct hold *hold)
{
	struct held *held = hold->last;

	hold->last = NULL;
	if (held && make_room(hold)) {
		put(hold, held);
	} else if (held) {
		free(held);
		hold->dropped++;
	}
}

void hold_fini(struct hold *hold)
{
	for (size_t i = 0; i < hold->count; i++)
		free(hold->heap[i]);
	free(hold->heap);
	free(hold->last);
	*hold = (struct hold){0};
}
