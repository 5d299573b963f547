// SPDX-License-Identifier: Apache-2.0
/* Lists the samples of all kinds and sorts them, see joined.h. */
#include "render/joined.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "render/by_thread.h"

#include <errno.h>
#include <stdlib.h>

static int add_sample(struct joined *joined, const struct joined_sample *sample)
{
	if (ARRAY_RESERVE(joined->samples, joined->samples_size, joined->n_samples + 1) < 0)
		return -ENOMEM;
	joined->samples[joined->n_samples++] = *sample;
	return 0;
}

static int number_text(struct joined *joined, const char *text, uint32_t *ret)
{
	const char *const kept = intern_add_str(&joined->texts, text ? text : "");
	const uint64_t key = (uint64_t)(uintptr_t)kept;
	uintptr_t number;

	if (!kept)
		return -ENOMEM;
	number = (uintptr_t)map64_find(&joined->text_numbers, key);
	if (!number) {
		number = joined->text_numbers.count + 1;
		if (map64_put(&joined->text_numbers, key, (void *)number) < 0)
			return -ENOMEM;
	}
	*ret = (uint32_t)number;
	return 0;
}

static int number_process(struct joined *joined, const struct timeline_process *process,
			  uint32_t *ret)
{
	struct tuple tuple = {{[0] = (uint32_t)process->pid}};

	if (number_text(joined, process->title, &tuple.v[1]) < 0 ||
	    number_text(joined, process->container, &tuple.v[2]) < 0 ||
	    number_text(joined, process->pod, &tuple.v[3]) < 0)
		return -ENOMEM;
	*ret = tuples_add(&joined->processes, tuple);
	return *ret == TUPLES_NONE ? -ENOMEM : 0;
}

static int keep_thread(struct joined *joined, uint32_t number, const struct joined_thread *thread)
{
	if (ARRAY_RESERVE(joined->threads, joined->threads_size, number + 1) < 0)
		return -ENOMEM;
	joined->threads[number] = *thread;
	return 0;
}

static int number_thread(struct joined *joined, const struct timeline *timeline, uint32_t row,
			 uint32_t *ret)
{
	const struct timeline_thread *const thread = &timeline->threads[row];
	const struct joined_thread joined_thread = {thread, &timeline->processes[thread->process]};
	struct tuple tuple = {{[1] = (uint32_t)thread->tid}};
	const uint32_t before = joined->rows.count;

	if (number_process(joined, joined_thread.process, &tuple.v[0]) < 0 ||
	    number_text(joined, thread->name, &tuple.v[2]) < 0 ||
	    number_text(joined, thread->labels, &tuple.v[3]) < 0)
		return -ENOMEM;
	*ret = tuples_add(&joined->rows, tuple);
	if (*ret == TUPLES_NONE)
		return -ENOMEM;
	return *ret == before ? keep_thread(joined, *ret, &joined_thread) : 0;
}

static int add_thread(struct joined *joined, const struct by_thread *by_thread, uint32_t row,
		      struct joined_sample sample, const uint32_t *stacks)
{
	int rc = 0;

	for (uint32_t i = by_thread->first[row]; rc == 0 && i < by_thread->first[row + 1]; i++) {
		sample.stack = stacks[by_thread->entries[i].node];
		sample.weight = by_thread->entries[i].weight;
		rc = add_sample(joined, &sample);
	}
	return rc;
}

static int add_rest(struct joined *joined, const struct by_thread *by_thread,
		    const struct profile *profile, struct joined_sample sample,
		    const uint32_t *stacks)
{
	int rc = 0;

	sample.thread = JOINED_NO_THREAD;
	for (uint32_t id = 0; rc == 0 && id < profile->count; id++) {
		sample.stack = stacks[id];
		sample.weight = by_thread->rest[id];
		if (sample.weight > 0)
			rc = add_sample(joined, &sample);
	}
	return rc;
}

static int add_part(struct joined *joined, const struct profile_part *part, uint32_t number,
		    const uint32_t *stacks)
{
	_cleanup_(by_thread_fini) struct by_thread by_thread = {0};
	struct joined_sample sample = {.part = number};
	int rc = by_thread_init(&by_thread, part->profile, part->timeline, BY_THREAD_ROW);

	for (uint32_t row = 0; rc == 0 && row < by_thread.threads; row++) {
		if (by_thread.first[row] == by_thread.first[row + 1])
			continue;
		rc = number_thread(joined, part->timeline, row, &sample.thread);
		if (rc == 0)
			rc = add_thread(joined, &by_thread, row, sample, stacks);
	}
	return rc < 0 ? rc : add_rest(joined, &by_thread, part->profile, sample, stacks);
}

static int order_of(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int by_thread_and_stack(const void *a, const void *b)
{
	const struct joined_sample *const x = a;
	const struct joined_sample *const y = b;
	int order = order_of(x->thread, y->thread);

	if (order == 0)
		order = order_of(x->stack, y->stack);
	return order ? order : order_of(x->part, y->part);
}

int joined_init(struct joined *joined, const struct profile_part *parts, size_t n,
		uint32_t *const *stacks)
{
	int rc = 0;

	*joined = (struct joined){0};
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = add_part(joined, &parts[i], (uint32_t)i, stacks[i]);
	if (rc == 0 && joined->n_samples > 0)
		qsort(joined->samples, joined->n_samples, sizeof(*joined->samples),
		      by_thread_and_stack);
	return rc;
}

void joined_fini(struct joined *joined)
{
	free(joined->samples);
	free(joined->threads);
	tuples_fini(&joined->processes);
	tuples_fini(&joined->rows);
	intern_fini(&joined->texts);
	map64_fini(&joined->text_numbers);
	*joined = (struct joined){0};
}
