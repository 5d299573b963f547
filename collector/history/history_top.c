// SPDX-License-Identifier: Apache-2.0
/* top of a store, see history_top.h. */
#include "history/history_top.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "history/history_ask.h"
#include "recording/report.h"
#include "top/top_print.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SUMMARY_BYTES (3 * HISTORY_TEXT_BYTES)

static int print_facts(const struct top_view *view, const struct top_facts *facts,
		       const struct history_top *options)
{
	json_t *object;
	int failed;

	if (!options->is_json) {
		top_print(view, facts, options->width, options->rows, stdout);
		return fflush(stdout) == 0 ? 0 : -EIO;
	}
	object = top_to_json(view, facts, options->rows);
	failed = !object || json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(13)) < 0;
	json_decref(object);
	putchar('\n');
	failed |= fflush(stdout) != 0;
	return failed ? -EIO : 0;
}

static int print_view(const struct top_view *view, const struct history_answer *answer,
		      const struct store_query *query, const struct history_top *options)
{
	const struct store_sum_kind *const one = answer->sum.kinds[0];
	const double seconds = (double)one->info.duration_ns / 1e9;
	char target[HISTORY_TEXT_BYTES], range[HISTORY_TEXT_BYTES], summary[SUMMARY_BYTES];
	char amount[PROFILE_AMOUNT_BYTES], quality[REPORT_BYTES];
	const struct top_facts facts = {
		.target = target,
		.kind = &one->kind,
		.event = one->info.event ? one->info.event : "",
		.summary = summary,
		.quality = quality,
		.hz = one->info.hz,
		.jvms = (uint32_t)answer->list.n,
		.time_unix_s = (double)(one->info.start_unix_ns + one->info.duration_ns) / 1e9,
		.window_s = seconds,
		.figures = one->profile.quality,
		.untimed = one->timeline.lost_samples,
	};

	history_say_target(answer, query, target);
	snprintf(summary, sizeof(summary), "%s: %s, %s", target,
		 profile_kind_amount_of(&one->kind, one->profile.quality.samples, amount),
		 history_say_range(&query->range, range));
	report_quality(&one->kind, &one->profile.quality, quality);
	return print_facts(view, &facts, options);
}

/* The share of a core that one sample is; 0: samples are not of processor time. */
static double sample_cores(const struct store_sum_kind *one)
{
	if (!profile_kind_is_same(&one->kind, &profile_kind_cpu) || one->info.duration_ns == 0)
		return 0;
	return (double)profile_cpu_period_ns(one->info.event, one->info.hz) /
	       (double)one->info.duration_ns;
}

int history_top_print(const char *dir, const struct store_query *query,
		      const struct history_top *options)
{
	_cleanup_(history_answer_fini) struct history_answer answer = {0};
	_cleanup_(top_view_fini) struct top_view view;
	int err;

	top_view_init(&view);
	view.mode = options->mode;
	view.sort = options->sort;
	view.choice.waits = options->waits;
	if (options->filter && top_view_set_filter(&view, options->filter) < 0)
		return -EINVAL;
	err = history_ask_sum(dir, query, &answer);
	if (err)
		return err;
	view.sample_cores = sample_cores(answer.sum.kinds[0]);
	err = top_view_show(&view, &answer.sum.kinds[0]->profile, &answer.sum.kinds[0]->timeline);
	if (!err)
		err = print_view(&view, &answer, query, options);
	if (err)
		log_error("cannot write the table: %s", strerror(-err));
	return err;
}
