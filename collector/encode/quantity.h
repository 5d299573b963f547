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
/* The same; the number may have a fraction. */
bool quantity_parse_seconds(const char *text, double *ret_sec);
/* A number and k, M, G or T; without a letter, bytes. */
bool quantity_parse_size(const char *text, uint64_t *ret_bytes);
/*
 * The digits that a text begins with, with a point among them or not: "16", "0.5", ".5". What is
 * behind them is the caller's. A sign, an exponent, and hexadecimal digits are none of them.
 */
bool quantity_parse_digits(const char *text, const char **ret_end, double *ret);

#endif
