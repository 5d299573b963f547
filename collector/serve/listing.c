// SPDX-License-Identifier: Apache-2.0
/* Answers that have the list of JVMs, see listing.h. */
#include "serve/listing.h"

#include "base/json_value.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>

struct listing_work {
	struct worker_task task; /* the first member */
	struct engine *engine;
	const struct daemon_counts *counts;
	struct jvm_listing *rows;
	json_t *answer; /* the task's, once it is given */
	bool is_given;
	int wake_fd;
	atomic_bool is_done; /* the task no longer uses the members */
	char *text;
};

static void make_text(struct worker_task *task)
{
	struct listing_work *const work = (struct listing_work *)(void *)task;
	const int wake_fd = work->wake_fd;

	work->text = json_dumps(work->answer, JSON_COMPACT);
	json_decref(work->answer);
	jvm_listing_free(work->rows);
	work->answer = NULL;
	work->rows = NULL;
	atomic_store(&work->is_done, true);
	eventfd_write(wake_fd, 1);
}

static void listing_free(struct listing *listing)
{
	if (listing->work) {
		jvm_listing_free(listing->work->rows);
		json_decref(listing->work->answer);
	}
	free(listing->work);
	free(listing);
}

int listing_begin(struct engine *engine, const struct daemon_counts *counts,
		  const struct recording_options *options, int wake_fd, struct listing **ret)
{
	struct listing *listing = calloc(1, sizeof(*listing));
	int err;

	if (!listing)
		return -ENOMEM;
	listing->options = *options;
	listing->work = calloc(1, sizeof(*listing->work));
	err = listing->work ? jvm_listing_new(options, &engine->targets, &listing->work->rows)
			    : -ENOMEM;
	if (err) {
		listing_free(listing);
		return err;
	}
	listing->work->engine = engine;
	listing->work->counts = counts;
	listing->work->wake_fd = wake_fd;
	listing->work->task.run = make_text;
	*ret = listing;
	return 0;
}

/* A list without a JVM that was asked for becomes a sentence that says why. */
static json_t *answer_of(const struct listing *listing, const char *socket_path)
{
	struct engine *const engine = listing->work->engine;
	json_t *answer = json_object(), *list;
	char why[DIAGNOSE_BYTES];

	list = jvm_listing_take(listing->work->rows, counted_list(engine, listing->work->counts));
	if ((json_array_size(json_object_get(list, "jvms")) == 0 ||
	     recording_alternatives(&listing->options) > 1) &&
	    jvm_list_select(list, &listing->options, &engine->targets, socket_path, why) < 0) {
		json_object_set_new(answer, "error", json_value_new_text(why));
		json_decref(list);
		return answer;
	}
	json_object_set_new(answer, "ok", json_true());
	json_object_set_new(answer, "list", list);
	return answer;
}

bool listing_step(struct listing *listing, const char *socket_path)
{
	struct listing_work *const work = listing->work;

	if (work->is_given || jvm_listing_step(work->rows, &work->engine->targets))
		return work->is_given;
	work->answer = answer_of(listing, socket_path);
	work->is_given = true;
	worker_add(work->engine->worker, &work->task);
	return true;
}

bool listing_is_done(const struct listing *listing)
{
	return atomic_load(&listing->work->is_done);
}

char *listing_end(struct listing *listing)
{
	struct listing_work *const work = listing->work;
	char *text;

	if (work->is_given && !listing_is_done(listing))
		worker_wait(work->engine->worker);
	text = work->text;
	listing_free(listing);
	return text;
}
