// SPDX-License-Identifier: Apache-2.0
/* One step from many nodes to their callers, see top_callers.h. */
#include "top/top_callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct step {
	const char *name;
	struct top_place place;
};

int top_places_of(const struct top_table *table, const struct top_method *method,
		  struct top_place **ret, size_t *ret_n)
{
	struct top_place *places;
	size_t n = 0;

	for (uint32_t id = method->first; id != TOP_NONE; id = table->next[id])
		n++;
	places = calloc(n + 1, sizeof(*places));
	if (!places)
		return -ENOMEM;
	n = 0;
	for (uint32_t id = method->first; id != TOP_NONE; id = table->next[id])
		places[n++] = (struct top_place){.node = id, .samples = table->totals[id]};
	*ret = places;
	*ret_n = n;
	return 0;
}

/* Equal names have equal addresses, because names are interned. */
static int by_name(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return ((uintptr_t)x->name > (uintptr_t)y->name) -
	       ((uintptr_t)x->name < (uintptr_t)y->name);
}

static int by_samples(const void *a, const void *b)
{
	const struct top_caller *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->name, y->name);
}

/*
 * Takes the callers of the places. A child of the root only names the owner of the stack, so it is
 * not a caller.
 */
static size_t take_steps(const struct profile *profile, const struct top_place *places, size_t n,
			 struct step *ret)
{
	size_t n_steps = 0;

	for (size_t i = 0; i < n; i++) {
		const uint32_t parent = profile->nodes[places[i].node].parent;

		if (parent == PROFILE_ROOT || profile->nodes[parent].parent == PROFILE_ROOT)
			continue;
		ret[n_steps++] = (struct step){.name = profile->nodes[parent].name,
					       .place = {parent, places[i].samples}};
	}
	return n_steps;
}

int top_callers_find(const struct top_table *table, const struct top_place *places, size_t n,
		     struct top_callers *ret)
{
	struct step *steps = calloc(n + 1, sizeof(*steps));
	struct top_caller *caller = NULL;

	*ret = (struct top_callers){
		.places = calloc(n + 1, sizeof(*ret->places)),
		.callers = calloc(n + 1, sizeof(*ret->callers)),
	};
	if (!steps || !ret->places || !ret->callers) {
		free(steps);
		top_callers_fini(ret);
		return -ENOMEM;
	}
	ret->n_places = take_steps(table->profile, places, n, steps);
	qsort(steps, ret->n_places, sizeof(*steps), by_name);
	for (size_t i = 0; i < ret->n_places; i++) {
		const uint32_t node = steps[i].place.node;

		if (!caller || caller->name != steps[i].name) {
			caller = &ret->callers[ret->n_callers++];
			caller->name = steps[i].name;
			caller->kind = (enum frame_kind)table->profile->nodes[node].kind;
			caller->first = i;
		}
		ret->places[i] = steps[i].place;
		caller->samples += steps[i].place.samples;
		caller->count++;
	}
	qsort(ret->callers, ret->n_callers, sizeof(*ret->callers), by_samples);
	free(steps);
	return 0;
}

void top_callers_fini(struct top_callers *callers)
{
	free(callers->places);
	free(callers->callers);
	*callers = (struct top_callers){0};
}
