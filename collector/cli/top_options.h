// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the options that top alone has -> what they say
 * units:   seconds on the command line and of the window, nanoseconds of the delay
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 *
 * Whom and how to sample is said by the same options as for record, see command_line.h.
 */
#ifndef FG_CLI_TOP_OPTIONS_H
#define FG_CLI_TOP_OPTIONS_H

#include "top/top_view.h"

#include <stdbool.h>
#include <stdint.h>

struct top_options {
	const char *filter; /* NULL: none */
	bool is_once;
	unsigned rows; /* 0: as many as is usual */
	enum top_sort sort;
	enum top_mode mode;
	unsigned window_seconds; /* 0: not said */
	const char *given;	 /* the last one that was, or NULL */
	/* made of the above and of -d */
	uint64_t delay_ns; /* between two tables, or before the only one */
};

/* 1: the option is none of top's own. */
int top_options_apply(struct top_options *options, int option, const char *value);
/* delay_ns: as -d says it, or 0. */
int top_options_finish(struct top_options *options, uint64_t delay_ns);

#endif
