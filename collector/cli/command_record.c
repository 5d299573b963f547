// SPDX-License-Identifier: Apache-2.0
/* fgcollect record: records through the daemon if one runs, else in this process. */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/recorder.h"

#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether stdin has ended. Bytes from stdin are ignored. */
static bool has_stdin_ended(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char ignored[4096];
	ssize_t n;

	if (poll(&input, 1, 0) <= 0)
		return false;
	n = read(STDIN_FILENO, ignored, sizeof(ignored));
	return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

/*
 * Follows the recording until it is done. An interrupt ends the recording early, and its samples
 * are kept.
 */
static int follow(struct recorder *recorder, const struct options *options,
		  struct recording_status *ret)
{
	bool is_stopped = false;
	int err;

	do {
		err = recorder->ops->status(recorder, ret);
		if (err)
			return err;
		progress_show(ret, options->recording.duration_ns);
		if (!is_stopped && (recorder->ops->is_interrupted(recorder) ||
				    (options->ends_with_stdin && has_stdin_ended()))) {
			is_stopped = true;
			err = recorder->ops->stop(recorder);
		}
	} while (!err && !ret->is_done);
	progress_clear();
	return err;
}

static void say_no_samples(const char *event)
{
	if (event[0])
		log_warning("no samples: the event %s never came, or what was recorded did not run "
			    "in that time; without -e it is cycles, or cpu-clock where no counter "
			    "is",
			    event);
	else
		log_warning("no samples: what was recorded did not run in that time; --kind wall "
			    "shows what its threads wait for");
}

int command_record(const struct options *options)
{
	struct recorder *recorder;
	struct recording_status status;
	int err;

	if (output_check(options) < 0)
		return EXIT_FAILURE;
	progress_set_lines(options->says_progress);
	err = recorder_open(options, &recorder);
	if (err)
		return EXIT_FAILURE;
	err = recorder->ops->start(recorder, &options->recording);
	if (!err)
		err = follow(recorder, options, &status);
	progress_clear();
	if (!err)
		err = output_write_all(recorder, options, &status);
	if (!err && status.quality.samples == 0)
		say_no_samples(options->recording.event);
	recorder->ops->close(recorder);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
