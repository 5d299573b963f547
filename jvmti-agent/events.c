// SPDX-License-Identifier: Apache-2.0
/*
 * Turns events of the JVM into records. All data of a record are copied before the callback
 * returns: names are freed with the class. An unload record has the code's address alone, because
 * its jmethodID may be invalid by then (90 % were, under class churn).
 */
#include "events.h"

#define NATIVE_MODIFIER 0x0100 /* JVMS table 4.6-A, ACC_NATIVE */

struct pending {
	enum wire_kind kind;
	enum naming_form form;
	union {
		struct loaded_code load;
		struct wire_method_unload unload;
		struct wire_stub stub;
	};
};

bool events_enable(jvmtiEnv *jvmti)
{
	static const jvmtiEvent wanted[] = {
		JVMTI_EVENT_COMPILED_METHOD_LOAD,
		JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
		JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, wanted[i], NULL) !=
		    JVMTI_ERROR_NONE)
			return false;
	}
	return true;
}

static bool is_own_thread(const struct events *events)
{
	return pthread_equal(pthread_self(), atomic_load(&events->resync_thread));
}

static enum recorder_result add(struct events *events, uint16_t flags, struct pending *pending)
{
	switch (pending->kind) {
	case WIRE_METHOD_LOAD:
		return naming_add_load(&events->naming, events->recorder, flags, &pending->load,
				       pending->form);
	case WIRE_METHOD_UNLOAD:
		return recorder_add_unload(events->recorder, &pending->unload);
	default:
		if (pending->form == NAMING_CUT)
			naming_shorten(&pending->stub.name);
		return recorder_add_stub(events->recorder, flags, &pending->stub);
	}
}

/*
 * Adds the record in the fullest form that can fit into the buffer. A shorter form than the first
 * is counted once.
 */
static enum recorder_result add_fitting(struct events *events, uint16_t flags,
					struct pending *pending)
{
	const enum naming_form first = pending->form;
	enum recorder_result result = add(events, flags, pending);

	while (result == RECORDER_TOO_LARGE && pending->form < NAMING_CUT) {
		pending->form++;
		result = add(events, flags, pending);
	}
	if (first == NAMING_FULL && pending->form != NAMING_FULL)
		recorder_count_loss(events->recorder, WIRE_LOSS_TOO_LARGE, 1);
	return result;
}

/* Drops frame facts if one of them lies outside of the code. */
static struct wire_frame frame_within(struct wire_frame frame, jint size)
{
	if (size < 0 || frame.complete > (uint32_t)size || frame.entry > (uint32_t)size)
		return (struct wire_frame){0};
	return frame;
}

static uint32_t hash_of(const void *addr)
{
	return (uint32_t)((uintptr_t)addr * 0x9e3779b97f4a7c15ull >> 32);
}

/* Whether code at this address is to be told: nobody asks the JVM for its names otherwise. */
static bool is_wanted(struct events *events, const void *addr)
{
	if (!recorder_is_on(events->recorder))
		return false;
	if (!is_own_thread(events))
		return true;
	if ((hash_of(addr) & events->part.mask) != events->part.bits)
		return false;
	events->told.left += events->told.left > 0;
	return events->told.left == 0;
}

/* Room that the agent's own thread leaves to other threads. */
static size_t others_room(const struct recorder *recorder)
{
	return recorder->record_max / 2;
}

static bool has_own_room(const struct recorder *recorder, size_t used)
{
	return used <= recorder->buffer.size - others_room(recorder);
}

/* Keeps a record on the agent's own thread. */
static void keep_own(struct events *events, struct pending *pending)
{
	struct recorder *recorder = events->recorder;
	size_t used = recorder_used_bytes(recorder);
	enum recorder_result result = RECORDER_FULL;

	if (used >= events->offer_at) {
		events->offer(events->context);
		used = recorder_used_bytes(recorder);
		events->offer_at = used + others_room(recorder) / 2;
	}
	if (has_own_room(recorder, used))
		result = add_fitting(events, WIRE_FLAG_RESYNC, pending);
	if (result == RECORDER_ADDED)
		events->told.kept++;
	else
		events->told.left++;
}

static void keep(struct events *events, struct pending *pending)
{
	if (is_own_thread(events)) {
		keep_own(events, pending);
	} else if (add_fitting(events, 0, pending) == RECORDER_FULL) {
		atomic_store(&events->recorder->need_resync, true);
		recorder_count_loss(events->recorder, WIRE_LOSS_BUFFER_FULL, 1);
	}
}

static enum wire_code_kind code_kind(const struct events *events, jmethodID method)
{
	jvmtiEnv *jvmti = events->naming.reader.jvmti;
	jint modifiers = 0;

	if ((*jvmti)->GetMethodModifiers(jvmti, method, &modifiers) != JVMTI_ERROR_NONE)
		return WIRE_CODE_UNKNOWN;
	return modifiers & NATIVE_MODIFIER ? WIRE_CODE_NATIVE_WRAPPER : WIRE_CODE_JAVA;
}

void events_method_load(struct events *events, jmethodID method, jint size, const void *addr,
			const void *compile_info)
{
	struct pending pending = {.kind = WIRE_METHOD_LOAD};
	struct loaded_code *code = &pending.load;
	struct nmethods_facts facts;

	if (!is_wanted(events, addr))
		return;
	*code = (struct loaded_code){
		.method = method,
		.addr = addr,
		.size = (uint32_t)size,
		.level = WIRE_LEVEL_UNKNOWN,
		.kind = (uint8_t)code_kind(events, method),
		.compile_info = compile_info,
	};
	if (nmethods_find(&events->nmethods, addr, &facts)) {
		code->level = facts.level;
		code->frame = frame_within(facts.frame, size);
		if (facts.is_osr && code->kind == WIRE_CODE_JAVA)
			code->kind = WIRE_CODE_OSR;
	}
	keep(events, &pending);
}

void events_method_unload(struct events *events, const void *addr)
{
	struct pending pending = {.kind = WIRE_METHOD_UNLOAD, .unload.addr = (uintptr_t)addr};

	if (recorder_is_on(events->recorder))
		keep(events, &pending);
}

void events_stub(struct events *events, const char *name, const void *addr, jint size)
{
	struct pending pending = {.kind = WIRE_STUB};
	struct wire_frame frame = {0};

	if (!is_wanted(events, addr))
		return;
	if (nmethods_find_stub(&events->nmethods, addr, &frame))
		frame = frame_within(frame, size);
	pending.stub = (struct wire_stub){.addr = (uintptr_t)addr,
					  .size = (uint32_t)size,
					  .frame = frame,
					  .name = wire_str_from(name)};
	keep(events, &pending);
}

void events_begin_resync(struct events *events, struct events_part part, events_send *offer,
			 void *context)
{
	events->offer = offer;
	events->context = context;
	events->part = part;
	events->told = (struct events_told){0};
	events->offer_at = others_room(events->recorder) / 2;
	atomic_store(&events->resync_thread, pthread_self());
}

struct events_told events_end_resync(struct events *events)
{
	atomic_store(&events->resync_thread, 0);
	return events->told;
}
