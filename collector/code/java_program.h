// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a JVM says of its command -> what the program is called, and whose it is
 * units:   bytes
 * threads: any
 * errors:  a text that says nothing has no title
 * source:  sun.java.command as the java launcher sets it, JEP 330 and 458 (programs in source
 *          files)
 *
 * The launcher writes the main class or the jar and all arguments into one text, with blanks
 * between. A jar's path may have blanks itself.
 */
#ifndef FG_CODE_JAVA_PROGRAM_H
#define FG_CODE_JAVA_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

struct java_program {
	const char *command; /* java.command: the program and its arguments; NULL: not known */
	const char
		*jar; /* java.jar: its beginning that is a jar's path; NULL: no jar, or not known */
	const char *line; /* command: the process's command line; NULL: not known */
};

/*
 * Writes the main class, or a jar's or source file's name without its directory, into ret,
 * terminated; "" if the text does not say. size is at least 1.
 */
void java_program_title(const struct java_program *program, char *ret, size_t size);

/*
 * Whether the program is one of the JDK's own, as jcmd, keytool and javac are, a child of jshell,
 * or java without a program, as in java -version. A program in a source file is its writer's.
 */
bool java_program_is_tool(const struct java_program *program);

#endif
