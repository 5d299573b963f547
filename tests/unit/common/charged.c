// SPDX-License-Identifier: Apache-2.0
/* Asks malloc what it has given, see charged.h. */
#include "common/charged.h"

#include <malloc.h>
#include <stdlib.h>

static size_t before;

static size_t given(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

bool charged_can_count(void)
{
	const size_t nothing = given();
	void *volatile some = malloc(4096);
	const bool counts = given() >= nothing + 4096;

	free(some);
	return counts;
}

void charged_begin(void)
{
	before = given();
}

size_t charged_given(void)
{
	const size_t now = given();

	return now > before ? now - before : 0;
}
