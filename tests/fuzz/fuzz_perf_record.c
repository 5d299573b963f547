// SPDX-License-Identifier: Apache-2.0
/*
 * The decoder of perf's ring records, each read with snapshots of the stack and without. The kernel
 * is trusted, its version is not.
 */
#include "fuzzer.h"

#include "sample/perf_record.h"
#include "sample/perf_regs.h"
#include "sample/sampler.h"

#include <stdlib.h>
#include <string.h>

static volatile uint64_t sink;

static void use_sample(const struct perf_sample *sample)
{
	for (uint32_t i = 0; i < sample->chain_len; i++)
		sink += sample->chain[i];
	for (uint32_t i = 0; sample->regs && i < SAMPLER_REGS_COUNT; i++)
		sink += sample->regs[i];
	for (uint32_t i = 0; i < sample->stack_len; i++)
		sink += sample->stack[i];
	if (sample->stack_len > 0 && !sample->regs)
		abort(); /* a stack whose pointer is not known */
}

static void use(const struct perf_record *record)
{
	if (record->kind == PERF_SAMPLE)
		use_sample(&record->sample);
	if (record->kind == PERF_MMAP)
		sink += strlen(record->mmap.path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *aligned = malloc(size ? size : 1);
	struct perf_record record;

	if (!aligned)
		return 0;
	memcpy(aligned, data, size);
	if (size >= 8 && perf_parse(aligned, size, SAMPLER_TYPE, &record) > 0)
		use(&record);
	if (size >= 8 && perf_parse(aligned, size, SAMPLER_TYPE_STACK, &record) > 0)
		use(&record);
	if (size >= 8 && perf_parse(aligned, size, SAMPLER_TYPE_EXEC, &record) > 0)
		use(&record);
	free(aligned);
	return 0;
}
