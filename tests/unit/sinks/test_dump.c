// SPDX-License-Identifier: Apache-2.0
/* A line for each thing that goes from stage to stage. */
#include "sinks/dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sinks/named_sample.h"

static char *text;
static size_t len;
static struct dump dump;

static int set_up(void **state)
{
	dump = (struct dump){.stream = open_memstream(&text, &len)};
	return dump.stream ? 0 : -1;
}

static int tear_down(void **state)
{
	fclose(dump.stream);
	free(text);
	return 0;
}

static const struct record mapping = {
	.kind = RECORD_MMAP,
	.time_ns = 12000000345,
	.pid = 7,
	.tid = 8,
	.cpu = 1,
	.mmap = {.addr = 0x1000, .len = 4096, .path = "/a\x1b[31m\nb"},
};

static void nothing_is_dumped_unless_it_is_asked_for(void **state)
{
	dump_record(NULL, &mapping);
	dump_record(&dump, &mapping);
	dump.kinds = DUMP_EVENTS | DUMP_STACKS | DUMP_FRAMES;
	dump_record(&dump, &mapping);
	assert_int_equal(len, 0);
}

static void a_record_is_a_line_that_harms_no_terminal(void **state)
{
	dump.kinds = DUMP_RECORDS;
	dump_record(&dump, &mapping);
	assert_string_equal(text, "record 12.000000345 7/8 cpu 1 mmap 0x1000 +4096 /a?[31m?b\n");
}

static void a_sample_tells_what_it_carries(void **state)
{
	const struct record record = {
		.kind = RECORD_SAMPLE,
		.pid = 7,
		.tid = 8,
		.sample = {.kind = SAMPLE_OF_WALL, .weight = 2, .period = 3, .stack_len = 16},
	};

	dump.kinds = DUMP_RECORDS;
	dump_record(&dump, &record);
	assert_string_equal(text, "record 0.000000000 7/8 cpu 0 sample wall weight 2 period 3 "
				  "kernel 0 user 0 snapshot 16\n");
}

static void an_event_tells_what_an_agent_has_sent(void **state)
{
	const struct intake_session session = {.pid = 7};
	struct intake_event event = {.kind = INTAKE_OPENED, .session = &session};
	uint8_t bytes[256];
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};
	const struct wire_stub stub = {
		.addr = 0x2000, .size = 64, .name = wire_str_from("vtable stub")};
	struct wire_reader reader = {.data = bytes};

	dump.kinds = DUMP_EVENTS;
	dump_event(&dump, &event);
	assert_non_null(strstr(text, " 7 opened\n"));
	assert_true(wire_encode_stub(&buf, WIRE_FLAG_RESYNC, &stub));
	reader.len = buf.len;
	event.kind = INTAKE_RECORD;
	assert_int_equal(wire_reader_next(&reader, &event.record), 1);
	dump_event(&dump, &event);
	assert_non_null(strstr(text, " 7 stub again 0x2000 +64 vtable stub\n"));
	event.record.kind = 999;
	dump_event(&dump, &event);
	assert_non_null(strstr(text, " 7 kind 999, "));
}

static void a_named_sample_is_its_addresses_and_its_names(void **state)
{
	static struct stack stack = {
		.entries = {{.addr = 0xf000, .is_kernel = true},
			    {.addr = 0x3000, .method = 0x4000}},
		.depth = 2,
		.end = STACK_NO_RULE,
		.end_addr = 0x5000,
	};
	const struct symbolizer_verdict verdict = {0};
	const struct frame frames[] = {
		{.name = "a/B.c", .kind = FRAME_JIT},
		{.name = "main", .kind = FRAME_NATIVE},
		{.name = "shop", .kind = FRAME_LABEL},
	};
	struct named_sample sample = {
		.kind = &sample_kind_cpu,
		.values = {1},
		.pid = 7,
		.tid = 8,
		.stack = &stack,
		.verdict = &verdict,
		.frames = frames,
		.n_frames = 3,
	};

	dump.kinds = DUMP_STACKS | DUMP_FRAMES;
	dump_sample(&dump, &sample);
	assert_string_equal(text, "stack  0.000000000 7/8 2 frames, no rule at 0x5000: 0xf000k "
				  "0x3000(0x4000@0x0)\n"
				  "frames 0.000000000 7/8 cpu not-rooted 1 shop;main;a/B.c_[j]\n");
	sample.n_frames = 0; /* a probe has told what cannot be true */
	dump_sample(&dump, &sample);
	assert_string_equal(strchr(strchr(text, '\n') + 1, '\n'), "\n");
}

static void a_stack_of_any_depth_is_one_line(void **state)
{
	static struct frame frames[STACK_MAX];
	static char name[1024];
	static const struct stack stack;
	const struct symbolizer_verdict verdict = {.is_rooted = true};
	const struct named_sample sample = {.kind = &sample_kind_cpu,
					    .stack = &stack,
					    .verdict = &verdict,
					    .frames = frames,
					    .n_frames = STACK_MAX};

	memset(name, 'x', sizeof(name) - 1);
	for (size_t i = 0; i < STACK_MAX; i++)
		frames[i] = (struct frame){.name = name};
	dump.kinds = DUMP_FRAMES;
	dump_sample(&dump, &sample);
	assert_ptr_equal(strchr(text, '\n'), text + len - 1);
	assert_in_range(len, 100000, 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define DUMP(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		DUMP(nothing_is_dumped_unless_it_is_asked_for),
		DUMP(a_record_is_a_line_that_harms_no_terminal),
		DUMP(a_sample_tells_what_it_carries),
		DUMP(an_event_tells_what_an_agent_has_sent),
		DUMP(a_named_sample_is_its_addresses_and_its_names),
		DUMP(a_stack_of_any_depth_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
