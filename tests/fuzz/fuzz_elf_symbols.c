// SPDX-License-Identifier: Apache-2.0
/* The reader of ELF files, which belong to the targets. */
#include "fuzzer.h"

#include "symbolize/elf_symbols.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint64_t sink;

static void ask(struct elf_symbols *symbols)
{
	uint64_t elf_addr, offset = 0;
	size_t len;

	for (uint64_t file_off = 0; file_off < 0x4000; file_off += 16) {
		const char *name;

		if (elf_symbols_addr_of(symbols, file_off, &elf_addr) < 0)
			continue;
		name = elf_symbols_find(symbols, elf_addr, &offset);
		if (name)
			sink += strlen(name) + offset;
	}
	for (uint64_t addr = 0; addr < 0x8000; addr += 16)
		sink += elf_symbols_find_start(symbols, addr, &elf_addr) == 0;
	sink += elf_symbols_build_id(symbols, &len)[0] + len;
	sink += elf_symbols_bytes(symbols) + elf_symbols_equal(symbols, symbols);
}

/* The same bytes as the debug file of a file that has them too. */
static void use_as_debug(int fd, struct elf_symbols *symbols)
{
	struct elf_symbols *debug;
	struct debug_link link;
	struct elf_file file;

	if (elf_symbols_load_debug(fd, elf_symbols_layout(symbols), &debug) == 0) {
		elf_symbols_take_debug(symbols, debug);
		ask(symbols);
	}
	if (elf_file_open_debug(fd, &file) == 0) {
		sink += debug_file_read_link(&file, &link) == 0 && link.name[0] != '\0';
		elf_file_close(&file);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elf_symbols *symbols;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && elf_symbols_load(fd, NULL, &symbols) == 0) {
		ask(symbols);
		use_as_debug(fd, symbols);
		elf_symbols_free(symbols);
	}
	close(fd);
	return 0;
}
