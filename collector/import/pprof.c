// SPDX-License-Identifier: Apache-2.0
/*
 * Reads profiles of pprof, see pprof.h: a Profile of proto/pprof.proto, mostly gzipped. Its tables
 * are read first (pprof_tables.h), its samples one at a time in a second pass:
 *
 *   sample = { location ID, leaf first } { value, one for each type } { label }
 *
 * A sample is added to the profile of each kind of which it has a value other than 0. A sample with
 * labels is also added to the timeline of the kind, in the row of its thread, at the begin: samples
 * of pprof have no time.
 */
#include "import/pprof.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "import/decompressor.h"
#include "import/pprof_labels.h"
#include "import/pprof_tables.h"
#include "pprof.pb.h"

#include <errno.h>
#include <pb_decode.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_SEC UINT64_C(1000000000)

/* Where the samples of a kind go. */
struct destination {
	const struct pprof_kind *kind;
	struct profile *profile;
	struct profile *before;		    /* or NULL */
	struct import_recording *recording; /* or NULL: threads are not wanted */
};

struct reader {
	struct pprof_tables tables;
	struct pprof_cursor cursor;
	struct import_target *target;
	struct frame *frames; /* of the sample that is read */
	size_t count;
	size_t size;
	bool is_too_deep;
	bool is_ignored; /* the sample that is read has a value without a place */
	struct destination destinations[PROFILE_MAX_KINDS];
	size_t n_destinations;
	uint32_t n_values;
	int64_t values[PPROF_KINDS_MAX];
	struct pprof_labels labels;
	uint64_t samples; /* number of samples read */
	uint64_t work;
	int err;
	const char *reason;
};

static bool fail(struct reader *reader, int err, const char *reason)
{
	if (!reader->err) {
		reader->err = err;
		reader->reason = reason;
	}
	return false;
}

static bool make_room(struct reader *reader, size_t n)
{
	return ARRAY_RESERVE(reader->frames, reader->size, reader->count + n) == 0 ||
	       fail(reader, -ENOMEM, "out of memory");
}

static bool add_location(struct reader *reader, uint64_t id)
{
	struct pprof_frames frames;

	if (pprof_tables_find(&reader->tables, id, &frames) < 0)
		return fail(reader, -EINVAL, "a sample's location is not there");
	if (reader->is_too_deep || frames.count > IMPORT_PPROF_MAX_DEPTH - reader->count) {
		reader->is_too_deep = true;
		return true;
	}
	if (!make_room(reader, frames.count))
		return false;
	memcpy(reader->frames + reader->count, frames.frames,
	       frames.count * sizeof(*frames.frames));
	reader->count += frames.count;
	return true;
}

/* Reads packed IDs and single IDs: nanopb calls once for a packed field, or once for each ID. */
static bool take_locations(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
	uint64_t id;

	(void)field;
	while (stream->bytes_left > 0) {
		if (!pb_decode_varint(stream, &id) || !add_location(*arg, id))
			return false;
	}
	return true;
}

static bool take_values(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
	struct reader *const reader = *arg;
	uint64_t value;

	(void)field;
	while (stream->bytes_left > 0) {
		if (!pb_decode_varint(stream, &value))
			return false;
		if (reader->n_values < PPROF_KINDS_MAX)
			reader->values[reader->n_values] = (int64_t)value;
		reader->n_values++;
	}
	return true;
}

/*
 * Counts the bytes of names that adding a stack reads. A small file can use long names many times.
 */
static bool spend(struct reader *reader)
{
	for (size_t i = 0; i < reader->count; i++)
		reader->work += strlen(reader->frames[i].name);
	return reader->work <= IMPORT_PPROF_MAX_WORK ||
	       fail(reader, -EFBIG, "its names, as often as they stand in stacks, exceed 16 GiB");
}

/* Tells the thread of a sample that has been added, in a node of the destination's profile. */
static void add_thread(struct reader *reader, const struct destination *to, uint32_t node,
		       uint64_t weight)
{
	struct timeline_entry entry = {.node = node};

	if (!to->recording || reader->labels.count == 0)
		return;
	entry.thread = pprof_labels_thread(&reader->labels, &to->recording->timeline);
	timeline_add_weight(&to->recording->timeline, 0, &entry, weight);
}

static bool add_value(struct reader *reader, const struct destination *to)
{
	const int64_t value = reader->values[to->kind->value];
	struct profile *const into = value < 0 ? to->before : to->profile;
	const uint64_t weight =
		pprof_kind_weight(to->kind, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
	uint32_t node = 0;
	int rc;

	if (value == 0)
		return true;
	if (!into) {
		reader->is_ignored = true;
		return true;
	}
	if (weight > UINT64_MAX - into->quality.samples)
		return fail(reader, -EOVERFLOW, "all samples together are more than 2^64");
	if (!spend(reader))
		return false;
	rc = profile_add_leaf(into, reader->frames, reader->count, weight, &node);
	if (rc < 0)
		return fail(reader, rc, "out of memory");
	if (into == to->profile)
		add_thread(reader, to, node, weight);
	return true;
}

static bool add_sample(struct reader *reader)
{
	struct import_report *const report = &reader->target->report;

	if (reader->n_values != reader->tables.value_count)
		return fail(reader, -EINVAL, "a sample has not as many values as there are types");
	if (reader->is_too_deep) {
		import_report_ignore(report, reader->samples,
				     "a stack of more than 131,072 frames");
		return true;
	}
	for (size_t i = 0; i < reader->n_destinations; i++)
		if (!add_value(reader, &reader->destinations[i]))
			return false;
	if (reader->is_ignored)
		import_report_ignore(report, reader->samples,
				     "a negative value: is this the difference of two profiles?");
	else
		report->stacks++;
	return true;
}

static bool take_label(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
	struct reader *const reader = *arg;
	pprof_Label label = pprof_Label_init_zero;
	struct pprof_label named;

	(void)field;
	if (!pb_decode(stream, pprof_Label_fields, &label))
		return false;
	named = (struct pprof_label){
		.key = pprof_tables_text(&reader->tables, label.key),
		.text = label.str ? pprof_tables_text(&reader->tables, label.str) : NULL,
		.number = label.num,
		.unit = pprof_tables_text(&reader->tables, label.num_unit),
	};
	if (reader->tables.err)
		return fail(reader, reader->tables.err, reader->tables.reason);
	if (label.key)
		pprof_labels_add(&reader->labels, &named);
	return true;
}

static bool take_sample(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
	struct reader *const reader = *arg;
	pprof_Sample sample = {
		.location_id = {.funcs.decode = take_locations, .arg = reader},
		.value = {.funcs.decode = take_values, .arg = reader},
		.label = {.funcs.decode = take_label, .arg = reader},
	};

	(void)field;
	reader->count = 0;
	reader->n_values = 0;
	reader->is_too_deep = false;
	reader->is_ignored = false;
	pprof_labels_begin(&reader->labels);
	reader->samples++;
	return pb_decode_ex(stream, pprof_Sample_fields, &sample, PB_DECODE_NOINIT) &&
	       add_sample(reader);
}

/* Whether the samples of a kind are wanted, and where they go. */
static int open_kind(struct reader *reader, const struct pprof_kind *kind)
{
	struct import_target *const target = reader->target;
	int rc = reader->n_destinations > 0;

	if (target->open)
		rc = target->open(target, &(struct profile_kind){kind->name, kind->unit});
	if (rc == 0)
		reader->destinations[reader->n_destinations++] = (struct destination){
			kind, target->profile, target->before, target->recording};
	return rc;
}

/* Kinds for which there is no place are counted, unless they were not wanted. */
static bool open_kinds(struct reader *reader)
{
	const struct pprof_kinds *const kinds = &reader->tables.kinds;

	for (size_t i = 0; i < kinds->n; i++) {
		if (reader->n_destinations == PROFILE_MAX_KINDS) {
			reader->target->report.other_kinds += reader->target->open != NULL;
			continue;
		}
		if (open_kind(reader, &kinds->items[i]) < 0)
			return fail(reader, -ENOMEM, "out of memory");
	}
	return reader->n_destinations > 0;
}

/* What a recording of our own would say of itself, as far as the file says it. */
static void finish(struct reader *reader)
{
	const struct pprof_tables *const tables = &reader->tables;
	const uint64_t period = tables->cpu_period_ns;

	for (size_t i = 0; i < reader->n_destinations; i++) {
		const struct pprof_kind *const from = reader->destinations[i].kind;
		const struct profile_kind kind = {from->name, from->unit};
		struct import_recording *const recording = reader->destinations[i].recording;

		if (!recording)
			continue;
		timeline_sort(&recording->timeline);
		recording->info.start_unix_ns = (uint64_t)tables->start_unix_ns;
		recording->info.duration_ns = (uint64_t)tables->duration_ns;
		if (period > 0 && profile_kind_is_same(&kind, &profile_kind_cpu))
			recording->info.hz = (unsigned)((NS_PER_SEC + period / 2) / period);
		recording->is_read = true;
	}
}

static void read_profile(struct reader *reader, const unsigned char *data, size_t len)
{
	pprof_Profile message = {.sample = {.funcs.decode = take_sample, .arg = reader}};
	pb_istream_t stream;
	const int rc = pprof_tables_init(&reader->tables, data, len);

	if (rc < 0) {
		fail(reader, rc, reader->tables.reason);
		return;
	}
	if (!open_kinds(reader))
		return;
	stream = pprof_stream(&reader->cursor, data, len);
	if (!pb_decode_ex(&stream, pprof_Profile_fields, &message, PB_DECODE_NOINIT))
		fail(reader, -EINVAL, "a sample is cut or damaged");
	else
		finish(reader);
}

static void read_gzip(struct reader *reader, const void *data, size_t len)
{
	_cleanup_free_ unsigned char *plain = NULL;
	size_t plain_len;
	const int rc = decompressor_gunzip(data, len, IMPORT_PPROF_MAX_BYTES, &plain, &plain_len);

	if (rc == -EFBIG)
		fail(reader, rc, "more than 512 MiB when unzipped");
	else if (rc < 0)
		fail(reader, rc, rc == -ENOMEM ? "out of memory" : "its gzip is cut or damaged");
	else
		read_profile(reader, plain, plain_len);
}

int import_pprof(const void *data, size_t len, struct import_target *target)
{
	struct reader reader = {.target = target};

	target->report = (struct import_report){.format = IMPORT_PPROF};
	if (decompressor_is_gzip(data, len))
		read_gzip(&reader, data, len);
	else if (len > IMPORT_PPROF_MAX_BYTES)
		fail(&reader, -EFBIG, "more than 512 MiB");
	else
		read_profile(&reader, data, len);
	if (reader.err)
		target->report.first_reason = reader.reason;
	pprof_tables_fini(&reader.tables);
	free(reader.frames);
	return reader.err;
}
