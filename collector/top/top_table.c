// SPDX-License-Identifier: Apache-2.0
/*
 * Shares of methods, see top_table.h. Three passes over the tree: the first adds weights to leaves;
 * the second sums from the last node to the first; the third goes down every path with a count for
 * each method of how often the path has it, which tells the outermost call of a method from those
 * within.
 */
#include "top/top_table.h"

#include "base/array.h"
#include "base/map64.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of code. Frames of one name and one of these kinds are one method. */
enum sort_of_code {
	CODE_JAVA,
	CODE_FILE,
	CODE_KERNEL,
	CODE_STUB,
	CODE_UNKNOWN,
	CODE_LABEL,
	CODE_WAIT,
	CODE_CLASS,
};

static enum sort_of_code sort_of(enum frame_kind kind)
{
	switch (kind) {
	case FRAME_LABEL:
		return CODE_LABEL;
	case FRAME_STUB:
		return CODE_STUB;
	case FRAME_JVM:
	case FRAME_NATIVE:
	case FRAME_NATIVE_INLINED:
		return CODE_FILE;
	case FRAME_KERNEL:
		return CODE_KERNEL;
	case FRAME_UNKNOWN:
		return CODE_UNKNOWN;
	case FRAME_WAIT:
		return CODE_WAIT;
	case FRAME_CLASS:
		return CODE_CLASS;
	default:
		return CODE_JAVA;
	}
}

void top_table_fini(struct top_table *table)
{
	waits_fini(&table->waits);
	free(table->totals);
	free(table->selves);
	free(table->methods_of);
	free(table->next);
	free(table->methods);
	free(table->threads);
	free(table->processes);
	*table = (struct top_table){0};
}

enum waits_way top_choice_way(const struct top_choice *choice)
{
	return choice->waits.idle == WAIT_IDLE_SHOWN ? WAITS_KEEP : WAITS_LEAVE_OUT;
}

static bool is_chosen(const struct top_table *table, const struct timeline_entry *entry,
		      const struct top_choice *choice)
{
	const struct timeline *timeline = table->timeline;
	const struct timeline_thread *row = &timeline->threads[entry->thread];

	if (choice->tid && row->tid != choice->tid)
		return false;
	if (choice->pid && timeline->processes[row->process].pid != choice->pid)
		return false;
	return waits_wants(&table->waits, &choice->waits, top_choice_way(choice), entry->node);
}

/* Counts samples of nodes and of owners, and notes the owner of each node. */
static void take_entries(struct top_table *table, const struct top_choice *choice, uint32_t *owners)
{
	const struct timeline *timeline = table->timeline;

	for (size_t i = 0; i < timeline->n_entries; i++) {
		const struct timeline_entry *entry = &timeline->entries[i];
		const struct timeline_thread *const row = &timeline->threads[entry->thread];
		const uint32_t process = row->process;

		if (!is_chosen(table, entry, choice))
			continue;
		/* A thread that is renamed has several rows. */
		if (!table->threads[row->first].is_counted)
			table->processes[process].threads++;
		table->threads[row->first].is_counted = true;
		table->selves[entry->node] += entry->weight;
		table->threads[entry->thread].samples += entry->weight;
		table->processes[process].samples += entry->weight;
		table->samples += entry->weight;
		owners[entry->node] = process;
	}
}

/*
 * Sums samples up to the root. A node belongs to the process of its samples. Callers have smaller
 * numbers than callees.
 */
static void sum_up(struct top_table *table, uint32_t *owners)
{
	const struct profile *profile = table->profile;

	for (uint32_t id = 0; id < profile->count; id++)
		table->totals[id] = table->selves[id];
	for (uint32_t id = profile->count - 1; id > PROFILE_ROOT; id--) {
		const uint32_t parent = profile->nodes[id].parent;

		table->totals[parent] += table->totals[id];
		if (table->totals[id] > 0 && owners[parent] == TOP_NONE)
			owners[parent] = owners[id];
	}
}

/*
 * The key of a method, which no other method has. Equal names have equal addresses. An address
 * takes at most 48 bits, and there are less than TIMELINE_MAX_PROCESSES processes.
 */
static uint64_t key_of(const char *name, uint32_t process, enum sort_of_code sort)
{
	return (uint64_t)(uintptr_t)name ^ (uint64_t)process << 48 ^ (uint64_t)sort << 60;
}

static int add_method(struct top_table *table, const char *name, uint32_t process, uint32_t *ret)
{
	if (ARRAY_RESERVE(table->methods, table->methods_size, table->n_methods + 1) < 0)
		return -ENOMEM;
	*ret = table->n_methods++;
	table->methods[*ret] =
		(struct top_method){.name = name, .process = process, .first = TOP_NONE};
	return 0;
}

static int find_method(struct top_table *table, struct map64 *index, uint32_t id, uint32_t process)
{
	const struct profile_node *node = &table->profile->nodes[id];
	const uint64_t key = key_of(node->name, process, sort_of((enum frame_kind)node->kind));
	const uintptr_t found = (uintptr_t)map64_find(index, key); /* number + 1 */
	uint32_t number = (uint32_t)found - 1;
	int err = 0;

	if (!found)
		err = add_method(table, node->name, process, &number);
	if (!err && !found)
		err = map64_put(index, key, (void *)((uintptr_t)number + 1));
	if (!err)
		table->methods_of[id] = number;
	return err;
}

/* Whether the node has a row: as the frame of a method, or as a label at which samples end. */
static bool has_row(const struct top_table *table, uint32_t id)
{
	const struct profile_node *node = &table->profile->nodes[id];

	if (id == PROFILE_ROOT || table->totals[id] == 0)
		return false;
	if (node->kind == FRAME_LABEL)
		return table->selves[id] > 0;
	return true;
}

/*
 * Whose time the wait at node id is: the Java method's that waits, else that of the function that
 * called the kernel. The root: there is no function, and the wait has a row of its own.
 */
static uint32_t waiter_of(const struct top_table *table, uint32_t id)
{
	const struct profile_node *const nodes = table->profile->nodes;
	uint32_t caller = PROFILE_ROOT, nearest = PROFILE_ROOT;

	for (id = nodes[id].parent; id != PROFILE_ROOT; id = nodes[id].parent) {
		const enum frame_kind kind = (enum frame_kind)nodes[id].kind;

		if (frame_kind_is_java(kind))
			return id;
		if (kind == FRAME_WAIT || kind == FRAME_LABEL)
			continue;
		nearest = nearest == PROFILE_ROOT ? id : nearest;
		caller = caller == PROFILE_ROOT && kind != FRAME_KERNEL ? id : caller;
	}
	return caller != PROFILE_ROOT ? caller : nearest;
}

/* Gives a wait to the function that waits. False: there is none. */
static bool give_to_waiter(struct top_table *table, uint32_t id)
{
	const uint32_t waiter = waiter_of(table, id);

	if (waiter == PROFILE_ROOT)
		return false;
	table->methods_of[id] = table->methods_of[waiter];
	table->methods[table->methods_of[id]].self += table->selves[id];
	return true;
}

static int name_methods(struct top_table *table, const uint32_t *owners)
{
	struct map64 index = {0};
	int err = 0;

	for (uint32_t id = 0; !err && id < table->profile->count; id++) {
		struct top_method *method;

		table->methods_of[id] = TOP_NONE;
		if (!has_row(table, id))
			continue;
		if (table->profile->nodes[id].kind == FRAME_WAIT && give_to_waiter(table, id))
			continue;
		err = find_method(table, &index, id, owners[id]);
		if (err)
			break;
		method = &table->methods[table->methods_of[id]];
		method->self += table->selves[id];
		method->kinds[table->profile->nodes[id].kind] += table->totals[id];
	}
	map64_fini(&index);
	return err;
}

static void enter(struct top_table *table, uint32_t *on_path, uint32_t id)
{
	const uint32_t number = table->methods_of[id];
	struct top_method *method;

	if (number == TOP_NONE || on_path[number]++ > 0)
		return;
	method = &table->methods[number];
	method->total += table->totals[id];
	table->next[id] = method->first;
	method->first = id;
}

static void leave(const struct top_table *table, uint32_t *on_path, uint32_t id)
{
	if (table->methods_of[id] != TOP_NONE)
		on_path[table->methods_of[id]]--;
}

/* Walks all paths, without recursion, because hostile data may be very deep. */
static void walk(struct top_table *table, uint32_t *on_path)
{
	const struct profile_node *nodes = table->profile->nodes;
	uint32_t id = PROFILE_ROOT;

	enter(table, on_path, id);
	for (;;) {
		if (nodes[id].first_child && table->totals[id] > 0) {
			id = nodes[id].first_child;
			enter(table, on_path, id);
			continue;
		}
		leave(table, on_path, id);
		while (id != PROFILE_ROOT && !nodes[id].next_sibling) {
			id = nodes[id].parent;
			leave(table, on_path, id);
		}
		if (id == PROFILE_ROOT)
			return;
		id = nodes[id].next_sibling;
		enter(table, on_path, id);
	}
}

static int find_totals(struct top_table *table)
{
	uint32_t *on_path = calloc((size_t)table->n_methods + 1, sizeof(*on_path));

	if (!on_path)
		return -ENOMEM;
	walk(table, on_path);
	free(on_path);
	return 0;
}

static void note_best(struct top_owner *owner, uint64_t *best, uint32_t method, uint64_t self)
{
	if (self > *best) {
		*best = self;
		owner->method = method;
	}
}

struct share {
	uint32_t thread, method;
	uint64_t weight;
};

static int by_thread(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->method > y->method) - (x->method < y->method);
}

static void best_of_threads(struct top_table *table, struct share *shares, size_t n)
{
	uint64_t best = 0, sum = 0;

	qsort(shares, n, sizeof(*shares), by_thread);
	for (size_t i = 0; i < n; i++) {
		const bool is_new_thread = i == 0 || shares[i].thread != shares[i - 1].thread;

		if (is_new_thread)
			best = 0;
		if (is_new_thread || shares[i].method != shares[i - 1].method)
			sum = 0;
		sum += shares[i].weight;
		note_best(&table->threads[shares[i].thread], &best, shares[i].method, sum);
	}
}

static int find_best(struct top_table *table)
{
	const struct timeline *timeline = table->timeline;
	struct share *shares = calloc(timeline->n_entries + 1, sizeof(*shares));
	uint64_t *best = calloc(timeline->n_processes + 1, sizeof(*best));
	size_t n = 0;

	for (size_t i = 0; shares && i < timeline->n_entries; i++) {
		const struct timeline_entry *entry = &timeline->entries[i];
		const uint32_t method = table->methods_of[entry->node];

		if (table->threads[entry->thread].samples > 0 && method != TOP_NONE)
			shares[n++] = (struct share){entry->thread, method, entry->weight};
	}
	for (uint32_t i = 0; best && i < table->n_methods; i++) {
		const uint32_t process = table->methods[i].process;

		note_best(&table->processes[process], &best[process], i, table->methods[i].self);
	}
	if (shares)
		best_of_threads(table, shares, n);
	free(shares);
	free(best);
	return shares && best ? 0 : -ENOMEM;
}

static int allocate(struct top_table *table)
{
	const size_t nodes = table->profile->count;
	const size_t threads = table->timeline->n_threads, processes = table->timeline->n_processes;

	table->totals = calloc(nodes, sizeof(*table->totals));
	table->selves = calloc(nodes, sizeof(*table->selves));
	table->methods_of = calloc(nodes, sizeof(*table->methods_of));
	table->next = calloc(nodes, sizeof(*table->next));
	table->threads = calloc(threads + 1, sizeof(*table->threads));
	table->processes = calloc(processes + 1, sizeof(*table->processes));
	if (!table->totals || !table->selves || !table->methods_of || !table->next ||
	    !table->threads || !table->processes)
		return -ENOMEM;
	for (size_t i = 0; i < threads; i++)
		table->threads[i].method = TOP_NONE;
	for (size_t i = 0; i < processes; i++)
		table->processes[i].method = TOP_NONE;
	return 0;
}

int top_table_make(const struct profile *profile, const struct timeline *timeline,
		   const struct top_choice *choice, struct top_table *ret)
{
	uint32_t *owners = malloc(profile->count * sizeof(*owners));
	int err;

	*ret = (struct top_table){.profile = profile, .timeline = timeline};
	err = allocate(ret);
	if (!err)
		err = waits_init(&ret->waits, profile, &choice->waits);
	if (!err && !owners)
		err = -ENOMEM;
	if (!err) {
		memset(owners, 0xff, profile->count * sizeof(*owners)); /* TOP_NONE in all bytes */
		take_entries(ret, choice, owners);
		sum_up(ret, owners);
		err = name_methods(ret, owners);
	}
	if (!err)
		err = find_totals(ret);
	if (!err)
		err = find_best(ret);
	free(owners);
	if (err)
		top_table_fini(ret);
	return err;
}

enum frame_kind top_method_kind(const struct top_method *method)
{
	enum frame_kind best = FRAME_LABEL;

	for (enum frame_kind kind = 0; kind < FRAME_KINDS; kind++) {
		if (method->kinds[kind] > method->kinds[best])
			best = kind;
	}
	return best;
}
