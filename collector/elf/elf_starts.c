// SPDX-License-Identifier: Apache-2.0
/*
 * Reads .eh_frame_hdr, see elf_starts.h:
 *
 *   0   u8   version, 1
 *   1   u8   encoding of eh_frame_ptr
 *   2   u8   encoding of fde_count
 *   3   u8   encoding of the table
 *   4   eh_frame_ptr, fde_count, then fde_count times: initial location, address of the FDE
 *
 * Linkers write the encodings 0x1b (4 bytes, relative to their own address), 0x03 (u32) and 0x3b (4
 * bytes signed, relative to the header); only these are read. Linkers sort the table; it is sorted
 * again here in case it is broken.
 */
#include "elf/elf_starts.h"

#include "base/array.h"
#include "base/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER_BYTES 12
#define ROW_BYTES    8

static int read_exactly(int fd, void *buf, size_t bytes, uint64_t off)
{
	const ssize_t n = file_read_at(fd, buf, bytes, off);

	return n < 0 ? (int)n : (size_t)n < bytes ? -ENOENT : 0; /* the file may end too early */
}

int elf_starts_load(int fd, const struct elf_starts_place *hdr, struct elf_starts *ret)
{
	unsigned char header[HEADER_BYTES];
	int32_t *rows;
	uint32_t count;
	int err;

	if (hdr->bytes < HEADER_BYTES || hdr->file_off > INT64_MAX)
		return -ENOENT;
	err = read_exactly(fd, header, sizeof(header), hdr->file_off);
	if (err)
		return err;
	memcpy(&count, header + 8, sizeof(count));
	if (header[0] != 1 || header[1] != 0x1b || header[2] != 0x03 || header[3] != 0x3b ||
	    count == 0 || count > ELF_STARTS_MAX || count > (hdr->bytes - HEADER_BYTES) / ROW_BYTES)
		return -ENOENT;
	rows = malloc((size_t)count * ROW_BYTES);
	if (!rows)
		return -ENOMEM;
	err = read_exactly(fd, rows, (size_t)count * ROW_BYTES, hdr->file_off + HEADER_BYTES);
	if (err) {
		free(rows);
		return err;
	}
	for (uint32_t i = 0; i < count; i++)
		rows[i] = rows[2 * (size_t)i];
	qsort(rows, count, sizeof(*rows), array_by_i32);
	*ret = (struct elf_starts){.base = hdr->elf_addr, .offsets = rows, .count = count};
	ret->offsets = array_trim(rows, count, sizeof(*rows)); /* gives the FDEs' half back */
	return 0;
}

static uint64_t start_at(const struct elf_starts *starts, size_t i)
{
	return starts->base + (uint64_t)(int64_t)starts->offsets[i];
}

/* Adds the starts of from to those of to. False: one is too far from the base. */
static bool append(struct elf_starts *to, const struct elf_starts *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const int64_t offset = (int64_t)(start_at(from, i) - to->base);

		if (offset < INT32_MIN || offset > INT32_MAX)
			return false;
		to->offsets[to->count++] = (int32_t)offset;
	}
	return true;
}

static int merge(struct elf_starts *starts, const struct elf_starts *more)
{
	struct elf_starts all = {.base = starts->count > 0 ? starts->base : more->base};

	if (starts->count + more->count > ELF_STARTS_MAX)
		return -EFBIG;
	all.offsets = malloc((starts->count + more->count + 1) * sizeof(*all.offsets));
	if (!all.offsets)
		return -ENOMEM;
	if (!append(&all, starts) || !append(&all, more)) {
		free(all.offsets);
		return -EFBIG;
	}
	qsort(all.offsets, all.count, sizeof(*all.offsets), array_by_i32);
	elf_starts_fini(starts);
	*starts = all;
	return 0;
}

int elf_starts_merge(struct elf_starts *starts, struct elf_starts *more)
{
	const int err = merge(starts, more);

	elf_starts_fini(more);
	return err;
}

uint64_t elf_starts_longest(const struct elf_starts *starts, uint64_t elf_addr, uint64_t len)
{
	uint64_t at = elf_addr, longest = 0;

	for (size_t i = 0; i < starts->count; i++) {
		const uint64_t start = start_at(starts, i);

		if (start < elf_addr || start - elf_addr >= len)
			continue;
		if (start - at > longest)
			longest = start - at;
		at = start;
	}
	return elf_addr + len - at > longest ? elf_addr + len - at : longest;
}

void elf_starts_fini(struct elf_starts *starts)
{
	free(starts->offsets);
	*starts = (struct elf_starts){0};
}

/* How many starts are at or before elf_addr. */
static size_t count_before(const struct elf_starts *starts, uint64_t elf_addr)
{
	return ARRAY_COUNT_BELOW(0, starts->count, i, start_at(starts, i) <= elf_addr);
}

int elf_starts_find(const struct elf_starts *starts, uint64_t elf_addr, uint64_t *ret_start)
{
	const size_t before = count_before(starts, elf_addr);

	if (before == 0)
		return -ENOENT;
	*ret_start = start_at(starts, before - 1);
	return 0;
}

int elf_starts_find_next(const struct elf_starts *starts, uint64_t elf_addr, uint64_t *ret_start)
{
	const size_t before = count_before(starts, elf_addr);

	if (before == starts->count)
		return -ENOENT;
	*ret_start = start_at(starts, before);
	return 0;
}
