// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one JVM that the doctor looks at
 * units:   PIDs as the collector sees them
 * threads: one
 * errors:  none
 * source:  none
 */
#ifndef FG_INSPECT_DOCTOR_PATIENT_H
#define FG_INSPECT_DOCTOR_PATIENT_H

#include "inspect/doctor.h"
#include "process/process.h"

#define PATIENT_OBJECT_BYTES 160

struct patient {
	pid_t pid;
	char object[PATIENT_OBJECT_BYTES];
	const struct process *process;
	const json_t *known; /* from 'fgcollect list'; NULL: the agent is not connected */
};

/* The texts in which a JVM's options are. */
enum patient_text {
	PATIENT_CMDLINE,
	PATIENT_ENVIRON,
	PATIENT_TEXTS,
};

/* Reads such a text, words that end with NUL. Its length, or less than 1. The caller frees *ret. */
ssize_t patient_read(const struct patient *patient, enum patient_text text, char **ret);

/* Adds a finding about the JVM. */
void patient_say(struct doctor *doctor, const struct patient *patient, enum finding_state state,
		 const char *fix, const char *what);

/* Whether the container of the JVM has something mounted at the path of its agent's socket. */
bool patient_has_lone_socket(const struct patient *patient);

/* Says why its agent, which is there, has not connected. */
void patient_check_unconnected(struct doctor *doctor, const struct patient *patient);

#endif
