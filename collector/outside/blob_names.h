// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the address of a CodeBlob's name -> which kind of blob it is, and the name
 * units:   addr in the process; bytes
 * threads: one at a time, any
 * errors:  BLOB_UNREADABLE
 * source:  HotSpot's code/codeBlob.hpp, code/nmethod.cpp of JDK 8 to 26
 *
 * All blobs of a kind share one text, which is a constant of the JVM. So a text is read once. A
 * zero-filled struct is valid.
 */
#ifndef FG_OUTSIDE_BLOB_NAMES_H
#define FG_OUTSIDE_BLOB_NAMES_H

#include "base/arena.h"
#include "base/map64.h"
#include "vm/vm_memory.h"

#define BLOB_NAME_BYTES 256

enum blob_kind {
	BLOB_UNREADABLE,
	BLOB_STUB,
	BLOB_NMETHOD,
	BLOB_NATIVE, /* an nmethod around a native method */
};

struct blob_names {
	struct map64 texts; /* address -> text */
	struct arena arena;
};

enum blob_kind blob_names_kind(struct blob_names *names, struct vm_memory *memory, uint64_t at);
/* The text; "" if it cannot be read. Borrowed until the next call with another address. */
const char *blob_names_text(struct blob_names *names, struct vm_memory *memory, uint64_t at);
void blob_names_fini(struct blob_names *names);
size_t blob_names_bytes(const struct blob_names *names);

#endif
