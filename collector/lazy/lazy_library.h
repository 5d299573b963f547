// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a library that the program is not linked with -> its functions, once they are needed
 * units:   none
 * threads: any; who calls a function has loaded the library before
 * errors:  NULL, or why not, for good
 * source:  dlopen(3); UAPI group, ELF dlopen metadata (.note.dlopen)
 *
 * What few commands need costs every one of them when it is linked: the libraries of HTTP and TLS
 * bring 30 others, 6 MiB and 6 ms of processor time. For each there is a header with the table of
 * its functions, which is included in place of the library's own; each name in the table becomes a
 * pointer of the table. The program has a note for each, from which images are made.
 *
 * A library stays until the process ends. Functions are looked for all at once, so that a library
 * that lacks one is refused before anything depends on it.
 */
#ifndef FG_LAZY_LAZY_LIBRARY_H
#define FG_LAZY_LAZY_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* For tables of functions: as a member, and by name. */
#define LAZY_MEMBER(name) __typeof__(name) *name;
#define LAZY_NAME(name)	  #name,

struct lazy_library {
	const char *file;	  /* as a linker would have noted it */
	const char *const *names; /* NULL ends them */
	void *functions;	  /* as many pointers, in the order of names */
	pthread_mutex_t lock;
	bool is_tried;
	const char *why; /* NULL: all functions are there */
	char text[256];
};

/* NULL: there. Otherwise what the dynamic loader says, which names the library, and what to do. */
const char *lazy_library_load(struct lazy_library *library);

#endif
