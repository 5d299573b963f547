// SPDX-License-Identifier: Apache-2.0
/*
 * The layout of HotSpot's structures, as a hello says it. The hello is HotSpot 17's with changes:
 * three bytes of the input choose a key and its value, which may be missing, small, or any.
 * Whatever a hello says, no offset may lead out of its structure.
 */
#include "fuzzer.h"
#include "jvm_keys.h"

#include "code/vm_layout.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void check(bool is_so)
{
	if (!is_so)
		abort();
}

static bool is_within(uint16_t at, size_t bytes, uint16_t size)
{
	return at + bytes <= size;
}

static void check_methods(const struct vm_layout *layout)
{
	const uint16_t size = layout->const_method_bytes;

	check(size <= VM_LAYOUT_MAX_CONST_METHOD_BYTES && size % 8 == 0);
	check(is_within(layout->const_method_constants, 8, size));
	check(is_within(layout->const_method_words, 4, size));
	check(is_within(layout->const_method_code_size, 2, size));
	check(is_within(layout->const_method_name_index, 2, size));
	check(is_within(layout->const_method_signature_index, 2, size));
	check(layout->method_const_method <= VM_LAYOUT_MAX_BYTES);
	check(layout->method_bytes <= VM_LAYOUT_MAX_BYTES);
	check(layout->pool_holder <= VM_LAYOUT_MAX_BYTES);
	check(layout->pool_length <= VM_LAYOUT_MAX_BYTES);
	check(layout->pool_bytes <= VM_LAYOUT_MAX_BYTES);
	check(layout->klass_name <= VM_LAYOUT_MAX_BYTES);
	check(layout->symbol_length <= VM_LAYOUT_MAX_BYTES);
	check(layout->symbol_body <= VM_LAYOUT_MAX_BYTES);
	check(layout->source_file == VM_SOURCE_FILE_NONE ||
	      layout->source_file_index <= VM_LAYOUT_MAX_BYTES);
}

static void check_layout(const struct vm_layout *layout)
{
	check(vm_layout_has_methods(layout) == layout->has_methods);
	if (layout->has_methods)
		check_methods(layout);
	if (layout->has_methods && layout->has_lines)
		check(layout->flag_has_lines != 0 &&
		      is_within(layout->const_method_flags,
				layout->const_method_flags_are_u4 ? 4 : 2,
				layout->const_method_bytes));
	if (layout->has_anchor)
		check(layout->call_wrapper_anchor <= VM_LAYOUT_MAX_BYTES &&
		      layout->anchor_sp <= VM_LAYOUT_MAX_BYTES &&
		      layout->anchor_fp <= VM_LAYOUT_MAX_BYTES &&
		      layout->anchor_pc <= VM_LAYOUT_MAX_BYTES);
	check(layout->call_wrapper_words <= 0 && layout->call_wrapper_words > -256);
	check(!layout->has_call_stub || (int64_t)layout->call_stub_return_at > 0);
	check(vm_layout_interpreter_bcp_words(layout) <= 0 &&
	      vm_layout_interpreter_bcp_words(layout) > -16);
}

/* Small values as they are, so that many fit; the others are any. */
static int64_t value_of(const uint8_t *two)
{
	const int64_t value = two[0] | (int64_t)(two[1] & 0x1f) << 8;

	switch (two[1] >> 5) {
	case 0:
		return value;
	case 1:
		return -value;
	case 2:
		return INT64_MAX - value;
	case 3:
		return INT64_MIN + value;
	default:
		return (int64_t)((uint64_t)value << (two[1] >> 3));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jvm_value values[JVM_KEYS];
	char version[] = "17";
	struct jvm_attr attr = {JVM_VERSION_KEY, version};
	const struct jvm_hello hello = {
		.attrs = &attr, .n_attrs = 1, .values = values, .n_values = JVM_KEYS};
	struct vm_layout layout;

	for (size_t i = 0; i < JVM_KEYS; i++)
		values[i] = (struct jvm_value){i < JVM_KEYS_USUAL ? jvm_keys[i].key : "",
					       jvm_keys[i].value};
	for (; size >= 3; data += 3, size -= 3) {
		const size_t at = data[0] % 64;

		if (at < JVM_KEYS)
			values[at] = (struct jvm_value){jvm_keys[at].key, value_of(data + 1)};
		else if (at < JVM_KEYS + 2)
			version[at - JVM_KEYS] = (char)data[1];
		else if (data[1] < JVM_KEYS)
			values[data[1]].key = data[2] % 2 ? NULL : "";
	}
	vm_layout_init(&layout, &hello);
	check_layout(&layout);
	return 0;
}
