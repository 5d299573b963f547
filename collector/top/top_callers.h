// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   nodes of the tree -> who called them, by name, with shares
 * units:   samples
 * threads: one
 * errors:  -ENOMEM
 * source:  none
 */
#ifndef FG_TOP_TOP_CALLERS_H
#define FG_TOP_TOP_CALLERS_H

#include "top/top_table.h"

#include <stddef.h>

/* A node on the way to the root, and the samples that came by there. */
struct top_place {
	uint32_t node;
	uint64_t samples;
};

struct top_caller {
	const char *name;
	enum frame_kind kind;
	uint64_t samples;
	size_t first, count; /* of its places */
};

/* Zero-filled: empty. */
struct top_callers {
	struct top_place *places;   /* ordered by caller */
	struct top_caller *callers; /* the most samples first */
	size_t n_places, n_callers;
};

/* Where a method is called from outside of itself. The array is the caller's to free. */
int top_places_of(const struct top_table *table, const struct top_method *method,
		  struct top_place **ret, size_t *ret_n);
int top_callers_find(const struct top_table *table, const struct top_place *places, size_t n,
		     struct top_callers *ret);
void top_callers_fini(struct top_callers *callers);

#endif
