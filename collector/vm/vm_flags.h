// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a flag's name -> whether a JVM has the flag on
 * units:   addresses in the process
 * threads: one at a time, any
 * errors:  false: the flag is off, is not there, or cannot be read
 * source:  HotSpot's jvmFlag.hpp: JVMFlag::flags, of JDK 10 and later
 *
 * The flags are an array of structs {address of the value, name, bits}. The array comes from the
 * process: at most VM_FLAGS_MAX structs of at most VM_FLAGS_MAX_BYTES are read.
 */
#ifndef FG_VM_VM_FLAGS_H
#define FG_VM_VM_FLAGS_H

#include "vm/vm_tables.h"

#define VM_FLAGS_MAX	   4096
#define VM_FLAGS_MAX_BYTES 128

bool vm_flags_is_on(struct vm_memory *memory, const struct vm_tables *tables, const char *name);

#endif
