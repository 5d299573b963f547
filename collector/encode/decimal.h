// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   numbers -> decimal digits, as printf writes them
 * units:   none
 * threads: any
 * errors:  those of bytes.h
 * source:  printf(3): %.0f, %.1f, %.2f, %llu
 *
 * A picture has tens of thousands of numbers, for which printf takes most of the time.
 */
#ifndef FG_ENCODE_DECIMAL_H
#define FG_ENCODE_DECIMAL_H

#include "encode/bytes.h"

#include <stdint.h>

#define DECIMAL_MAX_PLACES 2u

void decimal_add_whole(struct bytes *out, uint64_t value);
/* With so many places behind the point, at most DECIMAL_MAX_PLACES. */
void decimal_add(struct bytes *out, double value, unsigned places);

#endif
