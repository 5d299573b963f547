// SPDX-License-Identifier: Apache-2.0
/*
 * The least that an agent can do which is told of compiled code: nothing. What HotSpot itself
 * spends on the events is the difference between a JVM with it and one without; see
 * javac_startup.py.
 */
#include <jvmti.h>

static void JNICALL on_load(jvmtiEnv *jvmti, jmethodID method, jint size, const void *addr,
			    jint map_length, const jvmtiAddrLocationMap *map, const void *info)
{
	(void)jvmti;
	(void)method;
	(void)size;
	(void)addr;
	(void)map_length;
	(void)map;
	(void)info;
}

static void JNICALL on_unload(jvmtiEnv *jvmti, jmethodID method, const void *addr)
{
	(void)jvmti;
	(void)method;
	(void)addr;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const jvmtiEventCallbacks callbacks = {.CompiledMethodLoad = on_load,
					       .CompiledMethodUnload = on_unload};
	const jvmtiCapabilities capabilities = {.can_generate_compiled_method_load_events = 1};
	const jvmtiEvent events[] = {JVMTI_EVENT_COMPILED_METHOD_LOAD,
				     JVMTI_EVENT_COMPILED_METHOD_UNLOAD};
	jvmtiEnv *jvmti;
	int failed;

	(void)options;
	(void)reserved;
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK)
		return JNI_ERR;
	failed = (*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE;
	failed |= (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) !=
		  JVMTI_ERROR_NONE;
	for (int i = 0; i < 2; i++)
		failed |= (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i],
							     NULL) != JVMTI_ERROR_NONE;
	return failed ? JNI_ERR : JNI_OK;
}
