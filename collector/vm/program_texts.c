// SPDX-License-Identifier: Apache-2.0
/*
 * Takes a command line and an environment apart, see program_texts.h. Both files of /proc are texts
 * with a terminator behind each:
 *
 *	java\0-jar\0/opt/shop.jar\0--port\0 80\0
 *	PATH=/bin\0POD_NAME=shop-1\0
 */
#include "vm/program_texts.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

#define KEY_PREFIX "env."

const char *const program_variable_keys[PROGRAM_VARIABLES] = {
	[PROGRAM_POD] = KEY_PREFIX "POD_NAME",
	[PROGRAM_POD_NAMESPACE] = KEY_PREFIX "POD_NAMESPACE",
	[PROGRAM_OTEL_SERVICE] = KEY_PREFIX "OTEL_SERVICE_NAME",
	[PROGRAM_OTEL_RESOURCES] = KEY_PREFIX "OTEL_RESOURCE_ATTRIBUTES",
};

static void copy_text(char ret[PROGRAM_TEXT_BYTES], const char *text, size_t len)
{
	const size_t most = len < PROGRAM_TEXT_BYTES - 1 ? len : PROGRAM_TEXT_BYTES - 1;

	if (most > 0) /* of nothing the text may be NULL */
		memcpy(ret, text, most);
	ret[most] = '\0';
}

void program_texts_take_arguments(struct program_texts *texts, const char *bytes, size_t len)
{
	bool is_jar = false;

	while (len > 0 && bytes[len - 1] == '\0')
		len--;
	copy_text(texts->command, bytes, len);
	for (size_t i = 0; i < len && i < PROGRAM_TEXT_BYTES - 1; i++) {
		if (texts->command[i] == '\0')
			texts->command[i] = ' ';
	}
	for (size_t at = 0; at < len && !texts->jar[0];) {
		const size_t n = strnlen(bytes + at, len - at);

		if (is_jar && n < PROGRAM_TEXT_BYTES)
			copy_text(texts->jar, bytes + at, n);
		is_jar = n == strlen("-jar") && memcmp(bytes + at, "-jar", n) == 0;
		at += n + 1;
	}
}

static void take_variable(struct program_texts *texts, const char *text, size_t len)
{
	for (size_t i = 0; i < PROGRAM_VARIABLES; i++) {
		const char *const name = program_variable_keys[i] + strlen(KEY_PREFIX);
		const size_t name_len = strlen(name);

		/* getenv(3) finds the first of two variables of one name. */
		if (len > name_len && text[name_len] == '=' && !texts->variables[i][0] &&
		    memcmp(text, name, name_len) == 0)
			copy_text(texts->variables[i], text + name_len + 1, len - name_len - 1);
	}
}

void program_texts_take_environment(struct program_texts *texts, const char *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		const size_t n = strnlen(bytes + at, len - at);

		take_variable(texts, bytes + at, n);
		at += n + 1;
	}
}

static size_t read_file(pid_t pid, const char *name, struct program_texts *texts, char **ret)
{
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	len = file_read_whole(path, PROGRAM_TEXTS_MAX_BYTES, ret);
	texts->is_cut |= len == (ssize_t)PROGRAM_TEXTS_MAX_BYTES;
	return len > 0 ? (size_t)len : 0;
}

void program_texts_read(pid_t pid, struct program_texts *ret)
{
	_cleanup_free_ char *arguments = NULL, *environment = NULL;
	size_t len;

	*ret = (struct program_texts){0};
	len = read_file(pid, "cmdline", ret, &arguments);
	program_texts_take_arguments(ret, arguments, len);
	len = read_file(pid, "environ", ret, &environment);
	program_texts_take_environment(ret, environment, len);
}

size_t program_texts_jar_len(const struct program_texts *texts, const char *java_command)
{
	const size_t len = strlen(texts->jar);

	if (strncmp(java_command, texts->jar, len) != 0 ||
	    (java_command[len] != ' ' && java_command[len] != '\0'))
		return 0;
	return len;
}
