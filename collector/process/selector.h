// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a user calls the targets -> whether a process is one of them
 * units:   none
 * threads: any, a value
 * errors:  a sentence that says what is wrong
 * source:  regcomp(3): extended regular expressions
 *
 * All parts that are given must fit. A zero-filled struct selector asks for nothing, and every
 * process fits. A container is named by its name or its ID, a pod by its name, with its namespace
 * and a slash in front or without: whole, or the beginning; or by its UID, whole, which is in its
 * cgroup, so that neither a likeness of names nor what anybody says of it decides. An exact one
 * beats those that only begin so: which is meant, selection.h finds out.
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
	char jvm[SELECTOR_TEXT_BYTES]; /* a regular expression, somewhere in the main class */
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

/* Sets one part. NULL, or why the text is none; it is a constant. */
const char *selector_set_container(struct selector *selector, const char *text);
const char *selector_set_pod(struct selector *selector, const char *text);
const char *selector_set_comm(struct selector *selector, const char *text);
const char *selector_set_jvm(struct selector *selector, const char *text);
const char *selector_add_label(struct selector *selector, const char *text); /* "key=value" */

/* The parts by what options and requests call them. */
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

/* By these two; SELECTOR_EXACT where they are not asked for. */
enum selector_fit selector_fit_container(const struct selector *selector,
					 const struct process *process);
enum selector_fit selector_fit_pod(const struct selector *selector, const struct process *process);

/* Whether the pod is asked for by its UID, and it runs in that one. */
bool selector_is_uid_of(const struct selector *selector, const struct process *process);

/* By all but the two above, and the regular expression. */
bool selector_fits_rest(const struct selector *selector, const struct process *process);

/*
 * What is asked for, as it was given: "--container web --label tier=front". Into ret, terminated.
 */
void selector_say(const struct selector *selector, char *ret, size_t size);

#endif
