// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   addresses that may be Methods -> their names and lines, many with few system
 *          calls
 * units:   addr in the process; bytes
 * threads: one at a time, any
 * errors:  -ENOMEM; a method that cannot be read is not named
 * source:  method.hpp, constMethod.hpp, constantPool.hpp, symbol.hpp of HotSpot
 *
 * As code/method_reader.h, for methods of which many are new at a time, on another thread than the
 * model's. Each pointer is checked before it is followed, each length before it is used.
 */
#ifndef FG_OUTSIDE_METHOD_BATCH_H
#define FG_OUTSIDE_METHOD_BATCH_H

#include "code/vm_layout.h"
#include "vm/vm_memory.h"

#define METHOD_BATCH_MAX	256
#define METHOD_BATCH_MAX_PIECES (METHOD_BATCH_MAX * 6)
#define METHOD_BATCH_TEXT_BYTES 1024 /* a longer text is cut */
#define METHOD_BATCH_LINE_BYTES 4096 /* a longer line number table is not known */

enum method_batch_text {
	METHOD_BATCH_CLASS,
	METHOD_BATCH_NAME,
	METHOD_BATCH_SIGNATURE,
	METHOD_BATCH_SOURCE, /* may be missing */
	METHOD_BATCH_TEXTS,
};

struct method_batch_entry {
	uint64_t method; /* set by the caller */
	bool is_named;
	bool is_unlined; /* it has lines, and they are not known */
	uint64_t const_method, pool, holder, symbols[METHOD_BATCH_TEXTS];
	uint16_t
		indices[METHOD_BATCH_TEXTS]; /* in the constant pool; that of the class is unused */
	uint16_t lens[METHOD_BATCH_TEXTS];
	int32_t pool_length;
	uint8_t head[VM_LAYOUT_MAX_CONST_METHOD_BYTES];		 /* the ConstMethod */
	char texts[METHOD_BATCH_TEXTS][METHOD_BATCH_TEXT_BYTES]; /* modified UTF-8 */
	uint32_t lines_len;					 /* 0: no lines are known */
	uint8_t lines[METHOD_BATCH_LINE_BYTES]; /* the bytes of a struct line_table */
};

/* The pieces of one step. An entry of which a piece cannot be read is not named. */
struct method_batch_step {
	struct vm_piece pieces[METHOD_BATCH_MAX_PIECES];
	struct method_batch_entry *owners[METHOD_BATCH_MAX_PIECES]; /* NULL: it may be missing */
	size_t n;
};

/* Too large for a thread's stack. */
struct method_batch {
	struct method_batch_entry entries[METHOD_BATCH_MAX];
	size_t count;
	struct method_batch_step step; /* of method_batch.c */
};

/* vm_layout_has_methods must be true for the layout. */
void method_batch_read(struct vm_memory *memory, const struct vm_layout *layout,
		       struct method_batch *batch);

#endif
