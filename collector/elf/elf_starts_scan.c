// SPDX-License-Identifier: Apache-2.0
/*
 * Reads where functions start from the entries of .eh_frame, see elf_starts.h, for files without
 * the sorted table of .eh_frame_hdr, or with a broken one.
 */
#include "base/array.h"
#include "elf/cfi_entry.h"
#include "elf/cfi_section.h"
#include "elf/elf_starts.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#define MAX_STARTS (8u << 20)

struct scan {
	const struct cfi_section *section;
	const struct elf_layout *layout;
	struct cfi_cie cie; /* the CIE read last */
	bool has_cie;
	struct elf_starts starts;
	size_t size;
};

static bool is_code(const struct elf_layout *layout, uint64_t elf_addr)
{
	for (size_t i = 0; i < layout->segment_count; i++) {
		const struct elf_segment *segment = &layout->segments[i];

		if (segment->is_executable && elf_addr >= segment->elf_addr &&
		    elf_addr - segment->elf_addr < segment->mem_bytes)
			return true;
	}
	return false;
}

static bool find_cie(struct scan *scan, uint64_t off)
{
	struct cfi_entry entry;

	if (scan->has_cie && scan->cie.off == off)
		return true;
	scan->has_cie = cfi_entry_next(scan->section, &off, &entry) == 1 && entry.is_cie &&
			cfi_entry_read_cie(scan->section, &entry, &scan->cie) == 0;
	return scan->has_cie;
}

static int add_start(struct scan *scan, uint64_t elf_addr)
{
	struct elf_starts *starts = &scan->starts;
	int64_t offset;

	if (starts->count == 0)
		starts->base = elf_addr;
	offset = (int64_t)(elf_addr - starts->base);
	if (!is_code(scan->layout, elf_addr) || offset > INT32_MAX || offset < INT32_MIN)
		return 0;
	if (starts->count == MAX_STARTS)
		return -EFBIG;
	if (ARRAY_RESERVE(starts->offsets, scan->size, starts->count + 1) < 0)
		return -ENOMEM;
	starts->offsets[starts->count++] = (int32_t)offset;
	return 0;
}

static int add_entries(struct scan *scan)
{
	struct cfi_entry entry;
	struct cfi_fde fde;
	uint64_t off = 0;
	int err = 0;

	/* Entries behind a broken entry cannot be found. */
	while (!err && cfi_entry_next(scan->section, &off, &entry) == 1) {
		if (!entry.is_cie && find_cie(scan, entry.cie_off) &&
		    cfi_entry_read_fde(&entry, &scan->cie, &fde) == 0)
			err = add_start(scan, fde.start);
	}
	return err;
}

int elf_starts_scan(int fd, const struct elf_file *file, struct elf_starts *ret)
{
	struct cfi_section section = {0};
	struct scan scan = {.section = &section, .layout = &file->layout};
	int err;

	if (file->machine != EM_X86_64 && file->machine != EM_AARCH64)
		return -ENOENT; /* cfi_entry reads entries of these machines only */
	err = cfi_section_read_eh_frame(fd, file, &section);
	if (err)
		return err;
	err = add_entries(&scan);
	free(section.bytes);
	if (!err && scan.starts.count == 0)
		err = -ENOENT;
	if (err) {
		elf_starts_fini(&scan.starts);
		return err;
	}
	qsort(scan.starts.offsets, scan.starts.count, sizeof(*scan.starts.offsets), array_by_i32);
	*ret = scan.starts;
	return 0;
}
