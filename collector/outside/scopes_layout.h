// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the values of a JVM's tables -> where an nmethod has its debug information
 * units:   bytes; addr in the process
 * threads: any, a value
 * errors:  false: this JVM does not tell, or this nmethod has none
 * source:  HotSpot's code/nmethod.hpp, code/pcDesc.hpp of JDK 8 to 26
 *
 * Debug information says which methods were inlined where. It has three parts: descriptors of
 * addresses (PcDesc), the scopes to which these lead, and the Methods that scopes name by number.
 * Up to JDK 22 all parts lie behind the code. Since JDK 23 descriptors and scopes lie in memory of
 * their own, and since JDK 25 the Methods do so, too.
 */
#ifndef FG_OUTSIDE_SCOPES_LAYOUT_H
#define FG_OUTSIDE_SCOPES_LAYOUT_H

#include "vm/vm_tables.h"

#define SCOPES_MAX_BYTES (UINT32_C(4) << 20) /* of one nmethod's debug information */

/* Where the Methods are. */
enum scopes_methods {
	SCOPES_METHODS_IN_BLOB, /* an offset from the blob */
	SCOPES_METHODS_IN_DATA, /* an offset of 16 bits from the blob's data */
	SCOPES_METHODS_APART,	/* behind the relocations, in memory of their own */
};

struct scopes_layout {
	bool has_scopes;
	bool is_apart;	/* descriptors and scopes are */
	bool is_biased; /* numbers are those of JDK 20 and later */

	/* In nmethod. */
	uint32_t apart, apart_bytes; /* a pointer, and an int */
	uint32_t pcs, scopes;	     /* ints, from the blob, or from what is apart */
	bool scopes_is_pointer;
	uint32_t pcs_end; /* an int, from the blob */
	enum scopes_methods methods_are;
	uint32_t methods;      /* an int; 16 bits; or a pointer */
	uint32_t methods_from; /* an int: where the blob's data begins, or bytes of relocations */
	uint32_t methods_end;  /* an int: bytes of the blob, or of what is apart */
	uint32_t bytes;	       /* up to the end of the last member that is read */

	uint32_t pc_desc_bytes, pc_offset, scope_offset; /* PcDesc */
};

struct scopes_span {
	uint64_t at;
	uint32_t len;
};

struct scopes_places {
	struct scopes_span pcs, scopes, methods;
};

void scopes_layout_init(struct scopes_layout *layout, const struct vm_tables *tables);

/* Where the nmethod at addr has its parts. bytes: so many of it as the layout says. */
bool scopes_layout_find(const struct scopes_layout *layout, const uint8_t *bytes, uint64_t addr,
			struct scopes_places *ret);

#endif
