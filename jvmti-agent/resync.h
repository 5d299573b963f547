// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   all code that the JVM has now -> records between RESYNC_BEGIN and RESYNC_END
 * units:   none
 * threads: the agent's own, which is attached to the JVM meanwhile and detached after
 * errors:  false if the repetition is not complete; that is also what END says
 * source:  JVMTI GenerateEvents, JNI AttachCurrentThreadAsDaemon
 */
#ifndef FGAGENT_RESYNC_H
#define FGAGENT_RESYNC_H

#include "sender.h"

bool resync_run(struct sender *sender);

/* The calling thread's JNI environment as a daemon thread of the JVM, or NULL. */
JNIEnv *resync_attach(JavaVM *vm);
void resync_detach(JavaVM *vm);

#endif
