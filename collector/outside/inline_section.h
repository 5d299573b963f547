// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an nmethod's debug information and names of methods -> the section "inline table" of its
 *          record
 * units:   bytes
 * threads: one at a time, any
 * errors:  false: no such section can be told
 * source:  shared/README.md, section 1
 */
#ifndef FG_OUTSIDE_INLINE_SECTION_H
#define FG_OUTSIDE_INLINE_SECTION_H

#include "outside/method_names.h"
#include "outside/scopes.h"

#define INLINE_SECTION_MAX_BYTES   (256u << 10)
#define INLINE_SECTION_MAX_METHODS 4096

/* Room in which a section is built; too large for a thread's stack. */
struct inline_section {
	struct named_method *methods[INLINE_SECTION_MAX_METHODS];
	uint32_t n_methods;
	uint64_t serial; /* of the table that is built */
	size_t len;	 /* bytes of the section */
	struct scopes_walk walk;
	struct scopes_region before, region;
	uint8_t bytes[INLINE_SECTION_MAX_BYTES];
};

/*
 * Wants the names of all methods of the stacks; of more than the section has room for, of some.
 * -ENOMEM.
 */
int inline_section_want(struct inline_section *section, const struct scopes *scopes,
			struct method_names *names);

/*
 * Builds the section. scopes NULL: the code's methods are not known, and the section has the
 * compiled method alone. False if a stack cannot be told, or does not begin with the compiled
 * method.
 */
bool inline_section_encode(struct inline_section *section, const struct scopes *scopes,
			   const struct method_names *names, uint64_t compiled);
/* The section has been told: the methods that it names are known by their IDs. */
void inline_section_note(const struct inline_section *section, struct method_names *names);

#endif
