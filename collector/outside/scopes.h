// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the bytes of an nmethod's debug information -> regions of its code, each with one stack
 *          of Methods
 * units:   bytes from the start of the code; addr of Methods in the process
 * threads: any, a value
 * errors:  descriptors out of order, outside of the code or without a whole stack are skipped, and
 *          the latter set is_broken
 * source:  HotSpot's code/pcDesc.hpp, code/scopeDesc.cpp, code/debugInfo.hpp of JDK 8 to 26
 *
 * A PcDesc describes the code up to its address, from that of the PcDesc before: so JVMTI tells it
 * to agents. Most compilers describe only where the JVM may stop, unless DebugNonSafepoints is set.
 */
#ifndef FG_OUTSIDE_SCOPES_H
#define FG_OUTSIDE_SCOPES_H

#include "outside/scopes_layout.h"

#define SCOPES_MAX_DEPTH  256
#define SCOPES_MAX_FRAMES (UINT32_C(1) << 20) /* of all regions of an nmethod */

/* The bytes are borrowed. */
struct scopes {
	const struct scopes_layout *layout;
	const uint8_t *pcs, *scopes, *methods;
	uint32_t pcs_len, scopes_len, methods_len;
	uint32_t code_bytes;
};

struct scopes_frame {
	uint64_t method;
	int32_t bci; /* -1: not known */
};

struct scopes_region {
	uint32_t end; /* exclusive */
	uint32_t depth;
	struct scopes_frame frames[SCOPES_MAX_DEPTH]; /* outermost first */
};

/* Only scopes is set at first. */
struct scopes_walk {
	const struct scopes *scopes;
	uint32_t pos;	 /* in the descriptors */
	uint32_t end;	 /* of the region before */
	uint32_t frames; /* that were decoded */
	bool is_broken;
	bool has_ahead;
	struct scopes_region ahead; /* the region after the last one, already read */
};

/* The next region; neighbours with equal stacks are joined. False at the end. */
bool scopes_next(struct scopes_walk *walk, struct scopes_region *ret);

/* How many of the outermost frames of a and b are equal. */
uint32_t scopes_shared(const struct scopes_region *a, const struct scopes_region *b);

#endif
