// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of pprof's profiles, gzipped and plain, which come from anywhere: the first kind of
 * samples alone, and all kinds.
 */
#include "fuzzer.h"

#include "import/pprof.h"

#include <errno.h>
#include <stdlib.h>

static void check(const struct profile *profile)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < profile->count; i++)
		sum += profile->nodes[i].self;
	if (sum != profile->nodes[0].total || sum != profile->quality.samples)
		abort();
}

/* Threads have no samples that the profile does not have. */
static void check_threads(const struct timeline *timeline, const struct profile *profile)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < timeline->n_entries; i++) {
		if (timeline->entries[i].node >= profile->count ||
		    timeline->entries[i].thread >= timeline->n_threads)
			abort();
		sum += timeline->entries[i].weight;
	}
	if (sum > profile->quality.samples)
		abort();
}

/* target is the first member, see open_kind. */
struct kinds {
	struct import_target target;
	struct profile profiles[PROFILE_MAX_KINDS];
	struct import_recording recordings[PROFILE_MAX_KINDS];
	size_t n, n_opened;
	size_t refused; /* the number of the kind that is not wanted */
};

static int open_kind(struct import_target *target, const struct profile_kind *kind)
{
	struct kinds *const kinds = (struct kinds *)target;

	if (!*kind->name || !*kind->unit || kinds->n == PROFILE_MAX_KINDS)
		abort();
	if (kinds->n_opened++ == kinds->refused)
		return 1;
	if (profile_init(&kinds->profiles[kinds->n], 1000) < 0)
		return -ENOMEM;
	timeline_init(&kinds->recordings[kinds->n].timeline, 0);
	target->recording = &kinds->recordings[kinds->n];
	target->profile = &kinds->profiles[kinds->n++];
	return 0;
}

static void read_kinds(const uint8_t *data, size_t size)
{
	struct kinds kinds = {.target = {.open = open_kind},
			      .refused = size % (2 * PROFILE_MAX_KINDS)};

	if (import_pprof(data, size, &kinds.target) < 0 && !kinds.target.report.first_reason)
		abort();
	for (size_t i = 0; i < kinds.n; i++) {
		check(&kinds.profiles[i]);
		check_threads(&kinds.recordings[i].timeline, &kinds.profiles[i]);
		profile_fini(&kinds.profiles[i]);
		timeline_fini(&kinds.recordings[i].timeline);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile profile, before;
	struct import_target target = {.profile = &profile, .before = size % 2 ? &before : NULL};

	if (profile_init(&profile, 1000) < 0 || profile_init(&before, 1000) < 0)
		return 0;
	if (import_pprof(data, size, &target) < 0 && !target.report.first_reason)
		abort();
	check(&profile);
	check(&before);
	read_kinds(data, size);
	profile_fini(&profile);
	profile_fini(&before);
	return 0;
}
