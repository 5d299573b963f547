// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a query and the options of top -> top's table of what ran then, as text or JSON
 * units:   those of top_view.h
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  none
 */
#ifndef FG_HISTORY_HISTORY_TOP_H
#define FG_HISTORY_HISTORY_TOP_H

#include "store/store_select.h"
#include "top/top_view.h"

#include <stdbool.h>

struct history_top {
	enum top_mode mode;
	enum top_sort sort;
	const char *filter; /* NULL: none */
	struct wait_options waits;
	size_t rows;	/* at most */
	unsigned width; /* of the terminal; 0: of none */
	bool is_json;
};

/* query has one kind. */
int history_top_print(const char *dir, const struct store_query *query,
		      const struct history_top *options);

#endif
