// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the address of compiled code -> compile level, and whether it is entered by on-stack
 *          replacement, read from HotSpot's nmethod
 * units:   addresses of this process, offsets in bytes
 * threads: any, for code that the JVM keeps alive meanwhile, as it does in a load event
 * errors:  false where anything does not fit; nothing outside the code heaps is read for it but
 *          the heaps' own descriptions
 * source:  hotspot/share/memory/heap.hpp (CodeHeap, HeapBlock), code/nmethod.hpp, vmStructs
 *
 * Zero-filled it finds nothing.
 */
#ifndef FGAGENT_NMETHODS_H
#define FGAGENT_NMETHODS_H

#include "vmstructs.h"

struct nmethods {
	bool on;
	struct module module;
	const void *heap;  /* where the JVM keeps the one heap's address, up to JDK 8, or NULL */
	const void *heaps; /* and here that of an array of heaps, after */
	size_t array_len, array_data;
	size_t memory, segmap, log2_segment; /* of CodeHeap */
	size_t low, high;		     /* of VirtualSpace */
	size_t header_bytes, used;	     /* of HeapBlock */
	bool code_is_pointer;
	size_t code; /* of CodeBlob: where its code begins */
	size_t level, entry_bci, nmethod_bytes;
};

struct nmethods_facts {
	uint8_t level;
	bool is_osr;
};

/* Offsets are looked up here; the heaps need not be there yet. */
void nmethods_init(struct nmethods *nmethods, const struct vmstructs *vm);

bool nmethods_find(const struct nmethods *nmethods, const void *code, struct nmethods_facts *ret);

#endif
