// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the agent's own thread -> for a while, a daemon thread of the JVM
 * units:   none
 * threads: the agent's own
 * errors:  NULL if the JVM refuses; the thread is then not attached
 * source:  the JNI's Invocation API, AttachCurrentThreadAsDaemon and DetachCurrentThread
 *
 * An attached thread would delay System.exit, so the caller detaches it as soon as possible.
 */
#ifndef FGAGENT_JNI_THREAD_H
#define FGAGENT_JNI_THREAD_H

#include <jni.h>

/* Attaches the calling thread and returns its JNI environment, or NULL. */
JNIEnv *jni_thread_attach(JavaVM *vm);
void jni_thread_detach(JavaVM *vm);

#endif
