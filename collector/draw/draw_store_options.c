// SPDX-License-Identifier: Apache-2.0
/* What render and diff ask of a store, see draw_store_options.h. */
#include "draw/draw_store_options.h"

#include "base/log.h"

#include <errno.h>
#include <string.h>

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

	if (!options->before.from)
		return 0;
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
