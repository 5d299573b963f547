// SPDX-License-Identifier: Apache-2.0
/* Which known word was meant, see nearest.h: three rows of the table of distances are kept. */
#include "options/nearest.h"

#include <string.h>

#define MOST_WRONG	       3
#define LETTERS_OF_A_WRONG_ONE 3

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

void nearest_begin(struct nearest *nearest, const char *word, size_t len)
{
	const size_t most = least(len / LETTERS_OF_A_WRONG_ONE, MOST_WRONG);

	*nearest = (struct nearest){.word = word, .len = len, .distance = most ? most + 1 : 2};
}

/* Both words are shorter than NEAREST_WORD_BYTES. */
static size_t distance_of(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][NEAREST_WORD_BYTES];

	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *const row = rows[i % 3];
		const size_t *const above = rows[(i + 2) % 3];
		const size_t *const two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]),
				       least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_above[j - 2] + 1);
		}
	}
	return rows[a_len % 3][b_len];
}

void nearest_try(struct nearest *nearest, const char *word)
{
	const size_t len = strlen(word);
	size_t distance;

	if (nearest->len >= NEAREST_WORD_BYTES || len >= NEAREST_WORD_BYTES)
		return;
	distance = distance_of(nearest->word, nearest->len, word, len);
	if (distance >= nearest->distance)
		return;
	nearest->distance = distance;
	nearest->found = word;
}
