// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   two bytes for a value -> a hello's values, under the keys that vm_layout.c looks for
 * units:   none
 * threads: one
 * errors:  none
 * source:  code/vm_layout.c
 */
#ifndef FG_TESTS_JVM_KEYS_H
#define FG_TESTS_JVM_KEYS_H

#include <stddef.h>
#include <stdint.h>

/* What HotSpot 17 says, see tests/unit/code/fake_hotspot.c. */
static const struct {
	const char *key;
	int64_t value;
} jvm_keys[] = {
	{"Method::_constMethod", 8},
	{"sizeof(Method)", 88},
	{"ConstMethod::_constants", 8},
	{"ConstMethod::_constMethod_size", 24},
	{"ConstMethod::_flags", 28},
	{"ConstMethod::_code_size", 32},
	{"ConstMethod::_name_index", 34},
	{"ConstMethod::_signature_index", 36},
	{"ConstMethod::_method_idnum", 38},
	{"sizeof(ConstMethod)", 48},
	{"ConstantPool::_pool_holder", 24},
	{"ConstantPool::_length", 60},
	{"ConstantPool::_source_file_name_index", 54},
	{"sizeof(ConstantPool)", 72},
	{"Klass::_name", 24},
	{"Symbol::_length", 4},
	{"Symbol::_body", 6},
	{"constant ConstMethod::_has_linenumber_table", 1},
	{"StubRoutines::_call_stub_return_address", 0x7f0000002000},
	{"JavaCallWrapper::_anchor", 32},
	{"JavaFrameAnchor::_last_Java_sp", 0},
	{"JavaFrameAnchor::_last_Java_pc", 8},
	{"JavaFrameAnchor::_last_Java_fp", 16},
	{"constant BytesPerWord", 8},
	{"CodeCache::_heaps", 4096},
	{"ConstMethod::_flags._flags", 28},
	{"constant ConstMethodFlags::_misc_has_linenumber_table", 1},
	{"constant frame::entry_frame_call_wrapper_offset", -6},
	{"InstanceKlass::_source_file_name_index", 26},
	{"Symbol::_body[0]", 6},
};

#define JVM_KEYS	(sizeof(jvm_keys) / sizeof(*jvm_keys))
#define JVM_KEYS_USUAL	25 /* the first; the others are of other JDKs */
#define JVM_VERSION_KEY "jvm.version"

#endif
