// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the agent's one thread: dials, says hello, resynchronises, sends what was recorded
 * units:   nanoseconds where a name says so
 * threads: sender_start and sender_finish from the JVM's, the rest on its own
 * errors:  none to the caller: a connection that fails is dropped, counted and dialled again
 * source:  shared/README.md
 *
 * Without a collector the thread sleeps but for one connect(2) a second, or altogether if it is the
 * collector who dials, and holds no buffer.
 */
#ifndef FGAGENT_SENDER_H
#define FGAGENT_SENDER_H

#include "events.h"
#include "hello.h"
#include "listener.h"
#include "threads.h"
#include "uplink.h"

struct sender {
	JavaVM *vm;
	jvmtiEnv *jvmti;
	const struct options *options;
	const struct hello *hello;
	struct recorder *recorder;
	struct events *events;
	struct threads threads;
	struct uplink uplink;
	struct listener listener; /* options->listens */
	int wake_fd;		  /* the recorder's, which also ends every wait of the thread */
	uint32_t epoch;		  /* of the last resynchronisation */
	uint64_t resync_at_ns;	  /* no earlier than this */
	uint64_t resync_wait_ns;  /* grows while resynchronisations fail */
	uint64_t back_off_ns;
	bool is_synced; /* a resynchronisation of this connection was complete */
	atomic_bool quit;
	atomic_bool connected;
	_Atomic uint32_t ended; /* a futex */
};

/* The caller has set vm to wake_fd; false if there is no thread to be had. */
bool sender_start(struct sender *sender);

/*
 * The JVM ends: nothing more is recorded; waits at most wait_ms for the last words, and for the
 * listening socket to be removed, if there are any.
 */
void sender_finish(struct sender *sender, int wait_ms);

#endif
