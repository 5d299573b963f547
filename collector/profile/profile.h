// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   named stacks -> a weighted call tree
 * units:   weights are samples
 * threads: one at a time while it grows; immutable and free to share once it no longer does
 * errors:  -ENOMEM; past the node cap a stack is cut at an [overflow] node and counted
 * source:  none
 *
 * Nodes are merged by name and kind among siblings. Names are copied: a profile owns all it points
 * at and outlives its sources. Nodes are numbered: 0 is the root ("all"), a parent's number is
 * smaller than its children's. A node's total is 0 only where memory ran out while it was made, or
 * it was added with weight 0. Of samples at several lines of one method a node says no line, and of
 * samples in several builds of a module no build.
 */
#ifndef FG_PROFILE_PROFILE_H
#define FG_PROFILE_PROFILE_H

#include "base/intern.h"
#include "symbolize/frame.h"

#include <stddef.h>
#include <stdint.h>

#define PROFILE_ROOT	     0u
#define PROFILE_MAX_NODES    4000000
#define PROFILE_MAX_LINE     0xffffff
#define PROFILE_MAX_MODULE   4096u /* bytes; longer names of modules are cut */
#define PROFILE_MAX_BUILD_ID 128u  /* digits; what is longer is none */
#define PROFILE_REASONS	     8	   /* for stacks that are not whole; the caller numbers them */

struct profile_node {
	const char *name;
	const char *module; /* or NULL; profile_build_id says of which build */
	const char *file;   /* of the source, or NULL */
	uint32_t parent;
	uint32_t first_child;  /* 0: none */
	uint32_t next_sibling; /* 0: none */
	uint32_t line : 24;    /* where all samples are at one, or 0 */
	uint8_t kind;	       /* enum frame_kind */
	uint64_t self;	       /* samples that end here */
	uint64_t total;	       /* self and below */
};

/*
 * How good the samples were; the quality line and the graph's notes are made from it. profile_add
 * counts what the frames show, marked (add); the rest is for the caller to count.
 */
struct profile_quality {
	uint64_t samples;	       /* (add) in the tree */
	uint64_t unnamed_samples;      /* (add) with at least one frame of kind FRAME_UNKNOWN */
	uint64_t unnamed_java_samples; /* with an unnamed frame in generated code */
	uint64_t unrooted_samples;     /* that do not reach the thread's entry */
	uint64_t heapless_samples;     /* of virtual threads, without the frames in the heap */
	uint64_t truncated_samples[PROFILE_REASONS]; /* of these, those that have any frame */
	uint64_t lost_samples;			     /* the kernel's count */
	uint64_t stackless_samples; /* for the copy of whose stack there was no memory */
	uint64_t overflow_samples;  /* (add) cut at the node cap */
};

struct profile_slot {
	uint32_t hash;
	uint32_t node; /* 0: free */
};

struct profile {
	struct intern names;
	struct profile_node *nodes;
	uint32_t count;
	uint32_t size;
	uint32_t max_nodes;
	struct profile_slot *index; /* (parent, name, kind) -> node, open addressing */
	uint32_t index_size;
	uint64_t seed; /* of the index's hash; never 0 */
	struct profile_quality quality;
};

/*
 * max_nodes 0: PROFILE_MAX_NODES. The cap holds for all nodes; a few of them are kept for the
 * [overflow] nodes.
 */
int profile_init(struct profile *profile, uint32_t max_nodes);
void profile_fini(struct profile *profile);

/*
 * The build ID of a node's module, which is NULL or a profile's own: as struct frame has it, NULL
 * if it is not known. Modules of one name and of several builds are texts of their own.
 */
const char *profile_build_id(const char *module);

/*
 * Adds a stack of n frames, leaf first, weight times. n may be 0: then the root's self grows.
 * Names, modules and files are copied. On -ENOMEM nothing has been counted.
 */
int profile_add(struct profile *profile, const struct frame *frames, size_t n, uint64_t weight);
/*
 * And says at which node the stack ends. A weight of 0 makes the nodes and counts nothing, for a
 * stack that is only in what a profile is compared with.
 */
int profile_add_leaf(struct profile *profile, const struct frame *frames, size_t n, uint64_t weight,
		     uint32_t *ret);

/*
 * For readers of whole profiles, which meet each name many times and many stacks that begin alike:
 * a name is kept and hashed once, a path is gone down a frame at a time, and a stack is counted
 * where it ends. Totals are made by profile_sum, once, when all is there.
 */
struct profile_name {
	const char *text; /* of this profile's own names */
	uint64_t hash;
	const char *module; /* likewise, or NULL; with its build ID */
	const char *file;   /* likewise */
	uint32_t line;
	enum frame_kind kind;
};

int profile_keep_name(struct profile *profile, const struct frame *frame, struct profile_name *ret);
/*
 * Moves *id to its child of that name, made if it is not there. Returns 1 where the node cap cut
 * the stack: then *id is an [overflow] node, and nothing may be added below it.
 */
int profile_descend(struct profile *profile, const struct profile_name *name, uint32_t *id);
/* -EOVERFLOW, and nothing counted, if all weights together would not fit. */
int profile_count(struct profile *profile, uint32_t id, uint64_t weight);
void profile_sum(struct profile *profile);
/* from's stacks with the leaf first and the root last, into an empty profile. */
int profile_add_reversed(struct profile *profile, const struct profile *from);

#endif
