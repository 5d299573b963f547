// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   nothing -> a number that is never 0 and never given twice
 * units:   none
 * threads: any
 * errors:  none
 * source:  none
 *
 * A serial number identifies an object even after the object was freed: another object may get its
 * address, but never its number.
 */
#ifndef FG_BASE_SERIAL_H
#define FG_BASE_SERIAL_H

#include <stdint.h>

uint64_t serial_next(void);

#endif
