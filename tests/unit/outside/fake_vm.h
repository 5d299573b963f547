// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a JVM's memory, made for a test: a library with tables, a code heap, blobs and methods
 * units:   addr in the fake; bytes
 * threads: one
 * errors:  asserts
 * source:  none
 *
 * The members of structures are at places that no JDK has: whoever reads must take them from the
 * tables. A test changes bytes by fake_vm_at.
 */
#ifndef FG_TESTS_OUTSIDE_FAKE_VM_H
#define FG_TESTS_OUTSIDE_FAKE_VM_H

#include "vm/vm_memory.h"
#include "vm/vm_tables.h"

#define FAKE_BASE	  fake_vm_base
#define FAKE_BYTES	  ((size_t)1 << 20)
#define FAKE_SEGMENTS	  1024 /* of 256 bytes */
#define FAKE_LOG2_SEGMENT 8

/* Where the fake lies, in this program: the memory of the one that was made last. */
extern uint64_t fake_vm_base;

/* Offsets of members, also those that a test changes. */
enum fake_offset {
	FAKE_BLOB_NAME = 16,
	FAKE_BLOB_FRAME_SIZE = 28,
	FAKE_BLOB_CODE = 40, /* int offset, or pointer */
	FAKE_BLOB_DATA = 48, /* likewise: where code ends */
	FAKE_BLOB_COMPLETE = 56,
	FAKE_NMETHOD_METHOD = 64,
	FAKE_NMETHOD_COMPILE_ID = 72,
	FAKE_NMETHOD_ENTRY_BCI = 76,
	FAKE_NMETHOD_LEVEL = 80,
	FAKE_NMETHOD_ENTRY = 84,
	FAKE_NMETHOD_SCOPES = 88,  /* a pointer: to scopes, or to what is apart */
	FAKE_NMETHOD_METHODS = 96, /* an int offset from the blob, or a pointer */
	FAKE_NMETHOD_PCS = 104,
	FAKE_NMETHOD_PCS_END = 108, /* or where scopes are */
	FAKE_NMETHOD_APART_BYTES = 112,
	FAKE_NMETHOD_RELOCATIONS = 116,
	FAKE_NMETHOD_METHODS_END = 120,
	FAKE_BLOB_SIZE = 124,	/* of the blob; it is not set */
	FAKE_BLOB_HEADER = 128, /* the code begins here */
};

struct fake_field {
	const char *type, *name, *declared;
	bool is_static;
	uint64_t value;
};

struct fake_vm {
	struct vm_memory memory;
	uint8_t *bytes;
	size_t used;
	struct vm_image_mapping libjvm;
	bool has_pointers;		      /* as JDK 17's blobs; set before fake_vm_init */
	uint64_t structs, types, ints, longs; /* the tables */
	uint64_t symbols, dynamic;
	uint64_t heap, segmap, code; /* the CodeHeap, its map, its memory */
	uint64_t heaps_array;	     /* the GrowableArray */
	size_t next_segment;
	uint64_t nmethod_name, native_name;
	uint64_t refused_at; /* an address that cannot be read; 0: none */
	unsigned long calls;
	uint64_t stub_head; /* where the head of the list of stubs is */
	/* When watched_at has been read, the 4 bytes at changed_at become changed_to. */
	uint64_t watched_at, changed_at;
	uint32_t changed_to;
};

/* Fills a zero-filled struct; members that the comment above names may be set before. */
void fake_vm_init(struct fake_vm *vm);
void fake_vm_fini(struct fake_vm *vm);

/* The bytes at an address of the fake. */
/* Memory that nobody uses, at a multiple of 16. */
uint64_t fake_vm_take(struct fake_vm *vm, size_t bytes);
void *fake_vm_at(struct fake_vm *vm, uint64_t addr);
void fake_vm_set(struct fake_vm *vm, uint64_t addr, const void *value, size_t len);
void fake_vm_set_u64(struct fake_vm *vm, uint64_t addr, uint64_t value);
uint64_t fake_vm_text(struct fake_vm *vm, const char *text);

/* A Method with all that leads to its names. */
uint64_t fake_vm_method(struct fake_vm *vm, const char *class_name, const char *name,
			const char *signature);

/* Each Method has the lines 5 from bytecode 0, and 7 from bytecode 3 on. */
#define FAKE_LINES "0:5 3:7"

/* The debug information of a piece of code: for each region its end and its stack. */
struct fake_region {
	int32_t end;
	struct {
		uint64_t method;
		int32_t bci;
	} frames[4]; /* outermost first; a method of 0 ends them */
};
/* Returns where the scopes are, so that a test can break them. */
uint64_t fake_vm_set_scopes(struct fake_vm *vm, uint64_t code, const struct fake_region *regions,
			    size_t n);

/* Puts a stub in front of the JVM's list of stubs. */
void fake_vm_add_stub(struct fake_vm *vm, const char *name, uint64_t addr, uint32_t size);

/* A block of the heap, for so many bytes of code. Returns the addr of its code. */
struct fake_code {
	uint64_t name; /* of the blob's kind */
	uint64_t method;
	uint32_t bytes;
	int32_t compile_id, entry_bci, frame_words;
	uint8_t level;
};
uint64_t fake_vm_add_code(struct fake_vm *vm, const struct fake_code *code);
/* The block of the code is free. */
void fake_vm_free_code(struct fake_vm *vm, uint64_t code);
uint64_t fake_vm_blob_of(uint64_t code);

#endif
