// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a Method* of a running JVM -> its names, as they are in the JVM's memory
 * units:   addr in the process, CLOCK_MONOTONIC nanoseconds, bytecode indices, lines from 1
 * threads: the model's
 * errors:  NULL and a reason, which the caller counts
 * source:  process_vm_readv(2), code/vm_layout.h
 *
 * Interpreted methods are not announced by anybody; the interpreter's frame holds their Method*.
 * The process is only read, never stopped. A method that is known is read again, in one call, when
 * it was not for JAVA_METHODS_CHECK_NS, and one of a stack's when it was not for three quarters of
 * that, so that not all of them take their time in the same sample; because a Method* means another
 * method once its class has been unloaded. A method that was unloaded between the sample and now
 * cannot be told from what took its place. What is known of a process has a maximum, past which all
 * is learnt anew, and so has the reading in a time. A zero-filled cache is a valid, empty one.
 */
#ifndef FG_CODE_JAVA_METHODS_H
#define FG_CODE_JAVA_METHODS_H

#include "base/map64.h"
#include "code/vm_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JAVA_METHODS_MAX       16384
#define JAVA_METHODS_MAX_LINES (8u << 20) /* bytes of line number tables */
#define JAVA_METHODS_CHECK_NS  UINT64_C(200000000)
#define JAVA_METHODS_WINDOW_NS UINT64_C(100000000)
#define JAVA_METHODS_MAX_READS 500 /* methods that are read, or read again, in a window */

enum java_methods_reason {
	JAVA_METHODS_NO_LAYOUT,
	JAVA_METHODS_NO_PERMISSION,
	JAVA_METHODS_NOT_MAPPED,
	JAVA_METHODS_NO_METHOD,
	JAVA_METHODS_PROCESS_GONE,
	JAVA_METHODS_TOO_MANY,
	JAVA_METHODS_NO_MEMORY,
	JAVA_METHODS_REASONS,
};

/* "not mapped" and so on. */
const char *java_methods_reason_name(enum java_methods_reason reason);

/* Texts are what java_methods_source's name made of them. */
struct java_method {
	const char *class_name; /* java/lang/String */
	const char *name;
	const char *signature;
	const char *source_file; /* or NULL */
	uint64_t bytecodes;
	uint32_t code_bytes;
	const uint8_t *lines; /* a line_table.h */
	uint32_t lines_len;   /* 0: not known */
	bool lines_are_biased;
};

struct java_methods {
	struct map64 by_addr; /* known ones, and those that could not be read a short time ago */
	size_t lines_bytes;
	uint64_t window_began_ns;
	uint32_t reads;	   /* in the window */
	uint64_t early_ns; /* the sample for which a method was last read before its time */
};

/* Makes a name of modified UTF-8 that was read; NULL of an empty one. */
typedef const char *(*java_methods_name_fn)(void *arg, const char *text, size_t len);

/* The JVM that methods are read from; the layout must have methods. */
struct java_methods_source {
	pid_t pid;
	bool is_gone;
	const struct vm_layout *layout;
	java_methods_name_fn name;
	void *arg;
};

/* Borrowed until the next call; or NULL and why. now_ns is the sample's time. */
const struct java_method *java_methods_find(struct java_methods *methods,
					    const struct java_methods_source *source, uint64_t addr,
					    uint64_t now_ns, enum java_methods_reason *ret_reason);

/* The index of the bytecode at bcp; -1 if that is none of the method's. */
int32_t java_method_bci(const struct java_method *method, uint64_t bcp);
/* 0 if it is not known. */
uint32_t java_method_line(const struct java_method *method, int32_t bci);

/* All is learnt anew. */
void java_methods_clear(struct java_methods *methods);

/* Replaces each name by what fn returns for it, as code_map_rename. */
typedef const char *(*java_methods_rename_fn)(void *arg, const char *name);
void java_methods_rename(struct java_methods *methods, java_methods_rename_fn fn, void *arg);

#endif
