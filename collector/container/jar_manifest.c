// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the manifest of a jar and the class in it, see jar_manifest.h. All numbers of the format
 * are little-endian.
 *
 *   end        0 signature 0x06054b50, 12 bytes of directory (u32), 16 its place (u32), 20 length
 *              of a comment (u16) that follows; 22 bytes
 *   entry      0 signature 0x02014b50, 10 method (u16), 20 packed bytes (u32), 28, 30, 32 lengths
 *              of name, extra and comment (u16), 42 place of the file (u32); 46 bytes, these three
 *   file       0 signature 0x04034b50, 26, 28 lengths of name and extra (u16); 30 bytes, these two,
 *              and then the packed bytes
 *
 * A script may stand before a jar that is run by itself. So the directory is where it ends at the
 * end record, and all places are as many bytes further on as that is away from its place.
 */
#include "container/jar_manifest.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MANIFEST "META-INF/MANIFEST.MF"

#define END_BYTES	22u
#define END_SIGNATURE	0x06054b50u
#define ENTRY_BYTES	46u
#define ENTRY_SIGNATURE 0x02014b50u
#define FILE_BYTES	30u
#define FILE_SIGNATURE	0x04034b50u
#define STORED		0u
#define DEFLATED	8u

#define COMMENT_MAX_BYTES   65535u
#define DIRECTORY_MAX_BYTES (16u << 20)
#define PACKED_MAX_BYTES    (1u << 20)
#define TEXT_MAX_BYTES	    (64u << 10) /* of a manifest; classes are at its begin */
#define LINE_MAX_BYTES	    1024u

/* ---- the manifest's text ---- */

/* What is read of the text, with its lines joined. */
struct line {
	char text[LINE_MAX_BYTES];
	size_t len;
};

static void take_value(const struct line *line, const char *name, char ret[JAR_CLASS_BYTES])
{
	const size_t n = strlen(name);
	size_t from = n + 1, to = line->len;

	if (line->len <= n || strncasecmp(line->text, name, n) != 0 || line->text[n] != ':')
		return;
	while (from < to && line->text[from] == ' ')
		from++;
	while (to > from && line->text[to - 1] == ' ')
		to--;
	if (to > from && to - from < JAR_CLASS_BYTES)
		utf8_clean(line->text + from, to - from, ret, JAR_CLASS_BYTES);
}

static void take_values(const struct line *line, char main_class[JAR_CLASS_BYTES],
			char start_class[JAR_CLASS_BYTES])
{
	take_value(line, "Main-Class", main_class);
	take_value(line, "Start-Class", start_class);
}

/* The length of the line without its end; *ret_next is where the next one begins. */
static size_t line_len(const char *text, size_t len, size_t *ret_next)
{
	size_t n = 0;

	while (n < len && text[n] != '\n' && text[n] != '\r')
		n++;
	*ret_next = n + (n < len) + (n + 1 < len && text[n] == '\r' && text[n + 1] == '\n');
	return n;
}

static void add(struct line *line, const char *text, size_t len)
{
	const size_t room = sizeof(line->text) - line->len;
	const size_t n = len < room ? len : room;

	memcpy(line->text + line->len, text, n);
	line->len += n;
}

int jar_manifest_parse(const char *text, size_t len, char ret[JAR_CLASS_BYTES])
{
	char main_class[JAR_CLASS_BYTES] = "", start_class[JAR_CLASS_BYTES] = "";
	struct line line = {.len = 0};
	size_t n, next;

	for (; len > 0; text += next, len -= next) {
		n = line_len(text, len, &next);
		if (n == 0)
			break;
		if (text[0] == ' ') {
			add(&line, text + 1, line.len > 0 ? n - 1 : 0);
			continue;
		}
		take_values(&line, main_class, start_class);
		line.len = 0;
		add(&line, text, n);
	}
	take_values(&line, main_class, start_class);
	if (!main_class[0])
		return -ENOENT;
	strcpy(ret, start_class[0] ? start_class : main_class);
	return 0;
}

/* ---- the zip file ---- */

static uint32_t u16_at(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
}

static uint32_t u32_at(const unsigned char *bytes)
{
	return u16_at(bytes) | u16_at(bytes + 2) << 16;
}

/* Reads exactly len bytes. */
static int read_at(int fd, void *bytes, size_t len, uint64_t at)
{
	const ssize_t n = file_read_at(fd, bytes, len, at);

	return n < 0 ? (int)n : (size_t)n < len ? -EBADMSG : 0;
}

struct directory {
	uint64_t at, bytes;
	uint64_t shift; /* of all places in the file */
};

static int find_directory(int fd, uint64_t size, struct directory *ret)
{
	const size_t len =
		size < END_BYTES + COMMENT_MAX_BYTES ? (size_t)size : END_BYTES + COMMENT_MAX_BYTES;
	_cleanup_free_ unsigned char *tail = malloc(len + 1);
	int err = tail ? read_at(fd, tail, len, size - len) : -ENOMEM;

	if (err)
		return err;
	for (size_t i = len < END_BYTES ? 0 : len - END_BYTES + 1; i > 0; i--) {
		const unsigned char *const end = tail + i - 1;
		const uint64_t at = size - len + (i - 1), place = u32_at(end + 16);

		if (u32_at(end) != END_SIGNATURE || u16_at(end + 20) > len - (i - 1) - END_BYTES)
			continue;
		ret->bytes = u32_at(end + 12);
		if (ret->bytes > at || place > at - ret->bytes)
			return -EBADMSG;
		ret->at = at - ret->bytes;
		ret->shift = ret->at - place;
		return ret->bytes > DIRECTORY_MAX_BYTES ? -E2BIG : 0;
	}
	return -EBADMSG;
}

/* The entry of the manifest; NULL: there is none. */
static const unsigned char *find_entry(const unsigned char *directory, size_t len)
{
	const size_t name_len = strlen(MANIFEST);
	size_t at = 0;

	while (len - at >= ENTRY_BYTES && u32_at(directory + at) == ENTRY_SIGNATURE) {
		const unsigned char *const entry = directory + at;
		const size_t name = u16_at(entry + 28);
		const size_t all = ENTRY_BYTES + name + u16_at(entry + 30) + u16_at(entry + 32);

		if (all > len - at)
			return NULL;
		if (name == name_len &&
		    strncasecmp((const char *)entry + ENTRY_BYTES, MANIFEST, name_len) == 0)
			return entry;
		at += all;
	}
	return NULL;
}

/* Unpacks the begin of the text. Returns its length, or negative errno. */
static ssize_t unpack(unsigned char *packed, size_t len, char *ret, size_t size)
{
	z_stream stream = {.next_in = packed,
			   .avail_in = (unsigned)len,
			   .next_out = (unsigned char *)ret,
			   .avail_out = (unsigned)size};
	int rc;

	if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
		return -ENOMEM;
	rc = inflate(&stream, Z_SYNC_FLUSH);
	inflateEnd(&stream);
	if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
		return -EBADMSG;
	return (ssize_t)(size - stream.avail_out);
}

/* The length of the lines that are whole, where the text may go on behind the buffer. */
static size_t whole_lines(const char *text, size_t len)
{
	if (len < TEXT_MAX_BYTES)
		return len;
	while (len > 0 && text[len - 1] != '\n')
		len--;
	return len;
}

static int read_manifest(int fd, uint64_t at, const unsigned char *entry, char ret[JAR_CLASS_BYTES])
{
	const uint32_t method = u16_at(entry + 10), packed_bytes = u32_at(entry + 20);
	_cleanup_free_ unsigned char *packed = NULL;
	_cleanup_free_ char *text = malloc(TEXT_MAX_BYTES);
	unsigned char head[FILE_BYTES];
	ssize_t len;
	int err = read_at(fd, head, sizeof(head), at);

	if (err)
		return err;
	if (u32_at(head) != FILE_SIGNATURE || (method != STORED && method != DEFLATED))
		return -EBADMSG;
	if (packed_bytes > PACKED_MAX_BYTES)
		return -E2BIG;
	packed = malloc(packed_bytes + 1);
	if (!packed || !text)
		return -ENOMEM;
	err = read_at(fd, packed, packed_bytes,
		      at + FILE_BYTES + u16_at(head + 26) + u16_at(head + 28));
	if (err)
		return err;
	if (method == STORED)
		return jar_manifest_parse((const char *)packed, packed_bytes, ret);
	len = unpack(packed, packed_bytes, text, TEXT_MAX_BYTES);
	return len < 0 ? (int)len : jar_manifest_parse(text, whole_lines(text, (size_t)len), ret);
}

int jar_manifest_read(int fd, char ret[JAR_CLASS_BYTES])
{
	_cleanup_free_ unsigned char *bytes = NULL;
	struct directory directory;
	const unsigned char *entry;
	struct stat st;
	int err = fstat(fd, &st) < 0 ? -errno : 0;

	if (!err)
		err = st.st_size < 0 ? -EBADMSG
				     : find_directory(fd, (uint64_t)st.st_size, &directory);
	if (err)
		return err;
	bytes = malloc(directory.bytes + 1);
	err = bytes ? read_at(fd, bytes, directory.bytes, directory.at) : -ENOMEM;
	if (err)
		return err;
	entry = find_entry(bytes, directory.bytes);
	return entry ? read_manifest(fd, directory.shift + u32_at(entry + 42), entry, ret)
		     : -ENOENT;
}
