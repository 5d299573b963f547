// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a mapping of libjvm in a process -> the addresses of symbols that it exports
 * units:   addr in the process; bytes
 * threads: one at a time, any
 * errors:  negative errno: -ENOEXEC no library that can be understood, those of vm_memory.h
 * source:  elf(5)
 *
 * The library's dynamic symbols are read from the process's memory, not from the file: so the
 * library may have been replaced on disk since, and no file of a container is opened.
 */
#ifndef FG_VM_VM_IMAGE_H
#define FG_VM_VM_IMAGE_H

#include "vm/vm_memory.h"

/* The executable mapping by which the library is known. */
struct vm_image_mapping {
	uint64_t start, end, file_off;
};

/* Addresses from low on, without high. */
struct vm_span {
	uint64_t low, high;
};

struct vm_symbol {
	const char *name;
	uint64_t addr; /* 0: the library does not export it */
};

/* Where the library has its variables. */
int vm_image_variables(struct vm_memory *memory, const struct vm_image_mapping *mapping,
		       struct vm_span *ret);

/* Sets the addr of each of n symbols. */
int vm_image_find(struct vm_memory *memory, const struct vm_image_mapping *mapping,
		  struct vm_symbol *symbols, size_t n);

#endif
