// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a command line -> whether help is asked for
 * units:   none
 * threads: one
 * errors:  none; the caller's own parsing reports errors of the command line
 * source:  getopt_long(3)
 *
 * -h, --help or --help-all asks for help wherever an option can stand, even between options that
 * are wrong. The caller then does nothing but show the help.
 */
#ifndef FG_OPTIONS_HELP_H
#define FG_OPTIONS_HELP_H

#include <getopt.h>
#include <stdbool.h>

struct help {
	bool is_asked;
	bool is_of_all; /* by --help-all */
	char **words;	/* of the command line, those that are no options; borrowed texts */
	int n_words;
	char **argv; /* a copy, which getopt_long puts into another order */
};

/*
 * Looks through the command line, which stays as it is, and resets getopt_long. Without memory help
 * is not asked for, and there are no words.
 */
void help_look(struct help *help, int argc, char **argv, const char *short_options,
	       const struct option *long_options);
void help_fini(struct help *help);

#endif
