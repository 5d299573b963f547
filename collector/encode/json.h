// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   texts from outside -> JSON strings in a stream
 * units:   none
 * threads: one at a time
 * errors:  kept in failed: no memory; write errors are the stream's
 * source:  RFC 8259
 *
 * jansson writes a document from a tree in memory, some 40 bytes for each number. The documents
 * here are millions of numbers. So the writers of formats print numbers and brackets themselves,
 * and jansson only quotes texts from outside, each once.
 */
#ifndef FG_ENCODE_JSON_H
#define FG_ENCODE_JSON_H

#include "encode/bytes.h"

#include <stdio.h>

struct json_out {
	FILE *stream;
	struct bytes text;
	bool failed;
};

/*
 * Writes text as a quoted string; characters that text.h does not allow are replaced. NULL becomes
 * null.
 */
void json_out_text(struct json_out *out, const char *text);
/* Frees out. Returns 0, or the negative errno of a failed write or of missing memory. */
int json_out_fini(struct json_out *out);

#endif
