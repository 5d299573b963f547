// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the options with which a user asks a store -> a query
 * units:   nanoseconds since 1970
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_STORE_STORE_REQUEST_H
#define FG_STORE_STORE_REQUEST_H

#include "store/store_select.h"

#define STORE_DEFAULT_DIR "/var/lib/fgcollect"

/* The texts are borrowed. A zero-filled struct asks for everything in the default store. */
struct store_request {
	const char *dir;       /* NULL: STORE_DEFAULT_DIR */
	const char *from, *to; /* NULL: the begin of all, now */
	pid_t pid;
	struct selector select;
	const char *kind; /* NULL: all */
};

const char *store_request_dir(const struct store_request *request);

/*
 * The range of two texts. prefix is what stands before "from" in the options' names, for messages:
 * "--" or "--before-".
 */
int store_request_range(const char *prefix, const char *from, const char *to, uint64_t now_ns,
			struct store_range *ret);

int store_request_query(const struct store_request *request, uint64_t now_ns,
			struct store_query *ret);

/* Sets the PID of an option of that name. */
int store_request_set_pid(pid_t *ret, const char *option, const char *text);
/* Sets a part of the selector. */
int store_request_select(struct selector *select, enum selector_part_number number,
			 const char *option, const char *text);

#endif
