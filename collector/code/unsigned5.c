// SPDX-License-Identifier: Apache-2.0
/* Reads HotSpot's packed numbers, see unsigned5.h. */
#include "code/unsigned5.h"

#define LAST_BYTE_BELOW 192
#define MAX_BYTES	5
#define BITS_A_BYTE	6

bool unsigned5_read(const uint8_t *bytes, size_t len, bool is_biased, size_t *pos, uint32_t *ret)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < MAX_BYTES; i++) {
		uint8_t byte;

		if (*pos >= len)
			return false;
		byte = bytes[(*pos)++];
		if (is_biased && byte == 0)
			return false;
		sum += (uint32_t)(byte - is_biased) << (BITS_A_BYTE * i);
		if (byte < LAST_BYTE_BELOW)
			break;
	}
	*ret = sum;
	return true;
}
