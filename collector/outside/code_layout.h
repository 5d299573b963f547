// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the values of a JVM's tables -> where its code heaps, blobs and nmethods have their
 *          members
 * units:   bytes; addresses of static variables in the process
 * threads: any, a value
 * errors:  false: this JVM lacks what the heaps are found by, and ret_lacks names it
 * source:  HotSpot's memory/heap.hpp, code/codeBlob.hpp, code/nmethod.hpp of JDK 8 to 26
 *
 * Names of members have changed with JDKs: code_layout.c has each under all its names. Every offset
 * is at most CODE_LAYOUT_MAX_BYTES.
 */
#ifndef FG_OUTSIDE_CODE_LAYOUT_H
#define FG_OUTSIDE_CODE_LAYOUT_H

#include "outside/scopes_layout.h"

#define CODE_LAYOUT_MAX_BYTES VM_TABLES_MAX_OFFSET

struct code_layout {
	uint64_t heap;	/* address of a pointer to the one heap, up to JDK 8; or 0 */
	uint64_t heaps; /* address of a pointer to an array of heaps, since JDK 9; or 0 */
	uint32_t array_len, array_data;
	uint32_t memory, segmap, log2_segment; /* in CodeHeap */
	uint32_t low, high;		       /* in VirtualSpace */
	bool has_boundary;
	uint32_t boundary;	     /* in VirtualSpace: up to there it may grow */
	uint32_t header_bytes, used; /* HeapBlock's size, and a member of it */

	/* In CodeBlob. Up to JDK 22 code is told by two pointers, else by two offsets. */
	bool has_pointers;
	uint32_t code_begin, code_end;
	uint32_t name, frame_size, complete;
	bool complete_is_int;
	uint32_t blob_bytes; /* up to the end of the last member that is read */

	/* In nmethod. */
	uint32_t method, compile_id, level, entry_bci;
	bool has_entry, entry_is_pointer;
	uint32_t entry;
	struct scopes_layout scopes;
	uint32_t nmethod_bytes; /* up to the end of the last member that is read */

	/*
	 * The data that end with what a compiler of JVMCI says of its code: apart from the blob
	 * since JDK 25, by a pointer and a length, and else the end of the blob.
	 */
	bool has_data, data_is_apart;
	uint32_t data, data_size;
};

bool code_layout_init(struct code_layout *layout, const struct vm_tables *tables,
		      const char **ret_lacks);

#endif
