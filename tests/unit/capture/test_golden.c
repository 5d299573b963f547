// SPDX-License-Identifier: Apache-2.0
/*
 * Claims that captured samples become the stacks that are written beside them, without a JVM; see
 * golden/README.md.
 *
 *	test_golden [NAME...]	those alone, with both stacks where they differ
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../render/rendered.h"
#include "base/file.h"
#include "capture/replay.h"
#include "sinks/tree_sink.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GOLDEN	   FG_SOURCE_DIR "/tests/unit/capture/golden"
#define SUFFIX	   ".fgcapture"
#define LEAST	   30 /* captures: a folder that is not found is no success */
#define FILE_BYTES (4u << 20)

static struct replay *open_capture(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct replay *replay;
	const char *reason;

	assert_true(fd >= 0);
	if (replay_open(fd, &replay, &reason) < 0)
		fail_msg("%s: %s", path, reason);
	close(fd);
	return replay;
}

/* The folded stacks of all samples, as fgcollect replay writes them. */
static char *fold(struct replay *replay, struct replay_counts *ret_counts)
{
	static const struct chain_style style;
	static const struct render_options options;
	struct replay_run run = {.style = &style};
	struct tree_sink *tree;
	char *text;

	assert_int_equal(tree_sink_new(&tree), 0);
	run.sinks = &tree->sink;
	assert_int_equal(tree->sink.ops->begin(&tree->sink, replay_start_ns(replay)), 0);
	assert_int_equal(replay_run(replay, &run, ret_counts), 0);
	text = written(&tree->profile, RENDER_FOLDED, &options);
	sink_free_all(&tree->sink);
	return text;
}

static void compare(const char *name)
{
	char path[4096], *expected, *first, *second;
	struct replay_counts counts;
	struct replay *replay;

	snprintf(path, sizeof(path), GOLDEN "/%s.folded", name);
	assert_true(file_read_whole(path, FILE_BYTES, &expected) > 0);
	snprintf(path, sizeof(path), GOLDEN "/%s" SUFFIX, name);
	replay = open_capture(path);
	first = fold(replay, &counts);
	if (strcmp(first, expected) != 0)
		fail_msg("%s:\n%sis not\n%s", name, first, expected);
	assert_int_equal(counts.unanswered, 0);
	assert_true(counts.samples > 0);
	second = fold(replay, &counts);
	assert_string_equal(first, second);
	replay_free(replay);
	free(first);
	free(second);
	free(expected);
}

static void test_captures_become_the_stacks_beside_them(void **state)
{
	DIR *const folder = opendir(GOLDEN);
	struct dirent *entry;
	size_t n = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		char *const suffix = strstr(entry->d_name, SUFFIX);

		if (!suffix || strcmp(suffix, SUFFIX) != 0)
			continue;
		*suffix = '\0';
		compare(entry->d_name);
		n++;
	}
	closedir(folder);
	assert_true(n >= LEAST);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_captures_become_the_stacks_beside_them),
	};

	for (int i = 1; i < argc; i++)
		compare(argv[i]);
	return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
