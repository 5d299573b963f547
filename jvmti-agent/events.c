// SPDX-License-Identifier: Apache-2.0
/*
 * What the agent does with an event of the JVM. Everything a record needs is copied before the
 * callback returns: names die with the class, and a jmethodID may be invalid by the time of its
 * unload (90 % were, under class churn), so that one is keyed by address alone.
 */
#include "events.h"

#define NATIVE_MODIFIER 0x0100 /* JVMS table 4.6-A, ACC_NATIVE */
#define SHORTENED_BYTES 1000

struct pending {
	enum wire_kind kind;
	union {
		struct wire_method_load load;
		struct wire_method_unload unload;
		struct wire_stub stub;
	};
};

/* Texts that JVMTI allocated, NULL where it had none. */
struct names {
	char *class_sig, *method, *method_sig, *source_file;
};

static bool is_own_thread(const struct events *events)
{
	return atomic_load_explicit(&events->resyncing, memory_order_acquire) &&
	       pthread_equal(pthread_self(), events->resync_thread);
}

static enum recorder_result add(struct events *events, uint16_t flags, struct pending *pending)
{
	switch (pending->kind) {
	case WIRE_METHOD_LOAD:
		return recorder_add_load(events->recorder, flags, &pending->load);
	case WIRE_METHOD_UNLOAD:
		return recorder_add_unload(events->recorder, &pending->unload);
	default:
		return recorder_add_stub(events->recorder, flags, &pending->stub);
	}
}

static void shorten_str(struct wire_str *s)
{
	if (s->len > SHORTENED_BYTES)
		s->len = SHORTENED_BYTES;
}

/* Makes a record fit into the smallest buffer: a cut name at a known address beats none. */
static void shorten(struct pending *pending)
{
	if (pending->kind == WIRE_METHOD_LOAD) {
		shorten_str(&pending->load.class_sig);
		shorten_str(&pending->load.method);
		shorten_str(&pending->load.method_sig);
		shorten_str(&pending->load.source_file);
		pending->load.sections_len = 0;
	} else if (pending->kind == WIRE_STUB) {
		shorten_str(&pending->stub.name);
	}
}

/* On the agent's own thread: waits for room, and leaves half of it to the others. */
static void keep_own(struct events *events, struct pending *pending, enum recorder_result result)
{
	struct recorder *recorder = events->recorder;

	while (result == RECORDER_FULL && events->make_room(events->context) == 0)
		result = add(events, WIRE_FLAG_RESYNC, pending);
	if (result != RECORDER_ADDED)
		events->resync_lost = true;
	else if (recorder_used_bytes(recorder) > recorder->buffer.size / 2)
		events->make_room(events->context);
}

static void keep(struct events *events, struct pending *pending)
{
	const bool own = is_own_thread(events);
	const uint16_t flags = own ? WIRE_FLAG_RESYNC : 0;
	enum recorder_result result = add(events, flags, pending);

	if (result == RECORDER_TOO_LARGE) {
		shorten(pending);
		result = add(events, flags, pending);
		recorder_count_loss(events->recorder, WIRE_LOSS_TOO_LARGE, 1);
	}
	if (own) {
		keep_own(events, pending, result);
	} else if (result == RECORDER_FULL) {
		atomic_store(&events->recorder->need_resync, true);
		recorder_count_loss(events->recorder, WIRE_LOSS_BUFFER_FULL, 1);
	}
}

/* Fills what it can and returns whether all calls went well. */
static bool read_class_names(const struct events *events, jmethodID method, struct names *ret)
{
	jvmtiEnv *jvmti = events->jvmti;
	jclass class = NULL;
	jvmtiError err;
	bool good;

	if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) != JVMTI_ERROR_NONE)
		return false;
	good = (*jvmti)->GetClassSignature(jvmti, class, &ret->class_sig, NULL) == JVMTI_ERROR_NONE;
	if (events->source_files) {
		err = (*jvmti)->GetSourceFileName(jvmti, class, &ret->source_file);
		good = good && (err == JVMTI_ERROR_NONE || err == JVMTI_ERROR_ABSENT_INFORMATION);
	}
	/* On the JVM's own threads the reference goes when the callback returns. */
	if (is_own_thread(events))
		(*events->resync_jni)->DeleteLocalRef(events->resync_jni, class);
	return good;
}

static bool read_names(const struct events *events, jmethodID method, struct names *ret)
{
	jvmtiEnv *jvmti = events->jvmti;

	*ret = (struct names){0};
	return (*jvmti)->GetMethodName(jvmti, method, &ret->method, &ret->method_sig, NULL) ==
		       JVMTI_ERROR_NONE &&
	       read_class_names(events, method, ret);
}

static void free_names(const struct events *events, struct names *names)
{
	char *const texts[] = {names->class_sig, names->method, names->method_sig,
			       names->source_file};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (texts[i])
			(*events->jvmti)->Deallocate(events->jvmti, (unsigned char *)texts[i]);
	}
}

static enum wire_code_kind code_kind(const struct events *events, jmethodID method)
{
	jint modifiers = 0;

	if ((*events->jvmti)->GetMethodModifiers(events->jvmti, method, &modifiers) !=
	    JVMTI_ERROR_NONE)
		return WIRE_CODE_UNKNOWN;
	return modifiers & NATIVE_MODIFIER ? WIRE_CODE_NATIVE_WRAPPER : WIRE_CODE_JAVA;
}

void events_method_load(struct events *events, jmethodID method, jint size, const void *addr)
{
	struct pending pending = {.kind = WIRE_METHOD_LOAD};
	struct names names;
	bool good;

	if (!recorder_is_on(events->recorder))
		return;
	good = read_names(events, method, &names);
	pending.load = (struct wire_method_load){
		.addr = (uintptr_t)addr,
		.size = (uint32_t)size,
		.level = WIRE_LEVEL_UNKNOWN,
		.code_kind = (uint8_t)code_kind(events, method),
		.class_sig = wire_str_from(names.class_sig),
		.method = wire_str_from(names.method),
		.method_sig = wire_str_from(names.method_sig),
		.source_file = wire_str_from(names.source_file),
	};
	keep(events, &pending);
	free_names(events, &names);
	if (!good)
		recorder_count_loss(events->recorder, WIRE_LOSS_JVMTI, 1);
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

	if (!recorder_is_on(events->recorder))
		return;
	pending.stub = (struct wire_stub){
		.addr = (uintptr_t)addr, .size = (uint32_t)size, .name = wire_str_from(name)};
	keep(events, &pending);
}

void events_begin_resync(struct events *events, JNIEnv *jni, events_make_room *make_room,
			 void *context)
{
	events->resync_thread = pthread_self();
	events->resync_jni = jni;
	events->make_room = make_room;
	events->context = context;
	events->resync_lost = false;
	atomic_store_explicit(&events->resyncing, true, memory_order_release);
}

bool events_end_resync(struct events *events)
{
	atomic_store_explicit(&events->resyncing, false, memory_order_release);
	return !events->resync_lost;
}
