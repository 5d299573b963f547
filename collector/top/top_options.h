// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the options that only top has -> values
 * units:   seconds on the command line and of the window, nanoseconds of the delay
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 *
 * top takes the options of record for the processes and for sampling, see command_line.h.
 */
#ifndef FG_TOP_TOP_OPTIONS_H
#define FG_TOP_TOP_OPTIONS_H

#include "top/top_view.h"

#include <stdbool.h>
#include <stdint.h>

struct top_options {
	const char *filter; /* NULL: none */
	bool is_once;
	unsigned rows; /* 0: the default number */
	enum top_sort sort;
	enum top_mode mode;
	unsigned window_seconds; /* 0: not given */
	const char *given;	 /* the last of these options on the command line, or NULL */
	/* top_options_finish sets this member: */
	uint64_t delay_ns; /* between two tables, or before the only one */
};

/* 1: the option belongs to another module. */
int top_options_apply(struct top_options *options, int option, const char *value);
/* delay_ns: the value of -d, or 0 if -d was not given. */
int top_options_finish(struct top_options *options, uint64_t delay_ns);

#endif
