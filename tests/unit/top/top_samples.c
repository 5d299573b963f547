// SPDX-License-Identifier: Apache-2.0
/* See top_samples.h. */
#include "top_samples.h"

#include <stdio.h>
#include <string.h>

#define MOST 64

void top_samples_init(struct top_samples *samples)
{
	profile_init(&samples->profile, 0);
	timeline_init(&samples->timeline, 0);
}

void top_samples_fini(struct top_samples *samples)
{
	profile_fini(&samples->profile);
	timeline_fini(&samples->timeline);
}

static enum frame_kind take_kind(char *name)
{
	static const enum frame_kind kinds[] = {FRAME_INTERPRETED, FRAME_C1,	 FRAME_JIT,
						FRAME_INLINED,	   FRAME_KERNEL, FRAME_WAIT};
	const size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && len > 4; i++) {
		if (strcmp(name + len - 4, frame_kind_suffix(kinds[i])) == 0) {
			name[len - 4] = '\0';
			return kinds[i];
		}
	}
	return name[0] == '[' ? FRAME_LABEL : FRAME_NATIVE;
}

static uint32_t thread_of(struct timeline *timeline, int pid, int tid)
{
	char title[32], name[32];
	const struct timeline_process process = {.pid = pid, .title = title};
	struct timeline_thread thread = {.tid = tid, .name = name};

	snprintf(title, sizeof(title), "app%d", pid);
	snprintf(name, sizeof(name), "thread-%d", tid);
	thread.process = timeline_process(timeline, &process);
	return timeline_thread(timeline, &thread);
}

void top_samples_add(struct top_samples *samples, int pid, int tid, const char *folded,
		     unsigned weight)
{
	struct timeline_entry entry = {.thread = thread_of(&samples->timeline, pid, tid),
				       .weight = weight};
	struct frame frames[MOST];
	char text[4096], label[32];
	size_t at = MOST;

	snprintf(label, sizeof(label), "app%d-%d", pid, pid);
	frames[--at] = (struct frame){.name = label, .kind = FRAME_LABEL};
	snprintf(text, sizeof(text), "%s", folded);
	for (char *name = strtok(text, ";"); name && at > 0; name = strtok(NULL, ";")) {
		frames[--at].kind = take_kind(name);
		frames[at] = (struct frame){.name = name, .kind = frames[at].kind};
	}
	profile_add_leaf(&samples->profile, frames + at, MOST - at, weight, &entry.node);
	timeline_add(&samples->timeline, 0, &entry);
	timeline_sort(&samples->timeline);
}
