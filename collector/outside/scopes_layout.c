// SPDX-License-Identifier: Apache-2.0
/* Finds the parts of debug information by the members of each JDK, see scopes_layout.h. */
#include "outside/scopes_layout.h"

#include "base/unaligned.h"

#include <string.h>

#define WORD	      8
#define PC_DESC_BYTES 256 /* at most */
#define HIGHEST_ADDR  (UINT64_C(1) << 56)

struct finding {
	const struct vm_tables *tables;
	uint32_t bytes;
};

/* Each member has at most eight bytes. */
static bool find(struct finding *finding, const char *key, uint32_t *ret)
{
	if (!vm_tables_small(finding->tables, key, VM_TABLES_MAX_OFFSET, ret))
		return false;
	if (finding->bytes < *ret + WORD)
		finding->bytes = *ret + WORD;
	return true;
}

static bool find_in_blob(struct finding *finding, struct scopes_layout *layout)
{
	layout->scopes_is_pointer =
		find(finding, "CompiledMethod::_scopes_data_begin", &layout->scopes) ||
		find(finding, "nmethod::_scopes_data_begin", &layout->scopes);
	layout->methods_are = SCOPES_METHODS_IN_BLOB;
	return (layout->scopes_is_pointer ||
		find(finding, "nmethod::_scopes_data_offset", &layout->scopes)) &&
	       find(finding, "nmethod::_scopes_pcs_offset", &layout->pcs) &&
	       find(finding, "nmethod::_dependencies_offset", &layout->pcs_end) &&
	       find(finding, "nmethod::_metadata_offset", &layout->methods);
}

static bool find_methods(struct finding *finding, struct scopes_layout *layout)
{
	if (find(finding, "nmethod::_metadata_offset", &layout->methods)) {
		layout->methods_are = SCOPES_METHODS_IN_DATA;
		return find(finding, "CodeBlob::_data_offset", &layout->methods_from) &&
		       find(finding, "CodeBlob::_size", &layout->methods_end);
	}
	layout->methods_are = SCOPES_METHODS_APART;
	return find(finding, "CodeBlob::_mutable_data", &layout->methods) &&
	       find(finding, "CodeBlob::_relocation_size", &layout->methods_from) &&
	       find(finding, "CodeBlob::_mutable_data_size", &layout->methods_end);
}

static bool find_apart(struct finding *finding, struct scopes_layout *layout)
{
	return find(finding, "nmethod::_immutable_data_size", &layout->apart_bytes) &&
	       find(finding, "nmethod::_scopes_pcs_offset", &layout->pcs) &&
	       find(finding, "nmethod::_scopes_data_offset", &layout->scopes) &&
	       find_methods(finding, layout);
}

static bool find_descriptor(const struct vm_tables *tables, struct scopes_layout *layout)
{
	return vm_tables_small(tables, "sizeof(PcDesc)", PC_DESC_BYTES, &layout->pc_desc_bytes) &&
	       vm_tables_small(tables, "PcDesc::_pc_offset", PC_DESC_BYTES, &layout->pc_offset) &&
	       vm_tables_small(tables, "PcDesc::_scope_decode_offset", PC_DESC_BYTES,
			       &layout->scope_offset) &&
	       layout->pc_offset + sizeof(int32_t) <= layout->pc_desc_bytes &&
	       layout->scope_offset + sizeof(int32_t) <= layout->pc_desc_bytes;
}

void scopes_layout_init(struct scopes_layout *layout, const struct vm_tables *tables)
{
	struct finding finding = {.tables = tables};

	*layout = (struct scopes_layout){0};
	layout->is_apart = find(&finding, "nmethod::_immutable_data", &layout->apart);
	layout->has_scopes =
		find_descriptor(tables, layout) &&
		(layout->is_apart ? find_apart(&finding, layout) : find_in_blob(&finding, layout));
	layout->bytes = finding.bytes;
}

/* An address behind another one; 0 if there is none. */
static uint64_t behind(uint64_t addr, int32_t by)
{
	return addr > 0 && addr < HIGHEST_ADDR && by >= 0 ? addr + (uint32_t)by : 0;
}

static bool set_span(uint64_t from, uint64_t to, struct scopes_span *ret)
{
	if (from == 0 || from >= HIGHEST_ADDR || to <= from || to - from > SCOPES_MAX_BYTES)
		return false;
	*ret = (struct scopes_span){.at = from, .len = (uint32_t)(to - from)};
	return true;
}

static bool set_methods(const struct scopes_layout *layout, const uint8_t *bytes, uint64_t addr,
			struct scopes_places *ret)
{
	uint64_t from, to;

	if (layout->methods_are == SCOPES_METHODS_IN_DATA) {
		from = behind(behind(addr, unaligned_i32(bytes, layout->methods_from)),
			      unaligned_u16(bytes, layout->methods));
		to = behind(addr, unaligned_i32(bytes, layout->methods_end));
	} else {
		const uint64_t apart = unaligned_u64(bytes, layout->methods);

		from = behind(apart, unaligned_i32(bytes, layout->methods_from));
		to = behind(apart, unaligned_i32(bytes, layout->methods_end));
	}
	return set_span(from, to, &ret->methods);
}

static bool find_places_apart(const struct scopes_layout *layout, const uint8_t *bytes,
			      uint64_t addr, struct scopes_places *ret)
{
	const uint64_t apart = unaligned_u64(bytes, layout->apart);
	const uint64_t pcs = behind(apart, unaligned_i32(bytes, layout->pcs));
	const uint64_t scopes = behind(apart, unaligned_i32(bytes, layout->scopes));
	const uint64_t end = behind(apart, unaligned_i32(bytes, layout->apart_bytes));

	return set_span(pcs, scopes, &ret->pcs) && set_span(scopes, end, &ret->scopes) &&
	       set_methods(layout, bytes, addr, ret);
}

static bool find_places_in_blob(const struct scopes_layout *layout, const uint8_t *bytes,
				uint64_t addr, struct scopes_places *ret)
{
	const uint64_t pcs = behind(addr, unaligned_i32(bytes, layout->pcs));
	const uint64_t scopes = layout->scopes_is_pointer
					? unaligned_u64(bytes, layout->scopes)
					: behind(addr, unaligned_i32(bytes, layout->scopes));
	const uint64_t methods = behind(addr, unaligned_i32(bytes, layout->methods));

	return set_span(pcs, behind(addr, unaligned_i32(bytes, layout->pcs_end)), &ret->pcs) &&
	       set_span(scopes, pcs, &ret->scopes) && set_span(methods, scopes, &ret->methods);
}

bool scopes_layout_find(const struct scopes_layout *layout, const uint8_t *bytes, uint64_t addr,
			struct scopes_places *ret)
{
	struct scopes_places places;
	const bool has = layout->has_scopes &&
			 (layout->is_apart ? find_places_apart(layout, bytes, addr, &places)
					   : find_places_in_blob(layout, bytes, addr, &places));

	if (has)
		*ret = places;
	return has;
}
