// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a command line -> whether help is asked for
 * units:   none
 * threads: one
 * errors:  none: what is wrong on the command line is another's to say
 * source:  getopt_long(3)
 *
 * Help is asked for by -h or --help wherever an option can stand, whatever stands around it; then
 * nothing else is done.
 */
#ifndef FG_BASE_HELP_H
#define FG_BASE_HELP_H

#include <getopt.h>
#include <stdbool.h>

/* Leaves getopt_long at its begin; argv from optind on, which is *ret_words, has no options. */
bool help_is_asked(int argc, char **argv, const char *short_options,
		   const struct option *long_options, int *ret_words);

#endif
