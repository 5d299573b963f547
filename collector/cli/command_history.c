// SPDX-License-Identifier: Apache-2.0
/* fgcollect history: what a store has; and top of a store. */
#include "cli/commands.h"
#include "history/history_list.h"
#include "history/history_top.h"

#include "base/clock.h"
#include "base/log.h"
#include "history/history_ask.h"
#include "sinks/named_sample.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ROWS_OF_TEXT 40
#define ROWS_OF_JSON 500

static const char *name_of(unsigned kind)
{
	return sample_kinds[kind]->profile->name;
}

/* What the options ask for. is_one: of one kind, also where they name none. */
static int query_of(const struct options *options, bool is_one, struct store_query *ret)
{
	struct store_request request = options->history;
	int err;

	request.pid = options->recording.pid;
	request.select = options->recording.select;
	if (is_one)
		request.kind =
			name_of((unsigned)__builtin_ctz(recording_kinds(&options->recording)));
	err = store_request_query(&request, clock_unix_now_ns(), ret);
	for (unsigned i = 0; !err && !is_one && i < SAMPLE_KINDS; i++)
		if (options->recording.kinds & 1u << i)
			ret->kinds[ret->n_kinds++] = name_of(i);
	return err;
}

int command_history(const struct options *options)
{
	const char *const dir = store_request_dir(&options->history);
	struct store_query query;
	struct store_list list;
	int err = query_of(options, false, &query);

	if (err)
		return EXIT_FAILURE;
	err = history_ask_list(dir, &query, &list);
	if (!err && list.n == 0)
		log_info("%s: no samples of what was asked for", dir);
	if (!err && options->json)
		err = history_list_print_json(dir, &list, stdout);
	else if (!err)
		history_list_print(&list, stdout);
	store_list_fini(&list);
	return !err && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static unsigned terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col > 0 ? size.ws_col : 80;
}

int command_history_top(const struct options *options)
{
	const size_t rows = options->json ? ROWS_OF_JSON : ROWS_OF_TEXT;
	const struct history_top top = {
		.mode = options->top.mode,
		.sort = options->top.sort,
		.filter = options->top.filter,
		.waits = options->render.waits,
		.rows = options->top.rows ? options->top.rows : rows,
		.width = terminal_width(),
		.is_json = options->json,
	};
	struct store_query query;
	int err = query_of(options, true, &query);

	if (!err)
		err = history_top_print(store_request_dir(&options->history), &query, &top);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
