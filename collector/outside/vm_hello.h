// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the values of a JVM's tables -> the hello that an agent would have sent, and the layout
 *          that whoever takes the hello makes of it
 * units:   bytes
 * threads: one at a time, any
 * errors:  negative errno; a text that cannot be read is left out
 * source:  shared/README.md, HELLO
 */
#ifndef FG_OUTSIDE_VM_HELLO_H
#define FG_OUTSIDE_VM_HELLO_H

#include "code/vm_layout.h"
#include "outside/vm_tables.h"
#include "shared/wire.h"

int vm_hello_write(struct vm_memory *memory, const struct vm_tables *tables, uint32_t inner_pid,
		   struct wire_buf *buf, struct vm_layout *ret_layout);

#endif
