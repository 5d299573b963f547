// SPDX-License-Identifier: Apache-2.0
/*
 * For tests of the page: stacks on stdin -> the page on stdout, by the renderer alone; with a
 * file's name as last argument what its suffix says. A line is
 *
 *   [ms TAB pid TAB tid TAB thread TAB title TAB container TAB] stack [before] count
 *
 * A line "kind TAB name TAB unit" begins another kind of samples; lines before it are of "cpu", and
 * without any there is no such kind.
 * With "times" as argument lines have the part in brackets, with "compare" they have a before. A
 * container is its ID, and if they are known, commas and its name, pod, namespace and image behind
 * that; a thread is its name, and commas and labels key=value behind that.
 */
#include "render/render.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FRAMES 4096
#define MOST_NODES  4000000

/* A kind of samples. */
struct samples {
	struct profile profile;
	struct timeline timeline;
	struct profile_kind kind;
	char words[2][PROFILE_KIND_BYTES];
};

static struct samples kinds[PROFILE_MAX_KINDS];
static size_t n_kinds;
static struct profile before_profile;

static enum frame_kind cut_suffix(char *name)
{
	const size_t len = strlen(name);

	static const struct {
		const char *suffix;
		enum frame_kind kind;
	} more[] = {{"_[#]", FRAME_LABEL}, {"_[v]", FRAME_JVM}, {"_[s]", FRAME_STUB}};

	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
		if (len > 4 && strcmp(name + len - 4, more[i].suffix) == 0) {
			name[len - 4] = '\0';
			return more[i].kind;
		}
	}
	for (int kind = 0; kind < FRAME_KINDS; kind++) {
		const char *const suffix = frame_kind_suffix((enum frame_kind)kind);
		const size_t suffix_len = strlen(suffix);

		if (suffix_len && len > suffix_len &&
		    strcmp(name + len - suffix_len, suffix) == 0) {
			name[len - suffix_len] = '\0';
			return (enum frame_kind)kind;
		}
	}
	return strchr(name, '/') ? FRAME_INTERPRETED : FRAME_NATIVE;
}

/* Cuts the last word off line; its number. */
static uint64_t take_number(char *line)
{
	char *const space = strrchr(line, ' ');

	assert(space);
	*space = '\0';
	return strtoull(space + 1, NULL, 10);
}

static void begin_kind(const char *name, const char *unit)
{
	const bool is_empty = n_kinds > 0 && kinds[n_kinds - 1].profile.quality.samples == 0;
	struct samples *const samples = is_empty ? &kinds[n_kinds - 1] : &kinds[n_kinds++];

	if (is_empty) {
		profile_fini(&samples->profile);
		timeline_fini(&samples->timeline);
	}
	snprintf(samples->words[0], PROFILE_KIND_BYTES, "%s", name);
	snprintf(samples->words[1], PROFILE_KIND_BYTES, "%s", unit);
	samples->kind = (struct profile_kind){samples->words[0], samples->words[1]};
	assert(profile_init(&samples->profile, MOST_NODES) == 0);
	timeline_init(&samples->timeline, 0);
}

/* "a;b;c": the leaf's node in the kind's profile; before goes to before_profile */
static uint32_t add_stack(char *stack, uint64_t weight, uint64_t before)
{
	static struct frame frames[MOST_FRAMES];
	uint32_t leaf;
	size_t n = 0;

	for (char *end = stack + strlen(stack); end > stack && n < MOST_FRAMES;) {
		char *begin = end;

		while (begin > stack && begin[-1] != ';')
			begin--;
		*end = '\0';
		frames[n].name = begin;
		frames[n].kind = cut_suffix(begin);
		n++;
		end = begin > stack ? begin - 1 : stack;
	}
	assert(profile_add(&before_profile, frames, n, before) == 0);
	assert(profile_add_leaf(&kinds[n_kinds - 1].profile, frames, n, weight, &leaf) == 0);
	return leaf;
}

/* "name,key=value,key=value": the name, which is cut, and labels as a timeline has them. */
static const char *cut_labels(char *name)
{
	static char labels[1024];
	char *rest = name;
	size_t len = 0;

	strsep(&rest, ",");
	labels[0] = '\0';
	while (rest) {
		char *const one = strsep(&rest, ",");

		one[strcspn(one, "=")] = '\t';
		len += (size_t)snprintf(labels + len, sizeof(labels) - len, "%s\n", one);
		assert(len < sizeof(labels));
	}
	return labels;
}

static void add_time(char *const fields[6], uint32_t node, uint64_t weight)
{
	struct timeline *const timeline = &kinds[n_kinds - 1].timeline;
	const char *parts[5] = {0}; /* of the container */
	char *rest = fields[5];

	for (size_t i = 0; i < 5; i++)
		parts[i] = strsep(&rest, ",");

	const struct timeline_process process = {
		.pid = atoi(fields[1]),
		.title = fields[4],
		.container = parts[0],
		.container_name = parts[1],
		.pod = parts[2],
		.name_space = parts[3],
		.image = parts[4],
		.runtime = "OpenJDK 64-Bit Server VM 17.0.1",
	};
	const struct timeline_thread thread = {
		.process = timeline_process(timeline, &process),
		.tid = atoi(fields[2]),
		.labels = cut_labels(fields[3]),
		.name = fields[3],
	};
	const struct timeline_entry entry = {
		.thread = timeline_thread(timeline, &thread),
		.node = node,
	};

	timeline_add_weight(timeline, strtoull(fields[0], NULL, 10) * 1000000, &entry, weight);
}

static void add_line(char *line, bool times, bool compare)
{
	char *fields[6] = {0};
	uint64_t weight, before = 0;
	uint32_t leaf;

	if (strncmp(line, "kind\t", 5) == 0) {
		strsep(&line, "\t");
		fields[0] = strsep(&line, "\t");
		begin_kind(fields[0], line);
		return;
	}
	for (size_t i = 0; times && i < 6; i++) {
		fields[i] = strsep(&line, "\t");
		assert(line);
	}
	weight = take_number(line);
	if (compare)
		before = take_number(line);
	leaf = add_stack(line, weight, before);
	if (times)
		add_time(fields, leaf, weight);
}

int main(int argc, char **argv)
{
	const bool times = argc > 1 && strcmp(argv[1], "times") == 0;
	const bool compare = argc > 1 && strcmp(argv[1], "compare") == 0;
	enum render_format format = RENDER_HTML;
	struct profile_info info = {
		.host = "host.example",
		.kernel = "6.1.0",
		.event = "cpu-clock",
		.program = "fgcollect",
		.hz = 99,
		.start_unix_ns = UINT64_C(1700000000000000000),
		.duration_ns = UINT64_C(10000000000),
		.reasons = {[3] = "snapshot ended"},
	};
	struct render_options options = {.title = "</script><b>Title</b>"};
	struct profile_info infos[PROFILE_MAX_KINDS];
	struct profile_part parts[PROFILE_MAX_KINDS];
	struct profile_diff diff = {0};
	char *line = NULL;
	size_t size = 0;
	int rc;

	if (argc > 1)
		(void)render_format_of(argv[argc - 1], &format);
	begin_kind(profile_kind_cpu.name, profile_kind_cpu.unit);
	assert(profile_init(&before_profile, MOST_NODES) == 0);
	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		add_line(line, times, compare);
	}
	for (size_t i = 0; i < n_kinds; i++) {
		timeline_sort(&kinds[i].timeline);
		infos[i] = info;
		infos[i].quality = kinds[i].profile.quality;
		infos[i].quality.lost_samples = 7;
		infos[i].quality.truncated_samples[3] = 5;
		infos[i].hz = i > 0 ? 20 : info.hz;
		infos[i].event = i > 0 ? "timer" : info.event;
		parts[i] = (struct profile_part){&kinds[i].kind, &kinds[i].profile,
						 times ? &kinds[i].timeline : NULL,
						 times ? &infos[i] : NULL};
	}
	options.kind = parts[0].kind;
	options.info = parts[0].info;
	options.timeline = parts[0].timeline;
	options.others = parts + 1;
	options.n_others = n_kinds - 1;
	if (compare) {
		assert(diff_init(&diff, &before_profile, &kinds[0].profile,
				 &(struct diff_options){0}) == 0);
		options.diff = &diff;
	}
	options.splits_levels = format != RENDER_HTML; /* so that what goes in comes out */
	rc = render_write(compare ? &diff.tree : &kinds[0].profile, format, &options, stdout);
	free(line);
	diff_fini(&diff);
	profile_fini(&before_profile);
	for (size_t i = 0; i < n_kinds; i++) {
		timeline_fini(&kinds[i].timeline);
		profile_fini(&kinds[i].profile);
	}
	return rc == 0 ? 0 : 1;
}
