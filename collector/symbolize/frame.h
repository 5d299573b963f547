// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one named frame of a stack; what symbolize gives, profile keeps and render draws
 * units:   line counts from 1, 0 is not known
 * threads: any, a value
 * errors:  none
 * source:  the frame kinds and suffixes that async-profiler's and FlameGraph's users know
 */
#ifndef FG_SYMBOLIZE_FRAME_H
#define FG_SYMBOLIZE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

enum frame_kind {
	FRAME_LABEL,	      /* no code: process, thread, or a reason such as [truncated: ...] */
	FRAME_INTERPRETED,    /* _[0] */
	FRAME_C1,	      /* _[1] */
	FRAME_JIT,	      /* _[j]: C2, or compiled at a level that is not known */
	FRAME_INLINED,	      /* _[i] */
	FRAME_NATIVE_WRAPPER, /* _[j]: HotSpot's glue around a Java native method */
	FRAME_STUB,	      /* generated code that is no method, Interpreter included */
	FRAME_JVM,	      /* libjvm */
	FRAME_NATIVE,	      /* any other file */
	FRAME_NATIVE_INLINED, /* _[i]: inlined into a function of a file, libjvm too */
	FRAME_KERNEL,	      /* _[k] */
	FRAME_UNKNOWN,	      /* [unknown: reason], without a name */
	FRAME_JAVA,	      /* a Java method of which is not known how it ran */
	FRAME_KINDS,
};

/* Texts are interned: equal texts are equal pointers while their owner lives. */
struct frame {
	const char *name;   /* without suffix: java/lang/String.hashCode, do_sys_openat2 */
	const char *module; /* libjvm.so, [kernel]; NULL for Java and labels */
	const char *file;   /* source file or NULL */
	uint32_t line;
	enum frame_kind kind;
	const char *build_id; /* of the module's file, in lower-case hexadecimal, or NULL */
};

/* "_[j]" and so on; "" for kinds without one. */
const char *frame_kind_suffix(enum frame_kind kind);

/*
 * One lower-case word a kind: "jit", "kernel". Files bear them, so that a word never changes its
 * meaning; a kind's number may.
 */
const char *frame_kind_word(enum frame_kind kind);
/* FRAME_KINDS if word is of no kind. */
enum frame_kind frame_kind_of_word(const char *word);

/* Whether frames of it are Java methods, however they ran. */
bool frame_kind_is_java(enum frame_kind kind);
/* Whether they are part of their caller's machine code. */
bool frame_kind_is_inlined(enum frame_kind kind);

#endif
