// SPDX-License-Identifier: Apache-2.0
/* See fake_hotspot.h. */
#include "fake_hotspot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define HAS_LINES 1

uint64_t fake_addr(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

void fake_symbol_set(struct fake_symbol *symbol, const char *text)
{
	symbol->hash_and_refcount = 0x12340001;
	symbol->length = (uint16_t)strlen(text);
	memcpy(symbol->body, text, symbol->length);
}

void fake_hotspot_init(struct fake_hotspot *fake)
{
	struct fake_const_method *const_method = &fake->const_method;

	memset(fake, 0, sizeof(*fake));
	fake_symbol_set(&fake->class_name, "com/acme/Main");
	fake_symbol_set(&fake->name, "run");
	fake_symbol_set(&fake->signature, "(I)V");
	fake_symbol_set(&fake->source_file, "Main.java");
	fake->klass.name = fake_addr(&fake->class_name);
	fake->pool.holder = fake_addr(&fake->klass);
	fake->pool.length = 8;
	fake->pool.source_file_index = 3;
	fake->pool.entries[1] = fake_addr(&fake->name);
	fake->pool.entries[2] = fake_addr(&fake->signature);
	fake->pool.entries[3] = fake_addr(&fake->source_file);
	const_method->constants = fake_addr(&fake->pool);
	const_method->words = sizeof(*const_method) / 8;
	const_method->flags = HAS_LINES;
	const_method->code_size = sizeof(const_method->code);
	const_method->name_index = 1;
	const_method->signature_index = 2;
	memcpy(const_method->lines, (uint8_t[]){0xff, 0, 22, 0x21, 0}, 5);
	fake->method.const_method = fake_addr(const_method);
}

void fake_hotspot_say_hello(struct process *process, const char *without)
{
	static const struct {
		const char *key;
		int64_t value;
	} said[] = {
		{"Method::_constMethod", offsetof(struct fake_method, const_method)},
		{"sizeof(Method)", sizeof(struct fake_method)},
		{"ConstMethod::_constants", offsetof(struct fake_const_method, constants)},
		{"ConstMethod::_constMethod_size", offsetof(struct fake_const_method, words)},
		{"ConstMethod::_flags", offsetof(struct fake_const_method, flags)},
		{"ConstMethod::_code_size", offsetof(struct fake_const_method, code_size)},
		{"ConstMethod::_name_index", offsetof(struct fake_const_method, name_index)},
		{"ConstMethod::_signature_index",
		 offsetof(struct fake_const_method, signature_index)},
		{"ConstMethod::_method_idnum", offsetof(struct fake_const_method, idnum)},
		{"sizeof(ConstMethod)", offsetof(struct fake_const_method, code)},
		{"ConstantPool::_pool_holder", offsetof(struct fake_pool, holder)},
		{"ConstantPool::_length", offsetof(struct fake_pool, length)},
		{"ConstantPool::_source_file_name_index",
		 offsetof(struct fake_pool, source_file_index)},
		{"sizeof(ConstantPool)", offsetof(struct fake_pool, entries)},
		{"Klass::_name", offsetof(struct fake_klass, name)},
		{"Symbol::_length", offsetof(struct fake_symbol, length)},
		{"Symbol::_body", offsetof(struct fake_symbol, body)},
		{"CodeCache::_heaps", 0x7f0000001000},
		{"StubRoutines::_call_stub_return_address", 0x7f0000002000},
		{"JavaCallWrapper::_anchor", 32},
		{"JavaFrameAnchor::_last_Java_sp", 0},
		{"JavaFrameAnchor::_last_Java_pc", 8},
		{"JavaFrameAnchor::_last_Java_fp", 16},
		{"constant BytesPerWord", 8},
		{"constant ConstMethod::_has_linenumber_table", HAS_LINES},
	};
	const struct wire_attr attr = {wire_str_from("jvm.version"), wire_str_from("17.0.1")};
	struct wire_value values[sizeof(said) / sizeof(said[0])];
	struct wire_hello hello = {.pid = 1, .n_attrs = 1};
	uint8_t bytes[4096];
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};
	struct wire_message message = {.records = bytes};
	struct wire_reader reader;
	struct wire_record record;

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		if (!without || strcmp(said[i].key, without) != 0)
			values[hello.n_values++] = (struct wire_value){
				.key = wire_str_from(said[i].key), .value = said[i].value};
	}
	assert_true(wire_encode_hello(&buf, &hello, &attr, values));
	message.records_len = buf.len;
	wire_reader_init(&reader, &message);
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	assert_int_equal(wire_decode_hello(&record, &hello), 0);
	assert_int_equal(process_set_hello(process, &hello), 0);
}
