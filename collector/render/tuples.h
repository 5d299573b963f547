// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   tuples of four numbers -> dense numbers from 0 on, in the order of their first coming
 * units:   none
 * threads: one at a time
 * errors:  TUPLES_NONE when memory is out
 * source:  none
 *
 * For formats that write a thing once and name it by number. A zero-filled struct tuples is a
 * valid, empty one.
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
	uint32_t *index; /* of items, open addressing; TUPLES_NONE: free */
	uint32_t index_size;
};

/* Its number; it is new where that is what count was before. */
uint32_t tuples_add(struct tuples *tuples, struct tuple tuple);
void tuples_fini(struct tuples *tuples);

#endif
