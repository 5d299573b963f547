// SPDX-License-Identifier: Apache-2.0
/*
 * Repeats all code for a collector that has just connected, or after records were lost. The agent
 * keeps no table of its own: the JVM has all code, and GenerateEvents posts it on the calling
 * thread with the JVM's locks released, so that callbacks on this thread may wait for the socket.
 *
 * The thread is attached only during GenerateEvents, because an attached thread would delay
 * System.exit.
 */
#include "resync.h"

#include "jni_thread.h"

/* Adds a mark, and makes room for the mark if necessary. */
static bool mark(const struct resync *resync, enum wire_kind kind, bool complete)
{
	struct wire_resync record = {.epoch = resync->epoch, .complete = complete};

	while (recorder_add_resync(resync->recorder, kind, &record) == RECORDER_FULL) {
		if (resync->make_room(resync->context) < 0)
			return false;
	}
	return recorder_is_on(resync->recorder);
}

static bool generate(const struct resync *resync)
{
	jvmtiEnv *jvmti = resync->jvmti;
	bool good;

	if (atomic_load(resync->quit))
		return false;
	if (!jni_thread_attach(resync->vm)) {
		recorder_count_loss(resync->recorder, WIRE_LOSS_JVMTI, 1);
		return false;
	}
	events_begin_resync(resync->events, resync->make_room, resync->context);
	good = (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED) ==
		       JVMTI_ERROR_NONE &&
	       (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD) ==
		       JVMTI_ERROR_NONE;
	if (!good)
		recorder_count_loss(resync->recorder, WIRE_LOSS_JVMTI, 1);
	good = events_end_resync(resync->events) && good;
	jni_thread_detach(resync->vm);
	return good;
}

bool resync_run(const struct resync *resync)
{
	bool complete;

	if (!mark(resync, WIRE_RESYNC_BEGIN, false))
		return false;
	complete = generate(resync);
	return mark(resync, WIRE_RESYNC_END, complete) && resync->make_room(resync->context) == 0 &&
	       complete;
}
