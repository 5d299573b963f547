// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a name of C++ or Rust as the linker has it -> the name as its source has it
 * units:   none
 * threads: any
 * errors:  none: what is no such name, or does not fit into memory, stays
 * source:  the Itanium C++ ABI; rustc's manglings, "legacy" (_ZN...17h<hash>E) and "v0" (_R)
 */
#ifndef FG_IMPORT_PLAIN_NAME_H
#define FG_IMPORT_PLAIN_NAME_H

#include "base/arena.h"

#include <stdbool.h>

/* The name in the arena, without parameters; name itself if it is not mangled. NULL stays NULL. */
const char *plain_name(struct arena *arena, const char *name);
/*
 * Cuts off the hash with which names of Rust end where they are demangled in the old way, and spells
 * out what rustc writes for other characters than letters. False: there is none, the name stays.
 */
bool plain_name_cut_hash(char *name);

#endif
