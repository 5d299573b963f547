// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a command line -> an array of its words, as main gets it
 * units:   words
 * threads: one: words lie in one place, until the next line
 * errors:  the test fails
 * source:  getopt_long(3)
 */
#ifndef FG_TESTS_COMMON_WORDS_H
#define FG_TESTS_COMMON_WORDS_H

#define WORDS_MAX 64

struct words {
	int argc;
	char *argv[WORDS_MAX + 1]; /* NULL behind the last */
};

/* Words are separated by single spaces; getopt starts anew, and prints nothing. */
struct words words_of(const char *program, const char *line);

#endif
