// SPDX-License-Identifier: Apache-2.0
/* The reader of pprof's profiles, gzipped and plain, which come from anywhere. */
#include "fuzzer.h"

#include "import/pprof.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_report report;
	struct profile profile;
	uint64_t sum = 0;

	if (profile_init(&profile, 1000) < 0)
		return 0;
	if (import_pprof(data, size, &profile, &report) < 0 && !report.first_reason)
		abort();
	for (uint32_t i = 0; i < profile.count; i++)
		sum += profile.nodes[i].self;
	if (sum != profile.nodes[0].total || sum != profile.quality.samples)
		abort();
	profile_fini(&profile);
	return 0;
}
