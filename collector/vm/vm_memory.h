// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   addresses of another process's memory -> their bytes
 * units:   addr in the process; bytes
 * threads: one at a time, any
 * errors:  negative errno: -EFAULT not mapped, -EPERM, -ESRCH; -EDQUOT past max_bytes
 * source:  process_vm_readv(2)
 *
 * All that is read is hostile, and may change while it is read. A read may never return: whoever
 * reads does so on a thread that can be given up (base/guarded.h). A zero-filled struct with read
 * and max_bytes set is valid.
 */
#ifndef FG_VM_VM_MEMORY_H
#define FG_VM_VM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define VM_MEMORY_PAGE_BYTES 4096
#define VM_MEMORY_PAGES	     64 /* that are kept */

/* One piece of memory that is wanted. */
struct vm_piece {
	uint64_t addr;
	void *into;
	uint32_t len;
	bool is_read; /* the answer: all of it has been read */
};

struct vm_memory {
	/*
	 * Reads n pieces into as many buffers of equal lengths. Returns the number of bytes, less
	 * than asked for where a piece cannot be read, or a negative errno if the first cannot.
	 */
	ssize_t (*read)(void *arg, const struct iovec *to, const struct iovec *from,
			unsigned long n);
	void *arg;
	uint64_t max_bytes; /* of all reads; past it nothing more is read */
	uint64_t bytes;	    /* of all reads so far */
	uint64_t reads;	    /* system calls */
	int err;	    /* the last error other than -EFAULT, or 0 */
	/* Pages of what does not change, as names in a library's read-only data. */
	uint64_t page_at[VM_MEMORY_PAGES]; /* 0: the place is free */
	uint8_t pages[VM_MEMORY_PAGES][VM_MEMORY_PAGE_BYTES];
};

/* Reads as many of the pieces as can be read, in few system calls; sets each is_read. */
void vm_memory_gather(struct vm_memory *memory, struct vm_piece *pieces, size_t n);
/* Reads one piece. */
int vm_memory_get(struct vm_memory *memory, uint64_t addr, void *into, size_t len);
/* The same by the pages that are kept, for what does not change. */
int vm_memory_get_kept(struct vm_memory *memory, uint64_t addr, void *into, size_t len);
/*
 * Reads a terminated text by the pages that are kept. -ENAMETOOLONG if size is too small. ret is
 * terminated in any case.
 */
int vm_memory_text(struct vm_memory *memory, uint64_t addr, char *ret, size_t size);
/* Forgets the pages that are kept. */
void vm_memory_forget(struct vm_memory *memory);

#endif
