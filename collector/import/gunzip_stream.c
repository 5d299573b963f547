// SPDX-License-Identifier: Apache-2.0
/* Inflates a chunk at a time, see gunzip_stream.h. */
#include "import/gunzip_stream.h"

#include <errno.h>
#include <string.h>

#define WINDOW (15 + 16) /* 16 asks for gzip's header and not zlib's */

int gunzip_stream_init(struct gunzip_stream *stream, struct lines *lines, uint64_t max)
{
	stream->lines = lines;
	memset(&stream->z, 0, sizeof(stream->z));
	stream->left = max;
	stream->err = 0;
	stream->is_ended = false;
	stream->at = 0;
	stream->end = 0;
	return inflateInit2(&stream->z, WINDOW) == Z_OK ? 0 : -ENOMEM;
}

void gunzip_stream_fini(struct gunzip_stream *stream)
{
	inflateEnd(&stream->z);
}

static int refill(struct gunzip_stream *stream)
{
	const char *data;
	size_t len;
	const int rc = lines_chunk(stream->lines, &data, &len);

	if (rc < 0)
		return rc;
	stream->z.next_in = (unsigned char *)(uintptr_t)data;
	stream->z.avail_in = (uInt)len;
	return len > 0 ? 0 : -EINVAL; /* the end is missing */
}

/* At least a byte more, or an error. */
static int inflate_some(struct gunzip_stream *stream)
{
	stream->at = 0;
	stream->end = 0;
	while (stream->end == 0) {
		int rc = 0;

		if (stream->is_ended)
			return -EINVAL;
		if (stream->z.avail_in == 0)
			rc = refill(stream);
		if (rc < 0)
			return rc;
		stream->z.next_out = stream->out;
		stream->z.avail_out = sizeof(stream->out);
		rc = inflate(&stream->z, Z_NO_FLUSH);
		if (rc == Z_MEM_ERROR)
			return -ENOMEM;
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			return -EINVAL;
		stream->is_ended = rc == Z_STREAM_END;
		stream->end = sizeof(stream->out) - stream->z.avail_out;
	}
	if (stream->end > stream->left)
		return -EFBIG;
	stream->left -= stream->end;
	return 0;
}

bool gunzip_stream_take(struct gunzip_stream *stream, void *to, uint64_t len)
{
	unsigned char *into = to;

	while (len > 0 && !stream->err) {
		const size_t there = stream->end - stream->at;
		const size_t part = len < there ? (size_t)len : there;

		if (part == 0) {
			stream->err = inflate_some(stream);
			continue;
		}
		if (into) {
			memcpy(into, stream->out + stream->at, part);
			into += part;
		}
		stream->at += part;
		len -= part;
	}
	return !stream->err;
}

bool gunzip_stream_at_end(struct gunzip_stream *stream)
{
	if (stream->err || stream->at < stream->end)
		return false;
	/* The checksum is read by one more step, in which nothing comes out. */
	return inflate_some(stream) < 0 && stream->is_ended;
}
