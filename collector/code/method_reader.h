// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an address in a JVM's memory that may be a Method* -> the method's names and lines
 * units:   addr in the process; bytes
 * threads: any
 * errors:  negative errno: -EFAULT not mapped, -ENOENT no method there, -ETIMEDOUT as of
 *          guarded_memory.h, -EPERM, -ESRCH, -ENOMEM
 * source:  process_vm_readv(2); method.hpp, constMethod.hpp, constantPool.hpp, symbol.hpp of
 *          HotSpot
 *
 * The process is not stopped and its memory is not written. The bytes read may be half of an old
 * method and half of a new one, or any bytes that the process has put there to deceive. So each
 * pointer is checked before it is followed, each length before it is used, and a method takes at
 * most ten reads.
 */
#ifndef FG_CODE_METHOD_READER_H
#define FG_CODE_METHOD_READER_H

#include "code/vm_layout.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A longer name is cut; half as many bytes of a name are shown. */
#define METHOD_TEXT_MAX_BYTES 2048

/* A longer line number table is left out. */
#define METHOD_LINES_MAX_BYTES 4096

enum method_text_kind {
	METHOD_CLASS,
	METHOD_NAME,
	METHOD_SIGNATURE,
	METHOD_TEXTS, /* the number of texts that each method has */
	METHOD_SOURCE_FILE = METHOD_TEXTS,
	METHOD_ALL_TEXTS,
};

/* Modified UTF-8. */
struct method_text {
	char bytes[METHOD_TEXT_MAX_BYTES];
	uint16_t len;
};

/* The addresses of all that a method's names are read from. */
struct method_places {
	uint64_t method, const_method, pool, holder;
	uint64_t symbols[METHOD_TEXTS];
	uint16_t lens[METHOD_TEXTS]; /* bytes that were read of each symbol's text */
	uint16_t name_index, signature_index;
};

struct method_facts {
	struct method_places places;
	uint64_t fingerprint; /* as of method_reader_fingerprint */
	uint64_t bytecodes;   /* the address of the first bytecode */
	uint32_t code_bytes;  /* of bytecodes; 0 for a native method */
	struct method_text
		texts[METHOD_ALL_TEXTS];       /* that of the source file is empty if not known */
	uint8_t lines[METHOD_LINES_MAX_BYTES]; /* the bytes of a struct line_table */
	uint32_t lines_len;		       /* 0: not known */
};

/* Whether another read, soon, may well have no such error. */
static inline bool method_reader_may_try_again(int err)
{
	return err == -ETIMEDOUT || err == -ENOMEM;
}

/* vm_layout_has_methods must be true for the layout. ret is undefined after an error. */
int method_reader_read(pid_t pid, const struct vm_layout *layout, uint64_t addr,
		       struct method_facts *ret);

/*
 * A hash over all bytes that a method's names are read from, with one read. If the hash has
 * changed, another method may be at the address.
 */
int method_reader_fingerprint(pid_t pid, const struct vm_layout *layout,
			      const struct method_places *places, uint64_t *ret);

#endif
