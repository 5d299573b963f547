// SPDX-License-Identifier: Apache-2.0
/* Keeps attributes and values of an agent's hello, see jvm_hello.h. */
#include "code/jvm_hello.h"

#include "base/utf8.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void jvm_hello_fini(struct jvm_hello *hello)
{
	arena_fini(&hello->texts);
	free(hello->attrs);
	free(hello->values);
	*hello = (struct jvm_hello){0};
}

/* Keeps a text of the hello record, cut to its limit. NULL: no memory. */
static const char *keep(struct jvm_hello *hello, struct wire_str s, uint64_t *bad_records)
{
	const size_t len = utf8_cut(s.data, s.len, JVM_MAX_TEXT_BYTES);

	*bad_records += len < s.len;
	return arena_copy(&hello->texts, s.data, len);
}

static size_t at_most(size_t n, size_t max)
{
	return n < max ? n : max;
}

int jvm_hello_set(struct jvm_hello *hello, const struct wire_hello *wire, uint64_t *bad_records)
{
	const size_t n_attrs = at_most(wire->n_attrs, JVM_MAX_ATTRS);
	const size_t n_values = at_most(wire->n_values, JVM_MAX_VALUES);
	struct wire_attr attr;
	struct wire_value value;
	size_t pos = 0;

	jvm_hello_fini(hello);
	*bad_records += (wire->n_attrs - n_attrs) + (wire->n_values - n_values);
	hello->attrs = calloc(n_attrs + 1, sizeof(*hello->attrs));
	hello->values = calloc(n_values + 1, sizeof(*hello->values));
	if (!hello->attrs || !hello->values)
		return -ENOMEM;
	while (hello->n_attrs < n_attrs && wire_hello_next_attr(wire, &pos, &attr))
		hello->attrs[hello->n_attrs++] =
			(struct jvm_attr){.key = keep(hello, attr.key, bad_records),
					  .text = keep(hello, attr.text, bad_records)};
	pos = 0;
	while (hello->n_values < n_values && wire_hello_next_value(wire, &pos, &value))
		hello->values[hello->n_values++] = (struct jvm_value){
			.key = keep(hello, value.key, bad_records), .value = value.value};
	return 0;
}

size_t jvm_hello_bytes(const struct jvm_hello *hello)
{
	return hello->texts.total_bytes + heap_bytes((hello->n_attrs + 1) * sizeof(*hello->attrs)) +
	       heap_bytes((hello->n_values + 1) * sizeof(*hello->values));
}

const char *jvm_hello_attr(const struct jvm_hello *hello, const char *key)
{
	for (size_t i = 0; i < hello->n_attrs; i++) {
		if (hello->attrs[i].key && strcmp(hello->attrs[i].key, key) == 0)
			return hello->attrs[i].text;
	}
	return NULL;
}

bool jvm_hello_value(const struct jvm_hello *hello, const char *key, int64_t *ret)
{
	for (size_t i = 0; i < hello->n_values; i++) {
		if (hello->values[i].key && strcmp(hello->values[i].key, key) == 0) {
			*ret = hello->values[i].value;
			return true;
		}
	}
	return false;
}
