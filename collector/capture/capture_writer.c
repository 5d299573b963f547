// SPDX-License-Identifier: Apache-2.0
/* Writes the records of a capture. Each fact is written once. See capture_writer.h. */
#include "capture/capture_writer.h"

#include "base/hash.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define HASH_PURPOSE UINT64_C(0x63617074757265)
#define END_BYTES    65536u	/* room kept for the last record */
#define MAX_FACTS    (1u << 20) /* past this limit all are forgotten, and may be written again */

int capture_writer_init(struct capture_writer *writer, FILE *stream)
{
	static const char start[] = {CAPTURE_MAGIC "\1"};

	*writer = (struct capture_writer){.seed = quick_hash_seed(HASH_PURPOSE)};
	static_assert(CAPTURE_VERSION == 1, "the byte behind the magic");
	writer->err = compressor_init(&writer->compressor, COMPRESSION_GZIP_FAST, stream);
	if (writer->err)
		return writer->err;
	compressor_add(&writer->compressor, start, sizeof(start) - 1);
	writer->bytes = sizeof(start) - 1;
	return 0;
}

static void write_record(struct capture_writer *writer, enum capture_kind kind,
			 struct bytes *fields)
{
	unsigned char head[12];
	size_t n = 0;
	uint64_t len = fields->len;

	head[n++] = (unsigned char)kind;
	for (; len >= 0x80; len >>= 7)
		head[n++] = (unsigned char)(0x80 | (len & 0x7f));
	head[n++] = (unsigned char)len;
	compressor_add(&writer->compressor, head, n);
	compressor_add(&writer->compressor, fields->data, fields->len);
	writer->bytes += n + fields->len;
	writer->records++;
	fields->len = 0;
}

bool capture_write(struct capture_writer *writer, enum capture_kind kind, struct bytes *fields)
{
	if (fields->failed)
		writer->err = writer->err ? writer->err : -ENOMEM;
	writer->is_full |= writer->bytes + fields->len + END_BYTES > CAPTURE_MAX_BYTES ||
			   writer->records + 1 >= CAPTURE_MAX_RECORDS;
	if (writer->err || writer->is_full) {
		fields->len = 0;
		return false;
	}
	write_record(writer, kind, fields);
	return true;
}

static uint64_t hash_of(const struct capture_writer *writer, enum capture_kind kind,
			const struct bytes *fields)
{
	const uint64_t hash = quick_hash_text(writer->seed, fields->data, fields->len);

	return quick_hash_mix(writer->seed, hash, kind) | 1; /* no value in a map is NULL */
}

bool capture_write_change(struct capture_writer *writer, enum capture_kind kind, uint64_t key,
			  struct bytes *fields)
{
	void *const hash = (void *)(uintptr_t)hash_of(writer, kind, fields);
	const uint64_t place = quick_hash_mix(writer->seed, key, kind);

	if (map64_find(&writer->last, place) == hash) {
		fields->len = 0;
		return true;
	}
	if (writer->last.count >= MAX_FACTS)
		map64_fini(&writer->last);
	(void)map64_put(&writer->last, place, hash);
	return capture_write(writer, kind, fields);
}

bool capture_write_fact(struct capture_writer *writer, enum capture_kind kind, struct bytes *fields)
{
	const uint64_t hash = hash_of(writer, kind, fields);

	if (map64_find(&writer->facts, hash)) {
		fields->len = 0;
		return true;
	}
	if (writer->facts.count >= MAX_FACTS)
		map64_fini(&writer->facts);
	/* Without memory the fact may be written again. */
	(void)map64_put(&writer->facts, hash, writer);
	return capture_write(writer, kind, fields);
}

int capture_writer_end(struct capture_writer *writer, enum capture_kind kind, struct bytes *fields)
{
	int err;

	if (fields->failed)
		writer->err = writer->err ? writer->err : -ENOMEM;
	if (!writer->err)
		write_record(writer, kind, fields);
	err = compressor_finish(&writer->compressor);
	return writer->err ? writer->err : err;
}

void capture_writer_fini(struct capture_writer *writer)
{
	compressor_fini(&writer->compressor);
	map64_fini(&writer->facts);
	map64_fini(&writer->last);
}
