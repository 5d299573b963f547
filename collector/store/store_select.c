// SPDX-License-Identifier: Apache-2.0
/* Chooses rows as processes are chosen, see store_select.h. */
#include "store/store_select.h"

#include "base/cleanup.h"
#include "container/place_name.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct choosing {
	const struct store_query *query;
	const struct selector *select; /* the alternative of query that is looked for */
	struct process *process;       /* has the names of a row, for selector.h */
	regex_t jvm;
	bool has_jvm;
};

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* Gives the process the names of the row. Labels are borrowed. */
static void name_process(struct process *process, const struct store_process *row)
{
	struct workload *const workload = &process->workload;

	copy(process->container_id, sizeof(process->container_id), row->container);
	copy(process->pod_uid, sizeof(process->pod_uid), row->pod_uid);
	copy(process->comm, sizeof(process->comm), row->comm);
	copy(workload->container, sizeof(workload->container), row->container_name);
	copy(workload->pod, sizeof(workload->pod), row->pod);
	copy(workload->name_space, sizeof(workload->name_space), row->name_space);
	workload->labels.count = row->n_labels;
	for (size_t i = 0; i < row->n_labels; i++)
		workload->labels.labels[i] = row->labels[i];
}

static bool has_kind(const struct store_row *row, const char *kind)
{
	bool has = false;

	for (size_t i = 0; i < row->n_kinds && !has; i++)
		has = strcmp(row->kinds[i].name, kind) == 0;
	return has;
}

static bool fits_kinds(const struct store_row *row, const struct store_query *query)
{
	bool has_any = query->n_kinds == 0;

	for (size_t i = 0; i < query->n_kinds && !has_any; i++)
		has_any = has_kind(row, query->kinds[i]);
	return has_any && (!query->kind || has_kind(row, query->kind));
}

static bool fits_keys(const struct store_row *row, const struct store_query *query)
{
	char key[STORE_KEY_BYTES];
	bool has = query->n_keys == 0;

	if (!has)
		store_process_key(&row->process, key);
	for (size_t i = 0; i < query->n_keys && !has; i++)
		has = strcmp(query->keys[i], key) == 0;
	return has;
}

/* Whether the class, the class that a jar starts, or what the JVM is called, fits. */
static bool fits_jvm(const struct choosing *choosing, const struct store_process *process)
{
	const struct place_name name = {.pod = process->pod,
					.container = process->container_name,
					.program = process->title};
	char called[PLACE_NAME_BYTES];

	if (!choosing->has_jvm)
		return true;
	if (!process->runtime[0])
		return false;
	for (size_t i = 0; i < process->n_labels; i++) {
		if (strcmp(process->labels[i].key, WORKLOAD_CLASS) == 0 &&
		    regexec(&choosing->jvm, process->labels[i].value, 0, NULL, 0) == 0)
			return true;
	}
	place_name_write(&name, called, sizeof(called));
	return regexec(&choosing->jvm, process->title, 0, NULL, 0) == 0 ||
	       regexec(&choosing->jvm, called, 0, NULL, 0) == 0;
}

static enum selector_fit fit_of(const struct choosing *choosing, const struct store_row *row)
{
	const struct store_query *const query = choosing->query;
	const struct selector *const select = choosing->select;
	enum selector_fit container, pod;

	if ((query->pid > 0 && query->pid != row->process.pid) || !fits_kinds(row, query) ||
	    !fits_keys(row, query))
		return SELECTOR_UNFIT;
	if (!fits_jvm(choosing, &row->process))
		return SELECTOR_UNFIT;
	name_process(choosing->process, &row->process);
	if (!selector_fits_rest(select, choosing->process))
		return SELECTOR_UNFIT;
	container = selector_fit_container(select, choosing->process);
	pod = selector_fit_pod(select, choosing->process);
	return container < pod ? container : pod;
}

/* Marks the rows that fit the selector best. fits has room for a fit of each. */
static void mark(const struct choosing *choosing, const struct store_list *list,
		 unsigned char *fits, bool *marks)
{
	enum selector_fit best = SELECTOR_BEGINS;

	for (size_t i = 0; i < list->n; i++) {
		fits[i] = (unsigned char)fit_of(choosing, &list->rows[i]);
		if (fits[i] > best)
			best = (enum selector_fit)fits[i];
	}
	for (size_t i = 0; i < list->n; i++)
		marks[i] |= fits[i] == best;
}

static int choose(const struct choosing *choosing, struct store_list *list)
{
	const struct selector *const all = &choosing->query->select;
	_cleanup_free_ unsigned char *fits = malloc(list->n + 1);
	_cleanup_free_ bool *marks = calloc(list->n + 1, sizeof(*marks));
	struct choosing one = *choosing;
	struct selector alternative;
	size_t kept = 0;

	if (!fits || !marks)
		return -ENOMEM;
	one.select = &alternative;
	for (size_t i = 0; i < selector_alternatives(all); i++) {
		selector_alternative(all, i, &alternative);
		mark(&one, list, fits, marks);
	}
	for (size_t i = 0; i < list->n; i++)
		if (marks[i])
			list->rows[kept++] = list->rows[i];
	list->n = kept;
	return 0;
}

int store_select(struct store_list *list, const struct store_query *query)
{
	struct choosing choosing = {.query = query, .process = calloc(1, sizeof(struct process))};
	int err = choosing.process ? 0 : -ENOMEM;

	if (!err && query->select.jvm[0]) {
		choosing.has_jvm =
			regcomp(&choosing.jvm, query->select.jvm, REG_EXTENDED | REG_NOSUB) == 0;
		err = choosing.has_jvm ? 0 : -EINVAL;
	}
	if (!err)
		err = choose(&choosing, list);
	if (choosing.has_jvm)
		regfree(&choosing.jvm);
	free(choosing.process);
	return err;
}
