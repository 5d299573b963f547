// SPDX-License-Identifier: Apache-2.0
/*
 * What a capture says of its memory is at least nine tenths of what malloc has given for the
 * capture, and past its limit samples are left out.
 */
#include "capture/capture_self.h"

#include "capture/capture.h"
#include "common/charged.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MIB (1u << 20)

static struct table_cache *tables;
static struct unwinder *unwinder;
static struct symbolizer *symbolizer;
static struct capture *capture;
static struct sample_watch *watch;

static int set_up(void **state)
{
	struct capture_stages stages;

	(void)state;
	assert_int_equal(table_cache_new(MIB, false, &tables), 0);
	assert_int_equal(unwinder_new(tables, &unwinder), 0);
	assert_int_equal(symbolizer_new(tables, &symbolizer), 0);
	stages = (struct capture_stages){
		.tables = tables, .unwinder = unwinder, .symbolizer = symbolizer};
	charged_begin();
	assert_int_equal(capture_new(&stages, fopen("/dev/null", "we"), &capture), 0);
	watch = capture_watch(capture);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	watch->ops->free(watch);
	symbolizer_free(symbolizer);
	unwinder_free(unwinder);
	table_cache_free(tables);
	return 0;
}

static void take(unsigned n)
{
	struct record record = {.kind = RECORD_SAMPLE, .pid = 1, .tid = 1};

	for (unsigned i = 0; i < n; i++) {
		record.time_ns = i + 1;
		watch->ops->begin(watch, SAMPLE_TAKE, NULL, &record);
		watch->ops->end(watch, true, NULL);
	}
}

static uint64_t heap_of_it(void)
{
	return watch->ops->bytes(watch) - capture->writer.compressor.z.total_out;
}

static void a_capture_is_accounted(void **state)
{
	(void)state;
	take(200000);
	print_message("%zu KiB given, %zu KiB accounted\n", charged_given() >> 10,
		      (size_t)heap_of_it() >> 10);
	assert_int_equal(capture->n_samples, 200000);
	if (!charged_can_count())
		return;
	assert_true(charged_given() > 4 * MIB);
	assert_true(heap_of_it() >= charged_given() / 10 * 9);
	assert_true(heap_of_it() <= charged_given() / 10 * 11);
}

static void a_capture_keeps_its_limit(void **state)
{
	const uint64_t limit = watch->ops->bytes(watch) + MIB;

	(void)state;
	watch->ops->set_max_bytes(watch, limit);
	take(200000);
	assert_true(capture->writer.is_full);
	assert_in_range(capture->n_samples, 1000, 100000);
	assert_true(watch->ops->bytes(watch) < limit + MIB);
}

#define CAPTURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CAPTURE_TEST(a_capture_is_accounted),
		CAPTURE_TEST(a_capture_keeps_its_limit),
	};

	return cmocka_run_group_tests_name("capture_bytes", tests, NULL, NULL);
}
