// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a Method* of a running JVM -> the method's names, read from the JVM's memory
 * units:   addr in the process, CLOCK_MONOTONIC nanoseconds, bytecode indices, lines from 1
 * threads: the model's
 * errors:  NULL and a reason, which the caller counts
 * source:  process_vm_readv(2), code/vm_layout.h
 *
 * No event tells of interpreted methods; the interpreter's frame holds the method's Method*. The
 * memory of the process is only read, and the process is never stopped.
 *
 * A Method* means another method once its class has been unloaded or redefined. So a known method
 * is checked again, with one system call, when its last check is JAVA_METHODS_CHECK_NS old. One
 * method of each sample is checked when its last check is three quarters as old, so that the
 * methods of a stack are not all checked in the same sample. Where no method is found, the next
 * look that is JAVA_METHODS_RETRY_NS later reads again: a new method may take the place at any
 * time.
 *
 * A sample is looked up when it comes and again when it is named, later. What was found for a later
 * sample says nothing against an earlier one: the method that was at the address before is kept,
 * and is the answer for samples that are nearer to its last check. A method that was unloaded
 * between the sample and the first look cannot be told from the method that took its place.
 *
 * The cache of a process has a maximum, past which all methods are read anew. Reads in a window of
 * time have a maximum too. A zero-filled struct java_methods is valid and empty.
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
#define JAVA_METHODS_MAX_LINES (8u << 20) /* bytes of all line number tables */
#define JAVA_METHODS_CHECK_NS  UINT64_C(200000000)
#define JAVA_METHODS_RETRY_NS  UINT64_C(10000000)
#define JAVA_METHODS_WINDOW_NS UINT64_C(100000000)
#define JAVA_METHODS_MAX_READS 500 /* methods that are read or checked in a window */

enum java_methods_reason {
	JAVA_METHODS_NO_LAYOUT,
	JAVA_METHODS_NO_PERMISSION,
	JAVA_METHODS_NOT_MAPPED,
	JAVA_METHODS_NO_METHOD,
	JAVA_METHODS_PROCESS_GONE,
	JAVA_METHODS_TOO_MANY,
	JAVA_METHODS_NO_MEMORY,
	JAVA_METHODS_NO_ANSWER, /* in time; not kept, so that the next look reads again */
	JAVA_METHODS_REASONS,
};

/* The reason as a static text, "not mapped" for instance. */
const char *java_methods_reason_name(enum java_methods_reason reason);

/* Names are those that java_methods_source's name function returned. */
struct java_method {
	const char *class_name; /* java/lang/String */
	const char *name;
	const char *signature;
	const char *source_file; /* or NULL */
	uint64_t bytecodes;	 /* the address of the first bytecode */
	uint32_t code_bytes;	 /* of bytecodes */
	const uint8_t *lines;	 /* the bytes of a struct line_table */
	uint32_t lines_len;	 /* 0: not known */
	bool lines_are_biased;
};

struct java_methods {
	struct map64 by_addr; /* Method* -> a known method, or why it could not be read */
	size_t lines_bytes;
	size_t entry_bytes; /* memory of methods and reasons, lines included */
	uint64_t window_began_ns;
	uint32_t reads;	    /* in the window */
	uint64_t early_ns;  /* time of the last sample for which a method was checked early */
	uint64_t latest_ns; /* time of the latest sample */
};

/* Returns the name for a text of modified UTF-8; NULL for an empty text. */
typedef const char *(*java_methods_name_fn)(void *arg, const char *text, size_t len);

/* The JVM from which methods are read; vm_layout_has_methods must be true for the layout. */
struct java_methods_source {
	pid_t pid;
	bool is_gone;
	const struct vm_layout *layout;
	java_methods_name_fn name;
	void *arg;
};

/* Borrowed until the next call; or NULL and the reason. now_ns is the sample's time. */
const struct java_method *java_methods_find(struct java_methods *methods,
					    const struct java_methods_source *source, uint64_t addr,
					    uint64_t now_ns, enum java_methods_reason *ret_reason);

/* The index of the bytecode at the address bcp; -1 if the method has no bytecode there. */
int32_t java_method_bci(const struct java_method *method, uint64_t bcp);
/* The line of a bytecode; 0 if not known. */
uint32_t java_method_line(const struct java_method *method, int32_t bci);

/* The memory of all that is known, names excluded. */
size_t java_methods_bytes(const struct java_methods *methods);

/* Forgets all methods, which are then read anew. */
void java_methods_clear(struct java_methods *methods);

/* Replaces each name by the name that fn returns for it, as code_map_rename does. */
typedef const char *(*java_methods_rename_fn)(void *arg, const char *name);
void java_methods_rename(struct java_methods *methods, java_methods_rename_fn fn, void *arg);

#endif
