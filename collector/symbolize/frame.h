// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one named frame of a stack, which symbolize/ makes, profile/ keeps and render/ draws
 * units:   line counts from 1; 0: not known
 * threads: any, a value
 * errors:  none
 * source:  the frame kinds and suffixes of async-profiler and FlameGraph
 */
#ifndef FG_SYMBOLIZE_FRAME_H
#define FG_SYMBOLIZE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

enum frame_kind {
	/* a label frame without code: process, thread, or a reason such as [truncated: ...] */
	FRAME_LABEL,
	FRAME_INTERPRETED,    /* _[0] */
	FRAME_C1,	      /* _[1] */
	FRAME_JIT,	      /* _[j]: C2, or compiled at an unknown level */
	FRAME_INLINED,	      /* _[i] */
	FRAME_NATIVE_WRAPPER, /* _[j]: HotSpot's glue around a Java native method */
	FRAME_STUB,	      /* generated code of no method, also the interpreter's own */
	FRAME_JVM,	      /* libjvm */
	FRAME_NATIVE,	      /* any other file */
	FRAME_NATIVE_INLINED, /* _[i]: inlined into a function of a file; libjvm's too */
	FRAME_KERNEL,	      /* _[k] */
	FRAME_UNKNOWN,	      /* [unknown: reason], without a name */
	FRAME_JAVA,	      /* a Java method of unknown level */
	FRAME_WAIT, /* _[w]: why the thread does not run; no code: [runnable], [blocked: futex] */
	/* _[c]: of what class an object, a lock or an exception is; no code: java.lang.String */
	FRAME_CLASS,
	FRAME_KINDS,
};

/* Texts are interned: while their owner lives, equal texts have equal pointers. */
struct frame {
	const char *name;   /* without suffix: java/lang/String.hashCode, do_sys_openat2, byte[] */
	const char *module; /* libjvm.so, [kernel]; NULL for Java, classes and labels */
	const char *file;   /* source file or NULL */
	uint32_t line;
	enum frame_kind kind;
	const char *build_id; /* build ID of the module's file in lower-case hexadecimal, or NULL */
};

/* The suffix of a kind, such as "_[j]"; "" for kinds without one. */
const char *frame_kind_suffix(enum frame_kind kind);

/*
 * The word of a kind, such as "jit" or "kernel". Files contain these words, so a word never changes
 * its meaning; the number of a kind may change.
 */
const char *frame_kind_word(enum frame_kind kind);
/* The kind of a word; FRAME_KINDS if no kind has that word. */
enum frame_kind frame_kind_of_word(const char *word);

/* Whether frames of the kind are Java methods of any level. */
bool frame_kind_is_java(enum frame_kind kind);
/* Whether frames of the kind have no machine code of their own, but are part of their caller's. */
bool frame_kind_is_inlined(enum frame_kind kind);

#endif
