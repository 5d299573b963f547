// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   addresses of Methods -> their names and lines, each read once in a step; and the IDs by
 *          which records name a method that was named before
 * units:   addr in the process; bytes
 * threads: one at a time, any
 * errors:  -ENOMEM; a method that cannot be read is not named
 * source:  shared/README.md, section 1
 *
 * A Method's address is used again when its class is gone. So names are read anew in each step, and
 * an ID counts as known only if it was told with the same names and lines. A zero-filled struct is
 * valid and empty.
 */
#ifndef FG_OUTSIDE_METHOD_NAMES_H
#define FG_OUTSIDE_METHOD_NAMES_H

#include "base/arena.h"
#include "base/map64.h"
#include "outside/method_batch.h"
#include "shared/wire.h"

#define METHOD_NAMES_MAX_LINES	4096	   /* of a method; more are left out */
#define METHOD_NAMES_STEP_LINES (1u << 20) /* of all methods of a step; more are left out */
#define METHOD_NAMES_STEP	8192	   /* methods, after which a step should end */

struct named_method {
	uint64_t method;
	bool is_named;
	bool is_unlined; /* it has lines that are left out, which has not been counted */
	struct wire_str class_name, name, signature, source_file;
	const struct wire_line *lines; /* in rising order of bytecodes */
	uint32_t n_lines;
	uint64_t hash; /* of the names and lines */
	uint32_t id;   /* under which the method is told; 0: it has none */
	bool is_known; /* the ID was told with these names and lines */
	/* Of whoever builds a table: its number in the table of this serial number. */
	uint32_t place;
	uint64_t table;
};

struct method_names {
	/* Of the step. */
	struct map64 methods; /* address -> struct named_method */
	struct arena arena;
	struct named_method **waiting; /* whose names have not been read */
	size_t n_waiting, waiting_size;
	size_t n_lines;
	struct method_batch *batch; /* large: NULL until the step reads names */
	/* Of all steps. */
	struct map64 told; /* address -> what was told, in told_arena */
	struct arena told_arena;
	uint32_t last_id;
	uint64_t unlined; /* methods that were told with their names, and without their lines */
	bool has_no_ids;  /* somebody else gives IDs in the same session */
};

/* Begins a step: forgets what the one before has read. */
void method_names_begin(struct method_names *names);
void method_names_fini(struct method_names *names);

/* The method's names are read by the next method_names_read. */
int method_names_want(struct method_names *names, uint64_t method);
int method_names_read(struct method_names *names, struct vm_memory *memory,
		      const struct vm_layout *layout);

/* Whether so many are wanted in this step that those of more code are to be left for the next. */
bool method_names_are_many(const struct method_names *names);

/* Borrowed until the step ends; NULL: nobody wanted it. */
struct named_method *method_names_find(const struct method_names *names, uint64_t method);
/* The method was told of with its names, under its ID. */
void method_names_note(struct method_names *names, struct named_method *method);

size_t method_names_bytes(const struct method_names *names);

#endif
