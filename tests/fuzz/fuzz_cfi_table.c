// SPDX-License-Identifier: Apache-2.0
/*
 * The compiler of unwind rules. An input that is no ELF file is taken for the contents of .eh_frame
 * (.debug_frame if its first byte is odd, of aarch64 if its second is), which the fuzzer could
 * hardly reach through headers alone.
 */
#include "fuzzer.h"

#include "elf/cfi_compile.h"
#include "elf/cfi_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE_BYTES 0x100000

static volatile uint64_t sink;

static void ask(const struct cfi_table *table)
{
	uint64_t elf_addr;

	for (uint64_t at = 0; at < 0x10000; at += 61) {
		const struct cfi_row *row;

		if (cfi_table_addr_of(table, at, &elf_addr) < 0)
			elf_addr = at;
		row = cfi_table_find(table, elf_addr);
		sink += row ? row->kind + (uint64_t)cfi_table_rbx_off(table, row) : 0;
	}
	sink += cfi_table_find(table, UINT64_MAX) != NULL;
	sink += cfi_table_bytes(table) + cfi_table_equal(table, table);
}

static void load(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct cfi_table *table;

	if (fd < 0)
		return;
	if (write(fd, data, size) == (ssize_t)size && cfi_table_load(fd, &table) == 0) {
		ask(table);
		cfi_table_free(table);
	}
	close(fd);
}

static void compile(const uint8_t *data, size_t size)
{
	static const struct elf_layout layout = {
		.segments = {{.elf_addr = 0, .mem_bytes = CODE_BYTES, .is_executable = true}},
		.segment_count = 1,
	};
	/* Of its very size, so that reading beyond it is seen. */
	unsigned char *bytes = malloc(size > 2 ? size - 2 : 1);
	const struct cfi_section section = {
		.bytes = bytes,
		.len = size - 2,
		.elf_addr = CODE_BYTES,
		.machine = data[1] & 1 ? EM_AARCH64 : EM_X86_64,
		.is_debug_frame = (data[0] & 1) != 0,
		.is_open_ended = (data[0] & 2) != 0,
	};
	struct cfi_rows rows;

	if (!bytes)
		return;
	memcpy(bytes, data + 2, size - 2);
	if (cfi_compile(&section, &layout, &rows) == 0) {
		for (size_t i = 1; i < rows.stats.rows; i++) {
			if (rows.rows[i].start <= rows.rows[i - 1].start)
				abort();
		}
		free(rows.rows);
		free(rows.rbx_offs);
	}
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0)
		load(data, size);
	else if (size >= 2)
		compile(data, size);
	return 0;
}
