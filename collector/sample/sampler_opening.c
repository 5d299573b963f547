// SPDX-License-Identifier: Apache-2.0
/* A task opens a sampler, see sampler_opening.h. */
#include "sample/sampler_opening.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>

struct sampler_opening {
	struct worker_task task; /* the first member */
	struct sampler_options options;
	int wake_fd;
	atomic_bool is_done; /* the task no longer uses the members */
	struct sampler *sampler;
	int err;
	char problem[SAMPLER_PROBLEM_BYTES];
};

static void run(struct worker_task *task)
{
	struct sampler_opening *const opening = (struct sampler_opening *)(void *)task;
	const int wake_fd = opening->wake_fd;

	opening->err = sampler_open(&opening->options, &opening->sampler);
	snprintf(opening->problem, sizeof(opening->problem), "%s", sampler_problem());
	atomic_store(&opening->is_done, true);
	eventfd_write(wake_fd, 1);
}

int sampler_opening_start(const struct sampler_options *options, int wake_fd,
			  struct sampler_opening **ret)
{
	struct sampler_opening *opening = calloc(1, sizeof(*opening));

	if (!opening)
		return -ENOMEM;
	opening->task.run = run;
	opening->options = *options;
	opening->wake_fd = wake_fd;
	worker_add(options->worker, &opening->task);
	*ret = opening;
	return 0;
}

bool sampler_opening_is_done(const struct sampler_opening *opening)
{
	return atomic_load(&opening->is_done);
}

int sampler_opening_end(struct sampler_opening *opening, struct sampler **ret)
{
	int err;

	if (!sampler_opening_is_done(opening))
		worker_wait(opening->options.worker);
	err = opening->err;
	sampler_problem_set(opening->problem);
	if (!err)
		*ret = opening->sampler;
	free(opening);
	return err;
}
