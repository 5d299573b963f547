// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a class -> its signature in a small buffer of the caller
 * units:   bytes
 * threads: any that is attached to the JVM
 * errors:  a signature that the JVM does not give is the empty text
 * source:  JVMTI, GetClassSignature; JVM specification 4.4.7, modified UTF-8
 */
#ifndef FGAGENT_PROBES_CLASS_TEXT_H
#define FGAGENT_PROBES_CLASS_TEXT_H

#include <jvmti.h>

#define CLASS_TEXT_BYTES 256

/* A text that is too long ends with "...", and holds no part of a character. */
void class_text_copy(char to[CLASS_TEXT_BYTES], const char *text);
void class_text_read(char to[CLASS_TEXT_BYTES], jvmtiEnv *jvmti, jclass class);

#endif
