// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the address of compiled code -> its compile level, whether it is entered by on-stack
 *          replacement, and its frame, from HotSpot's nmethod; the address of a stub -> its frame,
 *          from its CodeBlob
 * units:   addresses of this process, offsets in bytes
 * threads: any, for code that the JVM keeps alive meanwhile, as it does in a load event; a stub may
 *          be freed meanwhile: another blob in its place is taken for it only if its code begins at
 *          the same address
 * errors:  false where anything does not fit; only the code heaps and their descriptions are read
 * source:  hotspot/share/memory/heap.hpp (CodeHeap, HeapBlock), code/nmethod.hpp, vmStructs
 *
 * A zero-filled struct finds nothing.
 */
#ifndef FGAGENT_HOTSPOT_NMETHODS_H
#define FGAGENT_HOTSPOT_NMETHODS_H

#include "hotspot/vmstructs.h"
#include "shared/wire.h"

struct nmethods {
	bool on;
	struct module module;
	const void *heap;  /* address of the pointer to the one heap, up to JDK 8, or NULL */
	const void *heaps; /* address of the pointer to an array of heaps, since JDK 9, or NULL */
	size_t array_len, array_data;
	size_t memory, segmap, log2_segment; /* offsets in CodeHeap */
	size_t low, high;		     /* offsets in VirtualSpace */
	size_t header_bytes, used;	     /* size of HeapBlock, and an offset in it */
	bool code_is_pointer;
	size_t code;	   /* offset in CodeBlob of where its code begins */
	size_t blob_bytes; /* bytes of CodeBlob up to the end of the last field that is read */
	size_t level, entry_bci, nmethod_bytes;
	bool has_frame_size, has_complete, complete_is_int;
	size_t frame_size, complete; /* offsets in CodeBlob */
	bool has_entry, entry_is_pointer;
	size_t entry; /* offset in nmethod of its verified entry point */
};

struct nmethods_facts {
	uint8_t level;
	bool is_osr;
	struct wire_frame frame; /* values that are not known are 0 */
};

/* Looks the offsets up; the code heaps need not exist yet. */
void nmethods_init(struct nmethods *nmethods, const struct vmstructs *vm);

bool nmethods_find(const struct nmethods *nmethods, const void *code, struct nmethods_facts *ret);

/*
 * The frame of a stub that has a CodeBlob to itself. Stubs that share a CodeBlob make frames that
 * the JVM does not describe. False if nothing is known; *ret is then unchanged.
 */
bool nmethods_find_stub(const struct nmethods *nmethods, const void *code, struct wire_frame *ret);

#endif
