// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes of this machine's order, at any offset -> a number
 * units:   bytes
 * threads: any
 * errors:  none; the caller knows that the bytes are there
 * source:  none
 */
#ifndef FG_BASE_UNALIGNED_H
#define FG_BASE_UNALIGNED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t unaligned_u16(const void *bytes, size_t at)
{
	uint16_t value;

	memcpy(&value, (const char *)bytes + at, sizeof(value));
	return value;
}

static inline uint32_t unaligned_u32(const void *bytes, size_t at)
{
	uint32_t value;

	memcpy(&value, (const char *)bytes + at, sizeof(value));
	return value;
}

static inline int32_t unaligned_i32(const void *bytes, size_t at)
{
	return (int32_t)unaligned_u32(bytes, at);
}

static inline uint64_t unaligned_u64(const void *bytes, size_t at)
{
	uint64_t value;

	memcpy(&value, (const char *)bytes + at, sizeof(value));
	return value;
}

#endif
