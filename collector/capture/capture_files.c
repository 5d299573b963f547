// SPDX-License-Identifier: Apache-2.0
/*
 * Notes what is asked of files' tables, of their DWARF and of the kernel's symbols, see
 * capture_self.h.
 */
#include "capture/capture_self.h"

#include "base/hash.h"
#include "capture/capture_codec.h"
#include "files/cfi_cache.h"

#include <string.h>

#define NEWBORN_BYTES 16 /* step_native also looks at the row so far behind */

/* Returns the file's number; 0: no memory, or no room in the capture. Writes a new file. */
static uint64_t find_file(struct capture *capture, pid_t pid, const struct mapping *mapping)
{
	const uint64_t dev = (uint64_t)mapping->dev_major << 32 | mapping->dev_minor;
	uint64_t hash = capture_hash(capture, (uint64_t)pid ^ dev << 16, mapping->inode);
	struct bytes *const fields = &capture->fields;
	uint64_t number;

	hash ^= quick_hash_text(capture->seed, mapping->path, strlen(mapping->path));
	number = (uintptr_t)map64_find(&capture->files, hash);
	if (number)
		return number;
	capture->writer.is_full |= capture->n_files == CAPTURE_MAX_FILES;
	if (capture->writer.is_full)
		return 0;
	number = ++capture->n_files;
	if (map64_put(&capture->files, hash, (void *)(uintptr_t)number) < 0)
		return 0;
	bytes_add_varint(fields, number);
	bytes_add_varint(fields, (uint64_t)pid);
	bytes_add_varint(fields, mapping->dev_major);
	bytes_add_varint(fields, mapping->dev_minor);
	bytes_add_varint(fields, mapping->inode);
	capture_put_text(fields, mapping->path);
	capture_write(&capture->writer, CAPTURE_FILE, fields);
	return number;
}

/* A table, or why there is none: layout or reason is NULL. */
struct table_fact {
	enum table_of of;
	const struct elf_layout *layout;
	const char *reason, *soname;
};

static void write_table(struct capture *capture, uint64_t file, const struct table_fact *table)
{
	struct bytes *const fields = &capture->fields;

	if (capture_was_seen(capture, capture_hash(capture, file, 0x7461626c65u + table->of)))
		return;
	bytes_add_varint(fields, file);
	bytes_add_varint(fields, table->of);
	capture_put_text(fields, table->reason);
	if (table->layout) {
		capture_put_text(fields, table->soname);
		capture_put_layout(fields, table->layout);
	}
	capture_write(&capture->writer, CAPTURE_TABLE, fields);
}

/* Writes the row of elf_addr. Returns whether the row has a rule. */
static bool write_row(struct capture *capture, uint64_t file, const struct cfi_table *table,
		      uint64_t elf_addr)
{
	const struct cfi_row *const row = cfi_table_find(table, elf_addr);
	struct bytes *const fields = &capture->fields;
	uint64_t start, end;

	if (!row)
		return false;
	cfi_table_span(table, row, &start, &end);
	bytes_add_varint(fields, file);
	bytes_add_varint(fields, start);
	bytes_add_varint(fields, end - start);
	capture_put_signed(fields, row->cfa_off);
	capture_put_signed(fields, row->cfa_add);
	capture_put_signed(fields, row->fp_off);
	capture_put_signed(fields, row->ra_off);
	bytes_add_varint(fields, row->kind);
	bytes_add_varint(fields, row->cfa_reg);
	bytes_add_varint(fields, row->save_reg);
	bytes_add_varint(fields, (uint64_t)row->is_signal | (uint64_t)row->is_root << 1 |
					 (uint64_t)row->fp_is_at_reg << 2 |
					 (uint64_t)row->ra_is_at_reg << 3);
	capture_put_signed(fields, cfi_table_rbx_off(table, row));
	capture_write_fact(&capture->writer, CAPTURE_ROW, fields);
	return row->kind != CFI_NONE;
}

static void write_rows(struct capture *capture, uint64_t file, const struct cfi_table *table,
		       uint64_t file_off)
{
	uint64_t elf_addr;

	write_table(capture, file,
		    &(struct table_fact){.of = TABLE_UNWIND, .layout = cfi_table_layout(table)});
	if (cfi_table_addr_of(table, file_off, &elf_addr) == 0 &&
	    !write_row(capture, file, table, elf_addr))
		write_row(capture, file, table, elf_addr + NEWBORN_BYTES);
}

static void write_symbol(struct capture *capture, uint64_t file, const struct elf_symbols *symbols,
			 uint64_t file_off)
{
	struct bytes *const fields = &capture->fields;
	uint64_t elf_addr, offset, start;
	const char *name;

	write_table(capture, file,
		    &(struct table_fact){.of = TABLE_SYMBOLS,
					 .layout = elf_symbols_layout(symbols),
					 .soname = elf_symbols_soname(symbols)});
	if (elf_symbols_addr_of(symbols, file_off, &elf_addr) < 0)
		return;
	name = elf_symbols_find_linker_name(symbols, elf_addr, &offset);
	if (name) {
		bytes_add_varint(fields, file);
		bytes_add_varint(fields, elf_addr - offset);
		bytes_add_varint(fields, offset);
		capture_put_text(fields, name);
		capture_write_fact(&capture->writer, CAPTURE_SYMBOL, fields);
	} else if (elf_symbols_find_start(symbols, elf_addr, &start) == 0) {
		bytes_add_varint(fields, file);
		bytes_add_varint(fields, start);
		capture_write_fact(&capture->writer, CAPTURE_START, fields);
	}
}

/*
 * Writes that there is no table: as a fact of the file, or of this step if there may be a table in
 * the next one.
 */
static void write_no_table(struct capture *capture, uint64_t file, enum table_of of,
			   const char *reason)
{
	struct current *const current = &capture->current;

	if (!table_cache_answer_passes(capture->stages.tables)) {
		write_table(capture, file, &(struct table_fact){.of = of, .reason = reason});
		return;
	}
	if (current->n_missing == CAPTURE_MAX_MISSING)
		return;
	bytes_add_varint(&current->missing, file);
	bytes_add_varint(&current->missing, of + CAPTURE_TABLE_KINDS * capture_late_of(reason));
	current->n_missing++;
}

static void on_file(void *arg, enum table_of of, pid_t pid, const struct mapping *mapping,
		    uint64_t addr)
{
	struct capture *const capture = arg;
	struct table_cache *const tables = capture->stages.tables;
	const uint64_t file_off = addr - mapping->start + mapping->file_off;
	const uint64_t file = find_file(capture, pid, mapping);
	const uint64_t hash = capture_hash(capture, file << 1 | of, file_off);
	const char *reason = "";
	void *table;

	if (file == 0 || map64_find(&capture->seen, hash))
		return;
	table = table_cache_find(tables, of, pid, mapping, &reason);
	if (!table)
		write_no_table(capture, file, of, reason);
	else if (of == TABLE_UNWIND)
		write_rows(capture, file, table, file_off);
	else
		write_symbol(capture, file, table, file_off);
	if (table)
		capture_was_seen(capture, hash);
}

/* ---- names ---- */

static void on_kernel(void *arg, const struct kernel_call *call, const struct frame *frame)
{
	struct capture *const capture = arg;
	struct bytes *const fields = &capture->fields;

	bytes_add_varint(fields, call->addr);
	bytes_add_varint(fields, call->caller);
	capture_put_text(fields, frame_kind_word(frame->kind));
	capture_put_text(fields, frame->name);
	capture_put_text(fields, frame->module);
	capture_write_fact(&capture->writer, CAPTURE_KERNEL, fields);
}

static void on_lines(void *arg, const struct line_place *place, const struct dwarf_place *found,
		     size_t n)
{
	struct capture *const capture = arg;
	const uint64_t file = find_file(capture, place->pid, place->mapping);
	struct bytes *const fields = &capture->fields;

	if (file == 0 || n == 0)
		return;
	bytes_add_varint(fields, file);
	bytes_add_varint(fields, place->elf_addr);
	bytes_add_varint(fields, n);
	for (size_t i = 0; i < n; i++) {
		capture_put_text(fields, found[i].name);
		capture_put_text(fields, found[i].file);
		bytes_add_varint(fields, found[i].line);
	}
	capture_write_fact(&capture->writer, CAPTURE_LINES, fields);
}

void capture_files_init(struct capture *capture)
{
	capture->unwind_files = (struct file_watch){.asked = on_file, .arg = capture};
	capture->names = (struct name_watch){.files = capture->unwind_files,
					     .kernel = on_kernel,
					     .lines = on_lines,
					     .arg = capture};
}
