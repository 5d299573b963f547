// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   events of any thread -> records in one buffer, in time order -> the sender
 * units:   bytes; times CLOCK_MONOTONIC nanoseconds, taken under the lock
 * threads: recorder_add_* from any; the rest from the agent's own thread
 * errors:  a record that cannot be kept is counted by reason and reported as its return value
 * source:  shared/README.md
 *
 * Life: zero-filled it is off and adds nothing. recorder_open gives it storage and turns it on,
 * recorder_close takes the storage back; both may happen any number of times. The lock is held for
 * one record's encoding at most, never over a system call that waits.
 */
#ifndef FGAGENT_RECORDER_H
#define FGAGENT_RECORDER_H

#include "buffer.h"
#include "shared/wire.h"

#include <pthread.h>
#include <stdatomic.h>

struct recorder {
	pthread_mutex_t lock;
	struct buffer buffer; /* under lock */
	int wake_fd;	      /* eventfd of the sender */
	atomic_bool on;
	atomic_bool is_idle; /* the sender sleeps until it is woken */
	atomic_bool need_resync;
	atomic_bool loss_changed;
	_Atomic uint64_t loss[WIRE_LOSS_REASONS];
};

enum recorder_result {
	RECORDER_ADDED,
	RECORDER_OFF,	    /* nobody listens */
	RECORDER_FULL,	    /* no room now; not yet counted */
	RECORDER_TOO_LARGE, /* can never fit; not yet counted */
};

/* wake_fd is borrowed. */
void recorder_init(struct recorder *recorder, int wake_fd);

/* The storage is borrowed until recorder_close, which counts what still waited as lost. */
void recorder_open(struct recorder *recorder, void *storage, size_t bytes);
void recorder_close(struct recorder *recorder);
/* Off, but what waits can still be read. */
void recorder_stop(struct recorder *recorder);

/* The check that callbacks begin with. */
static inline bool recorder_is_on(const struct recorder *recorder)
{
	return atomic_load_explicit(&recorder->on, memory_order_acquire);
}

/* Stamp the record's time and append it. */
enum recorder_result recorder_add_load(struct recorder *recorder, uint16_t flags,
				       struct wire_method_load *load);
enum recorder_result recorder_add_unload(struct recorder *recorder,
					 struct wire_method_unload *unload);
enum recorder_result recorder_add_stub(struct recorder *recorder, uint16_t flags,
				       struct wire_stub *stub);
enum recorder_result recorder_add_resync(struct recorder *recorder, enum wire_kind kind,
					 struct wire_resync *resync);
enum recorder_result recorder_add_thread(struct recorder *recorder, struct wire_thread *thread);

/*
 * Before the sender sleeps until it is woken: from true on, the next record and the next loss wake
 * it. False if something waits already. recorder_unidle when it is awake: it looks by itself then,
 * and is woken only by a quarter of the buffer, or 16 KiB.
 */
bool recorder_idle(struct recorder *recorder);
void recorder_unidle(struct recorder *recorder);

/* Counts a loss and has the sender report it. */
void recorder_count_loss(struct recorder *recorder, enum wire_loss_reason reason, uint64_t n);
/* The counters; true if one changed since the last call. */
bool recorder_take_loss(struct recorder *recorder, struct wire_loss *ret);

/* What waits: as buffer_peek and buffer_consume, which see. Peeked bytes stay valid. */
size_t recorder_peek(struct recorder *recorder, size_t max, const uint8_t **ret);
void recorder_consume(struct recorder *recorder, size_t bytes);
size_t recorder_used_bytes(struct recorder *recorder);

#endif
