// SPDX-License-Identifier: Apache-2.0
/*
 * Another profiler in the JVM: has the capability that the JVM gives to one agent at a time, and
 * lets go of it at SIGQUIT, of which the JVM tells agents.
 */
#include <jvmti.h>

#include <stdio.h>

static const jvmtiCapabilities wanted = {.can_generate_sampled_object_alloc_events = 1};

static void JNICALL let_go(jvmtiEnv *jvmti)
{
	if ((*jvmti)->RelinquishCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE)
		puts("let go");
	fflush(stdout);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const jvmtiEventCallbacks callbacks = {.DataDumpRequest = let_go};
	jvmtiEnv *jvmti;

	(void)options;
	(void)reserved;
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_0) != JNI_OK ||
	    (*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_DATA_DUMP_REQUEST,
					       NULL) != JVMTI_ERROR_NONE)
		return JNI_ERR;
	puts("taken");
	return JNI_OK;
}
