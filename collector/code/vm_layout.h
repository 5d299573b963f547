// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the values of an agent's hello -> the offsets of members in HotSpot's structures
 * units:   bytes, or words of 8 bytes if called words; an offset is within the structure with which
 *          its name begins
 * threads: any, a value
 * errors:  a value that is missing or senseless makes its group of members invalid
 * source:  shared/vm_names.c for the keys; HotSpot's vmStructs.cpp of JDK 8 to 25
 *
 * A group of members is valid if its flag (has_methods and so on) is true. A zero-filled struct
 * vm_layout has no valid group. All values come from inside a container. They only decide which
 * bytes of this container's own process are read; every offset and size of a structure is at most
 * VM_LAYOUT_MAX_BYTES.
 */
#ifndef FG_CODE_VM_LAYOUT_H
#define FG_CODE_VM_LAYOUT_H

#include "code/jvm_hello.h"

#include <stdbool.h>
#include <stdint.h>

#define VM_LAYOUT_MAX_BYTES 2048

/* A ConstMethod without its bytecodes is hardly larger than 56 bytes. */
#define VM_LAYOUT_MAX_CONST_METHOD_BYTES 128

/* The structure that holds the index of a class's source file. */
enum vm_source_file {
	VM_SOURCE_FILE_NONE,
	VM_SOURCE_FILE_IN_POOL,	 /* since JDK 9 */
	VM_SOURCE_FILE_IN_KLASS, /* JDK 8 */
};

struct vm_layout {
	/* From a Method* to its names. */
	bool has_methods;
	uint16_t method_const_method;
	uint16_t const_method_constants;
	uint16_t const_method_words;	       /* of a u4: the whole ConstMethod's size in words */
	uint16_t const_method_code_size;       /* of a u2 */
	uint16_t const_method_name_index;      /* of a u2 */
	uint16_t const_method_signature_index; /* of a u2 */
	uint16_t const_method_idnum;	       /* of a u2 */
	uint16_t const_method_bytes; /* sizeof(ConstMethod); the bytecodes begin right behind */
	uint16_t method_bytes;	     /* sizeof(Method) */
	uint16_t pool_holder;
	uint16_t pool_length; /* of an int */
	uint16_t pool_bytes;  /* sizeof(ConstantPool); entries of a word begin right behind */
	uint16_t klass_name;
	uint16_t symbol_length; /* of a u2 in all JDKs that have the key */
	uint16_t symbol_body;

	enum vm_source_file source_file;
	uint16_t source_file_index; /* of a u2 */

	/* The compressed line number table, which lies right behind the bytecodes. */
	bool has_lines;
	bool lines_are_biased; /* each byte of its larger numbers is one more than before JDK 20 */
	bool const_method_flags_are_u4; /* else they are a u2 */
	uint16_t const_method_flags;
	uint32_t flag_has_lines; /* the bit in these flags */

	/* Slots of an interpreted frame, in words from its frame pointer; 0: not known. */
	int32_t interpreter_method_words;
	int32_t interpreter_bcp_words;

	/* From the call stub's frame to the Java frame that called into native code. */
	bool has_call_stub;
	uint64_t call_stub_return_at; /* addr of StubRoutines::_call_stub_return_address */
	int32_t call_wrapper_words;   /* slot of the JavaCallWrapper*, from the frame pointer */
	bool has_anchor;
	uint16_t call_wrapper_anchor;
	uint16_t anchor_sp;
	uint16_t anchor_fp;
	uint16_t anchor_pc;
};

void vm_layout_init(struct vm_layout *layout, const struct jvm_hello *hello);

/* Whether a Method* can be named. */
bool vm_layout_has_methods(const struct vm_layout *layout);

/* The slot of the bytecode's address, in words from the frame pointer; 0: not known. */
int32_t vm_layout_interpreter_bcp_words(const struct vm_layout *layout);

#endif
