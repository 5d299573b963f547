// SPDX-License-Identifier: Apache-2.0
/* Reads back what maps/jitdump.h wrote, by the specification's offsets and not by its structs. */
#ifndef FG_TESTS_JITDUMP_READER_H
#define FG_TESTS_JITDUMP_READER_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#define JITDUMP_READER_MAX 64

struct jitdump_record {
	uint32_t id, total_size;
	uint64_t time_ns;
	const uint8_t *body; /* behind the prefix */
};

struct jitdump_reader {
	uint8_t *bytes;
	size_t size;
	struct jitdump_record records[JITDUMP_READER_MAX];
	size_t n_records;
};

uint32_t u32_at(const uint8_t *bytes, size_t offset);
uint64_t u64_at(const uint8_t *bytes, size_t offset);

/* Fails the test unless header and records are whole. The caller frees bytes. */
void jitdump_reader_read(struct jitdump_reader *reader, const char *dir);

/* Fails the test unless the record at i is a code load of all that, and its code those bytes. */
void check_load(const struct jitdump_reader *reader, size_t i, pid_t pid, uint64_t time_ns,
		const char *name, const void *addr, const void *code, size_t size);

#endif
