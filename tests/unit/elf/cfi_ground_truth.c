// SPDX-License-Identifier: Apache-2.0
/* The other opinion, see cfi_ground_truth.h. libdw's expressions are run on a machine of noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cfi_ground_truth.h"

#include "elf/cfi_table.h"
#include "elf/elf_file.h"
#include "elf/elf_functions.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_STACK 16
#define MAX_SHOWN 20 /* differences in full */

/* Where a register of the caller is. */
enum place_kind { PLACE_SAME, PLACE_UNDEFINED, PLACE_MEMORY, PLACE_OTHER };

struct place {
	enum place_kind kind;
	uint64_t addr; /* of PLACE_MEMORY */
};

struct answer {
	uint64_t cfa;
	bool has_cfa, is_signal;
	struct place fp, ra, rbx;
	bool has_rbx; /* else nothing is said of it */
};

struct truth {
	Dwarf_CFI *cfi;
	struct cfi_table *table;
	unsigned fp, ra;
	struct cfi_comparison counts;
};

static uint64_t noise(uint64_t value)
{
	value ^= value >> 31;
	value *= UINT64_C(0x9e3779b97f4a7c15);
	return value ^ value >> 29;
}

static uint64_t register_value(uint64_t reg, uint64_t pc)
{
	return reg == 16 ? pc : noise(reg + 1);
}

static uint64_t memory_at(uint64_t addr)
{
	return noise(addr ^ UINT64_C(0x5bd1e995a5a5a5a5));
}

/* What a frame's expression leaves; false: an operation that is not known here. */
static bool evaluate(const Dwarf_Op *ops, size_t count, uint64_t pc, uint64_t cfa, uint64_t *ret)
{
	uint64_t stack[MAX_STACK] = {0};
	size_t depth = 0;

	for (size_t i = 0; i < count; i++) {
		const Dwarf_Op *op = &ops[i];

		assert_true(depth + 1 < MAX_STACK);
		if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
			stack[depth++] = register_value(op->atom - DW_OP_breg0, pc) + op->number;
			continue;
		}
		if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
			stack[depth++] = op->atom - DW_OP_lit0;
			continue;
		}
		switch (op->atom) {
		case DW_OP_bregx:
			stack[depth++] = register_value(op->number, pc) + op->number2;
			continue;
		case DW_OP_call_frame_cfa:
			stack[depth++] = cfa;
			continue;
		default:
			break;
		}
		if (depth == 0)
			return false;
		switch (op->atom) {
		case DW_OP_deref:
			stack[depth - 1] = memory_at(stack[depth - 1]);
			continue;
		case DW_OP_plus_uconst:
			stack[depth - 1] += op->number;
			continue;
		default:
			break;
		}
		if (depth < 2)
			return false;
		depth--;
		switch (op->atom) {
		case DW_OP_plus:
			stack[depth - 1] += stack[depth];
			break;
		case DW_OP_minus:
			stack[depth - 1] -= stack[depth];
			break;
		case DW_OP_mul:
			stack[depth - 1] *= stack[depth];
			break;
		case DW_OP_and:
			stack[depth - 1] &= stack[depth];
			break;
		case DW_OP_ge:
			stack[depth - 1] = (int64_t)stack[depth - 1] >= (int64_t)stack[depth];
			break;
		case DW_OP_shl:
			stack[depth - 1] <<= stack[depth] & 63;
			break;
		default:
			return false;
		}
	}
	if (depth == 0)
		return false;
	*ret = stack[depth - 1];
	return true;
}

static struct place place_of(Dwarf_Frame *frame, unsigned reg, uint64_t pc, uint64_t cfa)
{
	struct place place = {.kind = PLACE_OTHER};
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, (int)reg, memory, &ops, &count) < 0)
		return place;
	if (count == 0) {
		place.kind = ops ? PLACE_UNDEFINED : PLACE_SAME;
		return place;
	}
	if (ops[count - 1].atom != DW_OP_stack_value && evaluate(ops, count, pc, cfa, &place.addr))
		place.kind = PLACE_MEMORY;
	return place;
}

static struct answer ask_libdw(const struct truth *truth, Dwarf_Frame *frame, uint64_t pc)
{
	struct answer answer = {0};
	size_t count;
	Dwarf_Op *ops;

	dwarf_frame_info(frame, NULL, NULL, &answer.is_signal);
	if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count > 0)
		answer.has_cfa = evaluate(ops, count, pc, 0, &answer.cfa);
	answer.fp = place_of(frame, truth->fp, pc, answer.cfa);
	answer.ra = place_of(frame, truth->ra, pc, answer.cfa);
	answer.rbx = place_of(frame, CFI_REG_RBX, pc, answer.cfa);
	return answer;
}

static struct place row_place(const struct cfi_row *row, int32_t off, bool is_at_reg, uint64_t cfa)
{
	if (off == CFI_SAME)
		return (struct place){.kind = PLACE_SAME};
	return (struct place){
		.kind = PLACE_MEMORY,
		.addr = (is_at_reg ? register_value(row->save_reg, 0) : cfa) +
			(uint64_t)(int64_t)off,
	};
}

static struct answer ask_row(const struct cfi_table *table, const struct cfi_row *row, uint64_t pc)
{
	const int32_t rbx_off = cfi_table_rbx_off(table, row);
	struct answer answer = {.has_cfa = row->kind != CFI_NONE, .is_signal = row->is_signal};
	const uint64_t at = register_value(row->cfa_reg, pc) + (uint64_t)(int64_t)row->cfa_off;

	if (row->kind == CFI_REG)
		answer.cfa = at;
	else if (row->kind == CFI_DEREF)
		answer.cfa = memory_at(at) + (uint64_t)(int64_t)row->cfa_add;
	else if (row->kind == CFI_PLT)
		answer.cfa =
			register_value(7, pc) + 8 + ((pc & 15) >= (uint64_t)row->cfa_off ? 8 : 0);
	answer.fp = row_place(row, row->fp_off, row->fp_is_at_reg, answer.cfa);
	answer.ra = row_place(row, row->ra_off, row->ra_is_at_reg, answer.cfa);
	if (row->is_root)
		answer.ra = (struct place){.kind = PLACE_UNDEFINED};
	answer.has_rbx = rbx_off != CFI_UNKNOWN;
	answer.rbx = row_place(row, rbx_off, false, answer.cfa);
	return answer;
}

static bool places_equal(const struct place *a, const struct place *b)
{
	return a->kind == b->kind && (a->kind != PLACE_MEMORY || a->addr == b->addr);
}

/*
 * An undefined frame pointer is said to be the same: nobody may want it. Of rbx libdw says that it
 * is undefined where the file says nothing, by a slip in its psABI's default rules, which should
 * say that callees preserve it. A file's own words to that end make ours unknown, not the same.
 */
static bool answers_equal(struct answer expected, const struct answer *found)
{
	if (expected.fp.kind == PLACE_UNDEFINED)
		expected.fp.kind = PLACE_SAME;
	if (expected.rbx.kind == PLACE_UNDEFINED)
		expected.rbx.kind = PLACE_SAME;
	return expected.has_cfa && expected.cfa == found->cfa &&
	       expected.is_signal == found->is_signal && places_equal(&expected.fp, &found->fp) &&
	       places_equal(&expected.ra, &found->ra) &&
	       (!found->has_rbx || places_equal(&expected.rbx, &found->rbx));
}

static void show(const char *what, uint64_t pc, const struct answer *answer)
{
	print_message("  %s %#jx: cfa %d %#jx fp %d %#jx ra %d %#jx "
		      "rbx %d %#jx signal %d\n",
		      what, (uintmax_t)pc, answer->has_cfa, (uintmax_t)answer->cfa, answer->fp.kind,
		      (uintmax_t)answer->fp.addr, answer->ra.kind, (uintmax_t)answer->ra.addr,
		      answer->rbx.kind, (uintmax_t)answer->rbx.addr, answer->is_signal);
}

static void count_kind(struct cfi_comparison *counts, const struct cfi_row *row)
{
	counts->signals += row->is_signal;
	counts->roots += row->is_root;
	counts->derefs += row->kind == CFI_DEREF;
	counts->plts += row->kind == CFI_PLT;
}

static void count_equal(struct cfi_comparison *counts, const struct answer *found)
{
	counts->equal++;
	counts->rbx += found->has_rbx;
	counts->rbx_unknown += !found->has_rbx;
}

static void compare_at(struct truth *truth, Dwarf_Frame *frame, uint64_t pc)
{
	const struct cfi_row *row = cfi_table_find(truth->table, pc);
	const struct answer expected = ask_libdw(truth, frame, pc);
	struct answer found = {0};

	truth->counts.addresses++;
	if (row)
		found = ask_row(truth->table, row, pc);
	if (!row)
		truth->counts.missing++;
	else if (row->kind == CFI_NONE)
		truth->counts.unsaid++;
	else if (answers_equal(expected, &found))
		count_equal(&truth->counts, &found);
	else
		truth->counts.different++;
	if (row)
		count_kind(&truth->counts, row);
	if (truth->counts.missing + truth->counts.different > MAX_SHOWN ||
	    (row && (row->kind == CFI_NONE || answers_equal(expected, &found))))
		return;
	show("libdw", pc, &expected);
	show(row ? "table" : "none ", pc, &found);
}

/* From one start of a function to the next; what is behind its end must be outside. */
static void compare_function(struct truth *truth, uint64_t start, uint64_t next_start)
{
	uint64_t pc = start;

	while (pc < next_start) {
		Dwarf_Addr row_start, row_end;
		Dwarf_Frame *frame;

		if (dwarf_cfi_addrframe(truth->cfi, pc, &frame) < 0) {
			const struct cfi_row *row = cfi_table_find(truth->table, pc);
			const bool has_rule = row && !row->is_decoded;

			truth->counts.outside += !has_rule;
			truth->counts.surplus += has_rule;
			if (has_rule && truth->counts.surplus < MAX_SHOWN)
				print_message("  surplus %#jx: %s\n", (uintmax_t)pc,
					      dwarf_errmsg(-1));
			return;
		}
		dwarf_frame_info(frame, &row_start, &row_end, NULL);
		compare_at(truth, frame, pc);
		if (row_end - pc > 1 && row_end <= next_start)
			compare_at(truth, frame, row_end - 1);
		free(frame);
		if (row_end <= pc)
			return;
		pc = row_end;
	}
}

static int compare_addrs(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Where functions start: as .eh_frame_hdr says, or by symbols. */
static uint64_t *find_starts(int fd, struct elf_file *file, size_t *ret_count)
{
	struct elf_functions functions = {0};
	struct elf_starts starts = {0};
	uint64_t *addrs;

	if (elf_starts_load(fd, &file->layout.eh_frame_hdr, &starts) < 0) {
		elf_functions_add(&functions, file, &file->layout, SHT_SYMTAB);
		elf_functions_add(&functions, file, &file->layout, SHT_DYNSYM);
		starts.count = functions.count;
	}
	*ret_count = starts.count;
	addrs = calloc(starts.count + 1, sizeof(*addrs));
	assert_non_null(addrs);
	for (size_t i = 0; i < starts.count; i++)
		addrs[i] = functions.items ? functions.items[i].elf_addr
					   : starts.base + (uint64_t)(int64_t)starts.offsets[i];
	qsort(addrs, starts.count, sizeof(*addrs), compare_addrs);
	elf_functions_fini(&functions);
	elf_starts_fini(&starts);
	return addrs;
}

struct cfi_comparison cfi_ground_truth_compare(const char *path, size_t stride)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct truth truth = {0};
	struct elf_file file;
	Dwarf *dwarf = NULL;
	uint64_t *starts;
	size_t count;

	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(fd, &file), 0);
	starts = find_starts(fd, &file, &count);
	assert_int_equal(cfi_table_load(fd, &truth.table), 0);
	truth.cfi = dwarf_getcfi_elf(file.elf);
	if (!truth.cfi) {
		dwarf = dwarf_begin_elf(file.elf, DWARF_C_READ, NULL);
		truth.cfi = dwarf_getcfi(dwarf);
	}
	assert_non_null(truth.cfi);
	truth.fp = file.machine == EM_X86_64 ? 6 : 29;
	truth.ra = file.machine == EM_X86_64 ? 16 : 30;
	for (size_t i = 0; i + 1 < count; i += stride)
		compare_function(&truth, starts[i], starts[i + 1]);
	if (dwarf)
		dwarf_end(dwarf);
	else
		dwarf_cfi_end(truth.cfi);
	cfi_table_free(truth.table);
	free(starts);
	elf_file_close(&file);
	close(fd);
	return truth.counts;
}

void cfi_ground_truth_print(const char *path, const struct cfi_comparison *counts)
{
	print_message("%s: %zu addresses, %zu equal, %zu unsaid, %zu missing, %zu different, "
		      "%zu outside, %zu surplus; %zu signal, %zu root, %zu deref, %zu PLT, "
		      "%zu of rbx\n",
		      path, counts->addresses, counts->equal, counts->unsaid, counts->missing,
		      counts->different, counts->outside, counts->surplus, counts->signals,
		      counts->roots, counts->derefs, counts->plts, counts->rbx);
}
