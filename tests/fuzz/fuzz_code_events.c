// SPDX-License-Identifier: Apache-2.0
/*
 * Messages of an agent into the code map of a process, and the process forgotten bit by bit.
 * Whatever the messages say, what is accounted is at least nine tenths of what malloc has given:
 * where malloc counts, which a sanitizer's does not.
 *
 * The input is a count of repetitions and a message. Repeated, a message of some bytes becomes a
 * flood: the addresses of its code move on each time. The highest bits of the count say whether the
 * same is told of what was read beside the agent, before or after the agent tells it.
 */
#include "fuzzer.h"

#include "process/code_events.h"
#include "process/process_bytes.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define NOW	UINT64_C(1000000000000)
#define TRIFLE	(128u << 10) /* what is given beside, and not for the process */
#define REPEATS 64u

enum { READ_BEFORE = 64, READ_AFTER = 128 };

static size_t given(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static struct process *make_process(void)
{
	struct process *process;

	if (process_new_replayed(1, 1, &process) < 0 || process_add_jvm(process) < 0)
		abort();
	process_open_session(process, 1, NOW);
	process->jvm->has_hello = true;
	return process;
}

static void apply(struct process *process, const struct wire_message *message, bool is_read)
{
	struct wire_reader reader;
	struct wire_record record;

	wire_reader_init(&reader, message);
	while (wire_reader_next(&reader, &record) > 0) {
		if (is_read)
			(void)code_events_apply_beside(process, &record, NOW);
		else
			code_events_apply(process, &record, NOW);
	}
}

/* Where METHOD_LOAD and STUB have the address of the code. */
static void move_code(uint8_t *records, size_t len)
{
	const struct wire_message message = {.records = records, .records_len = len};
	struct wire_reader reader;
	struct wire_record record;

	wire_reader_init(&reader, &message);
	while (wire_reader_next(&reader, &record) > 0) {
		uint8_t *const payload = records + (record.payload - records);
		uint64_t addr;

		if (record.len < 16 ||
		    (record.kind != WIRE_METHOD_LOAD && record.kind != WIRE_STUB))
			continue;
		memcpy(&addr, payload + 8, sizeof(addr));
		addr += 1u << 16;
		memcpy(payload + 8, &addr, sizeof(addr));
	}
}

static void check(const struct process *process, size_t before)
{
	const size_t now = given();

	if (now > before && process_bytes(process) + TRIFLE < (now - before) / 10 * 9)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const unsigned repeats = size > 0 ? data[0] % REPEATS + 1 : 0;
	struct graveyard graveyard = {0};
	struct wire_message message;
	struct process *process;
	uint8_t *copy;
	size_t before;

	if (size < 1 || wire_decode_message(data + 1, size - 1, &message) < 0)
		return 0;
	copy = malloc(message.records_len + 1);
	if (!copy)
		return 0;
	memcpy(copy, message.records, message.records_len);
	message.records = copy;
	before = given();
	process = make_process();
	for (unsigned i = 0; i < repeats; i++) {
		if (data[0] & READ_BEFORE)
			apply(process, &message, true);
		apply(process, &message, false);
		if (data[0] & READ_AFTER)
			apply(process, &message, true);
		move_code(copy, message.records_len);
	}
	check(process, before);
	code_map_expire(process->code, CODE_TIME_FOREVER, 0);
	check(process, before);
	process->charged_bytes = process_bytes(process);
	graveyard_take(&graveyard, process);
	while (graveyard.first)
		graveyard_step(&graveyard, 1);
	if (graveyard.bytes != 0)
		abort();
	free(copy);
	return 0;
}
