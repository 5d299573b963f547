// SPDX-License-Identifier: Apache-2.0
/* What the tests of render share: profiles from short notes, and what is drawn of them. */
#ifndef FG_TESTS_PROFILE_OF_H
#define FG_TESTS_PROFILE_OF_H

#include "rendered.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Adds a stack of up to three frames, root first; a NULL name ends it. */
struct note {
	struct frame frames[3];
	uint64_t weight;
};

#define F(text, k)                                                                                 \
	{                                                                                          \
		.name = (text), .kind = FRAME_##k                                                  \
	}

static inline void add_note(struct profile *profile, const struct note *note)
{
	struct frame leaf_first[3];
	size_t n = 0;

	while (n < 3 && note->frames[n].name)
		n++;
	for (size_t i = 0; i < n; i++)
		leaf_first[i] = note->frames[n - 1 - i];
	assert_int_equal(profile_add(profile, leaf_first, n, note->weight), 0);
}

static inline void add_deep(struct profile *profile, size_t levels)
{
	struct frame *const frames = calloc(levels, sizeof(*frames));

	assert_non_null(frames);
	for (size_t i = 0; i < levels; i++)
		frames[i] = (struct frame){.name = "f", .kind = FRAME_JIT};
	assert_int_equal(profile_add(profile, frames, levels, 1), 0);
	free(frames);
}

#define ADD(w, ...)                                                                                \
	do {                                                                                       \
		const struct note note = {{__VA_ARGS__}, (w)};                                     \
		add_note(&fixture->profile, &note);                                                \
	} while (0)

/* Skips where there is no /dev/full. */
static inline void check_full_disk(const struct profile *profile, enum render_format format)
{
	FILE *const full = fopen("/dev/full", "w");

	if (!full)
		skip();
	assert_int_equal(render_write(profile, format, NULL, full), -ENOSPC);
	fclose(full);
}

/* A profile with its timeline, and what was drawn of them last. */
struct fixture {
	struct profile profile;
	struct timeline timeline;
	char *drawn;
};

static inline int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	timeline_init(&fixture->timeline, 0);
	return profile_init(&fixture->profile, 0);
}

static inline int teardown(void **state)
{
	struct fixture *const fixture = *state;

	profile_fini(&fixture->profile);
	timeline_fini(&fixture->timeline);
	free(fixture->drawn);
	free(fixture);
	return 0;
}

#endif
