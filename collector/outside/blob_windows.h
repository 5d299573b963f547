// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   blocks of the code heaps -> the beginnings of the blobs in them, many at a time
 * units:   addr in the process; bytes
 * threads: one at a time, any
 * errors:  a block that is free, unreadable or no blob that can be told of is none
 * source:  outside/code_blob.h
 */
#ifndef FG_OUTSIDE_BLOB_WINDOWS_H
#define FG_OUTSIDE_BLOB_WINDOWS_H

#include "outside/code_blob.h"
#include "outside/blob_names.h"
#include "outside/code_heaps.h"

#define BLOB_WINDOWS_MAX 256

struct blob_windows {
	struct vm_memory *memory; /* borrowed */
	const struct code_layout *layout;
	struct blob_names *names;
	uint64_t kind_of; /* the name of the last blob, and the kind that the name says */
	enum blob_kind kind;
	struct code_block blocks[BLOB_WINDOWS_MAX];
	struct vm_piece pieces[BLOB_WINDOWS_MAX];
	uint32_t bytes_each;
	uint8_t bytes[]; /* BLOB_WINDOWS_MAX times bytes_each */
};

/* The caller sets memory before each use, and frees it with free(3). NULL without memory. */
struct blob_windows *blob_windows_new(const struct code_layout *layout, struct blob_names *names);
size_t blob_windows_bytes(const struct blob_windows *windows); /* NULL is legal */

/* Reads n windows, whose blocks the caller has set. */
void blob_windows_read(struct blob_windows *windows, size_t n);
/* The same of the blocks of blobs that are known. */
void blob_windows_read_again(struct blob_windows *windows, const struct code_blob *blobs, size_t n);
/* Decodes the window of a number. False: there is no blob that can be told of. */
bool blob_windows_decode(struct blob_windows *windows, size_t i, struct code_blob *ret);
/* The bytes of the blob in the window. */
const uint8_t *blob_windows_blob(const struct blob_windows *windows, size_t i);

#endif
