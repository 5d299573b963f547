// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the options with which a user names processes -> the rows of a list that they mean
 * units:   none
 * threads: one at a time
 * errors:  -ENOMEM, -EINVAL for an expression that does not parse
 * source:  process/selector.h
 *
 * As for record, an exact name of a container or pod goes before names that only begin so. Several
 * names that begin so are all meant: the pods of a deployment together.
 */
#ifndef FG_STORE_STORE_SELECT_H
#define FG_STORE_STORE_SELECT_H

#include "process/selector.h"
#include "store/store_list.h"

#include <stdbool.h>

/*
 * What is asked of a store. A zero-filled range has nothing in it. All other members may be 0. What
 * they point to is borrowed.
 */
struct store_query {
	struct store_range range;
	pid_t pid; /* 0: any */
	struct selector select;
	const char *kind;		      /* the only one that is read; NULL: all kinds */
	const char *kinds[PROFILE_MAX_KINDS]; /* only whoever has any of them */
	size_t n_kinds;			      /* 0: whoever */
	const char *const *keys;	      /* only these processes, see store_process.h */
	size_t n_keys;			      /* 0: any */
	struct store_sum_limits limits;	      /* of what is summed up */
	/*
	 * Asked while the index is read, and before each segment is: whether reading ends with
	 * -ECANCELED. NULL: never.
	 */
	bool (*is_over)(void *arg);
	void *arg; /* of is_over */
};

/* Removes the rows that are not meant. */
int store_select(struct store_list *list, const struct store_query *query);

#endif
