// SPDX-License-Identifier: Apache-2.0
/*
 * A binary heap of copied records, see hold.h. A copy is one block: the record, then the data that
 * its pointers point at.
 */
#include "sample/hold.h"

#include "base/array.h"
#include "guard/heap_bytes.h"
#include "sample/sample_regs.h"

#include <stdlib.h>
#include <string.h>

struct held {
	uint64_t arrival;
	size_t bytes;
	struct record record;
	uint64_t extra[]; /* call chain, registers, snapshot; or a text */
};

static bool is_before(const struct held *a, const struct held *b)
{
	if (a->record.time_ns != b->record.time_ns)
		return a->record.time_ns < b->record.time_ns;
	return a->arrival < b->arrival;
}

static size_t regs_bytes(const struct sample *sample)
{
	return sample->regs ? SAMPLE_REGS_COUNT * sizeof(*sample->regs) : 0;
}

static size_t chain_bytes(const struct sample_chain *chain)
{
	return chain->len * sizeof(*chain->addrs);
}

static size_t extra_bytes(const struct record *record)
{
	switch (record->kind) {
	case RECORD_SAMPLE:
		return chain_bytes(&record->sample.kernel) + chain_bytes(&record->sample.user) +
		       regs_bytes(&record->sample) + record->sample.stack_len;
	case RECORD_MMAP:
		return strlen(record->mmap.path) + 1;
	case RECORD_KSYMBOL:
		return strlen(record->ksymbol.name) + 1;
	default:
		return 0;
	}
}

/* Copies the addresses to to. Returns the place behind them. */
static uint64_t *copy_chain(uint64_t *to, struct sample_chain *chain)
{
	if (chain->len > 0)
		chain->addrs = memcpy(to, chain->addrs, chain_bytes(chain));
	else
		chain->addrs = NULL;
	return to + chain->len;
}

/*
 * Copies the sample's data. The snapshot is last, because its length need not be a multiple of 8.
 */
static void copy_sample(uint64_t *to, struct sample *sample)
{
	const size_t n_regs = regs_bytes(sample) / sizeof(*to);
	uint64_t *const regs = copy_chain(copy_chain(to, &sample->kernel), &sample->user);
	uint64_t *const stack = regs + n_regs;

	if (n_regs > 0)
		sample->regs = memcpy(regs, sample->regs, n_regs * sizeof(*regs));
	if (sample->stack_len > 0)
		sample->stack = memcpy(stack, sample->stack, sample->stack_len);
}

static void copy_extra(struct held *held, size_t bytes)
{
	struct record *record = &held->record;

	switch (record->kind) {
	case RECORD_SAMPLE:
		copy_sample(held->extra, &record->sample);
		break;
	case RECORD_MMAP:
		record->mmap.path = memcpy(held->extra, record->mmap.path, bytes);
		break;
	case RECORD_KSYMBOL:
		record->ksymbol.name = memcpy(held->extra, record->ksymbol.name, bytes);
		break;
	default:
		break;
	}
}

static size_t max_of(const struct hold *hold)
{
	return hold->max_bytes ? hold->max_bytes : HOLD_MAX_BYTES;
}

static bool make_room(struct hold *hold)
{
	return ARRAY_RESERVE(hold->heap, hold->size, hold->count + 1) == 0;
}

/* Returns the record, or lean without the snapshot if held snapshots take too much memory. */
static const struct record *without_stack(struct hold *hold, const struct record *record,
					  struct record *lean)
{
	if (record->kind != RECORD_SAMPLE || record->sample.stack_len == 0 ||
	    hold->bytes + extra_bytes(record) <= max_of(hold) / 4 * 3)
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
	hold->samples += held->record.kind == RECORD_SAMPLE;
	for (i = hold->count++; i > 0 && is_before(held, hold->heap[(i - 1) / 2]); i = (i - 1) / 2)
		hold->heap[i] = hold->heap[(i - 1) / 2];
	hold->heap[i] = held;
}

static void count_dropped(struct hold *hold, const struct record *record)
{
	hold->dropped++;
	hold->dropped_samples += record->kind == RECORD_SAMPLE;
}

static void add(struct hold *hold, const struct record *record)
{
	const size_t extra = extra_bytes(record);
	const size_t bytes = heap_bytes(sizeof(struct held) + extra);
	struct held *held = NULL;

	if (hold->bytes + bytes <= max_of(hold) && make_room(hold))
		held = malloc(sizeof(*held) + extra);
	if (!held) {
		count_dropped(hold, record);
		return;
	}
	held->arrival = hold->arrivals++;
	held->bytes = bytes;
	held->record = *record;
	copy_extra(held, extra);
	put(hold, held);
}

void hold_add(struct hold *hold, const struct record *record)
{
	struct record lean;

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

uint64_t hold_oldest_ns(const struct hold *hold)
{
	return hold->count ? hold->heap[0]->record.time_ns : UINT64_MAX;
}

const struct record *hold_next(struct hold *hold, uint64_t until_ns)
{
	free(hold->last);
	hold->last = NULL;
	if (hold->count == 0 || hold->heap[0]->record.time_ns > until_ns)
		return NULL;
	hold->last = take_first(hold);
	hold->bytes -= hold->last->bytes;
	hold->samples -= hold->last->record.kind == RECORD_SAMPLE;
	return &hold->last->record;
}

void hold_put_back(struct hold *hold)
{
	struct held *held = hold->last;

	hold->last = NULL;
	if (held && make_room(hold)) {
		put(hold, held);
	} else if (held) {
		count_dropped(hold, &held->record);
		free(held);
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
