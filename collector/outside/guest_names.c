// SPDX-License-Identifier: Apache-2.0
/* Looks for names at the end of data, see guest_names.h. */
#include "outside/guest_names.h"

#include "base/unaligned.h"

#include <string.h>

#define WORD	  8
#define HEAD_MIN  16 /* JDK 17: a number, a bool, a pointer */
#define HEAD_MAX  24 /* JDK 21: a bool, two numbers, a pointer */
#define MAX_INDEX (1 << 24)
#define MAX_ADDR  (UINT64_C(1) << 56)

static bool is_number(const uint8_t *bytes)
{
	return unaligned_i32(bytes, 0) >= -1 && unaligned_i32(bytes, 0) < MAX_INDEX;
}

/* Whether the bytes in front of a name are those of a JVMCINMethodData that has one. */
static bool is_head(const uint8_t *name, size_t before)
{
	uint64_t pointer;

	if (before < HEAD_MIN)
		return false;
	memcpy(&pointer, name - WORD, sizeof(pointer));
	if (pointer % WORD != 0 || pointer >= MAX_ADDR)
		return false;
	if (is_number(name - HEAD_MIN) && name[-12] == 1)
		return true;
	return before >= HEAD_MAX && name[-HEAD_MAX] == 1 && is_number(name - 20) &&
	       is_number(name - HEAD_MIN);
}

static bool is_text(uint8_t c)
{
	return c >= ' ' && c != 0x7f;
}

/* The length without a number that says which compilation this is. */
static size_t without_number(const uint8_t *name, size_t len)
{
	size_t end = len;

	while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end > 1 && end < len && name[end - 1] == '#' ? end - 1 : len;
}

bool guest_names_decode(const uint8_t *tail, size_t len, char *ret)
{
	size_t end = len;

	while (end > 0 && len - end < WORD && tail[end - 1] == 0)
		end--;
	if (end == len || end == 0 || len % WORD != 0)
		return false;
	/* The name begins at a whole word, because a pointer is in front of it. */
	for (size_t from = end; from-- > 0 && is_text(tail[from]);) {
		if (from % WORD != 0 || !is_head(tail + from, from))
			continue;
		end = from + without_number(tail + from, end - from);
		memcpy(ret, tail + from, end - from);
		ret[end - from] = '\0';
		return true;
	}
	return false;
}

static bool is_of_truffle(const struct named_method *method)
{
	static const char *const packages[] = {"com/oracle/truffle/",
					       "org/graalvm/compiler/truffle/"};

	for (size_t i = 0; i < sizeof(packages) / sizeof(*packages); i++) {
		const size_t len = strlen(packages[i]);

		if (method->class_name.len > len &&
		    memcmp(method->class_name.data, packages[i], len) == 0)
			return true;
	}
	return false;
}

/* How much of the end of a blob's data is read: whole words. 0: nothing. */
static uint32_t tail_bytes(const struct code_blob *blob, const struct named_method *method)
{
	const uint32_t bytes =
		blob->data_size < GUEST_NAME_BYTES ? blob->data_size : GUEST_NAME_BYTES;

	if (blob->kind != BLOB_NMETHOD || !method || !method->is_named || !is_of_truffle(method) ||
	    blob->data_end % WORD != 0)
		return 0;
	return bytes / WORD * WORD;
}

void guest_names_read(struct guest_names *guests, struct vm_memory *memory,
		      const struct method_names *methods, const struct code_blob *blobs, size_t n)
{
	uint16_t owners[GUEST_NAMES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		const uint32_t bytes =
			tail_bytes(&blobs[i], method_names_find(methods, blobs[i].method));

		guests->names[i][0] = '\0';
		if (bytes == 0)
			continue;
		owners[count] = (uint16_t)i;
		guests->pieces[count] = (struct vm_piece){.addr = blobs[i].data_end - bytes,
							  .into = guests->tails[count],
							  .len = bytes};
		count++;
	}
	vm_memory_gather(memory, guests->pieces, count);
	for (size_t i = 0; i < count; i++) {
		if (guests->pieces[i].is_read)
			guest_names_decode(guests->tails[i], guests->pieces[i].len,
					   guests->names[owners[i]]);
	}
}
