// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an ELF file of unknown origin -> the places in its code where an event can be opened
 * units:   elf_addr is p_vaddr, file_off and semaphore_off are bytes in the file
 * threads: a loaded table is immutable
 * errors:  -ENOENT: no such place; -ENOEXEC: no little-endian file of 64 bits, or a broken one;
 *          -EFBIG: more than the limits; -ENOMEM; those of elf_file_open
 * source:  "User Space Probe Implementation" of SystemTap (.note.stapsdt), elf(5); the kernel's
 *          uprobe_register for what it refuses
 *
 * A place is a nop that a note of .note.stapsdt names, or the entry of a function. Kept are all
 * notes of the provider "fgagent", the notes "thread__park__begin" and "thread__park__end" of
 * "hotspot", and the exported function JVM_FillInStackTrace.
 *
 * A point that was kept lies in executable bytes of the file. Its semaphore lies in the file's part
 * of a writable segment, at an even offset below 2^32: the kernel takes no other. Notes that say
 * something else are counted as unsound. Whether an instruction of the function begins there is
 * known of none of them: a hostile file can have a nop's bytes within an instruction.
 */
#ifndef FG_ELF_PROBE_NOTES_H
#define FG_ELF_PROBE_NOTES_H

#include "confine/flat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_NOTES_MAX		   64
#define PROBE_NOTES_MAX_BYTES	   (1u << 20) /* of a section of notes */
#define PROBE_NOTES_PROVIDER_BYTES 16
#define PROBE_NOTES_NAME_BYTES	   48

struct probe_point {
	char provider[PROBE_NOTES_PROVIDER_BYTES]; /* "" for a function */
	char name[PROBE_NOTES_NAME_BYTES];
	uint64_t elf_addr, file_off; /* of the instruction */
	uint64_t semaphore_off;	     /* 0: the point has no semaphore */
	bool is_nop;		     /* false: the first instruction of a function */
};

/* A value without pointers. If no point is sound but something is unsound, the table is empty. */
struct probe_notes {
	struct probe_point points[PROBE_NOTES_MAX]; /* notes in the file's order, then functions */
	uint32_t count;
	uint32_t unsound; /* notes and functions that lead nowhere */
	uint32_t surplus; /* sound points past PROBE_NOTES_MAX */
};

int probe_notes_load(int fd, struct probe_notes **ret);
void probe_notes_free(struct probe_notes *notes); /* NULL is legal */

/*
 * The first point of that name behind the point `after`, or of all if after is NULL; NULL: there is
 * none. A name can have several points, because compilers copy code.
 */
const struct probe_point *probe_notes_find(const struct probe_notes *notes, const char *provider,
					   const char *name, const struct probe_point *after);

/* A table that goes from one process to another. A table of a hostile process is checked. */
void probe_notes_flatten(const struct probe_notes *notes, struct flat_writer *writer);
int probe_notes_restore(struct flat_reader *reader, struct probe_notes **ret);
bool probe_notes_equal(const struct probe_notes *a, const struct probe_notes *b);
size_t probe_notes_bytes(const struct probe_notes *notes);

#endif
