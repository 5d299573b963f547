// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the stretches of code without rows, decodes them together, and puts their rows between the
 * others, see cfi_gaps.h.
 */
#include "elf/cfi_gaps.h"

#include "base/file.h"
#include "flow/code_decode.h"
#include "flow/code_rules.h"
#include "elf/elf_functions.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_GAPS	(64u << 10)
#define MAX_STRETCHES	128
#define ALIGNED_BYTES	16  /* where compilers let a function begin, if they do not make it small */
#define NAMED_GAP_BYTES 512 /* code in which functions begin that nothing there calls */
#define START_BYTES	128 /* of the code at the entry point, on aarch64 */

/* Addresses from the base of the rows; the end is exclusive. */
struct stretch {
	uint64_t start, end;
};

struct gaps {
	int fd;
	const struct elf_file *file;
	uint64_t base;
	struct stretch *items;
	size_t count;
	size_t bytes;	   /* of all items */
	size_t left_bytes; /* of gaps beyond MAX_GAPS */
	size_t longest;	   /* bytes of the longest item */
	uint32_t entry;	   /* of the file, or CODE_NO_TARGET */
};

static bool is_outside(const struct cfi_row *row)
{
	return row->kind == CFI_NONE && row->cfa_reg == CFI_OUTSIDE && !row->is_root;
}

static int compare(const void *left, const void *right)
{
	const struct stretch *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static void add_stretch(struct stretch *stretches, size_t *count, uint64_t start, uint64_t bytes)
{
	if (*count < MAX_STRETCHES && bytes > 0 && start < UINT32_MAX &&
	    bytes <= UINT32_MAX - start)
		stretches[(*count)++] = (struct stretch){.start = start, .end = start + bytes};
}

/* The sections of code. Data may follow code in a segment. */
static size_t list_sections(const struct gaps *gaps, struct stretch *ret)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t count = 0;

	while ((section = elf_nextscn(gaps->file->elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_PROGBITS &&
		    header.sh_flags & SHF_EXECINSTR && header.sh_addr >= gaps->base)
			add_stretch(ret, &count, header.sh_addr - gaps->base, header.sh_size);
	}
	return count;
}

static size_t list_segments(const struct gaps *gaps, struct stretch *ret)
{
	const struct elf_layout *layout = &gaps->file->layout;
	size_t count = 0;

	for (size_t i = 0; i < layout->segment_count; i++) {
		if (layout->segments[i].is_executable)
			add_stretch(ret, &count, layout->segments[i].elf_addr - gaps->base,
				    layout->segments[i].file_bytes);
	}
	return count;
}

/* The stretches of code, by rising address and without overlaps. */
static size_t list_code(const struct gaps *gaps, struct stretch *ret)
{
	size_t count = list_sections(gaps, ret), kept = 0;

	if (count == 0)
		count = list_segments(gaps, ret);
	qsort(ret, count, sizeof(*ret), compare);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || ret[i].start >= ret[kept - 1].end)
			ret[kept++] = ret[i];
	}
	return kept;
}

/* Whether the bytes only lead to where a function may begin. */
static bool is_padding(uint64_t start, uint64_t end)
{
	return end <= start || (end - start < ALIGNED_BYTES && end % ALIGNED_BYTES == 0);
}

static void add_gap(struct gaps *gaps, uint64_t start, uint64_t end)
{
	if (is_padding(start, end))
		return;
	if (gaps->count == MAX_GAPS) {
		gaps->left_bytes += (size_t)(end - start);
		return;
	}
	gaps->items[gaps->count++] = (struct stretch){.start = start, .end = end};
	gaps->bytes += (size_t)(end - start);
	if (end - start > gaps->longest)
		gaps->longest = (size_t)(end - start);
}

static uint64_t end_of(const struct cfi_rows *rows, size_t i)
{
	return i + 1 < rows->stats.rows ? rows->rows[i + 1].start : UINT32_MAX;
}

/* Adds what no row says of a stretch of code. *row: the first row that may end behind its start. */
static void add_gaps_of(struct gaps *gaps, const struct stretch *code, const struct cfi_rows *rows,
			size_t *row)
{
	uint64_t at = code->start;

	while (*row < rows->stats.rows && rows->rows[*row].start < code->end) {
		const uint64_t end = end_of(rows, *row);

		if (!is_outside(&rows->rows[*row]) && end > at) {
			add_gap(gaps, at, rows->rows[*row].start);
			at = end;
		}
		if (end > code->end)
			break;
		++*row;
	}
	add_gap(gaps, at, code->end);
}

static int find_gaps(struct gaps *gaps, const struct cfi_rows *rows)
{
	struct stretch code[MAX_STRETCHES];
	const size_t count = list_code(gaps, code);
	size_t row = 0;

	gaps->items = malloc(MAX_GAPS * sizeof(*gaps->items));
	if (!gaps->items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		add_gaps_of(gaps, &code[i], rows, &row);
	return 0;
}

/* Reads code from the file; code that the file does not have is zeros. */
static uint8_t *read_code(const struct gaps *gaps, const struct stretch *gap)
{
	const size_t len = (size_t)(gap->end - gap->start);
	const struct elf_layout *layout = &gaps->file->layout;
	uint8_t *code = calloc(1, len);

	for (size_t i = 0; code && i < layout->segment_count; i++) {
		const struct elf_segment *segment = &layout->segments[i];
		const uint64_t in_segment = gaps->base + gap->start - segment->elf_addr;

		if (gaps->base + gap->start < segment->elf_addr ||
		    in_segment >= segment->file_bytes || segment->file_off > INT64_MAX - in_segment)
			continue;
		file_read_at(gaps->fd, code, len, segment->file_off + in_segment);
		break;
	}
	return code;
}

static int decode(const struct gaps *gaps, struct code_steps *steps)
{
	int err = 0;

	for (size_t i = 0; !err && i < gaps->count; i++) {
		const struct stretch *gap = &gaps->items[i];
		uint8_t *code = read_code(gaps, gap);

		err = code ? code_steps_add(steps, code, (size_t)(gap->end - gap->start),
					    (uint32_t)gap->start)
			   : -ENOMEM;
		free(code);
	}
	if (!err)
		code_steps_link(steps);
	return err;
}

/* Marks where functions begin, as the file's symbols say. Without symbols less is known. */
static void mark_functions(const struct gaps *gaps, struct code_steps *steps)
{
	struct elf_functions functions = {0};

	if (gaps->longest < NAMED_GAP_BYTES)
		return;
	elf_functions_add(&functions, gaps->file, &gaps->file->layout, SHT_SYMTAB);
	elf_functions_add(&functions, gaps->file, &gaps->file->layout, SHT_DYNSYM);
	for (size_t i = 0; i < functions.count; i++) {
		const uint64_t offset = functions.items[i].elf_addr - gaps->base;
		uint32_t step = CODE_NO_TARGET;

		if (offset < CODE_NO_TARGET && !functions.items[i].is_label)
			step = code_steps_find(steps, (uint32_t)offset);
		if (step != CODE_NO_TARGET)
			steps->items[step].is_entry = true;
	}
	elf_functions_fini(&functions);
}

/* Puts rows of gaps between the others. */
static int merge(struct cfi_rows *rows, const struct cfi_row *more, size_t more_count)
{
	const size_t most = rows->stats.rows + more_count + 1;
	struct cfi_row *all = malloc(most * sizeof(*all));
	int32_t *rbx_offs = rows->rbx_offs ? malloc(most * sizeof(*rbx_offs)) : NULL;
	size_t count = 0, i = 0, j = 0;

	if (!all || (rows->rbx_offs && !rbx_offs)) {
		free(all);
		free(rbx_offs);
		return -ENOMEM;
	}
	while (i < rows->stats.rows || j < more_count) {
		const bool is_more = j < more_count &&
				     (i == rows->stats.rows || more[j].start < rows->rows[i].start);
		const struct cfi_row *row = is_more ? &more[j] : &rows->rows[i];

		/* A gap ends where a row begins, and begins where a row says so. */
		if (!is_more && j < more_count && more[j].start == row->start) {
			if (is_outside(row)) {
				i++;
				continue;
			}
			j++;
		}
		if (rbx_offs)
			rbx_offs[count] = is_more ? CFI_UNKNOWN : rows->rbx_offs[i];
		all[count++] = *row;
		i += !is_more;
		j += is_more;
	}
	free(rows->rows);
	free(rows->rbx_offs);
	rows->rows = all;
	rows->rbx_offs = rbx_offs;
	rows->stats.rows = count;
	return 0;
}

static int find_rules(const struct gaps *gaps, struct code_rules *ret)
{
	struct code_steps steps = {0};
	int err = decode(gaps, &steps);

	if (!err) {
		mark_functions(gaps, &steps);
		err = code_rules_make(&steps, gaps->entry, ret);
	}
	code_steps_fini(&steps);
	return err;
}

static int fill_by_code(const struct gaps *gaps, struct cfi_rows *rows)
{
	struct code_rules rules;
	int err = find_rules(gaps, &rules);

	if (err)
		return err;
	if (rules.known > 0 && rows->stats.rows + rules.row_count < CFI_ROWS_MAX)
		err = merge(rows, rules.rows, rules.row_count);
	rows->stats.decoded = err ? 0 : gaps->bytes;
	code_rules_fini(&rules);
	return err;
}

/* Whether the instruction goes to another place for good: b, br, ret, or none at all. */
static bool is_end_on_aarch64(uint32_t instruction)
{
	return (instruction & 0xfc000000) == 0x14000000 ||
	       (instruction & 0xff9f0000) == 0xd61f0000 || instruction >> 16 == 0;
}

/* Makes the code at the entry point a root, up to the jump at its end. */
static int fill_at_entry(const struct gaps *gaps, struct cfi_rows *rows)
{
	struct cfi_row root[2] = {
		{.start = gaps->entry,
		 .is_root = true,
		 .is_decoded = true,
		 .fp_off = CFI_SAME,
		 .ra_off = CFI_SAME},
		{.kind = CFI_NONE, .cfa_reg = CFI_OUTSIDE, .fp_off = CFI_SAME, .ra_off = CFI_SAME},
	};
	uint32_t instruction = 1;
	uint8_t *code;

	for (size_t i = 0; i < gaps->count; i++) {
		const struct stretch *gap = &gaps->items[i];
		const struct stretch start = {.start = gaps->entry,
					      .end = gap->end - gaps->entry < START_BYTES
							     ? gap->end
							     : gaps->entry + START_BYTES};
		size_t at = 0;

		if (gaps->entry < gap->start || gaps->entry >= gap->end)
			continue;
		code = read_code(gaps, &start);
		if (!code)
			return -ENOMEM;
		while (at + sizeof(instruction) <= start.end - start.start &&
		       !is_end_on_aarch64(instruction)) {
			memcpy(&instruction, code + at, sizeof(instruction));
			at += sizeof(instruction);
		}
		free(code);
		root[1].start = gaps->entry + (uint32_t)at;
		return at > 0 ? merge(rows, root, 2) : 0;
	}
	return 0;
}

static uint32_t find_entry(const struct elf_file *file, uint64_t base)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(file->elf, &header) || header.e_entry <= base ||
	    header.e_entry - base >= CODE_NO_TARGET)
		return CODE_NO_TARGET;
	return (uint32_t)(header.e_entry - base);
}

static int find_gaps_of(int fd, const struct elf_file *file, const struct cfi_rows *rows,
			struct gaps *ret)
{
	*ret = (struct gaps){
		.fd = fd, .file = file, .base = rows->base, .entry = find_entry(file, rows->base)};
	return find_gaps(ret, rows);
}

static bool is_decodable(const struct gaps *gaps)
{
	return gaps->file->machine == EM_X86_64 && gaps->bytes <= CFI_GAPS_MAX_BYTES;
}

int cfi_gaps_fill(int fd, const struct elf_file *file, struct cfi_rows *rows)
{
	struct gaps gaps;
	int err = find_gaps_of(fd, file, rows, &gaps);

	if (!err && file->machine == EM_AARCH64 && gaps.entry != CODE_NO_TARGET)
		err = fill_at_entry(&gaps, rows);
	else if (!err && is_decodable(&gaps))
		err = fill_by_code(&gaps, rows);
	rows->stats.undecoded = gaps.bytes - rows->stats.decoded + gaps.left_bytes;
	free(gaps.items);
	return err;
}

int cfi_gaps_find_starts(int fd, const struct elf_file *file, const struct cfi_rows *rows,
			 uint32_t **ret, size_t *ret_count)
{
	struct code_rules rules;
	struct gaps gaps;
	int err = find_gaps_of(fd, file, rows, &gaps);

	if (!err && !is_decodable(&gaps))
		err = -ENOENT;
	if (!err)
		err = find_rules(&gaps, &rules);
	free(gaps.items);
	if (err)
		return err;
	*ret = rules.starts;
	*ret_count = rules.start_count;
	rules.starts = NULL;
	code_rules_fini(&rules);
	return 0;
}
