// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> its command line, and the variables of its environment that say what it is
 * units:   bytes
 * threads: program_texts_read on one that may wait, the rest on any
 * errors:  a text that cannot be read is ""; is_cut: there was more than is read
 * source:  proc_pid_cmdline(5), proc_pid_environ(5), jvmti-agent/README.md
 *
 * They are what an agent would say of its process. Both files show memory of the process, which it
 * may have changed, and may wait for a page that never comes.
 */
#ifndef FG_VM_PROGRAM_TEXTS_H
#define FG_VM_PROGRAM_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROGRAM_TEXT_BYTES	2048		  /* of one text, as the agent cuts them */
#define PROGRAM_TEXTS_MAX_BYTES ((size_t)2 << 20) /* of one file; Linux allows 6 MiB */

enum program_variable {
	PROGRAM_POD,
	PROGRAM_POD_NAMESPACE,
	PROGRAM_OTEL_SERVICE,
	PROGRAM_OTEL_RESOURCES,
	PROGRAM_VARIABLES,
};

struct program_texts {
	char command[PROGRAM_TEXT_BYTES]; /* blanks between arguments */
	char jar[PROGRAM_TEXT_BYTES];	  /* the argument behind the first -jar */
	char variables[PROGRAM_VARIABLES][PROGRAM_TEXT_BYTES];
	bool is_cut;
};

/* The keys under which an agent's hello has the variables. */
extern const char *const program_variable_keys[PROGRAM_VARIABLES];

/* Takes the bytes of cmdline or environ. Behind the last text there may be no terminator. */
void program_texts_take_arguments(struct program_texts *texts, const char *bytes, size_t len);
void program_texts_take_environment(struct program_texts *texts, const char *bytes, size_t len);

void program_texts_read(pid_t pid, struct program_texts *ret);

/*
 * How much of the JVM's command (Arguments::_java_command) is a jar's path; 0: it begins with
 * another text than the jar of the command line.
 */
size_t program_texts_jar_len(const struct program_texts *texts, const char *java_command);

#endif
