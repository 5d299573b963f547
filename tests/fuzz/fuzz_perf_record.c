// SPDX-License-Identifier: Apache-2.0
/* The decoder of perf's ring records. The kernel is trusted, its version is not. */
#include "fuzzer.h"

#include "sample/perf_record.h"

#include <stdlib.h>
#include <string.h>

static volatile uint64_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *aligned = malloc(size ? size : 1);
	struct perf_record record;

	if (!aligned)
		return 0;
	memcpy(aligned, data, size);
	if (size >= 8 && perf_parse(aligned, size, &record) > 0) {
		if (record.kind == PERF_SAMPLE) {
			for (uint32_t i = 0; i < record.sample.chain_len; i++)
				sink += record.sample.chain[i];
		}
		if (record.kind == PERF_MMAP)
			sink += strlen(record.mmap.path);
		if (record.kind == PERF_COMM)
			sink += strlen(record.comm.name);
	}
	free(aligned);
	return 0;
}
