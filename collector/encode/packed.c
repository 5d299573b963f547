// SPDX-License-Identifier: Apache-2.0
/* Packs data for a script, which unpacks them; see packed.h. */
#include "encode/packed.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#define LINE_BYTES    90 /* bytes of input, which make 120 characters of base64 */
#define DEFLATE_LEVEL 6

void packed_write_base64(const unsigned char *data, size_t len, FILE *stream)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		const size_t rest = len - i;
		const uint32_t bits = (uint32_t)data[i] << 16 |
				      (rest > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
				      (rest > 2 ? data[i + 2] : 0);
		const char text[4] = {
			digits[bits >> 18],
			digits[bits >> 12 & 63],
			rest > 1 ? digits[bits >> 6 & 63] : '=',
			rest > 2 ? digits[bits & 63] : '=',
		};

		fwrite(text, 1, sizeof(text), stream);
	}
}

static void write_lines(const unsigned char *data, size_t len, FILE *stream)
{
	for (size_t i = 0; i < len; i += LINE_BYTES) {
		fputc('\n', stream);
		packed_write_base64(data + i, len - i < LINE_BYTES ? len - i : LINE_BYTES, stream);
	}
}

int packed_write(const struct bytes *data, FILE *stream)
{
	uLongf len = compressBound(data->len);
	_cleanup_free_ unsigned char *packed = malloc(len);

	if (!packed)
		return -ENOMEM;
	if (compress2(packed, &len, (const Bytef *)data->data, data->len, DEFLATE_LEVEL) != Z_OK)
		return -ENOMEM;
	write_lines(packed, len, stream);
	return 0;
}
