// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an address in a process's mapping of a file -> whoever is to know that a table of the
 *          file is asked for the address
 * units:   addr in the target's address space
 * threads: the model's
 * errors:  none
 * source:  none
 *
 * The unwinder and the symbolizer call a watch before they look an address up. The watch may look
 * the address up itself, in the table cache, but must not change the process.
 */
#ifndef FG_FILES_FILE_WATCH_H
#define FG_FILES_FILE_WATCH_H

#include "files/table_store.h"
#include "memory/address_space.h"

#include <stdint.h>
#include <sys/types.h>

struct file_watch {
	void (*asked)(void *arg, enum table_of of, pid_t pid, const struct mapping *mapping,
		      uint64_t addr);
	void *arg;
};

/* Tells watch, which may be NULL. */
static inline void file_watch_tell(const struct file_watch *watch, enum table_of of, pid_t pid,
				   const struct mapping *mapping, uint64_t addr)
{
	if (watch)
		watch->asked(watch->arg, of, pid, mapping, addr);
}

#endif
