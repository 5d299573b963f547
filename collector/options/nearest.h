// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a word that nobody knows, and words that are known -> the one that was meant
 * units:   bytes; a distance is a number of letters that are wrong, missing, one too many, or
 *          swapped with the next one
 * threads: any
 * errors:  none
 * source:  optimal string alignment
 */
#ifndef FG_OPTIONS_NEAREST_H
#define FG_OPTIONS_NEAREST_H

#include <stddef.h>

/* Longer words are near to none. */
#define NEAREST_WORD_BYTES 32

struct nearest {
	const char *word; /* borrowed, need not end with a NUL */
	size_t len;
	const char *found; /* borrowed of nearest_try; NULL: no word was near enough */
	size_t distance;   /* of the one found; at first one more than a word may be away */
};

/* Begins: a third of the word's letters may be wrong, one at least and three at most. */
void nearest_begin(struct nearest *nearest, const char *word, size_t len);
/* Of words that are equally near, the first one stays. */
void nearest_try(struct nearest *nearest, const char *word);

#endif
