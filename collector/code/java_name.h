// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a Java method or type as JVMTI names it -> the name that people read, in one of four
 *          styles
 * units:   bytes
 * threads: any
 * errors:  a name without room is cut between characters; -EINVAL for an unknown style
 * source:  JVMTI GetClassSignature (hidden classes), JVM specification 4.2 and 4.3; the naming of
 *          HotSpot 8 to 25, CGLIB, Byte Buddy, Javassist, Mockito; "symbolic freedom in the VM" by
 *          J. Rose, clojure.lang.Compiler, scala.reflect.NameTransformer
 *
 * Unless raw names are asked for, names are normalised: the numbers that a JVM or a library makes
 * up anew in each run are left out. So code has the same name in every run, and all classes that
 * were generated for one place in the source have one name:
 *
 *   com/x/Foo$$Lambda.0x00007fa83c001428         com/x/Foo$$Lambda
 *   com/x/Foo$$Lambda$14.0x00007fa83c001428      com/x/Foo$$Lambda
 *   java/lang/invoke/LambdaForm$MH.0x0000...     java/lang/invoke/LambdaForm$MH
 *   jdk/proxy2/$Proxy12                          jdk/proxy/$Proxy
 *   jdk/internal/reflect/GeneratedMethodAccessor7  .../GeneratedMethodAccessor
 *   com/x/Foo$$EnhancerBySpringCGLIB$$1a2b3c4d   com/x/Foo$$EnhancerBySpringCGLIB
 *   com/x/Foo$$SpringCGLIB$$0                    com/x/Foo$$SpringCGLIB
 *   com/x/Foo$ByteBuddy$k3Jx09Qa                 com/x/Foo$ByteBuddy
 *   user$eval9546$fn__8262$G__8198__8216         user$eval$fn$G
 *   jdk/nashorn/internal/scripts/Script$11028$x  .../Script$x
 *   REPL/$JShell$11                              REPL/$JShell
 *
 * What a compiler has written for characters that the JVM forbids is written as it was, by the
 * three ways that languages have: \=\^main\_ is <main> (JRuby, Nashorn), swap_BANG_ behind a '$' is
 * swap! (Clojure), and a method $plus$eq is += (Scala).
 *
 * Numbers that a compiler gives in the order of the source stay: Foo$1, lambda$main$0, Scala's and
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

/* A zero-filled struct is the default. */
struct java_name_options {
	enum java_name_style style;
	bool is_raw;	/* names are not normalised */
	bool has_lines; /* a line that is known follows the name: hashCode:1520 */
};

/* The word by which users name a style, slash for instance, and the style of a word. */
const char *java_name_style_word(enum java_name_style style);
int java_name_style_of(const char *word, enum java_name_style *ret);
const char *java_name_styles(void); /* all words, for messages */

/* A method's names as in JVMTI, but the class without L and ;. The class is never an array. */
struct java_name {
	const char *class_name;
	const char *name;
	const char *signature; /* NULL: not known */
};

/* Writes the name into ret, terminated; size is at least 1. Returns the name's length. */
size_t java_name_write(const struct java_name_options *options, const struct java_name *method,
		       char *ret, size_t size);

/*
 * Writes the name of a type, whose descriptor is UTF-8, as Java's source has it: [[I is int[][],
 * and Ljava/lang/String; is java.lang.String, or String in JAVA_NAME_SIMPLE. A text that is no
 * descriptor is taken for the name of a class. size is at least 1. Returns the name's length.
 */
size_t java_name_write_type(const struct java_name_options *options, const char *type, char *ret,
			    size_t size);

#endif
