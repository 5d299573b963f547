// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   options of render and diff that ask a store -> what is asked of it
 * units:   none
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_DRAW_DRAW_STORE_OPTIONS_H
#define FG_DRAW_DRAW_STORE_OPTIONS_H

#include "store/store_request.h"

#include <stdbool.h>

struct draw_store_options {
	const char
		*given; /* the first of these options on the command line; NULL: files are read */
	struct store_request after; /* and what render draws */
	/* what is compared with; its other members are set by draw_store_options_finish */
	struct store_request before;
	const char *given_before; /* the first option that is about before alone, or NULL */
};

/* Checks what was given, and makes before whole. n_inputs: files on the command line. */
int draw_store_options_finish(struct draw_store_options *options, const char *kind, size_t n_inputs,
			      bool is_diff);

/* The query of one side, by the clock's now_ns. */
int draw_store_options_query(const struct draw_store_options *options, bool is_before,
			     uint64_t now_ns, struct store_query *ret);

#endif
