// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the named frames of a thread that parks, or that makes an exception -> what it is about
 * units:   none
 * threads: any
 * errors:  none
 * source:  java.util.concurrent.locks of JDK 11 to 25: AbstractQueuedSynchronizer, its Long twin,
 *          StampedLock; java.lang.Throwable
 *
 * Frames are leaf first, and names may be in any style of code/java_name.h. What parks and is no
 * lock is a thread that waits for work or for a signal: a pool's, a queue's, a latch's.
 */
#ifndef FG_PROBES_PROBE_FRAMES_H
#define FG_PROBES_PROBE_FRAMES_H

#include "symbolize/frame.h"

#include <stdbool.h>
#include <stddef.h>

#define PROBE_FRAMES_CLASS_BYTES 512

/*
 * Whether the thread parks because another one has a lock. ret is the lock's class, as in Java's
 * source: java.util.concurrent.locks.ReentrantLock.
 */
bool probe_frames_lock(const struct frame *frames, size_t n, char ret[PROBE_FRAMES_CLASS_BYTES]);

/*
 * How many of the frames make the exception: the native ones, fillInStackTrace, the constructors,
 * and what calls these if the JVM throws. ret is the exception's class, that of the outermost
 * constructor.
 *
 * The names alone do not tell a constructor that throws from one of the exception. The exception's
 * end in Exception, Error or Throwable, but for one that extends Throwable, Exception,
 * RuntimeException or Error directly.
 */
size_t probe_frames_exception(const struct frame *frames, size_t n,
			      char ret[PROBE_FRAMES_CLASS_BYTES]);

#endif
