// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   blobs that are new -> records that tell of them, with names and what was inlined
 * units:   bytes
 * threads: one at a time, any
 * errors:  negative errno
 * source:  shared/README.md
 *
 * A blob may change or go while its names are read. So it is read before and after, and is told of
 * only if both are equal.
 */
#ifndef FG_OUTSIDE_CODE_TELLING_H
#define FG_OUTSIDE_CODE_TELLING_H

#include "outside/blob_windows.h"
#include "outside/code_records.h"
#include "outside/inline_section.h"
#include "outside/stub_list.h"

#define CODE_TELLING_SCOPE_BYTES (UINT32_C(4) << 20)  /* of debug information at a time */
#define CODE_TELLING_MAX_FRAMES	 (UINT64_C(4) << 20)  /* that a step decodes */
#define CODE_TELLING_MAX_STUBS	 (4u * STUB_LIST_MAX) /* of all blobs that a step looks at */

struct code_telling_stats {
	uint64_t named;	    /* blobs that were told of */
	uint64_t unnamed;   /* nmethods whose method could not be read, told without a name */
	uint64_t uninlined; /* nmethods told without what was inlined, which could not be read */
	uint64_t changed;   /* blobs that changed while they were read, left for the next step */
};

/* Of one step. */
struct code_telling {
	/* Set by the caller, and borrowed. */
	struct vm_memory *memory;
	const struct vm_layout *methods;
	struct blob_windows *windows;
	struct method_names *names;
	const struct stub_list *stubs;
	struct blob_list *told; /* blobs that were told of are added */
	struct code_telling_stats *stats;
	struct code_records out;

	bool has_more;	 /* a blob found no room */
	uint64_t frames; /* that were decoded */
	size_t n_stubs;	 /* that were looked at, of a blob over the same ones again */
	struct inline_section *section;
};

/*
 * Tells of some of the blobs, from the first one on, BLOB_WINDOWS_MAX at most. *ret_n: how many of
 * them are done.
 */
int code_telling_some(struct code_telling *telling, const struct code_blob *blobs, size_t n,
		      size_t *ret_n);
/* Whether a step has decoded or named as much as one may. */
bool code_telling_is_enough(const struct code_telling *telling);
void code_telling_fini(struct code_telling *telling);

#endif
