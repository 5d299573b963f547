// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   named stacks -> a weighted call tree
 * units:   weights are samples
 * threads: one at a time while it grows; immutable and free to share once it is complete
 * errors:  -ENOMEM; past the node cap a stack is cut at an [overflow] node and counted
 * source:  none
 *
 * Sibling nodes with equal name and kind are one node. A profile copies all names and texts, so it
 * outlives its sources. Node 0 is the root ("all"), and a parent's number is smaller than its
 * children's. A node's total is 0 only where memory ran out while the node was made, or where the
 * node was added with weight 0. A node has no line if its samples are at several lines of the
 * method, and its module has no build ID if its samples are in several builds of the module.
 */
#ifndef FG_PROFILE_PROFILE_H
#define FG_PROFILE_PROFILE_H

#include "base/intern.h"
#include "symbolize/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_ROOT	     0u
#define PROFILE_MAX_NODES    4000000
#define PROFILE_MAX_LINE     0xffffff
#define PROFILE_MAX_MODULE   4096u /* bytes; longer names of modules are cut */
#define PROFILE_MAX_BUILD_ID 128u  /* digits; a longer build ID is ignored */
#define PROFILE_REASONS	     12	   /* reasons of truncated stacks; the caller numbers them */

struct profile_node {
	const char *name;
	const char *module; /* or NULL; see profile_build_id */
	const char *file;   /* source file, or NULL */
	uint32_t parent;
	uint32_t first_child;  /* 0: none */
	uint32_t next_sibling; /* 0: none */
	uint32_t line : 24;    /* the line of all samples, or 0 */
	uint8_t kind;	       /* enum frame_kind */
	uint64_t self;	       /* samples that end in this node */
	uint64_t total;	       /* self, and the totals of all children */
};

/*
 * The quality of the samples, from which the quality line and the graph's notes are made.
 * profile_add counts the fields marked (add), from the frames; the caller counts the others.
 */
struct profile_quality {
	uint64_t samples; /* (add) in the tree */
	/* (add) with a FRAME_UNKNOWN frame; the caller adds unnamed interpreted ones */
	uint64_t unnamed_samples;
	uint64_t unnamed_java_samples; /* with an unnamed frame in generated code */
	uint64_t unrooted_samples;     /* whose stack does not reach the thread's entry */
	uint64_t heapless_samples;     /* of virtual threads, without the frames of the heap */
	uint64_t truncated_samples[PROFILE_REASONS]; /* unrooted samples with at least one frame */
	uint64_t lost_samples;			     /* the kernel's count */
	uint64_t stackless_samples;		     /* for whose snapshot there was no memory */
	uint64_t overflow_samples;		     /* (add) cut at the node cap */
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
	uint32_t kinds;	    /* a bit for each kind that nodes were added with */
	bool has_modules;   /* a name with a module was kept */
	bool is_closed;	    /* stacks that are added make no nodes; set by the owner */
	uint32_t n_indexed; /* nodes from here on are not in the index yet */
	uint64_t seed;	    /* key of the index's hash; never 0 */
	struct profile_quality quality;
};

/*
 * max_nodes 0: PROFILE_MAX_NODES. max_nodes limits all nodes; a few of them are reserved for
 * [overflow] nodes.
 */
int profile_init(struct profile *profile, uint32_t max_nodes);
/* The number of nodes at which stacks add none but [overflow] nodes. */
uint32_t profile_most_of_stacks(const struct profile *profile);
void profile_fini(struct profile *profile);
/* The memory of nodes, index and names. */
size_t profile_bytes(const struct profile *profile);

/*
 * The build ID of a node's module, as in struct frame; NULL if it is not known. module must be NULL
 * or owned by a profile. Modules with one name and several builds are separate texts.
 */
const char *profile_build_id(const char *module);

/* The frame that a node stands for, with the build ID of its module; its texts are the node's. */
struct frame profile_frame_of(const struct profile_node *node);

/*
 * A stack that would need a node of a tree that is closed ends in the [overflow] node of the root's
 * child, or of the root, and is counted as one that is cut at the node cap.
 *
 * Adds a stack of n frames, leaf first, with weight. If n is 0, the root's self grows. Names,
 * modules and files are copied. -ENOMEM, or -EOVERFLOW: the sum of all weights would not fit; then
 * nothing has been counted.
 */
int profile_add(struct profile *profile, const struct frame *frames, size_t n, uint64_t weight);
/*
 * Like profile_add; *ret is the node in which the stack ends. With a weight of 0 the nodes are made
 * and nothing is counted: for a stack that only the other side of a comparison has.
 */
int profile_add_leaf(struct profile *profile, const struct frame *frames, size_t n, uint64_t weight,
		     uint32_t *ret);

/*
 * The functions below are for readers of whole profiles, in which names repeat and many stacks
 * begin alike. profile_keep_name keeps and hashes a name once, profile_descend goes down one frame,
 * profile_count counts a stack in its last node. Call profile_sum once at the end: it makes the
 * totals.
 */
struct profile_name {
	const char *text; /* owned by the profile */
	uint64_t hash;
	const char *module; /* owned by the profile, or NULL; carries its build ID */
	const char *file;   /* owned by the profile */
	uint32_t line;
	enum frame_kind kind;
};

int profile_keep_name(struct profile *profile, const struct frame *frame, struct profile_name *ret);
/*
 * Moves *id to its child of that name, which is made if it is missing. Returns 1 where the node cap
 * cuts the stack: *id is then an [overflow] node, and nothing may be added below it.
 */
int profile_descend(struct profile *profile, const struct profile_name *name, uint32_t *id);
/*
 * Like profile_descend, for a caller who knows that *id has no child of that name, as readers of
 * sorted files do. Nothing is looked up, and the child enters the index only when a later look-up
 * needs the index.
 */
int profile_append(struct profile *profile, const struct profile_name *name, uint32_t *id);
/*
 * What profile_descend does to a child that is there: for a caller who knows which node has that
 * name. A line or a build that differs is forgotten.
 */
void profile_meet(struct profile *profile, const struct profile_name *name, uint32_t id);
/* -EOVERFLOW: the sum of all weights would not fit; nothing is counted. */
int profile_count(struct profile *profile, uint32_t id, uint64_t weight);
void profile_sum(struct profile *profile);
/* Adds from's counts other than samples, those that profile_count does not count. */
void profile_add_quality(struct profile_quality *to, const struct profile_quality *from);
/* Adds from's stacks upside down, the leaf below the root, to an empty profile. */
int profile_add_reversed(struct profile *profile, const struct profile *from);

#endif
