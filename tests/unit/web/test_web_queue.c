// SPDX-License-Identifier: Apache-2.0
/* Whose request is next, and whose has no place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "web/web_queue.h"

static struct web_queue queue;
static struct web_queued all[2 * WEB_MAX_WAITING + 8];
static size_t n;

static int set_up(void **state)
{
	memset(&queue, 0, sizeof(queue));
	n = 0;
	return 0;
}

/* The request, and whichever had to go for it. */
static struct web_queued *add(uint64_t peer, struct web_queued **ret_gone)
{
	struct web_queued *const one = &all[n++], *gone;

	one->peer = peer;
	gone = web_queue_add(&queue, one);
	if (ret_gone)
		*ret_gone = gone;
	else
		assert_null(gone);
	return one;
}

static void the_oldest_is_next(void **state)
{
	struct web_queued *const first = add(1, NULL), *const second = add(2, NULL);

	assert_ptr_equal(web_queue_take(&queue), first);
	assert_ptr_equal(web_queue_take(&queue), second);
	assert_null(web_queue_take(&queue));
	assert_int_equal(queue.begun, 2);
	assert_int_equal(queue.waiting, 0);
}

static void one_peer_does_not_get_all_workers(void **state)
{
	struct web_queued *other;

	for (size_t i = 0; i < WEB_WORKERS; i++)
		add(1, NULL);
	for (size_t i = 0; i < WEB_MOST_OF_PEER; i++)
		assert_ptr_equal(web_queue_take(&queue), &all[i]);
	assert_null(web_queue_take(&queue));
	other = add(2, NULL);
	assert_ptr_equal(web_queue_take(&queue), other);
	web_queue_remove(&queue, &all[0]);
	assert_ptr_equal(web_queue_take(&queue), &all[WEB_MOST_OF_PEER]);
}

static void who_has_the_fewest_in_work_goes_before_who_came_earlier(void **state)
{
	struct web_queued *later;

	add(1, NULL);
	assert_ptr_equal(web_queue_take(&queue), &all[0]);
	add(1, NULL);
	later = add(2, NULL);
	assert_ptr_equal(web_queue_take(&queue), later);
}

static void who_asks_for_the_most_loses_a_place_to_others(void **state)
{
	struct web_queued *gone, *other;

	for (size_t i = 0; i < WEB_MAX_WAITING; i++)
		add(1, NULL);
	other = add(2, &gone);
	assert_ptr_equal(gone, &all[WEB_MAX_WAITING - 1]); /* the youngest of the first peer */
	assert_int_equal(queue.waiting, WEB_MAX_WAITING);
	add(1, &gone);
	assert_ptr_equal(gone, &all[n - 1]); /* that one itself */
	assert_ptr_equal(web_queue_take(&queue), &all[0]);
	assert_ptr_equal(web_queue_take(&queue), other);
}

static void requests_in_work_take_no_place_of_those_that_wait(void **state)
{
	struct web_queued *gone;

	add(1, NULL);
	assert_non_null(web_queue_take(&queue));
	for (size_t i = 0; i < WEB_MAX_WAITING; i++)
		add(1, NULL);
	add(2, &gone);
	assert_false(gone->is_begun);
	assert_ptr_equal(queue.first, &all[0]);
}

static void a_removed_request_leaves_the_others_in_order(void **state)
{
	add(1, NULL);
	add(2, NULL);
	add(3, NULL);
	web_queue_remove(&queue, &all[1]);
	web_queue_remove(&queue, &all[1]); /* is not there */
	assert_int_equal(queue.waiting, 2);
	assert_ptr_equal(web_queue_take(&queue), &all[0]);
	assert_ptr_equal(web_queue_take(&queue), &all[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_oldest_is_next, set_up),
		cmocka_unit_test_setup(one_peer_does_not_get_all_workers, set_up),
		cmocka_unit_test_setup(who_has_the_fewest_in_work_goes_before_who_came_earlier,
				       set_up),
		cmocka_unit_test_setup(who_asks_for_the_most_loses_a_place_to_others, set_up),
		cmocka_unit_test_setup(requests_in_work_take_no_place_of_those_that_wait, set_up),
		cmocka_unit_test_setup(a_removed_request_leaves_the_others_in_order, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
