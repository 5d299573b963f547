// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the agent's one thread: dials, sends HELLO, resynchronises, sends the records
 * units:   nanoseconds where a name says so
 * threads: sender_start and sender_finish on the JVM's threads, the rest on the agent's own
 * errors:  none to the caller: a connection that fails is closed, counted and dialled again
 * source:  shared/README.md
 *
 * Without a collector the thread holds no buffer. It sleeps between its connect(2) calls, soon one
 * a second. If the agent listens, it sleeps until a collector dials, and looks after its socket.
 * Without OWN_FD_SPARE free descriptors it does neither.
 */
#ifndef FGAGENT_SENDER_H
#define FGAGENT_SENDER_H

#include "events.h"
#include "hello.h"
#include "listener.h"
#include "probes/probe_switch.h"
#include "threads.h"
#include "uplink.h"
#include "wake.h"

#include <sys/stat.h>

struct sender {
	JavaVM *vm;
	jvmtiEnv *jvmti;
	const struct options *options;
	const struct hello *hello;
	struct recorder *recorder;
	struct events *events;
	struct threads threads;
	struct probe_switch probes;
	struct uplink uplink;
	struct listener listener; /* used if options->listens */
	struct wake wake;	  /* by the recorder, and at the JVM's end */
	uint8_t *ring;		  /* storage of the recorder's buffer, while connected */
	uint32_t epoch;		  /* number of the last resynchronisation */
	uint64_t resync_at_ns;	  /* the next resynchronisation is not earlier */
	uint64_t resync_wait_ns;  /* doubles with each failed resynchronisation */
	uint64_t back_off_ns;
	uint64_t unread_ns;  /* back-off from a collector that does not read; 0: the last did */
	struct stat dialled; /* identity of the socket's file that was dialled */
	bool is_wide;	     /* the buffer has its room for a resynchronisation */
	bool is_misled;	     /* this connection was no collector's */
	bool is_unread;	     /* this connection's collector did not read */
	bool is_synced;	     /* this connection had a complete resynchronisation */
	bool has_sent;	     /* since it last waited for a tick */
	atomic_bool quit;
	atomic_bool connected;
	_Atomic uint32_t ended; /* a futex: 1 once the thread has ended */
};

/*
 * Starts the thread; the caller has set the members vm to events, and opened wake. False if no
 * thread can be made.
 */
bool sender_start(struct sender *sender);

/*
 * Call it when the JVM ends. Stops recording. Waits at most wait_ms until the thread has sent its
 * last records, if it is connected, and has removed the listening socket, if it has one.
 */
void sender_finish(struct sender *sender, int wait_ms);

#endif
