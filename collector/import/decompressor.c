// SPDX-License-Identifier: Apache-2.0
/*
 * The bytes in a gzip, xz or zstd file, see decompressor.h. A gzip file has members of 1f 8b 08 ..,
 * each with deflated bytes and their checksum.
 */
#include "import/decompressor.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "lazy/lazy_zstd.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW		   (15 + 16)	/* adding 16 makes zlib expect gzip's header */
#define MAX_XZ_MEMORY	   (16u << 20)	/* bytes; the file says how much its window takes */
#define MAX_FILE_XZ_MEMORY (128u << 20) /* xz -9 takes 65 MiB */

static void init(struct decompressor *decompressor, const struct decompressor_source *source,
		 uint64_t max)
{
	/* Leaves out as it is: out is large, and is written before it is read. */
	memset(decompressor, 0, offsetof(struct decompressor, out));
	decompressor->source = *source;
	decompressor->left = max;
}

int decompressor_init_gzip(struct decompressor *decompressor,
			   const struct decompressor_source *source, uint64_t max)
{
	init(decompressor, source, max);
	return inflateInit2(&decompressor->z, WINDOW) == Z_OK ? 0 : -ENOMEM;
}

int decompressor_init_xz(struct decompressor *decompressor,
			 const struct decompressor_source *source, uint64_t max)
{
	static const lzma_stream empty = LZMA_STREAM_INIT;

	init(decompressor, source, max);
	decompressor->form = DECOMPRESSOR_XZ;
	decompressor->xz = empty;
	return lzma_stream_decoder(&decompressor->xz, MAX_XZ_MEMORY, 0) == LZMA_OK ? 0 : -ENOMEM;
}

static int init_zstd(struct decompressor *decompressor, const struct decompressor_source *source)
{
	init(decompressor, source, UINT64_MAX);
	decompressor->form = DECOMPRESSOR_ZSTD;
	decompressor->is_between = true;
	if (lazy_zstd_load())
		return -ENOTSUP;
	decompressor->zstd = ZSTD_createDStream(); /* its windows are of 128 MiB at most */
	return decompressor->zstd ? 0 : -ENOMEM;
}

int decompressor_init_file(struct decompressor *decompressor, enum decompressor_form form,
			   const struct decompressor_source *source)
{
	int rc;

	if (form == DECOMPRESSOR_ZSTD)
		return init_zstd(decompressor, source);
	if (form == DECOMPRESSOR_GZIP)
		return decompressor_init_gzip(decompressor, source, UINT64_MAX);
	rc = decompressor_init_xz(decompressor, source, UINT64_MAX);
	decompressor->has_streams = true;
	if (rc == 0 && lzma_memlimit_set(&decompressor->xz, MAX_FILE_XZ_MEMORY) != LZMA_OK)
		rc = -ENOMEM;
	return rc;
}

void decompressor_fini(struct decompressor *decompressor)
{
	if (decompressor->form == DECOMPRESSOR_XZ)
		lzma_end(&decompressor->xz);
	else if (decompressor->form == DECOMPRESSOR_GZIP)
		inflateEnd(&decompressor->z);
	else if (decompressor->zstd)
		ZSTD_freeDStream(decompressor->zstd);
}

static size_t input_left(const struct decompressor *decompressor)
{
	if (decompressor->form == DECOMPRESSOR_ZSTD)
		return decompressor->given.len - decompressor->given.at;
	return decompressor->form == DECOMPRESSOR_XZ ? decompressor->xz.avail_in
						     : decompressor->z.avail_in;
}

/* Gives the library the next input. zlib counts bytes in unsigned int. */
static int refill(struct decompressor *decompressor)
{
	unsigned char *data;
	size_t len;
	int rc = 0;

	if (decompressor->piece_len == 0)
		rc = decompressor->source.next(decompressor->source.arg, &decompressor->piece,
					       &decompressor->piece_len);
	if (rc < 0)
		return rc;
	data = (unsigned char *)(uintptr_t)decompressor->piece;
	len = decompressor->piece_len < UINT_MAX ? decompressor->piece_len : UINT_MAX;
	decompressor->piece += len;
	decompressor->piece_len -= len;
	if (decompressor->form == DECOMPRESSOR_ZSTD) {
		decompressor->given.data = data;
		decompressor->given.len = len;
		decompressor->given.at = 0;
	} else if (decompressor->form == DECOMPRESSOR_XZ) {
		decompressor->xz.next_in = data;
		decompressor->xz.avail_in = len;
	} else {
		decompressor->z.next_in = data;
		decompressor->z.avail_in = (unsigned)len;
	}
	decompressor->is_ended = len == 0;
	/* the data's end is missing */
	return decompressor->is_ended && !decompressor->is_between ? -EINVAL : 0;
}

static int step_gzip(struct decompressor *decompressor)
{
	z_stream *const z = &decompressor->z;
	int rc;

	z->next_out = decompressor->out;
	z->avail_out = sizeof(decompressor->out);
	rc = inflate(z, Z_NO_FLUSH);
	decompressor->end = sizeof(decompressor->out) - z->avail_out;
	decompressor->is_between = rc == Z_STREAM_END;
	if (rc == Z_MEM_ERROR)
		return -ENOMEM;
	if (rc == Z_STREAM_END)
		return inflateReset(z) == Z_OK ? 0 : -EINVAL;
	return rc == Z_OK || rc == Z_BUF_ERROR ? 0 : -EINVAL;
}

static int step_xz(struct decompressor *decompressor)
{
	lzma_stream *const xz = &decompressor->xz;
	lzma_ret rc;

	if (decompressor->is_between && !decompressor->has_streams)
		return -EINVAL; /* bytes behind the stream */
	if (decompressor->is_between && lzma_stream_decoder(xz, MAX_FILE_XZ_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	decompressor->is_between = false;
	xz->next_out = decompressor->out;
	xz->avail_out = sizeof(decompressor->out);
	rc = lzma_code(xz, LZMA_RUN);
	decompressor->end = sizeof(decompressor->out) - xz->avail_out;
	decompressor->is_between = rc == LZMA_STREAM_END;
	if (rc == LZMA_MEM_ERROR)
		return -ENOMEM;
	if (rc == LZMA_MEMLIMIT_ERROR)
		return -EFBIG;
	return rc == LZMA_OK || rc == LZMA_STREAM_END || rc == LZMA_BUF_ERROR ? 0 : -EINVAL;
}

static int step_zstd(struct decompressor *decompressor)
{
	ZSTD_inBuffer in = {decompressor->given.data, decompressor->given.len,
			    decompressor->given.at};
	ZSTD_outBuffer out = {decompressor->out, sizeof(decompressor->out), 0};
	const size_t rc = ZSTD_decompressStream(decompressor->zstd, &out, &in);

	decompressor->given.at = in.pos;
	decompressor->end = out.pos;
	decompressor->is_between = rc == 0;
	return ZSTD_isError(rc) ? -EINVAL : 0;
}

static int step(struct decompressor *decompressor)
{
	switch (decompressor->form) {
	case DECOMPRESSOR_GZIP:
		return step_gzip(decompressor);
	case DECOMPRESSOR_XZ:
		return step_xz(decompressor);
	case DECOMPRESSOR_ZSTD:
		break;
	}
	return step_zstd(decompressor);
}

/* Produces at least one byte more, unless the file has ended. */
static int unpack_some(struct decompressor *decompressor)
{
	int rc = 0;

	decompressor->at = decompressor->end = 0;
	while (rc == 0 && decompressor->end == 0 && !decompressor->is_ended) {
		if (input_left(decompressor) == 0)
			rc = refill(decompressor);
		if (rc == 0 && !decompressor->is_ended)
			rc = step(decompressor);
	}
	if (rc == 0 && decompressor->end > decompressor->left)
		rc = -EFBIG;
	decompressor->left -= rc == 0 ? decompressor->end : 0;
	decompressor->err = rc;
	return rc;
}

bool decompressor_take(struct decompressor *decompressor, void *to, uint64_t len)
{
	unsigned char *into = to;

	while (len > 0 && !decompressor->err) {
		const size_t there = decompressor->end - decompressor->at;
		const size_t part = len < there ? (size_t)len : there;

		if (part == 0) {
			if (unpack_some(decompressor) == 0 && decompressor->end == 0)
				decompressor->err = -EINVAL;
			continue;
		}
		if (into) {
			memcpy(into, decompressor->out + decompressor->at, part);
			into += part;
		}
		decompressor->at += part;
		len -= part;
	}
	return !decompressor->err;
}

int decompressor_read(struct decompressor *decompressor, void *to, size_t len, size_t *ret_len)
{
	size_t there;

	if (!decompressor->err && decompressor->at == decompressor->end)
		unpack_some(decompressor);
	if (decompressor->err)
		return decompressor->err;
	there = decompressor->end - decompressor->at;
	*ret_len = len < there ? len : there;
	memcpy(to, decompressor->out + decompressor->at, *ret_len);
	decompressor->at += *ret_len;
	return 0;
}

bool decompressor_at_end(struct decompressor *decompressor)
{
	if (decompressor->err || decompressor->at < decompressor->end)
		return false;
	/* Steps that produce no bytes still read the checksum. */
	return unpack_some(decompressor) == 0 && decompressor->end == 0;
}

bool decompressor_is_gzip(const void *data, size_t len)
{
	return len >= 3 && memcmp(data, "\x1f\x8b\x08", 3) == 0;
}

bool decompressor_form_of(const void *data, size_t len, enum decompressor_form *ret)
{
	*ret = DECOMPRESSOR_GZIP;
	if (decompressor_is_gzip(data, len))
		return true;
	*ret = DECOMPRESSOR_XZ;
	if (len >= 6 && memcmp(data, "\xfd\x37zXZ\0", 6) == 0)
		return true;
	*ret = DECOMPRESSOR_ZSTD;
	return len >= 4 && memcmp(data, "\x28\xb5\x2f\xfd", 4) == 0;
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

int decompressor_gunzip(const void *data, size_t len, size_t max, unsigned char **ret,
			size_t *ret_len)
{
	struct memory memory = {.data = data, .len = len};
	const struct decompressor_source source = {.next = next_of_memory, .arg = &memory};
	_cleanup_free_ unsigned char *plain = NULL;
	size_t plain_len = 0, size = 0;
	struct decompressor decompressor;
	int rc = decompressor_init_gzip(&decompressor, &source, max);

	if (rc < 0)
		return rc;
	do {
		rc = unpack_some(&decompressor);
		if (rc == 0 && decompressor.end > 0)
			rc = ARRAY_RESERVE(plain, size, plain_len + decompressor.end);
		if (rc == 0 && decompressor.end > 0)
			memcpy(plain + plain_len, decompressor.out, decompressor.end);
		plain_len += decompressor.end;
	} while (rc == 0 && decompressor.end > 0);
	decompressor_fini(&decompressor);
	if (rc < 0)
		return rc;
	*ret = plain;
	*ret_len = plain_len;
	plain = NULL;
	return 0;
}
