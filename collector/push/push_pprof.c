// SPDX-License-Identifier: Apache-2.0
/*
 * The body of push.v1.PusherService/Push: a PushRequest of ../proto/push.proto with one series.
 *
 *   labels   __name__: the family; __delta__: "false", because our profiles are what was added
 *            since the one before; and those of the message. Sorted by name
 *   samples  one: a UUID, and pprof, gzipped, by ../render/pprof.c without labels of threads,
 *            because a server makes a series of each value
 */
#include "push/push_message.h"

#include "base/cleanup.h"
#include "push/proto_out.h"
#include "render/render.h"

#include "push.pb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define GZIP_LENGTH_BYTES 4 /* the end of a gzip file is the length of what it holds */

void push_random_id(unsigned char ret[16])
{
	if (getrandom(ret, 16, GRND_NONBLOCK) != 16)
		for (size_t i = 0; i < 16; i++)
			ret[i] = (unsigned char)(rand() >> 4);
	ret[6] = (unsigned char)((ret[6] & 0x0f) | 0x40); /* a UUID of version 4 */
	ret[8] = (unsigned char)((ret[8] & 0x3f) | 0x80);
}

static void put_id(struct bytes *out)
{
	unsigned char id[16];
	char text[40] = "";
	size_t len = 0;

	push_random_id(id);
	for (size_t i = 0; i < sizeof(id); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%02x",
					i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
	proto_put_text(out, push_RawSample_ID_tag, text);
}

static void put_label(struct bytes *series, const char *name, const char *value)
{
	_cleanup_(bytes_fini) struct bytes pair = {0};

	proto_put_text(&pair, push_LabelPair_name_tag, name);
	proto_put_text(&pair, push_LabelPair_value_tag, value);
	proto_put_message(series, push_RawProfileSeries_labels_tag, &pair);
}

/* Names that begin with "__" come before lower-case ones, but after upper-case ones. */
static void put_labels(struct bytes *series, const struct push_message *message)
{
	const struct push_labels *const labels = message->labels;
	bool has_ours = false;

	for (size_t i = 0; i <= labels->count; i++) {
		if (!has_ours && (i == labels->count || strcmp(labels->items[i].name, "__") > 0)) {
			put_label(series, "__delta__", "false");
			put_label(series, "__name__", message->kind->family);
			has_ours = true;
		}
		if (i < labels->count)
			put_label(series, labels->items[i].name, labels->items[i].value);
	}
}

static int make_pprof(const struct push_message *message, char **ret, size_t *ret_len)
{
	const struct push_kind *const kind = message->kind;
	const struct render_period period = {
		.type = kind->period_type,
		.unit = kind->period_unit,
		.amount = push_kind_period(kind, message->info->hz),
	};
	const struct render_options options = {
		.info = message->info, .kind = &kind->as, .period = &period};
	FILE *const stream = open_memstream(ret, ret_len);
	int err;

	if (!stream)
		return -ENOMEM;
	err = render_pprof(message->profile, &options, stream);
	if (fclose(stream) != 0 && !err)
		err = -ENOMEM;
	return err;
}

static uint64_t length_of_gzip(const char *file, size_t len)
{
	uint64_t length = 0;

	for (size_t i = 0; i < GZIP_LENGTH_BYTES && len >= GZIP_LENGTH_BYTES; i++)
		length |= (uint64_t)(unsigned char)file[len - GZIP_LENGTH_BYTES + i] << (8 * i);
	return length;
}

int push_pprof_encode(const struct push_message *message, struct bytes *ret,
		      uint64_t *ret_plain_bytes)
{
	_cleanup_(bytes_fini) struct bytes series = {0}, sample = {0};
	_cleanup_free_ char *pprof = NULL;
	size_t len = 0;
	const int err = make_pprof(message, &pprof, &len);

	if (err)
		return err;
	put_labels(&series, message);
	proto_put_bytes(&sample, push_RawSample_raw_profile_tag, pprof, len);
	put_id(&sample);
	proto_put_message(&series, push_RawProfileSeries_samples_tag, &sample);
	proto_put_message(ret, push_PushRequest_series_tag, &series);
	*ret_plain_bytes = length_of_gzip(pprof, len);
	return ret->failed ? -ENOMEM : 0;
}
