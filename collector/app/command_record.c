// SPDX-License-Identifier: Apache-2.0
/* fgcollect record: through the daemon if there is one, else in this process. */
#include "app/commands.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/recorder.h"
#include "app/report.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

#define TITLE "Flame Graph"

/* Until it is done; an interrupt ends the recording and keeps what there is. */
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
		if (recorder->ops->is_interrupted(recorder) && !is_stopped) {
			is_stopped = true;
			err = recorder->ops->stop(recorder);
		}
	} while (!err && !ret->is_done);
	progress_clear();
	return err;
}

static int write_outputs(struct recorder *recorder, const struct options *options,
			 const struct recording_status *status)
{
	char subtitle[REPORT_BYTES], quality[REPORT_BYTES];
	const struct render_options render = {
		.title = options->title ? options->title : TITLE,
		.subtitle = subtitle,
		.notes = quality,
	};
	int err = 0;

	report_subtitle(status, options->recording.hz, subtitle);
	report_quality(&status->quality, quality);
	for (size_t i = 0; !err && i < options->n_outputs; i++) {
		err = output_write(&options->outputs[i], recorder, &render);
		if (!err)
			printf("%s\n", options->outputs[i].path);
	}
	printf("%s\n", subtitle);
	printf("%s\n", quality);
	return err;
}

int command_record(const struct options *options)
{
	struct recorder *recorder;
	struct recording_status status;
	int err;

	if (output_check(options) < 0)
		return EXIT_FAILURE;
	err = recorder_open(options, &recorder);
	if (err)
		return EXIT_FAILURE;
	err = recorder->ops->start(recorder, &options->recording);
	if (!err)
		err = follow(recorder, options, &status);
	progress_clear();
	if (!err)
		err = write_outputs(recorder, options, &status);
	if (!err && status.quality.samples == 0)
		log_warning("no samples: what was recorded did not run in that time");
	recorder->ops->close(recorder);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
