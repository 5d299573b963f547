// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a file says of its debug file -> descriptors of files in the places of debug files
 * units:   none
 * threads: any
 * errors:  -ENOENT: there is no further file
 * source:  "Debugging Information in Separate Files" of the GDB manual, openat2(2)
 *
 * A file is looked for by build ID and by name: first in the target's root directory, whose files
 * are hostile, then on the host. A path is resolved inside of its root directory; only a regular
 * file is opened. A file of the host must be an ELF file that everybody may read, because whoever
 * asks may be a parser that a file has taken over. Nothing else in the file is read, and that by a
 * process of its own (base/reach.h).
 */
#ifndef FG_ELF_DEBUG_PATHS_H
#define FG_ELF_DEBUG_PATHS_H

#include "elf/elf_layout.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define DEBUG_NAME_BYTES  256
#define DEBUG_PATHS_COUNT 8 /* places: four in each root directory */

/* By which to look for a debug file. Of unknown origin; its values are checked here. */
struct debug_wish {
	unsigned char build_id[ELF_LAYOUT_MAX_BUILD_ID];
	uint32_t build_id_len;	     /* 0: none */
	char name[DEBUG_NAME_BYTES]; /* terminated, without directories; "": none */
};

/* Opens the first file at place *at or behind, and sets *at to its place. */
typedef int debug_ask_fn(void *arg, const struct debug_wish *wish, unsigned *at,
			 bool *ret_is_targets);

/* Where a file came from. */
struct debug_place {
	int root;	  /* the target's root directory, opened with O_PATH; -1: none */
	const char *path; /* of the file below root, and maybe on the host; NULL: not known */
	const struct stat *self; /* the file itself, which is no debug file; NULL: not known */
	const struct elf_layout
		*whose;	   /* set: the file is the debug file of a file with this layout */
	debug_ask_fn *ask; /* opens in the place of debug_paths_open; or NULL */
	void *arg;
};

/* As debug_paths_open, with O_PATH: for a parser, which gets the file by root_file_hand. */
int debug_paths_find(const struct debug_place *place, const struct debug_wish *wish, unsigned *at,
		     bool *ret_is_targets);
/* A debug_ask_fn for a place without one. */
int debug_paths_open(const struct debug_place *place, const struct debug_wish *wish, unsigned *at,
		     bool *ret_is_targets);

#endif
