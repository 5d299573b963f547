// SPDX-License-Identifier: Apache-2.0
/* Takes a CodeBlob's members from its bytes, see code_blob.h. */
#include "outside/code_blob.h"

#include "base/array.h"
#include "base/unaligned.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD		8
#define MAX_FRAME_WORDS (1 << 17) /* 1 MiB, the default size of a thread's whole stack */
#define MAX_LEVEL	4
#define INVOCATION_BCI	(-1)

static bool set_code(const struct code_layout *layout, const uint8_t *bytes, uint64_t heap_end,
		     struct code_blob *blob)
{
	uint64_t begin = unaligned_u64(bytes, layout->code_begin),
		 end = unaligned_u64(bytes, layout->code_end);

	if (!layout->has_pointers) {
		const int32_t from = unaligned_i32(bytes, layout->code_begin);
		const int32_t to = unaligned_i32(bytes, layout->code_end);

		if (from < 0 || to < 0)
			return false;
		begin = blob->addr + (uint32_t)from;
		end = blob->addr + (uint32_t)to;
	}
	if (begin <= blob->addr || end <= begin || end > heap_end ||
	    end - begin > CODE_BLOB_MAX_BYTES)
		return false;
	blob->code = begin;
	blob->size = (uint32_t)(end - begin);
	return true;
}

/* A negative completion is that of a frame that is never safe to walk. */
static uint32_t read_complete(const struct code_layout *layout, const uint8_t *bytes)
{
	const int32_t complete = layout->complete_is_int
					 ? unaligned_i32(bytes, layout->complete)
					 : (int16_t)unaligned_u16(bytes, layout->complete);

	return complete > 0 ? (uint32_t)complete : 0;
}

static uint32_t read_entry(const struct code_layout *layout, const uint8_t *bytes,
			   const struct code_blob *blob)
{
	uint64_t entry;

	if (!layout->has_entry)
		return 0;
	if (!layout->entry_is_pointer)
		return unaligned_u16(bytes, layout->entry);
	entry = unaligned_u64(bytes, layout->entry);
	return entry >= blob->code && entry - blob->code < blob->size
		       ? (uint32_t)(entry - blob->code)
		       : 0;
}

static void set_frame(const struct code_layout *layout, const uint8_t *bytes,
		      struct code_blob *blob)
{
	const int32_t words = unaligned_i32(bytes, layout->frame_size);

	if (words <= 0 || words > MAX_FRAME_WORDS)
		return;
	blob->frame.size = (uint32_t)words * WORD;
	blob->frame.complete = read_complete(layout, bytes);
	blob->frame.entry = read_entry(layout, bytes, blob);
	if (blob->frame.complete > blob->size)
		blob->frame = (struct wire_frame){0};
	if (blob->frame.entry > blob->size) /* as of a stub, which has no such member */
		blob->frame.entry = 0;
}

static void set_data(const struct code_layout *layout, const uint8_t *bytes, uint64_t heap_end,
		     struct code_blob *blob)
{
	const int32_t size = unaligned_i32(bytes, layout->data_size);
	const uint64_t data =
		layout->data_is_apart ? unaligned_u64(bytes, layout->data) : blob->addr;

	if (!layout->has_data || size <= 0 || (uint32_t)size > CODE_BLOB_MAX_BYTES || !data ||
	    data > UINT64_MAX - (uint32_t)size ||
	    (!layout->data_is_apart && data + (uint32_t)size > heap_end))
		return;
	blob->data_end = data + (uint32_t)size;
	blob->data_size = (uint32_t)size;
}

bool code_blob_decode(const struct code_layout *layout, const uint8_t *bytes, uint64_t addr,
		      uint64_t end, struct code_blob *ret)
{
	struct code_blob blob = {.addr = addr};

	blob.name_at = unaligned_u64(bytes, layout->name);
	if (!blob.name_at || !set_code(layout, bytes, end, &blob))
		return false;
	blob.method = unaligned_u64(bytes, layout->method);
	blob.compile_id = (uint32_t)unaligned_i32(bytes, layout->compile_id);
	blob.level = bytes[layout->level] <= MAX_LEVEL ? bytes[layout->level] : WIRE_LEVEL_UNKNOWN;
	blob.is_osr = unaligned_i32(bytes, layout->entry_bci) != INVOCATION_BCI;
	set_frame(layout, bytes, &blob);
	set_data(layout, bytes, end, &blob);
	*ret = blob;
	return true;
}

/* ---- lists ---- */

int blob_list_reserve(struct blob_list *list, size_t count)
{
	return ARRAY_RESERVE(list->at, list->size, count);
}

int blob_list_add(struct blob_list *list, const struct code_blob *blob)
{
	if (ARRAY_RESERVE(list->at, list->size, list->count + 1) < 0)
		return -ENOMEM;
	list->at[list->count++] = *blob;
	return 0;
}

static int by_addr(const void *a, const void *b)
{
	const struct code_blob *const one = a, *const other = b;

	return one->addr < other->addr ? -1 : one->addr > other->addr;
}

void blob_list_sort(struct blob_list *list)
{
	for (size_t i = 1; i < list->count; i++) {
		if (list->at[i - 1].addr > list->at[i].addr) {
			qsort(list->at, list->count, sizeof(*list->at), by_addr);
			return;
		}
	}
}

void blob_list_merge(struct blob_list *list, const struct blob_list *more)
{
	size_t i = list->count, k = more->count;

	list->count += k;
	while (k > 0) { /* from behind, where the room is */
		const bool is_more = i == 0 || list->at[i - 1].addr <= more->at[k - 1].addr;

		list->at[i + k - 1] = is_more ? more->at[k - 1] : list->at[i - 1];
		k -= is_more;
		i -= !is_more;
	}
}

const struct code_blob *blob_list_find(const struct blob_list *list, uint64_t addr)
{
	const size_t low = ARRAY_COUNT_BELOW(0, list->count, i, list->at[i].code <= addr);

	return low > 0 && addr - list->at[low - 1].code < list->at[low - 1].size
		       ? &list->at[low - 1]
		       : NULL;
}

void blob_list_fini(struct blob_list *list)
{
	free(list->at);
	*list = (struct blob_list){0};
}
