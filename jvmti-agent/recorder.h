// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   events of any thread -> records in one buffer, in order of time -> the sender
 * units:   bytes; times CLOCK_MONOTONIC nanoseconds, taken under the lock
 * threads: recorder_add_*, recorder_count_loss, recorder_is_on and recorder_stop on any; the rest
 *          on the agent's own
 * errors:  recorder_add_* return why a record was not added; the caller counts the loss
 * source:  shared/README.md
 *
 * Life cycle: a zero-filled recorder is off and adds nothing. recorder_open gives it storage and
 * turns it on; recorder_close takes the storage back; both may be called any number of times. The
 * lock is held at most while one record is encoded, and never in a system call that waits.
 */
#ifndef FGAGENT_RECORDER_H
#define FGAGENT_RECORDER_H

#include "buffer.h"
#include "shared/wire.h"
#include "wake.h"

#include <pthread.h>
#include <stdatomic.h>

struct recorder {
	pthread_mutex_t lock;
	struct buffer buffer; /* guarded by lock */
	size_t record_max;    /* no record is larger, and the usual size of the buffer */
	size_t others_max;    /* records that repeat nothing find room up to here */
	struct wake *wake;    /* borrowed; what the sender waits for */
	atomic_bool on;
	atomic_bool is_idle; /* the sender sleeps until it is woken */
	atomic_bool need_resync;
	atomic_bool loss_changed;
	_Atomic uint64_t loss[WIRE_LOSS_REASONS];
};

enum recorder_result {
	RECORDER_ADDED,
	RECORDER_OFF,	    /* no collector is connected */
	RECORDER_FULL,	    /* no room at the moment */
	RECORDER_TOO_LARGE, /* larger than the whole buffer */
};

/* wake is borrowed. */
void recorder_init(struct recorder *recorder, struct wake *wake);

/*
 * recorder_open borrows the storage until recorder_close. recorder_close counts records that were
 * not sent as lost.
 */
void recorder_open(struct recorder *recorder, void *storage, size_t bytes);
void recorder_close(struct recorder *recorder);
/*
 * recorder_widen lets the buffer use bytes of the storage, which has at least as many, while code
 * is repeated: other records find room in a half of it only, so that the repetition always has
 * some.
 * recorder_narrow ends that, and returns the end of the bytes that are used at the moment. The
 * largest record stays the one that recorder_open has set.
 */
void recorder_widen(struct recorder *recorder, size_t bytes);
size_t recorder_narrow(struct recorder *recorder);
/* Turns the recorder off; records in the buffer can still be read. */
void recorder_stop(struct recorder *recorder);

/* Callbacks check this first. */
static inline bool recorder_is_on(const struct recorder *recorder)
{
	return atomic_load_explicit(&recorder->on, memory_order_acquire);
}

/* Each function sets the record's time and appends the record. */
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
 * The sender calls recorder_idle before it sleeps without a limit. True: the next record or loss
 * wakes the sender. False: a record or a loss is there already. The sender calls recorder_unidle
 * when it is awake: after that it looks for records by itself, and is woken only when a quarter of
 * the buffer or 16 KiB wait, whichever is less.
 */
bool recorder_idle(struct recorder *recorder);
void recorder_unidle(struct recorder *recorder);

/* Counts n losses, which the sender will report. */
void recorder_count_loss(struct recorder *recorder, enum wire_loss_reason reason, uint64_t n);
/* Reads the counters of losses; true if one has changed since the last call. */
bool recorder_take_loss(struct recorder *recorder, struct wire_loss *ret);

/*
 * buffer_peek, buffer_consume and buffer_used_bytes under the lock. Peeked bytes stay valid without
 * the lock until they are consumed.
 */
size_t recorder_peek(struct recorder *recorder, size_t max, const uint8_t **ret);
void recorder_consume(struct recorder *recorder, size_t bytes);
size_t recorder_used_bytes(struct recorder *recorder);

#endif
