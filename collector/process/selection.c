// SPDX-License-Identifier: Apache-2.0
/* Decides which processes a selector means, see selection.h. */
#include "process/selection.h"

#include "base/clock.h"
#include "container/place_name.h"

#include <errno.h>
#include <string.h>

int selection_init(struct selection *selection, const struct selector *selector)
{
	*selection = (struct selection){.selector = *selector};
	if (!selector->jvm[0])
		return 0;
	if (regcomp(&selection->jvm, selector->jvm, REG_EXTENDED | REG_NOSUB) != 0)
		return -EINVAL;
	selection->has_jvm = true;
	return 0;
}

void selection_fini(struct selection *selection)
{
	if (selection->has_jvm)
		regfree(&selection->jvm);
	map64_fini(&selection->verdicts);
	*selection = (struct selection){0};
}

/*
 * Whether the class, the class that a jar starts, or what the JVM is called, fits. What no agent
 * has told and nobody has read has no class, so no other program fits.
 */
static bool fits_jvm(const struct selection *selection, const struct process *process)
{
	char title[512], called[PLACE_NAME_BYTES];
	const char *class;

	if (!selection->has_jvm)
		return true;
	if (!process_has_program(process))
		return false;
	process_title(process, title, sizeof(title));
	process_write_called(process, called, sizeof(called));
	class = label_set_find(&process->workload.labels, WORKLOAD_CLASS);
	return regexec(&selection->jvm, title, 0, NULL, 0) == 0 ||
	       regexec(&selection->jvm, called, 0, NULL, 0) == 0 ||
	       (class && regexec(&selection->jvm, class, 0, NULL, 0) == 0);
}

static bool is_at(const struct selection_place *place, const struct process *process)
{
	const struct workload *workload = &process->workload;

	if (place->id[0])
		return strcmp(place->id, process->container_id) == 0;
	if (place->container[0] && strcmp(place->container, workload->container) != 0)
		return false;
	if (place->pod_uid[0])
		return strcmp(place->pod_uid, process->pod_uid) == 0;
	return strcmp(place->pod, workload->pod) == 0 &&
	       strcmp(place->name_space, workload->name_space) == 0;
}

static enum selector_fit fit_place(const struct selection *selection, const struct process *process)
{
	const enum selector_fit container = selector_fit_container(&selection->selector, process);
	const enum selector_fit pod = selector_fit_pod(&selection->selector, process);

	return container < pod ? container : pod;
}

static bool fits_rest(const struct selection *selection, const struct process *process)
{
	return selector_fits_rest(&selection->selector, process) && fits_jvm(selection, process);
}

bool selection_fits(const struct selection *selection, const struct process *process)
{
	const bool is_there = selection->place.is_set
				      ? is_at(&selection->place, process)
				      : fit_place(selection, process) > SELECTOR_UNFIT;

	return is_there && fits_rest(selection, process);
}

bool selection_wants(struct selection *selection, const struct process *process)
{
	const uint64_t key = (uint64_t)process->pid, version = process->workload.version;
	uintptr_t verdict;

	if (selector_is_empty(&selection->selector))
		return true;
	verdict = (uintptr_t)map64_find(&selection->verdicts, key);
	if (verdict >> 1 == version && version != 0)
		return verdict & 1;
	verdict = version << 1 | selection_fits(selection, process);
	if (selection->verdicts.count >= SELECTION_MAX_VERDICTS)
		map64_fini(&selection->verdicts);
	/* Without memory the process is judged again the next time. */
	if (version != 0)
		map64_put(&selection->verdicts, key, (void *)verdict);
	return verdict & 1;
}

/* ---- which place is meant ---- */

static bool is_there(const struct selection *selection, const struct process *process)
{
	if (process->gone_ns)
		return false;
	if (process_is_jvm(process))
		return process->jvm->state != JVM_ENDED;
	return !selection->only_jvms || process_has_libjvm(process);
}

void selection_read_on(const struct selection *selection, const struct targets *targets,
		       uint64_t for_ns)
{
	const uint64_t until_ns = clock_now_ns() + SELECTION_READS * for_ns;
	struct process *process;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos)) && clock_now_ns() < until_ns) {
		if (!process->gone_ns && fit_place(selection, process) > SELECTOR_UNFIT &&
		    selector_fits_rest(&selection->selector, process))
			process_read_on(process, for_ns);
	}
}

enum selector_fit selection_best(const struct selection *selection, const struct targets *targets)
{
	enum selector_fit best = SELECTOR_UNFIT;
	const struct process *process;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos))) {
		const enum selector_fit fit = fit_place(selection, process);

		if (fit > best && is_there(selection, process) && fits_rest(selection, process))
			best = fit;
	}
	return best;
}

bool selection_could_mean(const struct selection *selection, enum selector_fit best,
			  const struct process *process)
{
	return best > SELECTOR_UNFIT && is_there(selection, process) &&
	       fit_place(selection, process) == best && fits_rest(selection, process);
}

/*
 * Takes the place by name if the user asked by name, so that a container made again with that name
 * is the same place.
 */
static void place_of(const struct selection *selection, const struct process *process,
		     struct selection_place *ret)
{
	const struct workload *workload = &process->workload;
	const char *asked = selection->selector.container;
	const size_t len = strlen(asked);

	*ret = (struct selection_place){.is_set = true};
	if (selector_is_uid_of(&selection->selector, process))
		strcpy(ret->pod_uid, process->pod_uid);
	strcpy(ret->pod, workload->pod);
	strcpy(ret->name_space, workload->name_space);
	if (len == 0)
		return;
	if (strncmp(process->container_id, asked, len) == 0)
		strcpy(ret->id, process->container_id);
	else
		strcpy(ret->container, workload->container);
}

/*
 * Whether the process is at the place. Containers with one name and different IDs are different
 * places.
 */
static bool is_same_place(const struct selection_place *place, const struct process *process,
			  const char *first_id)
{
	return is_at(place, process) &&
	       (!place->container[0] || strcmp(first_id, process->container_id) == 0);
}

int selection_narrow(struct selection *selection, const struct targets *targets)
{
	const enum selector_fit best = selection_best(selection, targets);
	struct selection_place place = {0};
	const struct process *process;
	const char *id = "";
	size_t pos = 0;

	if (best == SELECTOR_UNFIT)
		return -ENOENT;
	if (!selection->selector.container[0] && !selection->selector.pod[0])
		return 0;
	while ((process = targets_next(targets, &pos))) {
		if (!selection_could_mean(selection, best, process))
			continue;
		if (place.is_set && !is_same_place(&place, process, id))
			return -ENOTUNIQ;
		if (!place.is_set) {
			place_of(selection, process, &place);
			id = process->container_id;
		}
	}
	selection->place = place;
	map64_fini(&selection->verdicts);
	return 0;
}
