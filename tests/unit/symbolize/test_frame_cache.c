// SPDX-License-Identifier: Apache-2.0
/* Frames that have been named before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbolize/frame_cache.h"

static const struct frame_key key = {.owner = 1, .parts = {2, 3, 4, 5}, .line = 6, .style = 7};

static void a_frame_is_found_by_its_whole_key(void **state)
{
	const struct frame frame = {.name = "a", .line = 9};
	struct frame_cache cache = {0};
	struct frame_key other = key;

	assert_null(frame_cache_find(&cache, &key));
	frame_cache_put(&cache, &key, &frame);
	assert_string_equal(frame_cache_find(&cache, &key)->name, "a");
	assert_int_equal(frame_cache_find(&cache, &key)->line, 9);
	other.owner++;
	assert_null(frame_cache_find(&cache, &other));
	for (int i = 0; i < 4; i++) {
		other = key;
		other.parts[i]++;
		assert_null(frame_cache_find(&cache, &other));
	}
	other = key;
	other.line++;
	assert_null(frame_cache_find(&cache, &other));
	other = key;
	other.style++;
	assert_null(frame_cache_find(&cache, &other));
	frame_cache_clear(&cache);
	assert_null(frame_cache_find(&cache, &key));
	frame_cache_fini(&cache);
}

static void what_has_no_owner_or_no_name_is_not_kept(void **state)
{
	const struct frame frame = {.name = "a"}, nameless = {0};
	struct frame_cache cache = {0};
	struct frame_key ownerless = key;

	ownerless.owner = 0;
	frame_cache_put(&cache, &ownerless, &frame);
	assert_null(frame_cache_find(&cache, &ownerless));
	frame_cache_put(&cache, &key, &nameless);
	assert_null(frame_cache_find(&cache, &key));
	frame_cache_put(&cache, &key, &frame);
	assert_null(frame_cache_find(&cache, &(struct frame_key){0}));
	frame_cache_fini(&cache);
}

static void keys_that_share_a_place_are_not_mistaken_for_each_other(void **state)
{
	const uint32_t n = 4u << FRAME_CACHE_BITS;
	struct frame_cache cache = {0};
	struct frame_key each = key;
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++) {
		each.parts[0] = i;
		frame_cache_put(&cache, &each, &(struct frame){.name = "a", .line = i});
		assert_int_equal(frame_cache_find(&cache, &each)->line, i);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct frame *frame;

		each.parts[0] = i;
		frame = frame_cache_find(&cache, &each);
		found += frame != NULL;
		if (frame)
			assert_int_equal(frame->line, i);
	}
	assert_true(found > n / 8 && found <= n / 4);
	frame_cache_fini(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_found_by_its_whole_key),
		cmocka_unit_test(what_has_no_owner_or_no_name_is_not_kept),
		cmocka_unit_test(keys_that_share_a_place_are_not_mistaken_for_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
