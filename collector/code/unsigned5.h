// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a number as HotSpot packs it -> its value
 * units:   none
 * threads: any
 * errors:  false: the bytes end before the number does, or have a 0 where there is none
 * source:  UNSIGNED5 of HotSpot, JDK 8 to 26
 *
 * A number is 1 to 5 bytes, the lowest 6 bits first; a byte of 192 or more is followed by another.
 * Since JDK 20 no byte of a number is 0: each byte is one more than its value, and 191 byte values
 * can be the last byte.
 */
#ifndef FG_CODE_UNSIGNED5_H
#define FG_CODE_UNSIGNED5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the number at *pos, and moves *pos behind it. is_biased: of JDK 20 and later. */
bool unsigned5_read(const uint8_t *bytes, size_t len, bool is_biased, size_t *pos, uint32_t *ret);

#endif
