// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a profile -> the state of the thread in each of its stacks, and a profile of the stacks
 *          that are wanted
 * units:   weights as the profile's
 * threads: any number at once on one source; the results belong to one
 * errors:  -ENOMEM
 * source:  the leaf frames of kind FRAME_WAIT, see symbolize/frame.h
 *
 * A stack with the frame [runnable] is of a thread that waited for a processor, a stack with
 * another frame of kind FRAME_WAIT is of a blocked thread, and each other stack is of a running
 * thread. A stack is idle if it is blocked and of a thread that waits for work, see idle_frames.h.
 * All this holds for stacks that are upside down too.
 */
#ifndef FG_PROFILE_WAITS_H
#define FG_PROFILE_WAITS_H

#include "profile/profile.h"
#include "profile/profile_kind.h"
#include "profile/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAITS_MAX_FRAMES      32u
#define WAITS_MAX_FRAME_BYTES 256u
#define WAITS_SAY_BYTES	      (6 * PROFILE_AMOUNT_BYTES)

enum wait_state {
	WAIT_RUNNING,
	WAIT_RUNNABLE,
	WAIT_BLOCKED,
	WAIT_STATES,
};

enum wait_idle {
	WAIT_IDLE_DEFAULT, /* graphs hide idle stacks, other formats have them */
	WAIT_IDLE_HIDDEN,
	WAIT_IDLE_SHOWN,
};

/* What a user asked for. A zero-filled struct has all defaults. */
struct wait_options {
	unsigned states; /* bits 1 << enum wait_state of the stacks that are wanted; 0: all */
	enum wait_idle idle;
	const char *idle_frames[WAITS_MAX_FRAMES]; /* patterns besides those of idle_frames.h */
	size_t n_idle_frames;
};

/* Of each node what the stacks that end in it are, and sums of weights. */
struct waits {
	uint8_t *states; /* enum wait_state */
	bool *is_idle;
	uint64_t all, by_state[WAIT_STATES], idle;
	bool has_waits; /* the profile has frames of kind FRAME_WAIT */
};

/* What becomes of idle stacks. */
enum waits_way {
	WAITS_KEEP,
	WAITS_LEAVE_OUT,
	WAITS_FOLD, /* one node [idle] below the labels at the stack's root */
};

/* Stacks that are wanted, of a profile. */
struct waits_cut {
	struct profile profile;
	struct timeline timeline; /* its texts, processes and threads are those of the source */
};

/* Whether the profile has frames of kind FRAME_WAIT. */
bool waits_are_in(const struct profile *profile);
/* Without frames of kind FRAME_WAIT, the arrays stay NULL and all is of running threads. */
int waits_init(struct waits *ret, const struct profile *profile,
	       const struct wait_options *options);
void waits_fini(struct waits *waits);

/* Whether stacks that end in the node are of a wanted state, and not idle where that is hidden. */
bool waits_wants(const struct waits *waits, const struct wait_options *options, enum waits_way way,
		 uint32_t node);
/* Whether waits_wants is false for any stack, or idle stacks are folded. */
bool waits_changes(const struct waits *waits, const struct wait_options *options,
		   enum waits_way way);

/* timeline may be NULL. from, timeline and waits are borrowed until waits_cut_fini. */
int waits_cut_init(struct waits_cut *ret, const struct profile *from,
		   const struct timeline *timeline, const struct waits *waits,
		   const struct wait_options *options, enum waits_way way);
void waits_cut_fini(struct waits_cut *cut);

/*
 * Says which stacks are there, and how much time is idle: "idle: 843.0 s of 900.0 s (93.7 %), not
 * shown". "": nothing is to be said. Returns ret.
 */
const char *waits_say(const struct waits *waits, const struct wait_options *options,
		      enum waits_way way, const struct profile_kind *kind,
		      char ret[WAITS_SAY_BYTES]);

/* "running", "runnable", "blocked" */
const char *wait_state_word(enum wait_state state);
/* Reads words with commas between them, "running,blocked". False: there is another word. */
bool wait_states_parse(const char *text, unsigned *ret);

#endif
