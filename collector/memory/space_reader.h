// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   /proc/<pid>/maps -> address space, a piece at a time
 * units:   nanoseconds
 * threads: one at a time; the file is read by guarded calls (base/guarded.h)
 * errors:  negative errno
 * source:  proc_pid_maps(5)
 *
 * A process may have tens of thousands of mappings with long paths, and the file is then many MiB
 * long. To open it or to read it may even wait for another thread of the process. So the file is
 * read in pieces, and the reader goes on another time when its time is over. What it has read
 * becomes an address space when all is read; the mappings may have changed meanwhile.
 */
#ifndef FG_MEMORY_SPACE_READER_H
#define FG_MEMORY_SPACE_READER_H

#include "memory/address_space.h"

#include <stdint.h>
#include <sys/types.h>

#define SPACE_READER_MAX_BYTES (64u << 20) /* the rest of a file is not read */

struct space_reader; /* opaque */

struct space_reader *space_reader_new(pid_t pid);    /* NULL without memory */
void space_reader_free(struct space_reader *reader); /* NULL is legal */

/*
 * Reads on for about so long, at least one piece. 1: there is more to read; 0: all is read. -ENOENT
 * or -ESRCH: the process is gone; -EACCES; -ENOMEM; -ETIMEDOUT: the kernel does not answer, or has
 * to be left alone. After an error the reader can only be freed.
 */
int space_reader_step(struct space_reader *reader, uint64_t for_ns);

/* The memory of the reader and of what it has read. */
size_t space_reader_bytes(const struct space_reader *reader);

/*
 * Replaces the contents of space by what was read. To be called once, after space_reader_step's 0.
 */
void space_reader_take(struct space_reader *reader, struct address_space *space);

/* Replaces the contents of space by /proc/<pid>/maps at once, however long that takes. */
int address_space_read(struct address_space *space, pid_t pid);

#endif
