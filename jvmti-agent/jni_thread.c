// SPDX-License-Identifier: Apache-2.0
/* Attaches the calling thread as a daemon, under the agent's name, see jni_thread.h. */
#include "jni_thread.h"

#include <stddef.h>

JNIEnv *jni_thread_attach(JavaVM *vm)
{
	char name[] = "fgagent";
	JavaVMAttachArgs args = {.version = JNI_VERSION_1_2, .name = name};
	void *jni = NULL;

	if ((*vm)->AttachCurrentThreadAsDaemon(vm, &jni, &args) != JNI_OK)
		return NULL;
	return jni;
}

void jni_thread_detach(JavaVM *vm)
{
	(*vm)->DetachCurrentThread(vm);
}
