// SPDX-License-Identifier: Apache-2.0
/*
 * States of stacks, see waits.h. A caller's number is smaller than its callees', so that what holds
 * for the way from the root to a node is known from the node's parent.
 */
#include "profile/waits.h"

#include "base/cleanup.h"
#include "profile/idle_frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT	  PROFILE_ROOT
#define NO_NODE	  UINT32_MAX
#define IDLE_NAME "[idle]"
#define RUNNABLE  "[runnable]"
#define TRUNCATED "[truncated"
#define ALL	  ((1u << WAIT_STATES) - 1)

static const char *const words[WAIT_STATES] = {
	[WAIT_RUNNING] = "running",
	[WAIT_RUNNABLE] = "runnable",
	[WAIT_BLOCKED] = "blocked",
};

const char *wait_state_word(enum wait_state state)
{
	return words[state];
}

bool wait_states_parse(const char *text, unsigned *ret)
{
	unsigned states = 0;

	for (const char *end;; text = end + 1) {
		int state = 0;

		end = text + strcspn(text, ",");
		while (state < WAIT_STATES && (strlen(words[state]) != (size_t)(end - text) ||
					       strncmp(words[state], text, (size_t)(end - text))))
			state++;
		if (state == WAIT_STATES)
			return false;
		states |= 1u << state;
		if (!*end)
			break;
	}
	*ret = states;
	return true;
}

// ---- what stacks are ----

static unsigned roles_of(const struct wait_options *options, const struct profile_node *node)
{
	/* Not in the stack of who has ended the wait. */
	if (node->kind == FRAME_WAIT)
		return 0;
	for (size_t i = 0; i < options->n_idle_frames; i++) {
		if (idle_frame_matches(options->idle_frames[i], node->name))
			return IDLE_FRAME;
	}
	return idle_frame_roles(node->name, node->module);
}

static enum wait_state state_of(const struct profile_node *node, enum wait_state above)
{
	if (node->kind != FRAME_WAIT)
		return above;
	return strcmp(node->name, RUNNABLE) == 0 ? WAIT_RUNNABLE : WAIT_BLOCKED;
}

/* A loop and its wait are next to each other, in this order or upside down. */
static bool is_waiting_loop(unsigned one, unsigned other)
{
	return (one & IDLE_LOOP && other & IDLE_WAIT) || (one & IDLE_WAIT && other & IDLE_LOOP);
}

static void classify(struct waits *waits, const struct profile *profile,
		     const struct wait_options *options, uint8_t *roles)
{
	for (uint32_t i = 1; i < profile->count; i++) {
		const struct profile_node *const node = &profile->nodes[i];
		const uint32_t up = node->parent;

		roles[i] = (uint8_t)roles_of(options, node);
		if (is_waiting_loop(roles[up], roles[i]))
			roles[i] |= IDLE_FRAME;
		waits->states[i] = (uint8_t)state_of(node, (enum wait_state)waits->states[up]);
		waits->is_idle[i] =
			waits->states[i] == WAIT_BLOCKED && (roles[up] | roles[i]) & IDLE_FRAME;
		roles[i] |= roles[up] & IDLE_FRAME;
	}
}

bool waits_are_in(const struct profile *profile)
{
	return profile->kinds >> FRAME_WAIT & 1;
}

int waits_init(struct waits *ret, const struct profile *profile, const struct wait_options *options)
{
	_cleanup_free_ uint8_t *roles = NULL;

	*ret = (struct waits){.all = profile->nodes[ROOT].total,
			      .has_waits = waits_are_in(profile)};
	ret->by_state[WAIT_RUNNING] = ret->all;
	if (!ret->has_waits)
		return 0;
	roles = calloc(profile->count, sizeof(*roles));
	ret->states = calloc(profile->count, sizeof(*ret->states));
	ret->is_idle = calloc(profile->count, sizeof(*ret->is_idle));
	if (!roles || !ret->states || !ret->is_idle) {
		waits_fini(ret);
		return -ENOMEM;
	}
	classify(ret, profile, options, roles);
	ret->by_state[WAIT_RUNNING] = 0;
	for (uint32_t i = 0; i < profile->count; i++) {
		ret->by_state[ret->states[i]] += profile->nodes[i].self;
		ret->idle += ret->is_idle[i] ? profile->nodes[i].self : 0;
	}
	return 0;
}

void waits_fini(struct waits *waits)
{
	free(waits->states);
	free(waits->is_idle);
	*waits = (struct waits){0};
}

// ---- which are wanted ----

static bool wants_state(const struct wait_options *options, enum wait_state state)
{
	return options->states == 0 || options->states >> state & 1;
}

bool waits_wants(const struct waits *waits, const struct wait_options *options, enum waits_way way,
		 uint32_t node)
{
	if (!waits->has_waits)
		return wants_state(options, WAIT_RUNNING);
	return wants_state(options, (enum wait_state)waits->states[node]) &&
	       (way != WAITS_LEAVE_OUT || !waits->is_idle[node]);
}

bool waits_changes(const struct waits *waits, const struct wait_options *options,
		   enum waits_way way)
{
	for (int state = 0; state < WAIT_STATES; state++) {
		if (waits->by_state[state] > 0 && !wants_state(options, (enum wait_state)state))
			return true;
	}
	return way != WAITS_KEEP && waits->idle > 0;
}

struct cutting {
	const struct profile *from;
	const struct waits *waits;
	const struct wait_options *options;
	enum waits_way way;
	struct profile *to;
	uint32_t *place; /* node of from -> node of to, or NO_NODE */
	uint32_t *of;	 /* node of from -> node of to that its samples are in, or NO_NODE */
	uint32_t *label; /* the last of the labels that the way to the node begins with, or ROOT */
};

static bool is_folded(const struct cutting *cutting, uint32_t i)
{
	return cutting->way == WAITS_FOLD && cutting->waits->has_waits &&
	       cutting->waits->is_idle[i];
}

static bool has_wanted(const struct cutting *cutting, uint32_t i)
{
	return cutting->from->nodes[i].self > 0 &&
	       waits_wants(cutting->waits, cutting->options, cutting->way, i);
}

static void find_labels(struct cutting *cutting)
{
	const struct profile_node *const nodes = cutting->from->nodes;

	for (uint32_t i = 1; i < cutting->from->count; i++) {
		const uint32_t up = nodes[i].parent;
		const bool goes_on = cutting->label[up] == up && nodes[i].kind == FRAME_LABEL &&
				     strncmp(nodes[i].name, TRUNCATED, strlen(TRUNCATED)) != 0;

		cutting->label[i] = goes_on ? i : cutting->label[up];
	}
}

/* Sets place to 0 where the result has a node. */
static void mark_needed(struct cutting *cutting)
{
	const struct profile *const from = cutting->from;

	for (uint32_t i = 0; i < from->count; i++)
		cutting->place[i] = cutting->of[i] = NO_NODE;
	for (uint32_t i = 0; i < from->count; i++) {
		if (has_wanted(cutting, i))
			cutting->place[is_folded(cutting, i) ? cutting->label[i] : i] = 0;
	}
	for (uint32_t i = from->count - 1; i > ROOT; i--) {
		if (cutting->place[i] != NO_NODE)
			cutting->place[from->nodes[i].parent] = 0;
	}
	cutting->place[ROOT] = ROOT;
}

static int enter(struct profile *to, const struct frame *frame, uint32_t *id)
{
	struct profile_name name;
	const int rc = profile_keep_name(to, frame, &name);

	return rc < 0 ? rc : profile_descend(to, &name, id);
}

static int copy_node(struct cutting *cutting, uint32_t i)
{
	static const struct frame idle = {.name = IDLE_NAME, .kind = FRAME_WAIT};
	const struct profile_node *const node = &cutting->from->nodes[i];
	struct frame frame;
	int rc = 0;

	if (i != ROOT && cutting->place[i] != NO_NODE) {
		frame = profile_frame_of(node);
		cutting->place[i] = cutting->place[node->parent];
		rc = enter(cutting->to, &frame, &cutting->place[i]);
	}
	if (rc < 0 || !has_wanted(cutting, i))
		return rc;
	cutting->of[i] = cutting->place[i];
	if (is_folded(cutting, i)) {
		cutting->of[i] = cutting->place[cutting->label[i]];
		rc = enter(cutting->to, &idle, &cutting->of[i]);
	}
	return rc < 0 ? rc : profile_count(cutting->to, cutting->of[i], node->self);
}

static int copy_timeline(const struct cutting *cutting, const struct timeline *timeline,
			 struct timeline *ret)
{
	*ret = *timeline;
	ret->n_entries = 0;
	ret->entries = malloc((timeline->n_entries + 1) * sizeof(*ret->entries));
	if (!ret->entries)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->n_entries; i++) {
		const struct timeline_entry *const entry = &timeline->entries[i];

		if (entry->node >= cutting->from->count || cutting->of[entry->node] == NO_NODE)
			continue;
		ret->entries[ret->n_entries] = *entry;
		ret->entries[ret->n_entries++].node = cutting->of[entry->node];
	}
	timeline_sort(ret);
	return 0;
}

/* The result has fewer nodes, but for the [idle] ones; some room is for what memory cuts. */
static uint32_t max_nodes_of(const struct profile *from)
{
	const uint64_t sum = (uint64_t)from->count / 15 * 16 * 2 + 64;

	return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

static int cut_all(struct cutting *cutting, const struct timeline *timeline, struct waits_cut *ret)
{
	int rc = 0;

	find_labels(cutting);
	mark_needed(cutting);
	for (uint32_t i = 0; rc >= 0 && i < cutting->from->count; i++)
		rc = copy_node(cutting, i);
	if (rc < 0)
		return rc;
	profile_sum(&ret->profile);
	profile_add_quality(&ret->profile.quality, &cutting->from->quality);
	return timeline ? copy_timeline(cutting, timeline, &ret->timeline) : 0;
}

int waits_cut_init(struct waits_cut *ret, const struct profile *from,
		   const struct timeline *timeline, const struct waits *waits,
		   const struct wait_options *options, enum waits_way way)
{
	_cleanup_free_ uint32_t *place = calloc(from->count, sizeof(*place));
	_cleanup_free_ uint32_t *of = calloc(from->count, sizeof(*of));
	_cleanup_free_ uint32_t *label = calloc(from->count, sizeof(*label));
	struct cutting cutting = {from, waits, options, way, &ret->profile, place, of, label};
	int rc;

	*ret = (struct waits_cut){0};
	rc = profile_init(&ret->profile, max_nodes_of(from));
	if (!rc && (!place || !of || !label))
		rc = -ENOMEM;
	if (!rc)
		rc = cut_all(&cutting, timeline, ret);
	if (rc < 0)
		waits_cut_fini(ret);
	return rc;
}

void waits_cut_fini(struct waits_cut *cut)
{
	profile_fini(&cut->profile);
	free(cut->timeline.entries);
	*cut = (struct waits_cut){0};
}

// ---- words ----

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* Adds "57.0 s of 900.0 s (6.3 %)". */
static size_t say_part(uint64_t part, uint64_t all, const struct profile_kind *kind, char *ret,
		       size_t size)
{
	char amount[PROFILE_AMOUNT_BYTES], of[PROFILE_AMOUNT_BYTES];

	return (size_t)snprintf(ret, size, "%s of %s (%.1f %%)",
				profile_kind_amount(kind, part, amount),
				profile_kind_amount(kind, all, of), percent(part, all));
}

/* Adds "only running and runnable: ". */
static size_t say_states(const struct wait_options *options, char *ret, size_t size)
{
	size_t len = 0;

	for (int state = 0; state < WAIT_STATES; state++) {
		if (options->states >> state & 1)
			len += (size_t)snprintf(ret + len, size - len, "%s%s",
						len ? " and " : "only ", words[state]);
	}
	return len + (size_t)snprintf(ret + len, size - len, ": ");
}

const char *waits_say(const struct waits *waits, const struct wait_options *options,
		      enum waits_way way, const struct profile_kind *kind,
		      char ret[WAITS_SAY_BYTES])
{
	const bool has_idle = waits->idle > 0 && wants_state(options, WAIT_BLOCKED);
	uint64_t wanted = 0;
	size_t len = 0;

	ret[0] = '\0';
	for (int state = 0; state < WAIT_STATES; state++)
		wanted += wants_state(options, (enum wait_state)state) ? waits->by_state[state] : 0;
	if (has_idle && way == WAITS_LEAVE_OUT)
		wanted -= waits->idle;
	if (options->states != 0 && options->states != ALL) {
		len = say_states(options, ret, WAITS_SAY_BYTES);
		len += say_part(wanted, waits->all, kind, ret + len, WAITS_SAY_BYTES - len);
	}
	if (!has_idle)
		return ret;
	len += (size_t)snprintf(ret + len, WAITS_SAY_BYTES - len, "%sidle: ", len ? "; " : "");
	len += say_part(waits->idle, waits->all, kind, ret + len, WAITS_SAY_BYTES - len);
	if (way == WAITS_LEAVE_OUT)
		snprintf(ret + len, WAITS_SAY_BYTES - len, ", not shown");
	return ret;
}
