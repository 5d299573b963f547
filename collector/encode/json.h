// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   texts from outside -> JSON strings in a stream
 * units:   none
 * threads: one at a time
 * errors:  kept in failed: memory is out; the stream keeps its own
 * source:  RFC 8259
 *
 * jansson writes a document from a tree that is all in memory, of some 40 bytes a number. Ours are
 * almost only numbers, millions of them; so the writers print these and the brackets as they go,
 * and have jansson quote what is not theirs: texts, each once.
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

/* A quoted string, without what must not be written (see text.h). NULL is null. */
void json_out_text(struct json_out *out, const char *text);
/* 0, or the negative errno of what failed. */
int json_out_fini(struct json_out *out);

#endif
