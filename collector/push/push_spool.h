// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bodies of requests -> the same, in order, until their fate is known; in a directory, or
 *          in memory
 * units:   bytes; nanoseconds since 1970
 * threads: any for add and stats; take, load and settle are one thread's
 * errors:  said on stderr once, until there is none; what is lost is counted
 * source:  none
 *
 * DIR/lock               locked by the one daemon that uses the directory
 * DIR/<hash>/url         whose profiles these are, for people
 * DIR/<hash>/<n>.push    waits
 * DIR/<hash>/<n>.sending is being sent. One that an ended daemon left is in doubt, and is counted
 * so DIR/<hash>/<n>.refused the server will never take it; <n>.why says why. The newest
 *                        SPOOL_FILES_REFUSED are kept (spool_files.h)
 *
 * Past max_bytes, PUSH_SPOOL_ENTRIES or max_age_ns the oldest go. A body that the disk does not
 * take waits in memory, of which there is max_memory at most.
 *
 * A disk that has become read-only holds up nothing: its files are sent under the name of those
 * that wait, and spool_leftovers.h remembers that they are to be removed. A file that cannot be
 * read is put aside.
 */
#ifndef FG_PUSH_PUSH_SPOOL_H
#define FG_PUSH_PUSH_SPOOL_H

#include "encode/bytes.h"
#include "push/push_fate.h"
#include "push/push_stats.h"

#define PUSH_SPOOL_ENTRIES 100000u

struct push_spool_options {
	const char *dir;  /* NULL: in memory alone */
	const char *name; /* of the target; both are copied */
	uint64_t max_bytes, max_age_ns, max_memory;
};

struct push_spool; /* opaque */
struct push_entry; /* opaque */

int push_spool_open(const struct push_spool_options *options, struct push_spool **ret);
/* What waits in memory is lost, and must have been said by its owner. NULL is legal. */
void push_spool_close(struct push_spool *spool);

/* Copies the body. samples: of processor time in the body. */
void push_spool_add(struct push_spool *spool, const struct bytes *body, uint64_t samples,
		    uint64_t now_unix_ns);
/* Drops what is too old. */
void push_spool_expire(struct push_spool *spool, uint64_t now_unix_ns);
/*
 * Drops what is too old, then gives the oldest; NULL: none waits. To be settled; several may be
 * out.
 */
struct push_entry *push_spool_take(struct push_spool *spool, uint64_t now_unix_ns);
/*
 * Adds the body. On an error the entry was settled. -EAGAIN: there is no memory or descriptor, and
 * the entry waits again. Any other: a damaged one is gone, and counted; one that cannot be read now
 * is put aside until push_spool_retry.
 */
int push_spool_load(struct push_spool *spool, struct push_entry *entry, struct bytes *ret);
/*
 * Has what was put aside wait again, and removes what could not be removed. To be called each
 * minute.
 */
void push_spool_retry(struct push_spool *spool);
/* why: of PUSH_REFUSED. */
void push_spool_settle(struct push_spool *spool, struct push_entry *entry, enum push_fate fate,
		       const char *why);

/* Counts a failed try that was about no profile. */
void push_spool_count_try(struct push_spool *spool);

/* Fills the members of ret that the spool counts. */
void push_spool_stats(struct push_spool *spool, struct push_target_stats *ret);

#endif
