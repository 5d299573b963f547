// SPDX-License-Identifier: Apache-2.0
/* What a probe has told becomes values and a class, whatever the registers and the stack hold. */
#include "probes/probe_sample.h"

#include "sample/sample_regs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SP    UINT64_C(0x7f0000001f00) /* 256 bytes in front of a page's end */
#define BYTES 1024

static struct record alloc_of(uint64_t bytes, uint64_t interval)
{
	return (struct record){
		.kind = RECORD_SAMPLE,
		.time_ns = 1,
		.sample = {.kind = SAMPLE_OF_ALLOC,
			   .weight = 1,
			   .probe = {.amount = bytes, .interval = interval}},
	};
}

static void an_allocation_stands_for_all_that_its_sampling_left_out(void **state)
{
	static const struct {
		uint64_t bytes, interval;
		double objects;
	} cases[] = {
		{16, 524288, 32768.5},	       {1024, 524288, 512.5001},
		{524288, 524288, 1.5819767},   {1048576, 524288, 1.1565176},
		{4 << 20, 524288, 1.00033558}, {UINT64_C(1) << 34, 16384, 1},
		{64, 16384, 256.5003},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct record record = alloc_of(cases[i].bytes, cases[i].interval);
		const double bytes = cases[i].objects * (double)cases[i].bytes;
		uint64_t values[SAMPLE_MAX_VALUES];

		for (record.sample.weight = 1; record.sample.weight < 9;
		     record.sample.weight += 7) {
			const double weight = (double)record.sample.weight;

			assert_true(probe_sample_values(&record, values));
			assert_true(fabs((double)values[0] - bytes * weight) <=
				    1 + bytes * weight / 1e5);
			assert_true(fabs((double)values[1] - cases[i].objects * weight) <= 1);
		}
	}
}

/* 1.58 objects are 1 or 2; of many samples the mean is right, whatever their times. */
static void objects_are_right_in_the_mean(void **state)
{
	static const uint64_t steps[] = {1, 1000, 333333, 65536, 1000000007, 1ull << 32};
	struct record record = alloc_of(524288, 524288);
	uint64_t values[SAMPLE_MAX_VALUES];

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uint64_t sum = 0;

		record.time_ns = UINT64_C(123456789012345);
		for (int n = 0; n < 20000; n++) {
			assert_true(probe_sample_values(&record, values));
			sum += values[1];
			record.time_ns += steps[i];
		}
		assert_true(fabs((double)sum / 20000 - 1.5819767) < 0.01);
	}
}

/* Seen with a generator of JVMTI's kind: distances between samples are exponential. */
static void the_sum_is_what_was_allocated(void **state)
{
	static const uint64_t sizes[] = {64, 4096, 262144, 4 << 20};
	const double interval = 524288;
	double told[4] = {0}, told_objects[4] = {0};
	uint64_t allocated[4] = {0}, random = 88172645463325252u;
	double left = interval;

	for (unsigned n = 0; n < 2000000; n++) {
		const unsigned size = n % 100 < 90 ? n % 2 : n % 100 < 98 ? 2 : 3;
		struct record record = alloc_of(sizes[size], (uint64_t)interval);
		uint64_t values[SAMPLE_MAX_VALUES];

		allocated[size]++;
		left -= (double)sizes[size];
		if (left > 0)
			continue;
		record.time_ns = random;
		assert_true(probe_sample_values(&record, values));
		told[size] += (double)values[0];
		told_objects[size] += (double)values[1];
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		left = -log(((double)(random >> 11) + 1) / 9007199254740993.0) * interval;
	}
	for (unsigned i = 1; i < 4; i++) {
		const double truth = (double)allocated[i] * (double)sizes[i];

		assert_true(fabs(told[i] / truth - 1) < 0.03);
		assert_true(fabs(told_objects[i] / (double)allocated[i] - 1) < 0.03);
	}
}

static void what_no_jvm_tells_is_no_sample(void **state)
{
	static const struct {
		uint64_t bytes, interval;
	} cases[] = {{0, 524288},
		     {16, 0},
		     {UINT64_MAX, 524288},
		     {PROBE_SAMPLE_MAX_BYTES + 1, 524288},
		     {7, 524288},
		     {16, UINT64_MAX},
		     {16, PROBE_SAMPLE_MAX_INTERVAL + 1}};
	uint64_t values[SAMPLE_MAX_VALUES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct record record = alloc_of(cases[i].bytes, cases[i].interval);

		assert_false(probe_sample_values(&record, values));
	}
}

static void what_no_jvm_allocates_between_samples_is_no_sample(void **state)
{
	struct record record = alloc_of(1 << 20, 1 << 10);
	uint64_t values[SAMPLE_MAX_VALUES];

	record.sample.weight = PROBE_SAMPLE_MAX_BYTES >> 20;
	assert_true(probe_sample_values(&record, values));
	assert_int_equal(values[0], PROBE_SAMPLE_MAX_BYTES);
	record.sample.weight++;
	assert_false(probe_sample_values(&record, values));
}

/* Of a park shorter than the threshold one in threshold / length was told. */
static void a_park_stands_for_those_of_its_length(void **state)
{
	struct record record = {.kind = RECORD_SAMPLE,
				.time_ns = 1,
				.sample = {.kind = SAMPLE_OF_PARK, .weight = 1}};
	uint64_t values[SAMPLE_MAX_VALUES], us = 0, parks = 0;

	record.sample.probe = (struct sample_probe){.amount = 5000000, .interval = 65536};
	assert_true(probe_sample_values(&record, values));
	assert_int_equal(values[0], 5000);
	assert_int_equal(values[1], 1);
	record.sample.probe.amount = 20000;
	for (int i = 0; i < 20000; i++) {
		record.time_ns += 12345;
		assert_true(probe_sample_values(&record, values));
		us += values[0];
		parks += values[1];
	}
	assert_true(fabs((double)us / 20000 - 65.536) < 0.01);
	assert_true(fabs((double)parks / 20000 - 3.2768) < 0.02);
	record.sample.probe = (struct sample_probe){0};
	assert_true(probe_sample_values(&record, values));
	assert_int_equal(values[0], 0);
	assert_int_equal(values[1], 1);
}

static void an_exception_counts_for_its_gap(void **state)
{
	const struct record record = {.sample = {.kind = SAMPLE_OF_EXCEPTION, .weight = 7}};
	uint64_t values[SAMPLE_MAX_VALUES];

	assert_true(probe_sample_values(&record, values));
	assert_int_equal(values[0], 7);
	assert_ptr_equal(probe_sample_kind(&record.sample), &sample_kind_exceptions);
}

struct snapshot {
	uint64_t regs[SAMPLE_REGS_COUNT];
	uint8_t stack[BYTES];
	struct record record;
	struct table_cache *tables;
	struct symbolizer *symbolizer;
};

static void set_sp(uint64_t *regs, uint64_t sp)
{
	const uint64_t below = (UINT64_C(1) << SAMPLE_REG_SP) - 1;

	regs[__builtin_popcountll(SAMPLE_REGS_MASK & below)] = sp;
}

static void make(struct snapshot *snapshot)
{
	memset(snapshot, 0, sizeof(*snapshot));
	memset(snapshot->stack, 'x', BYTES);
	set_sp(snapshot->regs, SP);
	snapshot->record = alloc_of(16, 524288);
	snapshot->record.sample.regs = snapshot->regs;
	snapshot->record.sample.stack = snapshot->stack;
	snapshot->record.sample.stack_len = BYTES;
	assert_int_equal(table_cache_new(TABLE_CACHE_LEAST_BYTES, false, &snapshot->tables), 0);
	assert_int_equal(symbolizer_new(snapshot->tables, &snapshot->symbolizer), 0);
}

static void end(struct snapshot *snapshot)
{
	symbolizer_free(snapshot->symbolizer);
	table_cache_free(snapshot->tables);
}

static void check_class(struct snapshot *snapshot, uint64_t off, const char *expected)
{
	static const struct java_name_options names;
	struct frame frame;

	snapshot->record.sample.probe.text = SP + off;
	frame = probe_sample_class(snapshot->symbolizer, &names, &snapshot->record);
	assert_string_equal(frame.name, expected);
	assert_int_equal(frame.kind, FRAME_CLASS);
	assert_null(frame.module);
}

static void put(struct snapshot *snapshot, uint64_t off, const char *text)
{
	memcpy(snapshot->stack + off, text, strlen(text) + 1);
}

static void a_class_is_called_as_in_java(void **state)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{"[B", "byte[]"},
		{"[[J", "long[][]"},
		{"Ljava/lang/String;", "java.lang.String"},
		{"[Ljava/lang/Object;", "java.lang.Object[]"},
		{"Lcom/x/Foo$$Lambda/0x00007fa83c001428;", "com.x.Foo$$Lambda"},
		{"Lcom/x/\xc3\xa4;", "com.x.\xc3\xa4"},
		{"La\xed\xa0\xbd\xed\xb8\x80;", "a\xf0\x9f\x98\x80"}, /* a surrogate pair */
		{"La\x1b[31m;", "a?[31m"},
		{"La\xff\xfe;", "a??"},
		{"Lcom/x/VeryLong...", "Lcom.x.VeryLong..."},
		{"", "[unknown class]"},
	};
	struct snapshot snapshot;

	make(&snapshot);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(&snapshot, 64, cases[i].text);
		check_class(&snapshot, 64, cases[i].name);
	}
	end(&snapshot);
}

static void a_text_outside_of_the_snapshot_is_not_read(void **state)
{
	struct snapshot snapshot;

	make(&snapshot);
	check_class(&snapshot, 0, "[unknown class]");			/* no NUL in its room */
	check_class(&snapshot, BYTES, "[unknown class]");		/* behind */
	check_class(&snapshot, (uint64_t)-1, "[unknown class]");	/* below */
	check_class(&snapshot, UINT64_MAX - SP - 2, "[unknown class]"); /* at the end of memory */
	check_class(&snapshot, -SP, "[unknown class]");			/* NULL */
	check_class(&snapshot, BYTES - 1, "[unknown class]"); /* the NUL would be behind */
	put(&snapshot, BYTES - 3, "[B");
	check_class(&snapshot, BYTES - 3, "byte[]");
	snapshot.record.sample.stack = NULL;
	snapshot.record.sample.stack_len = 0;
	check_class(&snapshot, BYTES - 3, "[unknown class]");
	end(&snapshot);
}

/* The text of one page is read though the other one is unread; that in both is not. */
static void a_text_in_an_unread_page_is_not_read(void **state)
{
	struct snapshot snapshot;

	make(&snapshot);
	put(&snapshot, 16, "[I");
	put(&snapshot, 254, "[[S");
	put(&snapshot, 512, "[B");
	snapshot.record.sample.unread_pages = 2;
	check_class(&snapshot, 16, "int[]");
	check_class(&snapshot, 254, "[unknown class]");
	check_class(&snapshot, 512, "[unknown class]");
	snapshot.record.sample.unread_pages = 1;
	check_class(&snapshot, 16, "[unknown class]");
	check_class(&snapshot, 512, "byte[]");
	end(&snapshot);
}

static const char agent[] = "libfgagent.so", libjvm[] = "libjvm.so", app[] = "libapp.so";

static void the_way_to_the_agent_is_left_out(void **state)
{
	const struct frame stack[] = {
		{.name = "points_fire_alloc", .module = agent, .kind = FRAME_NATIVE},
		{.name = "on_alloc", .module = agent, .kind = FRAME_NATIVE_INLINED},
		{.name = "JvmtiExport::post", .module = libjvm, .kind = FRAME_JVM},
		{.name = "MemAllocator::allocate", .module = libjvm, .kind = FRAME_NATIVE_INLINED},
		{.name = "_new_array_Java", .kind = FRAME_STUB},
		{.name = "Foo.bar", .kind = FRAME_JIT},
		{.name = "JavaCalls::call", .module = libjvm, .kind = FRAME_JVM},
	};
	const struct frame by_jni[] = {stack[0],
				       stack[2],
				       {.name = "make", .module = app, .kind = FRAME_NATIVE},
				       stack[5]};

	assert_int_equal(probe_sample_own(stack, 7), 5);
	assert_int_equal(probe_sample_own(stack, 6), 5);
	assert_int_equal(probe_sample_own(by_jni, 4), 2);
	/* Nothing but the JVM: who has allocated is one of its threads. */
	assert_int_equal(probe_sample_own(stack, 4), 2);
	assert_int_equal(probe_sample_own(stack, 2), 2);
	assert_int_equal(probe_sample_own(stack + 5, 1), 0);
	assert_int_equal(probe_sample_own(stack, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_allocation_stands_for_all_that_its_sampling_left_out),
		cmocka_unit_test(objects_are_right_in_the_mean),
		cmocka_unit_test(the_sum_is_what_was_allocated),
		cmocka_unit_test(what_no_jvm_tells_is_no_sample),
		cmocka_unit_test(what_no_jvm_allocates_between_samples_is_no_sample),
		cmocka_unit_test(a_park_stands_for_those_of_its_length),
		cmocka_unit_test(an_exception_counts_for_its_gap),
		cmocka_unit_test(a_class_is_called_as_in_java),
		cmocka_unit_test(a_text_outside_of_the_snapshot_is_not_read),
		cmocka_unit_test(a_text_in_an_unread_page_is_not_read),
		cmocka_unit_test(the_way_to_the_agent_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
