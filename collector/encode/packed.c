// SPDX-License-Identifier: Apache-2.0
/* Packs data for a script, which unpacks them; see packed.h. */
#include "encode/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LINE_BYTES   90 /* bytes of input, which make 120 characters of base64 */
#define LINE_CHARS   (LINE_BYTES / 3 * 4)
#define IN_BYTES     16384
#define OUT_BYTES    (182 * LINE_BYTES)
#define VARINT_BYTES 10 /* of the greatest number */

struct packer {
	FILE *stream; /* NULL: bytes are only counted */
	z_stream deflate;
	uint64_t n_bytes; /* without those in in */
	size_t n_in;
	int err;
	unsigned char in[IN_BYTES];
	unsigned char out[OUT_BYTES];
};

/* Encodes data to ret, without an end. Returns the number of characters. */
static size_t encode_base64(const unsigned char *data, size_t len, char *ret)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *to = ret;

	for (size_t i = 0; i < len; i += 3) {
		const size_t rest = len - i;
		const uint32_t bits = (uint32_t)data[i] << 16 |
				      (rest > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
				      (rest > 2 ? data[i + 2] : 0);

		*to++ = digits[bits >> 18];
		*to++ = digits[bits >> 12 & 63];
		*to++ = rest > 1 ? digits[bits >> 6 & 63] : '=';
		*to++ = rest > 2 ? digits[bits & 63] : '=';
	}
	return (size_t)(to - ret);
}

void packed_write_base64(const unsigned char *data, size_t len, FILE *stream)
{
	char text[LINE_CHARS];

	for (size_t i = 0; i < len; i += LINE_BYTES) {
		const size_t n = len - i < LINE_BYTES ? len - i : LINE_BYTES;
		const size_t chars = encode_base64(data + i, n, text);

		fwrite(text, 1, chars, stream);
	}
}

static void write_lines(const unsigned char *data, size_t len, FILE *stream)
{
	char line[1 + LINE_CHARS] = "\n";

	for (size_t i = 0; i < len; i += LINE_BYTES) {
		const size_t n = len - i < LINE_BYTES ? len - i : LINE_BYTES;
		const size_t chars = encode_base64(data + i, n, line + 1);

		fwrite(line, 1, 1 + chars, stream);
	}
}

struct packer *packer_new(FILE *stream, enum packed_effort effort)
{
	static const int levels[] = {[PACKED_FAST] = 3, [PACKED_SMALL] = 5};
	struct packer *const packer = calloc(1, sizeof(*packer));

	if (!packer)
		return NULL;
	packer->stream = stream;
	if (stream && deflateInit(&packer->deflate, levels[effort]) != Z_OK) {
		free(packer);
		return NULL;
	}
	packer->deflate.next_out = packer->out;
	packer->deflate.avail_out = OUT_BYTES;
	return packer;
}

void packer_free(struct packer *packer)
{
	if (packer && packer->stream)
		deflateEnd(&packer->deflate);
	free(packer);
}

static void write_out(struct packer *packer)
{
	write_lines(packer->out, OUT_BYTES - packer->deflate.avail_out, packer->stream);
	packer->deflate.next_out = packer->out;
	packer->deflate.avail_out = OUT_BYTES;
}

/* Compresses what is in in. flush: Z_NO_FLUSH or Z_FINISH. */
static void compress_in(struct packer *packer, int flush)
{
	packer->n_bytes += packer->n_in;
	packer->deflate.next_in = packer->in;
	packer->deflate.avail_in = (uInt)packer->n_in;
	packer->n_in = 0;
	while (packer->stream && !packer->err) {
		const int rc = deflate(&packer->deflate, flush);

		if (rc == Z_STREAM_ERROR)
			packer->err = -ENOMEM;
		if (packer->deflate.avail_out > 0)
			break;
		write_out(packer);
	}
}

void packer_add(struct packer *packer, const void *data, size_t len)
{
	const unsigned char *from = data;

	while (len > 0) {
		const size_t room = IN_BYTES - packer->n_in;
		const size_t n = len < room ? len : room;

		memcpy(packer->in + packer->n_in, from, n);
		packer->n_in += n;
		from += n;
		len -= n;
		if (packer->n_in == IN_BYTES)
			compress_in(packer, Z_NO_FLUSH);
	}
}

void packer_add_varint(struct packer *packer, uint64_t value)
{
	if (packer->n_in > IN_BYTES - VARINT_BYTES)
		compress_in(packer, Z_NO_FLUSH);
	for (; value >= 0x80; value >>= 7)
		packer->in[packer->n_in++] = (unsigned char)(0x80 | (value & 0x7f));
	packer->in[packer->n_in++] = (unsigned char)value;
}

uint64_t packer_bytes(const struct packer *packer)
{
	return packer->n_bytes + packer->n_in;
}

int packer_end(struct packer *packer)
{
	compress_in(packer, Z_FINISH);
	if (packer->stream)
		write_out(packer);
	return packer->err;
}
