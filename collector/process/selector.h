// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the options with which a user names processes -> whether a process fits them
 * units:   none
 * threads: any, a value
 * errors:  a sentence that says what is wrong with an option's text
 * source:  regcomp(3): extended regular expressions
 *
 * All parts that are given must fit. A zero-filled struct selector has no part, and every process
 * fits it. Containers and pods add up: of several, a process must fit one. Such a selector stands
 * for alternatives, each with one container and one pod at most, and each of them means processes
 * by itself. The functions that compare processes take an alternative.
 *
 * A container is given by its name or its ID, a pod by its name or by "namespace/name". The name or
 * the ID may be whole, or a beginning of it; an exact fit goes before names that only begin so, see
 * selection.h. A pod may also be given by its whole UID. The UID is in the name of the pod's
 * cgroup, so no container or agent can claim it.
 */
#ifndef FG_PROCESS_SELECTOR_H
#define FG_PROCESS_SELECTOR_H

#include "process/process.h"

#define SELECTOR_TEXT_BYTES	  256
#define SELECTOR_POD_BYTES	  512 /* "namespace/name" */
#define SELECTOR_MAX_LABELS	  8
#define SELECTOR_MAX_MORE	  7 /* containers, and pods, beside the first */
#define SELECTOR_MAX_ALTERNATIVES 16

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
	char more_containers[SELECTOR_MAX_MORE][SELECTOR_TEXT_BYTES];
	char more_pods[SELECTOR_MAX_MORE][SELECTOR_POD_BYTES];
	size_t n_more_containers, n_more_pods;
};

/* In rising order. */
enum selector_fit {
	SELECTOR_UNFIT,
	SELECTOR_BEGINS,
	SELECTOR_EXACT,
};

/*
 * Sets one part, or adds a container, pod or label to it. Returns NULL, or a constant sentence that
 * says what is wrong with the text.
 */
const char *selector_set_container(struct selector *selector, const char *text);
const char *selector_set_pod(struct selector *selector, const char *text);
const char *selector_set_comm(struct selector *selector, const char *text);
const char *selector_set_jvm(struct selector *selector, const char *text);
const char *selector_add_label(struct selector *selector, const char *text); /* "key=value" */

/* The parts, by their names in options and requests. */
enum selector_part_number {
	SELECTOR_CONTAINER,
	SELECTOR_POD,
	SELECTOR_COMM,
	SELECTOR_JVM,
	SELECTOR_LABEL,
	SELECTOR_PARTS,
};

struct selector_part {
	const char *name;
	const char *(*set)(struct selector *selector, const char *text);
};

extern const struct selector_part selector_parts[SELECTOR_PARTS];

/*
 * Writes the text of that number of a part, as it was set, into ret, terminated. False: the part
 * has fewer.
 */
bool selector_text(const struct selector *selector, enum selector_part_number part, size_t number,
		   char *ret, size_t size);

/* How many alternatives there are: at least 1. */
size_t selector_alternatives(const struct selector *selector);
/* Writes the alternative of that number. */
void selector_alternative(const struct selector *selector, size_t number, struct selector *ret);
/* Takes the containers or pods of another selector in place of all that there are. */
void selector_copy_containers(struct selector *selector, const struct selector *from);
void selector_copy_pods(struct selector *selector, const struct selector *from);

bool selector_is_empty(const struct selector *selector);
/* Whether a JVM may fit by what it runs or by its environment: not by its comm alone. */
bool selector_asks_names(const struct selector *selector);
/* The same where it is mostly by nothing else: a container's name is mostly known without. */
bool selector_needs_names(const struct selector *selector);

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
