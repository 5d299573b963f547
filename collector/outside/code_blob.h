// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the first bytes of a CodeBlob -> what it is, where its code lies, and its frame
 * units:   addr in the process; bytes
 * threads: any, a value
 * errors:  false: the bytes are no blob that can be told of
 * source:  HotSpot's code/codeBlob.hpp, code/nmethod.hpp of JDK 8 to 26
 */
#ifndef FG_OUTSIDE_CODE_BLOB_H
#define FG_OUTSIDE_CODE_BLOB_H

#include "outside/blob_names.h"
#include "outside/code_layout.h"
#include "shared/wire.h"

#define CODE_BLOB_MAX_BYTES (UINT32_C(64) << 20) /* of code */

struct code_blob {
	uint64_t addr;	  /* of the blob */
	uint64_t code;	  /* where its code begins */
	uint64_t name_at; /* of the text that says which kind of blob it is */
	uint64_t method;  /* of an nmethod: its Method */
	uint32_t size;	  /* of its code */
	uint32_t compile_id;
	enum blob_kind kind; /* set by the caller of code_blob_decode */
	uint8_t level;
	bool is_osr;
	struct wire_frame frame;
	uint64_t data_end;  /* of an nmethod: see struct code_layout; 0: not known */
	uint32_t data_size; /* bytes in front of data_end */
};

/* bytes: nmethod_bytes of the layout at addr. end: where the heap's memory ends. */
bool code_blob_decode(const struct code_layout *layout, const uint8_t *bytes, uint64_t addr,
		      uint64_t end, struct code_blob *ret);

/* Clears what only an nmethod has. In another blob bytes of code are there, which may change. */
static inline void code_blob_forget_nmethod(struct code_blob *blob)
{
	blob->method = 0;
	blob->compile_id = 0;
	blob->level = WIRE_LEVEL_UNKNOWN;
	blob->is_osr = false;
	blob->frame.entry = 0;
	blob->data_end = 0;
	blob->data_size = 0;
}

/*
 * Whether both are one blob. Addresses are used again: the same code has the same compile ID and
 * method, too.
 */
static inline bool code_blob_is(const struct code_blob *a, const struct code_blob *b)
{
	return a->addr == b->addr && a->code == b->code && a->size == b->size &&
	       a->name_at == b->name_at && a->compile_id == b->compile_id && a->method == b->method;
}

/* Blobs, in rising order of address once sorted. A zero-filled struct is valid and empty. */
struct blob_list {
	struct code_blob *at;
	size_t count, size;
};

int blob_list_reserve(struct blob_list *list, size_t count); /* -ENOMEM */
int blob_list_add(struct blob_list *list, const struct code_blob *blob);
void blob_list_sort(struct blob_list *list);
/* Both are sorted, and the list has room for all. */
void blob_list_merge(struct blob_list *list, const struct blob_list *more);
/* The blob of a sorted list in whose code the address lies, borrowed; or NULL. */
const struct code_blob *blob_list_find(const struct blob_list *list, uint64_t addr);
void blob_list_fini(struct blob_list *list);

#endif
