// SPDX-License-Identifier: Apache-2.0
/* Decides which events of each JVM are open, see probe_arms.h. */
#include "probes/probe_arms.h"

#include "base/clock.h"
#include "base/map64.h"
#include "files/probe_cache.h"
#include "probes/probe_box.h"
#include "probes/probe_pauses.h"
#include "shared/wire.h"
#include "sample/bpf_layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_NS   CLOCK_NS_PER_SEC
#define FRESH_NS   CLOCK_NS_PER_SEC
#define STRETCH_NS (100 * CLOCK_NS_PER_MS)

static const struct {
	uint32_t interval;
	const char *point;
} intervals[] = {
	{16u << 10, "alloc__arm_16k"},
	{64u << 10, "alloc__arm_64k"},
	{512u << 10, "alloc__arm"},
	{2u << 20, "alloc__arm_2m"},
};

#define N_INTERVALS (sizeof(intervals) / sizeof(intervals[0]))

/* The files that have points. */
enum points_of { OF_AGENT, OF_LIBJVM, FILES };

static const char *const file_words[FILES] = {
	[OF_AGENT] = "fgagent",
	[OF_LIBJVM] = "libjvm.so",
};

/* A point that is wanted for some kinds. */
struct wish {
	enum points_of of;
	unsigned kinds;
	const char *provider;
	const char *name; /* NULL: the arm point of the interval */
	int program;	  /* of BPF_KIND_; -1: the point raises its semaphore, and never runs */
	bool is_of_live;  /* for recordings of living objects alone */
};

/*
 * A wait's end comes before its begin, and the death of an object before its allocation: nothing is
 * sampled whose end would not be told.
 */
static const struct wish wishes[] = {
	{OF_AGENT, PROBES_OF_ALLOC, "fgagent", "alloc_dead__sample", BPF_KIND_DEAD, true},
	{OF_AGENT, PROBES_OF_ALLOC, "fgagent", "alloc_dead__arm", -1, true},
	{OF_AGENT, PROBES_OF_ALLOC, "fgagent", "alloc__sample", BPF_KIND_ALLOC, false},
	{OF_AGENT, PROBES_OF_ALLOC, "fgagent", NULL, -1, false},
	{OF_AGENT, PROBES_OF_LOCK, "fgagent", "lock_entered__sample", BPF_KIND_ENTERED, false},
	{OF_AGENT, PROBES_OF_LOCK, "fgagent", "lock_enter__sample", BPF_KIND_ENTER, false},
	{OF_AGENT, PROBES_OF_LOCK, "fgagent", "lock__arm", -1, false},
	{OF_LIBJVM, PROBES_OF_LOCK, "hotspot", "thread__park__end", BPF_KIND_PARK_END, false},
	{OF_LIBJVM, PROBES_OF_LOCK, "hotspot", "thread__park__begin", BPF_KIND_PARK, false},
	{OF_LIBJVM, PROBES_OF_EXCEPTIONS, "", "JVM_FillInStackTrace", BPF_KIND_EXCEPTION, false},
};

#define N_WISHES (sizeof(wishes) / sizeof(wishes[0]))

enum arm_state { ARM_SEEKS, ARM_OPENS, ARM_IS_OPEN, ARM_PAUSES, ARM_IS_REFUSED };

/* The events of a JVM in one of its files. */
struct arm {
	enum arm_state state;
	unsigned kinds;		 /* of the events, if ARM_IS_OPEN */
	struct probe_box *box;	 /* while events are being opened, or are open */
	uint64_t again_ns;	 /* not sought before */
	uint64_t begun_ns;	 /* the first look; 0: none */
	uint64_t since_ns, hits; /* the stretch that is being looked at, and all hits before it */
	const char *reason;	 /* why a kind cannot be had, static; NULL: see why */
	char why[UPROBE_WHY_BYTES];
};

struct jvm_arms {
	uint64_t start_ticks; /* of the process */
	uint64_t owner;	      /* owner_group of the process */
	bool is_wanted;	      /* by the call of probe_arms_want that runs */
	struct arm arms[FILES];
};

struct probe_arms {
	struct probe_arms_options options;
	struct probe_pauses pauses;
	uint64_t now_ns, end_ns; /* of the call of probe_arms_want that runs */
	unsigned kinds;
	const struct sampler *sampler;
	struct map64 jvms; /* PID -> struct jvm_arms */
	struct probe_arms_stats stats;
};

static const char *arm_point(uint32_t interval)
{
	for (size_t i = 0; i < N_INTERVALS; i++) {
		if (intervals[i].interval == interval)
			return intervals[i].point;
	}
	return intervals[0].point;
}

static void disarm(pid_t pid, struct arm *arm)
{
	probe_box_close(pid, arm->box);
	*arm = (struct arm){0};
}

static void disarm_all(pid_t pid, struct jvm_arms *jvm)
{
	for (size_t of = 0; of < FILES; of++)
		disarm(pid, &jvm->arms[of]);
}

/* Whether one JVM more of the owner has room: each owner has as much as is free (guard/pool.h). */
static bool has_room(const struct probe_arms *arms, uint64_t owner)
{
	size_t pos = 0, n = 0;
	uint64_t pid;
	void *jvm;

	while (map64_next(&arms->jvms, &pos, &pid, &jvm))
		n += ((const struct jvm_arms *)jvm)->owner == owner;
	return n < PROBE_ARMS_MAX_JVMS - arms->jvms.count;
}

static struct jvm_arms *find_or_add(struct probe_arms *arms, const struct process *process)
{
	struct jvm_arms *jvm = map64_find(&arms->jvms, (uint64_t)process->pid);
	const uint64_t owner = owner_group(process->owner);

	if (!jvm) {
		if (!has_room(arms, owner))
			return NULL;
		jvm = calloc(1, sizeof(*jvm));
		if (!jvm)
			return NULL;
		if (map64_put(&arms->jvms, (uint64_t)process->pid, jvm) < 0) {
			free(jvm);
			return NULL;
		}
		jvm->start_ticks = process->start_ticks;
		jvm->owner = owner;
	}
	if (jvm->start_ticks != process->start_ticks) {
		disarm_all(process->pid, jvm);
		jvm->start_ticks = process->start_ticks;
		jvm->owner = owner;
	}
	return jvm;
}

static void refuse(struct arm *arm, const char *reason, uint64_t now_ns)
{
	arm->state = ARM_IS_REFUSED;
	arm->reason = reason;
	arm->again_ns = now_ns + RETRY_NS;
}

static const char *why_no_file(const struct process *process, enum points_of of)
{
	if (of == OF_LIBJVM)
		return "no libjvm.so is mapped";
	return process_has_agent(process)
		       ? "no file called *fgagent* is mapped"
		       : "it has no agent: -agentpath:/opt/fgcollect/libfgagent.so brings one";
}

/* A mapping of the file; which one does not matter. */
static const struct mapping *mapping_of(const struct process *process, enum points_of of)
{
	for (size_t i = 0; i < process->space.count; i++) {
		const struct mapping *const mapping = &process->space.mappings[i];
		const char *const slash = mapping->path ? strrchr(mapping->path, '/') : NULL;

		if (slash && strstr(slash, file_words[of]))
			return mapping;
	}
	return NULL;
}

/* What is known to stand in the way of kinds in this JVM for ever; NULL: nothing. */
static const char *obstacle_to(unsigned kinds, const struct process *process)
{
	const bool is_alloc = kinds & PROBES_OF_ALLOC;
	int64_t offered;

	if (!process_has_agent(process))
		return "its agent has not connected";
	if (!process_value(process, is_alloc ? "probes.alloc" : "probes.lock", &offered))
		return "its agent is older and has no probes: take a newer libfgagent.so into the "
		       "image";
	if (is_alloc && !offered)
		return "its JVM has no sampled allocations, which came with JDK 11";
	if (!offered)
		return "its JVM does not tell of waits for monitors";
	return NULL;
}

/* The points of the file, or the reason why there are none. NULL and NULL: later. */
static const struct probe_notes *find_notes(struct table_cache *tables,
					    const struct process *process,
					    const struct mapping *mapping, const char **ret_reason)
{
	const uint64_t missing = table_cache_missing(tables), put_off = table_cache_put_off(tables);
	const struct probe_notes *notes;

	notes = probe_cache_find(tables, process->pid, mapping, ret_reason);
	if (!notes &&
	    (table_cache_missing(tables) != missing || table_cache_put_off(tables) != put_off))
		*ret_reason = NULL;
	return notes;
}

/* Puts all points that a wish means into the box. Returns whether there are any. */
static bool put_points(const struct probe_arms *arms, const struct probe_notes *notes,
		       const struct wish *wish, struct probe_box *box)
{
	const char *const name = wish->name ? wish->name : arm_point(arms->options.alloc_interval);
	const struct probe_point *point = NULL;
	bool has_any = false;

	while ((point = probe_notes_find(notes, wish->provider, name, point))) {
		if ((wish->program < 0) == (point->semaphore_off != 0))
			has_any |= probe_box_add(box, point->file_off, point->semaphore_off,
						 wish->program);
	}
	return has_any;
}

static const char *why_no_points(const struct wish *wish)
{
	if (wish->is_of_live)
		return "its agent is older and does not tell which objects live: take a newer "
		       "libfgagent.so into the image, or record without --live";
	return wish->of == OF_AGENT ? "the file of its agent has no sound probes"
				    : "its libjvm.so lacks the probes of HotSpot";
}

/*
 * Puts what the JVM offers of the wanted points into the box, and notes why it does not the rest.
 */
static void put_wishes(const struct probe_arms *arms, const struct process *process,
		       const struct probe_notes *notes, enum points_of of, struct arm *arm,
		       struct probe_box *box)
{
	unsigned refused = 0;

	arm->kinds = 0;
	for (size_t i = 0; i < N_WISHES; i++) {
		const unsigned kinds = wishes[i].kinds & arms->kinds;
		const char *reason = NULL;

		if (!kinds || wishes[i].of != of || kinds & refused ||
		    (wishes[i].is_of_live && !arms->options.is_live))
			continue;
		if (of == OF_AGENT)
			reason = obstacle_to(kinds, process);
		if (!reason && !put_points(arms, notes, &wishes[i], box))
			reason = why_no_points(&wishes[i]);
		if (reason) {
			arm->reason = reason;
			refused |= kinds;
		}
		arm->kinds = (arm->kinds | kinds) & ~refused;
	}
}

/* Makes a box of what is to be opened. */
static void prepare(const struct probe_arms *arms, struct table_cache *tables,
		    const struct process *process, enum points_of of, const struct mapping *mapping,
		    const struct probe_notes *notes, struct arm *arm, uint64_t now_ns)
{
	struct probe_box *const box = probe_box_new();
	int file = -1;

	if (!box)
		return;
	put_wishes(arms, process, notes, of, arm, box);
	if (!probe_box_is_empty(box)) {
		file = table_cache_dup_file(tables, process->pid, mapping);
		if (file < 0)
			arm->reason = "its file cannot be held";
	}
	if (file >= 0 && probe_box_open(process->pid, box, arms->sampler, file)) {
		arm->box = box;
		arm->state = ARM_OPENS;
		return;
	}
	if (file < 0)
		probe_box_close(process->pid, box);
	if (file < 0)
		refuse(arm, arm->reason, now_ns);
}

/* Looks for the file and its points. If all is there, the events are being opened afterwards. */
static void seek(const struct probe_arms *arms, struct table_cache *tables,
		 const struct process *process, enum points_of of, struct arm *arm, uint64_t now_ns)
{
	const struct mapping *const mapping = mapping_of(process, of);
	const struct probe_notes *notes;
	const char *reason = NULL;

	if (now_ns < arm->again_ns)
		return;
	arm->reason = NULL;
	if (!mapping) {
		refuse(arm, why_no_file(process, of), now_ns);
		return;
	}
	notes = find_notes(tables, process, mapping, &reason);
	if (notes)
		prepare(arms, tables, process, of, mapping, notes, arm, now_ns);
	else if (reason)
		refuse(arm, reason, now_ns);
}

/* Hits of the points of libjvm. */
static uint64_t count_hits(const struct probe_arms *arms, pid_t pid)
{
	return sampler_probe_hits(arms->sampler, pid, BPF_KIND_PARK_END) +
	       sampler_probe_hits(arms->sampler, pid, BPF_KIND_EXCEPTION);
}

/* Closes the events for a while if too many hits have come. */
static void watch_hits(struct probe_arms *arms, pid_t pid, struct arm *arm, uint64_t now_ns,
		       uint64_t end_ns)
{
	const uint64_t hits = count_hits(arms, pid), since_ns = arm->since_ns;
	const uint64_t rest_ns = end_ns > now_ns ? end_ns - now_ns : 0;
	uint64_t pause_ns;

	if (now_ns < since_ns + STRETCH_NS)
		return;
	/* Fewer than before: the kernel's table has forgotten the process meanwhile. */
	pause_ns = probe_pauses_length(now_ns - since_ns, hits > arm->hits ? hits - arm->hits : 0);
	if (pause_ns > rest_ns)
		pause_ns = rest_ns;
	arm->since_ns = now_ns;
	arm->hits = hits;
	if (pause_ns < STRETCH_NS)
		return;
	probe_pauses_add(&arms->pauses, &(struct probe_pause){.pid = pid,
							      .from_ns = since_ns,
							      .to_ns = now_ns,
							      .pause_ns = pause_ns});
	disarm(pid, arm);
	arm->state = ARM_PAUSES;
	arm->again_ns = now_ns + pause_ns;
}

/* Takes what a call has opened. */
static void take_opened(const struct probe_arms *arms, pid_t pid, struct arm *arm, uint64_t now_ns)
{
	char why[UPROBE_WHY_BYTES];

	switch (probe_box_take(arm->box, arms->sampler, why)) {
	case PROBE_BOX_OPENS:
		return;
	case PROBE_BOX_IS_OPEN:
		arm->state = ARM_IS_OPEN;
		arm->since_ns = now_ns;
		arm->hits = count_hits(arms, pid);
		return;
	case PROBE_BOX_FAILED:
		disarm(pid, arm);
		memcpy(arm->why, why, sizeof(why));
		refuse(arm, NULL, now_ns);
		return;
	case PROBE_BOX_NOT_RUN:
		disarm(pid, arm);
		refuse(arm, "its files do not answer", now_ns);
		return;
	}
}

/*
 * Why a wanted kind is not told by events that are open; NULL: all are told. The agent goes on to
 * ask for a capability that it has not got, because the events are open.
 */
static const char *late_obstacle(const struct process *process, enum points_of of,
				 const struct arm *arm)
{
	const uint32_t flags = process->jvm->probes.flags;

	if (arm->reason || of != OF_AGENT)
		return arm->reason;
	if (arm->kinds & PROBES_OF_ALLOC && flags & WIRE_PROBES_ALLOC_REFUSED)
		return "another agent, maybe a profiler, has the JVM's capability for allocations";
	if (arm->kinds & PROBES_OF_LOCK && flags & WIRE_PROBES_LOCK_REFUSED)
		return "the JVM has not given the capability for waits";
	return NULL;
}

struct tally {
	bool is_open, is_opening, is_fresh;
	const char *why;
};

static void step(struct probe_arms *arms, struct table_cache *tables, const struct process *process,
		 enum points_of of, struct arm *arm, struct tally *tally)
{
	const uint64_t now_ns = arms->now_ns;
	const char *why = NULL;

	if (arm->state == ARM_OPENS)
		take_opened(arms, process->pid, arm, now_ns);
	else if (arm->state != ARM_IS_OPEN)
		seek(arms, tables, process, of, arm, now_ns);
	else if (of == OF_LIBJVM)
		watch_hits(arms, process->pid, arm, now_ns, arms->end_ns);
	tally->is_open |= arm->state == ARM_IS_OPEN || arm->state == ARM_PAUSES;
	if (arm->state == ARM_SEEKS || arm->state == ARM_OPENS) {
		arm->begun_ns = arm->begun_ns ? arm->begun_ns : now_ns;
		tally->is_opening = true;
		tally->is_fresh |= now_ns < arm->begun_ns + FRESH_NS;
	}
	if (arm->state == ARM_IS_REFUSED)
		why = arm->reason ? arm->reason : arm->why;
	else if (arm->state == ARM_IS_OPEN)
		why = late_obstacle(process, of, arm);
	if (!tally->why)
		tally->why = why;
}

static void add_tally(struct probe_arms_stats *stats, pid_t pid, const struct tally *tally)
{
	stats->opening += tally->is_opening;
	stats->fresh += tally->is_fresh;
	stats->armed += tally->is_open && !tally->is_opening && !tally->why;
	if (tally->why && stats->refused++ == 0)
		snprintf(stats->why, sizeof(stats->why), "PID %d: %s", (int)pid, tally->why);
}

/* Whether any wanted point is in the file. */
static bool is_of_use(const struct probe_arms *arms, enum points_of of)
{
	for (size_t i = 0; i < N_WISHES; i++) {
		if (wishes[i].of == of && wishes[i].kinds & arms->kinds)
			return true;
	}
	return false;
}

/* A JVM that is not wanted any more, and is wanted by no call yet; 0: there is none. */
static pid_t next_unwanted(const struct probe_arms *arms)
{
	size_t pos = 0;
	uint64_t pid;
	void *jvm;

	while (map64_next(&arms->jvms, &pos, &pid, &jvm)) {
		if (!((const struct jvm_arms *)jvm)->is_wanted)
			return (pid_t)pid;
	}
	return 0;
}

/* Closes the events of JVMs that are not wanted any more. */
static void drop_unwanted(struct probe_arms *arms)
{
	size_t pos = 0;
	uint64_t key;
	void *value;
	pid_t pid;

	while ((pid = next_unwanted(arms))) {
		struct jvm_arms *const jvm = map64_remove(&arms->jvms, (uint64_t)pid);

		disarm_all(pid, jvm);
		free(jvm);
	}
	while (map64_next(&arms->jvms, &pos, &key, &value))
		((struct jvm_arms *)value)->is_wanted = false;
}

void probe_arms_want(struct probe_arms *arms, struct table_cache *tables,
		     const struct process *const *wanted, size_t n, uint64_t now_ns,
		     uint64_t end_ns)
{
	arms->now_ns = now_ns;
	arms->end_ns = end_ns;
	arms->stats = (struct probe_arms_stats){0};
	for (size_t i = 0; i < n; i++) {
		struct tally tally = {0};
		struct jvm_arms *jvm;

		if (!wanted[i]->jvm || !wanted[i]->jvm->has_hello)
			continue;
		jvm = find_or_add(arms, wanted[i]);
		if (!jvm) {
			tally.why = "as many JVMs as may be, in all or of one container or user, "
				    "are armed already";
			add_tally(&arms->stats, wanted[i]->pid, &tally);
			continue;
		}
		jvm->is_wanted = true;
		for (unsigned of = 0; of < FILES; of++) {
			if (is_of_use(arms, of))
				step(arms, tables, wanted[i], of, &jvm->arms[of], &tally);
		}
		add_tally(&arms->stats, wanted[i]->pid, &tally);
	}
	arms->stats.pauses = arms->pauses.count;
	drop_unwanted(arms);
}

int probe_arms_new(const struct probe_arms_options *options, unsigned kinds,
		   const struct sampler *sampler, struct probe_arms **ret)
{
	struct probe_arms *const arms = calloc(1, sizeof(*arms));

	if (!arms)
		return -ENOMEM;
	arms->options = *options;
	arms->kinds = kinds;
	arms->sampler = sampler;
	if (!arms->options.alloc_interval)
		arms->options.alloc_interval = PROBE_ARMS_DEFAULT_INTERVAL;
	*ret = arms;
	return 0;
}

void probe_arms_free(struct probe_arms *arms)
{
	if (!arms)
		return;
	drop_unwanted(arms); /* all: no call wants one now */
	map64_fini(&arms->jvms);
	free(arms);
}

void probe_arms_stats(const struct probe_arms *arms, struct probe_arms_stats *ret)
{
	*ret = arms->stats;
}

uint64_t probe_arms_weight(const struct probe_arms *arms, const struct record *record)
{
	return probe_pauses_weight(&arms->pauses, record, arms->end_ns);
}

bool probe_arms_spans_pause(const struct probe_arms *arms, const struct record *record)
{
	return probe_pauses_are_spanned(&arms->pauses, record);
}
