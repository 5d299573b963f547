// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a command line -> whether help is asked for
 * units:   none
 * threads: one
 * errors:  none; the caller's own parsing reports errors of the command line
 * source:  getopt_long(3)
 *
 * -h or --help asks for help wherever an option can stand, even between options that are wrong. The
 * caller then does nothing but show the help.
 */
#ifndef FG_BASE_HELP_H
#define FG_BASE_HELP_H

#include <getopt.h>
#include <stdbool.h>

/* Resets getopt_long, which has moved words without options to the end: argv from *ret_words on. */
bool help_is_asked(int argc, char **argv, const char *short_options,
		   const struct option *long_options, int *ret_words);

#endif
