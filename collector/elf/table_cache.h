// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> a table made of the file behind it, shared between processes
 * units:   bytes
 * threads: one at a time
 * errors:  NULL with a reason text; nothing here ends the run
 * source:  proc(5) root and map_files, openat2(2), vdso(7)
 *
 * A file is opened through the target's root (/proc/<pid>/root) with RESOLVE_IN_ROOT, read-only and
 * O_NONBLOCK, and must be a regular file with the mapping's inode (device too where the file
 * system reports it alike; overlayfs does not); else through /proc/<pid>/map_files where allowed.
 * A file is known again by device, inode, size, mtime and ctime. Files that make equal tables, such
 * as one library in many containers, share one; that is found by comparing, not by build ID,
 * because a container could give its own file another's build ID. Tables are kept up to max_bytes,
 * the least recently used going first. A file that could not be read is remembered as such for that
 * mapping, with its reason; want of memory or descriptors is not remembered.
 *
 * A mapping named [vdso] is answered from this process's own, which is the same image.
 */
#ifndef FG_ELF_TABLE_CACHE_H
#define FG_ELF_TABLE_CACHE_H

#include "base/map64.h"
#include "elf/table_store.h"
#include "target/address_space.h"

#include <sys/types.h>

/* With store.kind and store.max_bytes set a zero-filled one is a valid, empty one. */
struct table_cache {
	struct map64 memos;	/* what was found for a mapping */
	struct map64 processes; /* pid -> its first memo */
	struct table_store store;
	void *vdso;
	const char *vdso_reason;
	uint64_t hits;
	uint64_t loads_end; /* no file is read when there were so many loads; 0: no bound */
	uint64_t put_off;   /* answers for want of that */
};

struct table_cache_stats {
	size_t tables;	  /* the vDSO's included */
	size_t failed;	  /* mappings remembered as unreadable */
	size_t bytes;	  /* of tables */
	uint64_t loads;	  /* files read */
	uint64_t hits;	  /* answers without a system call */
	uint64_t evicted; /* tables dropped because of max_bytes */
	uint64_t put_off; /* answers that would have taken more loads than were allowed */
};

void table_cache_fini(struct table_cache *cache);

/*
 * Until the next such call at most so many files are read; what needs another one is answered by
 * NULL and "put off", which is not remembered. Evicted tables are read again, and whoever owns
 * large files could have that done for every frame of a stack.
 */
void table_cache_allow(struct table_cache *cache, unsigned int loads);

/*
 * The table of the file behind a mapping of process pid, borrowed until the next call, or NULL and
 * *ret_reason, a short static text ("no file", "file is gone", "not the mapped file", "no ELF",
 * ...).
 */
void *table_cache_find(struct table_cache *cache, pid_t pid, const struct mapping *mapping,
		       const char **ret_reason);
/* The process is gone: what was remembered for its mappings may go, tables stay for others. */
void table_cache_forget(struct table_cache *cache, pid_t pid);
void table_cache_stats(const struct table_cache *cache, struct table_cache_stats *ret);

#endif
