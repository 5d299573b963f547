// SPDX-License-Identifier: Apache-2.0
/*
 * Time and thread of samples, see timeline.h. Entries are appended. They are sorted, and equal
 * entries joined in place, only when their array is full or a caller asks for it. If joining does
 * not free a quarter of the array's limit, buckets are doubled until it does or one bucket is left.
 */
#include "profile/timeline.h"

#include "base/array.h"
#include "container/place_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NO_NUMBER     UINT32_MAX
#define FIRST_ENTRIES 1024u

void timeline_init(struct timeline *timeline, size_t max_entries)
{
	*timeline = (struct timeline){
		.bucket_ns = TIMELINE_BUCKET_NS,
		.max_entries = max_entries ? max_entries : TIMELINE_MAX_ENTRIES,
	};
}

size_t timeline_bytes(const struct timeline *timeline)
{
	return timeline->entries_size * sizeof(*timeline->entries) +
	       timeline->threads_size * sizeof(*timeline->threads) +
	       timeline->processes_size * sizeof(*timeline->processes) +
	       map64_bytes(&timeline->process_numbers) + map64_bytes(&timeline->thread_numbers) +
	       map64_bytes(&timeline->label_numbers) + intern_bytes(&timeline->texts);
}

void timeline_fini(struct timeline *timeline)
{
	intern_fini(&timeline->texts);
	map64_fini(&timeline->process_numbers);
	map64_fini(&timeline->thread_numbers);
	map64_fini(&timeline->label_numbers);
	free(timeline->processes);
	free(timeline->threads);
	free(timeline->entries);
	*timeline = (struct timeline){0};
}

/* Reads a number from a map. Numbers are stored + 1, because map64 cannot store NULL. */
static uint32_t number_at(const struct map64 *map, uint64_t key)
{
	return (uint32_t)(uintptr_t)map64_find(map, key) - 1; /* 0 - 1 is NO_NUMBER */
}

static int keep_number(struct map64 *map, uint64_t key, uint32_t number)
{
	return map64_put(map, key, (void *)((uintptr_t)number + 1));
}

/*
 * Replaces *kept by text. Without a text or without memory *kept stays, or becomes "" if it is
 * NULL.
 */
static void keep_text(struct timeline *timeline, const char **kept, const char *text)
{
	const char *added;

	if (!*kept)
		*kept = "";
	if (!text || !*text || strcmp(*kept, text) == 0)
		return;
	added = timeline->texts.arena.total_bytes < TIMELINE_MAX_TEXT_BYTES
			? intern_add_str(&timeline->texts, text)
			: NULL;
	if (added)
		*kept = added;
	else
		timeline->lost_names++;
}

static uint32_t add_process(struct timeline *timeline, pid_t pid)
{
	const uint32_t number = (uint32_t)timeline->n_processes;

	if (number >= TIMELINE_MAX_PROCESSES || timeline->is_closed)
		return NO_NUMBER;
	if (ARRAY_RESERVE(timeline->processes, timeline->processes_size,
			  timeline->n_processes + 1) < 0 ||
	    keep_number(&timeline->process_numbers, (uint64_t)pid, number) < 0)
		return NO_NUMBER;
	timeline->processes[number] = (struct timeline_process){.pid = pid};
	timeline->n_processes++;
	return number;
}

uint32_t timeline_process(struct timeline *timeline, const struct timeline_process *process)
{
	uint32_t number = number_at(&timeline->process_numbers, (uint64_t)process->pid);
	struct timeline_process *row;

	if (number == NO_NUMBER)
		number = add_process(timeline, process->pid);
	if (number == NO_NUMBER)
		return NO_NUMBER;
	row = &timeline->processes[number];
	keep_text(timeline, &row->title, process->title);
	keep_text(timeline, &row->container, process->container);
	keep_text(timeline, &row->runtime, process->runtime);
	keep_text(timeline, &row->pod, process->pod);
	keep_text(timeline, &row->container_name, process->container_name);
	keep_text(timeline, &row->name_space, process->name_space);
	keep_text(timeline, &row->image, process->image);
	keep_text(timeline, &row->service, process->service);
	return number;
}

#define TID_BITS     31
#define PROCESS_BITS 12
_Static_assert(TIMELINE_MAX_PROCESSES <= 1u << PROCESS_BITS, "a process's number has room");
_Static_assert(TIMELINE_MAX_THREADS < 1u << (64 - TID_BITS - PROCESS_BITS), "labels have room");

/* Labels in the timeline's texts, and their number, from 1 on; 0: there are none. */
struct kept_labels {
	const char *text;
	uint64_t number;
};

static uint64_t thread_key(uint32_t process, pid_t tid, const struct kept_labels *labels)
{
	return labels->number << (PROCESS_BITS + TID_BITS) | (uint64_t)process << TID_BITS |
	       ((uint32_t)tid & ((1u << TID_BITS) - 1));
}

static struct kept_labels keep_labels(struct timeline *timeline, const char *labels)
{
	struct kept_labels kept = {.text = ""};
	struct map64 *const numbers = &timeline->label_numbers;

	keep_text(timeline, &kept.text, labels);
	if (kept.text[0] == '\0')
		return kept;
	kept.number = (uintptr_t)map64_find(numbers, (uint64_t)(uintptr_t)kept.text);
	if (kept.number)
		return kept;
	kept.number = numbers->count + 1;
	if (kept.number <= TIMELINE_MAX_THREADS &&
	    map64_put(numbers, (uint64_t)(uintptr_t)kept.text, (void *)(uintptr_t)kept.number) == 0)
		return kept;
	timeline->lost_names++;
	return (struct kept_labels){.text = ""};
}

/* Adds a row: of a thread that is new, or behind a thread's rows, of which last is the last. */
static uint32_t add_row(struct timeline *timeline, const struct timeline_thread *row,
			const struct kept_labels *labels, uint32_t last)
{
	const uint32_t number = (uint32_t)timeline->n_threads;
	struct timeline_thread *rows;

	if (ARRAY_RESERVE(timeline->threads, timeline->threads_size, timeline->n_threads + 1) < 0)
		return NO_NUMBER;
	if (last == NO_NUMBER &&
	    keep_number(&timeline->thread_numbers, thread_key(row->process, row->tid, labels),
			number) < 0)
		return NO_NUMBER;
	rows = timeline->threads;
	rows[number] = (struct timeline_thread){
		.process = row->process,
		.tid = row->tid,
		.name = "",
		.labels = labels->text,
		.first = last == NO_NUMBER ? number : rows[last].first,
		.latest = number,
	};
	if (last != NO_NUMBER)
		rows[last].next = number;
	timeline->n_threads++;
	return number;
}

static struct place_name place_name(const struct timeline_process *process)
{
	return (struct place_name){.pod = process->pod,
				   .container = process->container_name,
				   .service = process->service,
				   .program = process->title};
}

const char *timeline_process_place(const struct timeline_process *process)
{
	const struct place_name name = place_name(process);

	return place_name_of(&name);
}

void timeline_process_write_called(const struct timeline_process *process, char *ret, size_t size)
{
	const struct place_name name = place_name(process);

	place_name_write(&name, ret, size);
}

/*
 * The row of the thread, as far as there is one. Labels that are new are left out where half of all
 * rows have been given away, so that threads have the other half.
 */
static uint32_t find_row(struct timeline *timeline, const struct timeline_thread *thread,
			 struct kept_labels *labels)
{
	uint32_t number = number_at(&timeline->thread_numbers,
				    thread_key(thread->process, thread->tid, labels));

	if (number != NO_NUMBER || labels->number == 0 ||
	    (timeline->n_threads < TIMELINE_MAX_THREADS / 2 && !timeline->is_closed))
		return number;
	timeline->lost_names++;
	*labels = (struct kept_labels){.text = ""};
	return number_at(&timeline->thread_numbers,
			 thread_key(thread->process, thread->tid, labels));
}

static bool has_room_for_row(const struct timeline *timeline)
{
	return timeline->n_threads < TIMELINE_MAX_THREADS && !timeline->is_closed;
}

/* The row of the process's threads, and names of threads, for which there is no room. */
static uint32_t other_threads(struct timeline *timeline, uint32_t process,
			      const struct kept_labels *labels)
{
	const struct timeline_thread row = {.process = process};
	uint32_t number = number_at(&timeline->thread_numbers, thread_key(process, 0, labels));

	if (number == NO_NUMBER)
		number = add_row(timeline, &row, labels, NO_NUMBER);
	if (number != NO_NUMBER)
		keep_text(timeline, &timeline->threads[number].name, TIMELINE_OTHER_THREADS);
	return number;
}

/* Adds the thread's row, or one more; with one too many names that of the others. */
static uint32_t add_name(struct timeline *timeline, const struct timeline_thread *thread,
			 const struct kept_labels *labels, uint32_t last, unsigned names)
{
	uint32_t number;

	if (!has_room_for_row(timeline))
		return other_threads(timeline, thread->process, labels);
	number = add_row(timeline, thread, labels, last);
	if (number == NO_NUMBER)
		return NO_NUMBER;
	timeline->lost_names += names >= TIMELINE_MAX_NAMES;
	keep_text(timeline, &timeline->threads[number].name,
		  names < TIMELINE_MAX_NAMES ? thread->name : TIMELINE_OTHER_NAMES);
	return number;
}

/* The row of a thread that is known, whose last row has another name. */
static uint32_t find_or_add_name(struct timeline *timeline, const struct timeline_thread *thread,
				 const struct kept_labels *labels, uint32_t first)
{
	const struct timeline_thread *const rows = timeline->threads;
	uint32_t number = first;
	unsigned names = 1;

	while (strcmp(rows[number].name, thread->name) != 0 && rows[number].next) {
		number = rows[number].next;
		names++;
	}
	if (strcmp(rows[number].name, thread->name) == 0)
		return number;
	if (names > TIMELINE_MAX_NAMES) {
		timeline->lost_names++;
		return number; /* that of the other names, which came last */
	}
	return add_name(timeline, thread, labels, number, names);
}

/* Whether the row's samples are of that name, though less of it was known when they came. */
static bool takes_name(const struct timeline_thread *row, const struct timeline_thread *thread)
{
	return !row->name[0] || (thread->cut_name && strcmp(row->name, thread->cut_name) == 0);
}

uint32_t timeline_thread(struct timeline *timeline, const struct timeline_thread *thread)
{
	struct timeline_thread *row;
	struct kept_labels labels;
	uint32_t first, number;

	if (thread->process >= timeline->n_processes)
		return NO_NUMBER;
	labels = keep_labels(timeline, thread->labels);
	first = find_row(timeline, thread, &labels);
	if (first == NO_NUMBER)
		return add_name(timeline, thread, &labels, NO_NUMBER, 0);
	number = timeline->threads[first].latest;
	row = &timeline->threads[number];
	if (!thread->name || !thread->name[0] || strcmp(row->name, thread->name) == 0)
		return number;
	if (takes_name(row, thread))
		keep_text(timeline, &row->name, thread->name);
	else
		number = find_or_add_name(timeline, thread, &labels, first);
	if (number != NO_NUMBER && timeline->threads[number].first == first)
		timeline->threads[first].latest = number;
	return number;
}

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b)
{
	const struct timeline_entry *const x = a;
	const struct timeline_entry *const y = b;
	int order = compare(x->bucket, y->bucket);

	if (order == 0)
		order = compare(x->thread, y->thread);
	return order ? order : compare(x->node, y->node);
}

void timeline_sort(struct timeline *timeline)
{
	struct timeline_entry *const entries = timeline->entries;
	size_t kept = 0;

	if (timeline->n_entries < 2)
		return;
	qsort(entries, timeline->n_entries, sizeof(*entries), by_place);
	for (size_t i = 1; i < timeline->n_entries; i++) {
		if (by_place(&entries[kept], &entries[i]) == 0 &&
		    entries[i].weight <= UINT32_MAX - entries[kept].weight)
			entries[kept].weight += entries[i].weight;
		else
			entries[++kept] = entries[i];
	}
	timeline->n_entries = kept + 1;
}

static void double_buckets(struct timeline *timeline)
{
	timeline->bucket_ns *= 2;
	for (size_t i = 0; i < timeline->n_entries; i++)
		timeline->entries[i].bucket /= 2;
}

static uint32_t last_bucket(const struct timeline *timeline)
{
	uint32_t last = 0;

	for (size_t i = 0; i < timeline->n_entries; i++)
		last = timeline->entries[i].bucket > last ? timeline->entries[i].bucket : last;
	return last;
}

/* Called at the limit of entries. False: there is no room even with one bucket. */
static bool compact(struct timeline *timeline)
{
	const size_t wanted = timeline->max_entries / 4 * 3;

	timeline_sort(timeline);
	while (timeline->n_entries > wanted && last_bucket(timeline) > 0) {
		double_buckets(timeline);
		timeline_sort(timeline);
	}
	return timeline->n_entries < timeline->max_entries;
}

static bool make_room(struct timeline *timeline)
{
	size_t wanted = timeline->entries_size ? timeline->entries_size * 2 : FIRST_ENTRIES;
	struct timeline_entry *entries;

	if (timeline->n_entries < timeline->entries_size)
		return true;
	if (timeline->entries_size >= timeline->max_entries)
		return compact(timeline);
	if (wanted > timeline->max_entries)
		wanted = timeline->max_entries;
	entries = realloc(timeline->entries, wanted * sizeof(*entries));
	if (!entries)
		return false;
	timeline->entries = entries;
	timeline->entries_size = wanted;
	return true;
}

void timeline_add(struct timeline *timeline, uint64_t at_ns, const struct timeline_entry *entry)
{
	if (entry->thread >= timeline->n_threads || !make_room(timeline)) {
		timeline->lost_samples += entry->weight;
		return;
	}
	while (at_ns / timeline->bucket_ns >= TIMELINE_MAX_BUCKETS)
		double_buckets(timeline);
	timeline->entries[timeline->n_entries] = *entry;
	timeline->entries[timeline->n_entries++].bucket = (uint32_t)(at_ns / timeline->bucket_ns);
}

void timeline_add_weight(struct timeline *timeline, uint64_t at_ns,
			 const struct timeline_entry *entry, uint64_t weight)
{
	struct timeline_entry piece = *entry;

	for (unsigned i = 0; i < TIMELINE_MAX_PIECES && weight > 0; i++) {
		piece.weight = weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;
		weight -= piece.weight;
		timeline_add(timeline, at_ns, &piece);
	}
	timeline->lost_samples += weight;
}
