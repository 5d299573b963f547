// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the name of a mapped file -> what it is called in every run
 * units:   none
 * threads: any, values
 * errors:  none
 * source:  File.createTempFile and UUID.randomUUID of java.base, which libraries in jars are
 *          unpacked under; DT_SONAME of elf(5)
 *
 * A name is one of an unpacked library if it has 12 digits, a UUID, or 16 hexadecimal digits with
 * letters among them in it: jna1080333495942294812.tmp. Such a file is called by its soname, else
 * by what is left of its name without that part, else by its build ID.
 */
#ifndef FG_SYMBOLIZE_LIBRARY_NAME_H
#define FG_SYMBOLIZE_LIBRARY_NAME_H

#include <stdbool.h>

#define LIBRARY_NAME_BYTES 256

/* What the file says of itself; each may be "". */
struct library_own {
	const char *soname;
	const char *build_id; /* in hexadecimal */
};

/* Whether the name, which has no '/', has a part that is another one in each run. */
bool library_name_is_random(const char *name);

/* name itself if it is not random; else ret, which is filled. */
const char *library_name(const char *name, const struct library_own *own,
			 char ret[LIBRARY_NAME_BYTES]);

#endif
