// SPDX-License-Identifier: Apache-2.0
/*
 * Adds parts of recordings, see store_sum.h. A part's nodes and threads get their numbers in the
 * sum first, so that a node is looked up once and not once a sample.
 */
#include "store/store_sum.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_NUMBER     UINT32_MAX
#define OVERFLOW_NAME "[overflow]"

/* A node of the part, and what became of it. */
struct place {
	uint64_t weight; /* to be counted in it */
	uint32_t id;	 /* in the sum */
	bool is_wanted;	 /* it, or a node below it, has a weight */
	bool is_cut;	 /* id is an [overflow] node */
};

/* A part that is being added. */
struct adding {
	struct store_sum_kind *to;
	const struct profile_part *from;
	const struct store_range *range;
	uint64_t start_ns; /* of the part's times */
	uint64_t sum_ns;   /* start of the sum's times */
	bool is_whole;
	size_t max_name_bytes;
	struct place *places;
	uint32_t *threads;
	uint64_t counted;
};

void store_sum_init(struct store_sum *sum, uint64_t start_ns)
{
	*sum = (struct store_sum){.start_ns = start_ns};
}

void store_sum_limit(struct store_sum *sum, const struct store_sum_limits *limits)
{
	sum->limits = *limits;
}

void store_sum_fini(struct store_sum *sum)
{
	for (size_t i = 0; i < sum->n; i++) {
		profile_fini(&sum->kinds[i]->profile);
		timeline_fini(&sum->kinds[i]->timeline);
		free(sum->kinds[i]);
	}
	*sum = (struct store_sum){0};
}

/* NULL: there is no memory. */
static struct store_sum_kind *make_kind(struct store_sum *sum, const struct profile_kind *kind)
{
	struct store_sum_kind *const one = calloc(1, sizeof(*one));

	if (!one || profile_init(&one->profile, sum->limits.nodes) < 0) {
		free(one);
		return NULL;
	}
	timeline_init(&one->timeline, sum->limits.times);
	snprintf(one->texts[0], PROFILE_KIND_BYTES, "%s", kind->name);
	snprintf(one->texts[1], PROFILE_KIND_BYTES, "%s", kind->unit);
	one->kind = (struct profile_kind){one->texts[0], one->texts[1]};
	sum->kinds[sum->n++] = one;
	return one;
}

/* *ret is NULL if the part has no place. */
static int find_kind(struct store_sum *sum, const struct profile_kind *kind,
		     struct store_sum_kind **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < sum->n; i++) {
		if (strcmp(sum->kinds[i]->kind.name, kind->name) != 0)
			continue;
		if (profile_kind_is_same(&sum->kinds[i]->kind, kind))
			*ret = sum->kinds[i];
		return 0;
	}
	if (sum->n == PROFILE_MAX_KINDS)
		return 0;
	*ret = make_kind(sum, kind);
	return *ret ? 0 : -ENOMEM;
}

/* ---- facts ---- */

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* A fact that differs between parts is left out. */
static void join_text(struct store_sum_kind *to, const char **all, const char *one)
{
	if (!to->has_info)
		*all = one ? intern_add_str(&to->profile.names, one) : NULL;
	else if (!is_same(*all, one))
		*all = NULL;
}

static uint64_t share_of(uint64_t count, uint64_t part, uint64_t all)
{
	return all == 0	     ? 0
	       : part >= all ? count
			     : (uint64_t)((double)count * ((double)part / (double)all) + 0.5);
}

static struct profile_quality share_of_quality(const struct profile_quality *quality, uint64_t part)
{
	const uint64_t all = quality->samples;
	struct profile_quality ret = {
		.unnamed_samples = share_of(quality->unnamed_samples, part, all),
		.unnamed_java_samples = share_of(quality->unnamed_java_samples, part, all),
		.unrooted_samples = share_of(quality->unrooted_samples, part, all),
		.heapless_samples = share_of(quality->heapless_samples, part, all),
		.lost_samples = share_of(quality->lost_samples, part, all),
		.stackless_samples = share_of(quality->stackless_samples, part, all),
		.overflow_samples = share_of(quality->overflow_samples, part, all),
	};

	for (size_t i = 0; i < PROFILE_REASONS; i++)
		ret.truncated_samples[i] = share_of(quality->truncated_samples[i], part, all);
	return ret;
}

/* Reasons without room count only among the unrooted samples. */
static void join_reasons(struct store_sum_kind *to, const struct profile_info *one,
			 const uint64_t counts[PROFILE_REASONS])
{
	for (size_t i = 0; i < PROFILE_REASONS; i++) {
		size_t at = 0;

		if (!one->reasons[i])
			continue;
		while (at < PROFILE_REASONS && to->info.reasons[at] &&
		       !is_same(to->info.reasons[at], one->reasons[i]))
			at++;
		if (at == PROFILE_REASONS)
			continue;
		if (!to->info.reasons[at])
			to->info.reasons[at] = intern_add_str(&to->profile.names, one->reasons[i]);
		to->profile.quality.truncated_samples[at] += counts[i];
	}
}

static void join_facts(const struct adding *adding)
{
	struct store_sum_kind *const to = adding->to;
	const struct profile_info *const one = adding->from->info;
	struct profile_quality quality = share_of_quality(
		one ? &one->quality : &adding->from->profile->quality, adding->counted);
	uint64_t reasons[PROFILE_REASONS];

	memcpy(reasons, quality.truncated_samples, sizeof(reasons));
	memset(quality.truncated_samples, 0, sizeof(quality.truncated_samples));
	profile_add_quality(&to->profile.quality, &quality);
	if (!one)
		return;
	join_reasons(to, one, reasons);
	join_text(to, &to->info.host, one->host);
	join_text(to, &to->info.boot_id, one->boot_id);
	join_text(to, &to->info.kernel, one->kernel);
	join_text(to, &to->info.event, one->event);
	join_text(to, &to->info.program, one->program);
	if (!to->has_info)
		to->info.hz = one->hz;
	else if (to->info.hz != one->hz)
		to->info.hz = 0;
	to->has_info = true;
}

/* ---- the tree ---- */

/* Since 1970. */
static uint64_t time_of(const struct adding *adding, const struct timeline_entry *entry)
{
	uint64_t at_ns = entry->bucket * adding->from->timeline->bucket_ns;

	return __builtin_add_overflow(at_ns, adding->start_ns, &at_ns) ? UINT64_MAX : at_ns;
}

static bool is_in(const struct adding *adding, const struct timeline_entry *entry)
{
	const uint64_t at_ns = time_of(adding, entry);

	return at_ns >= adding->range->from_ns && at_ns < adding->range->to_ns;
}

/* Says what each node counts. False: that does not add up. */
static bool weigh(struct adding *adding)
{
	const struct profile *const profile = adding->from->profile;
	const struct timeline *const timeline = adding->from->timeline;

	if (adding->is_whole) {
		for (uint32_t id = 0; id < profile->count; id++)
			adding->places[id].weight = profile->nodes[id].self;
	} else {
		for (size_t i = 0; i < timeline->n_entries; i++) {
			const struct timeline_entry *const entry = &timeline->entries[i];

			if (entry->node < profile->count && is_in(adding, entry))
				adding->places[entry->node].weight += entry->weight;
		}
	}
	for (uint32_t id = profile->count; id-- > 0;) {
		struct place *const place = &adding->places[id];

		place->is_wanted |= place->weight > 0;
		if (__builtin_add_overflow(adding->counted, place->weight, &adding->counted))
			return false;
		if (id > 0 && place->is_wanted)
			adding->places[profile->nodes[id].parent].is_wanted = true;
	}
	return true;
}

static bool is_overflow(const struct profile_node *node)
{
	return node->kind == FRAME_LABEL && strcmp(node->name, OVERFLOW_NAME) == 0;
}

/* Where names have used up their room, a node counts as [overflow]. */
static int add_node(struct adding *adding, uint32_t id)
{
	static const struct frame overflow = {.name = OVERFLOW_NAME, .kind = FRAME_LABEL};
	const struct profile_node *const node = &adding->from->profile->nodes[id];
	const struct place *const parent = &adding->places[node->parent];
	const bool has_names = adding->to->profile.names.arena.total_bytes < adding->max_name_bytes;
	const struct frame frame = has_names ? profile_frame_of(node) : overflow;
	struct place *const place = &adding->places[id];
	struct profile_name name;
	int rc = 0;

	place->id = id == PROFILE_ROOT ? PROFILE_ROOT : parent->id;
	place->is_cut = id != PROFILE_ROOT && parent->is_cut;
	if (id != PROFILE_ROOT && !place->is_cut) {
		rc = profile_keep_name(&adding->to->profile, &frame, &name);
		if (!rc)
			rc = profile_descend(&adding->to->profile, &name, &place->id);
		place->is_cut = rc == 1 || !has_names;
	}
	if (rc >= 0 && place->weight > 0)
		rc = profile_count(&adding->to->profile, place->id, place->weight);
	if (place->is_cut && !is_overflow(node))
		adding->to->profile.quality.overflow_samples += place->weight;
	return rc < 0 ? rc : 0;
}

static int add_tree(struct adding *adding)
{
	int err = 0;

	for (uint32_t id = 0; !err && id < adding->from->profile->count; id++)
		if (id == PROFILE_ROOT || adding->places[id].is_wanted)
			err = add_node(adding, id);
	return err;
}

/* ---- times ---- */

static int number_threads(struct adding *adding)
{
	const struct timeline *const from = adding->from->timeline;
	_cleanup_free_ uint32_t *processes = calloc(from->n_processes + 1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	for (size_t i = 0; i < from->n_processes; i++)
		processes[i] = timeline_process(&adding->to->timeline, &from->processes[i]);
	for (size_t i = 0; i < from->n_threads; i++) {
		struct timeline_thread thread = from->threads[i];

		thread.process =
			thread.process < from->n_processes ? processes[thread.process] : NO_NUMBER;
		adding->threads[i] = timeline_thread(&adding->to->timeline, &thread);
	}
	return 0;
}

static int add_times(struct adding *adding)
{
	const struct timeline *const from = adding->from->timeline;
	struct timeline *const to = &adding->to->timeline;
	const int err = number_threads(adding);

	if (err)
		return err;
	for (size_t i = 0; i < from->n_entries; i++) {
		struct timeline_entry entry = from->entries[i];
		const uint64_t at_ns = time_of(adding, &entry);

		if (entry.node >= adding->from->profile->count ||
		    (!adding->is_whole && !is_in(adding, &entry)))
			continue;
		entry.thread =
			entry.thread < from->n_threads ? adding->threads[entry.thread] : NO_NUMBER;
		entry.node = adding->places[entry.node].id;
		timeline_add(to, at_ns > adding->sum_ns ? at_ns - adding->sum_ns : 0, &entry);
	}
	if (adding->is_whole) {
		to->lost_samples += from->lost_samples;
		to->lost_names += from->lost_names;
	}
	return 0;
}

static uint64_t end_of(const struct profile_part *part)
{
	uint64_t end;

	return __builtin_add_overflow(part->info->start_unix_ns, part->info->duration_ns, &end)
		       ? UINT64_MAX
		       : end;
}

/* A part without times is in the range or not as a whole. */
static bool is_whole(const struct profile_part *from, const struct store_range *range)
{
	return !from->timeline || !from->info || from->info->start_unix_ns == 0 ||
	       (from->info->start_unix_ns >= range->from_ns && end_of(from) <= range->to_ns);
}

static int add_part(struct adding *adding)
{
	int err;

	if (adding->counted == 0)
		return 0;
	err = add_tree(adding);
	if (!err && adding->from->timeline)
		err = add_times(adding);
	if (!err)
		join_facts(adding);
	return err;
}

int store_sum_add(struct store_sum *sum, const struct profile_part *from,
		  const struct store_range *range)
{
	const size_t n_threads = from->timeline ? from->timeline->n_threads : 0;
	_cleanup_free_ struct place *places = calloc(from->profile->count + 1, sizeof(*places));
	_cleanup_free_ uint32_t *threads = calloc(n_threads + 1, sizeof(*threads));
	struct adding adding = {
		.from = from,
		.range = range,
		.start_ns = from->info && from->info->start_unix_ns ? from->info->start_unix_ns
								    : sum->start_ns,
		.sum_ns = sum->start_ns,
		.is_whole = is_whole(from, range),
		.max_name_bytes = sum->limits.name_bytes ? sum->limits.name_bytes : SIZE_MAX,
		.places = places,
		.threads = threads,
	};
	int err = places && threads ? 0 : -ENOMEM;

	if (!err && weigh(&adding))
		err = find_kind(sum, from->kind, &adding.to);
	if (err)
		return err;
	if (!adding.to || adding.counted > UINT64_MAX - adding.to->profile.quality.samples) {
		sum->left_out++;
		return 0;
	}
	err = add_part(&adding);
	if (err)
		return err;
	sum->parts++;
	if (!adding.is_whole)
		sum->untimed += from->timeline->lost_samples;
	if (from->info && end_of(from) > sum->end_ns)
		sum->end_ns = end_of(from);
	return 0;
}

void store_sum_next_process(struct store_sum *sum)
{
	for (size_t i = 0; i < sum->n; i++) /* rows stay, but no PID finds them any more */
		map64_fini(&sum->kinds[i]->timeline.process_numbers);
}

void store_sum_finish(struct store_sum *sum)
{
	for (size_t i = 0; i < sum->n; i++) {
		struct store_sum_kind *const one = sum->kinds[i];

		profile_sum(&one->profile);
		timeline_sort(&one->timeline);
		one->info.quality = one->profile.quality;
		one->info.start_unix_ns = sum->start_ns;
		one->info.duration_ns =
			sum->end_ns > sum->start_ns ? sum->end_ns - sum->start_ns : 0;
	}
}

size_t store_sum_parts(const struct store_sum *sum, struct profile_part ret[PROFILE_MAX_KINDS])
{
	for (size_t i = 0; i < sum->n; i++) {
		const struct store_sum_kind *const one = sum->kinds[i];

		ret[i] = (struct profile_part){
			.kind = &one->kind,
			.profile = &one->profile,
			.timeline = &one->timeline,
			.info = &one->info,
		};
	}
	return sum->n;
}
