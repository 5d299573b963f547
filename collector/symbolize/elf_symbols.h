// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an ELF file's symbols: elf_addr -> name
 * units:   elf_addr is a virtual address as the file's program headers say (p_vaddr)
 * threads: one at a time: elf_symbols_find remembers what it demangled
 * errors:  negative errno; a file that is no ELF, or broken, is -ENOEXEC, one past the bounds of
 *          elf_file.h is -EFBIG; neither ends the process
 * source:  elf(5), libelf
 *
 * From the best table there is, and .dynsym as well: .symtab; else mini debug info; else a separate
 * debug file; and for entries of the PLT what they lead to. Functions (STT_FUNC, STT_GNU_IFUNC),
 * and STT_NOTYPE with a size or in .symtab of assembler code when nothing else covers the address.
 * C++ and Rust names are demangled. The file is read, not mapped, so that a file cut short under us
 * cannot end us. A file without symbols is no error: its count is 0, and elf_symbols_addr_of works.
 */
#ifndef FG_SYMBOLIZE_ELF_SYMBOLS_H
#define FG_SYMBOLIZE_ELF_SYMBOLS_H

#include "elf/debug_file.h"
#include "symbolize/demangle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbols; /* opaque */

/* The best table that there was. */
enum elf_symbols_source {
	ELF_SYMBOLS_NONE,
	ELF_SYMBOLS_DYNSYM,
	ELF_SYMBOLS_MINI_DEBUG,
	ELF_SYMBOLS_DEBUG_FILE,
	ELF_SYMBOLS_SYMTAB,
};

/*
 * fd stays the caller's; any other thing than a regular file is -EINVAL. place says where a
 * separate debug file is looked for; with NULL none is.
 */
int elf_symbols_load(int fd, const struct debug_place *place, struct elf_symbols **ret);

/* The .symtab of a debug file alone, for the mapped file that has this layout; any thread. */
int elf_symbols_load_debug(int fd, const struct elf_layout *layout, struct elf_symbols **ret);
/* From now on debug answers first; it is symbols' then. The serial is another one. */
void elf_symbols_take_debug(struct elf_symbols *symbols, struct elf_symbols *debug);
void elf_symbols_free(struct elf_symbols *symbols); /* NULL is legal */

/* File offset of a mapping's byte -> elf_addr through PT_LOAD; -ENOENT if no segment holds it. */
int elf_symbols_addr_of(const struct elf_symbols *symbols, uint64_t file_off,
			uint64_t *ret_elf_addr);

/*
 * The function that holds elf_addr, demangled, borrowed for the table's life; *ret_offset is the
 * distance from its start. NULL if none does.
 */
const char *elf_symbols_find(struct elf_symbols *symbols, uint64_t elf_addr, uint64_t *ret_offset);
/* The same, with what is mangled written in that style. */
const char *elf_symbols_find_as(struct elf_symbols *symbols, uint64_t elf_addr,
				enum demangle_style style, uint64_t *ret_offset);

/*
 * The start of the function of that name, as it is shown or as the linker wrote it, for which a
 * process's address is addr: they are alike in the bits below a page. -ENOENT if there is none.
 */
int elf_symbols_find_start_of(struct elf_symbols *symbols, const char *name, uint64_t addr,
			      uint64_t *ret_elf_addr);

enum elf_symbols_source elf_symbols_source(const struct elf_symbols *symbols);
const struct elf_layout *elf_symbols_layout(const struct elf_symbols *symbols);

/* A number for whoever improves the table; 0 at first. */
unsigned *elf_symbols_mark(struct elf_symbols *symbols);

/* The table's own number, base/serial.h. */
uint64_t elf_symbols_serial(const struct elf_symbols *symbols);

/* NT_GNU_BUILD_ID, borrowed; *ret_len is 0 if the file has none. */
const unsigned char *elf_symbols_build_id(const struct elf_symbols *symbols, size_t *ret_len);

/* What the library calls itself, borrowed; "" if it does not. */
const char *elf_symbols_soname(const struct elf_symbols *symbols);

/*
 * Whether there is a debug file for it in the target's root: its names, or lines, are for that root
 * alone, however equal another's are.
 */
bool elf_symbols_is_private(const struct elf_symbols *symbols);

/* Whether two files give the same answer to every question above, and neither is private. */
bool elf_symbols_equal(const struct elf_symbols *a, const struct elf_symbols *b);

/*
 * Where the function that holds elf_addr starts, by .eh_frame, which stripped files have too.
 * -ENOENT if that cannot be told.
 */
int elf_symbols_find_start(const struct elf_symbols *symbols, uint64_t elf_addr,
			   uint64_t *ret_elf_addr);

size_t elf_symbols_count(const struct elf_symbols *symbols);
size_t elf_symbols_bytes(const struct elf_symbols *symbols);

#endif
