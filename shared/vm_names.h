// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the names of HotSpot's values that the collector wants, as keys of a hello
 * units:   offsets and sizes in bytes, addresses, constants
 * threads: any, constants
 * errors:  none; a JVM has a part of the names
 * source:  HotSpot's vmStructs.cpp of JDK 8 to 26
 *
 * The agent sends the values of these names in its hello. The collector reads the same names itself
 * of a JVM without the agent.
 */
#ifndef FG_VM_NAMES_H
#define FG_VM_NAMES_H

#define VM_FIELD_NAMES	  132
#define VM_SIZE_NAMES	  16
#define VM_CONSTANT_NAMES 19

extern const char *const vm_field_names[VM_FIELD_NAMES];       /* "Type::_field" */
extern const char *const vm_size_names[VM_SIZE_NAMES];	       /* "sizeof(Type)" */
extern const char *const vm_constant_names[VM_CONSTANT_NAMES]; /* "constant NAME" */

#endif
