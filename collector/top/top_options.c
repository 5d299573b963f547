// SPDX-License-Identifier: Apache-2.0
/* Options of top, see top_options.h. */
#include "top/top_options.h"

#include "base/clock.h"
#include "base/log.h"
#include "profile/window.h"

#include <errno.h>
#include <string.h>

#define DEFAULT_DELAY_NS (2 * CLOCK_NS_PER_SEC)
#define ONCE_NS		 CLOCK_NS_PER_SEC /* before the table of --once */
#define LEAST_DELAY_NS	 (100 * CLOCK_NS_PER_MS)
#define ONCE_WHOLE_NS	 (2 * CLOCK_NS_PER_SEC)	 /* from the command to the table of --once */
#define ONCE_LEAST_NS	 (400 * CLOCK_NS_PER_MS) /* of samples in it, however long that takes */

int top_options_set_filter(struct top_options *options, const char *told, const char *text)
{
	struct top_view view;
	int err = -EINVAL;

	top_view_init(&view);
	if (strlen(text) >= TOP_FILTER_BYTES)
		log_error("%s: at most %u bytes are allowed", told, TOP_FILTER_BYTES - 1);
	else
		err = top_view_set_filter(&view, text);
	if (view.note[0])
		log_error("%s %s: no regular expression: %s", told, text, view.note);
	top_view_fini(&view);
	options->filter = text;
	return err;
}

int top_options_finish(struct top_options *options, uint64_t delay_ns, uint32_t *window_seconds)
{
	const bool has_window = *window_seconds > 0;
	const uint64_t delay_seconds = (delay_ns + CLOCK_NS_PER_SEC - 1) / CLOCK_NS_PER_SEC;

	if (delay_ns && delay_ns < LEAST_DELAY_NS) {
		log_error("-d: at least a tenth of a second is needed between two tables");
		return -EINVAL;
	}
	if (options->is_once && !*window_seconds && delay_seconds > WINDOW_MAX_SECONDS) {
		log_error("-d: at most %u seconds can be in one table: record has no such limit",
			  WINDOW_MAX_SECONDS);
		return -EINVAL;
	}
	if (!*window_seconds && options->is_once && delay_ns)
		*window_seconds = (unsigned)delay_seconds;
	if (!*window_seconds)
		*window_seconds = WINDOW_DEFAULT_SECONDS;
	options->is_delay_free = !delay_ns && options->is_once && !has_window;
	if (!delay_ns && options->is_once)
		delay_ns = has_window ? *window_seconds * CLOCK_NS_PER_SEC : ONCE_NS;
	options->delay_ns = delay_ns ? delay_ns : DEFAULT_DELAY_NS;
	return 0;
}

uint64_t top_options_first_ns(const struct top_options *options, uint64_t started_ns,
			      uint64_t hold_ns)
{
	const uint64_t spent_ns = started_ns + hold_ns;
	const uint64_t left_ns = spent_ns < ONCE_WHOLE_NS ? ONCE_WHOLE_NS - spent_ns : 0;

	if (!options->is_delay_free || left_ns >= options->delay_ns)
		return options->delay_ns;
	return left_ns > ONCE_LEAST_NS ? left_ns : ONCE_LEAST_NS;
}

bool top_options_is_too_short(const struct top_options *options, uint64_t covered_ns)
{
	return options->is_delay_free && covered_ns < ONCE_LEAST_NS;
}
