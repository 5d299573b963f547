// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   address -> mapping of one process, as of now
 * units:   addr in the target's address space, file_off in the file, both bytes
 * threads: one at a time
 * errors:  negative errno; a failed operation leaves the space as it was
 * source:  proc_pid_maps(5), PERF_RECORD_MMAP2 of perf_event_open(2)
 *
 * Only executable mappings are kept. Mappings never overlap: a new one cuts or replaces what it
 * covers, and joins a neighbour that it goes on from. A zero-filled struct address_space is a
 * valid, empty one. Paths are owned by the space.
 */
#ifndef FG_MEMORY_ADDRESS_SPACE_H
#define FG_MEMORY_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end; /* end exclusive */
	uint64_t file_off;
	uint32_t dev_major, dev_minor;
	uint64_t inode;	   /* 0: no file */
	uint64_t since_ns; /* when the kernel told of it; 0: it was read */
	bool is_deleted;   /* the kernel says " (deleted)"; the path comes without it */
	const char *path;  /* as the process sees it; "", "[vdso]", "//anon" and so on if no file */
};

/*
 * Whether code that is there came into being at run time, as far as a mapping can say: memory of no
 * file, or of one that has no name elsewhere, as .NET's code has.
 */
bool mapping_is_generated(const struct mapping *mapping);

struct address_space {
	struct mapping *mappings; /* rising */
	size_t count, size;
	size_t dropped; /* mappings not kept because of ADDRESS_SPACE_MAX */
	/*
	 * Of all that is executable and not writable, kept or not, when it was last read:
	 * what VmExe and VmLib of /proc/<pid>/status add up to while no mapping comes or goes.
	 */
	uint64_t code_bytes;
};

/* One process's share; to find room for one more costs no more than a tenth of a millisecond. */
#define ADDRESS_SPACE_MAX 16384

/*
 * mapping->path is copied; a " (deleted)" at its end becomes is_deleted. -EINVAL for an empty
 * mapping, -ENOSPC (counted as dropped), -ENOMEM.
 */
int address_space_add(struct address_space *space, const struct mapping *mapping);
/* Borrowed until the next change, or NULL. */
const struct mapping *address_space_find(const struct address_space *space, uint64_t addr);
/* Adds what text in the form of /proc/<pid>/maps says; lines that do not parse are skipped. */
int address_space_parse(struct address_space *space, const char *text, size_t len);
/* Replaces the contents by /proc/<pid>/maps. -ENOENT or -ESRCH: the process is gone. */
int address_space_read(struct address_space *space, pid_t pid);
/* Without those that were read, or told of before since_ns. */
void address_space_forget_before(struct address_space *space, uint64_t since_ns);
/* As after fork(2): the same mappings. */
int address_space_copy(struct address_space *space, const struct address_space *from);
void address_space_fini(struct address_space *space);

#endif
