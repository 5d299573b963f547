// SPDX-License-Identifier: Apache-2.0
/*
 * The bytes in a gzip file, see gunzip.h: members of 1f 8b 08 .., each with deflated bytes and
 * their checksum.
 */
#include "import/gunzip.h"

#include "base/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW (15 + 16) /* adding 16 makes zlib expect gzip's header */

int gunzip_init(struct gunzip *gunzip, const struct gunzip_source *source, uint64_t max)
{
	/* Leaves out as it is: out is large, and is written before it is read. */
	memset(gunzip, 0, offsetof(struct gunzip, out));
	gunzip->source = *source;
	gunzip->left = max;
	return inflateInit2(&gunzip->z, WINDOW) == Z_OK ? 0 : -ENOMEM;
}

void gunzip_fini(struct gunzip *gunzip)
{
	inflateEnd(&gunzip->z);
}

/* Gives zlib the next input. zlib counts bytes in unsigned int. */
static int refill(struct gunzip *gunzip)
{
	int rc = 0;

	if (gunzip->piece_len == 0)
		rc = gunzip->source.next(gunzip->source.arg, &gunzip->piece, &gunzip->piece_len);
	if (rc < 0)
		return rc;
	gunzip->z.next_in = (unsigned char *)(uintptr_t)gunzip->piece;
	gunzip->z.avail_in = gunzip->piece_len < UINT_MAX ? (unsigned)gunzip->piece_len : UINT_MAX;
	gunzip->piece += gunzip->z.avail_in;
	gunzip->piece_len -= gunzip->z.avail_in;
	gunzip->is_ended = gunzip->z.avail_in == 0;
	/* the data's end is missing */
	return gunzip->is_ended && !gunzip->is_between ? -EINVAL : 0;
}

static int step(struct gunzip *gunzip)
{
	z_stream *const z = &gunzip->z;
	int rc;

	z->next_out = gunzip->out;
	z->avail_out = sizeof(gunzip->out);
	rc = inflate(z, Z_NO_FLUSH);
	gunzip->end = sizeof(gunzip->out) - z->avail_out;
	gunzip->is_between = rc == Z_STREAM_END;
	if (rc == Z_MEM_ERROR)
		return -ENOMEM;
	if (rc == Z_STREAM_END)
		return inflateReset(z) == Z_OK ? 0 : -EINVAL;
	return rc == Z_OK || rc == Z_BUF_ERROR ? 0 : -EINVAL;
}

/* Produces at least one byte more, unless all members of the gzip file have ended. */
static int inflate_some(struct gunzip *gunzip)
{
	int rc = 0;

	gunzip->at = gunzip->end = 0;
	while (rc == 0 && gunzip->end == 0 && !gunzip->is_ended) {
		if (gunzip->z.avail_in == 0)
			rc = refill(gunzip);
		if (rc == 0 && !gunzip->is_ended)
			rc = step(gunzip);
	}
	if (rc == 0 && gunzip->end > gunzip->left)
		rc = -EFBIG;
	gunzip->left -= rc == 0 ? gunzip->end : 0;
	gunzip->err = rc;
	return rc;
}

bool gunzip_take(struct gunzip *gunzip, void *to, uint64_t len)
{
	unsigned char *into = to;

	while (len > 0 && !gunzip->err) {
		const size_t there = gunzip->end - gunzip->at;
		const size_t part = len < there ? (size_t)len : there;

		if (part == 0) {
			if (inflate_some(gunzip) == 0 && gunzip->end == 0)
				gunzip->err = -EINVAL;
			continue;
		}
		if (into) {
			memcpy(into, gunzip->out + gunzip->at, part);
			into += part;
		}
		gunzip->at += part;
		len -= part;
	}
	return !gunzip->err;
}

bool gunzip_at_end(struct gunzip *gunzip)
{
	if (gunzip->err || gunzip->at < gunzip->end)
		return false;
	/* Steps that produce no bytes still read the checksum. */
	return inflate_some(gunzip) == 0 && gunzip->end == 0;
}

bool gunzip_is_gzip(const void *data, size_t len)
{
	return len >= 3 && memcmp(data, "\x1f\x8b\x08", 3) == 0;
}

struct memory {
	const char *data;
	size_t len;
};

/* Gives all of the memory at the first call, and nothing at later calls. */
static int next_of_memory(void *arg, const char **ret, size_t *ret_len)
{
	struct memory *const memory = arg;

	*ret = memory->data;
	*ret_len = memory->len;
	memory->len = 0;
	return 0;
}

/* Appends the bytes of out to data. data holds len bytes and has room for *size. */
static int append(const struct gunzip *gunzip, unsigned char **data, size_t len, size_t *size)
{
	if (gunzip->end > *size - len) {
		const size_t larger = *size ? 2 * *size : GUNZIP_BYTES;
		unsigned char *const grown = realloc(*data, larger);

		if (!grown)
			return -ENOMEM;
		*data = grown;
		*size = larger;
	}
	memcpy(*data + len, gunzip->out, gunzip->end);
	return 0;
}

int gunzip_whole(const void *data, size_t len, size_t max, unsigned char **ret, size_t *ret_len)
{
	struct memory memory = {.data = data, .len = len};
	const struct gunzip_source source = {.next = next_of_memory, .arg = &memory};
	_cleanup_free_ unsigned char *plain = NULL;
	size_t plain_len = 0, size = 0;
	struct gunzip gunzip;
	int rc = gunzip_init(&gunzip, &source, max);

	if (rc < 0)
		return rc;
	do {
		rc = inflate_some(&gunzip);
		if (rc == 0 && gunzip.end > 0)
			rc = append(&gunzip, &plain, plain_len, &size);
		plain_len += gunzip.end;
	} while (rc == 0 && gunzip.end > 0);
	gunzip_fini(&gunzip);
	if (rc < 0)
		return rc;
	*ret = plain;
	*ret_len = plain_len;
	plain = NULL;
	return 0;
}
