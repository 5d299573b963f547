// SPDX-License-Identifier: Apache-2.0
/* Looks members up by each of their names, see code_layout.h. */
#include "outside/code_layout.h"

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define WORD	     8

/* A member and its names; the first that the JVM has counts. */
struct member {
	size_t at; /* offset of a uint32_t in struct code_layout */
	const char *names[2];
};

#define MEMBER(name, ...)                                                                          \
	{                                                                                          \
		offsetof(struct code_layout, name),                                                \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static const struct member members[] = {
	MEMBER(memory, "CodeHeap::_memory"),
	MEMBER(segmap, "CodeHeap::_segmap"),
	MEMBER(log2_segment, "CodeHeap::_log2_segment_size"),
	MEMBER(low, "VirtualSpace::_low"),
	MEMBER(high, "VirtualSpace::_high"),
	MEMBER(header_bytes, "sizeof(HeapBlock)"),
	MEMBER(used, "HeapBlock::Header::_used"),
	MEMBER(name, "CodeBlob::_name"),
	MEMBER(frame_size, "CodeBlob::_frame_size"),
	MEMBER(complete, "CodeBlob::_frame_complete_offset"),
	MEMBER(method, "nmethod::_method", "CompiledMethod::_method"),
	MEMBER(compile_id, "nmethod::_compile_id"),
	MEMBER(level, "nmethod::_comp_level"),
	MEMBER(entry_bci, "nmethod::_entry_bci"),
};

static const struct member array_members[] = {
	MEMBER(array_len, "GrowableArrayBase::_len", "GenericGrowableArray::_len"),
	MEMBER(array_data, "GrowableArray<int>::_data"),
};

static const struct member pointers[] = {
	MEMBER(code_begin, "CodeBlob::_code_begin"),
	MEMBER(code_end, "CodeBlob::_code_end"),
};

static const struct member offsets[] = {
	MEMBER(code_begin, "CodeBlob::_code_offset"),
	MEMBER(code_end, "CodeBlob::_data_offset"),
};

static bool find_members(struct code_layout *layout, const struct vm_tables *tables,
			 const struct member *from, size_t n, const char **ret_lacks)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t *const to = (uint32_t *)(void *)((char *)layout + from[i].at);
		bool has = false;

		for (size_t k = 0; !has && k < COUNT(from[i].names) && from[i].names[k]; k++)
			has = vm_tables_small(tables, from[i].names[k], CODE_LAYOUT_MAX_BYTES, to);
		if (!has) {
			*ret_lacks = from[i].names[0];
			return false;
		}
	}
	return true;
}

static uint64_t static_at(const struct vm_tables *tables, const char *key)
{
	int64_t value;

	return vm_tables_value(tables, key, &value) && value % WORD == 0 ? (uint64_t)value : 0;
}

static bool find_heaps(struct code_layout *layout, const struct vm_tables *tables,
		       const char **ret_lacks)
{
	layout->heap = static_at(tables, "CodeCache::_heap");
	layout->heaps = static_at(tables, "CodeCache::_heaps");
	if (layout->heaps)
		return find_members(layout, tables, array_members, COUNT(array_members), ret_lacks);
	*ret_lacks = "CodeCache::_heaps";
	return layout->heap != 0;
}

static bool find_code(struct code_layout *layout, const struct vm_tables *tables,
		      const char **ret_lacks)
{
	layout->has_pointers = find_members(layout, tables, pointers, COUNT(pointers), ret_lacks);
	return layout->has_pointers ||
	       find_members(layout, tables, offsets, COUNT(offsets), ret_lacks);
}

static void find_entry(struct code_layout *layout, const struct vm_tables *tables)
{
	layout->entry_is_pointer = vm_tables_small(tables, "nmethod::_verified_entry_point",
						   CODE_LAYOUT_MAX_BYTES, &layout->entry);
	layout->has_entry = layout->entry_is_pointer ||
			    vm_tables_small(tables, "nmethod::_verified_entry_offset",
					    CODE_LAYOUT_MAX_BYTES, &layout->entry);
}

static void find_data(struct code_layout *layout, const struct vm_tables *tables)
{
	layout->data_is_apart = vm_tables_small(tables, "CodeBlob::_mutable_data",
						CODE_LAYOUT_MAX_BYTES, &layout->data) &&
				vm_tables_small(tables, "CodeBlob::_mutable_data_size",
						CODE_LAYOUT_MAX_BYTES, &layout->data_size);
	layout->has_data =
		layout->data_is_apart || vm_tables_small(tables, "CodeBlob::_size",
							 CODE_LAYOUT_MAX_BYTES, &layout->data_size);
	if (!layout->data_is_apart)
		layout->data = 0;
}

static void grow(uint32_t *bytes, uint32_t at)
{
	if (*bytes < at + WORD)
		*bytes = at + WORD;
}

/* Each member has at most eight bytes. */
static void measure(struct code_layout *layout)
{
	const uint32_t of_blob[] = {layout->code_begin, layout->code_end, layout->name,
				    layout->frame_size, layout->complete};
	const uint32_t of_nmethod[] = {layout->method,	  layout->compile_id, layout->level,
				       layout->entry_bci, layout->entry,      layout->data,
				       layout->data_size};

	for (size_t i = 0; i < COUNT(of_blob); i++)
		grow(&layout->blob_bytes, of_blob[i]);
	layout->nmethod_bytes = layout->blob_bytes;
	if (layout->nmethod_bytes < layout->scopes.bytes)
		layout->nmethod_bytes = layout->scopes.bytes;
	for (size_t i = 0; i < COUNT(of_nmethod); i++)
		grow(&layout->nmethod_bytes, of_nmethod[i]);
}

bool code_layout_init(struct code_layout *layout, const struct vm_tables *tables,
		      const char **ret_lacks)
{
	int64_t word_bytes;

	*layout = (struct code_layout){.complete_is_int = tables->complete_is_int};
	if (vm_tables_value(tables, "constant BytesPerWord", &word_bytes) && word_bytes != WORD) {
		*ret_lacks = "words of 64 bits";
		return false;
	}
	if (!find_heaps(layout, tables, ret_lacks) ||
	    !find_members(layout, tables, members, COUNT(members), ret_lacks) ||
	    !find_code(layout, tables, ret_lacks))
		return false;
	*ret_lacks = "HeapBlock::Header::_used";
	if (layout->used >= layout->header_bytes)
		return false;
	find_entry(layout, tables);
	find_data(layout, tables);
	layout->has_boundary = vm_tables_small(tables, "VirtualSpace::_high_boundary",
					       CODE_LAYOUT_MAX_BYTES, &layout->boundary);
	scopes_layout_init(&layout->scopes, tables);
	measure(layout);
	return true;
}
