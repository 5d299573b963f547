// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what stands behind an option -> its value
 * units:   seconds, bytes
 * threads: any
 * errors:  -EINVAL, said on stderr with the option's name, told; ret is as it was
 * source:  README.md in this folder: the types of the option table
 */
#ifndef FG_OPTIONS_OPTION_VALUE_H
#define FG_OPTIONS_OPTION_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* Of a number, in the value's unit. */
struct option_range {
	uint64_t least, most;
	const char *what; /* "of samples a second", or ""; of others: "the time of a graph" */
	/* Of a time or size, as people write it. */
	const char *limits;  /* "60s to 1h" */
	const char *example; /* "10m" */
};

/* A word of the table, and what it stands for. */
struct option_choice {
	const char *word; /* NULL ends a list */
	uint64_t value;
};

/* Says why the option cannot have the value. Returns -EINVAL. */
int option_bad_value(const char *told, const char *text, const char *why);
/* Says which values there are. Returns -EINVAL. */
int option_bad_word(const char *told, const char *text, const char *words);

int option_count(const char *told, const char *text, const struct option_range *range,
		 uint64_t *ret);
int option_time(const char *told, const char *text, const struct option_range *range,
		uint64_t *ret_sec);
int option_size(const char *told, const char *text, const struct option_range *range,
		uint64_t *ret_bytes);
/* A number greater than above, up to most, in digits, with a point or without. */
int option_number(const char *told, const char *text, double above, double most, double *ret);
int option_path(const char *told, const char *text, const char **ret);
int option_choice(const char *told, const char *text, const struct option_choice *choices,
		  uint64_t *ret);
/* Several choices with commas between them; their values are bits. */
int option_list(const char *told, const char *text, const struct option_choice *choices,
		uint64_t *ret);

#endif
