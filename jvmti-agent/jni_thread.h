// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a thread of the agent's own -> a daemon thread of the JVM, for a while
 * units:   none
 * threads: the agent's own
 * errors:  NULL if the JVM refuses; the thread is not attached then
 * source:  the JNI's Invocation API, AttachCurrentThreadAsDaemon and DetachCurrentThread
 *
 * An attached thread would hold up System.exit, so callers detach it right after use.
 */
#ifndef FGAGENT_JNI_THREAD_H
#define FGAGENT_JNI_THREAD_H

#include <jni.h>

/* Attaches the calling thread: its JNI environment, or NULL. */
JNIEnv *jni_thread_attach(JavaVM *vm);
void jni_thread_detach(JavaVM *vm);

#endif
