// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process, and a segment of its samples -> rows of the index
 * units:   nanoseconds and seconds since 1970, bytes
 * threads: one at a time
 * errors:  negative errno as store_index.h
 * source:  none
 */
#ifndef FG_STORE_STORE_NOTES_H
#define FG_STORE_STORE_NOTES_H

#include "profile/profile_part.h"
#include "store/store_index.h"
#include "store/store_process.h"

#include <stdbool.h>

/* No clock has a later time. Sums of a time and an hour do not overflow. */
#define STORE_MAX_TIME_NS (INT64_MAX - INT64_C(2) * 3600 * 1000000000)

struct store_window {
	struct store_process process; /* its id is not used */
	uint64_t start_ns, end_ns;
	const struct profile_part *parts; /* with timelines, which are sorted */
	size_t n_parts;
};

/* Notes a process and its names; *ret_id is its row in the index. */
int store_note_process(const struct store_index *index, const struct store_process *process,
		       int64_t *ret_id);

/* Notes a segment that has been written. process: its row in the index. */
int store_note_segment(const struct store_index *index, int64_t process, const char *name,
		       const struct store_window *window, uint64_t bytes, int64_t made_sec,
		       bool is_merged);
/* Forgets a segment; its file is still there. */
int store_forget_segment(const struct store_index *index, int64_t id);

#endif
