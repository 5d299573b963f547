// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   reads of processes' memory -> the bytes in time, or an error
 * units:   bytes
 * threads: the model's
 * errors:  -ETIMEDOUT: the memory has not answered, or its process has to wait; those of
 *          process_memory.h
 * source:  process_vm_readv(2), userfaultfd(2), base/guarded.h
 *
 * A page of a process may be one that never comes: a file system that does not answer holds the
 * page, or userfaultfd(2) does. Whoever reads the page waits for ever, and no signal ends the wait.
 * So each read is a guarded call.
 */
#ifndef FG_MEMORY_GUARDED_MEMORY_H
#define FG_MEMORY_GUARDED_MEMORY_H

#include "memory/process_memory.h"

struct guarded_memory; /* opaque */

int guarded_memory_new(struct guarded_memory **ret);
void guarded_memory_free(struct guarded_memory *guarded); /* NULL is legal */

/* For process_memory_use; borrowed until guarded_memory_free. */
const struct process_memory_source *guarded_memory_source(const struct guarded_memory *guarded);

#endif
