// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   nodes of the tree -> their callers, by name, with shares
 * units:   samples
 * threads: one
 * errors:  -ENOMEM
 * source:  none
 */
#ifndef FG_TOP_TOP_CALLERS_H
#define FG_TOP_TOP_CALLERS_H

#include "top/top_table.h"

#include <stddef.h>

/* A node on the way to the root, and the samples that lead through it. */
struct top_place {
	uint32_t node;
	uint64_t samples;
};

struct top_caller {
	const char *name;
	enum frame_kind kind;
	uint64_t samples;
	size_t first, count; /* its places in struct top_callers */
};

/* A zero-filled struct is empty. */
struct top_callers {
	struct top_place *places;   /* by caller */
	struct top_caller *callers; /* by samples, the most first */
	size_t n_places, n_callers;
};

/* The nodes of a method that are not below another node of the method. The caller frees *ret. */
int top_places_of(const struct top_table *table, const struct top_method *method,
		  struct top_place **ret, size_t *ret_n);
int top_callers_find(const struct top_table *table, const struct top_place *places, size_t n,
		     struct top_callers *ret);
void top_callers_fini(struct top_callers *callers);

#endif
