// SPDX-License-Identifier: Apache-2.0
/* Sorts a timeline's entries by thread, see by_thread.h. */
#include "render/by_thread.h"

#include "base/cleanup.h"
#include "base/map64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of each row the first row of the same thread. rows has room for all. -ENOMEM.
 */
static int find_threads(const struct timeline *timeline, uint32_t *rows)
{
	_cleanup_(map64_fini) struct map64 numbers = {0};

	for (size_t i = 0; i < timeline->n_threads; i++) {
		const struct timeline_thread *const thread = &timeline->threads[i];
		const uint64_t key = (uint64_t)thread->process << 32 | (uint32_t)thread->tid;
		const uintptr_t known = (uintptr_t)map64_find(&numbers, key);

		rows[i] = known ? (uint32_t)(known - 1) : (uint32_t)i;
		if (!known && map64_put(&numbers, key, (void *)(uintptr_t)(i + 1)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int join_rows(struct by_thread *by_thread, const struct timeline *timeline)
{
	_cleanup_free_ uint32_t *rows = malloc(((size_t)by_thread->threads + 1) * sizeof(*rows));
	const uint32_t n = by_thread->first[by_thread->threads];

	if (!rows || find_threads(timeline, rows) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		by_thread->entries[i].thread = rows[by_thread->entries[i].thread];
	return 0;
}

/*
 * An entry with a greater weight than the profile has left is dropped, so that formats add up to
 * the profile.
 */
static void count_rest(struct by_thread *by_thread, const struct profile *profile,
		       const struct timeline *timeline)
{
	for (uint32_t id = 0; id < profile->count; id++)
		by_thread->rest[id] = profile->nodes[id].self;
	for (size_t i = 0; timeline && i < timeline->n_entries; i++) {
		const struct timeline_entry *const entry = &timeline->entries[i];

		if (entry->node >= profile->count || entry->thread >= by_thread->threads ||
		    by_thread->rest[entry->node] < entry->weight)
			continue;
		by_thread->rest[entry->node] -= entry->weight;
		by_thread->entries[by_thread->first[by_thread->threads]++] = *entry;
	}
	for (uint32_t id = 0; id < profile->count; id++)
		by_thread->has_rest |= by_thread->rest[id] > 0;
}

static int by_time(const void *a, const void *b)
{
	const struct timeline_entry *const x = a;
	const struct timeline_entry *const y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int by_node(const void *a, const void *b)
{
	const struct timeline_entry *const x = a;
	const struct timeline_entry *const y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int by_moment(const void *a, const void *b)
{
	const struct timeline_entry *const x = a;
	const struct timeline_entry *const y = b;

	return x->bucket != y->bucket ? (x->bucket < y->bucket ? -1 : 1) : by_node(a, b);
}

/* Returns how many entries are left. */
static uint32_t join_equal(struct timeline_entry *entries, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct timeline_entry *const into = kept ? &entries[kept - 1] : NULL;
		struct timeline_entry entry = entries[i];

		entry.bucket = 0;
		if (into && into->thread == entry.thread && into->node == entry.node &&
		    into->weight <= UINT32_MAX - entry.weight)
			into->weight += entry.weight;
		else
			entries[kept++] = entry;
	}
	return kept;
}

static void find_first(struct by_thread *by_thread, uint32_t n)
{
	uint32_t i = 0;

	for (uint32_t thread = 0; thread <= by_thread->threads; thread++) {
		while (i < n && by_thread->entries[i].thread < thread)
			i++;
		by_thread->first[thread] = i;
	}
}

static int (*const orders[])(const void *a, const void *b) = {
	[BY_THREAD_TIME] = by_time,
	[BY_THREAD_NODE] = by_node,
	[BY_THREAD_ROW] = by_node,
	[BY_THREAD_MOMENT] = by_moment,
};

int by_thread_init(struct by_thread *by_thread, const struct profile *profile,
		   const struct timeline *timeline, enum by_thread_order order)
{
	const size_t n_entries = timeline ? timeline->n_entries : 0;
	uint32_t n;

	*by_thread = (struct by_thread){.threads = timeline ? (uint32_t)timeline->n_threads : 0};
	by_thread->entries = malloc((n_entries + 1) * sizeof(*by_thread->entries));
	by_thread->first = calloc((size_t)by_thread->threads + 1, sizeof(*by_thread->first));
	by_thread->rest = malloc(profile->count * sizeof(*by_thread->rest));
	if (!by_thread->entries || !by_thread->first || !by_thread->rest) {
		by_thread_fini(by_thread);
		return -ENOMEM;
	}
	count_rest(by_thread, profile, timeline);
	if (timeline && (order == BY_THREAD_TIME || order == BY_THREAD_NODE) &&
	    join_rows(by_thread, timeline) < 0) {
		by_thread_fini(by_thread);
		return -ENOMEM;
	}
	n = by_thread->first[by_thread->threads];
	qsort(by_thread->entries, n, sizeof(*by_thread->entries), orders[order]);
	if (order == BY_THREAD_NODE || order == BY_THREAD_ROW)
		n = join_equal(by_thread->entries, n);
	if (order != BY_THREAD_MOMENT)
		find_first(by_thread, n);
	return 0;
}

void by_thread_fini(struct by_thread *by_thread)
{
	free(by_thread->entries);
	free(by_thread->first);
	free(by_thread->rest);
	*by_thread = (struct by_thread){0};
}
