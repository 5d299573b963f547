// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the tables that libjvm exports for debuggers -> values of names that are wanted
 * units:   offsets and sizes in bytes, addresses in the process, constants
 * threads: one at a time, any
 * errors:  negative errno: -ENOEXEC no such tables, as in other virtual machines; -EPROTO tables
 *          that cannot be HotSpot's; those of vm_memory.h
 * source:  HotSpot's vmStructs.cpp of JDK 8 to 26; shared/vm_names.h
 *
 * Four exported pointers lead to arrays of entries, and exported numbers say how long an entry is
 * and where its members lie. A name of NULL ends an array. All of it comes from the process: an
 * array is read up to VM_TABLES_MAX_ENTRIES, an entry has at most VM_TABLES_MAX_ENTRY_BYTES, and a
 * name that is longer than VM_TABLES_NAME_BYTES is none that is wanted.
 *
 * Values are kept for the process alone: a build ID is a claim of whoever made the file, and what
 * one container says of it must not name the code of another one.
 */
#ifndef FG_VM_VM_TABLES_H
#define FG_VM_VM_TABLES_H

#include "vm/vm_image.h"
#include "shared/vm_names.h"

#define VM_TABLES_MAX_ENTRIES	  16384
#define VM_TABLES_MAX_ENTRY_BYTES 256
#define VM_TABLES_NAME_BYTES	  128
#define VM_TABLES_MAX_OFFSET	  2048 /* of a member that is wanted */

/* Values that are read for this program alone, and not told to whoever takes the agent's. */
enum vm_own_value {
	VM_OWN_COMMAND,	     /* address of a pointer to the program's name and arguments */
	VM_OWN_RELEASE,	     /* address of a pointer to the release, as 17.0.21+9 */
	VM_OWN_INFO,	     /* the same to the name, behind which " (" and more stand */
	VM_OWN_THREAD_KLASS, /* address of a pointer to the class java.lang.Thread */
	VM_OWN_STRING_KLASS, /* the same of java.lang.String */
	VM_OWN_THREADS,	     /* address of a pointer to the first JavaThread, up to JDK 11 */
	VM_OWN_NARROW_BASE,  /* address of what narrow references begin at, up to JDK 12 */
	VM_OWN_NARROW_SHIFT, /* the same of by how much they are shifted */
	VM_OWN_FLAGS,	     /* address of a pointer to the array of flags */
	VM_OWN_FLAG_COUNT,   /* address of their number, 8 bytes */
	/* Offsets of members, which may be 0. */
	VM_OWN_NEXT_THREAD,
	VM_OWN_HANDLE,
	VM_OWN_FIELDS,
	VM_OWN_FIELD_COUNT,
	VM_OWN_FIELD_STREAM,
	VM_OWN_ARRAY_LEN,
	VM_OWN_U1_DATA,
	VM_OWN_U2_DATA,
	VM_OWN_FLAG_NAME,
	VM_OWN_FLAG_ADDR,
	VM_OWN_VALUES,
};

struct vm_tables {
	bool has_field[VM_FIELD_NAMES], has_size[VM_SIZE_NAMES], has_constant[VM_CONSTANT_NAMES];
	int64_t fields[VM_FIELD_NAMES], sizes[VM_SIZE_NAMES], constants[VM_CONSTANT_NAMES];
	bool has_own[VM_OWN_VALUES];
	uint64_t own[VM_OWN_VALUES];  /* an address is 0 where it is not known */
	uint64_t flag_bytes;	      /* sizeof(JVMFlag); 0: not known */
	bool complete_is_int;	      /* CodeBlob::_frame_complete_offset; else it has 16 bits */
	bool thread_object_is_handle; /* JavaThread::_threadObj leads to a reference, or is one */
};

/* Reads all tables of the library that is mapped. ret is undefined after an error. */
int vm_tables_read(struct vm_memory *memory, const struct vm_image_mapping *libjvm,
		   struct vm_tables *ret);

/* The value of a key of shared/vm_names.h. */
bool vm_tables_value(const struct vm_tables *tables, const char *key, int64_t *ret);
/* The same of an offset or a size, of at most max bytes. */
bool vm_tables_small(const struct vm_tables *tables, const char *key, uint32_t max, uint32_t *ret);
/* An offset that is read for this program alone, of at most VM_TABLES_MAX_OFFSET. */
bool vm_tables_own(const struct vm_tables *tables, enum vm_own_value number, uint32_t *ret);

#endif
