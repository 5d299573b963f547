// SPDX-License-Identifier: Apache-2.0
/*
 * The decoders of perf's ring records, each read with snapshots of the stack and without, and of
 * the BPF program's records. The kernel is trusted, its version is not.
 */
#include "fuzzer.h"

#include "sample/bpf_parse.h"
#include "sample/perf_parse.h"
#include "sample/sample_regs.h"
#include "sample/sampler.h"

#include <stdlib.h>
#include <string.h>

static volatile uint64_t sink;

static void use_chain(const struct sample_chain *chain)
{
	for (uint32_t i = 0; i < chain->len; i++) {
		sink += chain->addrs[i];
		if (chain->addrs[i] >= (uint64_t)PERF_CONTEXT_MAX)
			abort(); /* a mark is no address */
	}
}

static void use_sample(const struct sample *sample)
{
	use_chain(&sample->kernel);
	use_chain(&sample->user);
	for (uint32_t i = 0; sample->regs && i < SAMPLE_REGS_COUNT; i++)
		sink += sample->regs[i];
	for (uint32_t i = 0; i < sample->stack_len; i++)
		sink += sample->stack[i];
	if (sample->stack_len > 0 && !sample->regs)
		abort(); /* a stack whose pointer is not known */
}

static void use_bpf(const struct sample *sample)
{
	for (uint32_t i = 0; i < sample->kernel.len; i++)
		sink += sample->kernel.addrs[i];
	for (uint32_t i = 0; i < sample->user.len; i++)
		sink += sample->user.addrs[i];
	for (uint32_t i = 0; i < sample->stack_len; i++)
		sink += sample->stack[i];
	if (sample->stack_len > 0 && !sample->regs)
		abort(); /* a stack whose pointer is not known */
}

static void use(const struct record *record)
{
	if (record->kind == RECORD_SAMPLE)
		use_sample(&record->sample);
	if (record->kind == RECORD_MMAP)
		sink += strlen(record->mmap.path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *aligned = malloc(size ? size : 1);
	struct record record;

	if (!aligned)
		return 0;
	memcpy(aligned, data, size);
	if (size >= 8 && perf_parse(aligned, size, PARSED_TYPE, &record) > 0)
		use(&record);
	if (size >= 8 && perf_parse(aligned, size, PARSED_TYPE_STACK, &record) > 0)
		use(&record);
	if (size >= 8 && perf_parse(aligned, size, PARSED_TYPE_EXEC, &record) > 0)
		use(&record);
	if (bpf_parse(aligned, size, &record) == 0)
		use_bpf(&record.sample);
	free(aligned);
	return 0;
}
