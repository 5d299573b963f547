// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of functions through which an agent sees a JVM. A jmethodID is the method's number
 * plus one; names are made from it: Lfake/C<i>; m<i> ()V C<i>.java, every tenth method native.
 */
#include "fake_jvm.h"

#include <jvmticmlr.h>
#include <pthread.h>
#include <signal.h>
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

static jvmtiError JNICALL get_version_number(jvmtiEnv *env, jint *ret)
{
	(void)env;
	*ret = JVMTI_VERSION_INTERFACE_JVMTI | (fake_jvm.jdk ? fake_jvm.jdk : 17)
						       << JVMTI_VERSION_SHIFT_MAJOR;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_potential_capabilities(jvmtiEnv *env, jvmtiCapabilities *ret)
{
	(void)env;
	*ret = (jvmtiCapabilities){.can_generate_monitor_events = !fake_jvm.no_monitor_events};
	return JVMTI_ERROR_NONE;
}

/* Capabilities of probes come and go while the JVM lives, and are not among the others. */
static jvmtiError add_probe_capability(const jvmtiCapabilities *wanted)
{
	demand(atomic_load(&fake_jvm.attached) > 0, "a live capability for a foreign thread");
	if (wanted->can_generate_monitor_events) {
		demand(!atomic_exchange(&fake_jvm.may_watch, true), "a capability taken twice");
		return JVMTI_ERROR_NONE;
	}
	atomic_fetch_add(&fake_jvm.alloc_requests, 1);
	if (fake_jvm.alloc_taken)
		return JVMTI_ERROR_NOT_AVAILABLE;
	demand(!atomic_exchange(&fake_jvm.may_sample, true), "a capability taken twice");
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL relinquish_capabilities(jvmtiEnv *env, const jvmtiCapabilities *given)
{
	(void)env;
	demand(atomic_load(&fake_jvm.attached) > 0, "a live capability from a foreign thread");
	if (given->can_generate_monitor_events) {
		demand(!fake_jvm.is_entering && !fake_jvm.is_entered, "relinquished while used");
		atomic_store(&fake_jvm.may_watch, false);
	} else {
		demand(!fake_jvm.is_sampling, "relinquished while used");
		atomic_store(&fake_jvm.may_sample, false);
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_heap_sampling_interval(jvmtiEnv *env, jint interval)
{
	(void)env;
	demand(atomic_load(&fake_jvm.attached) > 0, "an interval of a foreign thread");
	demand(fake_jvm.may_sample, "an interval without capability");
	atomic_store(&fake_jvm.heap_interval, interval);
	return JVMTI_ERROR_NONE;
}

/* What the calling thread keeps. */
static _Thread_local void *storage;

static jvmtiError JNICALL get_thread_local_storage(jvmtiEnv *env, jthread thread, void **ret)
{
	(void)env;
	demand(!thread, "storage of another thread");
	*ret = storage;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_thread_local_storage(jvmtiEnv *env, jthread thread, const void *data)
{
	(void)env;
	demand(!thread, "storage of another thread");
	storage = (void *)(uintptr_t)data;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *env, const jvmtiCapabilities *wanted)
{
	(void)env;
	demand(!wanted->can_generate_exception_events, "the capability that slows down throws");
	if (wanted->can_generate_monitor_events || wanted->can_generate_sampled_object_alloc_events)
		return add_probe_capability(wanted);
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

/* NULL: the event is none of a probe's. */
static atomic_bool *switch_of(jvmtiEvent event)
{
	switch ((int)event) {
	case JVMTI_EVENT_SAMPLED_OBJECT_ALLOC:
		return &fake_jvm.is_sampling;
	case JVMTI_EVENT_MONITOR_CONTENDED_ENTER:
		return &fake_jvm.is_entering;
	case JVMTI_EVENT_MONITOR_CONTENDED_ENTERED:
		return &fake_jvm.is_entered;
	default:
		return NULL;
	}
}

/* Variadic in jvmti.h. */
static jvmtiError JNICALL set_event_mode(jvmtiEnv *env, jvmtiEventMode mode, jvmtiEvent event,
					 jthread thread, ...)
{
	(void)env;
	demand(!thread, "an event of one thread");
	if (switch_of(event)) {
		demand(atomic_load(&fake_jvm.attached) > 0, "a switch by a foreign thread");
		demand(event == JVMTI_EVENT_SAMPLED_OBJECT_ALLOC ? fake_jvm.may_sample
								 : fake_jvm.may_watch,
		       "an event without capability");
		atomic_store(switch_of(event), mode == JVMTI_ENABLE);
		return JVMTI_ERROR_NONE;
	}
	demand(mode == JVMTI_ENABLE, "an event of code was toggled");
	demand(!fake_jvm.is_live || atomic_load(&fake_jvm.attached) > 0,
	       "an event enabled by a foreign thread");
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
	char text[4096];

	(void)env;
	demand(!generic, "the generic signature was asked for");
	snprintf(text, sizeof(text), "Lfake/C%0*zu;",
		 fake_jvm.class_bytes > 0 ? (int)fake_jvm.class_bytes - 8 : 0,
		 (size_t)(uintptr_t) class - 1);
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
	atomic_fetch_add(&fake_jvm.returned, 1);
	return JVMTI_ERROR_NONE;
}

/* An object is its class. */
static jclass JNICALL get_object_class(JNIEnv *env, jobject object)
{
	(void)env;
	atomic_fetch_add(&fake_jvm.local_refs, 1);
	return (jclass)object;
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject object)
{
	(void)env;
	demand(object != NULL, "DeleteLocalRef of NULL");
	atomic_fetch_sub(&fake_jvm.local_refs, 1);
}

/* A weak reference is memory of its own, so that a second DeleteWeakGlobalRef is seen. */
static jweak JNICALL new_weak_global_ref(JNIEnv *env, jobject object)
{
	jobject *ref;

	(void)env;
	if (fake_jvm.no_weak_refs)
		return NULL;
	ref = malloc(sizeof(*ref));
	*ref = object;
	atomic_fetch_add(&fake_jvm.weak_refs, 1);
	return (jweak)(void *)ref;
}

static void JNICALL delete_weak_global_ref(JNIEnv *env, jweak ref)
{
	(void)env;
	demand(ref != NULL, "DeleteWeakGlobalRef of NULL");
	free(ref);
	atomic_fetch_sub(&fake_jvm.weak_refs, 1);
}

static jboolean JNICALL is_same_object(JNIEnv *env, jobject ref, jobject none)
{
	(void)env;
	demand(!none, "IsSameObject of two objects");
	demand(atomic_load(&fake_jvm.attached) > 0, "IsSameObject of a foreign thread");
	return (size_t)(uintptr_t)(*(jobject *)(void *)ref) - 1 < fake_jvm.collected;
}

static void JNICALL exception_clear(JNIEnv *env)
{
	(void)env;
	demand(fake_jvm.no_weak_refs, "an exception of the program's was cleared");
}

static jint JNICALL get_env(JavaVM *vm, void **ret, jint version)
{
	(void)vm;
	demand(version == JVMTI_VERSION_1_0 || version == JNI_VERSION_1_2,
	       "GetEnv of an unexpected version");
	*ret = version == JNI_VERSION_1_2 ? (void *)&jni_env : (void *)&jvmti_env;
	return JNI_OK;
}

/*
 * A tracer sees points that the agent's own thread runs. Here a breakpoint is a signal, and the
 * agent has blocked all signals.
 */
static void block_breakpoints(bool is_blocked)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	pthread_sigmask(is_blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static jint JNICALL attach(JavaVM *vm, void **ret, void *args)
{
	(void)vm;
	demand(args != NULL, "attached without a name");
	if (fake_jvm.attach_fails)
		return JNI_ERR;
	demand(atomic_fetch_add(&fake_jvm.attached, 1) == 0, "attached twice");
	atomic_fetch_add(&fake_jvm.attaches, 1);
	block_breakpoints(false);
	*ret = &jni_env;
	return JNI_OK;
}

static jint JNICALL detach(JavaVM *vm)
{
	(void)vm;
	demand(atomic_fetch_sub(&fake_jvm.attached, 1) == 1, "detached without being attached");
	block_breakpoints(true);
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
	jni_functions.GetObjectClass = get_object_class;
	jni_functions.NewWeakGlobalRef = new_weak_global_ref;
	jni_functions.DeleteWeakGlobalRef = delete_weak_global_ref;
	jni_functions.IsSameObject = is_same_object;
	jni_functions.ExceptionClear = exception_clear;
	jvmti_functions.Deallocate = deallocate;
	jvmti_functions.GetSystemProperty = get_system_property;
	jvmti_functions.GetVersionNumber = get_version_number;
	jvmti_functions.GetPotentialCapabilities = get_potential_capabilities;
	jvmti_functions.AddCapabilities = add_capabilities;
	jvmti_functions.RelinquishCapabilities = relinquish_capabilities;
	jvmti_functions.SetHeapSamplingInterval = set_heap_sampling_interval;
	jvmti_functions.GetThreadLocalStorage = get_thread_local_storage;
	jvmti_functions.SetThreadLocalStorage = set_thread_local_storage;
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
	fake_jvm.is_live = true;
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

void fake_jvm_post_late_alloc(size_t class, int64_t size)
{
	const jobject number = (jobject)(class + 1);

	fake_jvm.callbacks.SampledObjectAlloc(&jvmti_env, &jni_env, NULL, number, (jclass)number,
					      size);
}

void fake_jvm_post_alloc(size_t class, int64_t size)
{
	if (fake_jvm.is_sampling)
		fake_jvm_post_late_alloc(class, size);
}

void fake_jvm_post_enter(size_t class)
{
	if (fake_jvm.is_entering)
		fake_jvm.callbacks.MonitorContendedEnter(&jvmti_env, &jni_env, NULL,
							 (jobject)(class + 1));
}

void fake_jvm_post_late_entered(size_t class)
{
	fake_jvm.callbacks.MonitorContendedEntered(&jvmti_env, &jni_env, NULL,
						   (jobject)(class + 1));
}

void fake_jvm_post_entered(size_t class)
{
	if (fake_jvm.is_entered)
		fake_jvm_post_late_entered(class);
}
