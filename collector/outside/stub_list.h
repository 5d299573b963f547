// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the JVM's list of its stubs -> where each lies in its blob, and its name
 * units:   addr in the process; bytes
 * threads: one at a time, any
 * errors:  a JVM whose list is not found has no stubs
 * source:  HotSpot's runtime/stubCodeGenerator.hpp of JDK 8 to 26
 *
 * Many stubs share one blob. HotSpot keeps a linked list of StubCodeDescs, newest first, and tells
 * agents of the same stubs by the same names. Nothing exported leads to the list: its head is the
 * one variable of the library that begins a chain of such descriptors, all of which lie in blobs
 * that are no nmethods. A zero-filled struct is valid and empty.
 */
#ifndef FG_OUTSIDE_STUB_LIST_H
#define FG_OUTSIDE_STUB_LIST_H

#include "outside/code_blob.h"
#include "vm/vm_image.h"

#define STUB_LIST_MAX	    8192
#define STUB_LIST_MAX_BYTES (UINT64_C(8) << 20)	  /* of the library's variables */
#define STUB_LIST_MAX_LOOKS (32u * STUB_LIST_MAX) /* at descriptors, of a search for the head */

struct stub_desc {
	uint64_t addr;
	uint64_t name_at;
	uint32_t size;
	uint32_t news; /* stubs up to this one, and it, that have come since the last update */
};

struct stub_list {
	uint64_t head_at;     /* the address of the variable; 0: not found */
	uint64_t head;	      /* its value at the last update */
	uint32_t code_at;     /* where a descriptor has the address of its code */
	unsigned scans;	      /* searches for the head */
	size_t blobs;	      /* that the JVM had at the last search */
	size_t looks;	      /* at descriptors, of the last search */
	struct stub_desc *at; /* in rising order of address */
	size_t count, size;
};

/*
 * Brings the list up to date, if it has changed. data: the library's variables. blobs: all blobs
 * that there are, in rising order. -ENOMEM.
 */
int stub_list_update(struct stub_list *list, struct vm_memory *memory, const struct vm_span *data,
		     const struct blob_list *blobs);
void stub_list_fini(struct stub_list *list);

/* The stubs in a blob, borrowed until the next update; *ret_n of them. */
const struct stub_desc *stub_list_in(const struct stub_list *list, const struct code_blob *blob,
				     size_t *ret_n);
/* Whether any stub has come since the update before. */
bool stub_list_has_news(const struct stub_list *list);
/* Whether one of the blob's has. */
bool stub_list_has_new(const struct stub_list *list, const struct code_blob *blob);

#endif
