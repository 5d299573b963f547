// SPDX-License-Identifier: Apache-2.0
/* What render and diff ask of a store, see draw_store_options.h. */
#include "draw/draw_store_options.h"

#include "base/log.h"
#include "options/tables.h"

#include <errno.h>
#include <string.h>

static void note(struct draw_store_options *options, const char *option)
{
	if (!options->given)
		options->given = option;
}

static void note_before(struct draw_store_options *options, const char *option)
{
	note(options, option);
	if (!options->given_before)
		options->given_before = option;
}

static int select_by(struct draw_store_options *options, enum selector_part_number number,
		     const char *option, const char *value)
{
	note(options, option);
	return store_request_select(&options->after.select, number, option, value);
}

/* Options of the side before. 1: the option is another. */
static int apply_before(struct draw_store_options *options, int option, const char *value)
{
	struct store_request *const before = &options->before;

	switch (option) {
	case DRAW_OPTION_BEFORE_FROM:
		note_before(options, "--before-from");
		before->from = value;
		return 0;
	case DRAW_OPTION_BEFORE_TO:
		note_before(options, "--before-to");
		before->to = value;
		return 0;
	case DRAW_OPTION_BEFORE_LABEL:
		note_before(options, "--before-label");
		return store_request_select(&before->select, SELECTOR_LABEL, "--before-label",
					    value);
	case DRAW_OPTION_BEFORE_POD:
		note_before(options, "--before-pod");
		return store_request_select(&before->select, SELECTOR_POD, "--before-pod", value);
	case DRAW_OPTION_BEFORE_PROCESS:
		note_before(options, "--before-process");
		return store_request_set_pid("--before-process", value, &before->pid);
	default:
		return 1;
	}
}

int draw_store_options_apply(struct draw_store_options *options, int option, const char *value)
{
	switch (option) {
	case DRAW_OPTION_STORE:
		note(options, "--store");
		options->after.dir = value;
		return 0;
	case DRAW_OPTION_FROM:
		note(options, "--from");
		options->after.from = value;
		return 0;
	case DRAW_OPTION_TO:
		note(options, "--to");
		options->after.to = value;
		return 0;
	case DRAW_OPTION_PROCESS:
		note(options, "--process");
		return store_request_set_pid("--process", value, &options->after.pid);
	case DRAW_OPTION_CONTAINER:
		return select_by(options, SELECTOR_CONTAINER, "--container", value);
	case DRAW_OPTION_POD:
		return select_by(options, SELECTOR_POD, "--pod", value);
	case DRAW_OPTION_LABEL:
		return select_by(options, SELECTOR_LABEL, "--label", value);
	case DRAW_OPTION_COMM:
		return select_by(options, SELECTOR_COMM, "--comm", value);
	case DRAW_OPTION_JVM:
		return select_by(options, SELECTOR_JVM, "--jvm", value);
	default:
		return apply_before(options, option, value);
	}
}

/* What the side before does not say is that of the side after. */
static void complete(const struct store_request *after, struct store_request *before)
{
	const bool has_labels = before->select.n_labels > 0;
	struct selector select = after->select;

	if (before->select.pod[0])
		selector_copy_pods(&select, &before->select);
	if (has_labels) {
		memcpy(select.labels, before->select.labels, sizeof(select.labels));
		select.n_labels = before->select.n_labels;
	}
	before->select = select;
	before->pid = before->pid ? before->pid : after->pid;
	before->dir = after->dir;
	before->kind = after->kind;
}

int draw_store_options_finish(struct draw_store_options *options, const char *kind, size_t n_inputs,
			      bool is_diff)
{
	if (!options->given)
		return 0;
	if (n_inputs > 0) {
		log_error("%s reads a store: files are read without it", options->given);
		return -EINVAL;
	}
	if (options->given_before && !is_diff) {
		log_error("%s goes with diff", options->given_before);
		return -EINVAL;
	}
	if (!options->after.from) {
		log_error("%s: --from says from when on samples of the store are read, such as "
			  "--from 03:10 or --from -1h",
			  options->given);
		return -EINVAL;
	}
	if (is_diff && !options->given_before) {
		log_error("diff compares two sides: --before-from TIME, or --before-label, "
			  "--before-pod or --before-process, says what was before");
		return -EINVAL;
	}
	options->after.kind = kind;
	complete(&options->after, &options->before);
	return 0;
}

/* The range before: it lasts as long as the range after unless its end is given. */
static int set_range_before(const struct draw_store_options *options, uint64_t now_ns,
			    struct store_query *ret)
{
	const struct store_range after = ret->range;
	int err;

	if (!options->before.from && !options->before.to)
		return 0;
	if (!options->before.from) {
		log_error("--before-to goes with --before-from");
		return -EINVAL;
	}
	err = store_request_range("--before-", options->before.from, options->before.to, now_ns,
				  &ret->range);
	if (!err && !options->before.to)
		ret->range.to_ns = ret->range.from_ns + (after.to_ns - after.from_ns);
	return err;
}

int draw_store_options_query(const struct draw_store_options *options, bool is_before,
			     uint64_t now_ns, struct store_query *ret)
{
	struct store_request request = is_before ? options->before : options->after;
	int err;

	request.from = options->after.from;
	request.to = options->after.to;
	err = store_request_query(&request, now_ns, ret);
	return err || !is_before ? err : set_range_before(options, now_ns, ret);
}
