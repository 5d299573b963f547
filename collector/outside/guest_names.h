// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   nmethods that a compiler of JVMCI has made -> the names that it gave them
 * units:   addr in the process; bytes
 * threads: one at a time, any
 * errors:  "": the compiler gave no name, or it cannot be read
 * source:  class JVMCINMethodData of HotSpot's jvmci/jvmciRuntime.hpp of JDK 17 to 26
 *
 * Truffle compiles functions of JavaScript, Python and others. Each is one nmethod of one and the
 * same Java method, and the function's name stands at the end of the nmethod's data:
 *
 *   whether there is a name (a bool of 1), and some numbers of 4 bytes
 *   a pointer, 8 bytes
 *   the name, terminated, and at most 7 bytes more
 *
 * Truffle writes behind a function's name how often it has compiled it: fib#2. This number is left
 * out.
 *
 * No table of the JVM says so, and other compilers' nmethods end with other data. So a name is
 * looked for in methods of Truffle alone, and believed if all of this is there.
 */
#ifndef FG_OUTSIDE_GUEST_NAMES_H
#define FG_OUTSIDE_GUEST_NAMES_H

#include "outside/code_blob.h"
#include "outside/method_names.h"

#define GUEST_NAMES_MAX	 256
#define GUEST_NAME_BYTES 512 /* with all that stands around it; a longer one is not found */

struct guest_names {
	uint8_t tails[GUEST_NAMES_MAX][GUEST_NAME_BYTES];
	struct vm_piece pieces[GUEST_NAMES_MAX];
	char names[GUEST_NAMES_MAX][GUEST_NAME_BYTES];
};

/* Reads names of n blobs, GUEST_NAMES_MAX at most, whose methods have been read. */
void guest_names_read(struct guest_names *guests, struct vm_memory *memory,
		      const struct method_names *methods, const struct code_blob *blobs, size_t n);
/* The name in the last len bytes of an nmethod's data; ret has GUEST_NAME_BYTES. */
bool guest_names_decode(const uint8_t *tail, size_t len, char *ret);

#endif
