// SPDX-License-Identifier: Apache-2.0
/*
 * Compiles unwind tables in three walks, see cfi_compile.h. The first walk reads the CIEs, which
 * may follow their functions. The second walk reads the FDEs. The third walk runs the instructions
 * of the FDEs, by address. An FDE may point only to a CIE that the first walk has read, so that no
 * pointer leads into the middle of an entry. If a CFA is in rbx, the third walk is repeated, with a
 * row for each place of rbx too.
 */
#include "elf/cfi_compile.h"

#include "base/array.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CIES      (256u << 10)
#define MAX_FUNCTIONS (CFI_ROWS_MAX / 2) /* each needs one row for itself and one behind it */

struct shared {
	struct cfi_cie cie;
	struct cfi_state initial;
};

struct function {
	struct cfi_fde fde;
	uint64_t off;
	const struct shared *shared;
};

struct compiler {
	const struct cfi_section *section;
	const struct elf_layout *layout;
	struct shared *shared; /* sorted by cie.off */
	size_t shared_count, shared_size;
	struct function *functions;
	size_t function_count, function_size;
	struct cfi_row *rows;
	size_t row_count, row_size;
	int32_t *rbx_offs; /* one for each row, if has_rbx */
	size_t rbx_size;
	bool has_rbx, needs_rbx;
	uint64_t base;
	struct cfi_rows_stats stats;
	struct cfi_state saved[CFI_PROGRAM_MAX_SAVED];
};

/* Initial instructions must not move to another address; if they do, the CIE is refused. */
static int run_initial(struct shared *shared)
{
	struct cfi_state saved[CFI_PROGRAM_MAX_SAVED];
	const struct cfi_state start = cfi_program_first_state(shared->cie.context.machine);
	struct cfi_program program = {
		.context = &shared->cie.context,
		.initial = &start,
		.code = shared->cie.code,
		.state = start,
		.saved = saved,
	};
	uint64_t next;
	const int moved = cfi_program_next(&program, &next);

	shared->initial = program.state;
	return moved == 0 ? 0 : -ENOEXEC;
}

static int add_shared(struct compiler *compiler, const struct cfi_entry *entry)
{
	struct shared shared;
	int err;

	if (cfi_entry_read_cie(compiler->section, entry, &shared.cie) < 0 ||
	    run_initial(&shared) < 0) {
		compiler->stats.left_out++;
		return 0;
	}
	if (compiler->shared_count == MAX_CIES)
		return -EFBIG;
	err = ARRAY_RESERVE(compiler->shared, compiler->shared_size, compiler->shared_count + 1);
	if (!err)
		compiler->shared[compiler->shared_count++] = shared;
	return err;
}

static const struct shared *find_shared(const struct compiler *compiler, uint64_t off)
{
	const size_t low =
		ARRAY_COUNT_BELOW(0, compiler->shared_count, i, compiler->shared[i].cie.off < off);

	return low < compiler->shared_count && compiler->shared[low].cie.off == off
		       ? &compiler->shared[low]
		       : NULL;
}

/*
 * Cuts the function where its segment ends. False: the function is not in code, for example because
 * the linker discarded it.
 */
static bool place(const struct compiler *compiler, struct cfi_fde *fde)
{
	for (size_t i = 0; i < compiler->layout->segment_count; i++) {
		const struct elf_segment *segment = &compiler->layout->segments[i];
		const uint64_t end = segment->elf_addr + segment->mem_bytes;

		if (!segment->is_executable || fde->start < segment->elf_addr || fde->start >= end)
			continue;
		if (fde->end > end)
			fde->end = end;
		return fde->start < fde->end && fde->start >= compiler->base &&
		       fde->end - compiler->base <= UINT32_MAX;
	}
	return false;
}

static int add_function(struct compiler *compiler, const struct cfi_entry *entry)
{
	struct function function = {.off = entry->off};
	int err;

	function.shared = find_shared(compiler, entry->cie_off);
	if (!function.shared ||
	    cfi_entry_read_fde(entry, &function.shared->cie, &function.fde) < 0 ||
	    !place(compiler, &function.fde)) {
		compiler->stats.left_out++;
		return 0;
	}
	if (compiler->function_count == MAX_FUNCTIONS)
		return -EFBIG;
	err = ARRAY_RESERVE(compiler->functions, compiler->function_size,
			    compiler->function_count + 1);
	if (!err)
		compiler->functions[compiler->function_count++] = function;
	return err;
}

static int read_entries(struct compiler *compiler, bool is_for_cies)
{
	struct cfi_entry entry;
	uint64_t off = 0;
	int more, err = 0;

	while (!err && (more = cfi_entry_next(compiler->section, &off, &entry)) > 0) {
		if (entry.is_cie && is_for_cies)
			err = add_shared(compiler, &entry);
		else if (!entry.is_cie && !is_for_cies)
			err = add_function(compiler, &entry);
	}
	if (!err && more < 0 && !is_for_cies)
		compiler->stats.left_out++; /* the rest of the section */
	return err;
}

/* Orders by start, then by place in the file. */
static int compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->fde.start != b->fde.start)
		return a->fde.start < b->fde.start ? -1 : 1;
	return a->off < b->off ? -1 : a->off > b->off;
}

static bool is_by_rbx(const struct compiler *compiler, const struct cfi_row *row)
{
	return compiler->section->machine == EM_X86_64 && row->cfa_reg == CFI_REG_RBX &&
	       (row->kind == CFI_REG || row->kind == CFI_DEREF);
}

/* Whether the row equals the last row. */
static bool is_last(const struct compiler *compiler, const struct cfi_row *row, int32_t rbx_off)
{
	const size_t last = compiler->row_count - 1;

	return compiler->row_count > 0 && cfi_row_equal(&compiler->rows[last], row) &&
	       (!compiler->has_rbx || compiler->rbx_offs[last] == rbx_off);
}

static int add_row(struct compiler *compiler, uint64_t elf_addr, struct cfi_row row,
		   int32_t rbx_off)
{
	int err;

	assert(elf_addr - compiler->base <= UINT32_MAX);
	row.start = (uint32_t)(elf_addr - compiler->base);
	if (is_last(compiler, &row, rbx_off))
		return 0;
	if (compiler->row_count == CFI_ROWS_MAX)
		return -EFBIG;
	err = ARRAY_RESERVE(compiler->rows, compiler->row_size, compiler->row_count + 1);
	if (!err && compiler->has_rbx)
		err = ARRAY_RESERVE(compiler->rbx_offs, compiler->rbx_size,
				    compiler->row_count + 1);
	if (err)
		return err;
	if (compiler->has_rbx)
		compiler->rbx_offs[compiler->row_count] = rbx_off;
	compiler->needs_rbx |= is_by_rbx(compiler, &row);
	compiler->rows[compiler->row_count++] = row;
	return 0;
}

/* False: a row cannot express one of the rules. */
static bool say_rules(const struct cfi_state *state, struct cfi_row *row)
{
	const struct cfi_rule *fp = &state->fp, *ra = &state->ra;

	row->fp_is_at_reg = fp->kind == CFI_RULE_AT_REG;
	row->ra_is_at_reg = ra->kind == CFI_RULE_AT_REG;
	if (row->fp_is_at_reg && row->ra_is_at_reg && fp->reg != ra->reg)
		return false;
	if (row->fp_is_at_reg)
		row->save_reg = fp->reg;
	else if (row->ra_is_at_reg)
		row->save_reg = ra->reg;
	/*
	 * An undefined frame pointer needs no offset, because none of the caller's rules needs the
	 * pointer.
	 */
	if (fp->kind == CFI_RULE_AT_CFA || row->fp_is_at_reg)
		row->fp_off = fp->off;
	if (ra->kind == CFI_RULE_AT_CFA || row->ra_is_at_reg)
		row->ra_off = ra->off;
	return fp->kind != CFI_RULE_OTHER && ra->kind != CFI_RULE_OTHER;
}

static struct cfi_row make_row(const struct cfi_state *state, const struct cfi_cie *cie)
{
	static const struct cfi_row none = {
		.kind = CFI_NONE, .fp_off = CFI_SAME, .ra_off = CFI_SAME};
	struct cfi_row row = none;

	row.is_root = state->ra.kind == CFI_RULE_UNDEFINED;
	row.is_signal = cie->is_signal;
	row.kind = state->cfa_kind;
	row.cfa_reg = state->cfa_reg;
	row.cfa_off = state->cfa_off;
	row.cfa_add = state->cfa_add;
	if (!say_rules(state, &row) || row.kind == CFI_NONE ||
	    (cie->context.machine == EM_X86_64 && state->ra.kind == CFI_RULE_SAME)) {
		const bool is_root = row.is_root;

		row = none;
		row.is_root = is_root;
	}
	return row;
}

static int32_t rbx_off_of(const struct cfi_state *state)
{
	if (state->cfa_kind == CFI_NONE)
		return CFI_UNKNOWN;
	if (state->rbx.kind == CFI_RULE_SAME)
		return CFI_SAME;
	return state->rbx.kind == CFI_RULE_AT_CFA ? state->rbx.off : CFI_UNKNOWN;
}

/* Adds rows from the function's start to end, which may lie before the function's end. */
static int add_rows(struct compiler *compiler, const struct function *function, uint64_t end)
{
	struct cfi_program program = {
		.context = &function->shared->cie.context,
		.initial = &function->shared->initial,
		.code = function->fde.code,
		.elf_addr = function->fde.start,
		.state = function->shared->initial,
		.saved = compiler->saved,
	};
	int more = 1, err = 0;
	uint64_t next = 0;

	while (!err && more > 0 && program.elf_addr < end) {
		more = cfi_program_next(&program, &next);
		if (more < 0) {
			compiler->stats.cut++;
			program.state = (struct cfi_state){.cfa_kind = CFI_NONE};
		}
		if (more <= 0 || next > program.elf_addr)
			err = add_row(compiler, program.elf_addr,
				      make_row(&program.state, &function->shared->cie),
				      rbx_off_of(&program.state));
		program.elf_addr = next;
	}
	return err;
}

static int add_all_rows(struct compiler *compiler)
{
	static const struct cfi_row outside = {
		.kind = CFI_NONE, .cfa_reg = CFI_OUTSIDE, .fp_off = CFI_SAME, .ra_off = CFI_SAME};
	int err = 0;

	if (compiler->function_count == 0)
		return 0;
	qsort(compiler->functions, compiler->function_count, sizeof(*compiler->functions), compare);
	for (size_t i = 0; !err && i < compiler->function_count; i++) {
		const struct function *function = &compiler->functions[i], *later = function + 1;
		const struct function *all_end = compiler->functions + compiler->function_count;
		uint64_t end = function->fde.end;

		if (i > 0 && function[-1].fde.start == function->fde.start) {
			compiler->stats.left_out++;
			continue;
		}
		while (later < all_end && later->fde.start == function->fde.start)
			later++;
		if (later < all_end && later->fde.start < end)
			end = later->fde.start;
		compiler->stats.functions++;
		err = add_rows(compiler, function, end);
		if (!err && (later == all_end || later->fde.start > end))
			err = add_row(compiler, end, outside, CFI_UNKNOWN);
	}
	return err;
}

static int compile_rows(struct compiler *compiler)
{
	const struct cfi_rows_stats stats = compiler->stats;
	const int err = add_all_rows(compiler);

	if (err || !compiler->needs_rbx)
		return err;
	compiler->stats = stats;
	compiler->row_count = 0;
	compiler->has_rbx = true;
	return add_all_rows(compiler);
}

uint64_t cfi_compile_base(const struct elf_layout *layout)
{
	uint64_t base = UINT64_MAX;

	for (size_t i = 0; i < layout->segment_count; i++) {
		if (layout->segments[i].is_executable && layout->segments[i].elf_addr < base)
			base = layout->segments[i].elf_addr;
	}
	return base;
}

int cfi_compile(const struct cfi_section *section, const struct elf_layout *layout,
		struct cfi_rows *ret)
{
	struct compiler compiler = {
		.section = section, .layout = layout, .base = cfi_compile_base(layout)};
	int err = read_entries(&compiler, true);

	if (!err)
		err = read_entries(&compiler, false);
	if (!err)
		err = compile_rows(&compiler);
	if (!err && compiler.row_count == 0)
		err = compiler.stats.left_out > 0 ? -ENOEXEC : -ENOENT;
	free(compiler.shared);
	free(compiler.functions);
	if (err) {
		free(compiler.rows);
		free(compiler.rbx_offs);
		return err;
	}
	compiler.stats.rows = compiler.row_count;
	*ret = (struct cfi_rows){.rows = compiler.rows,
				 .rbx_offs = compiler.rbx_offs,
				 .base = compiler.base,
				 .stats = compiler.stats};
	return 0;
}
