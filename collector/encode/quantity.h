// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what people type -> seconds and bytes
 * units:   seconds, bytes
 * threads: any
 * errors:  false, and ret as it was
 * source:  none
 */
#ifndef FG_ENCODE_QUANTITY_H
#define FG_ENCODE_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* A number and s, m, h or d; without a letter, seconds. */
bool quantity_parse_time(const char *text, uint64_t *ret_sec);
/* A number and k, M, G or T; without a letter, bytes. */
bool quantity_parse_size(const char *text, uint64_t *ret_bytes);

#endif
