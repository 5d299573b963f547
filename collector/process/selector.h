// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the options with which a user names processes -> whether a process fits them
 * units:   none
 * threads: any, a value
 * errors:  a sentence that says what is wrong with an option's text
 * source:  regcomp(3): extended regular expressions
 *
 * All parts that are given must fit. A zero-filled struct selector has no part, and every process
 * fits it.
 *
 * A container is given by its name or its ID, a pod by its name or by "namespace/name". The name or
 * the ID may be whole, or a beginning of it; an exact fit goes before names that only begin so, see
 * selection.h. A pod may also be given by its whole UID. The UID is in the name of the pod's
 * cgroup, so no container or agent can claim it.
 */
#ifndef FG_PROCESS_SELECTOR_H
#define FG_PROCESS_SELECTOR_H

#include "process/process.h"

#define SELECTOR_TEXT_BYTES 256
#define SELECTOR_POD_BYTES  512 /* "namespace/name" */
#define SELECTOR_MAX_LABELS 8

struct selector {
	char container[SELECTOR_TEXT_BYTES];
	char pod[SELECTOR_POD_BYTES];
	char comm[PROCESS_COMM_BYTES];
	char jvm[SELECTOR_TEXT_BYTES]; /* a regular expression, matches a part of the main class */
	struct {
		char key[LABEL_KEY_BYTES];
		char value[LABEL_VALUE_BYTES];
	} labels[SELECTOR_MAX_LABELS];
	size_t n_labels;
};

/* In rising order. */
enum selector_fit {
	SELECTOR_UNFIT,
	SELECTOR_BEGINS,
	SELECTOR_EXACT,
};

/* Sets one part. Returns NULL, or a constant sentence that says what is wrong with the text. */
const char *selector_set_container(struct selector *selector, const char *text);
const char *selector_set_pod(struct selector *selector, const char *text);
const char *selector_set_comm(struct selector *selector, const char *text);
const char *selector_set_jvm(struct selector *selector, const char *text);
const char *selector_add_label(struct selector *selector, const char *text); /* "key=value" */

/* The parts, by their names in options and requests. */
enum selector_part_number {
	SELECTOR_CONTAINER,
	SELECTOR_POD,
	SELECTOR_LABEL,
	SELECTOR_COMM,
	SELECTOR_JVM,
	SELECTOR_PARTS,
};

struct selector_part {
	const char *name;
	const char *(*set)(struct selector *selector, const char *text);
};

extern const struct selector_part selector_parts[SELECTOR_PARTS];

bool selector_is_empty(const struct selector *selector);

/* How well the process's container or pod fits; SELECTOR_EXACT if the selector has no such part. */
enum selector_fit selector_fit_container(const struct selector *selector,
					 const struct process *process);
enum selector_fit selector_fit_pod(const struct selector *selector, const struct process *process);

/* Whether the selector's pod is the UID of the pod in which the process runs. */
bool selector_is_uid_of(const struct selector *selector, const struct process *process);

/* Whether the process's comm and labels fit. */
bool selector_fits_rest(const struct selector *selector, const struct process *process);

/*
 * Writes the selector as options, "--container web --label tier=front", into ret, terminated.
 */
void selector_say(const struct selector *selector, char *ret, size_t size);

#endif
