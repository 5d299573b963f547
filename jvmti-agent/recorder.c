// SPDX-License-Identifier: Apache-2.0
/*
 * Puts records into the buffer under one lock, so that the stream is in order of time whichever
 * thread an event comes from. Waking the sender costs a system call, so it is done only if the
 * sender is idle, or if many bytes wait before the sender looks next.
 */
#include "recorder.h"

#include "clock.h"

#define MUCH_BYTES (16u << 10)

void recorder_init(struct recorder *recorder, struct wake *wake)
{
	pthread_mutex_init(&recorder->lock, NULL);
	recorder->wake = wake;
}

void recorder_open(struct recorder *recorder, void *storage, size_t bytes)
{
	pthread_mutex_lock(&recorder->lock);
	buffer_init(&recorder->buffer, storage, bytes);
	recorder->record_max = recorder->others_max = bytes;
	pthread_mutex_unlock(&recorder->lock);
	atomic_store_explicit(&recorder->on, true, memory_order_release);
}

void recorder_widen(struct recorder *recorder, size_t bytes)
{
	pthread_mutex_lock(&recorder->lock);
	buffer_resize(&recorder->buffer, bytes);
	recorder->others_max = bytes / 2;
	pthread_mutex_unlock(&recorder->lock);
}

size_t recorder_narrow(struct recorder *recorder)
{
	size_t end;

	pthread_mutex_lock(&recorder->lock);
	buffer_resize(&recorder->buffer, recorder->record_max);
	recorder->others_max = recorder->record_max;
	end = buffer_used_end(&recorder->buffer);
	pthread_mutex_unlock(&recorder->lock);
	return end;
}

void recorder_stop(struct recorder *recorder)
{
	atomic_store_explicit(&recorder->on, false, memory_order_release);
}

void recorder_close(struct recorder *recorder)
{
	uint64_t waiting;

	recorder_stop(recorder);
	pthread_mutex_lock(&recorder->lock);
	waiting = recorder->buffer.n_records;
	recorder->buffer = (struct buffer){0};
	pthread_mutex_unlock(&recorder->lock);
	if (waiting > 0)
		recorder_count_loss(recorder, WIRE_LOSS_DISCONNECT, waiting);
}

void recorder_count_loss(struct recorder *recorder, enum wire_loss_reason reason, uint64_t n)
{
	atomic_fetch_add_explicit(&recorder->loss[reason], n, memory_order_relaxed);
	if (!atomic_exchange(&recorder->loss_changed, true) && atomic_load(&recorder->is_idle))
		wake_post(recorder->wake);
}

/*
 * The flag is set before the look at the buffer. A record that is added after the look is added
 * with the flag set, because the lock orders the look and the addition.
 */
bool recorder_idle(struct recorder *recorder)
{
	atomic_store(&recorder->is_idle, true);
	if (recorder_used_bytes(recorder) == 0 && !atomic_load(&recorder->loss_changed))
		return true;
	recorder_unidle(recorder);
	return false;
}

void recorder_unidle(struct recorder *recorder)
{
	atomic_store(&recorder->is_idle, false);
}

bool recorder_take_loss(struct recorder *recorder, struct wire_loss *ret)
{
	const bool changed = atomic_exchange(&recorder->loss_changed, false);

	*ret = (struct wire_loss){.time_ns = clock_monotonic_ns()};
	for (int i = 1; i < WIRE_LOSS_REASONS; i++)
		ret->count[i] = atomic_load_explicit(&recorder->loss[i], memory_order_relaxed);
	return changed;
}

/* One record that is being added. The lock is held from begin to end. */
struct slot {
	struct wire_buf buf;
	size_t used_before;
};

static enum recorder_result begin(struct recorder *recorder, uint16_t flags, size_t bytes,
				  struct slot *slot)
{
	struct buffer *buffer = &recorder->buffer;
	enum recorder_result result = RECORDER_ADDED;

	pthread_mutex_lock(&recorder->lock);
	slot->used_before = buffer_used_bytes(buffer);
	slot->buf = (struct wire_buf){.data = buffer_reserve(buffer, bytes), .size = bytes};
	if (!recorder_is_on(recorder) || buffer->size == 0)
		result = RECORDER_OFF;
	else if (bytes > recorder->record_max)
		result = RECORDER_TOO_LARGE;
	else if (!slot->buf.data ||
		 (!(flags & WIRE_FLAG_RESYNC) && slot->used_before + bytes > recorder->others_max))
		result = RECORDER_FULL;
	if (result != RECORDER_ADDED)
		pthread_mutex_unlock(&recorder->lock);
	return result;
}

static void end(struct recorder *recorder, const struct slot *slot)
{
	const size_t quarter = recorder->record_max / 4;
	const size_t much = quarter < MUCH_BYTES ? quarter : MUCH_BYTES;
	size_t used;

	buffer_commit(&recorder->buffer, slot->buf.data, slot->buf.len);
	used = buffer_used_bytes(&recorder->buffer);
	pthread_mutex_unlock(&recorder->lock);
	if (atomic_load(&recorder->is_idle) || (slot->used_before < much && used >= much))
		wake_post(recorder->wake);
}

enum recorder_result recorder_add_load(struct recorder *recorder, uint16_t flags,
				       struct wire_method_load *load)
{
	struct slot slot;
	enum recorder_result result = begin(recorder, flags, wire_method_load_bytes(load), &slot);

	if (result != RECORDER_ADDED)
		return result;
	load->time_ns = clock_monotonic_ns();
	wire_encode_method_load(&slot.buf, flags, load);
	end(recorder, &slot);
	return RECORDER_ADDED;
}

enum recorder_result recorder_add_unload(struct recorder *recorder,
					 struct wire_method_unload *unload)
{
	struct slot slot;
	enum recorder_result result = begin(recorder, 0, WIRE_RECORD_HEADER_BYTES + 16, &slot);

	if (result != RECORDER_ADDED)
		return result;
	unload->time_ns = clock_monotonic_ns();
	wire_encode_method_unload(&slot.buf, unload);
	end(recorder, &slot);
	return RECORDER_ADDED;
}

enum recorder_result recorder_add_stub(struct recorder *recorder, uint16_t flags,
				       struct wire_stub *stub)
{
	struct slot slot;
	enum recorder_result result = begin(recorder, flags, wire_stub_bytes(stub), &slot);

	if (result != RECORDER_ADDED)
		return result;
	stub->time_ns = clock_monotonic_ns();
	wire_encode_stub(&slot.buf, flags, stub);
	end(recorder, &slot);
	return RECORDER_ADDED;
}

enum recorder_result recorder_add_resync(struct recorder *recorder, enum wire_kind kind,
					 struct wire_resync *resync)
{
	struct slot slot;
	enum recorder_result result =
		begin(recorder, WIRE_FLAG_RESYNC, WIRE_RECORD_HEADER_BYTES + 16, &slot);

	if (result != RECORDER_ADDED)
		return result;
	resync->time_ns = clock_monotonic_ns();
	wire_encode_resync(&slot.buf, kind, resync);
	end(recorder, &slot);
	return RECORDER_ADDED;
}

enum recorder_result recorder_add_thread(struct recorder *recorder, struct wire_thread *thread)
{
	const size_t bytes = WIRE_RECORD_HEADER_BYTES + 14u + thread->name.len;
	struct slot slot;
	enum recorder_result result = begin(recorder, 0, bytes, &slot);

	if (result != RECORDER_ADDED)
		return result;
	thread->time_ns = clock_monotonic_ns();
	wire_encode_thread(&slot.buf, thread);
	end(recorder, &slot);
	return RECORDER_ADDED;
}

size_t recorder_peek(struct recorder *recorder, size_t max, const uint8_t **ret)
{
	size_t len;

	pthread_mutex_lock(&recorder->lock);
	len = buffer_peek(&recorder->buffer, max, ret);
	pthread_mutex_unlock(&recorder->lock);
	return len;
}

void recorder_consume(struct recorder *recorder, size_t bytes)
{
	pthread_mutex_lock(&recorder->lock);
	buffer_consume(&recorder->buffer, bytes);
	pthread_mutex_unlock(&recorder->lock);
}

size_t recorder_used_bytes(struct recorder *recorder)
{
	size_t used;

	pthread_mutex_lock(&recorder->lock);
	used = buffer_used_bytes(&recorder->buffer);
	pthread_mutex_unlock(&recorder->lock);
	return used;
}
