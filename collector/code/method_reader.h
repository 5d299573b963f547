// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an address in a JVM's memory that may be a Method* -> what HotSpot says of that method
 * units:   addr in the process; bytes
 * threads: any
 * errors:  negative errno: -EFAULT not mapped, -ENOENT no method there, -EPERM, -ESRCH, -ENOMEM
 * source:  process_vm_readv(2); method.hpp, constMethod.hpp, constantPool.hpp, symbol.hpp of
 *          HotSpot
 *
 * Memory is only read, never stopped and never written: what is read may be half of an old method
 * and half of a new one, or whatever the process has put there to deceive. So each pointer is
 * checked before it is followed, each length before it is used, and there are at most ten reads.
 */
#ifndef FG_CODE_METHOD_READER_H
#define FG_CODE_METHOD_READER_H

#include "code/vm_layout.h"

#include <stdint.h>
#include <sys/types.h>

/* Longer names than this are read so far: twice what is shown of them. */
#define METHOD_TEXT_MAX_BYTES 2048

/* Of a line number table; a longer one is left alone. */
#define METHOD_LINES_MAX_BYTES 4096

enum method_text_kind {
	METHOD_CLASS,
	METHOD_NAME,
	METHOD_SIGNATURE,
	METHOD_TEXTS, /* those that each method has */
	METHOD_SOURCE_FILE = METHOD_TEXTS,
	METHOD_ALL_TEXTS,
};

/* Modified UTF-8. */
struct method_text {
	char bytes[METHOD_TEXT_MAX_BYTES];
	uint16_t len;
};

/* Where all that names it lies. */
struct method_places {
	uint64_t method, const_method, pool, holder;
	uint64_t symbols[METHOD_TEXTS];
	uint16_t lens[METHOD_TEXTS]; /* of what was read of them */
	uint16_t name_index, signature_index;
};

struct method_facts {
	struct method_places places;
	uint64_t fingerprint; /* as method_reader_fingerprint */
	uint64_t bytecodes;
	uint32_t code_bytes; /* 0 of a native method */
	struct method_text
		texts[METHOD_ALL_TEXTS];       /* the source file's is empty if there is none */
	uint8_t lines[METHOD_LINES_MAX_BYTES]; /* a line_table.h */
	uint32_t lines_len;		       /* 0: not known */
};

/* The layout must have methods. ret is undefined after an error. */
int method_reader_read(pid_t pid, const struct vm_layout *layout, uint64_t addr,
		       struct method_facts *ret);

/*
 * A hash over all that a method's names were read from, in one read. Another than before: what lies
 * there is another method, or may be.
 */
int method_reader_fingerprint(pid_t pid, const struct vm_layout *layout,
			      const struct method_places *places, uint64_t *ret);

#endif
