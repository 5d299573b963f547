// SPDX-License-Identifier: Apache-2.0
/* Copies of samples in a list, see record_queue.h. */
#include "sample/record_queue.h"

#include "sample/sample_regs.h"

#include <stdlib.h>
#include <string.h>

/* The sample, and in words its registers, the kernel's chain and the stack. */
struct queued_record {
	struct queued_record *next;
	size_t bytes; /* of all of this */
	uint64_t group;
	struct record record;
	uint64_t words[];
};

static struct queued_record *copy_of(const struct record *record)
{
	const struct sample *const from = &record->sample;
	const size_t n_regs = from->regs ? SAMPLE_REGS_COUNT : 0;
	const size_t n_words = n_regs + from->kernel.len;
	const size_t bytes =
		sizeof(struct queued_record) + n_words * sizeof(uint64_t) + from->stack_len;
	struct queued_record *const queued = malloc(bytes);
	struct sample *to;

	if (!queued)
		return NULL;
	queued->next = NULL;
	queued->bytes = bytes;
	queued->record = *record;
	to = &queued->record.sample;
	if (n_regs) {
		memcpy(queued->words, from->regs, n_regs * sizeof(uint64_t));
		to->regs = queued->words;
	}
	if (from->kernel.len) {
		memcpy(queued->words + n_regs, from->kernel.addrs,
		       from->kernel.len * sizeof(uint64_t));
		to->kernel.addrs = queued->words + n_regs;
	}
	if (from->stack_len) {
		memcpy(queued->words + n_words, from->stack, from->stack_len);
		to->stack = (const uint8_t *)(queued->words + n_words);
	}
	to->user = (struct sample_chain){0};
	return queued;
}

static size_t bytes_of(const struct record_queue *queue, uint64_t group)
{
	return (uintptr_t)map64_find(&queue->groups, group);
}

/* False: there is no memory. */
static bool set_bytes(struct record_queue *queue, uint64_t group, size_t bytes)
{
	if (bytes > 0)
		return map64_put(&queue->groups, group, (void *)(uintptr_t)bytes) == 0;
	map64_remove(&queue->groups, group);
	return true;
}

static bool has_room(const struct record_queue *queue, uint64_t group, size_t n_groups)
{
	const size_t half = queue->max_bytes / 2;

	if (n_groups <= 1)
		return queue->bytes < queue->max_bytes;
	return queue->bytes < half || bytes_of(queue, group) < half / n_groups;
}

bool record_queue_add(struct record_queue *queue, const struct record *record, uint64_t group,
		      size_t n_groups)
{
	struct queued_record *const queued =
		has_room(queue, group, n_groups) ? copy_of(record) : NULL;

	if (!queued)
		return false;
	queued->group = group;
	if (!set_bytes(queue, group, bytes_of(queue, group) + queued->bytes)) {
		free(queued);
		return false;
	}
	if (queue->last)
		queue->last->next = queued;
	else
		queue->first = queued;
	queue->last = queued;
	queue->bytes += queued->bytes;
	return true;
}

void record_queue_take(struct record_queue *queue, size_t most, struct record_queue *ret)
{
	struct queued_record *last = NULL, *next = queue->first;
	size_t bytes = 0;

	for (size_t i = 0; i < most && next; i++) {
		last = next;
		bytes += next->bytes;
		set_bytes(queue, next->group, bytes_of(queue, next->group) - next->bytes);
		next = next->next;
	}
	*ret = (struct record_queue){
		.first = last ? queue->first : NULL, .last = last, .bytes = bytes};
	if (last)
		last->next = NULL;
	queue->first = next;
	queue->last = next ? queue->last : NULL;
	queue->bytes -= bytes;
}

void record_queue_drain(struct record_queue *queue,
			void (*fn)(void *arg, const struct record *record), void *arg)
{
	while (queue->first) {
		struct queued_record *const queued = queue->first;

		queue->first = queued->next;
		fn(arg, &queued->record);
		free(queued);
	}
	map64_fini(&queue->groups);
	*queue = (struct record_queue){.max_bytes = queue->max_bytes};
}

static void ignore(void *arg, const struct record *record)
{
	(void)arg;
	(void)record;
}

void record_queue_fini(struct record_queue *queue)
{
	record_queue_drain(queue, ignore, NULL);
}
