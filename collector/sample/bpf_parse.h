// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the bytes of one record of the BPF program (bpf_layout.h) -> the record, decoded
 * units:   bytes
 * threads: any
 * errors:  -EBADMSG: the record's lengths do not fit its bytes, or its kind is not known
 * source:  none
 */
#ifndef FG_SAMPLE_BPF_PARSE_H
#define FG_SAMPLE_BPF_PARSE_H

#include "sample/record.h"

/* Decodes a record of len bytes, aligned to 8. *ret borrows from data. */
int bpf_parse(const void *data, size_t len, struct record *ret);

#endif
