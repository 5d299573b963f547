// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   mangled names of files -> their texts, made by parsers (confine/zygote.h)
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time; a thread here waits for the parsers
 * errors:  a name whose parser has died, was late or had no time left stays as the linker has it;
 *          counted
 * source:  demangle.h
 *
 * The names are a container's, and the library that demangles is large. So the caller's thread only
 * collects names, and goes on with other things. demangler_step hands the collected names to the
 * thread, and takes the texts of those before. The thread has one parser for the names of one file,
 * so that a name that has taken over its parser can falsify names of its own file alone.
 *
 * Where no zygote is used, names are demangled at once, by the caller's thread.
 */
#ifndef FG_SYMBOLIZE_DEMANGLER_H
#define FG_SYMBOLIZE_DEMANGLER_H

#include "base/counters.h"
#include "symbolize/demangle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Past these a name waits for the next step. */
#define DEMANGLER_MAX_NAMES 4096
#define DEMANGLER_MAX_BYTES (1u << 20)

/* A parser has so long for all collected names of a file, by the clock and of processor time. */
#define DEMANGLER_LATE_NS UINT64_C(2000000000)
#define DEMANGLER_WORK_NS UINT64_C(20000000)
/* A file whose names took longer has no more names demangled for so long. */
#define DEMANGLER_REFUSE_NS UINT64_C(60000000000)

struct demangler; /* opaque */

struct demangler_stats {
	uint64_t asked; /* names */
	uint64_t left;	/* of these, names that stay as they are because of their parser */
	size_t bytes;	/* memory of names and texts */
};
extern const struct counters demangler_counters;

struct demangler_question {
	const char *name;
	uint64_t file; /* the serial number of the file's table, see base/serial.h */
	enum demangle_style style;
};

/* The parser of names, a parser_fn. */
void demangler_parse(int sock);

int demangler_new(struct demangler **ret);
void demangler_free(struct demangler *demangler); /* NULL is legal */

/*
 * The name's text, or the name itself if there is no other; borrowed until the next call. NULL: the
 * text is not there yet, ask again when demangler_fd is readable and demangler_step has been
 * called.
 */
const char *demangler_find(struct demangler *demangler, const struct demangler_question *question);

/* Call it when demangler_fd is readable, and after names were asked for. */
void demangler_step(struct demangler *demangler);
/* -1: all names are demangled at once. */
int demangler_fd(const struct demangler *demangler);
/* A count of steps that have brought texts. */
uint64_t demangler_answers(const struct demangler *demangler);

void demangler_stats(const struct demangler *demangler, struct demangler_stats *ret);

#endif
