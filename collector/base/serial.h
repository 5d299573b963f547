// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one number after the other, none of them twice, never 0
 * units:   none
 * threads: any
 * errors:  none
 * source:  none
 *
 * For what outlives its owner and must not be taken for the next one's: an address is used again,
 * such a number is not.
 */
#ifndef FG_BASE_SERIAL_H
#define FG_BASE_SERIAL_H

#include <stdint.h>

uint64_t serial_next(void);

#endif
