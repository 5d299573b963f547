// SPDX-License-Identifier: Apache-2.0
/* What agents say, as it is in the jitdump: the model with one session, of a child of the test. */
#include "../process/targets_fixture.h"

#include "jitdump_reader.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const uint8_t code[64] = {0x55, 0x48, 0x89, 0xe5}; /* the child has it at the same place */
static struct jitdump_reader reader;

static struct process *connect_with_dump(void)
{
	assert_int_equal(jitdump_open(map_dir, JITDUMP_MAX_BYTES, &outputs.jitdump), 0);
	return connect_agent();
}

static void end_dump(void)
{
	jitdump_close(outputs.jitdump);
	outputs.jitdump = NULL;
	jitdump_reader_read(&reader, map_dir);
}

static void free_dump(void)
{
	free(reader.bytes);
	reader = (struct jitdump_reader){0};
}

static void say_stub(uint16_t flags, const void *addr, const char *name, uint64_t time_ns)
{
	const struct wire_stub stub = {.time_ns = time_ns,
				       .addr = (uintptr_t)addr,
				       .size = 16,
				       .name = wire_str_from(name)};

	wire_encode_stub(&buf, flags, &stub);
	say_records(&buf);
}

static void say_resync(uint16_t kind, uint64_t time_ns)
{
	wire_encode_resync(&buf, kind,
			   &(struct wire_resync){.time_ns = time_ns, .epoch = 1, .complete = 1});
	say_records(&buf);
}

static void methods_and_stubs_of_a_jvm_are_dumped_once(void **state)
{
	const uint64_t now = clock_now_ns();

	connect_with_dump();
	say_load((uintptr_t)code, 32, "run", now - 1000);
	say_load((uintptr_t)code, 32, "run", now - 10); /* a repeat */
	say_stub(0, code + 32, "vtable stub", now - 500);
	end_dump();
	check_load(&reader, 0, child, now - 1000, "Lcom/acme/Main;::run", code, code, 32);
	check_load(&reader, 1, child, now - 500, "vtable stub", code + 32, code + 32, 16);
	assert_int_equal(reader.n_records, 3);
	free_dump();
}

static void times_are_the_hosts(void **state)
{
	const uint64_t now = clock_now_ns();

	connect_with_dump()->clock_offset_ns = 5000;
	say_load((uintptr_t)code, 32, "run", now);
	end_dump();
	check_load(&reader, 0, child, now - 5000, "Lcom/acme/Main;::run", code, code, 32);
	free_dump();
}

static void code_from_before_the_collector_is_there_since_the_resync_began(void **state)
{
	const uint64_t now = clock_now_ns();

	connect_with_dump();
	say_resync(WIRE_RESYNC_BEGIN, now - 9000);
	say_stub(WIRE_FLAG_RESYNC, code, "vtable stub", now - 1000);
	say_load((uintptr_t)code + 32, 16, "run", now - 900); /* live: it was born then */
	say_resync(WIRE_RESYNC_END, now - 800);
	end_dump();
	check_load(&reader, 0, child, now - 9000, "vtable stub", code, code, 16);
	check_load(&reader, 1, child, now - 900, "Lcom/acme/Main;::run", code + 32, code + 32, 16);
	free_dump();
}

static void tick_reads_outgrown_mappings_and_flushes(void **state)
{
	const uint64_t now = clock_now_ns();
	struct process *process;
	uint64_t due;

	process = connect_with_dump();
	tick(now);
	say_load((uintptr_t)code, 32, "run", now);
	due = jitdump_due_ns(outputs.jitdump);
	assert_true(due > 0);
	assert_true(jitdump_target_due_ns(&process->output->jitdump) > 0);
	assert_true(map_outputs_due_ns(&outputs) <=
		    jitdump_target_due_ns(&process->output->jitdump));
	tick(due - 1); /* the map appears, the mappings are read */
	assert_int_equal(jitdump_target_due_ns(&process->output->jitdump), 0);
	assert_int_equal(map_outputs_due_ns(&outputs), due);
	tick(due);
	assert_int_equal(jitdump_due_ns(outputs.jitdump), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TARGETS_TEST(methods_and_stubs_of_a_jvm_are_dumped_once),
		TARGETS_TEST(times_are_the_hosts),
		TARGETS_TEST(code_from_before_the_collector_is_there_since_the_resync_began),
		TARGETS_TEST(tick_reads_outgrown_mappings_and_flushes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
