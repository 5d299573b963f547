// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   address -> mapping of one process, as of now
 * units:   addr in the target's address space, file_off in the file, both bytes
 * threads: one at a time
 * errors:  negative errno; a failed operation leaves the space as it was
 * source:  proc_pid_maps(5), PERF_RECORD_MMAP2 of perf_event_open(2)
 *
 * Only executable mappings are kept. Mappings never overlap: a new mapping cuts or replaces the
 * mappings that it covers, and is joined with a neighbour that continues it, in the file too. The
 * space owns the paths. A zero-filled struct address_space is valid and empty.
 */
#ifndef FG_MEMORY_ADDRESS_SPACE_H
#define FG_MEMORY_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end; /* the end is exclusive */
	uint64_t file_off;
	uint32_t dev_major, dev_minor;
	uint64_t inode;	   /* 0: no file */
	uint64_t since_ns; /* time of the kernel's record; 0: read from /proc/<pid>/maps */
	bool is_deleted;   /* the kernel appends " (deleted)", which path does not have */
	const char *path;  /* as the process sees it; "", "[vdso]", "//anon" and so on if no file */
};

/*
 * Whether the mapping may hold code generated at run time: memory without a file, or of a file
 * without a name in a directory (memfd, shared anonymous memory), as .NET has.
 */
bool mapping_is_generated(const struct mapping *mapping);

/*
 * Whether the mapping is the kernel's code that probe points of a traced process call, since Linux
 * 6.18.
 */
bool mapping_is_probe_trampoline(const struct mapping *mapping);

/*
 * Memory without a file that lies between two mappings of one file, and where the file would go on:
 * the file's code that the process itself has copied there, to have it on huge pages. Only a list
 * of all mappings shows it, those that are not executable too.
 */
struct moved_code {
	struct mapping before; /* the last mapping of a file, without its path; end 0: none */
	uint64_t start, end;   /* executable memory right behind it; empty: none */
};

struct address_space {
	struct mapping *mappings; /* by rising address */
	size_t count, size;
	uint64_t serial; /* another one after each change, see base/serial.h; 0: never changed */
	size_t path_bytes;
	size_t heap_bytes; /* memory of the paths */
	size_t dropped;	   /* mappings not kept because of ADDRESS_SPACE_MAX and _MAX_PATH_BYTES */
	/*
	 * The bytes of all executable mappings that are not writable, kept or not, as of the last
	 * read. VmExe and VmLib of /proc/<pid>/status have this sum as long as no mapping comes or
	 * goes.
	 */
	uint64_t code_bytes;
	struct moved_code moved; /* while a list is parsed */
};

/* The most mappings of a process; to add one more takes at most a tenth of a millisecond. */
#define ADDRESS_SPACE_MAX	     16384
#define ADDRESS_SPACE_MAX_PATH_BYTES (4u << 20)

/*
 * Adds a mapping. Copies mapping->path; a " (deleted)" at the path's end becomes is_deleted.
 * -EINVAL for an empty mapping, -ENOSPC (counted as dropped), -ENOMEM.
 */
int address_space_add(struct address_space *space, const struct mapping *mapping);
/* The mapping at addr, borrowed until the next change, or NULL. */
const struct mapping *address_space_find(const struct address_space *space, uint64_t addr);
/*
 * Adds the parts of the mapping where no mapping is known. Errors are those of address_space_add,
 * and the parts before stay.
 */
int address_space_fill(struct address_space *space, const struct mapping *mapping);
/*
 * Adds the executable mappings of a text in the form of /proc/<pid>/maps; lines that do not parse
 * are skipped. -ENOMEM.
 */
int address_space_parse(struct address_space *space, const char *text, size_t len);
/* Forgets the mappings that were read, and the mappings of kernel records from before since_ns. */
void address_space_forget_before(struct address_space *space, uint64_t since_ns);
/* Replaces the contents by copies of the mappings of from, as after fork(2). */
int address_space_copy(struct address_space *space, const struct address_space *from);
/* The memory of mappings and paths. */
size_t address_space_bytes(const struct address_space *space);
void address_space_fini(struct address_space *space);

#endif
