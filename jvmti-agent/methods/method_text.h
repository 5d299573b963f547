// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a jmethodID -> its names, source file and lines, asked of the JVM
 * units:   bytecode indices and line numbers
 * threads: any that the JVM knows, inside a CompiledMethodLoad callback
 * errors:  false; what could be read stands and is to be freed all the same
 * source:  JVMTI GetMethodName, GetMethodDeclaringClass, GetClassSignature, GetSourceFileName,
 *          GetLineNumberTable
 */
#ifndef FGAGENT_METHODS_METHOD_TEXT_H
#define FGAGENT_METHODS_METHOD_TEXT_H

#include "shared/wire.h"

#include <jvmti.h>

#define METHOD_LINES_MAX 4096

struct method_reader {
	jvmtiEnv *jvmti;
	JavaVM *vm;
	bool source_files; /* can_get_source_file_name was granted */
	bool lines;	   /* wanted, and can_get_line_numbers was granted */
};

/* Texts that JVMTI allocated, NULL where it had none. */
struct method_text {
	char *class_sig, *name, *sig, *source_file;
};

/* *ret is to be freed in any case. */
bool method_text_read(const struct method_reader *reader, jmethodID method,
		      struct method_text *ret);
void method_text_free(const struct method_reader *reader, struct method_text *text);

/* How many lines there are, in rising order of bytecode index: 0 if not known or too many. */
uint32_t method_text_read_lines(const struct method_reader *reader, jmethodID method,
				struct wire_line lines[METHOD_LINES_MAX]);

#endif
