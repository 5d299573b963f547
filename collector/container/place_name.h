// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   names of a program, of its service and of where it runs -> what people call it
 * units:   bytes
 * threads: any
 * errors:  none
 * source:  workload.h
 *
 * Many programs are called app.jar. So a program's name stands behind the name of its pod, or else
 * of its container, or else of its service: "shop-1: app.jar". A pod's UID is no such name. Without
 * such a name, or if it is the program's own name, the program's name stands alone.
 */
#ifndef FG_CONTAINER_PLACE_NAME_H
#define FG_CONTAINER_PLACE_NAME_H

#include <stddef.h>

#define PLACE_NAME_BYTES 800 /* has room for a place and a program's name */

/* Texts are NULL or "" where nothing is known. */
struct place_name {
	const char *pod;       /* its name or its UID */
	const char *container; /* its name */
	const char *service;
	const char *program;
};

/* The name that stands before the program's; borrowed; "": there is none. */
const char *place_name_of(const struct place_name *name);
/* Writes the whole name, terminated. size is at least 1. */
void place_name_write(const struct place_name *name, char *ret, size_t size);

#endif
