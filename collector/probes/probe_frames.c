// SPDX-License-Identifier: Apache-2.0
/* Reads what stacks say of locks and exceptions, see probe_frames.h. */
#include "probes/probe_frames.h"

#include <stdio.h>
#include <string.h>

struct span {
	const char *text;
	size_t len;
};

/* The class and the method of a name, without package, signature and line. */
struct method {
	struct span path;  /* the class with its package */
	struct span class; /* without package */
	struct span name;
};

static size_t find_last(struct span span, const char *any)
{
	size_t at = span.len;

	while (at > 0 && !strchr(any, span.text[at - 1]))
		at--;
	return at;
}

static struct method method_of(const struct frame *frame)
{
	struct span all = {frame->name, strcspn(frame->name, "(:")};
	struct method method = {.path = all};
	const size_t dot = find_last(all, ".");
	size_t package;

	if (dot == 0)
		return method;
	method.name = (struct span){all.text + dot, all.len - dot};
	method.path.len = dot - 1;
	package = find_last(method.path, "./");
	method.class = (struct span){all.text + package, method.path.len - package};
	return method;
}

static bool is_text(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.text, text, span.len) == 0;
}

static bool begins_with(struct span span, const char *text)
{
	return span.len >= strlen(text) && memcmp(span.text, text, strlen(text)) == 0;
}

static bool ends_with(struct span span, const char *text)
{
	const size_t len = strlen(text);

	return span.len >= len && memcmp(span.text + span.len - len, text, len) == 0;
}

/* Writes the class as Java's source has it, without the name of a nested class if is_outer. */
static void write_class(struct span path, bool is_outer, char ret[PROBE_FRAMES_CLASS_BYTES])
{
	const char *const dollar = is_outer ? memchr(path.text, '$', path.len) : NULL;

	if (dollar && dollar > path.text)
		path.len = (size_t)(dollar - path.text);
	snprintf(ret, PROBE_FRAMES_CLASS_BYTES, "%.*s", (int)path.len, path.text);
	for (char *at = ret; *at; at++)
		*at = *at == '/' ? '.' : *at;
}

/* The first frame of Java from there on; n if there is none. */
static size_t next_java(const struct frame *frames, size_t n, size_t at)
{
	while (at < n && !frame_kind_is_java(frames[at].kind))
		at++;
	return at;
}

static bool is_synchronizer(struct span class)
{
	return is_text(class, "AbstractQueuedSynchronizer") ||
	       is_text(class, "AbstractQueuedLongSynchronizer");
}

/* Classes whose shared acquisition is that of a lock. A latch's is not. */
static bool is_shared_lock(struct span class)
{
	return begins_with(class, "ReentrantReadWriteLock") || begins_with(class, "Semaphore");
}

/* Past the frames of the synchronizer. *ret_is_shared: any number of threads may have it. */
static size_t past_synchronizer(const struct frame *frames, size_t n, size_t at,
				bool *ret_is_shared)
{
	*ret_is_shared = false;
	for (; at < n; at = next_java(frames, n, at + 1)) {
		const struct method method = method_of(&frames[at]);

		if (!is_synchronizer(method.class))
			break;
		*ret_is_shared |= memmem(method.name.text, method.name.len, "hared", 5) != NULL;
	}
	return at;
}

static bool is_park(const struct method *method)
{
	return (is_text(method->class, "Unsafe") && is_text(method->name, "park")) ||
	       (is_text(method->class, "LockSupport") && begins_with(method->name, "park"));
}

bool probe_frames_lock(const struct frame *frames, size_t n, char ret[PROBE_FRAMES_CLASS_BYTES])
{
	size_t at = next_java(frames, n, 0), lock;
	struct method method;
	bool is_shared;

	while (at < n && (method = method_of(&frames[at]), is_park(&method)))
		at = next_java(frames, n, at + 1);
	if (at >= n)
		return false;
	method = method_of(&frames[at]);
	if (begins_with(method.class, "StampedLock")) {
		write_class(method.path, true, ret);
		return true;
	}
	if (!is_synchronizer(method.class))
		return false;
	lock = past_synchronizer(frames, n, at, &is_shared);
	if (lock >= n)
		return false;
	method = method_of(&frames[lock]);
	/* A condition takes the lock again after its signal: its own lock is not in the frames. */
	if (begins_with(method.class, "AbstractQueued")) {
		write_class(method.path, true, ret);
		return true;
	}
	if (is_shared && !is_shared_lock(method.class))
		return false;
	write_class(method.path, true, ret);
	return true;
}

static bool is_throwable(struct span class)
{
	return ends_with(class, "Exception") || ends_with(class, "Error") ||
	       ends_with(class, "Throwable");
}

/* Classes that are made to be extended: an exception of such a class may be of any. */
static bool is_base(struct span path)
{
	static const char *const bases[] = {"Throwable", "Exception", "RuntimeException", "Error"};
	const size_t class = find_last(path, "./");

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		if (is_text((struct span){path.text + class, path.len - class}, bases[i]))
			return true;
	}
	return false;
}

/* The frame behind the exception's constructors; *ret is the class of the last one of them. */
static size_t past_constructors(const struct frame *frames, size_t n, size_t at, struct span *ret)
{
	bool may_be_extended = true;

	for (; at < n && frame_kind_is_java(frames[at].kind); at++) {
		const struct method method = method_of(&frames[at]);

		if (!is_text(method.name, "<init>") ||
		    (!may_be_extended && !is_throwable(method.class)))
			break;
		*ret = method.path;
		may_be_extended = is_base(method.path);
	}
	return at;
}

/* Past the JVM's own frames, if it has called the constructor. */
static size_t past_jvm(const struct frame *frames, size_t n, size_t at)
{
	size_t end = at;

	while (end < n && (frames[end].kind == FRAME_JVM || frames[end].kind == FRAME_STUB ||
			   frames[end].kind == FRAME_NATIVE_INLINED))
		end++;
	return end < n ? end : at;
}

size_t probe_frames_exception(const struct frame *frames, size_t n,
			      char ret[PROBE_FRAMES_CLASS_BYTES])
{
	struct span path = {"java.lang.Throwable", strlen("java.lang.Throwable")};
	size_t at = next_java(frames, n, 0);

	while (at < n && is_text(method_of(&frames[at]).name, "fillInStackTrace"))
		at = next_java(frames, n, at + 1);
	at = past_constructors(frames, n, at, &path);
	write_class(path, false, ret);
	at = past_jvm(frames, n, at);
	return at < n ? at : 0;
}
