// SPDX-License-Identifier: Apache-2.0
/*
 * Sets the members of struct vm_layout to a hello's values, by their keys, see vm_layout.h.
 *
 * vmStructs does not have the slots of an interpreted frame. Which slot holds the bytecode's
 * address is known from the code cache: a JVM whose code cache has several heaps is JDK 9 or later,
 * and keeps a mirror of the class in the frame, which moves the slot. The agent's JVM runs on this
 * machine's architecture.
 */
#include "code/vm_layout.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef __aarch64__
#define BCP_WORDS_JDK_8	   (-7)
#define BCP_WORDS	   (-9)
#define CALL_WRAPPER_WORDS (-8) /* not in vmStructs */
#else
#define BCP_WORDS_JDK_8	   (-7)
#define BCP_WORDS	   (-8)
#define CALL_WRAPPER_WORDS (-6)
#endif
#define METHOD_WORDS (-3)

struct member {
	const char *key;
	size_t at; /* offset of a uint16_t in struct vm_layout */
};

#define MEMBER(key, name)                                                                          \
	{                                                                                          \
		key, offsetof(struct vm_layout, name)                                              \
	}
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct member methods[] = {
	MEMBER("Method::_constMethod", method_const_method),
	MEMBER("sizeof(Method)", method_bytes),
	MEMBER("ConstMethod::_constants", const_method_constants),
	MEMBER("ConstMethod::_constMethod_size", const_method_words),
	MEMBER("ConstMethod::_code_size", const_method_code_size),
	MEMBER("ConstMethod::_name_index", const_method_name_index),
	MEMBER("ConstMethod::_signature_index", const_method_signature_index),
	MEMBER("ConstMethod::_method_idnum", const_method_idnum),
	MEMBER("sizeof(ConstMethod)", const_method_bytes),
	MEMBER("ConstantPool::_pool_holder", pool_holder),
	MEMBER("ConstantPool::_length", pool_length),
	MEMBER("sizeof(ConstantPool)", pool_bytes),
	MEMBER("Klass::_name", klass_name),
	MEMBER("Symbol::_length", symbol_length),
};

static const struct member anchor[] = {
	MEMBER("JavaCallWrapper::_anchor", call_wrapper_anchor),
	MEMBER("JavaFrameAnchor::_last_Java_sp", anchor_sp),
	MEMBER("JavaFrameAnchor::_last_Java_fp", anchor_fp),
	MEMBER("JavaFrameAnchor::_last_Java_pc", anchor_pc),
};

static bool read_small(const struct jvm_hello *hello, const char *key, uint16_t *ret)
{
	int64_t value;

	if (!jvm_hello_value(hello, key, &value) || value < 0 || value > VM_LAYOUT_MAX_BYTES)
		return false;
	*ret = (uint16_t)value;
	return true;
}

/* Reads all members; false if the JVM lacks any of them. */
static bool read_members(struct vm_layout *layout, const struct jvm_hello *hello,
			 const struct member *members, size_t count)
{
	bool is_whole = true;

	for (size_t i = 0; i < count; i++) {
		uint16_t *member = (uint16_t *)(void *)((char *)layout + members[i].at);

		is_whole &= read_small(hello, members[i].key, member);
	}
	return is_whole;
}

/* Whether a ConstMethod is large enough for all members that are read with it. */
static bool const_method_holds(const struct vm_layout *layout)
{
	const size_t bytes = layout->const_method_bytes;

	return bytes <= VM_LAYOUT_MAX_CONST_METHOD_BYTES && bytes % 8 == 0 &&
	       layout->const_method_constants + sizeof(uint64_t) <= bytes &&
	       layout->const_method_words + sizeof(uint32_t) <= bytes &&
	       layout->const_method_code_size + sizeof(uint16_t) <= bytes &&
	       layout->const_method_name_index + sizeof(uint16_t) <= bytes &&
	       layout->const_method_signature_index + sizeof(uint16_t) <= bytes;
}

static bool has_64_bit_words(const struct jvm_hello *hello)
{
	int64_t bytes;

	return !jvm_hello_value(hello, "constant BytesPerWord", &bytes) || bytes == 8;
}

static void read_methods(struct vm_layout *layout, const struct jvm_hello *hello)
{
	layout->has_methods = read_members(layout, hello, methods, COUNT(methods)) &&
			      (read_small(hello, "Symbol::_body", &layout->symbol_body) ||
			       read_small(hello, "Symbol::_body[0]", &layout->symbol_body)) &&
			      const_method_holds(layout);
	if (read_small(hello, "ConstantPool::_source_file_name_index", &layout->source_file_index))
		layout->source_file = VM_SOURCE_FILE_IN_POOL;
	else if (read_small(hello, "InstanceKlass::_source_file_name_index",
			    &layout->source_file_index))
		layout->source_file = VM_SOURCE_FILE_IN_KLASS;
}

static bool read_bit(const struct jvm_hello *hello, const char *key, uint32_t *ret)
{
	int64_t value;

	if (!jvm_hello_value(hello, key, &value) || value <= 0 || value > UINT16_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

/*
 * Finds out how line tables are read. Flags of a ConstMethod are a structure of four bytes since
 * JDK 21. Line tables have biased numbers since JDK 20. Only its version tells JDK 20 from JDK 19.
 */
static void read_lines(struct vm_layout *layout, const struct jvm_hello *hello)
{
	const char *version = jvm_hello_attr(hello, "jvm.version");
	size_t bytes;

	layout->const_method_flags_are_u4 =
		read_small(hello, "ConstMethod::_flags._flags", &layout->const_method_flags);
	if (!layout->const_method_flags_are_u4 &&
	    !read_small(hello, "ConstMethod::_flags", &layout->const_method_flags))
		return;
	layout->lines_are_biased =
		layout->const_method_flags_are_u4 || (version && strtoul(version, NULL, 10) == 20);
	bytes = layout->const_method_flags_are_u4 ? sizeof(uint32_t) : sizeof(uint16_t);
	layout->has_lines =
		(read_bit(hello, "constant ConstMethod::_has_linenumber_table",
			  &layout->flag_has_lines) ||
		 read_bit(hello, "constant ConstMethodFlags::_misc_has_linenumber_table",
			  &layout->flag_has_lines)) &&
		layout->const_method_flags + bytes <= layout->const_method_bytes;
}

static void read_call_stub(struct vm_layout *layout, const struct jvm_hello *hello)
{
	int64_t value;

	layout->has_anchor = read_members(layout, hello, anchor, COUNT(anchor));
	layout->call_wrapper_words = CALL_WRAPPER_WORDS;
	if (jvm_hello_value(hello, "constant frame::entry_frame_call_wrapper_offset", &value) &&
	    value < 0 && value > -256)
		layout->call_wrapper_words = (int32_t)value;
	layout->has_call_stub =
		jvm_hello_value(hello, "StubRoutines::_call_stub_return_address", &value) &&
		value > 0;
	if (layout->has_call_stub)
		layout->call_stub_return_at = (uint64_t)value;
}

void vm_layout_init(struct vm_layout *layout, const struct jvm_hello *hello)
{
	int64_t heaps;

	*layout = (struct vm_layout){0};
	if (!has_64_bit_words(hello))
		return;
	read_methods(layout, hello);
	read_lines(layout, hello);
	read_call_stub(layout, hello);
	layout->interpreter_method_words = METHOD_WORDS;
	layout->interpreter_bcp_words =
		jvm_hello_value(hello, "CodeCache::_heaps", &heaps) ? BCP_WORDS : BCP_WORDS_JDK_8;
}

bool vm_layout_has_methods(const struct vm_layout *layout)
{
	return layout->has_methods;
}

int32_t vm_layout_interpreter_bcp_words(const struct vm_layout *layout)
{
	return layout->interpreter_bcp_words;
}
