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
	/* top_options_finish sets these members: */
	uint64_t delay_ns;  /* between two tables, or before the only one */
	bool is_delay_free; /* nobody has said how long the only table is to be */
};

/* told: the option's name, for messages. */
int top_options_set_filter(struct top_options *options, const char *told, const char *text);
/*
 * delay_ns: the value of -d, or 0 if -d was not given. window_seconds: what was given, or 0; it is
 * set if it is 0.
 */
int top_options_finish(struct top_options *options, uint64_t delay_ns, uint32_t *window_seconds);
/*
 * How long the first table is sampled for. started_ns: what the command has taken until its
 * sampling began, in which agents dialled; hold_ns: what follows the sampling. Where nobody has
 * said how long, the table is shorter for both, so that it is there in two seconds.
 */
uint64_t top_options_first_ns(const struct top_options *options, uint64_t started_ns,
			      uint64_t hold_ns);
/* Whether a table of so much time is too short, where nobody has said how long it is to be. */
bool top_options_is_too_short(const struct top_options *options, uint64_t covered_ns);

#endif
