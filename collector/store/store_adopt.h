// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an index and the files of segments -> an index and files that name each other
 * units:   seconds since 1970
 * threads: one at a time
 * errors:  negative errno
 * source:  none
 *
 * A writer that was killed may have left files that the index does not name: these are removed.
 * Segments whose file is gone are forgotten, and those whose name is no segment's. An index that is
 * new, in a store that has segments, is made of these: names of containers, and labels, are then
 * only known as far as the files have them. Files whose names are no segments' stay. An index is
 * new until something is in its table of facts, which is for the caller to write; whoever is killed
 * before goes on from there the next time.
 */
#ifndef FG_STORE_STORE_ADOPT_H
#define FG_STORE_STORE_ADOPT_H

#include "store/store_index.h"
#include "store/store_stats.h"

int store_adopt(const struct store_index *index, int segments_fd, int64_t now_sec,
		struct store_stats *stats);

#endif
