// SPDX-License-Identifier: Apache-2.0
/* The test's process as a JVM, see own_jvm.h. */
#include "own_jvm.h"

#include "base/process_stat.h"
#include "process/code_events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

struct process *own_process_new(void)
{
	struct process *process;
	uint64_t ticks;

	assert_int_equal(process_stat_start_ticks(getpid(), &ticks), 0);
	assert_int_equal(process_new(getpid(), ticks, PROCESS_READ_ALL, &process), 0);
	return process;
}

struct process *own_jvm_new(void)
{
	struct process *process = own_process_new();

	assert_int_equal(process_add_jvm(process), 0);
	return process;
}

struct process *own_jvm_in(struct targets *targets)
{
	struct process *process = targets_find_or_read(targets, getpid());

	assert_non_null(process);
	assert_int_equal(process_add_jvm(process), 0);
	return process;
}

void own_jvm_hear(struct process *process, struct wire_buf *buf, uint64_t now_ns)
{
	const struct wire_message message = {.records = buf->data, .records_len = buf->len};
	struct wire_record record;
	struct wire_reader reader;

	assert_false(buf->overflow);
	wire_reader_init(&reader, &message);
	while (wire_reader_next(&reader, &record) > 0)
		code_events_apply(process, &record, now_ns);
	buf->len = 0;
}

void own_jvm_hear_hello(struct process *process, uint64_t now_ns)
{
	uint8_t bytes[256];
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};

	wire_encode_hello(&buf, &(struct wire_hello){.pid = 1}, NULL, NULL);
	own_jvm_hear(process, &buf, now_ns);
}
