// SPDX-License-Identifier: Apache-2.0
/*
 * A gzip file by zlib or an xz file by liblzma, see compressor.h. Bytes are gathered, because
 * callers add one or two at a time.
 */
#include "encode/compressor.h"

#include <errno.h>
#include <string.h>

#define LEVEL	      6
#define FAST_LEVEL    1
#define WINDOW	      (15 + 16) /* adding 16 makes zlib write gzip's header */
#define MEM_LEVEL     8
#define XZ_PRESET     6
#define XZ_DICT_BYTES (1u << 20) /* the preset's 8 MiB would take 94 MiB of memory */

static int init_gzip(z_stream *z, int level)
{
	return deflateInit2(z, level, Z_DEFLATED, WINDOW, MEM_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK
		       ? 0
		       : -ENOMEM;
}

static int init_xz(lzma_stream *xz)
{
	static const lzma_stream empty = LZMA_STREAM_INIT;
	lzma_options_lzma options;
	const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};

	*xz = empty;
	if (lzma_lzma_preset(&options, XZ_PRESET))
		return -EINVAL;
	options.dict_size = XZ_DICT_BYTES;
	return lzma_stream_encoder(xz, filters, LZMA_CHECK_CRC32) == LZMA_OK ? 0 : -ENOMEM;
}

int compressor_init(struct compressor *compressor, enum compression compression, FILE *stream)
{
	/* Leaves in and out as they are: they are large, and are written before they are read. */
	memset(compressor, 0, offsetof(struct compressor, in));
	compressor->compression = compression;
	compressor->stream = stream;
	switch (compression) {
	case COMPRESSION_GZIP:
		return init_gzip(&compressor->z, LEVEL);
	case COMPRESSION_GZIP_FAST:
		return init_gzip(&compressor->z, FAST_LEVEL);
	case COMPRESSION_XZ:
		return init_xz(&compressor->xz);
	}
	return -EINVAL;
}

/* Takes in to out. Bytes of out, which are all of out if there may be more; or negative errno. */
static long deflate_some(struct compressor *compressor, bool is_last)
{
	z_stream *const z = &compressor->z;

	z->next_out = compressor->out;
	z->avail_out = sizeof(compressor->out);
	deflate(z, is_last ? Z_FINISH : Z_NO_FLUSH);
	return (long)(sizeof(compressor->out) - z->avail_out);
}

static long pack_some(struct compressor *compressor, bool is_last)
{
	lzma_stream *const xz = &compressor->xz;
	lzma_ret rc;

	xz->next_out = compressor->out;
	xz->avail_out = sizeof(compressor->out);
	rc = lzma_code(xz, is_last ? LZMA_FINISH : LZMA_RUN);
	if (rc != LZMA_OK && rc != LZMA_STREAM_END)
		return rc == LZMA_MEM_ERROR ? -ENOMEM : -EINVAL;
	return (long)(sizeof(compressor->out) - xz->avail_out);
}

static void write_pending(struct compressor *compressor, bool is_last)
{
	const bool is_xz = compressor->compression == COMPRESSION_XZ;
	long n;

	if (is_xz) {
		compressor->xz.next_in = compressor->in;
		compressor->xz.avail_in = compressor->pending;
	} else {
		compressor->z.next_in = compressor->in;
		compressor->z.avail_in = (uInt)compressor->pending;
	}
	compressor->pending = 0;
	do {
		n = is_xz ? pack_some(compressor, is_last) : deflate_some(compressor, is_last);
		errno = 0;
		if (n < 0)
			compressor->err = (int)n;
		else if (fwrite(compressor->out, 1, (size_t)n, compressor->stream) != (size_t)n)
			compressor->err = errno ? -errno : -EIO;
	} while (n == (long)sizeof(compressor->out) && !compressor->err);
}

void compressor_add(struct compressor *compressor, const void *data, size_t len)
{
	const unsigned char *from = data;

	while (len > 0 && !compressor->err) {
		const size_t room = sizeof(compressor->in) - compressor->pending;
		const size_t part = len < room ? len : room;

		memcpy(compressor->in + compressor->pending, from, part);
		compressor->pending += part;
		from += part;
		len -= part;
		if (compressor->pending == sizeof(compressor->in))
			write_pending(compressor, false);
	}
}

int compressor_finish(struct compressor *compressor)
{
	if (!compressor->err)
		write_pending(compressor, true);
	return compressor->err;
}

void compressor_fini(struct compressor *compressor)
{
	if (compressor->compression == COMPRESSION_XZ)
		lzma_end(&compressor->xz);
	else
		deflateEnd(&compressor->z);
}
