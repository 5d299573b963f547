// SPDX-License-Identifier: Apache-2.0
/* Asks a store, and says what of the answer is missing; see history_ask.h. */
#include "history/history_ask.h"

#include "base/log.h"
#include "store/store_time.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int open_store(const char *dir, struct store_reader *ret)
{
	char why[STORE_READER_MESSAGE];
	const int err = store_reader_open(dir, ret, why);

	if (err)
		log_error("%s", why);
	else if (ret->index.is_without_log)
		log_warning("%s: nothing can be written there, and so the newest samples cannot be "
			    "read: copy the store to a directory of your own",
			    dir);
	return err;
}

static int say_error(const char *dir, int err)
{
	if (err == -ENOMEM)
		log_error("%s: there is not enough memory for these samples: ask for a shorter "
			  "range",
			  dir);
	else if (err == -EBADMSG)
		log_error("%s: its index is damaged", dir);
	else
		log_error("%s: cannot be read: %s", dir, strerror(-err));
	return err;
}

static void say_left_out(const char *dir, const struct store_list *list)
{
	if (list->left_out > 0)
		log_warning("%s: %llu processes past the first %u are left out: ask for a shorter "
			    "range",
			    dir, (unsigned long long)list->left_out, STORE_MAX_ROWS);
}

int history_ask_list(const char *dir, const struct store_query *query, struct store_list *ret)
{
	struct store_reader reader;
	int err;

	*ret = (struct store_list){0};
	err = open_store(dir, &reader);
	if (err)
		return err;
	err = store_reader_list(&reader, query, ret);
	store_reader_close(&reader);
	if (err)
		return say_error(dir, err);
	say_left_out(dir, ret);
	return 0;
}

void history_answer_fini(struct history_answer *answer)
{
	store_list_fini(&answer->list);
	store_sum_fini(&answer->sum);
}

static void say_losses(const char *dir, const struct history_answer *answer)
{
	const struct store_reading *const reading = &answer->reading;

	if (reading->missing > 0)
		log_warning("%s: %llu of %llu files of the range are not there", dir,
			    (unsigned long long)reading->missing,
			    (unsigned long long)(reading->missing + reading->damaged +
						 reading->segments));
	if (reading->damaged > 0)
		log_warning("%s: %llu files of the range are damaged or cannot be read; the "
			    "first is %s",
			    dir, (unsigned long long)reading->damaged, reading->first_damaged);
	if (answer->sum.untimed > 0)
		log_warning("%s: of samples with a weight of %llu it is not known whether they are "
			    "in the range, and they are left out",
			    dir, (unsigned long long)answer->sum.untimed);
	if (answer->sum.left_out > 0)
		log_warning("%s: %llu profiles of a kind with another unit, or with weights that "
			    "do not add up, are left out",
			    dir, (unsigned long long)answer->sum.left_out);
}

/* Says what there is where nothing was found. */
static void say_nothing(const struct store_reader *reader, const char *dir,
			const struct store_query *query)
{
	const struct store_query any = {.range = STORE_RANGE_ALL};
	char range[HISTORY_TEXT_BYTES], all[HISTORY_TEXT_BYTES];
	struct store_range whole = {UINT64_MAX, 0};
	struct store_list list;

	history_say_range(&query->range, range);
	if (store_reader_list(reader, &any, &list) < 0 || list.n == 0) {
		log_error("%s: the store has no samples at all", dir);
		store_list_fini(&list);
		return;
	}
	for (size_t i = 0; i < list.n; i++) {
		if (list.rows[i].first_ns < whole.from_ns)
			whole.from_ns = list.rows[i].first_ns;
		if (list.rows[i].last_ns > whole.to_ns)
			whole.to_ns = list.rows[i].last_ns;
	}
	log_error("%s: no samples of what was asked for from %s; the store has samples of %zu "
		  "processes from %s: see fgcollect history",
		  dir, range, list.n, history_say_range(&whole, all));
	store_list_fini(&list);
}

int history_ask_sum(const char *dir, const struct store_query *query, struct history_answer *ret)
{
	struct store_reader reader;
	int err;

	*ret = (struct history_answer){0};
	err = open_store(dir, &reader);
	if (err)
		return err;
	err = store_reader_list(&reader, query, &ret->list);
	if (!err)
		err = store_reader_sum(&reader, query, &ret->sum, &ret->reading);
	if (err) {
		say_error(dir, err);
	} else {
		say_left_out(dir, &ret->list);
		say_losses(dir, ret);
	}
	if (!err && ret->sum.n == 0) {
		say_nothing(&reader, dir, query);
		err = -ENODATA;
	}
	store_reader_close(&reader);
	return err;
}

const char *history_say_target(const struct history_answer *answer, const struct store_query *query,
			       char ret[HISTORY_TEXT_BYTES])
{
	const struct store_list *const list = &answer->list;
	char said[HISTORY_TEXT_BYTES / 2];

	selector_say(&query->select, said, sizeof(said));
	if (list->n == 1)
		snprintf(ret, HISTORY_TEXT_BYTES, "%.200s, PID %d", list->rows[0].process.title,
			 (int)list->rows[0].process.pid);
	else
		snprintf(ret, HISTORY_TEXT_BYTES, "%zu processes%s%s", list->n,
			 said[0] ? " of " : "", said);
	return ret;
}

const char *history_say_range(const struct store_range *range, char ret[HISTORY_TEXT_BYTES])
{
	char from[STORE_TIME_BYTES], to[STORE_TIME_BYTES];
	size_t same = 0;

	store_time_say(range->from_ns, from);
	store_time_say(range->to_ns, to);
	if (strlen(from) > 11 && strncmp(from, to, 11) == 0)
		same = 11; /* the day */
	snprintf(ret, HISTORY_TEXT_BYTES, "%s to %s", from, to + same);
	return ret;
}
