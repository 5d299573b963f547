// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   lines of a perf map that a process wrote itself, with the time they came -> address and
 *          time -> the piece of generated code that was there
 * units:   addr in the target's address space, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  a line for which there is no room is counted and dropped
 * source:  foreign_text.h, code_map.h
 *
 * The writers say no times, and write a line when code is made. So what is known of a line is that
 * it came after the read before the one that found it: that is its birth. The first read's lines
 * have always been there, later lines win over earlier ones, and where nothing was known of an
 * address before, its first line holds for earlier samples too: writers have buffers.
 */
#ifndef FG_MAPS_FOREIGN_MAP_H
#define FG_MAPS_FOREIGN_MAP_H

#include "code/code_map.h"
#include "maps/foreign_text.h"

/* Of one process, ranges and names. */
#define FOREIGN_MAP_MAX_BYTES ((size_t)96 << 20)

struct foreign_map; /* opaque */

struct foreign_map_stats {
	struct foreign_text_stats text;
	uint64_t refused; /* lines without room */
};

int foreign_map_new(struct foreign_map **ret);
void foreign_map_free(struct foreign_map *map); /* NULL is legal */

/* The next bytes of the file; what they say was written after from_ns. */
void foreign_map_feed(struct foreign_map *map, const char *data, size_t len, uint64_t from_ns,
		      struct foreign_map_stats *stats);
/* Another file comes: what was left of a line is no beginning of its first. */
void foreign_map_restart(struct foreign_map *map);

/*
 * Borrowed until the next feed or expire; its name is interned, with foreign_map_serial as its
 * owner.
 */
const struct code_range *foreign_map_find(const struct foreign_map *map, uint64_t addr,
					  uint64_t time_ns);
uint64_t foreign_map_serial(const struct foreign_map *map);

/* Forgets ranges that others have replaced before horizon_ns, and names that nobody holds. */
void foreign_map_expire(struct foreign_map *map, uint64_t horizon_ns, uint64_t now_ns);

size_t foreign_map_count(const struct foreign_map *map);
size_t foreign_map_bytes(const struct foreign_map *map);

#endif
