// SPDX-License-Identifier: Apache-2.0
/* One line on stderr, begun with a carriage return and cleared to its end; see progress.h. */
#include "cli/progress.h"

#include "base/clock.h"
#include "base/log.h"
#include "recording/report.h"

#include <stdio.h>
#include <unistd.h>

static bool is_shown;
static bool by_lines;
static uint64_t said_ns; /* when the last line was written */

static bool is_terminal(void)
{
	static int known = -1;

	if (known < 0) {
		known = isatty(STDERR_FILENO);
		log_set_before_line(progress_clear);
	}
	return known > 0;
}

void progress_set_lines(bool has_lines)
{
	by_lines = has_lines;
	said_ns = 0;
}

/* Begins a line if one is due; false if not. */
static bool begin(void)
{
	const uint64_t now_ns = clock_now_ns();

	if (!by_lines) {
		if (is_terminal())
			fputc('\r', stderr);
		return is_terminal();
	}
	if (said_ns && now_ns - said_ns < CLOCK_NS_PER_SEC)
		return false;
	said_ns = now_ns;
	return true;
}

static void end(void)
{
	fputs(by_lines ? "\n" : "\033[K", stderr);
	fflush(stderr);
	is_shown = !by_lines;
}

void progress_show(const struct recording_status *status, uint64_t duration_ns)
{
	const struct profile_kind *const kind =
		status->n_parts ? status->parts[0].kind->profile : &profile_kind_cpu;
	const bool is_cpu = kind == &profile_kind_cpu;
	char samples[PROFILE_AMOUNT_BYTES], lost[32], jvms[32];

	if (!begin())
		return;
	fprintf(stderr, "recording %.1f of %.1f s, %s%s%s%s%s, %s lost",
		(double)status->elapsed_ns / 1e9, (double)duration_ns / 1e9,
		is_cpu ? profile_kind_amount(kind, status->samples, samples)
		       : profile_kind_amount_of(kind, status->samples, samples),
		is_cpu ? " of " : "", is_cpu ? status->event : "", status->jvms ? ", " : "",
		report_jvms(status->jvms, jvms), report_count(status->lost, lost));
	end();
}

void progress_wait(unsigned jvms)
{
	if (!begin())
		return;
	fprintf(stderr, "waiting for agents, %u JVM%s so far", jvms, jvms == 1 ? "" : "s");
	end();
}

void progress_clear(void)
{
	if (!is_shown)
		return;
	is_shown = false;
	fputs("\r\033[K", stderr);
	fflush(stderr);
}
