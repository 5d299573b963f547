// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a JVM's mappings -> the version of its JDK, from the JDK's files
 * units:   none
 * threads: any
 * errors:  "": no file has the version, or the files cannot be read
 * source:  the file "release" of a JDK; the text "JRE (1.8.0_372-...)" in libjvm.so
 *
 * The process decides what its files contain: the version is only shown, and has digits, dots and
 * underscores alone.
 */
#ifndef FG_INSPECT_JVM_RELEASE_H
#define FG_INSPECT_JVM_RELEASE_H

#include "process/process.h"

/* Writes a version such as "1.8.0_372" or "17.0.15" to ret, terminated. */
void jvm_release_read(const struct process *process, char *ret, size_t size);

/* Finds the first whole version behind key in text. False: there is none. */
bool jvm_release_find(const char *text, size_t len, const char *key, char *ret, size_t size);

#endif
