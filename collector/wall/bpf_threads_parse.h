// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the bytes of one record of the BPF program (bpf_threads_layout.h) -> the reading,
 *          decoded
 * units:   bytes
 * threads: any
 * errors:  -EBADMSG: the record's lengths do not fit its bytes
 * source:  none
 */
#ifndef FG_WALL_BPF_THREADS_PARSE_H
#define FG_WALL_BPF_THREADS_PARSE_H

#include "wall/thread_reading.h"

/* Decodes a record of len bytes, aligned to 8. *ret borrows from data. */
int bpf_threads_parse(const void *data, size_t len, struct thread_reading *ret);

#endif
