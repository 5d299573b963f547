// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   how a file becomes a table of a kind, and how the table goes from a parser to the
 *          collector
 * units:   bytes
 * threads: any
 * errors:  negative errno
 * source:  none
 */
#ifndef FG_FILES_TABLE_KIND_H
#define FG_FILES_TABLE_KIND_H

#include "confine/flat.h"
#include "confine/zygote.h"
#include "elf/debug_file.h"

#include <stdbool.h>
#include <stddef.h>

/* How tables of a kind are made. */
struct table_kind {
	/*
	 * Makes a table of the file. -ENOENT: the file has no data for such a table; -ENOEXEC,
	 * -EFBIG, -ENOMEM. place is where a debug file may be, or NULL.
	 */
	int (*load)(int fd, const struct debug_place *place, void **ret);
	/*
	 * How a table goes from a parser to the collector. NULL: the loader's threads read files of
	 * this kind themselves. is_private: a file of place may have gone into the table.
	 */
	enum parser_role role;
	void (*flatten)(const void *table, struct flat_writer *writer);
	int (*restore)(struct flat_reader *reader, bool is_private, void **ret);
	void (*free)(void *table);
	size_t (*bytes)(const void *table);
	bool (*equal)(const void *a, const void *b);
	/*
	 * How many parts of the file the table leaves out as unsound or too many; NULL: not known.
	 */
	size_t (*left_out)(const void *table);
	/* Whether a file of place went into the table; NULL: never. */
	bool (*is_private)(const void *table);
	const char *none_reason, *large_reason; /* reasons for -ENOENT and -EFBIG */
	bool needs_place;
	bool is_on_demand; /* table_cache_expect does not load tables of this kind */
};

#endif
