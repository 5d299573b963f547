// SPDX-License-Identifier: Apache-2.0
/*
 * A Java method as HotSpot 17 lays it out, in this very process's memory, and the hello that says
 * so; for the tests of what is read from a JVM's memory.
 */
#ifndef FG_TESTS_FAKE_HOTSPOT_H
#define FG_TESTS_FAKE_HOTSPOT_H

#include "process/process.h"

#include <stdint.h>

struct fake_symbol {
	uint32_t hash_and_refcount;
	uint16_t length;
	char body[58];
};

struct fake_pool {
	uint64_t words[3], holder, more[2];
	uint16_t more_indices[3], source_file_index;
	uint32_t flags;
	int32_t length;
	uint64_t last;
	uint64_t entries[8];
};

struct fake_const_method {
	uint64_t fingerprint, constants, stack_maps;
	uint32_t words;
	uint16_t flags, result_type, code_size, name_index, signature_index, idnum;
	uint64_t last;
	uint8_t code[16], lines[16];
};

struct fake_klass {
	uint64_t words[3], name;
};

struct fake_method {
	uint64_t vtable, const_method, more[9];
};

/* com/acme/Main.run(I)V of Main.java; its bytecode 4 is at line 12, before it is 11. */
struct fake_hotspot {
	struct fake_method method;
	struct fake_const_method const_method;
	struct fake_pool pool;
	struct fake_klass klass;
	struct fake_symbol class_name, name, signature, source_file;
};

void fake_hotspot_init(struct fake_hotspot *fake);
void fake_symbol_set(struct fake_symbol *symbol, const char *text);
uint64_t fake_addr(const void *p);

/* The hello of a JVM laid out so; but without the value of that key, if it is not NULL. */
void fake_hotspot_say_hello(struct process *process, const char *without);

#endif
