// SPDX-License-Identifier: Apache-2.0
/* The names of a thread by time, see thread_history.h. */
#include "vm/thread_history.h"

#include <stdio.h>
#include <string.h>

/* HotSpot has the kernel cut a longer name; since JDK 21 HotSpot cuts it itself: "%.7s..%.6s". */
#define CUT_START 7
#define CUT_END	  6

bool thread_history_is_cut_from(const char *comm, const char *full)
{
	const size_t len = strlen(full), most = PROCESS_COMM_BYTES - 1;
	size_t ascii = 0;

	if (strlen(comm) != most)
		return false;
	while (ascii < most && (unsigned char)comm[ascii] < 0x80)
		ascii++;
	if (ascii < most)
		return strncmp(full, comm, ascii < CUT_START ? ascii : CUT_START) == 0;
	if (len <= most)
		return false;
	return memcmp(full, comm, most) == 0 ||
	       (memcmp(full, comm, CUT_START) == 0 && memcmp(comm + CUT_START, "..", 2) == 0 &&
		memcmp(full + len - CUT_END, comm + most - CUT_END, CUT_END) == 0);
}

void thread_comms_note(struct thread_comms *comms, const char *comm, uint64_t time_ns)
{
	struct thread_comm *const first = &comms->comms[0];

	if (!comm[0])
		return;
	if (comms->count > 0 &&
	    (time_ns < first->since_ns || strncmp(first->text, comm, sizeof(first->text) - 1) == 0))
		return;
	memmove(first + 1, first, (THREAD_COMMS - 1) * sizeof(*first));
	first->since_ns = time_ns;
	snprintf(first->text, sizeof(first->text), "%s", comm);
	comms->count += comms->count < THREAD_COMMS;
}

const char *thread_comms_last(const struct thread_comms *comms)
{
	return comms->comms[0].text;
}

/* The same name seen again is noted once: between the two the kernel's may have come. */
void thread_full_names_note(struct thread_full_names *names, const char *text, uint64_t time_ns)
{
	struct thread_full_name *const first = &names->names[0];

	if (names->count > 1 && strcmp(first[0].text, text) == 0 &&
	    strcmp(first[1].text, text) == 0) {
		first->since_ns = time_ns;
		return;
	}
	memmove(first + 1, first, (THREAD_FULL_NAMES - 1) * sizeof(*first));
	*first = (struct thread_full_name){.since_ns = time_ns, .text = text};
	names->count += names->count < THREAD_FULL_NAMES;
}

bool thread_full_names_are_one(const struct thread_full_names *names)
{
	for (unsigned i = 1; names && i < names->count; i++)
		if (strcmp(names->names[i].text, names->names[0].text) != 0)
			return false;
	return names && names->count > 0;
}

/* The newest one of that time, else the oldest one; NULL: there is none. */
static const struct thread_comm *comm_at(const struct thread_comms *comms, uint64_t time_ns)
{
	for (unsigned i = 0; i < comms->count; i++)
		if (comms->comms[i].since_ns <= time_ns)
			return &comms->comms[i];
	return comms->count > 0 ? &comms->comms[comms->count - 1] : NULL;
}

static const struct thread_full_name *full_name_at(const struct thread_full_names *names,
						   uint64_t time_ns)
{
	for (unsigned i = 0; names && i < names->count; i++)
		if (names->names[i].since_ns <= time_ns)
			return &names->names[i];
	return names && names->count > 0 ? &names->names[names->count - 1] : NULL;
}

const char *thread_history_at(const struct thread_comms *comms,
			      const struct thread_full_names *names, uint64_t time_ns,
			      const char *comm, const char **ret_comm)
{
	const struct thread_full_name *const full = full_name_at(names, time_ns);
	const struct thread_comm *const noted = comm_at(comms, time_ns);
	const bool is_noted = noted && (!comm || !comm[0] || strcmp(noted->text, comm) == 0);
	const char *const called = is_noted ? noted->text : comm ? comm : "";

	*ret_comm = called;
	if (!full)
		return NULL;
	if (thread_history_is_cut_from(called, full->text))
		return full->text;
	if (full->since_ns > time_ns)
		return NULL;
	/* A name of the kernel's that was not noted is newer than all that were. */
	if (called[0] && (!is_noted || full->since_ns < noted->since_ns))
		return NULL;
	return full->text;
}
