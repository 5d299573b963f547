// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of methods in a JVM's memory. The memory is the input, over and over through the whole
 * address space, with a page in 64 missing, so that each pointer leads to bytes that the input has
 * chosen. It may change under the reader, at the read that the first byte says. The second and the
 * third byte change one member of the layout.
 *
 * Whatever the memory holds: the reads are few and short, no byte outside of the reader's own
 * memory is written, and the names are the bytes at the symbols' addresses. If the memory stands
 * still, its fingerprint is the one that the method was read with.
 */
#include "fuzzer.h"
#include "jvm_keys.h"

#include "code/line_table.h"
#include "code/method_reader.h"
#include "memory/process_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PID	      1
#define MAX_READS     10 /* as method_reader.h promises */
#define MAX_BYTES     (32u << 10)
#define LOWEST_ADDR   4096
#define MISSING_PAGE  37
#define LEAST_SIZE    64
#define NEVER_CHANGES 0x80

static struct {
	const uint8_t *bytes;
	size_t size;
	unsigned reads, changes_at;
	size_t bytes_read;
} memory;

static bool is_missing(uint64_t addr)
{
	return addr < LOWEST_ADDR || addr >= UINT64_C(1) << 57 || (addr >> 12) % 64 == MISSING_PAGE;
}

static uint8_t byte_at(uint64_t addr)
{
	return memory.bytes[addr % memory.size] ^ (memory.reads > memory.changes_at ? 0x15 : 0);
}

static ssize_t read_memory(void *arg, pid_t pid, const struct iovec *to, const struct iovec *from,
			   unsigned long n)
{
	size_t got = 0;

	(void)arg;
	memory.reads++;
	if (pid != PID || memory.reads > MAX_READS)
		abort();
	for (unsigned long i = 0; i < n; i++) {
		const uint64_t addr = (uint64_t)(uintptr_t)from[i].iov_base;

		if (to[i].iov_len != from[i].iov_len || to[i].iov_len == 0 ||
		    (memory.bytes_read += to[i].iov_len) > MAX_BYTES)
			abort();
		for (size_t at = 0; at < to[i].iov_len; at++) {
			if (is_missing(addr + at))
				return got ? (ssize_t)got : -EFAULT;
			((uint8_t *)to[i].iov_base)[at] = byte_at(addr + at);
			got++;
		}
	}
	return (ssize_t)got;
}

static void make_layout(uint8_t which, uint8_t value, struct vm_layout *ret)
{
	struct jvm_value values[JVM_KEYS_USUAL];
	const struct jvm_hello hello = {.values = values, .n_values = JVM_KEYS_USUAL};

	for (size_t i = 0; i < JVM_KEYS_USUAL; i++)
		values[i] = (struct jvm_value){jvm_keys[i].key, jvm_keys[i].value};
	if (which < JVM_KEYS_USUAL)
		values[which].value = value;
	vm_layout_init(ret, &hello);
}

static void check_text(const struct vm_layout *layout, const struct method_facts *facts, int i)
{
	const struct method_text *const text = &facts->texts[i];
	const uint64_t body = facts->places.symbols[i] + layout->symbol_body;

	if (text->len != facts->places.lens[i])
		abort();
	for (uint16_t at = 0; at < text->len; at++) {
		if ((uint8_t)text->bytes[at] != byte_at(body + at))
			abort();
	}
}

static void check_facts(const struct vm_layout *layout, const struct method_facts *facts,
			bool is_still)
{
	const struct line_table lines = {.bytes = facts->lines,
					 .len = facts->lines_len,
					 .is_biased = layout->lines_are_biased};
	uint64_t fingerprint;

	for (int i = 0; i < METHOD_ALL_TEXTS; i++) {
		if (facts->texts[i].len > METHOD_TEXT_MAX_BYTES)
			abort();
	}
	if (facts->texts[METHOD_SIGNATURE].bytes[0] != '(' ||
	    facts->lines_len > METHOD_LINES_MAX_BYTES || facts->code_bytes > UINT16_MAX ||
	    line_table_bytes(&lines) != facts->lines_len)
		abort();
	memory.reads = 0;
	memory.bytes_read = 0;
	if (!is_still)
		return;
	for (int i = 0; i < METHOD_TEXTS; i++)
		check_text(layout, facts, i);
	if (method_reader_fingerprint(PID, layout, &facts->places, &fingerprint) < 0 ||
	    memory.reads != 1 || fingerprint != facts->fingerprint)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct process_memory_source source = {.read = read_memory};
	struct method_facts *facts;
	struct vm_layout layout;
	uint64_t addr;
	int err;

	if (size < 3 + LEAST_SIZE)
		return 0;
	facts = malloc(sizeof(*facts)); /* so that a write beyond it is seen */
	if (!facts)
		return 0;
	memset(&memory, 0, sizeof(memory));
	memory.changes_at = data[0] & NEVER_CHANGES ? UINT32_MAX : data[0] % MAX_READS;
	make_layout(data[1], data[2], &layout);
	memory.bytes = data + 3;
	memory.size = size - 3;
	memcpy(&addr, memory.bytes, sizeof(addr));
	process_memory_use(&source);
	if (vm_layout_has_methods(&layout)) {
		err = method_reader_read(PID, &layout, addr, facts);
		if (err == 0)
			check_facts(&layout, facts, memory.changes_at == UINT32_MAX);
		else if (err != -EFAULT && err != -ENOENT)
			abort();
	}
	process_memory_use(NULL);
	free(facts);
	return 0;
}
