// SPDX-License-Identifier: Apache-2.0
/* Another profiler in the JVM: has the capability that the JVM gives to one agent at a time. */
#include <jvmti.h>

#include <stdio.h>

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const jvmtiCapabilities wanted = {.can_generate_sampled_object_alloc_events = 1};
	jvmtiEnv *jvmti;

	(void)options;
	(void)reserved;
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_0) != JNI_OK ||
	    (*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE)
		return JNI_ERR;
	puts("taken");
	return JNI_OK;
}
