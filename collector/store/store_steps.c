// SPDX-License-Identifier: Apache-2.0
/* Sums of five seconds, see store_steps.h. The bytes that are read may be anybody's. */
#include "store/store_steps.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_STEP (INT64_MAX / STORE_STEP_NS)

static uint64_t step_of(const struct profile_part *part, const struct timeline_entry *entry)
{
	return (part->info->start_unix_ns + entry->bucket * part->timeline->bucket_ns) /
	       STORE_STEP_NS;
}

/* The timeline is sorted, so that its first entry has the first step. */
static int sum_up(const struct profile_part *part, uint64_t first, uint64_t *sums, size_t *ret_n)
{
	const struct timeline *const timeline = part->timeline;

	for (size_t i = 0; i < timeline->n_entries; i++) {
		const uint64_t step = step_of(part, &timeline->entries[i]) - first;

		if (step >= STORE_STEPS_MAX)
			return -ERANGE;
		sums[step] += timeline->entries[i].weight;
		*ret_n = step >= *ret_n ? step + 1 : *ret_n;
	}
	return 0;
}

int store_steps_write(const struct profile_part *part, struct bytes *ret)
{
	_cleanup_free_ uint64_t *sums = calloc(STORE_STEPS_MAX, sizeof(*sums));
	const struct timeline *const timeline = part->timeline;
	uint64_t first = 0;
	size_t n = 0;
	int err;

	if (!sums)
		return -ENOMEM;
	if (!timeline || !part->info)
		return -ERANGE;
	if (timeline->n_entries > 0)
		first = step_of(part, &timeline->entries[0]);
	err = sum_up(part, first, sums, &n);
	if (err)
		return err;
	bytes_add_varint(ret, first);
	bytes_add_varint(ret, timeline->lost_samples);
	for (size_t i = 0; i < n; i++)
		bytes_add_varint(ret, sums[i]);
	return ret->failed ? -ENOMEM : 0;
}

struct reading {
	const unsigned char *at, *end;
};

static int take(struct reading *reading, uint64_t *ret)
{
	*ret = 0;
	for (unsigned shift = 0; shift <= 63 && reading->at < reading->end; shift += 7) {
		const unsigned char byte = *reading->at++;

		*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 0;
	}
	return -EBADMSG;
}

/* Whether all numbers are whole and none is too large. */
static int check(struct reading reading)
{
	uint64_t number;
	size_t n = 0;
	int err = take(&reading, &number);

	if (!err && number > MAX_STEP - STORE_STEPS_MAX)
		err = -EBADMSG;
	if (!err)
		err = take(&reading, &number);
	for (; !err && reading.at < reading.end; n++)
		err = n < STORE_STEPS_MAX ? take(&reading, &number) : -EBADMSG;
	return err;
}

int store_steps_read(const void *data, size_t len, store_add_time *add, void *arg,
		     uint64_t *ret_untimed)
{
	struct reading reading = {data, (const unsigned char *)data + len};
	struct store_time time = {.step_ns = STORE_STEP_NS};
	uint64_t step;

	if (check(reading) != 0)
		return -EBADMSG;
	take(&reading, &step);
	take(&reading, ret_untimed);
	for (; reading.at < reading.end; step++) {
		take(&reading, &time.weight);
		time.at_ns = step * STORE_STEP_NS;
		if (time.weight > 0)
			add(arg, &time);
	}
	return 0;
}
