// SPDX-License-Identifier: Apache-2.0
/* Nodes by their path, see path.h. */
#include "path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint32_t find_child(const struct profile *profile, uint32_t parent, const char *name)
{
	uint32_t found = 0;

	for (uint32_t child = profile->nodes[parent].first_child; child;
	     child = profile->nodes[child].next_sibling) {
		if (strcmp(profile->nodes[child].name, name) != 0)
			continue;
		assert_int_equal(found, 0);
		found = child;
	}
	return found;
}

uint32_t path_find(const struct profile *profile, const char *path)
{
	char text[256], *rest = NULL;
	uint32_t id = PROFILE_ROOT;

	assert_true(strlen(path) < sizeof(text));
	strcpy(text, path);
	for (char *word = strtok_r(text, "/", &rest); word; word = strtok_r(NULL, "/", &rest)) {
		id = find_child(profile, id, word);
		if (!id)
			return 0;
	}
	return id;
}

void path_check(const struct profile *profile, const char *path, uint64_t self, uint64_t total)
{
	const uint32_t id = path_find(profile, path);

	if (!id && *path)
		fail_msg("no node %s", path);
	assert_int_equal(profile->nodes[id].self, self);
	assert_int_equal(profile->nodes[id].total, total);
}

size_t path_frames(char *text, struct frame (*frame_of)(const char *word), struct frame *frames,
		   size_t max)
{
	size_t n = 0;

	for (char *word; (word = strrchr(text, ' ')); *word = '\0') {
		assert_true(n < max);
		frames[n++] = frame_of(word + 1);
	}
	assert_true(n < max);
	frames[n++] = frame_of(text);
	return n;
}
