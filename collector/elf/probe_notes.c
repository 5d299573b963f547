// SPDX-License-Identifier: Apache-2.0
/*
 * Reads where a file can be probed, see probe_notes.h. The section .note.stapsdt has notes
 *
 *   Nhdr  n_namesz 8, n_type 3; the name "stapsdt" and a NUL
 *   desc  u64 pc, u64 base, u64 semaphore (0: none), all elf_addr; then three texts, each with a
 *         NUL: provider, name, arguments
 *
 * base is where the section .stapsdt.base lay when the file was linked. If the file was moved since
 * then (prelink), pc and semaphore have moved as far as that section has.
 */
#include "elf/probe_notes.h"

#include "elf/elf_file.h"
#include "elf/elf_functions.h"
#include "elf/elf_section.h"

#include <ctype.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTE_NAME	"stapsdt"
#define NOTE_TYPE	3
#define NOTE_ADDRS	3 /* pc, base, semaphore */
#define ADDRS_BYTES	(NOTE_ADDRS * sizeof(uint64_t))
#define SEMAPHORE_BYTES sizeof(uint16_t)
#define MAX_HEADERS	4096 /* number of program headers, as elf_file_open has it */

struct segment {
	uint64_t elf_addr, file_off, bytes; /* bytes in the file */
	uint32_t flags;
};

struct scan {
	int fd;
	struct elf_file file;
	struct segment segments[ELF_LAYOUT_MAX_SEGMENTS];
	size_t segment_count;
	uint64_t base; /* of .stapsdt.base; 0: no such section */
	struct probe_notes *notes;
};

struct wanted_point {
	const char *provider, *name; /* name NULL: each */
};

static const struct wanted_point wanted_notes[] = {
	{"fgagent", NULL},
	{"hotspot", "thread__park__begin"},
	{"hotspot", "thread__park__end"},
};

static const char *const wanted_functions[] = {"JVM_FillInStackTrace"};

/* ---- places ---- */

static int read_segments(struct scan *scan)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(scan->file.elf, &count) < 0)
		return -ENOEXEC;
	for (size_t i = 0; i < count && i < MAX_HEADERS; i++) {
		if (!gelf_getphdr(scan->file.elf, (int)i, &header))
			return -ENOEXEC;
		if (header.p_type != PT_LOAD || header.p_offset > INT64_MAX ||
		    header.p_filesz > INT64_MAX - header.p_offset)
			continue;
		if (scan->segment_count == ELF_LAYOUT_MAX_SEGMENTS)
			return -EFBIG;
		scan->segments[scan->segment_count++] =
			(struct segment){.elf_addr = header.p_vaddr,
					 .file_off = header.p_offset,
					 .bytes = header.p_filesz,
					 .flags = header.p_flags};
	}
	return 0;
}

/* Finds len bytes at addr in the file's part of a segment with that flag. */
static bool find_bytes(const struct scan *scan, uint64_t addr, size_t len, uint32_t flag,
		       uint64_t *ret_file_off)
{
	for (size_t i = 0; i < scan->segment_count; i++) {
		const struct segment *segment = &scan->segments[i];

		if (!(segment->flags & flag) || addr < segment->elf_addr || segment->bytes < len ||
		    addr - segment->elf_addr > segment->bytes - len)
			continue;
		*ret_file_off = segment->file_off + (addr - segment->elf_addr);
		return true;
	}
	return false;
}

static bool has_bytes(const struct scan *scan, uint64_t addr, const void *wanted, size_t len)
{
	unsigned char bytes[8];
	uint64_t file_off;

	return find_bytes(scan, addr, len, PF_X, &file_off) &&
	       pread(scan->fd, bytes, len, (off_t)file_off) == (ssize_t)len &&
	       memcmp(bytes, wanted, len) == 0;
}

/* The nops that sys/sdt.h and its successors put at a probe. */
static bool is_nop(const struct scan *scan, uint64_t addr)
{
	switch (scan->file.machine) {
	case EM_X86_64:
		return has_bytes(scan, addr, "\x90", 1) ||
		       has_bytes(scan, addr, "\x0f\x1f\x44\x00\x00", 5);
	case EM_AARCH64:
		return addr % 4 == 0 && has_bytes(scan, addr, "\x1f\x20\x03\xd5", 4);
	default:
		return false;
	}
}

static bool find_semaphore(const struct scan *scan, uint64_t addr, uint64_t *ret_file_off)
{
	return find_bytes(scan, addr, SEMAPHORE_BYTES, PF_W, ret_file_off) &&
	       *ret_file_off % SEMAPHORE_BYTES == 0 && *ret_file_off > 0 &&
	       *ret_file_off <= UINT32_MAX;
}

static void add_point(struct probe_notes *notes, const struct probe_point *point)
{
	if (notes->count == PROBE_NOTES_MAX)
		notes->surplus++;
	else
		notes->points[notes->count++] = *point;
}

/* ---- notes ---- */

static bool is_wanted(const char *provider, const char *name)
{
	for (size_t i = 0; i < sizeof(wanted_notes) / sizeof(wanted_notes[0]); i++) {
		const struct wanted_point *const wanted = &wanted_notes[i];

		if (strcmp(provider, wanted->provider) == 0 &&
		    (!wanted->name || strcmp(name, wanted->name) == 0))
			return true;
	}
	return false;
}

static bool is_text_clean(const char *text)
{
	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && *text != '_')
			return false;
	}
	return true;
}

/* The text at *at, which is moved behind its NUL; NULL: there is no NUL. */
static const char *next_text(const char **at, const char *end)
{
	const char *const text = *at;
	const char *const nul = memchr(text, '\0', (size_t)(end - text));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

static bool take_note(const struct scan *scan, const uint64_t addrs[NOTE_ADDRS],
		      struct probe_point *ret)
{
	const uint64_t moved = scan->base && addrs[1] ? scan->base - addrs[1] : 0;
	const uint64_t pc = addrs[0] + moved;

	ret->elf_addr = pc;
	ret->is_nop = is_nop(scan, pc);
	return ret->is_nop && find_bytes(scan, pc, 1, PF_X, &ret->file_off) &&
	       (addrs[2] == 0 || find_semaphore(scan, addrs[2] + moved, &ret->semaphore_off));
}

static void read_note(const struct scan *scan, const char *desc, size_t len)
{
	const char *at = desc + ADDRS_BYTES, *provider = NULL, *name = NULL;
	struct probe_point point = {0};
	uint64_t addrs[NOTE_ADDRS];

	if (len >= ADDRS_BYTES) {
		memcpy(addrs, desc, ADDRS_BYTES);
		provider = next_text(&at, desc + len);
		name = provider ? next_text(&at, desc + len) : NULL;
	}
	if (!name) {
		scan->notes->unsound++; /* whose it is cannot be told */
		return;
	}
	if (!is_wanted(provider, name))
		return;
	if (strlen(name) >= sizeof(point.name) || !name[0] || !is_text_clean(name) ||
	    !take_note(scan, addrs, &point)) {
		scan->notes->unsound++;
		return;
	}
	strcpy(point.provider, provider);
	strcpy(point.name, name);
	add_point(scan->notes, &point);
}

static int read_notes(struct scan *scan)
{
	size_t at = 0, name_at, desc_at;
	GElf_Shdr header;
	GElf_Nhdr note;
	Elf_Data *data;
	Elf_Scn *section;
	int err;

	if (elf_section_find(&scan->file, ".stapsdt.base", &header))
		scan->base = header.sh_addr;
	section = elf_section_find(&scan->file, ".note.stapsdt", &header);
	if (!section || header.sh_size == 0)
		return 0;
	if (header.sh_type != SHT_NOTE)
		return -ENOEXEC;
	err = elf_section_read(section, PROBE_NOTES_MAX_BYTES, &data);
	if (err)
		return err;
	while ((at = gelf_getnote(data, at, &note, &name_at, &desc_at)) > 0) {
		const char *const bytes = data->d_buf;

		if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof(NOTE_NAME) &&
		    memcmp(bytes + name_at, NOTE_NAME, sizeof(NOTE_NAME)) == 0)
			read_note(scan, bytes + desc_at, note.n_descsz);
	}
	return 0;
}

/* ---- functions ---- */

static void add_function(const struct scan *scan, const struct elf_function *function)
{
	struct probe_point point = {.elf_addr = function->elf_addr};

	if (function->is_label || function->is_plt)
		return;
	if (scan->file.machine == EM_AARCH64 && function->elf_addr % 4 != 0)
		scan->notes->unsound++;
	else if (!find_bytes(scan, function->elf_addr, 1, PF_X, &point.file_off))
		scan->notes->unsound++;
	else {
		strcpy(point.name, function->name);
		add_point(scan->notes, &point);
	}
}

static int read_functions(struct scan *scan)
{
	struct elf_functions functions = {0};
	const int err = elf_functions_add(&functions, &scan->file, &scan->file.layout, SHT_DYNSYM);

	for (size_t i = 0; !err && i < functions.count; i++) {
		for (size_t j = 0; j < sizeof(wanted_functions) / sizeof(*wanted_functions); j++) {
			if (strcmp(functions.items[i].name, wanted_functions[j]) == 0)
				add_function(scan, &functions.items[i]);
		}
	}
	elf_functions_fini(&functions);
	return err;
}

/* ---- tables ---- */

static int read_all(struct scan *scan)
{
	const char *const ident = elf_getident(scan->file.elf, NULL);
	int err;

	if (!ident || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	err = read_segments(scan);
	if (!err)
		err = read_notes(scan);
	if (!err)
		err = read_functions(scan);
	if (!err && scan->notes->count == 0 && scan->notes->unsound == 0)
		err = -ENOENT;
	return err;
}

int probe_notes_load(int fd, struct probe_notes **ret)
{
	struct scan scan = {.fd = fd};
	int err = elf_file_open(fd, &scan.file);

	if (err)
		return err;
	scan.notes = calloc(1, sizeof(*scan.notes));
	err = scan.notes ? read_all(&scan) : -ENOMEM;
	elf_file_close(&scan.file);
	if (err)
		free(scan.notes);
	else
		*ret = scan.notes;
	return err;
}

void probe_notes_free(struct probe_notes *notes)
{
	free(notes);
}

const struct probe_point *probe_notes_find(const struct probe_notes *notes, const char *provider,
					   const char *name, const struct probe_point *after)
{
	for (size_t i = after ? (size_t)(after - notes->points) + 1 : 0; i < notes->count; i++) {
		const struct probe_point *const point = &notes->points[i];

		if (strcmp(point->provider, provider) == 0 && strcmp(point->name, name) == 0)
			return point;
	}
	return NULL;
}

void probe_notes_flatten(const struct probe_notes *notes, struct flat_writer *writer)
{
	flat_write(writer, notes, sizeof(*notes));
}

/* A bool must be looked at as a byte before it is a bool. */
static bool is_sound(const struct probe_point *point)
{
	unsigned char flag;

	memcpy(&flag, &point->is_nop, sizeof(flag));
	if (flag > 1 || !memchr(point->provider, '\0', sizeof(point->provider)) ||
	    !memchr(point->name, '\0', sizeof(point->name)))
		return false;
	return point->name[0] && is_text_clean(point->provider) && is_text_clean(point->name) &&
	       point->file_off <= INT64_MAX && point->semaphore_off <= UINT32_MAX &&
	       point->semaphore_off % SEMAPHORE_BYTES == 0;
}

int probe_notes_restore(struct flat_reader *reader, struct probe_notes **ret)
{
	struct probe_notes *const notes = calloc(1, sizeof(*notes));

	if (!notes)
		return -ENOMEM;
	flat_read(reader, notes, sizeof(*notes));
	if (!reader->err && notes->count > PROBE_NOTES_MAX)
		reader->err = -EBADMSG;
	for (size_t i = 0; !reader->err && i < notes->count; i++) {
		if (!is_sound(&notes->points[i]))
			reader->err = -EBADMSG;
	}
	if (reader->err)
		free(notes);
	else
		*ret = notes;
	return reader->err;
}

static bool are_points_equal(const struct probe_point *a, const struct probe_point *b)
{
	return strcmp(a->provider, b->provider) == 0 && strcmp(a->name, b->name) == 0 &&
	       a->elf_addr == b->elf_addr && a->file_off == b->file_off &&
	       a->semaphore_off == b->semaphore_off && a->is_nop == b->is_nop;
}

bool probe_notes_equal(const struct probe_notes *a, const struct probe_notes *b)
{
	if (a->count != b->count || a->unsound != b->unsound || a->surplus != b->surplus)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (!are_points_equal(&a->points[i], &b->points[i]))
			return false;
	}
	return true;
}

size_t probe_notes_bytes(const struct probe_notes *notes)
{
	return sizeof(*notes);
}
