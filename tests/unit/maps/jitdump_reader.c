// SPDX-License-Identifier: Apache-2.0
/* See jitdump_reader.h. */
#include "jitdump_reader.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

uint32_t u32_at(const uint8_t *bytes, size_t offset)
{
	uint32_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

uint64_t u64_at(const uint8_t *bytes, size_t offset)
{
	uint64_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

void jitdump_reader_read(struct jitdump_reader *reader, const char *dir)
{
	char path[128], *text;
	ssize_t size;
	size_t at = 40;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, (int)getpid());
	size = file_read_whole(path, 64u << 20, &text);
	assert_true(size >= 40);
	*reader = (struct jitdump_reader){.bytes = (uint8_t *)text, .size = (size_t)size};
	while (at < reader->size) {
		struct jitdump_record *record = &reader->records[reader->n_records++];

		assert_true(reader->n_records <= JITDUMP_READER_MAX);
		assert_true(reader->size - at >= 16);
		record->id = u32_at(reader->bytes, at);
		record->total_size = u32_at(reader->bytes, at + 4);
		record->time_ns = u64_at(reader->bytes, at + 8);
		record->body = reader->bytes + at + 16;
		assert_in_range(record->total_size, 16, reader->size - at);
		at += record->total_size;
	}
}

void check_load(const struct jitdump_reader *reader, size_t i, pid_t pid, uint64_t time_ns,
		const char *name, const void *addr, const void *code, size_t size)
{
	const struct jitdump_record *record = &reader->records[i];
	const size_t name_bytes = strlen(name) + 1;

	assert_true(i < reader->n_records);
	assert_int_equal(record->id, 0);
	assert_int_equal(record->time_ns, time_ns);
	assert_int_equal(record->total_size, 56 + name_bytes + size);
	assert_int_equal(u32_at(record->body, 0), pid);
	assert_int_equal(u32_at(record->body, 4), pid);
	assert_int_equal(u64_at(record->body, 8), (uintptr_t)addr);
	assert_int_equal(u64_at(record->body, 16), (uintptr_t)addr);
	assert_int_equal(u64_at(record->body, 24), size);
	assert_string_equal(record->body + 40, name);
	assert_memory_equal(record->body + 40 + name_bytes, code, size);
}
