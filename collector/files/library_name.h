// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the name of a mapped file -> a name that is the same in every run
 * units:   none
 * threads: any, values
 * errors:  none
 * source:  File.createTempFile and UUID.randomUUID of java.base, which name unpacked libraries;
 *          DT_SONAME of elf(5)
 *
 * Libraries in jars are unpacked into files with random names. A name is random if it contains 12
 * decimal digits, a UUID, or 16 hexadecimal digits with letters among them:
 * jna1080333495942294812.tmp. A file with such a name is called by its soname, else by its name
 * without the random part, else by its build ID.
 */
#ifndef FG_FILES_LIBRARY_NAME_H
#define FG_FILES_LIBRARY_NAME_H

#include <stdbool.h>

#define LIBRARY_NAME_BYTES 256

/* What the file itself says; each may be "". */
struct library_own {
	const char *soname;
	const char *build_id; /* in hexadecimal */
};

/* Whether name, which has no '/', has a random part. */
bool library_name_is_random(const char *name);

/* The file's name for frames: name itself if it is not random; else ret, which is filled. */
const char *library_name(const char *name, const struct library_own *own,
			 char ret[LIBRARY_NAME_BYTES]);

#endif
