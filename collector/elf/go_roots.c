// SPDX-License-Identifier: Apache-2.0
/* Marks the functions of Go's runtime that have no caller, see go_roots.h. */
#include "elf/go_roots.h"

#include "base/array.h"
#include "elf/elf_functions.h"
#include "elf/elf_section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The number of rows that start below the offset. */
static size_t count_below(const struct cfi_rows *rows, uint32_t offset)
{
	return ARRAY_COUNT_BELOW(0, rows->stats.rows, i, rows->rows[i].start < offset);
}

/* Makes room for three rows more. */
static int grow(struct cfi_rows *rows)
{
	const size_t n = rows->stats.rows + 3;
	struct cfi_row *const more = realloc(rows->rows, n * sizeof(*more));
	int32_t *offs;

	if (!more)
		return -ENOMEM;
	rows->rows = more;
	if (!rows->rbx_offs)
		return 0;
	offs = realloc(rows->rbx_offs, n * sizeof(*offs));
	if (!offs)
		return -ENOMEM;
	rows->rbx_offs = offs;
	return 0;
}

/* Has a row begin at the offset, if there is one in front of it. There must be room. */
static void split_at(struct cfi_rows *rows, uint32_t offset)
{
	const size_t at = count_below(rows, offset), n = rows->stats.rows;

	if (at == 0 || (at < n && rows->rows[at].start == offset))
		return;
	memmove(rows->rows + at + 1, rows->rows + at, (n - at) * sizeof(*rows->rows));
	rows->rows[at] = rows->rows[at - 1];
	rows->rows[at].start = offset;
	if (rows->rbx_offs) {
		memmove(rows->rbx_offs + at + 1, rows->rbx_offs + at,
			(n - at) * sizeof(*rows->rbx_offs));
		rows->rbx_offs[at] = rows->rbx_offs[at - 1];
	}
	rows->stats.rows++;
}

/* Has a row at the offset where none is in front of it: a program may have no rules at all. */
static void begin_at(struct cfi_rows *rows, uint32_t offset)
{
	const size_t n = rows->stats.rows;

	if (n > 0 && rows->rows[0].start <= offset)
		return;
	memmove(rows->rows + 1, rows->rows, n * sizeof(*rows->rows));
	rows->rows[0] = (struct cfi_row){.start = offset,
					 .kind = CFI_NONE,
					 .cfa_reg = CFI_OUTSIDE,
					 .fp_off = CFI_SAME,
					 .ra_off = CFI_SAME};
	if (rows->rbx_offs) {
		memmove(rows->rbx_offs + 1, rows->rbx_offs, n * sizeof(*rows->rbx_offs));
		rows->rbx_offs[0] = CFI_UNKNOWN;
	}
	rows->stats.rows++;
}

int go_roots_mark_span(struct cfi_rows *rows, uint32_t start, uint32_t end)
{
	if (start >= end || rows->stats.rows + 3 > CFI_ROWS_MAX)
		return 0;
	if (grow(rows) < 0)
		return -ENOMEM;
	begin_at(rows, start);
	split_at(rows, start);
	split_at(rows, end);
	for (size_t i = count_below(rows, start); i < count_below(rows, end); i++)
		rows->rows[i].is_root = true;
	return 0;
}

/* A function of Go's assembler has .abi0 behind its name since Go 1.17. */
static bool is_begin(const char *name)
{
	static const char *const begins[] = {"runtime.goexit", "runtime.mstart", "runtime.rt0_go"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		const size_t len = strlen(begins[i]);

		if (strncmp(name, begins[i], len) == 0 &&
		    (name[len] == '\0' || strcmp(name + len, ".abi0") == 0))
			return true;
	}
	return false;
}

static int mark(const struct elf_function *function, struct cfi_rows *rows)
{
	const uint64_t start = function->elf_addr - rows->base;

	if (function->elf_addr < rows->base || start > UINT32_MAX ||
	    function->size > UINT32_MAX - start)
		return 0;
	return go_roots_mark_span(rows, (uint32_t)start, (uint32_t)start + function->size);
}

int go_roots_mark(const struct elf_file *file, struct cfi_rows *rows)
{
	struct elf_functions functions = {0};
	GElf_Shdr header;
	int err = 0;

	if (!elf_section_find(file, ".gopclntab", &header))
		return 0;
	/* What cannot be read of the symbols is missing, and no error of the rows. */
	(void)elf_functions_add(&functions, file, &file->layout, SHT_SYMTAB);
	for (size_t i = 0; i < functions.count && !err; i++) {
		if (is_begin(functions.items[i].name))
			err = mark(&functions.items[i], rows);
	}
	elf_functions_fini(&functions);
	return err;
}
