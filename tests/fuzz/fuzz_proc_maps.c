// SPDX-License-Identifier: Apache-2.0
/*
 * Texts in the form of /proc/<pid>/maps, in which processes choose the paths. The mappings are in
 * order and do not overlap, each is found at its ends and not behind them, the limits hold, and a
 * text that is parsed in pieces of whole lines says the same as in one. What was parsed is written
 * again, in the kernel's form, and parsed again. The path of an agent that listens is a valid one.
 */
#include "fuzzer.h"

#include "intake/announcement.h"
#include "memory/address_space.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_space(const struct address_space *space)
{
	size_t path_bytes = 0;

	for (size_t i = 0; i < space->count; i++) {
		const struct mapping *const mapping = &space->mappings[i];

		if (mapping->start >= mapping->end ||
		    (i > 0 && space->mappings[i - 1].end > mapping->start) ||
		    address_space_find(space, mapping->start) != mapping ||
		    address_space_find(space, mapping->end - 1) != mapping ||
		    address_space_find(space, mapping->end) == mapping)
			abort();
		path_bytes += strlen(mapping->path) + 1;
	}
	if (space->count > ADDRESS_SPACE_MAX || space->path_bytes > ADDRESS_SPACE_MAX_PATH_BYTES ||
	    space->path_bytes < path_bytes)
		abort();
}

static bool is_equal(const struct address_space *a, const struct address_space *b)
{
	if (a->count != b->count || a->dropped != b->dropped)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct mapping *const x = &a->mappings[i], *const y = &b->mappings[i];

		if (x->start != y->start || x->end != y->end || x->file_off != y->file_off ||
		    x->dev_major != y->dev_major || x->dev_minor != y->dev_minor ||
		    x->inode != y->inode || x->is_deleted != y->is_deleted ||
		    strcmp(x->path, y->path) != 0)
			return false;
	}
	return true;
}

static void parse(struct address_space *space, const char *text, size_t len)
{
	char *const copy = malloc(len ? len : 1); /* so that reading beyond it is seen */

	if (!copy)
		abort();
	memcpy(copy, text, len);
	if (address_space_parse(space, copy, len) < 0)
		abort();
	free(copy);
}

static void parse_in_pieces(struct address_space *space, const char *text, size_t len)
{
	while (len > 0) {
		const char *const end = memchr(text, '\n', len);
		const size_t piece = end ? (size_t)(end - text) + 1 : len;

		parse(space, text, piece);
		text += piece;
		len -= piece;
	}
}

/*
 * As the kernel writes them, but for a space at a path's begin, which nobody can tell then, and for
 * memory without a file, which may turn out to be the code of the files around.
 */
static void check_written(const struct address_space *space)
{
	struct address_space again = {0};
	char *text = NULL;
	size_t len;
	FILE *const stream = open_memstream(&text, &len);
	bool is_plain = space->dropped == 0;

	for (size_t i = 0; stream && i < space->count; i++) {
		const struct mapping *const mapping = &space->mappings[i];

		is_plain &= mapping->path[0] != ' ' && !strstr(mapping->path, "\\012") &&
			    (mapping->inode != 0 || mapping->path[0] != '\0');
		fprintf(stream, "%" PRIx64 "-%" PRIx64 " r-xp %" PRIx64 " %x:%x %" PRIu64 " ",
			mapping->start, mapping->end, mapping->file_off, mapping->dev_major,
			mapping->dev_minor, mapping->inode);
		for (const char *at = mapping->path; *at; at++)
			fprintf(stream, *at == '\n' ? "\\012" : "%c", *at);
		fprintf(stream, "%s\n", mapping->is_deleted ? " (deleted)" : "");
	}
	if (!stream || fclose(stream) < 0)
		abort();
	parse(&again, text, len);
	check_space(&again);
	if (is_plain && !is_equal(space, &again))
		abort();
	address_space_fini(&again);
	free(text);
}

static void check_announcement(const char *text, size_t len)
{
	char path[ANNOUNCEMENT_PATH_BYTES];

	memset(path, 0xff, sizeof(path));
	if (!announcement_find(text, len, path))
		return;
	if (path[0] != '/' || !memchr(path, '\0', sizeof(path)) ||
	    !memmem(text, len, path, strlen(path)))
		abort();
	for (const char *at = path; *at; at++) {
		if ((unsigned char)*at < 0x20 || *at == 0x7f || *at == '\\')
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct address_space space = {0}, pieces = {0}, copy = {0};

	parse(&space, (const char *)data, size);
	check_space(&space);
	parse_in_pieces(&pieces, (const char *)data, size);
	if (!is_equal(&space, &pieces) || space.code_bytes != pieces.code_bytes)
		abort();
	if (address_space_copy(&copy, &space) < 0)
		abort();
	check_space(&copy);
	check_written(&space);
	check_announcement((const char *)data, size);
	address_space_forget_before(&space, UINT64_MAX);
	if (space.count != 0)
		abort();
	address_space_fini(&space);
	address_space_fini(&pieces);
	address_space_fini(&copy);
	return 0;
}
