// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the bytes of a capture -> its facts, and its other records in their order
 * units:   those of capture_format.h
 * threads: one at a time
 * errors:  negative errno with a reason; a capture is hostile input
 * source:  capture_format.h
 *
 * Facts about files and names hold for the whole capture. So these facts are read first, and each
 * fact is found by its subject. Processes, mappings, threads, code and steps are read in their
 * order by replay.h.
 */
#ifndef FG_CAPTURE_REPLAY_FACTS_H
#define FG_CAPTURE_REPLAY_FACTS_H

#include "base/arena.h"
#include "base/map64.h"
#include "capture/capture_codec.h"
#include "capture/capture_format.h"
#include "elf/cfi_table.h"
#include "files/table_store.h"
#include "profile/profile_info.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/name_source.h"
#include "unwind/arch.h"

#include <stdbool.h>
#include <stdint.h>

/* A record, borrowed from the capture's bytes. */
struct replay_item {
	enum capture_kind kind;
	struct capture_cursor fields;
};

/* The parts of a file's tables that the recording asked for. */
struct replay_file {
	uint64_t hash; /* hash of the mapping, see replay_facts_file */
	bool is_known[CAPTURE_TABLE_KINDS];
	const char
		*reason[CAPTURE_TABLE_KINDS]; /* why the table is missing; "": there is a table */
	const char *soname;
	struct elf_layout *layout;
	struct cfi_row *rows; /* the rows may have gaps between them */
	uint64_t *row_starts, *row_ends;
	int32_t *rbx_offs;
	size_t n_rows, rows_size;
	struct elf_functions functions;
	uint64_t *starts;
	size_t n_starts, starts_size;
	struct cfi_table *unwind;    /* made of rows at the first question */
	struct elf_symbols *symbols; /* made of functions and starts at the first question */
};

struct replay_facts {
	uint8_t *bytes; /* the unzipped capture */
	size_t len;
	const struct arch *arch;
	uint64_t seed;
	struct replay_item *items; /* all other records, in their order */
	size_t n_items, items_size;
	size_t n_records;
	struct map64 samples;	    /* number -> struct replay_item */
	struct replay_file **files; /* index: number - 1; an entry may be NULL */
	size_t n_files, files_size;
	struct map64 by_mapping; /* hash -> struct replay_file */
	struct map64 kernel;	 /* hash of a call -> struct frame */
	struct map64 lines;	 /* hash of file and address -> struct replay_item */
	struct arena texts;
	bool has_end;
	struct profile_info info;
	uint64_t start_ns;
	uint64_t left_out;
};

/*
 * Reads the unzipped bytes, and takes them in any case. On an error *ret_reason is a sentence that
 * says what is wrong.
 */
int replay_facts_read(uint8_t *bytes, size_t len, struct replay_facts *ret,
		      const char **ret_reason);
void replay_facts_fini(struct replay_facts *facts);

struct replay_file *replay_facts_file(const struct replay_facts *facts, pid_t pid,
				      const struct mapping *mapping);
/* Make the tables of what is known of the file. NULL: nothing is known, or no memory. */
struct cfi_table *replay_file_unwind(struct replay_file *file);
struct elf_symbols *replay_file_symbols(struct replay_file *file);

bool replay_facts_kernel(const struct replay_facts *facts, const struct kernel_call *call,
			 struct frame *ret);
/* *ret is a cursor of the fields behind the address. False: nothing is known. */
bool replay_facts_lines(const struct replay_facts *facts, const struct line_place *place,
			struct capture_cursor *ret);

#endif
