// SPDX-License-Identifier: Apache-2.0
/*
 * The JVM's entry into the agent: reads options, asks for the few capabilities and events, starts
 * the sender.
 *
 * Agent_OnLoad always returns JNI_OK, because any other value would keep the JVM from starting. All
 * events of code are enabled there and never toggled: HotSpot records where inlined code lies only
 * if CompiledMethodLoad is enabled. With delay= the agent's thread enables them once, later
 * (sender.c). Events that slow virtual threads down are not asked for.
 */
#include "clock.h"
#include "events.h"
#include "flags.h"
#include "hello.h"
#include "hotspot/jvm_version.h"
#include "hotspot/vmstructs.h"
#include "only_one.h"
#include "options.h"
#include "probes/probe_events.h"
#include "sender.h"
#include "warn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAREWELL_MS 50

/* A process has one JVM, and so one agent. */
static struct agent {
	struct options options;
	struct vmstructs vm;
	struct hello hello;
	struct recorder recorder;
	struct events events;
	struct probe_events probe_events;
	struct sender sender;
	bool started;
} agent;

static void JNICALL on_method_load(jvmtiEnv *jvmti, jmethodID method, jint size, const void *addr,
				   jint n_lines, const jvmtiAddrLocationMap *lines,
				   const void *compile_info)
{
	(void)jvmti;
	(void)n_lines;
	(void)lines;
	events_method_load(&agent.events, method, size, addr, compile_info);
}

static void JNICALL on_method_unload(jvmtiEnv *jvmti, jmethodID method, const void *addr)
{
	(void)jvmti;
	(void)method;
	events_method_unload(&agent.events, addr);
}

static void JNICALL on_stub(jvmtiEnv *jvmti, const char *name, const void *addr, jint size)
{
	(void)jvmti;
	events_stub(&agent.events, name, addr, size);
}

static void JNICALL on_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
			     jclass class, jlong size)
{
	(void)thread;
	probe_events_alloc(&agent.probe_events, jvmti, jni, object, class, size);
}

static void JNICALL on_lock_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject lock)
{
	(void)thread;
	probe_events_enter(&agent.probe_events, jvmti, jni, lock);
}

static void JNICALL on_lock_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject lock)
{
	(void)thread;
	probe_events_entered(&agent.probe_events, jvmti, jni, lock);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)jni;
	(void)thread;
	hello_read_properties(&agent.hello, jvmti);
	agent.started = sender_start(&agent.sender);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jvmti;
	(void)jni;
	if (agent.started)
		sender_finish(&agent.sender, FAREWELL_MS);
}

static const jvmtiEventCallbacks callbacks = {
	.VMInit = on_vm_init,
	.VMDeath = on_vm_death,
	.CompiledMethodLoad = on_method_load,
	.CompiledMethodUnload = on_method_unload,
	.DynamicCodeGenerated = on_stub,
	.SampledObjectAlloc = on_alloc,
	.MonitorContendedEnter = on_lock_enter,
	.MonitorContendedEntered = on_lock_entered,
};

/* Those of code are in events.c, and those of probes are switched by probe_switch.c. */
static const jvmtiEvent events_of_life[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH};

static bool add_capability(jvmtiEnv *jvmti, const jvmtiCapabilities *wanted)
{
	return (*jvmti)->AddCapabilities(jvmti, wanted) == JVMTI_ERROR_NONE;
}

/* Asks for capabilities. Only method events are required; source files and lines are optional. */
static bool add_capabilities(jvmtiEnv *jvmti, bool lines, struct method_reader *reader)
{
	const jvmtiCapabilities events = {.can_generate_compiled_method_load_events = 1};
	const jvmtiCapabilities source_files = {.can_get_source_file_name = 1};
	const jvmtiCapabilities line_numbers = {.can_get_line_numbers = 1};

	if (!add_capability(jvmti, &events))
		return false;
	reader->source_files = add_capability(jvmti, &source_files);
	reader->lines = lines && add_capability(jvmti, &line_numbers);
	return true;
}

static bool enable_events(jvmtiEnv *jvmti, bool with_code)
{
	if ((*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE)
		return false;
	for (size_t i = 0; i < sizeof(events_of_life) / sizeof(*events_of_life); i++) {
		if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events_of_life[i],
						       NULL) != JVMTI_ERROR_NONE)
			return false;
	}
	return !with_code || events_enable(jvmti);
}

/* False: not now and not later. Without free descriptors at the moment there may be some later. */
static bool may_make_sockets(void)
{
	int fd;

	if (!own_fd_are_spare())
		return true;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE;
	close(fd);
	return true;
}

/* Prepares everything that callbacks of events use. */
static bool prepare(JavaVM *vm, jvmtiEnv *jvmti)
{
	if (!may_make_sockets()) {
		warn_line("idle: Unix sockets cannot be made here: %m: the seccomp profile has to "
			  "allow socket");
		return false;
	}
	if (!own_fd_are_spare())
		warn_line("waits: fewer than %d descriptors are free here, and those the program "
			  "may need: raise the limit (ulimit -n)",
			  OWN_FD_SPARE);
	recorder_init(&agent.recorder, &agent.sender.wake);
	naming_init(&agent.events.naming);
	agent.events.naming.reader.jvmti = jvmti;
	agent.events.naming.reader.vm = vm;
	agent.events.recorder = &agent.recorder;
	agent.sender.vm = vm;
	agent.sender.jvmti = jvmti;
	agent.sender.options = &agent.options;
	agent.sender.hello = &agent.hello;
	agent.sender.recorder = &agent.recorder;
	agent.sender.events = &agent.events;
	return true;
}

static bool load(JavaVM *vm, jvmtiEnv *jvmti)
{
	uintptr_t in_libjvm;

	hello_init(&agent.hello, &agent.options, &agent.vm);
	hello_read_properties(&agent.hello, jvmti);
	if (!jvm_version_is_safe(agent.hello.jvm_name, agent.hello.jvm_version)) {
		warn_line("idle: HotSpot %s may crash when its method events are enabled "
			  "(JDK-8173361, JDK-8305165); update to 8u382 or later",
			  agent.hello.jvm_version);
		return false;
	}
	if (!add_capabilities(jvmti, agent.options.lines, &agent.events.naming.reader)) {
		warn_line("idle: this JVM does not offer method events");
		return false;
	}
	if (!prepare(vm, jvmti))
		return false;
	if (!enable_events(jvmti, agent.options.delay_s == 0)) {
		warn_line("idle: cannot enable the JVM's method events");
		return false;
	}
	memcpy(&in_libjvm, &(*vm)->GetEnv, sizeof(in_libjvm));
	agent.hello.vmstructs_found = vmstructs_init(&agent.vm, (const void *)in_libjvm);
	nmethods_init(&agent.events.nmethods, &agent.vm);
	threads_init(&agent.sender.threads, agent.options.threads, &agent.vm);
	probe_switch_init(&agent.sender.probes, vm, jvmti, &agent.probe_events);
	agent.hello.offers_alloc = agent.sender.probes.offers_alloc;
	agent.hello.offers_lock = agent.sender.probes.offers_lock;
	agent.hello.framepointer = flags_set_framepointer(&agent.vm, agent.options.framepointer);
	return true;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *text, void *reserved)
{
	jvmtiEnv *jvmti = NULL;

	(void)reserved;
	if (!only_one_claim()) {
		warn_line("given twice: the second one is ignored");
		return JNI_OK;
	}
	options_init(&agent.options);
	options_read(&agent.options, text, "-agentpath", warn_line);
	options_read(&agent.options, getenv("FGAGENT_OPTS"), "FGAGENT_OPTS", warn_line);
	if (agent.options.idle)
		return JNI_OK;
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_0) != JNI_OK) {
		warn_line("idle: this JVM has no JVMTI");
		return JNI_OK;
	}
	if (!load(vm, jvmti))
		(*jvmti)->DisposeEnvironment(jvmti);
	return JNI_OK;
}

/* Empty. The code stays mapped (-z nodelete), because a callback may come later. */
JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
}
