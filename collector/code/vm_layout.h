// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a hello says of HotSpot's structures -> where each member that is needed lies
 * units:   bytes unless called words (8 bytes); offsets in the structure that the name begins with
 * threads: any, a value
 * errors:  a value that is missing or senseless switches off what needs it
 * source:  jvmti-agent/hotspot/wanted.c for the keys; HotSpot's vmStructs.cpp of JDK 8 to 25
 *
 * A group of members is valid if its flag says so. A zero-filled layout is one in which nothing is
 * known. Everything in it comes from inside a container; it only ever says which bytes of that very
 * process are read, and every number is small: at most VM_LAYOUT_MAX_BYTES.
 */
#ifndef FG_CODE_VM_LAYOUT_H
#define FG_CODE_VM_LAYOUT_H

#include "code/jvm_hello.h"

#include <stdbool.h>
#include <stdint.h>

#define VM_LAYOUT_MAX_BYTES 2048

/* A ConstMethod without its bytecodes is hardly larger than 56 bytes. */
#define VM_LAYOUT_MAX_CONST_METHOD_BYTES 128

/* In which structure the index of a class's source file lies. */
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
	uint16_t const_method_words;	  /* a u4: the length of all of it, in words */
	uint16_t const_method_code_size;  /* a u2 */
	uint16_t const_method_name_index; /* a u2, as the next two */
	uint16_t const_method_signature_index;
	uint16_t const_method_idnum;
	uint16_t const_method_bytes; /* sizeof; the bytecodes begin right behind it */
	uint16_t method_bytes;	     /* sizeof */
	uint16_t pool_holder;
	uint16_t pool_length; /* an int */
	uint16_t pool_bytes;  /* sizeof; the entries begin right behind it, one word each */
	uint16_t klass_name;
	uint16_t symbol_length; /* a u2 in all JDKs that have the key */
	uint16_t symbol_body;

	enum vm_source_file source_file;
	uint16_t source_file_index; /* a u2 */

	/* The compressed line number table, which lies right behind the bytecodes. */
	bool has_lines;
	bool lines_are_biased; /* each byte of its larger numbers is one more than before JDK 20 */
	bool const_method_flags_are_u4; /* else a u2 */
	uint16_t const_method_flags;
	uint32_t flag_has_lines; /* the bit */

	/* Slots of an interpreted frame, in words from its frame pointer; 0: no hello was read. */
	int32_t interpreter_method_words;
	int32_t interpreter_bcp_words;

	/* From the call stub's frame to the Java frame that called into native code. */
	bool has_call_stub;
	uint64_t call_stub_return_at; /* in the process: where StubRoutines keeps the address */
	int32_t call_wrapper_words;   /* from the stub's frame pointer */
	bool has_anchor;
	uint16_t call_wrapper_anchor;
	uint16_t anchor_sp;
	uint16_t anchor_fp;
	uint16_t anchor_pc;
};

void vm_layout_init(struct vm_layout *layout, const struct jvm_hello *hello);

/* Whether a Method* can be named. */
bool vm_layout_has_methods(const struct vm_layout *layout);

/* Of the slot that holds the bytecode's address; 0: not known. */
int32_t vm_layout_interpreter_bcp_words(const struct vm_layout *layout);

#endif
