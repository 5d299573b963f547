// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a jmethodID -> its names, source file and lines, from JVMTI
 * units:   bytecode indices and line numbers
 * threads: any thread attached to the JVM, inside a CompiledMethodLoad callback
 * errors:  false; texts that could be read are set and have to be freed all the same
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
	bool lines;	   /* wanted by the options, and can_get_line_numbers was granted */
};

/* Texts that JVMTI allocated; NULL: there is none. */
struct method_text {
	char *class_sig, *name, *sig, *source_file;
};

/* The caller frees *ret with method_text_free in any case. */
bool method_text_read(const struct method_reader *reader, jmethodID method,
		      struct method_text *ret);
void method_text_free(const struct method_reader *reader, struct method_text *text);

/*
 * Reads the method's lines, by rising bytecode index, and returns their number; 0: not known, or
 * more than METHOD_LINES_MAX.
 */
uint32_t method_text_read_lines(const struct method_reader *reader, jmethodID method,
				struct wire_line lines[METHOD_LINES_MAX]);

#endif
