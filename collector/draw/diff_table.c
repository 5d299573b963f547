// SPDX-License-Identifier: Apache-2.0
/* The table of diff, see diff_table.h. */
#include "draw/diff_table.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "encode/text.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

struct table {
	const struct profile_diff *diff;
	const struct diff_method *methods;
	size_t n;
	const struct profile_kind *kind;
	const char *count_name;
};

static double share(const struct profile_diff *diff, const uint64_t counts[DIFF_SIDES], int side)
{
	const uint64_t all = diff->nodes[PROFILE_ROOT].total[side];

	return all ? 100.0 * (double)counts[side] / (double)all : 0;
}

/*
 * new and gone: in the whole profile. noise: neither the method's own samples nor those of its
 * callees changed.
 */
static const char *mark_of(const struct profile_diff *diff, const struct diff_counts *counts)
{
	if (counts->total[DIFF_BEFORE] == 0)
		return "new";
	if (counts->total[DIFF_AFTER] == 0)
		return "gone";
	return diff_is_noise(diff, counts->self) ? "noise" : "";
}

/* What the test takes for a sample. */
static void print_noise(const struct table *table, FILE *stream)
{
	const struct diff_options *const options = &table->diff->options;
	const bool is_measured = profile_kind_is_measured(table->kind);
	char sample[PROFILE_AMOUNT_BYTES];

	if (is_measured)
		profile_kind_amount(table->kind, (uint64_t)options->sample_weight, sample);
	fprintf(stream,
		"\nnoise: the change of a method's own samples is less than %.2f standard "
		"deviations away from none (%s; it takes %s%s for %s).\n",
		DIFF_NOISE_Z, options->is_raw ? "two Poisson counts" : "two-proportion z test",
		is_measured ? "each " : "", is_measured ? sample : table->count_name,
		is_measured ? "an independent sample" : "independent samples");
}

static void print_text(const struct table *table, FILE *stream)
{
	const struct profile_diff *const diff = table->diff;
	const uint64_t *const all = diff->nodes[PROFILE_ROOT].total;
	char before[PROFILE_AMOUNT_BYTES], after[PROFILE_AMOUNT_BYTES];
	struct bytes name = {0};

	fprintf(stream,
		"before %s, after %s; changes are %s\n"
		"\n"
		"     own samples                   with callees\n"
		"  change  before   after       change  before   after           method\n",
		profile_kind_plain_amount(table->kind, all[DIFF_BEFORE], table->count_name, before),
		profile_kind_plain_amount(table->kind, all[DIFF_AFTER], table->count_name, after),
		diff->options.is_raw ? "of counts as they are, as a share of all after"
				     : "of shares, in per cent of each side's total");
	for (size_t i = 0; i < table->n; i++) {
		const struct diff_counts *const counts = &table->methods[i].counts;

		name.len = 0;
		text_clean(&name, table->methods[i].name, "?");
		fprintf(stream, "%+7.2f%% %6.2f%% %6.2f%%     %+7.2f%% %6.2f%% %6.2f%%  %-5s  %s\n",
			100 * diff_change(diff, counts->self),
			share(diff, counts->self, DIFF_BEFORE),
			share(diff, counts->self, DIFF_AFTER),
			100 * diff_change(diff, counts->total),
			share(diff, counts->total, DIFF_BEFORE),
			share(diff, counts->total, DIFF_AFTER), mark_of(diff, counts),
			bytes_text(&name));
	}
	print_noise(table, stream);
	bytes_fini(&name);
}

static json_t *counts_json(const struct profile_diff *diff, const uint64_t counts[DIFF_SIDES])
{
	return json_pack("{s:I, s:I, s:f, s:f, s:b}", "before", (json_int_t)counts[DIFF_BEFORE],
			 "after", (json_int_t)counts[DIFF_AFTER], "change",
			 diff_change(diff, counts), "z", diff_z(diff, counts), "noise",
			 diff_is_noise(diff, counts));
}

static json_t *method_json(const struct table *table, const struct diff_method *method)
{
	const struct diff_counts *const counts = &method->counts;
	struct bytes name = {0};
	json_t *json;

	text_clean(&name, method->name, UTF8_REPLACEMENT);
	json = json_pack("{s:s, s:o, s:o, s:b, s:b}", "method", bytes_text(&name), "self",
			 counts_json(table->diff, counts->self), "total",
			 counts_json(table->diff, counts->total), "new",
			 counts->total[DIFF_BEFORE] == 0, "gone", counts->total[DIFF_AFTER] == 0);
	bytes_fini(&name);
	return json;
}

static int print_json(const struct table *table, FILE *stream)
{
	const struct profile_diff *const diff = table->diff;
	const uint64_t *const all = diff->nodes[PROFILE_ROOT].total;
	json_t *const methods = json_array();
	json_t *json;
	int err;

	for (size_t i = 0; i < table->n; i++)
		json_array_append_new(methods, method_json(table, &table->methods[i]));
	json = json_pack("{s:I, s:I, s:s, s:b, s:s, s:f, s:o}", "before",
			 (json_int_t)all[DIFF_BEFORE], "after", (json_int_t)all[DIFF_AFTER],
			 "counted", table->count_name, "normalized", !diff->options.is_raw,
			 "noise_test",
			 diff->options.is_raw ? "two Poisson counts" : "two-proportion z test",
			 "noise_below_z", DIFF_NOISE_Z, "methods", methods);
	if (!json)
		return -ENOMEM;
	err = json_dumpf(json, stream, JSON_INDENT(2)) == 0 ? 0 : -EIO;
	fputc('\n', stream);
	json_decref(json);
	return err;
}

int diff_table_print(const struct draw_options *options, const struct profile_diff *diff,
		     FILE *stream)
{
	_cleanup_free_ struct diff_method *methods = NULL;
	struct table table = {
		.diff = diff,
		.kind = render_kind(&options->render),
		.count_name = options->render.count_name
				      ? options->render.count_name
				      : profile_kind_noun(render_kind(&options->render)),
	};
	int err = diff_methods(diff, &methods, &table.n);

	if (!err) {
		table.methods = methods;
		if (table.n > options->top)
			table.n = options->top;
		if (options->json)
			err = print_json(&table, stream);
		else
			print_text(&table, stream);
	}
	if (!err && fflush(stream) != 0)
		err = -errno;
	if (err)
		log_error("cannot print the table: %s", strerror(-err));
	return err;
}
