// SPDX-License-Identifier: Apache-2.0
/* Reads the beginnings of blobs by few system calls, see blob_windows.h. */
#include "outside/blob_windows.h"

#include <stdlib.h>
#include <string.h>

struct blob_windows *blob_windows_new(const struct code_layout *layout, struct blob_names *names)
{
	const uint32_t each = layout->header_bytes + layout->nmethod_bytes;
	struct blob_windows *const windows =
		calloc(1, sizeof(*windows) + (size_t)BLOB_WINDOWS_MAX * each);

	if (!windows)
		return NULL;
	windows->layout = layout;
	windows->names = names;
	windows->bytes_each = each;
	return windows;
}

size_t blob_windows_bytes(const struct blob_windows *windows)
{
	return windows ? sizeof(*windows) + (size_t)BLOB_WINDOWS_MAX * windows->bytes_each : 0;
}

/* What lies behind the end of a heap's memory is zeros. */
void blob_windows_read(struct blob_windows *windows, size_t n)
{
	const uint32_t each = windows->bytes_each;

	memset(windows->bytes, 0, n * each);
	for (size_t i = 0; i < n; i++) {
		const struct code_block *const block = &windows->blocks[i];
		const uint64_t left = block->end - block->addr;

		windows->pieces[i] = (struct vm_piece){.addr = block->addr,
						       .into = windows->bytes + i * each,
						       .len = left < each ? (uint32_t)left : each};
	}
	vm_memory_gather(windows->memory, windows->pieces, n);
}

void blob_windows_read_again(struct blob_windows *windows, const struct code_blob *blobs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		windows->blocks[i] = (struct code_block){
			.addr = blobs[i].addr - windows->layout->header_bytes,
			.end = blobs[i].code + blobs[i].size,
		};
	blob_windows_read(windows, n);
}

bool blob_windows_decode(struct blob_windows *windows, size_t i, struct code_blob *ret)
{
	const struct code_layout *const layout = windows->layout;
	const uint8_t *const window = windows->bytes + i * windows->bytes_each;
	const struct code_block *const block = &windows->blocks[i];

	if (!windows->pieces[i].is_read || window[layout->used] == 0 ||
	    !code_blob_decode(layout, window + layout->header_bytes,
			      block->addr + layout->header_bytes, block->end, ret))
		return false;
	if (ret->name_at != windows->kind_of) { /* most blobs have the name of the one before */
		windows->kind = blob_names_kind(windows->names, windows->memory, ret->name_at);
		windows->kind_of = windows->kind == BLOB_UNREADABLE ? 0 : ret->name_at;
	}
	ret->kind = windows->kind;
	if (ret->kind == BLOB_UNREADABLE)
		return false;
	if (ret->kind == BLOB_STUB)
		code_blob_forget_nmethod(ret);
	return true;
}

const uint8_t *blob_windows_blob(const struct blob_windows *windows, size_t i)
{
	return windows->bytes + i * windows->bytes_each + windows->layout->header_bytes;
}
