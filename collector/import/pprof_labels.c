// SPDX-License-Identifier: Apache-2.0
/* Finds out which thread a sample of pprof is of, see pprof_labels.h. */
#include "import/pprof_labels.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FACT_BYTES   256u /* of a name of a thread or a process */
#define FACTS	     6u
#define NOT_KNOWN    "[process not known]"
#define NUMBER_BYTES 32u

/* Names that mean the same, the one that we write first; NULL ends them. */
static const char *const tid_keys[] = {"tid",	    "thread_id", "thread id", "thread native id",
				       "native_id", NULL};
static const char *const pid_keys[] = {"pid", "process_id", NULL};
static const char *const name_keys[] = {"thread", "thread_name", "thread name", NULL};
/* What is known of a process beside its PID; see facts_of. */
static const char *const fact_keys[FACTS] = {"process",	  "container", "pod",
					     "namespace", "image",     "service_name"};

/* What the labels say of a process and a thread. */
struct place {
	pid_t pid, tid;
	char name[FACT_BYTES];
	char facts[FACTS][FACT_BYTES];
	struct timeline_process process;
};

void pprof_labels_begin(struct pprof_labels *labels)
{
	labels->count = 0;
	labels->is_cut = false;
}

void pprof_labels_add(struct pprof_labels *labels, const struct pprof_label *label)
{
	if (labels->count < PPROF_LABELS_MAX)
		labels->items[labels->count++] = *label;
	else
		labels->is_cut = true;
}

/* A PID or a TID: a number, or digits. 0: it is none. */
static pid_t id_of(const struct pprof_label *label)
{
	int64_t value = label->text ? 0 : label->number;

	for (const char *at = label->text; at && *at; at++) {
		if (!ascii_is_digit(*at))
			return 0;
		value = value * 10 + (*at - '0');
		if (value > INT32_MAX)
			return 0;
	}
	return value > 0 && value <= INT32_MAX ? (pid_t)value : 0;
}

static const struct pprof_label *find(const struct pprof_labels *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->items[i].key, key) == 0)
			return &labels->items[i];
	return NULL;
}

static pid_t find_id(const struct pprof_labels *labels, const char *const *keys)
{
	pid_t id = 0;

	for (; *keys && id == 0; keys++) {
		const struct pprof_label *const label = find(labels, *keys);

		id = label ? id_of(label) : 0;
	}
	return id;
}

/* "" if there is none, or it is a number. */
static void find_text(const struct pprof_labels *labels, const char *key, char ret[FACT_BYTES])
{
	const struct pprof_label *const label = find(labels, key);
	const char *const text = label && label->text ? label->text : "";

	utf8_clean(text, strlen(text), ret, FACT_BYTES);
}

static void find_place(const struct pprof_labels *labels, struct place *ret)
{
	*ret = (struct place){.pid = find_id(labels, pid_keys), .tid = find_id(labels, tid_keys)};
	for (size_t i = 0; name_keys[i] && ret->name[0] == '\0'; i++)
		find_text(labels, name_keys[i], ret->name);
	for (size_t i = 0; i < FACTS; i++)
		find_text(labels, fact_keys[i], ret->facts[i]);
	ret->process = (struct timeline_process){
		.pid = ret->pid,
		.title = ret->facts[0],
		.container = ret->facts[1],
		.pod = ret->facts[2],
		.name_space = ret->facts[3],
		.image = ret->facts[4],
		.service = ret->facts[5],
	};
}

static bool differ(const char *a, const char *b)
{
	return *a && *b && strcmp(a, b) != 0;
}

/* Whether the timeline has a process with that PID which is another one. */
static bool is_another(const struct timeline *timeline, const struct timeline_process *process)
{
	const uintptr_t number =
		(uintptr_t)map64_find(&timeline->process_numbers, (uint64_t)process->pid);
	const struct timeline_process *const known =
		number ? &timeline->processes[number - 1] : process;

	return differ(known->title, process->title) ||
	       differ(known->container, process->container) || differ(known->pod, process->pod) ||
	       differ(known->name_space, process->name_space);
}

/* Whether the row of the thread says what the label says, as render/pprof.c writes it. */
static bool is_told_by_row(const struct pprof_label *label, const struct place *place)
{
	const char *const key = label->key;

	if (strcmp(key, tid_keys[0]) == 0)
		return place->tid != 0 && !label->text;
	if (strcmp(key, name_keys[0]) == 0)
		return place->tid != 0 && label->text && strlen(label->text) < FACT_BYTES;
	if (place->pid == 0)
		return false;
	for (size_t i = 0; i < FACTS; i++)
		if (strcmp(key, fact_keys[i]) == 0)
			return label->text && strlen(label->text) < FACT_BYTES;
	return strcmp(key, pid_keys[0]) == 0 && !label->text;
}

static bool put(struct pprof_labels *labels, size_t *at, const char *text, char behind)
{
	const size_t room = PPROF_LABELS_BYTES - 1 - *at;
	const size_t len = strlen(text);

	/* Behind the text there has to be room for one more character, and for the end. */
	if (len + 2 > room || !utf8_clean(text, len, labels->text + *at, room))
		return false;
	*at += strlen(labels->text + *at);
	labels->text[(*at)++] = behind;
	labels->text[*at] = '\0';
	return true;
}

/* Adds a label's line. False: there is no room, and nothing has been added. */
static bool put_line(struct pprof_labels *labels, size_t *at, const struct pprof_label *label)
{
	char number[NUMBER_BYTES];
	size_t end = *at;
	bool has_room = put(labels, &end, label->key, '\t');

	if (label->text) {
		has_room = has_room && put(labels, &end, label->text, '\n');
	} else {
		snprintf(number, sizeof(number), "%" PRId64, label->number);
		has_room = has_room && put(labels, &end, number, '\t') &&
			   put(labels, &end, label->unit, '\n');
	}
	if (has_room)
		*at = end;
	else
		labels->text[*at] = '\0';
	return has_room;
}

/* Writes what the row does not tell. False: not all of it had room. */
static bool write_rest(struct pprof_labels *labels, const struct place *place)
{
	bool is_whole = !labels->is_cut;
	size_t at = 0;

	labels->text[0] = '\0';
	for (size_t i = 0; i < labels->count; i++)
		if (!is_told_by_row(&labels->items[i], place))
			is_whole &= put_line(labels, &at, &labels->items[i]);
	return is_whole;
}

uint32_t pprof_labels_thread(struct pprof_labels *labels, struct timeline *timeline)
{
	static const struct timeline_process not_known = {.title = NOT_KNOWN};
	struct place place;
	struct timeline_thread thread;

	find_place(labels, &place);
	if (place.pid != 0 && is_another(timeline, &place.process))
		place.pid = 0;
	if (!write_rest(labels, &place))
		timeline->lost_names++;
	thread = (struct timeline_thread){
		.process = timeline_process(timeline, place.pid ? &place.process : &not_known),
		.tid = place.tid,
		.name = place.name,
		.labels = labels->text,
	};
	return timeline_thread(timeline, &thread);
}
