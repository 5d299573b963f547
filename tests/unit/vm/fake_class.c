// SPDX-License-Identifier: Apache-2.0
/* Lays out classes in a block of memory, see fake_class.h. */
#include "fake_class.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define POOL_BYTES 24

static ssize_t read_fake(void *arg, const struct iovec *to, const struct iovec *from,
			 unsigned long n)
{
	const struct fake_class *const fake = arg;
	ssize_t got = 0;

	for (unsigned long i = 0; i < n; i++) {
		const uint64_t addr = (uint64_t)(uintptr_t)from[i].iov_base;
		const size_t len = from[i].iov_len;

		if (addr < FAKE_CLASS_BASE || addr - FAKE_CLASS_BASE > FAKE_CLASS_BYTES ||
		    len > FAKE_CLASS_BYTES - (addr - FAKE_CLASS_BASE))
			return got > 0 ? got : -EFAULT;
		memcpy(to[i].iov_base, fake->bytes + (addr - FAKE_CLASS_BASE), len);
		got += (ssize_t)len;
	}
	return got;
}

void fake_class_init(struct fake_class *fake)
{
	fake->memory = (struct vm_memory){.read = read_fake, .arg = fake, .max_bytes = 1u << 24};
	memset(fake->bytes, 0, sizeof(fake->bytes));
	fake->used = 0;
}

uint64_t fake_class_take(struct fake_class *fake, size_t bytes)
{
	const uint64_t addr = FAKE_CLASS_BASE + fake->used;

	fake->used += (bytes + 7) / 8 * 8;
	assert_true(fake->used <= FAKE_CLASS_BYTES);
	return addr;
}

void fake_class_set(struct fake_class *fake, uint64_t addr, const void *from, size_t len)
{
	assert_true(addr >= FAKE_CLASS_BASE && addr - FAKE_CLASS_BASE + len <= FAKE_CLASS_BYTES);
	memcpy(fake->bytes + (addr - FAKE_CLASS_BASE), from, len);
}

void fake_class_set_u64(struct fake_class *fake, uint64_t addr, uint64_t value)
{
	fake_class_set(fake, addr, &value, sizeof(value));
}

void fake_class_set_u32(struct fake_class *fake, uint64_t addr, uint32_t value)
{
	fake_class_set(fake, addr, &value, sizeof(value));
}

struct java_fields_layout fake_class_layout(bool is_stream)
{
	return (struct java_fields_layout){.is_stream = is_stream,
					   .fields = 8,
					   .constants = 16,
					   .count = 24,
					   .array_len = 4,
					   .array_data = 8,
					   .pool_bytes = POOL_BYTES,
					   .pool_len = 12,
					   .symbol_len = 2,
					   .symbol_body = 6};
}

static uint64_t add_symbol(struct fake_class *fake, const char *text)
{
	const uint16_t len = (uint16_t)strlen(text);
	const uint64_t addr = fake_class_take(fake, 6u + len);

	fake_class_set(fake, addr + 2, &len, sizeof(len));
	fake_class_set(fake, addr + 6, text, len);
	return addr;
}

/* Each number is one byte here, which is one more than the number. */
static size_t put_stream(const struct fake_class_field *fields, size_t n, uint8_t *ret)
{
	size_t len = 0;

	ret[len++] = (uint8_t)(n + 1);
	ret[len++] = 3 + 1; /* fields of the JVM's own, which are not read */
	for (size_t i = 0; i < n; i++) {
		ret[len++] = (uint8_t)(2 * i + 1 + 1);
		ret[len++] = (uint8_t)(2 * i + 2 + 1);
		ret[len++] = (uint8_t)(fields[i].at + 1);
		ret[len++] = fields[i].is_static ? 8 + 1 : 2 + 1;
		ret[len++] = fields[i].has_more ? 0x15 + 1 : 0 + 1;
		for (int more = 0; fields[i].has_more && more < 3; more++)
			ret[len++] = 100;
	}
	return len;
}

/* A field without a place has an initial value there; types stand behind the fields. */
static size_t put_slots(const struct fake_class_field *fields, size_t n, uint8_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		const uint16_t slots[] = {
			fields[i].is_static ? 8 : 2,
			(uint16_t)(2 * i + 1),
			(uint16_t)(2 * i + 2),
			0,
			(uint16_t)(fields[i].at << 2 | (fields[i].has_more ? 0 : 1)),
			0,
		};

		memcpy(ret + i * sizeof(slots), slots, sizeof(slots));
	}
	memset(ret + n * 12, 0x77, 24);
	return n * 12 + 24;
}

uint64_t fake_class_add(struct fake_class *fake, bool is_stream,
			const struct fake_class_field *fields, size_t n)
{
	uint8_t bytes[512];
	const uint16_t count = (uint16_t)n;
	const size_t len = is_stream ? put_stream(fields, n, bytes) : put_slots(fields, n, bytes);
	const uint64_t klass = fake_class_take(fake, 32);
	const uint64_t array = fake_class_take(fake, 8 + len);
	const uint64_t pool = fake_class_take(fake, POOL_BYTES + (2 * n + 1) * 8);

	fake_class_set_u32(fake, array + 4, (uint32_t)(is_stream ? len : len / 2));
	fake_class_set(fake, array + 8, bytes, len);
	fake_class_set_u32(fake, pool + 12, (uint32_t)(2 * n + 1));
	for (size_t i = 0; i < n; i++) {
		fake_class_set_u64(fake, pool + POOL_BYTES + (2 * i + 1) * 8,
				   add_symbol(fake, fields[i].name));
		fake_class_set_u64(fake, pool + POOL_BYTES + (2 * i + 2) * 8,
				   add_symbol(fake, fields[i].type));
	}
	fake_class_set_u64(fake, klass + 8, array);
	fake_class_set_u64(fake, klass + 16, pool);
	fake_class_set(fake, klass + 24, &count, sizeof(count));
	return klass;
}
