// SPDX-License-Identifier: Apache-2.0
/* For tests of the page: folded stacks on stdin -> the page on stdout, by the renderer alone. */
#include "render/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FRAMES 4096

static enum frame_kind cut_suffix(char *name)
{
	const size_t len = strlen(name);

	for (int kind = 0; kind < FRAME_KINDS; kind++) {
		const char *const suffix = frame_kind_suffix((enum frame_kind)kind);
		const size_t suffix_len = strlen(suffix);

		if (suffix_len && len > suffix_len && strcmp(name + len - suffix_len, suffix) == 0) {
			name[len - suffix_len] = '\0';
			return (enum frame_kind)kind;
		}
	}
	return strchr(name, '/') ? FRAME_INTERPRETED : FRAME_NATIVE;
}

/* "a;b;c 7" */
static int add_line(struct profile *profile, char *line)
{
	static struct frame frames[MOST_FRAMES];
	char *const count = strrchr(line, ' ');
	size_t n = 0;

	if (!count)
		return 0;
	*count = '\0';
	for (char *end = count; end > line && n < MOST_FRAMES;) {
		char *begin = end;

		while (begin > line && begin[-1] != ';')
			begin--;
		*end = '\0';
		frames[n].name = begin;
		frames[n].kind = cut_suffix(begin);
		n++;
		end = begin > line ? begin - 1 : line;
	}
	return profile_add(profile, frames, n, strtoull(count + 1, NULL, 10));
}

int main(void)
{
	const struct render_options options = {.title = "Folded <b>stacks</b>"};
	struct profile profile;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int rc = profile_init(&profile, 0);

	while (rc == 0 && (len = getline(&line, &size, stdin)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		rc = add_line(&profile, line);
	}
	if (rc == 0)
		rc = render_write(&profile, RENDER_HTML, &options, stdout);
	free(line);
	profile_fini(&profile);
	return rc == 0 ? 0 : 1;
}
