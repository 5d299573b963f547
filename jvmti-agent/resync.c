// SPDX-License-Identifier: Apache-2.0
/*
 * Repeats all code for a collector that has just come or has missed something. The agent keeps no
 * table of its own: the JVM does, and GenerateEvents posts it on the calling thread, with the JVM's
 * locks released, so that our callbacks may wait for the socket there.
 *
 * The thread is attached for just this long: an attached thread would hold up System.exit.
 */
#include "resync.h"

JNIEnv *resync_attach(JavaVM *vm)
{
	char name[] = "fgagent";
	JavaVMAttachArgs args = {.version = JNI_VERSION_1_2, .name = name};
	void *jni = NULL;

	if ((*vm)->AttachCurrentThreadAsDaemon(vm, &jni, &args) != JNI_OK)
		return NULL;
	return jni;
}

void resync_detach(JavaVM *vm)
{
	(*vm)->DetachCurrentThread(vm);
}

static int make_room(void *context)
{
	return sender_flush(context);
}

/* Adds a mark, for which room is made. */
static bool mark(struct sender *sender, enum wire_kind kind, bool complete)
{
	struct wire_resync record = {.epoch = sender->epoch, .complete = complete};

	while (recorder_add_resync(sender->recorder, kind, &record) == RECORDER_FULL) {
		if (sender_flush(sender) < 0)
			return false;
	}
	return recorder_is_on(sender->recorder);
}

static bool generate(struct sender *sender)
{
	jvmtiEnv *jvmti = sender->jvmti;
	bool good;

	if (atomic_load(&sender->quit))
		return false;
	if (!resync_attach(sender->vm)) {
		recorder_count_loss(sender->recorder, WIRE_LOSS_JVMTI, 1);
		return false;
	}
	events_begin_resync(sender->events, make_room, sender);
	good = (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED) ==
		       JVMTI_ERROR_NONE &&
	       (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD) ==
		       JVMTI_ERROR_NONE;
	if (!good)
		recorder_count_loss(sender->recorder, WIRE_LOSS_JVMTI, 1);
	good = events_end_resync(sender->events) && good;
	resync_detach(sender->vm);
	return good;
}

bool resync_run(struct sender *sender)
{
	bool complete;

	sender->epoch++;
	if (!mark(sender, WIRE_RESYNC_BEGIN, false))
		return false;
	complete = generate(sender);
	return mark(sender, WIRE_RESYNC_END, complete) && sender_flush(sender) == 0 && complete;
}
