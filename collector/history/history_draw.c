// SPDX-License-Identifier: Apache-2.0
/* Draws what a store has, see history_draw.h. */
#include "history/history_draw.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "history/history_ask.h"
#include "recording/report.h"
#include "profile/profile_title.h"

#include <errno.h>
#include <stdio.h>

#define SUBTITLE_BYTES (PROFILE_PART_BYTES + HISTORY_TEXT_BYTES)

/*
 * Says what is drawn, as recordings say it of themselves. The title of a recording is written where
 * it is drawn; only where nobody can be named, it says what was asked for.
 */
static int describe(const struct history_answer *answer, const struct store_query *query,
		    struct draw_input *input)
{
	struct import_recording *const recording = &input->recording;
	const struct profile_part part = {&input->kind, &input->profile, &recording->timeline,
					  &recording->info};
	struct intern *const texts = &input->profile.names;
	char named[PROFILE_TITLE_BYTES], title[HISTORY_TEXT_BYTES], range[HISTORY_TEXT_BYTES],
		amount[PROFILE_PART_BYTES];
	char subtitle[SUBTITLE_BYTES], notes[REPORT_BYTES];

	history_say_target(answer, query, title);
	history_say_range(&query->range, range);
	snprintf(subtitle, sizeof(subtitle), "%s, %s", profile_part_text(&part, amount), range);
	report_quality(&input->kind, &recording->info.quality, notes);
	input->target = intern_add_str(texts, title);
	recording->title = profile_title_write(&part, 1, named) ? NULL : input->target;
	recording->subtitle = intern_add_str(texts, subtitle);
	recording->notes = intern_add_str(texts, notes);
	return input->target && recording->subtitle && recording->notes ? 0 : -ENOMEM;
}

int history_draw(const char *dir, const struct store_query *query, struct draw_input *input)
{
	_cleanup_(history_answer_fini) struct history_answer answer = {0};
	int err = history_ask_sum(dir, query, &answer);

	if (err)
		return err;
	for (size_t i = 0; !err && i < answer.sum.n; i++) {
		struct store_sum_kind *const one = answer.sum.kinds[i];

		err = draw_input_take(input, &one->kind, &one->profile, &one->timeline, &one->info);
	}
	for (struct draw_input *one = input; !err && one; one = one->next)
		err = describe(&answer, query, one);
	if (err)
		log_error("%s: there is not enough memory for these samples", dir);
	return err;
}
