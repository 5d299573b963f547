// SPDX-License-Identifier: Apache-2.0
/* Puts labels of thread pools into a tree, see pools.h. */
#include "profile/pools.h"

#include "base/utf8.h"
#include "base/map64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOT	     PROFILE_ROOT
#define LONG_DIGITS  6
#define THREAD_NAMED "Java thread"
#define TRUNCATED    "[truncated"
#define NO_POOL	     0u /* of stacks that do not begin as stacks of Java threads do */
#define OTHER_POOL   1u
#define FIRST_POOL   2u

// ---- names ----

static size_t digits_at(const char *text)
{
	size_t n = 0;

	while (ascii_is_digit(text[n]))
		n++;
	return n;
}

/*
 * The length of a thread's name without a text about what the thread does now: "dw-34 - GET
 * /words".
 */
static size_t lasting_length(const char *name)
{
	for (const char *at = strstr(name, " - "); at; at = strstr(at + 1, " - ")) {
		if (at > name && ascii_is_digit(at[-1]))
			return (size_t)(at - name);
	}
	return strlen(name);
}

/*
 * Whether the n digits at name + at differ between the threads of a pool. rest is the text behind
 * the digits.
 */
static bool is_of_thread(const char *name, size_t at, size_t n, const char *rest)
{
	const bool is_in_word = at > 0 && ascii_is_letter(name[at - 1]);

	if (n >= LONG_DIGITS || rest[strspn(rest, ")]}>")] == '\0')
		return true;
	return !is_in_word && (strchr(name, ' ') || rest[strcspn(rest, "0123456789")] == '\0');
}

void pool_name(const char *thread, char ret[POOL_NAME_BYTES])
{
	char name[POOL_NAME_BYTES];
	size_t len, out = 0;

	if (!thread[0])
		thread = TIMELINE_OTHER_THREADS; /* the name was left out, or never came */
	len = lasting_length(thread);
	len = len < POOL_NAME_BYTES ? len : POOL_NAME_BYTES - 1;
	memcpy(name, thread, len);
	name[len] = '\0';
	for (size_t at = 0; at < len;) {
		const size_t n = digits_at(name + at);

		if (n > 0 && is_of_thread(name, at, n, name + at + n)) {
			ret[out++] = '*';
		} else {
			memcpy(ret + out, name + at, n ? n : 1);
			out += n ? n : 1;
		}
		at += n ? n : 1;
	}
	ret[out] = '\0';
}

// ---- starts of threads ----

bool pool_is_label(const struct profile_node *node)
{
	return node->kind == FRAME_LABEL && node->module && strcmp(node->module, POOL_MODULE) == 0;
}

bool pool_ends_start(const struct profile_node *node)
{
	return node->kind == FRAME_STUB && strcmp(node->name, "call_stub") == 0;
}

/* Whether the file begins threads: libc.so.6, ld-musl-x86_64.so.1, libjli.so, java. */
static bool is_starter(const char *module)
{
	static const char *const starts[] = {"libc.", "libc-", "libpthread", "ld-", "libjli."};
	const char *slash = module ? strrchr(module, '/') : NULL;
	const char *name = slash ? slash + 1 : module;

	if (!name)
		return false;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	}
	return strcmp(name, "java") == 0 || strcmp(name, "libjvm.so") == 0;
}

static bool is_start(const struct profile_node *node)
{
	switch ((enum frame_kind)node->kind) {
	case FRAME_JVM:
		return true;
	case FRAME_NATIVE:
	case FRAME_NATIVE_INLINED:
	case FRAME_UNKNOWN:
		return is_starter(node->module);
	default:
		return false;
	}
}

enum part {
	PART_LABELS, /* labels at the root */
	PART_START,
	PART_JAVA, /* call_stub and all that it calls */
	PART_OTHER,
};

/* Whether the label says that what a thread begins with is missing. */
static bool is_note(const struct profile_node *node)
{
	return strncmp(node->name, TRUNCATED, strlen(TRUNCATED)) == 0;
}

static enum part part_of(const struct profile_node *node, enum part above)
{
	if (above == PART_JAVA || above == PART_OTHER)
		return above;
	if (above == PART_LABELS && node->kind == FRAME_LABEL)
		return is_note(node) ? PART_OTHER : PART_LABELS;
	if (above == PART_START && pool_ends_start(node))
		return PART_JAVA;
	return is_start(node) ? PART_START : PART_OTHER;
}

// ---- pools ----

struct pool {
	const char *name;
	uint64_t samples;
};

/* What is needed while pools are put into a new profile. */
struct pooling {
	const struct profile *from;
	const struct timeline *timeline;
	struct profile *to;
	uint8_t *part;	/* by node of from: enum part */
	uint64_t *rest; /* by node of from: samples of unknown threads */
	struct intern names;
	struct pool *pools; /* NO_POOL, OTHER_POOL, then the others, most samples first */
	uint32_t n_pools;
	uint32_t *thread_pool; /* by thread of the timeline */
	struct map64 made;     /* node of from and pool -> node of to + 1 */
	uint32_t *path;	       /* room for the deepest stack */
};

static int alloc_pooling(struct pooling *pooling)
{
	const size_t nodes = pooling->from->count, threads = pooling->timeline->n_threads;

	pooling->part = calloc(nodes, sizeof(*pooling->part));
	pooling->rest = calloc(nodes, sizeof(*pooling->rest));
	pooling->path = calloc(nodes, sizeof(*pooling->path));
	pooling->pools = calloc(threads + FIRST_POOL, sizeof(*pooling->pools));
	pooling->thread_pool = calloc(threads + 1, sizeof(*pooling->thread_pool));
	return pooling->part && pooling->rest && pooling->path && pooling->pools &&
			       pooling->thread_pool
		       ? 0
		       : -ENOMEM;
}

static void free_pooling(struct pooling *pooling)
{
	free(pooling->part);
	free(pooling->rest);
	free(pooling->path);
	free(pooling->pools);
	free(pooling->thread_pool);
	map64_fini(&pooling->made);
	intern_fini(&pooling->names);
}

static void find_parts(struct pooling *pooling)
{
	const struct profile_node *nodes = pooling->from->nodes;

	for (uint32_t i = 1; i < pooling->from->count; i++)
		pooling->part[i] =
			(uint8_t)part_of(&nodes[i], (enum part)pooling->part[nodes[i].parent]);
}

static int by_samples(const void *a, const void *b)
{
	const struct pool *const x = a, *const y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Maps the addresses of names to the pools' numbers, which sorting has changed. */
static int number_pools(struct pooling *pooling, struct map64 *numbers)
{
	int rc = 0;

	for (uint32_t pool = FIRST_POOL; !rc && pool < pooling->n_pools; pool++)
		rc = map64_put(numbers, (uintptr_t)pooling->pools[pool].name,
			       (void *)(uintptr_t)pool);
	return rc;
}

/* Finds the pool of each thread. Pools are numbered in the order of their first threads. */
static int find_pools(struct pooling *pooling, const char **names, struct map64 *numbers)
{
	const struct timeline *timeline = pooling->timeline;
	char name[POOL_NAME_BYTES];

	pooling->n_pools = FIRST_POOL;
	for (size_t i = 0; i < timeline->n_threads; i++) {
		uintptr_t pool;

		pool_name(timeline->threads[i].name, name);
		names[i] = intern_add_str(&pooling->names, name);
		if (!names[i])
			return -ENOMEM;
		pool = (uintptr_t)map64_find(numbers, (uintptr_t)names[i]);
		if (pool == 0) {
			pool = pooling->n_pools++;
			pooling->pools[pool].name = names[i];
			if (map64_put(numbers, (uintptr_t)names[i], (void *)pool) < 0)
				return -ENOMEM;
		}
		pooling->thread_pool[i] = (uint32_t)pool;
	}
	return 0;
}

static bool is_counted(const struct pooling *pooling, const struct timeline_entry *entry)
{
	return entry->node < pooling->from->count && entry->thread < pooling->timeline->n_threads &&
	       pooling->part[entry->node] == PART_JAVA;
}

static void weigh_pools(struct pooling *pooling)
{
	const struct timeline *timeline = pooling->timeline;

	for (size_t i = 0; i < timeline->n_entries; i++) {
		const struct timeline_entry *const entry = &timeline->entries[i];

		if (is_counted(pooling, entry))
			pooling->pools[pooling->thread_pool[entry->thread]].samples +=
				entry->weight;
	}
}

static int name_pools(struct pooling *pooling)
{
	const size_t threads = pooling->timeline->n_threads;
	const char **names = calloc(threads + 1, sizeof(*names));
	struct map64 first = {0}, sorted = {0};
	int rc = names ? find_pools(pooling, names, &first) : -ENOMEM;

	if (!rc) {
		weigh_pools(pooling);
		qsort(pooling->pools + FIRST_POOL, pooling->n_pools - FIRST_POOL,
		      sizeof(*pooling->pools), by_samples);
		rc = number_pools(pooling, &sorted);
	}
	for (size_t i = 0; !rc && i < threads; i++) {
		const uintptr_t pool = (uintptr_t)map64_find(&sorted, (uintptr_t)names[i]);

		pooling->thread_pool[i] =
			pool < FIRST_POOL + POOLS_MAX ? (uint32_t)pool : OTHER_POOL;
	}
	pooling->pools[OTHER_POOL].name = TIMELINE_OTHER_THREADS;
	free(names);
	map64_fini(&first);
	map64_fini(&sorted);
	return rc;
}

// ---- the tree ----

/* Moves *id to a label of the pool. The label stands below the labels of node. */
static int enter_pool(struct pooling *pooling, uint32_t pool, uint32_t node, uint32_t *id)
{
	const struct profile_node *const labels = pooling->from->nodes;
	const bool names_thread = node != ROOT && labels[node].parent != ROOT;
	const struct frame frame = {.name = names_thread ? THREAD_NAMED : pooling->pools[pool].name,
				    .module = POOL_MODULE,
				    .kind = FRAME_LABEL};
	struct profile_name name;
	int rc = profile_keep_name(pooling->to, &frame, &name);

	if (rc >= 0)
		rc = profile_descend(pooling->to, &name, id);
	return rc;
}

static int enter(struct pooling *pooling, uint32_t node, uint32_t pool, uint32_t *id)
{
	const struct profile_node *const from = &pooling->from->nodes[node];
	const struct frame frame = profile_frame_of(from);
	struct profile_name name;
	int rc = 0;

	if (pool != NO_POOL && pooling->part[node] == PART_START &&
	    pooling->part[from->parent] == PART_LABELS)
		rc = enter_pool(pooling, pool, from->parent, id);
	if (!rc)
		rc = profile_keep_name(pooling->to, &frame, &name);
	if (!rc)
		rc = profile_descend(pooling->to, &name, id);
	return rc == 1 ? -EOVERFLOW : rc;
}

static uint64_t key_of(uint32_t node, uint32_t pool)
{
	return (uint64_t)pool << 32 | node;
}

/* Finds the node of to for samples of the pool that end in node. Labels belong to all pools. */
static int place(struct pooling *pooling, uint32_t node, uint32_t pool, uint32_t *ret)
{
	const struct profile_node *const nodes = pooling->from->nodes;
	uint32_t n = 0;
	int rc = 0;

	*ret = ROOT;
	for (; node != ROOT; node = nodes[node].parent) {
		const uint32_t of = pooling->part[node] == PART_LABELS ? NO_POOL : pool;
		const uintptr_t made = (uintptr_t)map64_find(&pooling->made, key_of(node, of));

		*ret = made ? (uint32_t)made - 1 : ROOT;
		if (made)
			break;
		pooling->path[n++] = node;
	}
	while (!rc && n > 0) {
		const uint32_t next = pooling->path[--n];
		const uint32_t of = pooling->part[next] == PART_LABELS ? NO_POOL : pool;

		rc = enter(pooling, next, of, ret);
		if (!rc)
			rc = map64_put(&pooling->made, key_of(next, of),
				       (void *)((uintptr_t)*ret + 1));
	}
	return rc;
}

/* Moves the timeline's entries. An entry counts for no more samples than the profile has left. */
static int move_entries(struct pooling *pooling, struct timeline *moved)
{
	const struct timeline *timeline = pooling->timeline;
	int rc = 0;

	for (size_t i = 0; !rc && i < timeline->n_entries; i++) {
		const struct timeline_entry *const from = &timeline->entries[i];
		uint32_t pool = NO_POOL, node;
		uint64_t weight;

		if (from->node >= pooling->from->count || from->thread >= timeline->n_threads)
			continue;
		if (is_counted(pooling, from))
			pool = pooling->thread_pool[from->thread];
		rc = place(pooling, from->node, pool, &node);
		if (rc)
			break;
		weight = from->weight < pooling->rest[from->node] ? from->weight
								  : pooling->rest[from->node];
		pooling->rest[from->node] -= weight;
		rc = profile_count(pooling->to, node, weight);
		moved->entries[moved->n_entries] = *from;
		moved->entries[moved->n_entries++].node = node;
	}
	return rc;
}

static int move_rest(struct pooling *pooling)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < pooling->from->count; i++) {
		const uint32_t pool = pooling->part[i] == PART_JAVA ? OTHER_POOL : NO_POOL;
		uint32_t node;

		if (pooling->rest[i] == 0)
			continue;
		rc = place(pooling, i, pool, &node);
		if (!rc)
			rc = profile_count(pooling->to, node, pooling->rest[i]);
	}
	return rc;
}

static int make(struct pooling *pooling, struct timeline *moved)
{
	int rc = alloc_pooling(pooling);

	if (rc)
		return rc;
	find_parts(pooling);
	for (uint32_t i = 0; i < pooling->from->count; i++)
		pooling->rest[i] = pooling->from->nodes[i].self;
	rc = name_pools(pooling);
	if (!rc)
		rc = move_entries(pooling, moved);
	if (!rc)
		rc = move_rest(pooling);
	return rc;
}

int pools_init(struct pooled *pooled, const struct profile *from, const struct timeline *timeline)
{
	struct pooling pooling = {.from = from, .timeline = timeline, .to = &pooled->profile};
	int rc;

	*pooled = (struct pooled){.timeline = *timeline};
	pooled->timeline.n_entries = 0;
	pooled->timeline.entries =
		malloc((timeline->n_entries + 1) * sizeof(*pooled->timeline.entries));
	rc = profile_init(&pooled->profile, 0);
	if (!rc && !pooled->timeline.entries)
		rc = -ENOMEM;
	if (!rc)
		rc = make(&pooling, &pooled->timeline);
	free_pooling(&pooling);
	if (rc < 0) {
		pools_fini(pooled);
		return rc;
	}
	profile_sum(&pooled->profile);
	pooled->profile.quality = from->quality;
	timeline_sort(&pooled->timeline);
	return 0;
}

void pools_fini(struct pooled *pooled)
{
	profile_fini(&pooled->profile);
	free(pooled->timeline.entries);
	*pooled = (struct pooled){0};
}
