// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what getopt_long could not read -> a sentence that names it, and what was meant
 * units:   none
 * threads: one, as getopt_long
 * errors:  none
 * source:  getopt_long(3)
 *
 * The letters of tables.h begin with a colon, so getopt_long says nothing itself, and returns ':'
 * for an option without its value and '?' for all else that it cannot read.
 */
#ifndef FG_OPTIONS_OPTION_FAULT_H
#define FG_OPTIONS_OPTION_FAULT_H

#include "options/option_row.h"

#include <getopt.h>
#include <stdbool.h>

/* The option as it was typed, without its value. */
#define OPTION_FAULT_TYPED_BYTES 64

enum option_fault_kind {
	OPTION_FAULT_UNKNOWN,
	OPTION_FAULT_AMBIGUOUS,
	OPTION_FAULT_NEEDS_VALUE,
	OPTION_FAULT_TAKES_NO_VALUE,
};

struct option_fault {
	enum option_fault_kind kind;
	int letter;			      /* that is unknown; 0: the option has a name */
	char typed[OPTION_FAULT_TYPED_BYTES]; /* "-t", "--call-graph" */
};

/* What a command line may have. */
struct option_names {
	const char *letters;
	const struct option *list; /* ends with zeroes */
	const struct option_row *rows;
	unsigned command; /* whose options may have been meant; 0: of any */
};

/*
 * What is wrong, of the state in which getopt_long has left optind and optopt; answer is what it
 * returned, ':' or '?'.
 */
void option_fault_read(struct option_fault *fault, const struct option_names *names, int answer,
		       char *const *argv);
/* The sentence; instead: what other tools' option is here, or NULL. */
void option_fault_tell(const struct option_fault *fault, const struct option_names *names,
		       const char *instead, char why[OPTION_WHY_BYTES]);

#endif
