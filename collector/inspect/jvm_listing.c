// SPDX-License-Identifier: Apache-2.0
/* Makes the list of JVMs in steps, see jvm_listing.h. */
#include "inspect/jvm_listing.h"

#include "inspect/jvm_share.h"

#include <errno.h>
#include <stdlib.h>

/* Identity of a process. */
struct listed {
	pid_t pid;
	uint64_t start_ticks;
};

struct jvm_listing {
	struct listed *jvms; /* by rising PID */
	size_t count, next, left_out;
	bool is_of_most;
	json_t *rows;
};

static int by_pid(const void *a, const void *b)
{
	const struct listed *la = a, *lb = b;

	return (la->pid > lb->pid) - (la->pid < lb->pid);
}

static void note(struct jvm_listing *listing, const struct process *process)
{
	listing->jvms[listing->count++] = (struct listed){process->pid, process->start_ticks};
}

/* The selection of an alternative, and how well it fits at best. */
struct meant {
	struct selection selection;
	enum selector_fit best;
};

static bool is_meant(const struct meant *meant, size_t n, const struct process *process)
{
	for (size_t i = 0; i < n; i++) {
		if (selection_could_mean(&meant[i].selection, meant[i].best, process))
			return true;
	}
	return false;
}

/* meant NULL: all are meant, or those with a PID of options. */
static void note_all(struct jvm_listing *listing, const struct recording_options *options,
		     const struct meant *meant, const struct targets *targets)
{
	const size_t n = selector_alternatives(&options->select);
	const struct process *process;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos))) {
		if (!process_is_jvm(process) ||
		    (options->pid > 0 && !recording_has_pid(options, process->pid)))
			continue;
		if (!meant || is_meant(meant, n, process))
			note(listing, process);
	}
	qsort(listing->jvms, listing->count, sizeof(*listing->jvms), by_pid);
}

static void note_meant(struct jvm_listing *listing, const struct recording_options *options,
		       const struct targets *targets)
{
	const size_t n = selector_alternatives(&options->select);
	struct meant *const meant = calloc(n, sizeof(*meant));
	struct selector one;
	size_t made = 0;

	if (options->pid > 0 || selector_is_empty(&options->select)) {
		note_all(listing, options, NULL, targets);
		free(meant);
		return;
	}
	for (; meant && made < n; made++) {
		selector_alternative(&options->select, made, &one);
		if (selection_init(&meant[made].selection, &one) < 0)
			break;
		meant[made].best = selection_best(&meant[made].selection, targets);
	}
	if (meant && made == n)
		note_all(listing, options, meant, targets);
	while (made > 0)
		selection_fini(&meant[--made].selection);
	free(meant);
}

static struct jvm_listing *listing_for(const struct targets *targets)
{
	struct jvm_listing *listing = calloc(1, sizeof(*listing));

	if (!listing)
		return NULL;
	listing->rows = json_array();
	listing->jvms = calloc(targets->processes.count + 1, sizeof(*listing->jvms));
	if (listing->rows && listing->jvms)
		return listing;
	jvm_listing_free(listing);
	return NULL;
}

int jvm_listing_new(const struct recording_options *options, const struct targets *targets,
		    struct jvm_listing **ret)
{
	struct jvm_listing *const listing = listing_for(targets);

	if (!listing)
		return -ENOMEM;
	note_meant(listing, options, targets);
	*ret = listing;
	return 0;
}

static int processes_by_pid(const void *a, const void *b)
{
	const pid_t pa = (*(const struct process *const *)a)->pid;
	const pid_t pb = (*(const struct process *const *)b)->pid;

	return (pa > pb) - (pa < pb);
}

int jvm_listing_new_of_most(size_t most, const struct targets *targets, struct jvm_listing **ret)
{
	const struct process **jvms = malloc((targets->processes.count + 1) * sizeof(*jvms));
	struct jvm_listing *const listing = jvms ? listing_for(targets) : NULL;
	const struct process *process;
	size_t pos = 0, n = 0, kept;

	if (!listing) {
		free(jvms);
		return -ENOMEM;
	}
	while ((process = targets_next(targets, &pos))) {
		if (process_is_jvm(process))
			jvms[n++] = process;
	}
	qsort(jvms, n, sizeof(*jvms), processes_by_pid);
	kept = jvm_share_keep(jvms, n, most);
	for (size_t i = 0; i < kept; i++)
		note(listing, jvms[i]);
	free(jvms);
	listing->left_out = n - kept;
	listing->is_of_most = true;
	*ret = listing;
	return 0;
}

void jvm_listing_free(struct jvm_listing *listing)
{
	if (!listing)
		return;
	json_decref(listing->rows);
	free(listing->jvms);
	free(listing);
}

bool jvm_listing_step(struct jvm_listing *listing, const struct targets *targets)
{
	for (int n = 0; n < JVM_LISTING_ROWS && listing->next < listing->count; n++) {
		const struct listed *const listed = &listing->jvms[listing->next++];
		const struct process *const process = targets_find(targets, listed->pid);

		if (process && process_is_jvm(process) &&
		    process->start_ticks == listed->start_ticks)
			json_array_append_new(listing->rows, jvm_list_row(process));
	}
	return listing->next < listing->count;
}

json_t *jvm_listing_take(struct jvm_listing *listing, json_t *collector)
{
	json_t *const list = jvm_list_with(json_incref(listing->rows), collector);

	if (list && listing->is_of_most)
		json_object_set_new(list, "jvms_left_out",
				    json_integer((json_int_t)listing->left_out));
	return list;
}
