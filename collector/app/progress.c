// SPDX-License-Identifier: Apache-2.0
/* One line on stderr, begun with a carriage return and cleared to its end; see progress.h. */
#include "app/progress.h"

#include "app/report.h"
#include "base/log.h"

#include <stdio.h>
#include <unistd.h>

static bool is_shown;

static bool is_terminal(void)
{
	static int known = -1;

	if (known < 0) {
		known = isatty(STDERR_FILENO);
		log_set_before_line(progress_clear);
	}
	return known > 0;
}

void progress_show(const struct recording_status *status, uint64_t duration_ns)
{
	char samples[32], lost[32];

	if (!is_terminal())
		return;
	fprintf(stderr, "\rrecording %.1f of %.1f s, %s samples of %s, %u JVM%s, %s lost\033[K",
		(double)status->elapsed_ns / 1e9, (double)duration_ns / 1e9,
		report_count(status->samples, samples), status->event, status->jvms,
		status->jvms == 1 ? "" : "s", report_count(status->lost, lost));
	fflush(stderr);
	is_shown = true;
}

void progress_wait(unsigned jvms)
{
	if (!is_terminal())
		return;
	fprintf(stderr, "\rwaiting for agents, %u JVM%s so far\033[K", jvms, jvms == 1 ? "" : "s");
	fflush(stderr);
	is_shown = true;
}

void progress_clear(void)
{
	if (!is_shown)
		return;
	is_shown = false;
	fputs("\r\033[K", stderr);
	fflush(stderr);
}
