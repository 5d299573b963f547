// SPDX-License-Identifier: Apache-2.0
/*
 * What is in a gzip file, see gunzip.h: members of 1f 8b 08 .., each deflated bytes and their sum.
 */
#include "import/gunzip.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#define WINDOW	   (15 + 16) /* 16 asks for gzip's header and not zlib's */
#define FIRST_SIZE 65536

struct output {
	unsigned char *data;
	size_t len;
	size_t size;
	size_t max;
};

bool gunzip_is_gzip(const void *data, size_t len)
{
	return len >= 3 && memcmp(data, "\x1f\x8b\x08", 3) == 0;
}

static int grow(struct output *output)
{
	size_t size = output->size ? output->size * 2 : FIRST_SIZE;
	unsigned char *data;

	if (output->size > output->max)
		return -EFBIG;
	if (size > output->max)
		size = output->max + 1; /* a byte more, by which too much is seen */
	data = realloc(output->data, size);
	if (!data)
		return -ENOMEM;
	output->data = data;
	output->size = size;
	return 0;
}

static unsigned at_most_uint(size_t n)
{
	return n < UINT_MAX ? (unsigned)n : UINT_MAX;
}

/* One step of inflate; 1 at the end of all members. */
static int step(z_stream *z, size_t *left, struct output *output)
{
	const unsigned in = at_most_uint(*left);
	const unsigned out = at_most_uint(output->size - output->len);
	int rc;

	z->avail_in = in;
	z->avail_out = out;
	z->next_out = output->data + output->len;
	rc = inflate(z, Z_NO_FLUSH);
	*left -= in - z->avail_in;
	output->len += out - z->avail_out;
	if (rc == Z_MEM_ERROR)
		return -ENOMEM;
	if (rc == Z_STREAM_END)
		return *left == 0 ? 1 : inflateReset(z) == Z_OK ? 0 : -EINVAL;
	if (rc != Z_OK && rc != Z_BUF_ERROR)
		return -EINVAL;
	/* Nothing left to read, and it had room to write: the end is missing. */
	return *left == 0 && z->avail_out > 0 ? -EINVAL : 0;
}

int gunzip(const void *data, size_t len, size_t max, unsigned char **ret, size_t *ret_len)
{
	struct output output = {.max = max};
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)data};
	int rc = inflateInit2(&z, WINDOW) == Z_OK ? 0 : -ENOMEM;

	if (rc < 0)
		return rc;
	while (rc == 0) {
		if (output.len == output.size)
			rc = grow(&output);
		if (rc == 0)
			rc = step(&z, &len, &output);
	}
	inflateEnd(&z);
	if (rc > 0 && output.len > max)
		rc = -EFBIG;
	if (rc < 0) {
		free(output.data);
		return rc;
	}
	*ret = output.data;
	*ret_len = output.len;
	return 0;
}
