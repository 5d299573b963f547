// SPDX-License-Identifier: Apache-2.0
/* A gzip file by zlib, see gzip.h. Bytes are gathered, because callers add one or two at a time. */
#include "encode/gzip.h"

#include <errno.h>
#include <string.h>

#define LEVEL	   6
#define FAST_LEVEL 1
#define WINDOW	   (15 + 16) /* adding 16 makes zlib write gzip's header */
#define MEM_LEVEL  8

static int init(struct gzip *gzip, FILE *stream, int level)
{
	memset(&gzip->z, 0, sizeof(gzip->z));
	gzip->stream = stream;
	gzip->err = 0;
	gzip->pending = 0;
	return deflateInit2(&gzip->z, level, Z_DEFLATED, WINDOW, MEM_LEVEL, Z_DEFAULT_STRATEGY) ==
			       Z_OK
		       ? 0
		       : -ENOMEM;
}

int gzip_init(struct gzip *gzip, FILE *stream)
{
	return init(gzip, stream, LEVEL);
}

int gzip_init_fast(struct gzip *gzip, FILE *stream)
{
	return init(gzip, stream, FAST_LEVEL);
}

static void deflate_pending(struct gzip *gzip, int flush)
{
	gzip->z.next_in = gzip->in;
	gzip->z.avail_in = (uInt)gzip->pending;
	gzip->pending = 0;
	do {
		size_t len;

		gzip->z.next_out = gzip->out;
		gzip->z.avail_out = sizeof(gzip->out);
		deflate(&gzip->z, flush);
		len = sizeof(gzip->out) - gzip->z.avail_out;
		errno = 0;
		if (!gzip->err && fwrite(gzip->out, 1, len, gzip->stream) != len)
			gzip->err = errno ? -errno : -EIO;
	} while (gzip->z.avail_out == 0 && !gzip->err);
}

void gzip_add(struct gzip *gzip, const void *data, size_t len)
{
	const unsigned char *from = data;

	while (len > 0 && !gzip->err) {
		const size_t room = sizeof(gzip->in) - gzip->pending;
		const size_t part = len < room ? len : room;

		memcpy(gzip->in + gzip->pending, from, part);
		gzip->pending += part;
		from += part;
		len -= part;
		if (gzip->pending == sizeof(gzip->in))
			deflate_pending(gzip, Z_NO_FLUSH);
	}
}

int gzip_finish(struct gzip *gzip)
{
	if (!gzip->err)
		deflate_pending(gzip, Z_FINISH);
	return gzip->err;
}

void gzip_fini(struct gzip *gzip)
{
	deflateEnd(&gzip->z);
}
