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
	if (!delay_ns && options->is_once)
		delay_ns = has_window ? *window_seconds * CLOCK_NS_PER_SEC : ONCE_NS;
	options->delay_ns = delay_ns ? delay_ns : DEFAULT_DELAY_NS;
	return 0;
}
