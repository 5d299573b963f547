// SPDX-License-Identifier: Apache-2.0
/* Keeps the stacks of waits until their ends, see lock_waits.h. */
#include "probes/lock_waits.h"

#include "base/map64.h"
#include "base/quick_hash.h"
#include "guard/heap_bytes.h"
#include "guard/owner.h"
#include "probes/kept_stack.h"
#include "probes/probe_sample.h"
#include "process/process.h"
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>

#define SWEPT_AT_ONCE	32
#define CLOCK_ERROR_NS	1000000 /* between the JVM's reading of a wait and the kernel's */
#define PURPOSE_OF_SEED UINT64_C(0x6c6f636b77616974)

/* What names a wait. The number is one that the agent gives. */
struct wait_id {
	uint64_t number;
	pid_t pid;
};

struct wait {
	struct wait_id id;
	uint64_t group; /* owner_group of the process's owner */
	uint64_t began_ns, weight;
	pid_t tid;
	struct kept_stack stack;
};

struct lock_waits {
	struct map64 waits;  /* hash of the ID -> struct wait */
	struct map64 counts; /* group of an owner -> how many of its waits there are */
	struct profile stacks;
	uint64_t seed;
	size_t swept; /* where the next sweep begins */
	size_t given; /* where lock_waits_next_rest goes on */
	struct lock_waits_stats stats;
};

static struct wait_id id_of(const struct record *record)
{
	return (struct wait_id){.number = record->sample.probe.wait, .pid = record->pid};
}

static uint64_t key_of(const struct lock_waits *waits, const struct wait_id *id)
{
	return quick_hash_mix(waits->seed, id->number, (uint64_t)id->pid);
}

static bool is_same(const struct wait_id *a, const struct wait_id *b)
{
	return a->number == b->number && a->pid == b->pid;
}

int lock_waits_new(struct lock_waits **ret)
{
	struct lock_waits *const waits = calloc(1, sizeof(*waits));
	int err;

	if (!waits)
		return -ENOMEM;
	waits->seed = quick_hash_seed(PURPOSE_OF_SEED);
	err = profile_init(&waits->stacks, LOCK_WAITS_MAX_NODES);
	if (err) {
		free(waits);
		return err;
	}
	*ret = waits;
	return 0;
}

void lock_waits_free(struct lock_waits *waits)
{
	size_t pos = 0;
	uint64_t key;
	void *wait;

	if (!waits)
		return;
	while (map64_next(&waits->waits, &pos, &key, &wait))
		free(wait);
	map64_fini(&waits->waits);
	map64_fini(&waits->counts);
	profile_fini(&waits->stacks);
	free(waits);
}

/* Where nobody waits, the stacks of those that have waited are forgotten. */
static void forget_stacks(struct lock_waits *waits)
{
	if (waits->waits.count > 0 || waits->stacks.count < LOCK_WAITS_MAX_NODES / 4)
		return;
	profile_fini(&waits->stacks);
	if (profile_init(&waits->stacks, LOCK_WAITS_MAX_NODES) < 0)
		waits->stacks = (struct profile){0};
}

static uintptr_t count_of(const struct lock_waits *waits, uint64_t group)
{
	return (uintptr_t)map64_find(&waits->counts, group);
}

static void remove_wait(struct lock_waits *waits, uint64_t key)
{
	struct wait *const wait = map64_remove(&waits->waits, key);
	const uintptr_t count = wait ? count_of(waits, wait->group) : 0;
	const uintptr_t left = count > 0 ? count - 1 : 0;

	if (wait && left > 0)
		map64_put(&waits->counts, wait->group, (void *)left); /* replaces */
	else if (wait)
		map64_remove(&waits->counts, wait->group);
	free(wait);
}

/* 0, or negative: the wait is left out. */
static int keep(struct lock_waits *waits, const struct record *record,
		const struct named_sample *sample)
{
	const struct wait_id id = id_of(record);
	const uint64_t key = key_of(waits, &id);
	const uint64_t group =
		sample->process ? owner_group(sample->process->owner) : (uint64_t)record->pid;
	struct kept_stack stack;
	struct wait *wait;
	int err;

	if (!waits->stacks.nodes || waits->waits.count >= LOCK_WAITS_MAX ||
	    count_of(waits, group) >= LOCK_WAITS_MAX / 2)
		return -ENOSPC;
	err = kept_stack_keep(&waits->stacks, sample, &stack);
	if (err < 0)
		return err;
	remove_wait(waits, key); /* a number that came twice: the first one's end was lost */
	wait = malloc(sizeof(*wait));
	if (!wait)
		return -ENOMEM;
	*wait = (struct wait){.id = id,
			      .group = group,
			      .began_ns = record->time_ns,
			      .weight = record->sample.weight,
			      .tid = record->tid,
			      .stack = stack};
	err = map64_put(&waits->counts, group, (void *)(count_of(waits, group) + 1));
	if (!err)
		err = map64_put(&waits->waits, key, wait);
	if (err) {
		free(wait);
		map64_remove(&waits->counts, group); /* too few are counted then */
	}
	return err;
}

void lock_waits_begin(struct lock_waits *waits, const struct record *record,
		      const struct named_sample *sample)
{
	forget_stacks(waits);
	waits->stats.left_out += keep(waits, record, sample) < 0;
}

/* Gives the wait out as a sample. */
static void give(const struct lock_waits *waits, const struct wait *wait, uint64_t end_ns,
		 uint64_t duration_ns, struct named_sample *ret)
{
	*ret = (struct named_sample){
		.kind = &sample_kind_lock,
		.values = {probe_sample_microseconds(duration_ns, wait->weight, end_ns),
			   wait->weight},
		.time_ns = end_ns,
		.span_ns = duration_ns,
		.state = THREAD_BLOCKED,
		.pid = wait->id.pid,
		.tid = wait->tid,
	};
	kept_stack_give(&waits->stacks, &wait->stack, ret);
}

bool lock_waits_end(struct lock_waits *waits, const struct record *record, struct process *process,
		    struct named_sample *ret)
{
	const struct wait_id id = id_of(record);
	const uint64_t key = key_of(waits, &id);
	const struct wait *const wait = map64_find(&waits->waits, key);
	uint64_t duration_ns = record->sample.probe.amount, seen_ns;

	if (!wait || !is_same(&wait->id, &id)) {
		waits->stats.unmatched++;
		return false;
	}
	/* What the JVM says is exact; what cannot be true is what the kernel has seen. */
	seen_ns = record->time_ns > wait->began_ns ? record->time_ns - wait->began_ns : 0;
	if (duration_ns > seen_ns + CLOCK_ERROR_NS)
		duration_ns = seen_ns;
	give(waits, wait, record->time_ns, duration_ns, ret);
	ret->process = process;
	remove_wait(waits, key);
	return true;
}

bool lock_waits_next_rest(struct lock_waits *waits, uint64_t now_ns, struct named_sample *ret)
{
	const struct wait *wait;
	uint64_t key;
	void *value;

	/* What is removed moves others to the front at most: another round finds these. */
	if (!map64_next(&waits->waits, &waits->given, &key, &value)) {
		waits->given = 0;
		if (!map64_next(&waits->waits, &waits->given, &key, &value))
			return false;
	}
	wait = value;
	give(waits, wait, now_ns, now_ns > wait->began_ns ? now_ns - wait->began_ns : 0, ret);
	remove_wait(waits, key);
	return true;
}

void lock_waits_sweep(struct lock_waits *waits, bool (*is_gone)(const void *arg, pid_t pid),
		      const void *arg)
{
	uint64_t key;
	void *value;

	for (int i = 0; i < SWEPT_AT_ONCE; i++) {
		const struct wait *wait;

		if (!map64_next(&waits->waits, &waits->swept, &key, &value)) {
			waits->swept = 0;
			return;
		}
		wait = value;
		if (!is_gone(arg, wait->id.pid))
			continue;
		remove_wait(waits, key);
		waits->stats.forgotten++;
	}
}

void lock_waits_stats(const struct lock_waits *waits, struct lock_waits_stats *ret)
{
	*ret = waits->stats;
}

size_t lock_waits_bytes(const struct lock_waits *waits)
{
	return heap_bytes(sizeof(*waits)) + map64_bytes(&waits->waits) +
	       map64_bytes(&waits->counts) + waits->waits.count * heap_bytes(sizeof(struct wait)) +
	       profile_bytes(&waits->stacks);
}
