// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a JVM's mappings -> the version of its JDK, as its own files say it
 * units:   none
 * threads: any
 * errors:  "" where nothing says it, or it cannot be read
 * source:  the file "release" of a JDK; what libjvm.so says of itself, "JRE (1.8.0_372-...)"
 *
 * The files are the process's to choose; what they say is shown, and is no more than a word.
 */
#ifndef FG_INSPECT_JVM_RELEASE_H
#define FG_INSPECT_JVM_RELEASE_H

#include "process/process.h"

/* "1.8.0_372" or "17.0.15", digits, dots and underscores alone. Into ret, terminated. */
void jvm_release_read(const struct process *process, char *ret, size_t size);

/* The same of one text: behind key, the first that is whole. False: there is none. */
bool jvm_release_find(const char *text, size_t len, const char *key, char *ret, size_t size);

#endif
