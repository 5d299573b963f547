// SPDX-License-Identifier: Apache-2.0
/* Looks for words about the agent, see agent_words.h. */
#include "inspect/agent_words.h"

#include "container/mount_info.h"

#include <string.h>

/* The value of the variable, or NULL. */
static const char *value_of(const char *text, size_t len, const char *name)
{
	const size_t name_len = strlen(name);

	for (size_t at = 0; at < len; at += strlen(text + at) + 1) {
		if (strncmp(text + at, name, name_len) == 0 && text[at + name_len] == '=')
			return text + at + name_len + 1;
	}
	return NULL;
}

const char *agent_words_replaced(const char *text, size_t len)
{
	static const char *const names[] = {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *const value = value_of(text, len, names[i]);

		if (value && value[0] && !strstr(value, "fgagent"))
			return names[i];
	}
	return NULL;
}

bool agent_words_are_off(const char *text, size_t len)
{
	const char *const value = value_of(text, len, "FGAGENT_OPTS");

	return value && strcmp(value, "off") == 0;
}

bool agent_words_have_mount(char *text, const char *path)
{
	struct mount_info mount;

	while (mount_info_next(&text, &mount)) {
		if (strcmp(mount.point, path) == 0)
			return true;
	}
	return false;
}
