// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   this host and its JVMs -> what stands between them and whole profiles, with the remedies
 * units:   PIDs as the collector sees them
 * threads: one at a time
 * errors:  what cannot be read is a finding of its own
 * source:  perf_event_open(2), proc(5), capabilities(7), user_namespaces(7)
 */
#ifndef FG_INSPECT_DOCTOR_H
#define FG_INSPECT_DOCTOR_H

#include "sample/sampler.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum finding_state {
	FINDING_OK,
	FINDING_NOTE,	 /* worth knowing; profiles are whole all the same */
	FINDING_PROBLEM, /* profiles will not be whole, or there will be none */
	FINDING_STATES,
};

/*
 * A finding is {"check": "perf-events", "state": "ok|note|problem", "object": "PID 7 (java)",
 * "what": "...", "fix": "..."}; fix is absent where there is nothing to do.
 */
struct doctor {
	const char *socket_path, *map_dir; /* those of the daemon */
	uint32_t stack_bytes;		   /* size of a recording's snapshots */
	enum sampler_source source;
	json_t *findings;
	size_t counts[FINDING_STATES];
};

/* The finding that doctor_say adds. */
struct finding {
	const char *check;
	enum finding_state state;
	const char *object; /* NULL: the host */
};

/* Adds a finding. what_format and its arguments are those of printf; fix may be NULL. */
void doctor_say(struct doctor *doctor, const struct finding *finding, const char *fix,
		const char *what_format, ...) __attribute__((format(printf, 4, 5)));

/* Checks perf events, ring buffers, rights, the kernel's symbols and namespaces. */
void doctor_check_host(struct doctor *doctor);
/* Checks the agents' directory and the directory of perf maps. */
void doctor_check_places(struct doctor *doctor);
/*
 * Checks each JVM on the host. list is the output of 'fgcollect list', which has the JVMs with an
 * agent.
 */
void doctor_check_jvms(struct doctor *doctor, const json_t *list);
/* Says so if no JVM was found, or if some processes could not be looked into. */
void doctor_say_counts(struct doctor *doctor, size_t jvms, size_t unseen);
/*
 * Finds the value of socket= in the options of an agent. text is a command line or an environment:
 * words that end with NUL, the last one too.
 */
bool doctor_find_socket(const char *text, size_t len, char *ret, size_t size);
/* The option of such a text by which HotSpot dumps a class archive, a static text; or NULL. */
const char *doctor_find_dumping(const char *text, size_t len);

#endif
