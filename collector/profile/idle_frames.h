// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame's name -> whether a thread that waits with such a frame has nothing to do
 * units:   none
 * threads: any, constants
 * errors:  none
 * source:  the JDK's sources; stacks of HotSpot's own threads (JDK 11, 17, 21, 25) as a debugger
 *          shows them; the sources of Netty, Tomcat, Jetty, JBoss Threads and others
 *
 * A blocked thread is idle if its stack has an idle frame, or an idle loop that itself calls a
 * wait. An idle loop is a method which also runs tasks, so that the frame alone says nothing. A
 * file can be an idle loop too, with all its functions.
 *
 * A pattern is a frame's name. '*' stands for any text, '.' and '/' are equal, and parameters
 * behind the name do not count. The package may be missing from the name.
 *
 * The page's lists are made from these lists.
 */
#ifndef FG_PROFILE_IDLE_FRAMES_H
#define FG_PROFILE_IDLE_FRAMES_H

#include <stdbool.h>

enum idle_role {
	IDLE_FRAME = 1,
	IDLE_LOOP = 2,
	IDLE_WAIT = 4, /* Object.wait and others, by which idle loops wait */
};

/* Each is ended by a NULL. */
extern const char *const idle_frames[];
extern const char *const idle_loops[];
extern const char *const idle_waits[];

bool idle_frame_matches(const char *pattern, const char *name);
/* Bits of enum idle_role: what the lists say of a frame. module: its file, or NULL. */
unsigned idle_frame_roles(const char *name, const char *module);

#endif
