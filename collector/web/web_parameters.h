// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what stands behind the question mark of a request -> names with values
 * units:   none
 * threads: one at a time
 * errors:  -ENOMEM, -E2BIG: more than WEB_MAX_PARAMETERS, -EINVAL: a NUL in a text
 * source:  RFC 3986, 3.4
 */
#ifndef FG_WEB_WEB_PARAMETERS_H
#define FG_WEB_WEB_PARAMETERS_H

#include <stddef.h>

#define WEB_MAX_PARAMETERS 1024u

struct web_parameter {
	char *name; /* owned, with the value in one piece */
	const char *value;
};

/* A zero-filled struct is valid and empty. */
struct web_parameters {
	struct web_parameter *all;
	size_t n, size;
};

/* Copies both texts, which are decoded. value NULL: "". */
int web_parameters_add(struct web_parameters *parameters, const char *name, size_t name_len,
		       const char *value, size_t value_len);
void web_parameters_fini(struct web_parameters *parameters);

#endif
