// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   tuples of four numbers -> numbers from 0 on, in the order in which tuples are added
 * units:   none
 * threads: one at a time
 * errors:  TUPLES_NONE when memory is out
 * source:  none
 *
 * For formats that write a thing once and refer to it by number. A zero-filled struct is valid and
 * empty.
 */
#ifndef FG_RENDER_TUPLES_H
#define FG_RENDER_TUPLES_H

#include <stdint.h>

#define TUPLES_NONE UINT32_MAX

struct tuple {
	uint32_t v[4];
};

struct tuples {
	struct tuple *items;
	uint32_t count;
	uint32_t size;
	uint32_t *index; /* index of items, open addressing; TUPLES_NONE: free */
	uint32_t index_size;
};

/* The tuple's number. The tuple is new if the number is the old count. */
uint32_t tuples_add(struct tuples *tuples, struct tuple tuple);
void tuples_fini(struct tuples *tuples);

#endif
