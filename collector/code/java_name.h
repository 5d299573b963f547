// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a Java method as JVMTI names it -> the name that people read, in one of four styles
 * units:   bytes
 * threads: any
 * errors:  a name without room is cut between characters; -EINVAL for a style that is none
 * source:  JVMTI GetClassSignature (hidden classes), JVM specification 4.2 and 4.3; the naming of
 *          HotSpot 8 to 25, CGLIB, Byte Buddy, Javassist, Mockito
 *
 * Unless raw names are asked for, names are normalised: what a JVM or a library makes up anew in
 * each run is left out, so that the same code has the same name in every run, and the classes that
 * were made from one place are one:
 *
 *   com/x/Foo$$Lambda.0x00007fa83c001428         com/x/Foo$$Lambda
 *   com/x/Foo$$Lambda$14.0x00007fa83c001428      com/x/Foo$$Lambda
 *   java/lang/invoke/LambdaForm$MH.0x0000...     java/lang/invoke/LambdaForm$MH
 *   jdk/proxy2/$Proxy12                          jdk/proxy/$Proxy
 *   jdk/internal/reflect/GeneratedMethodAccessor7  .../GeneratedMethodAccessor
 *   com/x/Foo$$EnhancerBySpringCGLIB$$1a2b3c4d   com/x/Foo$$EnhancerBySpringCGLIB
 *   com/x/Foo$$SpringCGLIB$$0                    com/x/Foo$$SpringCGLIB
 *   com/x/Foo$ByteBuddy$k3Jx09Qa                 com/x/Foo$ByteBuddy
 *
 * What a compiler numbers in the order of the source stays: Foo$1, lambda$main$0, Scala's and
 * Groovy's closures.
 */
#ifndef FG_CODE_JAVA_NAME_H
#define FG_CODE_JAVA_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum java_name_style {
	JAVA_NAME_SLASH,     /* java/lang/String.hashCode */
	JAVA_NAME_DOT,	     /* java.lang.String.hashCode */
	JAVA_NAME_SIMPLE,    /* String.hashCode */
	JAVA_NAME_SIGNATURE, /* java/lang/String.hashCode()I */
	JAVA_NAME_STYLES,
};

/* A zero-filled one is the default. */
struct java_name_options {
	enum java_name_style style;
	bool is_raw;	/* not normalised */
	bool has_lines; /* where the line is known, it follows the name: hashCode:1520 */
};

/* slash, dot, simple, signature; as users write them, and back. */
const char *java_name_style_word(enum java_name_style style);
int java_name_style_of(const char *word, enum java_name_style *ret);
const char *java_name_styles(void); /* all of them, for messages */

/* What JVMTI says, without the L and ; around the class; it is never an array. */
struct java_name {
	const char *class_name;
	const char *name;
	const char *signature; /* NULL: not known */
};

/* Into ret, terminated; size is at least 1. Returns its length. */
size_t java_name_write(const struct java_name_options *options, const struct java_name *method,
		       char *ret, size_t size);

#endif
