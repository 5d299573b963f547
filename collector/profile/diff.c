// SPDX-License-Identifier: Apache-2.0
/* Joins two profiles node by node, see diff.h. */
#include "profile/diff.h"

#include "base/cleanup.h"
#include "base/map64.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOT PROFILE_ROOT

static void count(struct profile_diff *diff, const struct profile *from, const uint32_t *ids,
		  int side)
{
	for (uint32_t i = 0; i < from->count; i++)
		diff->nodes[ids[i]].self[side] += from->nodes[i].self;
	for (uint32_t i = 0; i < diff->tree.count; i++)
		diff->nodes[i].total[side] = diff->nodes[i].self[side];
	for (uint32_t i = diff->tree.count - 1; i > ROOT; i--)
		diff->nodes[diff->tree.nodes[i].parent].total[side] += diff->nodes[i].total[side];
}

double diff_scale(const struct profile_diff *diff)
{
	const uint64_t *const all = diff->nodes[ROOT].total;

	if (diff->options.is_raw || all[DIFF_BEFORE] == 0 || all[DIFF_AFTER] == 0)
		return 1;
	return (double)all[DIFF_AFTER] / (double)all[DIFF_BEFORE];
}

static uint64_t width_of(const struct profile_diff *diff, uint32_t id, double scale)
{
	const uint64_t *const self = diff->nodes[id].self;
	uint64_t before = self[DIFF_BEFORE];

	switch (diff->options.width) {
	case DIFF_WIDTH_BEFORE:
		return before;
	case DIFF_WIDTH_UNION:
		if (scale != 1)
			before = (uint64_t)llround((double)before * scale);
		return before > self[DIFF_AFTER] ? before : self[DIFF_AFTER];
	case DIFF_WIDTH_AFTER:
		break;
	}
	return self[DIFF_AFTER];
}

static int set_widths(struct profile_diff *diff)
{
	const double scale = diff_scale(diff);

	for (uint32_t i = 0; i < diff->tree.count; i++) {
		const int rc = profile_count(&diff->tree, i, width_of(diff, i, scale));

		if (rc < 0)
			return rc;
	}
	profile_sum(&diff->tree);
	return 0;
}

static uint32_t max_nodes_of(const struct profile *before, const struct profile *after)
{
	const uint64_t sum = ((uint64_t)before->count + after->count) / 15 * 16 + 64;

	return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

int diff_init(struct profile_diff *diff, const struct profile *before, const struct profile *after,
	      const struct diff_options *options)
{
	_cleanup_free_ uint32_t *before_ids = calloc(before->count, sizeof(*before_ids));
	_cleanup_free_ uint32_t *after_ids = calloc(after->count, sizeof(*after_ids));
	const struct diff_join join = {.to = &diff->tree,
				       .from = {before, after},
				       .ids = {before_ids, after_ids},
				       .splits_kinds = options->splits_kinds};
	int rc;

	*diff = (struct profile_diff){.options = *options};
	rc = before_ids && after_ids ? profile_init(&diff->tree, max_nodes_of(before, after))
				     : -ENOMEM;
	if (rc == 0)
		rc = diff_join(&join);
	if (rc == 0) {
		diff->nodes = calloc(diff->tree.count, sizeof(*diff->nodes));
		rc = diff->nodes ? 0 : -ENOMEM;
	}
	if (rc == 0) {
		count(diff, before, before_ids, DIFF_BEFORE);
		count(diff, after, after_ids, DIFF_AFTER);
		rc = set_widths(diff);
	}
	if (rc < 0)
		diff_fini(diff);
	return rc;
}

void diff_fini(struct profile_diff *diff)
{
	profile_fini(&diff->tree);
	free(diff->nodes);
	*diff = (struct profile_diff){0};
}

double diff_change(const struct profile_diff *diff, const uint64_t counts[DIFF_SIDES])
{
	const uint64_t *const all = diff->nodes[ROOT].total;
	const double whole = (double)(all[DIFF_AFTER] ? all[DIFF_AFTER] : all[DIFF_BEFORE]);

	if (whole == 0)
		return 0;
	return ((double)counts[DIFF_AFTER] - (double)counts[DIFF_BEFORE] * diff_scale(diff)) /
	       whole;
}

/* As if each unit of weight were a sample. */
static double z_of_units(const struct profile_diff *diff, const uint64_t counts[DIFF_SIDES])
{
	const uint64_t *const all = diff->nodes[ROOT].total;
	const double n = (double)all[DIFF_BEFORE], m = (double)all[DIFF_AFTER];
	const double x = (double)counts[DIFF_BEFORE], y = (double)counts[DIFF_AFTER];
	double pooled, deviation;

	if (diff->options.is_raw)
		return x + y > 0 ? (y - x) / sqrt(x + y) : 0;
	if (n == 0 || m == 0)
		return 0;
	pooled = (x + y) / (n + m);
	deviation = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
	return deviation > 0 ? (y / m - x / n) / deviation : 0;
}

/* Both tests depend on the root of the number of samples. */
double diff_z(const struct profile_diff *diff, const uint64_t counts[DIFF_SIDES])
{
	const double weight = diff->options.sample_weight;

	return z_of_units(diff, counts) / (weight > 0 ? sqrt(weight) : 1);
}

bool diff_is_noise(const struct profile_diff *diff, const uint64_t counts[DIFF_SIDES])
{
	return fabs(diff_z(diff, counts)) < DIFF_NOISE_Z;
}

// ---- methods ----

struct tally {
	const struct profile_diff *diff;
	struct map64 by_name; /* name and kind -> number in methods, from 1 */
	struct diff_method *methods;
	uint32_t *active;    /* by method: how many of its nodes the path of the walk has */
	uint32_t *method_of; /* by node */
	uint32_t n;
};

static int number_methods(struct tally *tally)
{
	const struct profile *const tree = &tally->diff->tree;

	for (uint32_t i = 1; i < tree->count; i++) {
		const struct profile_node *const node = &tree->nodes[i];
		const uint64_t key = (uint64_t)(uintptr_t)node->name << 4 | node->kind;
		uintptr_t number = (uintptr_t)map64_find(&tally->by_name, key);

		if (!number) {
			number = ++tally->n;
			if (map64_put(&tally->by_name, key, (void *)number) < 0)
				return -ENOMEM;
			tally->methods[number - 1] = (struct diff_method){
				.name = node->name, .kind = (enum frame_kind)node->kind};
		}
		tally->method_of[i] = (uint32_t)number - 1;
	}
	return 0;
}

static void enter(struct tally *tally, uint32_t id)
{
	const struct diff_counts *const node = &tally->diff->nodes[id];
	struct diff_method *const method = &tally->methods[tally->method_of[id]];
	const bool is_outermost = tally->active[tally->method_of[id]]++ == 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		method->counts.self[side] += node->self[side];
		if (is_outermost)
			method->counts.total[side] += node->total[side];
	}
}

/*
 * Goes to the first child, else to the next sibling, else up. Stacks may be too deep for recursion.
 */
static void walk(struct tally *tally)
{
	const struct profile_node *const nodes = tally->diff->tree.nodes;
	uint32_t id = nodes[ROOT].first_child;

	while (id != ROOT) {
		enter(tally, id);
		if (nodes[id].first_child) {
			id = nodes[id].first_child;
			continue;
		}
		while (id != ROOT) {
			tally->active[tally->method_of[id]]--;
			if (nodes[id].next_sibling)
				break;
			id = nodes[id].parent;
		}
		if (id != ROOT)
			id = nodes[id].next_sibling;
	}
}

struct rank {
	double self;
	double total;
	struct diff_method method;
};

static int by_change(const void *a, const void *b)
{
	const struct rank *const x = a;
	const struct rank *const y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->method.name, y->method.name);
}

static int sort_methods(const struct tally *tally)
{
	struct rank *const ranks = malloc((tally->n + 1) * sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	for (uint32_t i = 0; i < tally->n; i++) {
		const struct diff_counts *const counts = &tally->methods[i].counts;

		ranks[i] = (struct rank){fabs(diff_change(tally->diff, counts->self)),
					 fabs(diff_change(tally->diff, counts->total)),
					 tally->methods[i]};
	}
	qsort(ranks, tally->n, sizeof(*ranks), by_change);
	for (uint32_t i = 0; i < tally->n; i++)
		tally->methods[i] = ranks[i].method;
	free(ranks);
	return 0;
}

static void tally_fini(struct tally *tally)
{
	map64_fini(&tally->by_name);
	free(tally->methods);
	free(tally->active);
	free(tally->method_of);
}

int diff_methods(const struct profile_diff *diff, struct diff_method **ret, size_t *ret_n)
{
	_cleanup_(tally_fini) struct tally tally = {.diff = diff};
	int rc;

	tally.methods = calloc(diff->tree.count, sizeof(*tally.methods));
	tally.active = calloc(diff->tree.count, sizeof(*tally.active));
	tally.method_of = calloc(diff->tree.count, sizeof(*tally.method_of));
	if (!tally.methods || !tally.active || !tally.method_of)
		return -ENOMEM;
	rc = number_methods(&tally);
	if (rc == 0) {
		walk(&tally);
		rc = sort_methods(&tally);
	}
	if (rc < 0)
		return rc;
	*ret = tally.methods;
	*ret_n = tally.n;
	tally.methods = NULL;
	return 0;
}
