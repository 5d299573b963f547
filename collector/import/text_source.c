// SPDX-License-Identifier: Apache-2.0
/*
 * The bytes of a text, see text_source.h. Two layers lie over read(2), and each may be absent: what
 * unpacks, and what makes UTF-8 of UTF-16. The first bytes of the file and of the text are read
 * ahead.
 */
#include "import/text_source.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RAW_BYTES  65536u
#define WIDE_BYTES 8192u
#define MARK_BYTES 3u
#define BAD	   0xfffdu
#define UTF8_MOST  4u

/* Bytes that were read ahead. */
struct ahead {
	char bytes[8];
	size_t len, at;
};

struct text_source {
	int fd;
	bool is_begun, is_wide, is_big_endian;
	struct ahead file, text;
	struct decompressor *zip; /* NULL: the file is not packed */
	const char *reason;
	uint32_t high; /* the first half of a surrogate pair; 0: none */
	char raw[RAW_BYTES];
	char wide[WIDE_BYTES];
	size_t wide_len; /* bytes of wide that are left of the time before: half a unit, or none */
};

struct text_source *text_source_new(int fd)
{
	struct text_source *const source = malloc(sizeof(*source));

	if (source) {
		memset(source, 0, offsetof(struct text_source, raw));
		source->wide_len = 0;
		source->fd = fd;
	}
	return source;
}

void text_source_free(struct text_source *source)
{
	if (!source)
		return;
	if (source->zip)
		decompressor_fini(source->zip);
	free(source->zip);
	free(source);
}

const char *text_source_reason(const struct text_source *source)
{
	return source->reason;
}

/* Gives what was read ahead; whether there was something. */
static bool take_ahead(struct ahead *ahead, char *to, size_t size, size_t *ret_len)
{
	const size_t there = ahead->len - ahead->at;

	*ret_len = size < there ? size : there;
	memcpy(to, ahead->bytes + ahead->at, *ret_len);
	ahead->at += *ret_len;
	return there > 0;
}

static int read_file(struct text_source *source, char *to, size_t size, size_t *ret_len)
{
	ssize_t n;

	if (take_ahead(&source->file, to, size, ret_len))
		return 0;
	do
		n = read(source->fd, to, size);
	while (n < 0 && errno == EINTR);
	*ret_len = n < 0 ? 0 : (size_t)n;
	return n < 0 ? -errno : 0;
}

static int next_of_file(void *arg, const char **ret, size_t *ret_len)
{
	struct text_source *const source = arg;

	*ret = source->raw;
	return read_file(source, source->raw, sizeof(source->raw), ret_len);
}

static int read_packed(struct text_source *source, char *to, size_t size, size_t *ret_len)
{
	static const char *const cut[] = {
		[DECOMPRESSOR_GZIP] = "its gzip is cut or damaged",
		[DECOMPRESSOR_XZ] = "its xz is cut or damaged",
		[DECOMPRESSOR_ZSTD] = ("its zstd is cut or damaged, or has a window of more than "
				       "128 MiB: give it through 'zstdcat --long=31 FILE |'"),
	};
	const int rc = decompressor_read(source->zip, to, size, ret_len);

	if (rc == -EINVAL)
		source->reason = cut[source->zip->form];
	if (rc == -EFBIG)
		source->reason = "its xz takes more than 128 MiB of memory: give it through "
				 "'xzcat FILE |'";
	return rc == -EFBIG ? -EINVAL : rc;
}

static int read_bytes(struct text_source *source, char *to, size_t size, size_t *ret_len)
{
	if (take_ahead(&source->text, to, size, ret_len))
		return 0;
	return source->zip ? read_packed(source, to, size, ret_len)
			   : read_file(source, to, size, ret_len);
}

static int begin_packed(struct text_source *source, enum decompressor_form form)
{
	const struct decompressor_source file = {.next = next_of_file, .arg = source};
	int rc;

	source->zip = malloc(sizeof(*source->zip));
	if (!source->zip)
		return -ENOMEM;
	rc = decompressor_init_file(source->zip, form, &file);
	if (rc != -ENOTSUP)
		return rc;
	source->reason = "this is compressed by zstd, and libzstd.so.1 is not here: install it, or "
			 "give the file through 'zstdcat FILE |'";
	return -EINVAL;
}

typedef int read_fn(struct text_source *source, char *to, size_t size, size_t *ret_len);

static int look_ahead(struct text_source *source, read_fn *read, struct ahead *ahead, size_t want)
{
	struct ahead found = {.len = 0};
	size_t n = 1;
	int rc = 0;

	for (; rc == 0 && n > 0 && found.len < want; found.len += n)
		rc = read(source, found.bytes + found.len, want - found.len, &n);
	*ahead = found;
	return rc;
}

/* Finds out what the file is packed and encoded in. */
static int begin(struct text_source *source)
{
	enum decompressor_form form;
	int rc = look_ahead(source, read_file, &source->file, DECOMPRESSOR_LOOK);

	source->is_begun = true;
	if (rc == 0 && decompressor_form_of(source->file.bytes, source->file.len, &form))
		rc = begin_packed(source, form);
	if (rc == 0)
		rc = look_ahead(source, read_bytes, &source->text, MARK_BYTES);
	if (rc < 0)
		return rc;
	if (source->text.len >= 3 && memcmp(source->text.bytes, "\xef\xbb\xbf", 3) == 0)
		source->text.at = 3;
	source->is_big_endian =
		source->text.len >= 2 && memcmp(source->text.bytes, "\xfe\xff", 2) == 0;
	source->is_wide = source->is_big_endian ||
			  (source->text.len >= 2 && memcmp(source->text.bytes, "\xff\xfe", 2) == 0);
	if (source->is_wide)
		source->text.at = 2;
	return 0;
}

static size_t put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 0x3f));
	to[2] = (char)(0x80 | (code >> 6 & 0x3f));
	to[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/* Adds a unit of 16 bits. A half of a pair alone is no character. */
static size_t put_unit(struct text_source *source, uint32_t unit, char *to)
{
	const uint32_t high = source->high;
	size_t n = 0;

	source->high = 0;
	if (high && unit >= 0xdc00 && unit < 0xe000)
		return put_utf8(to, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
	if (high)
		n = put_utf8(to, BAD);
	if (unit >= 0xd800 && unit < 0xdc00) {
		source->high = unit;
		return n;
	}
	return n + put_utf8(to + n, unit >= 0xdc00 && unit < 0xe000 ? BAD : unit);
}

/* Reads some units, of which each gives at most two characters of three bytes. */
static int read_wide(struct text_source *source, char *to, size_t size, size_t *ret_len)
{
	const size_t room = size / (2 * UTF8_MOST) * 2;
	const size_t most = room < sizeof(source->wide) ? room : sizeof(source->wide);
	unsigned char *const wide = (unsigned char *)source->wide;
	size_t n = 1, len = 0, at = 0;
	int rc = 0;

	while (rc == 0 && n > 0 && len == 0) {
		rc = read_bytes(source, source->wide + source->wide_len, most - source->wide_len,
				&n);
		source->wide_len += rc == 0 ? n : 0;
		for (at = 0; at + 2 <= source->wide_len; at += 2)
			len += put_unit(source,
					source->is_big_endian
						? (uint32_t)wide[at] << 8 | wide[at + 1]
						: (uint32_t)wide[at + 1] << 8 | wide[at],
					to + len);
		if (at < source->wide_len)
			source->wide[0] = source->wide[at];
		source->wide_len -= at;
	}
	*ret_len = len;
	return rc;
}

int text_source_read(struct text_source *source, char *to, size_t size, size_t *ret_len)
{
	const int rc = source->is_begun ? 0 : begin(source);

	*ret_len = 0;
	if (rc < 0)
		return rc;
	return source->is_wide ? read_wide(source, to, size, ret_len)
			       : read_bytes(source, to, size, ret_len);
}
