// SPDX-License-Identifier: Apache-2.0
/*
 * Takes the text of sun.java.command apart, see java_program.h:
 *
 *	com.acme.Main --port 80					a class
 *	com.acme.app/com.acme.Main --port 80			a class of a module
 *	/opt/my app/service.jar --port 80			a jar
 *	jdk.compiler/com.sun.tools.javac.launcher.Main A.java	a source file, since JDK 11
 */
#include "code/java_program.h"

#include <stdio.h>
#include <string.h>

struct span {
	const char *text;
	size_t len;
};

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool is_one_of(struct span name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (name.len == strlen(names[i]) && memcmp(name.text, names[i], name.len) == 0)
			return true;
	}
	return false;
}

static struct span first_word(const char *text)
{
	return (struct span){text, strcspn(text, " ")};
}

/* The beginning of a text that ends in the first suffix behind which a word ends. */
static struct span up_to(const char *text, const char *suffix)
{
	for (const char *found = text; (found = strstr(found, suffix)); found++) {
		const char *const end = found + strlen(suffix);

		if (*end == '\0' || *end == ' ')
			return (struct span){text, (size_t)(end - text)};
	}
	return first_word(text);
}

static bool is_source_launcher(struct span main_class)
{
	static const char *const launchers[] = {
		"jdk.compiler/com.sun.tools.javac.launcher.Main",
		"jdk.compiler/com.sun.tools.javac.launcher.SourceLauncher", /* since JDK 22 */
	};

	return is_one_of(main_class, launchers, sizeof(launchers) / sizeof(launchers[0]));
}

static struct span without_directory(struct span path)
{
	for (size_t i = path.len; i > 0; i--) {
		if (path.text[i - 1] == '/')
			return (struct span){path.text + i, path.len - i};
	}
	return path;
}

static bool is_jar(struct span name)
{
	return name.len > 4 && memcmp(name.text + name.len - 4, ".jar", 4) == 0;
}

/* Agents before java.jar do not say where a jar's path ends. No class begins with '/' or '.'. */
static struct span find_program(const struct java_program *program)
{
	const char *const command = program->command;
	const size_t jar = program->jar ? strlen(program->jar) : 0;

	if (jar > 0 && begins_with(command, program->jar))
		return (struct span){command, jar};
	return command[0] == '/' || command[0] == '.' ? up_to(command, ".jar")
						      : first_word(command);
}

void java_program_title(const struct java_program *program, char *ret, size_t size)
{
	struct span name;

	ret[0] = '\0';
	if (!program->command)
		return;
	name = find_program(program);
	if (is_source_launcher(name) && name.text[name.len] == ' ')
		name = without_directory(up_to(name.text + name.len + 1, ".java"));
	else if (program->jar || is_jar(name))
		name = without_directory(name);
	snprintf(ret, size, "%.*s", (int)name.len, name.text);
}

/* Whether the command line is that of java, so that no program is no program at all. */
static bool is_java(const char *line)
{
	static const char *const java[] = {"java"};

	return line && is_one_of(without_directory(first_word(line)), java, 1);
}

bool java_program_is_tool(const struct java_program *program)
{
	/* A program of a module of the JDK is called by its module since JDK 9. */
	static const char *const tools[] = {"jdk.",	"java.",	  "sun.tools.",
					    "sun.jvm.", "com.sun.tools.", "sun.security.tools."};
	struct span name;

	if (!program->command || !program->command[0])
		return is_java(program->line);
	if (program->jar)
		return false;
	name = first_word(program->command);
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		if (begins_with(name.text, tools[i]))
			return !is_source_launcher(name);
	}
	return false;
}
