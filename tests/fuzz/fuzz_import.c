// SPDX-License-Identifier: Apache-2.0
/*
 * The readers of folded stacks and of perf script, by what the input looks like. What was read is
 * written, read again and written again: both times it must be the same.
 */
#include "fuzzer.h"

#include "import/import.h"
#include "render/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_NODES 4096u

/* Of two siblings with equal names and kinds one would hide the other's samples. */
static void check_siblings(const struct profile *profile)
{
	const struct profile_node *const nodes = profile->nodes;

	for (uint32_t id = 1; id < profile->count; id++)
		for (uint32_t other = nodes[id].next_sibling, n = 0; other && n < 64;
		     other = nodes[other].next_sibling, n++)
			if (nodes[id].kind == nodes[other].kind &&
			    nodes[id].name == nodes[other].name)
				abort();
}

static char *read_and_write(const void *data, size_t size, size_t *ret_len)
{
	static const struct import_options options = {
		.marks_kernel = true, .marks_jit = true, .has_tid = true, .has_addrs = true};
	const int fd = memfd_create("fuzz", 0);
	struct profile profile, before;
	struct import_target target = {.profile = &profile, .before = &before};
	char *text = NULL;
	FILE *const stream = open_memstream(&text, ret_len);

	if (fd < 0 || !stream || write(fd, data, size) != (ssize_t)size ||
	    lseek(fd, 0, SEEK_SET) < 0)
		abort();
	if (profile_init(&profile, MAX_NODES) < 0 || profile_init(&before, MAX_NODES) < 0)
		abort();
	if (import_read(fd, &options, &target) == 0 &&
	    profile.nodes[0].total != profile.quality.samples)
		abort();
	check_siblings(&profile);
	check_siblings(&before);
	if (render_write(&profile, RENDER_FOLDED, NULL, stream) < 0)
		abort();
	fclose(stream);
	profile_fini(&profile);
	profile_fini(&before);
	close(fd);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len, again_len;
	char *const text = read_and_write(data, size, &len);
	char *const again = read_and_write(text, len, &again_len);

	if (len != again_len || memcmp(text, again, len) != 0)
		abort();
	free(text);
	free(again);
	return 0;
}
