// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   lines of a perf map that a runtime writes, with the times of the reads -> address and
 *          time -> the code range that was there
 * units:   addr in the target's address space, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  a line for which there is no room is counted and dropped
 * source:  foreign_text.h, code_map.h
 *
 * Runtimes write a line when code is made, and no time. A line that a read finds was written after
 * the read before: the time of the read before is the birth of the line's code range. Code of the
 * first read has always been there. A later line goes before an earlier line at its addresses. The
 * first line at an address holds for earlier samples too, because runtimes buffer their lines.
 */
#ifndef FG_FOREIGN_FOREIGN_MAP_H
#define FG_FOREIGN_FOREIGN_MAP_H

#include "code/code_map.h"
#include "foreign/foreign_answer.h"
#include "foreign/foreign_text.h"

/* The most memory of one process's code ranges and names. */
#define FOREIGN_MAP_MAX_BYTES ((size_t)96 << 20)

struct foreign_map; /* opaque */

struct foreign_map_stats {
	struct foreign_text_stats text;
	uint64_t refused; /* lines without room */
};

int foreign_map_new(struct foreign_map **ret);
void foreign_map_free(struct foreign_map *map); /* NULL is legal */
/* Frees a part, as code_map_free_some does. True: nothing that is large is left. */
bool foreign_map_free_some(struct foreign_map *map, size_t max);

/* Takes the next bytes of the file; their lines were written after from_ns. */
void foreign_map_feed(struct foreign_map *map, const char *data, size_t len, uint64_t from_ns,
		      struct foreign_map_stats *stats);
/* The state before the next bytes of the file, for a parser of these (foreign_parser.h). */
const struct foreign_text *foreign_map_text(const struct foreign_map *map);
/*
 * As foreign_map_feed, with some lines of what a parser has answered for a piece, max_lines at
 * most. Returns 1 if more are left, or 0. -EBADMSG: no parser answers so; nothing of the answer was
 * taken.
 */
int foreign_map_take(struct foreign_map *map, struct foreign_taking *taking, size_t max_lines,
		     uint64_t from_ns, struct foreign_map_stats *stats);
/* Goes on behind bytes that nobody could parse. ends_line: they end where a line does. */
void foreign_map_skip(struct foreign_map *map, bool ends_line);
/*
 * Adds a range of another map, with the range's birth and a copy of the range's name. Negative
 * errno: as code_map_add, or -ENOSPC for a name without room.
 */
int foreign_map_add(struct foreign_map *map, const struct code_range *range);
/* Begins with another file: forgets the line that has not ended yet. */
void foreign_map_restart(struct foreign_map *map);

/*
 * Borrowed until the next feed or expire, or NULL. Equal names are equal pointers for as long as
 * foreign_map_serial stays what it is.
 */
const struct code_range *foreign_map_find(const struct foreign_map *map, uint64_t addr,
					  uint64_t time_ns);
uint64_t foreign_map_serial(const struct foreign_map *map);
/* As code_map_set_watch, of the ranges that foreign_map_find finds. */
const struct code_map_watch *foreign_map_set_watch(struct foreign_map *map,
						   const struct code_map_watch *watch);

/*
 * Forgets ranges that were replaced before horizon_ns, and names that no range has. What is not
 * done at until_ns is done by the next calls. Meanwhile a name may be two pointers.
 */
void foreign_map_expire(struct foreign_map *map, uint64_t horizon_ns, uint64_t now_ns,
			uint64_t until_ns);

/* The number of living ranges. */
size_t foreign_map_count(const struct foreign_map *map);
/* The memory of ranges and names, as of the last feed or expire. */
size_t foreign_map_bytes(const struct foreign_map *map);

#endif
