// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of functions through which an agent sees a JVM. A jmethodID is the method's number
 * plus one; names are made from it: Lfake/C<i>; m<i> ()V C<i>.java, every tenth method native.
 */
#include "fake_jvm.h"

#include <jvmticmlr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_jvm fake_jvm = {.vm_version = "17.0.15+6"};

static struct jvmtiInterface_1_ jvmti_functions;
static struct JNINativeInterface_ jni_functions;
static const struct jvmtiInterface_1_ *jvmti_env = &jvmti_functions;
static const struct JNINativeInterface_ *jni_env = &jni_functions;

static void demand(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fake JVM: %s\n", what);
	abort();
}

static char *allocate(const char *text)
{
	char *copy = malloc(strlen(text) + 1);

	strcpy(copy, text);
	atomic_fetch_add(&fake_jvm.allocations, 1);
	return copy;
}

static size_t method_of(jmethodID id)
{
	return (size_t)(uintptr_t)id - 1;
}

const void *fake_jvm_address(size_t method)
{
	return (const void *)(uintptr_t)(FAKE_CODE_BASE + method * 256);
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
	(void)env;
	demand(memory != NULL, "Deallocate of NULL");
	free(memory);
	atomic_fetch_sub(&fake_jvm.allocations, 1);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_system_property(jvmtiEnv *env, const char *name, char **ret)
{
	(void)env;
	if (strcmp(name, "java.vm.name") == 0)
		*ret = allocate("OpenJDK 64-Bit Fake VM");
	else if (strcmp(name, "java.vm.version") == 0)
		*ret = allocate(fake_jvm.vm_version);
	else
		return JVMTI_ERROR_NOT_AVAILABLE;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *env, const jvmtiCapabilities *wanted)
{
	(void)env;
	if (fake_jvm.no_source_files && wanted->can_get_source_file_name)
		return JVMTI_ERROR_NOT_AVAILABLE;
	if (fake_jvm.no_method_events && wanted->can_generate_compiled_method_load_events)
		return JVMTI_ERROR_NOT_AVAILABLE;
	if (fake_jvm.no_lines && wanted->can_get_line_numbers)
		return JVMTI_ERROR_NOT_AVAILABLE;
	for (size_t i = 0; i < sizeof(*wanted); i++)
		((uint8_t *)&fake_jvm.capabilities)[i] |= ((const uint8_t *)wanted)[i];
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_event_callbacks(jvmtiEnv *env, const jvmtiEventCallbacks *callbacks,
					      jint size)
{
	(void)env;
	demand((size_t)size <= sizeof(fake_jvm.callbacks), "SetEventCallbacks of an odd size");
	memcpy(&fake_jvm.callbacks, callbacks, (size_t)size);
	return JVMTI_ERROR_NONE;
}

/* Variadic in jvmti.h. */
static jvmtiError JNICALL set_event_mode(jvmtiEnv *env, jvmtiEventMode mode, jvmtiEvent event,
					 jthread thread, ...)
{
	(void)env;
	demand(mode == JVMTI_ENABLE && !thread, "an event was toggled");
	fake_jvm.enabled[event - JVMTI_MIN_EVENT_TYPE_VAL]++;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose_environment(jvmtiEnv *env)
{
	(void)env;
	atomic_store(&fake_jvm.disposed, true);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_method_name(jvmtiEnv *env, jmethodID id, char **name, char **sig,
					  char **generic)
{
	const size_t method = method_of(id);
	char text[32];

	(void)env;
	demand(!generic, "the generic signature was asked for");
	if (fake_jvm.broken_names)
		return JVMTI_ERROR_INVALID_METHODID;
	snprintf(text, sizeof(text), "m%zu", method);
	*name = allocate(text);
	if (method == 0 && fake_jvm.name_bytes > 0) {
		*name = realloc(*name, fake_jvm.name_bytes + 1);
		memset(*name, 'n', fake_jvm.name_bytes);
		(*name)[fake_jvm.name_bytes] = 0;
	}
	*sig = allocate("()V");
	return JVMTI_ERROR_NONE;
}

/* A class is its method's number. */
static jvmtiError JNICALL get_declaring_class(jvmtiEnv *env, jmethodID id, jclass *ret)
{
	(void)env;
	atomic_fetch_add(&fake_jvm.local_refs, 1);
	*ret = (jclass)(uintptr_t)id;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_signature(jvmtiEnv *env, jclass class, char **sig,
					      char **generic)
{
	char text[32];

	(void)env;
	demand(!generic, "the generic signature was asked for");
	snprintf(text, sizeof(text), "Lfake/C%zu;", (size_t)(uintptr_t) class - 1);
	*sig = allocate(text);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_source_file_name(jvmtiEnv *env, jclass class, char **name)
{
	const size_t method = (size_t)(uintptr_t) class - 1;
	char text[32];

	(void)env;
	demand(fake_jvm.capabilities.can_get_source_file_name, "a source file without capability");
	if (method % 7 == 3)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	snprintf(text, sizeof(text), "C%zu.java", method);
	*name = allocate(text);
	return JVMTI_ERROR_NONE;
}

/* Three lines, not always in order, from 100 on at bytecodes 0, 4 and 9. */
static jvmtiError JNICALL get_line_number_table(jvmtiEnv *env, jmethodID id, jint *ret_n,
						jvmtiLineNumberEntry **ret)
{
	static const jvmtiLineNumberEntry lines[] = {{0, 100}, {9, 90}, {4, 101}};
	const size_t method = method_of(id);

	(void)env;
	demand(fake_jvm.capabilities.can_get_line_numbers, "lines without capability");
	if (method % 10 == 9)
		return JVMTI_ERROR_NATIVE_METHOD;
	if (method % 7 == 3)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*ret = malloc(sizeof(lines));
	memcpy(*ret, lines, sizeof(lines));
	*ret_n = 3;
	atomic_fetch_add(&fake_jvm.allocations, 1);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_method_modifiers(jvmtiEnv *env, jmethodID id, jint *ret)
{
	(void)env;
	*ret = method_of(id) % 10 == 9 ? 0x0100 : 0x0001;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL generate_events(jvmtiEnv *env, jvmtiEvent event)
{
	(void)env;
	demand(atomic_load(&fake_jvm.attached) > 0, "GenerateEvents of a foreign thread");
	atomic_fetch_add(&fake_jvm.generated, 1);
	if (fake_jvm.generate_fails)
		return JVMTI_ERROR_INTERNAL;
	if (event == JVMTI_EVENT_DYNAMIC_CODE_GENERATED) {
		for (size_t i = 0; i < fake_jvm.n_stubs; i++)
			fake_jvm_post_stub(i);
	} else {
		for (size_t i = 0; i < fake_jvm.n_methods; i++)
			fake_jvm_post_load(i);
	}
	return JVMTI_ERROR_NONE;
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject object)
{
	(void)env;
	demand(object != NULL, "DeleteLocalRef of NULL");
	atomic_fetch_sub(&fake_jvm.local_refs, 1);
}

static jint JNICALL get_env(JavaVM *vm, void **ret, jint version)
{
	(void)vm;
	demand(version == JVMTI_VERSION_1_0 || version == JNI_VERSION_1_2,
	       "GetEnv of an unexpected version");
	*ret = version == JNI_VERSION_1_2 ? (void *)&jni_env : (void *)&jvmti_env;
	return JNI_OK;
}

static jint JNICALL attach(JavaVM *vm, void **ret, void *args)
{
	(void)vm;
	demand(args != NULL, "attached without a name");
	if (fake_jvm.attach_fails)
		return JNI_ERR;
	demand(atomic_fetch_add(&fake_jvm.attached, 1) == 0, "attached twice");
	atomic_fetch_add(&fake_jvm.attaches, 1);
	*ret = &jni_env;
	return JNI_OK;
}

static jint JNICALL detach(JavaVM *vm)
{
	(void)vm;
	demand(atomic_fetch_sub(&fake_jvm.attached, 1) == 1, "detached without being attached");
	return JNI_OK;
}

JavaVM *fake_jvm_start(void)
{
	static struct JNIInvokeInterface_ vm_functions;
	static const struct JNIInvokeInterface_ *vm = &vm_functions;

	vm_functions.GetEnv = get_env;
	vm_functions.AttachCurrentThreadAsDaemon = attach;
	vm_functions.DetachCurrentThread = detach;
	jni_functions.DeleteLocalRef = delete_local_ref;
	jvmti_functions.Deallocate = deallocate;
	jvmti_functions.GetSystemProperty = get_system_property;
	jvmti_functions.AddCapabilities = add_capabilities;
	jvmti_functions.SetEventCallbacks = set_event_callbacks;
	jvmti_functions.SetEventNotificationMode = set_event_mode;
	jvmti_functions.DisposeEnvironment = dispose_environment;
	jvmti_functions.GetMethodName = get_method_name;
	jvmti_functions.GetMethodDeclaringClass = get_declaring_class;
	jvmti_functions.GetClassSignature = get_class_signature;
	jvmti_functions.GetSourceFileName = get_source_file_name;
	jvmti_functions.GetLineNumberTable = get_line_number_table;
	jvmti_functions.GetMethodModifiers = get_method_modifiers;
	jvmti_functions.GenerateEvents = generate_events;
	return (JavaVM *)&vm;
}

void fake_jvm_post_init(void)
{
	if (fake_jvm.callbacks.VMInit)
		fake_jvm.callbacks.VMInit(&jvmti_env, &jni_env, NULL);
}

void fake_jvm_post_death(void)
{
	if (fake_jvm.callbacks.VMDeath)
		fake_jvm.callbacks.VMDeath(&jvmti_env, &jni_env);
}

void fake_jvm_post_load_with(size_t method, const void *compile_info)
{
	fake_jvm.callbacks.CompiledMethodLoad(&jvmti_env, (jmethodID)(method + 1), FAKE_CODE_BYTES,
					      fake_jvm_address(method), 0, NULL, compile_info);
}

void fake_jvm_post_load(size_t method)
{
	jvmtiCompiledMethodLoadInlineRecord record = {
		.header = {.kind = JVMTI_CMLR_INLINE_INFO,
			   .majorinfoversion = JVMTI_CMLR_MAJOR_VERSION_1},
		.numpcs = (jint)fake_jvm.n_inlined,
	};
	PCStackInfo entries[FAKE_CODE_BYTES];
	jmethodID methods[FAKE_CODE_BYTES][2];
	jint bcis[FAKE_CODE_BYTES][2];

	for (size_t i = 0; i < fake_jvm.n_inlined; i++) {
		methods[i][0] = (jmethodID)(method + i + 2);
		methods[i][1] = (jmethodID)(method + 1);
		bcis[i][0] = (jint)i;
		bcis[i][1] = 7;
		entries[i] = (PCStackInfo){
			.pc = (uint8_t *)(uintptr_t)fake_jvm_address(method) + i + 1,
			.numstackframes = 2,
			.methods = methods[i],
			.bcis = bcis[i],
		};
	}
	record.pcinfo = entries;
	fake_jvm_post_load_with(method, fake_jvm.n_inlined > 0 ? &record : NULL);
}

void fake_jvm_post_unload(size_t method)
{
	/* HotSpot's may be a dangling one by then: any use of it must be seen. */
	fake_jvm.callbacks.CompiledMethodUnload(&jvmti_env, (jmethodID)8, fake_jvm_address(method));
}

void fake_jvm_post_stub(size_t stub)
{
	char name[16384];

	snprintf(name, sizeof(name), "stub %zu", stub);
	if (fake_jvm.stub_name_bytes > 0)
		snprintf(name, sizeof(name), "%0*zu", (int)fake_jvm.stub_name_bytes, stub);
	fake_jvm.callbacks.DynamicCodeGenerated(
		&jvmti_env, name, (const void *)(uintptr_t)(FAKE_CODE_BASE / 2 + stub * 64), 64);
}
