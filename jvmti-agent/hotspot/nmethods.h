// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the address of compiled code -> compile level, whether it is entered by on-stack
 *          replacement, and its frame, read from HotSpot's nmethod; of a stub -> its frame, read
 *          from its CodeBlob
 * units:   addresses of this process, offsets in bytes
 * threads: any, for code that the JVM keeps alive meanwhile, as it does in a load event; a stub
 *          may be gone: what has its place then is not taken for it unless it begins there too
 * errors:  false where anything does not fit; nothing outside the code heaps is read for it but
 *          the heaps' own descriptions
 * source:  hotspot/share/memory/heap.hpp (CodeHeap, HeapBlock), code/nmethod.hpp, vmStructs
 *
 * Zero-filled it finds nothing.
 */
#ifndef FGAGENT_HOTSPOT_NMETHODS_H
#define FGAGENT_HOTSPOT_NMETHODS_H

#include "shared/wire.h"
#include "hotspot/vmstructs.h"

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
	size_t code;	   /* of CodeBlob: where its code begins */
	size_t blob_bytes; /* of CodeBlob, up to the end of all that is read of it */
	size_t level, entry_bci, nmethod_bytes;
	bool has_frame_size, has_complete, complete_is_int;
	size_t frame_size, complete; /* of CodeBlob */
	bool has_entry, entry_is_pointer;
	size_t entry; /* of nmethod: its verified entry point */
};

struct nmethods_facts {
	uint8_t level;
	bool is_osr;
	struct wire_frame frame; /* what is not known of it is 0 */
};

/* Offsets are looked up here; the heaps need not be there yet. */
void nmethods_init(struct nmethods *nmethods, const struct vmstructs *vm);

bool nmethods_find(const struct nmethods *nmethods, const void *code, struct nmethods_facts *ret);

/*
 * The frame of a stub that has a blob to itself: one that shares a blob makes frames that the JVM
 * does not know. False, and *ret as it was, if there is nothing to say.
 */
bool nmethods_find_stub(const struct nmethods *nmethods, const void *code, struct wire_frame *ret);

#endif
