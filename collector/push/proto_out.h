// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   numbers, texts and messages -> fields of a protobuf message, one behind another
 * units:   bytes
 * threads: one at a time
 * errors:  kept in the bytes
 * source:  protobuf's encoding; nanopb's pb_encode.h writes tags and numbers
 *
 * A message that holds others is made from the inside out: the inner message is complete before it
 * is put, so that its length is known. Numbers of fields are those of ../proto.
 */
#ifndef FG_PUSH_PROTO_OUT_H
#define FG_PUSH_PROTO_OUT_H

#include "encode/bytes.h"

#include <stddef.h>
#include <stdint.h>

/* A number of 0 is not written: it is what a reader takes for a missing field. */
void proto_put_number(struct bytes *out, uint32_t field, uint64_t value);
void proto_put_fixed64(struct bytes *out, uint32_t field, uint64_t value);
void proto_put_bytes(struct bytes *out, uint32_t field, const void *data, size_t len);
void proto_put_text(struct bytes *out, uint32_t field, const char *text);
/* Puts the message, and empties it for the next one. Its memory stays. */
void proto_put_message(struct bytes *out, uint32_t field, struct bytes *message);

#endif
