// SPDX-License-Identifier: Apache-2.0
/*
 * Rows by address, and an index of the rows, see cfi_table.h. Code is divided into stretches of
 * 2^shift bytes. The index has the first row that starts in a stretch or behind it. So a look-up
 * reads one place of the index and then the few rows of one stretch.
 */
#include "elf/cfi_table.h"

#include "base/array.h"
#include "elf/cfi_compile.h"
#include "elf/cfi_gaps.h"
#include "elf/cfi_section.h"
#include "elf/go_roots.h"
#include "elf/elf_file.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>

#define ROWS_A_STRETCH 8 /* average number of rows */

struct cfi_table {
	struct cfi_row *rows;
	int32_t *rbx_offs; /* offset of rbx for each row; NULL: no CFA is in rbx */
	size_t count;
	uint64_t base;
	uint32_t *index;
	size_t index_count;
	unsigned shift;
	struct elf_layout layout;
	struct cfi_rows_stats stats;
};

static_assert(sizeof(struct cfi_row) == 24, "rows are many");

static int add_index(struct cfi_table *table)
{
	const uint64_t last = table->rows[table->count - 1].start;
	size_t row = 0;

	while ((last >> table->shift) >= table->count / ROWS_A_STRETCH + 1)
		table->shift++;
	table->index_count = (size_t)(last >> table->shift) + 2;
	table->index = malloc(table->index_count * sizeof(*table->index));
	if (!table->index)
		return -ENOMEM;
	for (size_t i = 0; i < table->index_count; i++) {
		while (row < table->count && (uint64_t)table->rows[row].start >> table->shift < i)
			row++;
		table->index[i] = (uint32_t)row;
	}
	return 0;
}

/* Makes a table, and takes ownership of the arrays in rows. */
static int make_table(struct cfi_rows *rows, const struct elf_layout *layout,
		      struct cfi_table **ret)
{
	struct cfi_table *table = calloc(1, sizeof(*table));

	if (!table) {
		free(rows->rows);
		free(rows->rbx_offs);
		return -ENOMEM;
	}
	table->rows = array_trim(rows->rows, rows->stats.rows, sizeof(*table->rows));
	if (rows->rbx_offs)
		table->rbx_offs =
			array_trim(rows->rbx_offs, rows->stats.rows, sizeof(*table->rbx_offs));
	table->count = rows->stats.rows;
	table->base = rows->base;
	table->stats = rows->stats;
	table->layout = *layout;
	if (add_index(table) < 0) {
		cfi_table_free(table);
		return -ENOMEM;
	}
	*ret = table;
	return 0;
}

int cfi_table_make(struct cfi_rows *rows, const struct elf_layout *layout, struct cfi_table **ret)
{
	bool is_rising = rows->stats.rows > 0;

	for (size_t i = 1; i < rows->stats.rows; i++)
		is_rising &= rows->rows[i - 1].start < rows->rows[i].start;
	if (is_rising)
		return make_table(rows, layout, ret);
	free(rows->rows);
	free(rows->rbx_offs);
	return -EINVAL;
}

/* What precedes the arrays of a flat table. */
struct head {
	struct elf_layout layout;
	struct cfi_rows_stats stats;
	uint64_t base;
	uint64_t has_rbx;
};

void cfi_table_flatten(const struct cfi_table *table, struct flat_writer *writer)
{
	const struct head head = {.layout = table->layout,
				  .stats = table->stats,
				  .base = table->base,
				  .has_rbx = table->rbx_offs != NULL};

	flat_write(writer, &head, sizeof(head));
	flat_write(writer, table->rows, table->count * sizeof(*table->rows));
	if (table->rbx_offs)
		flat_write(writer, table->rbx_offs, table->count * sizeof(*table->rbx_offs));
}

static bool are_kinds_known(const struct cfi_rows *rows)
{
	for (size_t i = 0; i < rows->stats.rows; i++) {
		if (rows->rows[i].kind > CFI_PLT)
			return false;
	}
	return true;
}

int cfi_table_restore(struct flat_reader *reader, struct cfi_table **ret)
{
	struct cfi_rows rows = {0};
	struct head head;
	int err;

	flat_read(reader, &head, sizeof(head));
	if (!reader->err && (!elf_layout_is_sound(&head.layout) || head.stats.rows == 0))
		reader->err = -EBADMSG;
	rows.stats = head.stats;
	rows.base = head.base;
	rows.rows = flat_read_array(reader, head.stats.rows, sizeof(*rows.rows), CFI_ROWS_MAX);
	if (head.has_rbx)
		rows.rbx_offs = flat_read_array(reader, head.stats.rows, sizeof(*rows.rbx_offs),
						CFI_ROWS_MAX);
	if (!reader->err && !are_kinds_known(&rows))
		reader->err = -EBADMSG;
	if (reader->err) {
		free(rows.rows);
		free(rows.rbx_offs);
		return reader->err;
	}
	err = cfi_table_make(&rows, &head.layout, ret);
	return err == -EINVAL ? -EBADMSG : err;
}

static int compile(struct cfi_section *section, const struct elf_layout *layout,
		   struct cfi_rows *ret)
{
	const int err = cfi_compile(section, layout, ret);

	free(section->bytes);
	return err;
}

static bool is_known(const struct elf_file *file)
{
	return (file->machine == EM_X86_64 || file->machine == EM_AARCH64) &&
	       gelf_getclass(file->elf) == ELFCLASS64;
}

static int load(int fd, const struct elf_file *file, struct cfi_rows *ret)
{
	struct cfi_section section;
	int err, debug_err;

	if (!is_known(file))
		return -ENOENT;
	err = cfi_section_read_eh_frame(fd, file, &section);
	if (!err)
		err = compile(&section, &file->layout, ret);
	if (err != -ENOENT && err != -ENOEXEC)
		return err;
	debug_err = cfi_section_read_debug_frame(fd, file, &section);
	if (!debug_err)
		debug_err = compile(&section, &file->layout, ret);
	return debug_err == -ENOENT ? err : debug_err;
}

/* Adds rules for code without rules. A file that has no others has these alone. */
static int fill_gaps(int fd, const struct elf_file *file, int load_err, struct cfi_rows *rows)
{
	int err;

	if (load_err == -ENOENT)
		*rows = (struct cfi_rows){.base = cfi_compile_base(&file->layout)};
	err = cfi_gaps_fill(fd, file, rows);
	if (!err)
		err = go_roots_mark(file, rows);
	if (!err && rows->stats.rows > 0)
		return 0;
	free(rows->rows);
	free(rows->rbx_offs);
	return err ? err : -ENOENT;
}

int cfi_table_load(int fd, struct cfi_table **ret)
{
	struct elf_file file;
	struct cfi_rows rows;
	int err = elf_file_open(fd, &file);

	if (err)
		return err;
	err = load(fd, &file, &rows);
	if (!err || (err == -ENOENT && is_known(&file)))
		err = fill_gaps(fd, &file, err, &rows);
	if (!err)
		err = make_table(&rows, &file.layout, ret);
	elf_file_close(&file);
	return err;
}

int cfi_table_find_starts(int fd, const struct elf_file *file, struct elf_starts *ret)
{
	struct cfi_rows rows = {0};
	struct elf_starts starts = {0};
	int err = load(fd, file, &rows);

	if (err == -ENOENT && is_known(file)) {
		rows = (struct cfi_rows){.base = cfi_compile_base(&file->layout)};
		err = 0;
	}
	if (!err)
		err = cfi_gaps_find_starts(fd, file, &rows, (uint32_t **)&starts.offsets,
					   &starts.count);
	starts.base = rows.base;
	free(rows.rows);
	free(rows.rbx_offs);
	if (err)
		return err;
	*ret = starts;
	return 0;
}

void cfi_table_free(struct cfi_table *table)
{
	if (!table)
		return;
	free(table->rows);
	free(table->rbx_offs);
	free(table->index);
	free(table);
}

const struct cfi_row *cfi_table_find(const struct cfi_table *table, uint64_t elf_addr)
{
	const uint64_t offset = elf_addr - table->base;
	const uint64_t stretch = offset >> table->shift;
	const struct cfi_row *row;
	size_t low;

	if (elf_addr < table->base || offset > UINT32_MAX || stretch + 1 >= table->index_count)
		return NULL; /* the last row, in the last stretch, stands for addresses outside */
	low = ARRAY_COUNT_BELOW(table->index[stretch], table->index[stretch + 1], i,
				table->rows[i].start <= offset);
	if (low == 0)
		return NULL;
	row = &table->rows[low - 1];
	return row->kind == CFI_NONE && row->cfa_reg == CFI_OUTSIDE ? NULL : row;
}

int32_t cfi_table_rbx_off(const struct cfi_table *table, const struct cfi_row *row)
{
	return table->rbx_offs ? table->rbx_offs[row - table->rows] : CFI_UNKNOWN;
}

void cfi_table_span(const struct cfi_table *table, const struct cfi_row *row, uint64_t *ret_start,
		    uint64_t *ret_end)
{
	const size_t next = (size_t)(row - table->rows) + 1;

	*ret_start = table->base + row->start;
	*ret_end = next < table->count ? table->base + table->rows[next].start
				       : table->base + UINT32_MAX;
}

const struct elf_layout *cfi_table_layout(const struct cfi_table *table)
{
	return &table->layout;
}

int cfi_table_addr_of(const struct cfi_table *table, uint64_t file_off, uint64_t *ret_elf_addr)
{
	return elf_layout_addr_of(&table->layout, file_off, ret_elf_addr);
}

bool cfi_table_equal(const struct cfi_table *a, const struct cfi_table *b)
{
	if (a->count != b->count || a->base != b->base || !a->rbx_offs != !b->rbx_offs ||
	    !elf_layout_equal(&a->layout, &b->layout))
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (a->rows[i].start != b->rows[i].start ||
		    !cfi_row_equal(&a->rows[i], &b->rows[i]) ||
		    cfi_table_rbx_off(a, &a->rows[i]) != cfi_table_rbx_off(b, &b->rows[i]))
			return false;
	}
	return true;
}

size_t cfi_table_bytes(const struct cfi_table *table)
{
	return sizeof(*table) + table->count * sizeof(*table->rows) +
	       (table->rbx_offs ? table->count * sizeof(*table->rbx_offs) : 0) +
	       table->index_count * sizeof(*table->index);
}

void cfi_table_stats(const struct cfi_table *table, struct cfi_rows_stats *ret)
{
	*ret = table->stats;
}
