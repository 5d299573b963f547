// SPDX-License-Identifier: Apache-2.0
/*
 * Lines and inlined functions by libdw, see dwarf_lines.h.
 *
 * Two sorted arrays lead from an address to its DIE. The ranges of compilation units are read when
 * the file is opened, because .debug_aranges is often missing. The ranges of a unit's functions are
 * read when the unit is first asked for. Below a function its DIEs are walked: each
 * DW_TAG_inlined_subroutine that holds the address says with DW_AT_call_line at which line of the
 * surrounding function it was called.
 */
#include "symbolize/dwarf_lines.h"

#include "base/array.h"
#include "elf/elf_section.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_RANGES	(4u << 20) /* of all units; also of the functions of one unit */
#define MAX_NESTED	64	   /* namespaces and types around a function */
#define MAX_STEPS	(4u << 20) /* DIEs that one question may look at */
#define MAX_DWARF_BYTES (UINT64_C(2) << 30)

struct range {
	uint64_t start, end;
	Dwarf_Die die;
};

struct ranges {
	struct range *items; /* sorted by start */
	size_t count, size;
};

struct dwarf_lines {
	struct elf_file file, shared_file;
	Dwarf *dwarf, *shared;
	struct ranges units;
	struct ranges functions; /* functions of the unit that was asked last */
	Dwarf_Off unit_off;
	size_t steps;
};

static int compare(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? 1 : a->end > b->end ? -1 : 0;
}

static int add_range(struct ranges *ranges, const struct range *range)
{
	if (range->start >= range->end)
		return 0;
	if (ranges->count == MAX_RANGES)
		return -EFBIG;
	if (ARRAY_RESERVE(ranges->items, ranges->size, ranges->count + 1) < 0)
		return -ENOMEM;
	ranges->items[ranges->count++] = *range;
	return 0;
}

static int add_die(struct ranges *ranges, Dwarf_Die *die)
{
	struct range range = {.die = *die};
	ptrdiff_t at = 0;
	Dwarf_Addr base = 0;
	size_t n = 0;
	int err = 0;

	while (!err && n++ < MAX_RANGES &&
	       (at = dwarf_ranges(die, at, &base, &range.start, &range.end)) > 0)
		err = add_range(ranges, &range);
	return err;
}

/*
 * The range that holds the address and starts last. Ranges may nest, so some earlier ranges are
 * looked at too.
 */
static struct range *find_range(const struct ranges *ranges, uint64_t elf_addr)
{
	const size_t low =
		ARRAY_COUNT_BELOW(0, ranges->count, i, ranges->items[i].start <= elf_addr);

	for (size_t i = low; i > 0 && low - i < MAX_NESTED; i--) {
		if (elf_addr < ranges->items[i - 1].end)
			return &ranges->items[i - 1];
	}
	return NULL;
}

static int read_units(struct dwarf_lines *lines)
{
	Dwarf_Off off = 0, next;
	size_t header_bytes;
	Dwarf_Die die;
	int err = 0;

	while (!err &&
	       dwarf_nextcu(lines->dwarf, off, &next, &header_bytes, NULL, NULL, NULL) == 0) {
		if (dwarf_offdie(lines->dwarf, off + header_bytes, &die))
			err = add_die(&lines->units, &die);
		if (next <= off)
			break;
		off = next;
	}
	if (lines->units.count > 0)
		qsort(lines->units.items, lines->units.count, sizeof(struct range), compare);
	return err;
}

static int has_bounds(struct elf_file *file)
{
	Elf_Scn *section = NULL;
	uint64_t bytes = 0;
	GElf_Shdr header;
	GElf_Chdr compressed;

	while ((section = elf_nextscn(file->elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		if (header.sh_flags & SHF_COMPRESSED && gelf_getchdr(section, &compressed))
			header.sh_size = compressed.ch_size;
		if (header.sh_size > MAX_DWARF_BYTES - bytes)
			return -EFBIG;
		bytes += header.sh_size;
	}
	return 0;
}

static int open_dwarf(int fd, struct elf_file *file, Dwarf **ret)
{
	int err = elf_file_open_debug(fd, file);

	if (!err)
		err = has_bounds(file);
	if (err)
		return err;
	*ret = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	return *ret ? 0 : -ENOENT;
}

int dwarf_lines_open(int fd, int shared_fd, struct dwarf_lines **ret)
{
	struct dwarf_lines *lines = calloc(1, sizeof(*lines));
	int err;

	if (!lines)
		return -ENOMEM;
	lines->unit_off = UINT64_MAX;
	err = open_dwarf(fd, &lines->file, &lines->dwarf);
	if (!err && shared_fd >= 0 &&
	    open_dwarf(shared_fd, &lines->shared_file, &lines->shared) == 0)
		dwarf_setalt(lines->dwarf, lines->shared);
	if (!err)
		err = read_units(lines);
	if (!err && lines->units.count == 0)
		err = -ENOENT;
	if (err) {
		dwarf_lines_close(lines);
		return err;
	}
	*ret = lines;
	return 0;
}

void dwarf_lines_close(struct dwarf_lines *lines)
{
	if (!lines)
		return;
	free(lines->units.items);
	free(lines->functions.items);
	if (lines->dwarf)
		dwarf_end(lines->dwarf);
	if (lines->shared)
		dwarf_end(lines->shared);
	elf_file_close(&lines->file);
	elf_file_close(&lines->shared_file);
	free(lines);
}

static bool may_hold_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_variant_part:
	case DW_TAG_subprogram: /* functions of Rust and Ada may lie in other functions */
		return true;
	default:
		return false;
	}
}

static int read_functions(struct dwarf_lines *lines, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	int err = 0;

	if (depth > MAX_NESTED || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		const int tag = dwarf_tag(&die);

		if (lines->steps++ > MAX_STEPS)
			return -EFBIG;
		if (tag == DW_TAG_subprogram)
			err = add_die(&lines->functions, &die);
		if (!err && may_hold_functions(tag))
			err = read_functions(lines, &die, depth + 1);
	} while (!err && dwarf_siblingof(&die, &die) == 0);
	return err;
}

static Dwarf_Die *find_function(struct dwarf_lines *lines, Dwarf_Die *unit, uint64_t elf_addr)
{
	struct range *range;

	if (lines->unit_off != dwarf_dieoffset(unit)) {
		lines->unit_off = dwarf_dieoffset(unit);
		lines->functions.count = 0;
		/* If there are too many functions, those that were found are used. */
		(void)read_functions(lines, unit, 0);
		if (lines->functions.count > 0)
			qsort(lines->functions.items, lines->functions.count, sizeof(struct range),
			      compare);
	}
	range = find_range(&lines->functions, elf_addr);
	return range ? &range->die : NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static const char *name_of(Dwarf_Die *die)
{
	static const unsigned int names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					     DW_AT_name};
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *name =
			dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));

		if (name && name[0])
			return name;
	}
	return NULL;
}

/* Reads where the inlined function of die was called. */
static void read_call(Dwarf_Die *unit, Dwarf_Die *die, struct dwarf_place *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	Dwarf_Files *files;
	size_t count;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &value) == 0 &&
	    value <= INT32_MAX)
		ret->line = (uint32_t)value;
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &value) == 0 &&
	    dwarf_getsrcfiles(unit, &files, &count) == 0 && value < count)
		ret->file = base_name(dwarf_filesrc(files, value, NULL, NULL));
}

static void read_line(Dwarf_Die *unit, uint64_t elf_addr, struct dwarf_place *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, elf_addr);
	int number;

	if (!line || dwarf_lineno(line, &number) != 0 || number < 0)
		return;
	ret->line = (uint32_t)number;
	ret->file = base_name(dwarf_linesrc(line, NULL, NULL));
}

/* Finds the child of die that holds the address: a block or an inlined function. */
static bool find_inner(struct dwarf_lines *lines, Dwarf_Die *die, uint64_t elf_addr, Dwarf_Die *ret)
{
	if (dwarf_child(die, ret) != 0)
		return false;
	do {
		const int tag = dwarf_tag(ret);

		if (lines->steps++ > MAX_STEPS)
			return false;
		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
		     tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
		    dwarf_haspc(ret, elf_addr) > 0)
			return true;
	} while (dwarf_siblingof(ret, ret) == 0);
	return false;
}

/* Writes the functions at the address to chain, outermost first. Returns their number. */
static size_t find_chain(struct dwarf_lines *lines, const Dwarf_Die *function, uint64_t elf_addr,
			 Dwarf_Die *chain)
{
	Dwarf_Die die = *function, inner;
	size_t n = 0;

	chain[n++] = die;
	for (unsigned depth = 0; n < DWARF_LINES_MAX_DEPTH && depth < 16 * MAX_NESTED; depth++) {
		if (!find_inner(lines, &die, elf_addr, &inner))
			break;
		die = inner;
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			chain[n++] = die;
	}
	return n;
}

size_t dwarf_lines_find(struct dwarf_lines *lines, uint64_t elf_addr, struct dwarf_place *ret)
{
	struct range *unit = find_range(&lines->units, elf_addr);
	Dwarf_Die chain[DWARF_LINES_MAX_DEPTH], *function;
	size_t n;

	if (!unit)
		return 0;
	lines->steps = 0;
	function = find_function(lines, &unit->die, elf_addr);
	lines->steps = 0;
	if (!function) {
		ret[0] = (struct dwarf_place){0};
		read_line(&unit->die, elf_addr, &ret[0]);
		return ret[0].line ? 1 : 0;
	}
	n = find_chain(lines, function, elf_addr, chain);
	for (size_t i = 0; i < n; i++) {
		Dwarf_Die *die = &chain[n - 1 - i];

		ret[i] = (struct dwarf_place){.name = name_of(die)};
		if (i == 0)
			read_line(&unit->die, elf_addr, &ret[i]);
		else
			read_call(&unit->die, &chain[n - i], &ret[i]);
	}
	return n;
}
