// SPDX-License-Identifier: Apache-2.0
/*
 * Tables of real libraries against libdw's answer at each change of a rule; single rules of images
 * made here; files broken in every way that the reader claims to stand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/files.h"
#include "elf/cfi_table.h"
#include "elf/go_roots.h"
#include "cfi_ground_truth.h"
#include "unwind_image.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define UNSAID_PER_MILLE 1 /* of addresses, in any real library */
#define FLIPS		 4000
#define BYTES(...)	 ((const unsigned char[]){__VA_ARGS__})
#define CODE(...)	 BYTES(__VA_ARGS__), sizeof(BYTES(__VA_ARGS__))

/* As compilers begin: CFA = rsp + 8, return address at CFA - 8. */
#define X86_START  0x0c, 7, 8, 0x90, 1
#define ARM_START  0x0c, 31, 0
#define ADVANCE(n) (0x40 | (n))

static struct cfi_comparison assert_as_libdw(const char *path, size_t stride)
{
	const struct cfi_comparison counts = cfi_ground_truth_compare(path, stride);

	cfi_ground_truth_print(path, &counts);
	assert_true(counts.addresses > 0);
	assert_int_equal(counts.different, 0);
	assert_int_equal(counts.missing, 0);
	assert_int_equal(counts.surplus, 0);
	assert_true(counts.unsaid * 1000 <= counts.addresses * UNSAID_PER_MILLE);
	return counts;
}

/* How many files there were. */
static size_t assert_all_as_libdw(const char *pattern, size_t stride)
{
	glob_t found;
	size_t count;

	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	count = found.gl_pathc;
	for (size_t i = 0; i < count; i++)
		assert_as_libdw(found.gl_pathv[i], stride);
	globfree(&found);
	return count;
}

static void rules_of_frames_of_every_shape_are_those_of_libdw(void **state)
{
	const struct cfi_comparison counts = assert_as_libdw(FG_UNWIND_FIXTURE, 1);

	assert_int_equal(counts.unsaid, 0);
#ifdef __x86_64__
	assert_true(counts.derefs > 0); /* realigned frames */
#endif
}

static void rules_of_libc_are_those_of_libdw(void **state)
{
	assert_true(assert_all_as_libdw("/lib/*-linux-gnu/libc.so.6", 1) > 0);
}

static void rules_of_the_loader_are_those_of_libdw(void **state)
{
	assert_true(assert_all_as_libdw("/lib/*-linux-gnu/ld-linux-*.so.?", 1) > 0);
}

#ifdef __x86_64__
/* It binds lazily by code that keeps its CFA in rbx. */
static void the_loader_knows_where_rbx_is_but_in_signal_frames(void **state)
{
	const struct cfi_comparison counts = assert_as_libdw("/lib64/ld-linux-x86-64.so.2", 1);

	assert_true(counts.rbx > 1000);
	assert_int_equal(counts.rbx_unknown, counts.signals);
}

static void a_file_without_a_cfa_in_rbx_does_not_keep_it(void **state)
{
	const struct cfi_comparison counts = assert_as_libdw(FG_UNWIND_FIXTURE, 1);

	assert_int_equal(counts.rbx, 0);
}
#endif

static void rules_of_libz_are_those_of_libdw(void **state)
{
	assert_true(assert_all_as_libdw("/lib/*-linux-gnu/libz.so.1", 1) > 0);
}

static void rules_of_libjvm_are_those_of_libdw(void **state)
{
	if (assert_all_as_libdw("/usr/lib/jvm/*/lib/server/libjvm.so", 4) > 0)
		return;
	print_message("no JDK\n");
	skip();
}

static void debug_frame_is_read_where_there_is_nothing_else(void **state)
{
	const struct cfi_comparison counts = assert_as_libdw(FG_UNWIND_DEBUG_FIXTURE, 1);

	assert_true(counts.equal > 10);
}

static int load_file(const char *path, struct cfi_table **ret)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	assert_true(fd >= 0);
	err = cfi_table_load(fd, ret);
	close(fd);
	return err;
}

static int load_bytes(const void *bytes, size_t len, struct cfi_table **ret)
{
	const int fd = files_open_memory(bytes, len);
	int err;

	err = cfi_table_load(fd, ret);
	close(fd);
	return err;
}

/* Rows that were found in code differ: there are fewer symbols to find functions by. */
static void assert_same_rules(const struct cfi_table *a, const struct cfi_table *b)
{
	const struct elf_layout *layout = cfi_table_layout(a);

	for (size_t i = 0; i < layout->segment_count; i++) {
		const struct elf_segment *segment = &layout->segments[i];
		const uint64_t end = segment->elf_addr + segment->file_bytes;

		for (uint64_t pc = segment->elf_addr; segment->is_executable && pc < end; pc++) {
			const struct cfi_row *row = cfi_table_find(a, pc);
			const struct cfi_row *other = cfi_table_find(b, pc);

			if (!row || row->is_decoded)
				continue;
			assert_non_null(other);
			assert_int_equal(row->start, other->start);
			assert_true(cfi_row_equal(row, other));
		}
	}
}

static void section_headers_are_not_needed(void **state)
{
	struct cfi_table *whole, *bare;
	Elf64_Ehdr *header;
	size_t len;
	unsigned char *bytes = files_read(FG_UNWIND_FIXTURE, &len);

	assert_int_equal(load_bytes(bytes, len, &whole), 0);
	header = (Elf64_Ehdr *)(void *)bytes;
	header->e_shoff = 0;
	header->e_shnum = header->e_shstrndx = 0;
	assert_int_equal(load_bytes(bytes, len, &bare), 0);
	assert_same_rules(whole, bare);
	cfi_table_free(whole);
	cfi_table_free(bare);
	free(bytes);
}

static void bytes_of_the_file_are_placed_by_its_segments(void **state)
{
	struct cfi_table *table;
	size_t len;
	unsigned char *bytes = files_read(FG_UNWIND_FIXTURE, &len);
	const Elf64_Ehdr *header = (const void *)bytes;
	const Elf64_Phdr *segments = (const void *)(bytes + header->e_phoff);
	uint64_t elf_addr;

	assert_int_equal(load_file(FG_UNWIND_FIXTURE, &table), 0);
	for (size_t i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_X))
			continue;
		assert_int_equal(cfi_table_addr_of(table, segments[i].p_offset + 8, &elf_addr), 0);
		assert_int_equal(elf_addr, segments[i].p_vaddr + 8);
	}
	assert_int_equal(cfi_table_addr_of(table, UINT64_C(1) << 40, &elf_addr), -ENOENT);
	cfi_table_free(table);
	free(bytes);
}

/* A table of one image; rows are asked for by the distance from the code's start. */
static struct unwind_image image;
static struct cfi_table *table;

static int free_table(void **state)
{
	cfi_table_free(table);
	table = NULL;
	return 0;
}

static void load_image(void)
{
	assert_int_equal(unwind_image_load(&image, &table), 0);
}

/* One function of 0x100 bytes. */
static void load_function(uint16_t machine, const void *initial, size_t initial_len,
			  const void *code, size_t len)
{
	size_t entry;

	unwind_image_init(&image, machine);
	entry = unwind_image_add_cie(&image, "zR", initial, initial_len);
	entry = unwind_image_add_fde(&image, entry, 0, 0x100);
	unwind_image_append(&image, entry, code, len);
	load_image();
}

static const struct cfi_row *find(uint64_t offset)
{
	return cfi_table_find(table, UNWIND_IMAGE_CODE + offset);
}

static void assert_row(uint64_t offset, unsigned reg, int32_t cfa_off, int32_t fp_off,
		       int32_t ra_off)
{
	const struct cfi_row *row = find(offset);

	assert_non_null(row);
	assert_int_equal(row->kind, CFI_REG);
	assert_int_equal(row->cfa_reg, reg);
	assert_int_equal(row->cfa_off, cfa_off);
	assert_int_equal(row->fp_off, fp_off);
	assert_int_equal(row->ra_off, ra_off);
	assert_false(row->fp_is_at_reg || row->ra_is_at_reg || row->is_root);
}

static void assert_rbx(uint64_t offset, int32_t off)
{
	assert_non_null(find(offset));
	assert_int_equal(cfi_table_rbx_off(table, find(offset)), off);
}

static void assert_unknown(uint64_t offset)
{
	const struct cfi_row *row = find(offset);

	assert_non_null(row);
	assert_int_equal(row->kind, CFI_NONE);
}

static struct cfi_rows_stats stats_of_table(void)
{
	struct cfi_rows_stats stats;

	cfi_table_stats(table, &stats);
	return stats;
}

static void code_outside_of_functions_has_no_rule(void **state)
{
	size_t cie;

	unwind_image_init(&image, EM_X86_64);
	cie = unwind_image_add_cie(&image, "zR", CODE(X86_START));
	unwind_image_add_fde(&image, cie, 0x100, 0x10);
	unwind_image_add_fde(&image, cie, 0x200, 0x10);
	load_image();
	assert_null(find(0));
	assert_null(find(0xff));
	assert_row(0x100, 7, 8, CFI_SAME, -8);
	assert_row(0x10f, 7, 8, CFI_SAME, -8);
	assert_null(find(0x110));
	assert_row(0x200, 7, 8, CFI_SAME, -8);
	assert_null(find(0x210));
	assert_null(cfi_table_find(table, 0));
	assert_null(cfi_table_find(table, UNWIND_IMAGE_CODE + (UINT64_C(1) << 32) + 0x100));
	assert_null(cfi_table_find(table, UINT64_MAX));
}

static void functions_of_equal_rules_share_a_row(void **state)
{
	size_t cie;

	unwind_image_init(&image, EM_X86_64);
	cie = unwind_image_add_cie(&image, "zR", CODE(X86_START));
	for (uint32_t i = 0; i < 10; i++)
		unwind_image_add_fde(&image, cie, i * 16, 16);
	load_image();
	assert_int_equal(stats_of_table().rows, 2);
	assert_int_equal(stats_of_table().functions, 10);
}

static void later_start_of_overlapping_functions_holds(void **state)
{
	size_t cie, entry;

	unwind_image_init(&image, EM_X86_64);
	cie = unwind_image_add_cie(&image, "zR", CODE(X86_START));
	entry = unwind_image_add_fde(&image, cie, 0x40, 0x10);
	unwind_image_append(&image, entry, CODE(0x0e, 16));
	entry = unwind_image_add_fde(&image, cie, 0, 0x100);
	unwind_image_append(&image, entry, CODE(ADVANCE(0x3f), 0x0e, 24, 0x02, 0x20, 0x0e, 32));
	entry = unwind_image_add_fde(&image, cie, 0x40, 0x80);
	unwind_image_append(&image, entry, CODE(0x0e, 40));
	load_image();
	assert_row(0, 7, 8, CFI_SAME, -8);
	assert_row(0x3f, 7, 24, CFI_SAME, -8);
	assert_row(0x40, 7, 16, CFI_SAME, -8);
	assert_null(find(0x50));
	assert_int_equal(stats_of_table().left_out, 1);
}

static void frame_of_a_frame_pointer_is_read(void **state)
{
	load_function(EM_X86_64, CODE(X86_START),
		      CODE(ADVANCE(1), 0x0e, 16, 0x86, 2, ADVANCE(3), 0x0d, 6, ADVANCE(0x10), 0x0a,
			   0x0c, 7, 8, 0xc6, ADVANCE(1), 0x0b));
	assert_row(0, 7, 8, CFI_SAME, -8);
	assert_row(1, 7, 16, -16, -8);
	assert_row(4, 6, 16, -16, -8);
	assert_row(0x14, 7, 8, CFI_SAME, -8);
	assert_row(0x15, 6, 16, -16, -8);
}

/* push rbx; mov rbx, rsp: of the rows that are alike but for rbx there is one each. */
static void frame_whose_cfa_is_in_rbx_is_read_with_its_file(void **state)
{
	size_t cie, entry;

	unwind_image_init(&image, EM_X86_64);
	cie = unwind_image_add_cie(&image, "zR", CODE(X86_START));
	entry = unwind_image_add_fde(&image, cie, 0, 0x10);
	unwind_image_append(&image, entry,
			    CODE(ADVANCE(1), 0x0e, 16, 0x83, 2, ADVANCE(3), 0x0d, 3, ADVANCE(4),
				 0x0c, 7, 8, 0xc3));
	entry = unwind_image_add_fde(&image, cie, 0x10, 0x10);
	unwind_image_append(&image, entry,
			    CODE(ADVANCE(1), 0x83, 2, ADVANCE(1), 0x09, 3, 12, ADVANCE(1), 0x07, 3,
				 ADVANCE(1), 0x08, 3, ADVANCE(1), 0x0f, 2, 0x79, 0, 0x22));
	load_image();
	assert_row(4, 3, 16, CFI_SAME, -8);
	assert_rbx(0, CFI_SAME);
	assert_rbx(1, -16);
	assert_rbx(4, -16);
	assert_rbx(8, CFI_SAME);
	assert_rbx(0x10, CFI_SAME);
	assert_rbx(0x11, -16);
	assert_rbx(0x12, CFI_UNKNOWN); /* in another register */
	assert_rbx(0x13, CFI_UNKNOWN);
	assert_rbx(0x14, CFI_SAME);
	assert_rbx(0x15, CFI_UNKNOWN); /* as the CFA is */
	assert_int_equal(stats_of_table().functions, 2);
}

static void rbx_is_not_kept_for_nobody(void **state)
{
	size_t bytes, cie, entry;

	load_function(EM_X86_64, CODE(X86_START), CODE(0));
	bytes = cfi_table_bytes(table);
	cfi_table_free(table);
	load_function(EM_X86_64, CODE(X86_START), CODE(ADVANCE(1), 0x83, 2));
	assert_rbx(0, CFI_UNKNOWN);
	assert_rbx(2, CFI_UNKNOWN);
	assert_int_equal(stats_of_table().rows, 2);
	assert_int_equal(cfi_table_bytes(table), bytes);
	cfi_table_free(table);
	unwind_image_init(&image, EM_AARCH64);
	cie = unwind_image_add_cie(&image, "zR", CODE(ARM_START));
	entry = unwind_image_add_fde(&image, cie, 0, 0x10);
	unwind_image_append(&image, entry, CODE(0x0d, 3)); /* x3 */
	load_image();
	assert_rbx(0, CFI_UNKNOWN);
}

static void tables_that_differ_in_rbx_alone_are_not_equal(void **state)
{
	struct cfi_table *other;

	load_function(EM_X86_64, CODE(X86_START), CODE(0x83, 2, 0x0d, 3));
	other = table;
	load_function(EM_X86_64, CODE(X86_START), CODE(0x83, 3, 0x0d, 3));
	assert_false(cfi_table_equal(table, other));
	assert_true(cfi_table_equal(table, table));
	cfi_table_free(other);
}

static void remembered_states_nest_up_to_a_bound(void **state)
{
	unsigned char code[2 * 65 + 4];

	memset(code, 0x0a, 64);
	memset(code + 64, 0x0b, 64);
	load_function(EM_X86_64, CODE(X86_START), code, 128);
	assert_row(0, 7, 8, CFI_SAME, -8);
	assert_int_equal(stats_of_table().cut, 0);
	cfi_table_free(table);
	memset(code, 0x0a, 65);
	memset(code + 65, 0x0b, 65);
	load_function(EM_X86_64, CODE(X86_START), code, 130);
	assert_unknown(0);
	assert_int_equal(stats_of_table().cut, 1);
}

static void unknown_instruction_leaves_the_rest_unknown(void **state)
{
	load_function(EM_X86_64, CODE(X86_START),
		      CODE(ADVANCE(4), 0x0e, 16, ADVANCE(4), 0x3b, ADVANCE(4), 0x0e, 24));
	assert_row(0, 7, 8, CFI_SAME, -8);
	assert_row(7, 7, 16, CFI_SAME, -8);
	assert_unknown(8);
	assert_unknown(0xff);
	assert_null(find(0x100));
	assert_int_equal(stats_of_table().cut, 1);
}

static void undefined_return_address_is_the_root(void **state)
{
	load_function(EM_X86_64, CODE(X86_START), CODE(0x07, 16));
	assert_true(find(0)->is_root);
	assert_int_equal(find(0)->ra_off, CFI_SAME);
}

static void signal_frame_is_at_the_stack_pointer(void **state)
{
	size_t entry;

	unwind_image_init(&image, EM_X86_64);
	entry = unwind_image_add_cie(&image, "zRS", CODE(0));
	entry = unwind_image_add_fde(&image, entry, 0, 10);
	unwind_image_append(&image, entry,
			    CODE(0x0f, 4, 0x77, 0xa0, 1, 0x06, /* *(rsp + 160) */
				 0x10, 6, 3, 0x77, 0xf8, 0,    /* rbp at rsp + 120 */
				 0x10, 16, 3, 0x77, 0xa8, 1 /* rip at rsp + 168 */));
	load_image();
	assert_int_equal(find(0)->kind, CFI_DEREF);
	assert_int_equal(find(0)->cfa_reg, 7);
	assert_int_equal(find(0)->cfa_off, 160);
	assert_int_equal(find(0)->cfa_add, 0);
	assert_int_equal(find(0)->save_reg, 7);
	assert_true(find(0)->fp_is_at_reg && find(0)->ra_is_at_reg && find(0)->is_signal);
	assert_int_equal(find(0)->fp_off, 120);
	assert_int_equal(find(0)->ra_off, 168);
}

static void expression_beyond_a_row_is_unknown(void **state)
{
	load_function(EM_X86_64, CODE(X86_START),
		      CODE(0x0f, 5, 0x77, 8, 0x79, 0, 0x22, ADVANCE(1), 0x0c, 7, 8, /* rsp+8+r9 */
			   ADVANCE(1), 0x09, 16, 1));
	assert_unknown(0);
	assert_row(1, 7, 8, CFI_SAME, -8);
	assert_unknown(2);
}

static void lazy_plt_knows_its_second_half(void **state)
{
	load_function(EM_X86_64, CODE(X86_START),
		      CODE(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
	assert_int_equal(find(0)->kind, CFI_PLT);
	assert_int_equal(find(0)->cfa_off, 11);
	assert_int_equal(find(0)->ra_off, -8);
}

static void aarch64_return_address_is_in_its_register_until_saved(void **state)
{
	load_function(EM_AARCH64, CODE(ARM_START),
		      CODE(0x2d, ADVANCE(4), 0x0e, 32, 0x9d, 4, 0x9e, 3, ADVANCE(4), 0x0d, 29,
			   ADVANCE(4), 0x0c, 31, 0, 0xdd, 0xde, 0x2d));
	assert_row(0, 31, 0, CFI_SAME, CFI_SAME);
	assert_row(4, 31, 32, -32, -24);
	assert_row(8, 29, 32, -32, -24);
	assert_row(12, 31, 0, CFI_SAME, CFI_SAME);
}

static void entries_that_lead_nowhere_are_left_out(void **state)
{
	size_t cie, self, good;
	uint32_t back;

	unwind_image_init(&image, EM_X86_64);
	unwind_image_add_cie(&image, "zR", CODE(X86_START));
	cie = unwind_image_add_cie(&image, "zR", CODE(X86_START));
	self = unwind_image_add_fde(&image, cie, 0, 0x10);
	back = 4; /* its own start, which is no CIE */
	memcpy(image.bytes + self + 4, &back, sizeof(back));
	self = unwind_image_add_fde(&image, cie, 0x10, 0x10);
	back = 0x7fffffff;
	memcpy(image.bytes + self + 4, &back, sizeof(back));
	self = unwind_image_add_fde(&image, cie, 0x10, 0x10);
	back = (uint32_t)(self + 4 - cie + 4); /* the end of the one before */
	memcpy(image.bytes + self + 4, &back, sizeof(back));
	unwind_image_add_fde(&image, cie, UNWIND_IMAGE_CODE_BYTES, 0x10); /* no code */
	good = unwind_image_add_fde(&image, cie, 0x20, 0x10);
	unwind_image_append(&image, good, CODE(0x0e, 16));
	load_image();
	assert_null(find(0));
	assert_null(find(0x10));
	assert_row(0x20, 7, 16, CFI_SAME, -8);
	assert_int_equal(stats_of_table().left_out, 4);
}

static void function_ends_where_the_code_does(void **state)
{
	size_t cie;

	unwind_image_init(&image, EM_X86_64);
	cie = unwind_image_add_cie(&image, "zR", CODE(X86_START));
	unwind_image_add_fde(&image, cie, UNWIND_IMAGE_CODE_BYTES - 0x10, 0x100);
	load_image();
	assert_row(UNWIND_IMAGE_CODE_BYTES - 1, 7, 8, CFI_SAME, -8);
	assert_null(find(UNWIND_IMAGE_CODE_BYTES));
}

static void number_without_end_is_broken(void **state)
{
	/* Eleven bytes, and what would be a register's rule were the number over after ten. */
	load_function(
		EM_X86_64, CODE(X86_START),
		CODE(0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0));
	assert_unknown(0);
}

static void offset_beyond_a_row_is_unknown(void **state)
{
	load_function(EM_X86_64, CODE(X86_START),
		      CODE(0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1));
	assert_unknown(0);
}

static void length_beyond_the_file_ends_the_table(void **state)
{
	const uint32_t length = 0x40000000;
	size_t cie, last;

	unwind_image_init(&image, EM_X86_64);
	cie = unwind_image_add_cie(&image, "zR", CODE(X86_START));
	unwind_image_add_fde(&image, cie, 0, 0x10);
	last = unwind_image_add_fde(&image, cie, 0x20, 0x10);
	memcpy(image.bytes + last, &length, sizeof(length));
	load_image();
	assert_row(0, 7, 8, CFI_SAME, -8);
	assert_null(find(0x20));
	assert_int_equal(stats_of_table().left_out, 1);
}

static void file_without_rules_is_told_from_a_broken_one(void **state)
{
	size_t cie;

	unwind_image_init(&image, EM_X86_64);
	assert_int_equal(unwind_image_load(&image, &table), -ENOEXEC); /* ends before .eh_frame */
	unwind_image_append(&image, image.len, "\0\0\0\0", 4);
	memset(image.bytes + image.len - 4, 0, 4);
	assert_int_equal(unwind_image_load(&image, &table), -ENOENT);
	unwind_image_init(&image, EM_386);
	cie = unwind_image_add_cie(&image, "zR", CODE(X86_START));
	unwind_image_add_fde(&image, cie, 0, 0x10);
	assert_int_equal(unwind_image_load(&image, &table), -ENOENT);
	assert_int_equal(load_bytes("no ELF", 6, &table), -ENOEXEC);
}

static void ask_at(const struct cfi_table *broken, uint64_t addr)
{
	const struct cfi_row *row = cfi_table_find(broken, addr);

	if (row)
		(void)cfi_table_rbx_off(broken, row);
}

/* What may come of a broken file: a table that answers, or an error. */
static void ask_everywhere(const void *bytes, size_t len)
{
	struct cfi_table *broken;
	const int err = load_bytes(bytes, len, &broken);

	if (err) {
		assert_true(err == -ENOEXEC || err == -ENOENT || err == -EFBIG);
		return;
	}
	for (uint64_t addr = 0; addr < 0x4000; addr += 13)
		ask_at(broken, addr);
	(void)cfi_table_find(broken, UINT64_MAX);
	cfi_table_free(broken);
}

static void file_cut_anywhere_ends_in_a_table_or_an_error(void **state)
{
	size_t len;
	unsigned char *bytes = files_read(FG_UNWIND_FIXTURE, &len);

	for (size_t cut = 0; cut < len; cut += 7)
		ask_everywhere(bytes, cut);
	free(bytes);
}

static void file_with_wrong_bits_ends_in_a_table_or_an_error(void **state)
{
	size_t len, section_at = 0;
	unsigned char *bytes = files_read(FG_UNWIND_FIXTURE, &len);
	const Elf64_Ehdr *header = (const void *)bytes;
	const Elf64_Phdr *segments = (const void *)(bytes + header->e_phoff);
	uint32_t seed = 1;

	for (size_t i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			section_at = segments[i].p_offset;
	}
	for (unsigned i = 0; i < FLIPS; i++) {
		size_t at, bit;

		seed = seed * 1103515245 + 12345;
		bit = 1u << (seed >> 16 & 7);
		at = i % 4 == 0 ? (seed >> 8) % 1024 : section_at + (seed >> 8) % 1024;
		if (at >= len)
			continue;
		bytes[at] ^= (unsigned char)bit;
		ask_everywhere(bytes, len);
		if (i % 8 != 7) /* now and then wrong bits add up */
			bytes[at] ^= (unsigned char)bit;
		if (i % 64 == 63) {
			free(bytes);
			bytes = files_read(FG_UNWIND_FIXTURE, &len);
		}
	}
	free(bytes);
}

/* What a parser sends of a table. The table must fit into a socket. */
static size_t flat_bytes(const struct cfi_table *of, char *ret, size_t size)
{
	struct flat_writer writer = {0};
	int sockets[2];
	size_t len = 0;
	ssize_t n;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	writer.sock = sockets[1];
	cfi_table_flatten(of, &writer);
	assert_int_equal(writer.err, 0);
	close(sockets[1]);
	while ((n = read(sockets[0], ret + len, size - len)) > 0)
		len += (size_t)n;
	close(sockets[0]);
	assert_true(len < size);
	return len;
}

static int restore_bytes(const char *bytes, size_t len, struct cfi_table **ret)
{
	struct flat_reader reader = {0};
	int sockets[2], err;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	assert_int_equal(write(sockets[1], bytes, len), len);
	close(sockets[1]);
	reader.sock = sockets[0];
	err = cfi_table_restore(&reader, ret);
	close(sockets[0]);
	return err;
}

static void a_flat_table_becomes_an_equal_one(void **state)
{
	static char bytes[150000];
	struct cfi_table *whole, *copy;
	size_t len;

	assert_int_equal(load_file(FG_UNWIND_FIXTURE, &whole), 0);
	len = flat_bytes(whole, bytes, sizeof(bytes));
	assert_int_equal(restore_bytes(bytes, len, &copy), 0);
	assert_true(cfi_table_equal(whole, copy));
	cfi_table_free(copy);
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(restore_bytes(bytes, cut, &copy), -EBADMSG);
	cfi_table_free(whole);
}

static void a_flat_table_of_a_liar_is_refused_or_does_no_harm(void **state)
{
	static char bytes[150000];
	static const unsigned char lies[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	size_t len, refused = 0;
	struct cfi_table *liar;

	assert_int_equal(load_file(FG_UNWIND_FIXTURE, &liar), 0);
	len = flat_bytes(liar, bytes, sizeof(bytes));
	cfi_table_free(liar);
	for (size_t i = 0; i < len * sizeof(lies); i++) {
		const size_t at = i / sizeof(lies);
		const char truth = bytes[at];
		uint64_t elf_addr;
		int err;

		bytes[at] = (char)lies[i % sizeof(lies)];
		err = restore_bytes(bytes, len, &liar);
		bytes[at] = truth;
		refused += err != 0;
		assert_true(err == 0 || err == -EBADMSG);
		for (uint64_t addr = 0; !err && i % 7 == 0 && addr < 0x6000; addr += 16) {
			const struct cfi_row *const row = cfi_table_find(liar, addr);

			assert_true(!row || row->kind <= CFI_PLT);
			cfi_table_addr_of(liar, addr, &elf_addr);
		}
		if (!err)
			cfi_table_free(liar);
	}
	assert_true(refused > 100);
}

/* ---- Go ---- */

/* This program looks like one of Go. */
extern const char go_table[];
__attribute__((section(".gopclntab"), used)) const char go_table[] = "x";
void begins_goroutines(void) __asm__("runtime.goexit.abi0");
void is_called(void) __asm__("runtime.goexit.other");

__attribute__((noinline)) void begins_goroutines(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void is_called(void)
{
	__asm__ volatile("");
}

/* Whether the code of a function of this program is a root. */
static bool is_root(const struct cfi_table *own, void (*function)(void))
{
	Dl_info info;
	const struct cfi_row *row;

	assert_int_not_equal(dladdr((void *)&go_table, &info), 0);
	row = cfi_table_find(own,
			     (uint64_t)(uintptr_t)function - (uint64_t)(uintptr_t)info.dli_fbase);
	assert_non_null(row);
	return row->is_root;
}

static void functions_of_go_without_a_caller_are_roots(void **state)
{
	struct cfi_table *own;

	assert_int_equal(load_file("/proc/self/exe", &own), 0);
	assert_true(is_root(own, begins_goroutines));
	assert_false(is_root(own, is_called));
	cfi_table_free(own);
}

static void check_roots(const struct cfi_rows *rows, const char *expected)
{
	char text[200] = "";

	for (size_t i = 0; i < rows->stats.rows; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u%s ",
			 rows->rows[i].start, rows->rows[i].is_root ? "!" : "");
	assert_string_equal(text, expected);
}

static void a_program_without_rules_has_roots(void **state)
{
	struct cfi_rows rows = {0};

	assert_int_equal(go_roots_mark_span(&rows, 40, 50), 0);
	check_roots(&rows, "40! 50 ");
	assert_int_equal(rows.rows[1].cfa_reg, CFI_OUTSIDE);
	free(rows.rows);
}

static void a_row_is_split_where_a_root_begins_and_ends(void **state)
{
	struct cfi_rows rows = {.stats.rows = 2};

	rows.rows = calloc(2, sizeof(*rows.rows));
	rows.rbx_offs = calloc(2, sizeof(*rows.rbx_offs));
	rows.rows[0].start = 10;
	rows.rows[1].start = 50;
	rows.rbx_offs[0] = 7;
	assert_int_equal(go_roots_mark_span(&rows, 20, 30), 0);
	check_roots(&rows, "10 20! 30 50 ");
	assert_int_equal(rows.rbx_offs[2], 7);
	assert_int_equal(go_roots_mark_span(&rows, 30, 60), 0);
	check_roots(&rows, "10 20! 30! 50! 60 ");
	assert_int_equal(go_roots_mark_span(&rows, 60, 60), 0);
	assert_int_equal(go_roots_mark_span(&rows, 0, 5), 0); /* in front of all rows */
	check_roots(&rows, "0! 5 10 20! 30! 50! 60 ");
	assert_int_equal(rows.rbx_offs[4], 7);
	free(rows.rows);
	free(rows.rbx_offs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_of_frames_of_every_shape_are_those_of_libdw),
		cmocka_unit_test(a_flat_table_becomes_an_equal_one),
		cmocka_unit_test(a_flat_table_of_a_liar_is_refused_or_does_no_harm),
		cmocka_unit_test(functions_of_go_without_a_caller_are_roots),
		cmocka_unit_test(a_row_is_split_where_a_root_begins_and_ends),
		cmocka_unit_test(a_program_without_rules_has_roots),
		cmocka_unit_test(rules_of_libc_are_those_of_libdw),
		cmocka_unit_test(rules_of_the_loader_are_those_of_libdw),
#ifdef __x86_64__
		cmocka_unit_test(the_loader_knows_where_rbx_is_but_in_signal_frames),
		cmocka_unit_test(a_file_without_a_cfa_in_rbx_does_not_keep_it),
#endif
		cmocka_unit_test(rules_of_libz_are_those_of_libdw),
		cmocka_unit_test(rules_of_libjvm_are_those_of_libdw),
		cmocka_unit_test(debug_frame_is_read_where_there_is_nothing_else),
		cmocka_unit_test(section_headers_are_not_needed),
		cmocka_unit_test(bytes_of_the_file_are_placed_by_its_segments),
		cmocka_unit_test_teardown(code_outside_of_functions_has_no_rule, free_table),
		cmocka_unit_test_teardown(functions_of_equal_rules_share_a_row, free_table),
		cmocka_unit_test_teardown(later_start_of_overlapping_functions_holds, free_table),
		cmocka_unit_test_teardown(frame_of_a_frame_pointer_is_read, free_table),
		cmocka_unit_test_teardown(frame_whose_cfa_is_in_rbx_is_read_with_its_file,
					  free_table),
		cmocka_unit_test_teardown(rbx_is_not_kept_for_nobody, free_table),
		cmocka_unit_test_teardown(tables_that_differ_in_rbx_alone_are_not_equal,
					  free_table),
		cmocka_unit_test_teardown(remembered_states_nest_up_to_a_bound, free_table),
		cmocka_unit_test_teardown(unknown_instruction_leaves_the_rest_unknown, free_table),
		cmocka_unit_test_teardown(undefined_return_address_is_the_root, free_table),
		cmocka_unit_test_teardown(signal_frame_is_at_the_stack_pointer, free_table),
		cmocka_unit_test_teardown(expression_beyond_a_row_is_unknown, free_table),
		cmocka_unit_test_teardown(lazy_plt_knows_its_second_half, free_table),
		cmocka_unit_test_teardown(aarch64_return_address_is_in_its_register_until_saved,
					  free_table),
		cmocka_unit_test_teardown(entries_that_lead_nowhere_are_left_out, free_table),
		cmocka_unit_test_teardown(function_ends_where_the_code_does, free_table),
		cmocka_unit_test_teardown(number_without_end_is_broken, free_table),
		cmocka_unit_test_teardown(offset_beyond_a_row_is_unknown, free_table),
		cmocka_unit_test_teardown(length_beyond_the_file_ends_the_table, free_table),
		cmocka_unit_test_teardown(file_without_rules_is_told_from_a_broken_one, free_table),
		cmocka_unit_test(file_cut_anywhere_ends_in_a_table_or_an_error),
		cmocka_unit_test(file_with_wrong_bits_ends_in_a_table_or_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
