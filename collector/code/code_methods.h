// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   methods in an agent's records -> one struct a method, with its lines, found by ID
 * units:   bytecode indices; line numbers count from 1, 0 is not known
 * threads: the model's
 * errors:  negative errno; past max_bytes methods are refused
 * source:  shared/README.md, METHOD_LOAD, section 1
 *
 * A method lives while an inline table or an ID refers to it. An ID is valid for one session of the
 * agent; inline tables keep the methods that their IDs meant. Names are borrowed from the process's
 * name pool. A zero-filled struct code_methods is valid and empty.
 */
#ifndef FG_CODE_CODE_METHODS_H
#define FG_CODE_CODE_METHODS_H

#include "shared/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most memory of all methods and inline tables of one process, unless max_bytes is set. */
#define CODE_METHODS_MAX_BYTES (128u << 20)

struct code_line {
	uint16_t bci; /* the bytecode index at which the line begins */
	uint16_t line;
};

struct code_method {
	const char *class_name;	 /* java/lang/String; never NULL */
	const char *name;	 /* never NULL */
	const char *signature;	 /* or NULL */
	const char *source_file; /* or NULL */
	struct code_method *prev, *next;
	uint32_t refs;
	uint32_t n_lines;
	struct code_line lines[];
};

typedef const char *(*code_methods_rename_fn)(void *arg, const char *name);

struct code_methods {
	struct code_method *first; /* of the list of all methods */
	struct code_method **by_id;
	uint32_t ids;	  /* the size of by_id */
	size_t bytes;	  /* memory of methods, of their index and of inline tables */
	size_t max_bytes; /* 0: CODE_METHODS_MAX_BYTES */
	size_t count;
	struct {
		code_methods_rename_fn fn;
		void *arg;
		struct code_method *next; /* the first one that has not been renamed; NULL: none */
	} renaming;
};

/* Drops the references of IDs. All inline tables must have been freed before. */
void code_methods_fini(struct code_methods *methods);

/* Whether so many bytes more are allowed. */
bool code_methods_has_room(const struct code_methods *methods, size_t bytes);

/*
 * Makes a method with one reference, the caller's. names has the four texts and said has the lines;
 * lines that no class file can hold are left out. -ENOSPC, -ENOMEM.
 */
int code_methods_add(struct code_methods *methods, const struct code_method *names,
		     const struct wire_method *said, struct code_method **ret);
struct code_method *code_method_ref(struct code_method *method);
void code_methods_unref(struct code_methods *methods, struct code_method *method);

/* The method of an ID of this session, borrowed; NULL if the ID is not known. */
struct code_method *code_methods_find(const struct code_methods *methods, uint32_t id);
/* Adds a reference. -EINVAL for an ID past WIRE_METHOD_ID_MAX, -ENOSPC, -ENOMEM. */
int code_methods_set_id(struct code_methods *methods, uint32_t id, struct code_method *method);
/* The ID has no method any more. */
void code_methods_forget_id(struct code_methods *methods, uint32_t id);
void code_methods_forget_ids(struct code_methods *methods);

/*
 * Replaces each name of every method by the name that fn returns for it, as code_map_begin_rename
 * does, in steps of at most max methods. A step returns of how many names were replaced; 0: all
 * are. Methods that are added meanwhile are left alone: their names have to be new ones.
 */
void code_methods_begin_rename(struct code_methods *methods, code_methods_rename_fn fn, void *arg);
size_t code_methods_rename_some(struct code_methods *methods, size_t max);

/* The lowest line of the method, and the line of a bytecode; 0 if not known. */
uint32_t code_method_first_line(const struct code_method *method);
uint32_t code_method_line(const struct code_method *method, int32_t bci);

#endif
