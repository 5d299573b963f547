// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a piece of a profile with its labels -> the body of one request
 * units:   nanoseconds since 1970, bytes
 * threads: any
 * errors:  -ENOMEM
 * source:  push_pprof.c and push_otlp.c say
 */
#ifndef FG_PUSH_PUSH_MESSAGE_H
#define FG_PUSH_PUSH_MESSAGE_H

#include "encode/bytes.h"
#include "profile/profile_info.h"
#include "push/push_kinds.h"
#include "push/push_labels.h"

/* All members are borrowed. */
struct push_message {
	const struct push_kind *kind;
	const struct profile *profile;
	const struct profile_info *info; /* quality is that of the whole, not of the piece */
	const struct push_labels *labels;
};

/* ret_plain_bytes: of the profile before compression. */
int push_pprof_encode(const struct push_message *message, struct bytes *ret,
		      uint64_t *ret_plain_bytes);
int push_otlp_encode(const struct push_message *message, struct bytes *ret,
		     uint64_t *ret_plain_bytes);

/* 16 bytes by which a server tells profiles apart. */
void push_random_id(unsigned char ret[16]);

#endif
