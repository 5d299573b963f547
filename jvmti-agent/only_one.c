// SPDX-License-Identifier: Apache-2.0
/*
 * Each copy of the agent has a mark, a word that says whether this copy works, and a note in its
 * file that leads there. Whoever is loaded later goes through the objects of the process, and finds
 * the marks of the others by their notes. The mark is in memory of the agent alone: programs that
 * the JVM starts do not inherit it, and a program that takes the JVM's place has none. HotSpot
 * loads one agent after the other, and calls each before it loads the next.
 *
 * The note, an ELF note as elf(5) has it:
 *   u32 8 the name's bytes; u32 8 the content's bytes; u32 1 the type; "fgagent" and a NUL;
 *   i64 the mark's address, less the address of these 8 bytes
 */
#include "only_one.h"

#include "hotspot/module.h"

#include <link.h>
#include <stdint.h>
#include <string.h>

#define NOTE_TYPE	   1u
#define NOTE_NAME_BYTES	   8u
#define NOTE_CONTENT_BYTES 8u

__attribute__((used, visibility("hidden"))) volatile uint32_t only_one_mark;

__asm__(".pushsection .note.fgagent, \"a\", %note\n"
	"	.balign 4\n"
	"	.4byte 8, 8, 1\n"
	"	.asciz \"fgagent\"\n"
	"1:	.8byte only_one_mark - 1b\n"
	".popsection\n");

struct note {
	uint32_t name_bytes, content_bytes, type;
	char name[NOTE_NAME_BYTES];
};

/* The mark that the note leads to, or NULL if the note is another's. */
static volatile const uint32_t *mark_of(const struct module *module, const struct note *note)
{
	const uint8_t *content = (const uint8_t *)(note + 1);
	const void *mark;
	int64_t away;

	if (note->type != NOTE_TYPE || note->name_bytes != NOTE_NAME_BYTES ||
	    note->content_bytes != NOTE_CONTENT_BYTES || memcmp(note->name, "fgagent", 8) != 0)
		return NULL;
	memcpy(&away, content, sizeof(away));
	mark = (const void *)((uintptr_t)content + (uintptr_t)away);
	return module_holds(module, mark, sizeof(uint32_t), PF_W) ? mark : NULL;
}

static size_t padded(size_t len)
{
	return (len + 3) / 4 * 4;
}

/* Whether a note of the segment leads to a mark that is set. */
static bool is_claimed_by(const struct module *module, const ElfW(Phdr) * segment)
{
	const uint8_t *at = (const uint8_t *)(module->base + segment->p_vaddr);
	size_t left = segment->p_memsz;

	while (left >= sizeof(struct note) + NOTE_CONTENT_BYTES) {
		const struct note *note = (const void *)at;
		const size_t len = 12 + padded(note->name_bytes) + padded(note->content_bytes);
		volatile const uint32_t *mark = mark_of(module, note);

		if (mark && *mark)
			return true;
		if (len > left)
			return false;
		at += len;
		left -= len;
	}
	return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct module module = {
		.base = info->dlpi_addr, .phdr = info->dlpi_phdr, .n_phdr = info->dlpi_phnum};

	(void)size;
	(void)arg;
	for (size_t i = 0; i < module.n_phdr; i++) {
		const ElfW(Phdr) *segment = &module.phdr[i];

		if (segment->p_type == PT_NOTE && segment->p_align == 4 &&
		    module_holds(&module, (const void *)(module.base + segment->p_vaddr),
				 segment->p_memsz, PF_R) &&
		    is_claimed_by(&module, segment))
			return 1;
	}
	return 0;
}

bool only_one_claim(void)
{
	if (only_one_mark || dl_iterate_phdr(look_at, NULL) != 0)
		return false;
	only_one_mark = 1;
	return true;
}
