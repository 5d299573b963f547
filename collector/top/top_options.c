// SPDX-License-Identifier: Apache-2.0
/* Options of top, see top_options.h. */
#include "top/top_options.h"

#include "base/clock.h"
#include "base/log.h"
#include "options/tables.h"
#include "profile/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_DELAY_NS (2 * CLOCK_NS_PER_SEC)
#define ONCE_NS		 CLOCK_NS_PER_SEC /* before the table of --once */
#define LEAST_DELAY_NS	 (100 * CLOCK_NS_PER_MS)
#define MAX_ROWS	 100000u

/* Reads a whole number up to most. 0: text is not such a number. */
static unsigned number_of(const char *text, unsigned most)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || number > most)
		return 0;
	return (unsigned)number;
}

static int set_window(struct top_options *options, const char *text)
{
	options->window_seconds = number_of(text, WINDOW_MAX_SECONDS);
	if (options->window_seconds > 0)
		return 0;
	log_error("--window %s: a whole number of seconds from 1 to %u is needed", text,
		  WINDOW_MAX_SECONDS);
	return -EINVAL;
}

static int set_rows(struct top_options *options, const char *text)
{
	options->rows = number_of(text, MAX_ROWS);
	if (options->rows > 0)
		return 0;
	log_error("--rows %s: a whole number from 1 to %u is needed", text, MAX_ROWS);
	return -EINVAL;
}

static int set_sort(struct top_options *options, const char *text)
{
	for (enum top_sort sort = 0; sort < TOP_SORTS; sort++) {
		if (strcmp(text, top_sort_word(sort)) == 0) {
			options->sort = sort;
			return 0;
		}
	}
	log_error("--sort %s: there are: self total name jvm", text);
	return -EINVAL;
}

static int set_view(struct top_options *options, const char *text)
{
	for (enum top_mode mode = 0; mode < TOP_MODES; mode++) {
		if (strcmp(text, top_mode_word(mode)) == 0) {
			options->mode = mode;
			return 0;
		}
	}
	log_error("--view %s: there are: methods threads jvms", text);
	return -EINVAL;
}

static int set_filter(struct top_options *options, const char *text)
{
	struct top_view view;
	int err = -EINVAL;

	top_view_init(&view);
	if (strlen(text) >= TOP_FILTER_BYTES)
		log_error("--filter: at most %u bytes are allowed", TOP_FILTER_BYTES - 1);
	else
		err = top_view_set_filter(&view, text);
	if (view.note[0])
		log_error("--filter %s: no regular expression: %s", text, view.note);
	top_view_fini(&view);
	options->filter = text;
	return err;
}

int top_options_apply(struct top_options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_FILTER:
		options->given = "--filter";
		return set_filter(options, value);
	case OPTION_ONCE:
		options->given = "--once";
		options->is_once = true;
		return 0;
	case OPTION_ROWS:
		options->given = "--rows";
		return set_rows(options, value);
	case OPTION_SORT:
		options->given = "--sort";
		return set_sort(options, value);
	case OPTION_VIEW:
		options->given = "--view";
		return set_view(options, value);
	case OPTION_WINDOW:
		options->given = "--window";
		return set_window(options, value);
	default:
		return 1;
	}
}

int top_options_finish(struct top_options *options, uint64_t delay_ns)
{
	const bool has_window = options->window_seconds > 0;
	const uint64_t delay_seconds = (delay_ns + CLOCK_NS_PER_SEC - 1) / CLOCK_NS_PER_SEC;

	if (delay_ns && delay_ns < LEAST_DELAY_NS) {
		log_error("-d: at least a tenth of a second is needed between two tables");
		return -EINVAL;
	}
	if (options->is_once && !options->window_seconds && delay_seconds > WINDOW_MAX_SECONDS) {
		log_error("-d: at most %u seconds can be in one table: record has no such limit",
			  WINDOW_MAX_SECONDS);
		return -EINVAL;
	}
	if (!options->window_seconds && options->is_once && delay_ns)
		options->window_seconds = (unsigned)delay_seconds;
	if (!options->window_seconds)
		options->window_seconds = WINDOW_DEFAULT_SECONDS;
	if (!delay_ns && options->is_once)
		delay_ns = has_window ? options->window_seconds * CLOCK_NS_PER_SEC : ONCE_NS;
	options->delay_ns = delay_ns ? delay_ns : DEFAULT_DELAY_NS;
	return 0;
}
