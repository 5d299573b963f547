// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps samples until their objects die, see live_samples.h. Each JVM has a tree of its stacks. The
 * stacks of the dead stay in the tree until it is half full, and is then made anew of those that
 * are needed.
 */
#include "probes/live_samples.h"

#include "base/cleanup.h"
#include "base/map64.h"
#include "base/hash.h"
#include "guard/heap_bytes.h"
#include "guard/owner.h"
#include "probes/kept_stack.h"
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>

#define PURPOSE_OF_SEED UINT64_C(0x6c6976656f626a73)
#define ATTEMPTS	1024
#define LEVEL_BITS	8
#define LEVEL_MASK	((UINT64_C(1) << LEVEL_BITS) - 1)
#define LEVEL_MAX	40 /* as the agent's */
/* No JVM has a sample that stands for more; so a sum of all cannot overflow. */
#define MAX_VALUE (UINT64_C(1) << 44)

struct live_sample {
	uint64_t number, round;
	uint64_t time_ns, values[2];
	pid_t tid;
	struct kept_stack stack;
};

struct live_jvm {
	pid_t pid;
	uint64_t start_ticks, owner;
	uint64_t round;	       /* the last word that was told */
	uint64_t tidied_round; /* when all that was forgotten had been removed */
	struct map64 samples;  /* hash of the number -> struct live_sample */
	struct profile stacks;
	uint32_t attempts; /* to keep a stack since the tree was made */
};

struct live_samples {
	struct map64 jvms; /* PID -> struct live_jvm */
	size_t count, nodes;
	uint64_t seed;
	size_t given_jvm, given_sample; /* where live_samples_next goes on */
	struct live_jvm *giving;
	struct live_samples_stats stats;
};

static uint64_t level_of(uint64_t round)
{
	return round & LEVEL_MASK;
}

/* Whether an agent that says so still watches what it has watched in the round. */
static bool is_watched(const struct live_jvm *jvm, uint64_t number, uint64_t round)
{
	const uint64_t level = level_of(jvm->round);

	return round >> LEVEL_BITS == jvm->round >> LEVEL_BITS && level <= LEVEL_MAX &&
	       (number & ((UINT64_C(1) << level) - 1)) == 0;
}

int live_samples_new(struct live_samples **ret)
{
	struct live_samples *const live = calloc(1, sizeof(*live));

	if (!live)
		return -ENOMEM;
	live->seed = quick_hash_seed(PURPOSE_OF_SEED);
	*ret = live;
	return 0;
}

static void remove_sample(struct live_samples *live, struct live_jvm *jvm, uint64_t key)
{
	struct live_sample *const sample = map64_remove(&jvm->samples, key);

	live->count -= sample != NULL;
	free(sample);
}

static void empty_jvm(struct live_samples *live, struct live_jvm *jvm)
{
	map64_fini_all(&jvm->samples, free);
	live->count -= jvm->samples.count;
	live->nodes -= jvm->stacks.count;
	profile_fini(&jvm->stacks);
	jvm->samples = (struct map64){0};
	jvm->stacks = (struct profile){0};
}

void live_samples_free(struct live_samples *live)
{
	size_t pos = 0;
	uint64_t key;
	void *jvm;

	if (!live)
		return;
	while (map64_next(&live->jvms, &pos, &key, &jvm)) {
		empty_jvm(live, jvm);
		free(jvm);
	}
	map64_fini(&live->jvms);
	free(live);
}

/* The PID has another process now. What the old one had is of nobody's fate. */
static void renew(struct live_samples *live, struct live_jvm *jvm, const struct process *process)
{
	live->stats.left_out += jvm->samples.count;
	empty_jvm(live, jvm);
	jvm->start_ticks = process->start_ticks;
	jvm->owner = owner_group(process->owner);
	jvm->round = jvm->tidied_round = 0;
}

/* Each owner has as much as is free, see guard/pool.h. */
static bool has_room_for_jvm(const struct live_samples *live, uint64_t owner)
{
	size_t pos = 0, n = 0;
	uint64_t pid;
	void *jvm;

	while (map64_next(&live->jvms, &pos, &pid, &jvm))
		n += ((const struct live_jvm *)jvm)->owner == owner;
	return n < LIVE_SAMPLES_MAX_JVMS - live->jvms.count;
}

static struct live_jvm *find_or_add(struct live_samples *live, const struct process *process)
{
	struct live_jvm *jvm = map64_find(&live->jvms, (uint64_t)process->pid);

	if (!jvm) {
		if (!has_room_for_jvm(live, owner_group(process->owner)))
			return NULL;
		jvm = calloc(1, sizeof(*jvm));
		if (!jvm)
			return NULL;
		jvm->pid = process->pid;
		jvm->start_ticks = process->start_ticks;
		jvm->owner = owner_group(process->owner);
		if (map64_put(&live->jvms, (uint64_t)process->pid, jvm) < 0) {
			free(jvm);
			return NULL;
		}
	}
	if (jvm->start_ticks != process->start_ticks)
		renew(live, jvm, process);
	return jvm;
}

static void note_round(struct live_jvm *jvm, uint64_t round)
{
	if (round > jvm->round)
		jvm->round = round;
}

/* Removes what the agent has forgotten. At once that would be work for each word that is told. */
static void tidy(struct live_samples *live, struct live_jvm *jvm)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	if (jvm->tidied_round == jvm->round)
		return;
	jvm->tidied_round = jvm->round;
	/* What is removed moves others to the front at most: these are found the next time. */
	while (map64_next(&jvm->samples, &pos, &key, &value)) {
		const struct live_sample *const sample = value;

		if (is_watched(jvm, sample->number, sample->round))
			continue;
		remove_sample(live, jvm, key);
		live->stats.forgotten++;
	}
}

/* Samples and nodes of the owner of the JVM. */
static void count_owner(const struct live_samples *live, uint64_t owner, size_t *ret_samples,
			size_t *ret_nodes)
{
	size_t pos = 0;
	uint64_t pid;
	void *value;

	*ret_samples = *ret_nodes = 0;
	while (map64_next(&live->jvms, &pos, &pid, &value)) {
		const struct live_jvm *const jvm = value;

		*ret_samples += jvm->owner == owner ? jvm->samples.count : 0;
		*ret_nodes += jvm->owner == owner ? jvm->stacks.count : 0;
	}
}

static bool has_room_for_sample(const struct live_samples *live, const struct live_jvm *jvm)
{
	size_t samples, nodes;

	count_owner(live, jvm->owner, &samples, &nodes);
	return jvm->samples.count < LIVE_SAMPLES_MAX_JVM &&
	       samples < LIVE_SAMPLES_MAX - live->count;
}

static bool has_room_for_nodes(const struct live_samples *live, const struct live_jvm *jvm)
{
	size_t samples, nodes;

	count_owner(live, jvm->owner, &samples, &nodes);
	/* The last stack may have gone past it. */
	return live->nodes < LIVE_SAMPLES_ALL_NODES && nodes < LIVE_SAMPLES_ALL_NODES - live->nodes;
}

/* Where there is no room, what agents have forgotten goes. */
static bool make_room_for_sample(struct live_samples *live, const struct live_jvm *jvm)
{
	size_t pos = 0;
	uint64_t pid;
	void *value;

	if (has_room_for_sample(live, jvm))
		return true;
	while (map64_next(&live->jvms, &pos, &pid, &value))
		tidy(live, value);
	return has_room_for_sample(live, jvm);
}

/* Puts all stacks that are needed into another tree. */
static int move_stacks(struct live_jvm *jvm, struct profile *to)
{
	_cleanup_free_ uint32_t *map = calloc(jvm->stacks.count, sizeof(*map));
	size_t pos = 0;
	uint64_t key;
	void *value;
	int err;

	if (!map)
		return -ENOMEM;
	while (map64_next(&jvm->samples, &pos, &key, &value))
		map[((const struct live_sample *)value)->stack.node] = 1;
	err = kept_stack_copy(&jvm->stacks, to, map);
	if (err)
		return err;
	pos = 0;
	while (map64_next(&jvm->samples, &pos, &key, &value)) {
		struct kept_stack *const stack = &((struct live_sample *)value)->stack;

		stack->node = map[stack->node];
	}
	return 0;
}

/*
 * Forgets what is not needed of a tree that is half full, or where nodes are short. That takes
 * time, and so is done seldom.
 */
static int renew_stacks(struct live_samples *live, struct live_jvm *jvm, bool is_short)
{
	const bool is_half_full = is_short || jvm->stacks.count >= LIVE_SAMPLES_MAX_NODES / 2;
	struct profile stacks;
	int err;

	jvm->attempts++;
	if (jvm->stacks.nodes && (!is_half_full || jvm->attempts < ATTEMPTS))
		return 0;
	jvm->attempts = 0;
	err = profile_init(&stacks, LIVE_SAMPLES_MAX_NODES);
	if (err)
		return err;
	if (jvm->stacks.nodes)
		err = move_stacks(jvm, &stacks);
	if (err) {
		profile_fini(&stacks);
		return 0; /* the old tree is as it was */
	}
	live->nodes -= jvm->stacks.count;
	profile_fini(&jvm->stacks);
	jvm->stacks = stacks;
	live->nodes += jvm->stacks.count;
	return 0;
}

static int keep_stack(struct live_samples *live, struct live_jvm *jvm,
		      const struct named_sample *sample, struct kept_stack *ret)
{
	const int err = renew_stacks(live, jvm, !has_room_for_nodes(live, jvm));
	const uint32_t before = jvm->stacks.count;
	int kept;

	if (err)
		return err;
	if (!has_room_for_nodes(live, jvm))
		return -ENOSPC;
	kept = kept_stack_keep(&jvm->stacks, sample, ret);
	live->nodes += jvm->stacks.count - before;
	return kept;
}

static uint64_t key_of(const struct live_samples *live, uint64_t number)
{
	return quick_hash_mix(live->seed, number, 0);
}

static int keep(struct live_samples *live, struct live_jvm *jvm, const struct record *record,
		const struct named_sample *sample)
{
	const uint64_t number = record->sample.probe.objects[0], key = key_of(live, number);
	struct live_sample *kept;
	struct kept_stack stack;
	int err;

	if (!make_room_for_sample(live, jvm))
		return -ENOSPC;
	err = keep_stack(live, jvm, sample, &stack);
	if (err)
		return err;
	kept = malloc(sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = (struct live_sample){.number = number,
				     .round = record->sample.probe.round,
				     .time_ns = record->time_ns,
				     .values = {sample->values[0], sample->values[1]},
				     .tid = record->tid,
				     .stack = stack};
	remove_sample(live, jvm, key); /* a number that came twice */
	err = map64_put(&jvm->samples, key, kept);
	if (err)
		free(kept);
	else
		live->count++;
	return err;
}

void live_samples_keep(struct live_samples *live, const struct record *record,
		       const struct named_sample *sample)
{
	const struct sample_probe *const probe = &record->sample.probe;
	struct live_jvm *const jvm = sample->process ? find_or_add(live, sample->process) : NULL;

	if (!jvm) {
		live->stats.left_out++;
		return;
	}
	note_round(jvm, probe->round);
	if (probe->objects[0] == 0 || !is_watched(jvm, probe->objects[0], probe->round))
		live->stats.unwatched++;
	else if (keep(live, jvm, record, sample) < 0)
		live->stats.left_out++;
	else
		live->stats.kept++;
}

void live_samples_end(struct live_samples *live, const struct record *record)
{
	const struct sample_probe *const probe = &record->sample.probe;
	struct live_jvm *const jvm = map64_find(&live->jvms, (uint64_t)record->pid);

	if (!jvm)
		return;
	note_round(jvm, probe->round);
	for (size_t i = 0; i < SAMPLE_OBJECTS; i++) {
		const uint64_t number = probe->objects[i], key = key_of(live, number);
		const struct live_sample *const sample =
			number ? map64_find(&jvm->samples, key) : NULL;

		if (!sample || sample->number != number)
			continue;
		remove_sample(live, jvm, key);
		live->stats.dead++;
	}
}

static uint64_t scaled(uint64_t value, uint64_t level)
{
	return value > MAX_VALUE >> level ? MAX_VALUE : value << level;
}

static void give(const struct live_jvm *jvm, const struct live_sample *sample,
		 struct named_sample *ret)
{
	const uint64_t level = level_of(jvm->round);

	*ret = (struct named_sample){
		.kind = &sample_kind_live,
		.values = {scaled(sample->values[0], level), scaled(sample->values[1], level)},
		.time_ns = sample->time_ns,
		.pid = jvm->pid,
		.tid = sample->tid,
	};
	kept_stack_give(&jvm->stacks, &sample->stack, ret);
}

bool live_samples_next(struct live_samples *live, struct named_sample *ret,
		       uint64_t *ret_start_ticks)
{
	uint64_t key;
	void *value;

	for (;;) {
		if (!live->giving) {
			if (!map64_next(&live->jvms, &live->given_jvm, &key, &value))
				return false;
			live->giving = value;
			live->given_sample = 0;
		}
		while (map64_next(&live->giving->samples, &live->given_sample, &key, &value)) {
			const struct live_sample *const sample = value;

			if (!is_watched(live->giving, sample->number, sample->round)) {
				live->stats.forgotten++;
				continue;
			}
			give(live->giving, sample, ret);
			live->stats.given++;
			*ret_start_ticks = live->giving->start_ticks;
			return true;
		}
		live->giving = NULL;
	}
}

void live_samples_stats(const struct live_samples *live, struct live_samples_stats *ret)
{
	*ret = live->stats;
}

size_t live_samples_bytes(const struct live_samples *live)
{
	size_t bytes = heap_bytes(sizeof(*live)) + map64_bytes(&live->jvms) +
		       live->count * heap_bytes(sizeof(struct live_sample));
	size_t pos = 0;
	uint64_t pid;
	void *value;

	while (map64_next(&live->jvms, &pos, &pid, &value)) {
		const struct live_jvm *const jvm = value;

		bytes += heap_bytes(sizeof(*jvm)) + map64_bytes(&jvm->samples) +
			 profile_bytes(&jvm->stacks);
	}
	return bytes;
}
