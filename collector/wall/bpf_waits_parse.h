// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the bytes of one record of the BPF programs (bpf_waits_layout.h) -> the wait, decoded
 * units:   bytes
 * threads: any
 * errors:  -EBADMSG: the record's lengths do not fit its bytes
 * source:  none
 */
#ifndef FG_WALL_BPF_WAITS_PARSE_H
#define FG_WALL_BPF_WAITS_PARSE_H

#include "wall/wait_reading.h"

/* Decodes a record of len bytes, aligned to 8. *ret borrows from data. */
int bpf_waits_parse(const void *data, size_t len, struct wait_reading *ret);

#endif
