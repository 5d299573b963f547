// SPDX-License-Identifier: Apache-2.0
/* The reader of pprof's profiles, gzipped and plain, which come from anywhere. */
#include "fuzzer.h"

#include "import/pprof.h"

#include <stdlib.h>

static void check(const struct profile *profile)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < profile->count; i++)
		sum += profile->nodes[i].self;
	if (sum != profile->nodes[0].total || sum != profile->quality.samples)
		abort();
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
	profile_fini(&profile);
	profile_fini(&before);
	return 0;
}
