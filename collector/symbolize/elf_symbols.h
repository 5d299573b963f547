// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an ELF file's symbol table: elf_addr -> name
 * units:   elf_addr is a virtual address as the file's program headers say (p_vaddr)
 * threads: one at a time: elf_symbols_find keeps the names that it has demangled
 * errors:  negative errno; -ENOEXEC: no ELF file, or a broken one; -EFBIG: past the limits of
 *          elf_file.h
 * source:  elf(5), libelf
 *
 * The names come from .dynsym and from the best of these tables: .symtab, else mini debug info,
 * else a separate debug file. Entries of the PLT get the name of the function that they call. Used
 * are functions (STT_FUNC, STT_GNU_IFUNC), and where no function covers the address, STT_NOTYPE
 * symbols that have a size or are in the .symtab of assembler code. C++ and Rust names are
 * demangled.
 *
 * The file is read and not mapped, because a mapped file that is cut short would end this process.
 * A file without symbols is no error: its count is 0, and elf_symbols_addr_of works.
 */
#ifndef FG_SYMBOLIZE_ELF_SYMBOLS_H
#define FG_SYMBOLIZE_ELF_SYMBOLS_H

#include "confine/flat.h"
#include "elf/debug_file.h"
#include "elf/elf_functions.h"
#include "elf/elf_starts.h"
#include "symbolize/demangle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbols; /* opaque */

/* The best of the tables that the file has. */
enum elf_symbols_source {
	ELF_SYMBOLS_NONE,
	ELF_SYMBOLS_DYNSYM,
	ELF_SYMBOLS_MINI_DEBUG,
	ELF_SYMBOLS_DEBUG_FILE,
	ELF_SYMBOLS_SYMTAB,
};

/*
 * fd stays the caller's; -EINVAL if it is no regular file. place says where separate debug files
 * are looked for; NULL: nowhere.
 */
int elf_symbols_load(int fd, const struct debug_place *place, struct elf_symbols **ret);

/*
 * A table of functions and starts that were taken from another table. Sorts functions, copies their
 * names, and takes starts in any case. soname is cut at ELF_FILE_SONAME_BYTES.
 */
int elf_symbols_make(const struct elf_layout *layout, struct elf_functions *functions,
		     struct elf_starts *starts, const char *soname, struct elf_symbols **ret);

/*
 * Loads the .symtab of a debug file alone, for the mapped file with this layout. May be called on
 * any thread.
 */
int elf_symbols_load_debug(int fd, const struct elf_layout *layout, struct elf_symbols **ret);
/*
 * Adds debug, which symbols then owns: a look-up asks debug first. The serial number of symbols
 * changes.
 */
void elf_symbols_take_debug(struct elf_symbols *symbols, struct elf_symbols *debug);
/*
 * A table that goes from one process to another, without what elf_symbols_take_debug added. A table
 * of a hostile process is checked. is_private: see elf_symbols_is_private.
 */
void elf_symbols_flatten(const struct elf_symbols *symbols, struct flat_writer *writer);
int elf_symbols_restore(struct flat_reader *reader, bool is_private, struct elf_symbols **ret);
void elf_symbols_free(struct elf_symbols *symbols); /* NULL is legal */

/* The elf_addr of the byte at file_off, by PT_LOAD; -ENOENT if no segment holds the byte. */
int elf_symbols_addr_of(const struct elf_symbols *symbols, uint64_t file_off,
			uint64_t *ret_elf_addr);

/*
 * The demangled name of the function that holds elf_addr, borrowed for the table's life.
 * *ret_offset is the distance from the function's start. NULL: no function holds the address. The
 * name is demangled by the caller's thread: demangler.h does without.
 */
const char *elf_symbols_find(struct elf_symbols *symbols, uint64_t elf_addr, uint64_t *ret_offset);
/* elf_symbols_find with the name as it is in the file. */
const char *elf_symbols_find_linker_name(const struct elf_symbols *symbols, uint64_t elf_addr,
					 uint64_t *ret_offset);

/*
 * The start of the function called name, where name may be mangled or demangled. addr is an address
 * of its start in a process, which has the same offset in its page; -ENOENT if there is no such
 * function.
 */
int elf_symbols_find_start_of(struct elf_symbols *symbols, const char *name, uint64_t addr,
			      uint64_t *ret_elf_addr);

enum elf_symbols_source elf_symbols_source(const struct elf_symbols *symbols);
const struct elf_layout *elf_symbols_layout(const struct elf_symbols *symbols);

/* A number that debuginfod.h keeps in the table; 0 at first. */
unsigned *elf_symbols_mark(struct elf_symbols *symbols);

/* The table's serial number, see base/serial.h. */
uint64_t elf_symbols_serial(const struct elf_symbols *symbols);

/* The bytes of NT_GNU_BUILD_ID, borrowed; *ret_len is 0 if the file has no build ID. */
const unsigned char *elf_symbols_build_id(const struct elf_symbols *symbols, size_t *ret_len);

/* DT_SONAME, borrowed; "" if the file has none. */
const char *elf_symbols_soname(const struct elf_symbols *symbols);

/*
 * Whether names or lines come from a debug file in the root directory of the target process. Such a
 * table is used for processes of that root alone, even if another table is equal.
 */
bool elf_symbols_is_private(const struct elf_symbols *symbols);

/* Whether two tables give the same answers and neither is private. */
bool elf_symbols_equal(const struct elf_symbols *a, const struct elf_symbols *b);

/*
 * The start of the function that holds elf_addr, by .eh_frame, which stripped files have too.
 * -ENOENT: not known.
 */
int elf_symbols_find_start(const struct elf_symbols *symbols, uint64_t elf_addr,
			   uint64_t *ret_elf_addr);

size_t elf_symbols_count(const struct elf_symbols *symbols);
size_t elf_symbols_bytes(const struct elf_symbols *symbols);

#endif
