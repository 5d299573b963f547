// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   this host, and the JVMs on it -> what stands between them and whole profiles, and the
 *          fix
 * units:   PIDs as the collector sees them
 * threads: one at a time
 * errors:  what cannot be looked at is a finding of its own
 * source:  perf_event_open(2), proc(5), capabilities(7), user_namespaces(7)
 */
#ifndef FG_INSPECT_DOCTOR_H
#define FG_INSPECT_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum finding_state {
	FINDING_OK,
	FINDING_NOTE,	 /* worth to know; profiles are whole all the same */
	FINDING_PROBLEM, /* profiles will not be whole, or there will be none */
	FINDING_STATES,
};

/*
 * {"check": "perf-events", "state": "ok|note|problem", "object": "PID 7 (java)", "what": "...",
 * "fix": "..."}; fix is absent where there is nothing to do.
 */
struct doctor {
	const char *socket_path, *map_dir; /* as for the daemon */
	uint32_t stack_bytes;		   /* of the snapshots that a recording would take */
	json_t *findings;
	size_t counts[FINDING_STATES];
};

/* What was found next. */
struct finding {
	const char *check;
	enum finding_state state;
	const char *object; /* NULL: the host */
};

/* Texts as printf's; fix_format may be NULL. */
void doctor_say(struct doctor *doctor, const struct finding *finding, const char *fix,
		const char *what_format, ...) __attribute__((format(printf, 4, 5)));

/* perf events, rings, rights, the kernel's names, namespaces. */
void doctor_check_host(struct doctor *doctor);
/* The agents' directory and the maps'. */
void doctor_check_places(struct doctor *doctor);
/* Each JVM there is; list is what 'fgcollect list' knows of those with the agent. */
void doctor_check_jvms(struct doctor *doctor, const json_t *list);

#endif
