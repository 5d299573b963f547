// SPDX-License-Identifier: Apache-2.0
/* Which connection goes when there are too many, or when its time is over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "web/http_places.h"

static struct http_places places;

static int set_up(void **state)
{
	(void)state;
	memset(&places, 0, sizeof(places));
	return 0;
}

/* Connections of a peer; each is a nanosecond younger than the one before. */
static void add(size_t count, uint64_t peer, int first_fd)
{
	for (size_t i = 0; i < count; i++)
		assert_non_null(
			http_places_add(&places, first_fd + (int)i, peer, (uint64_t)first_fd + i));
}

static void check_surplus(enum http_place_state place_state, int fd)
{
	const struct http_place *place = http_places_surplus(&places, place_state);

	assert_int_equal(place ? place->fd : -1, fd);
}

static void nobody_goes_while_there_is_room(void **state)
{
	(void)state;
	add(HTTP_MAX_WAITING, 1, 100);
	check_surplus(HTTP_PLACE_WAITING, -1);
}

static void the_oldest_of_one_peer_goes(void **state)
{
	(void)state;
	add(HTTP_MAX_WAITING + 1, 1, 100);
	check_surplus(HTTP_PLACE_WAITING, 100);
}

static void the_greediest_peer_pays_though_another_is_older(void **state)
{
	(void)state;
	add(2, 1, 100);
	add(HTTP_MAX_WAITING - 2, 2, 200);
	add(1, 3, 900);
	check_surplus(HTTP_PLACE_WAITING, 200);
}

static void the_newest_never_goes(void **state)
{
	(void)state;
	for (size_t i = 0; i <= HTTP_MAX_WAITING; i++)
		add(1, i, 100 + (int)i);
	check_surplus(HTTP_PLACE_WAITING, 100);
}

static void answers_take_no_place_of_those_that_wait(void **state)
{
	(void)state;
	add(HTTP_MAX_ANSWERED, 1, 100);
	for (size_t i = 0; i < HTTP_MAX_ANSWERED; i++)
		http_place_set(&places.places[i], HTTP_PLACE_ANSWERED, 1000 - i);
	add(HTTP_MAX_WAITING, 1, 300);
	check_surplus(HTTP_PLACE_WAITING, -1);
	check_surplus(HTTP_PLACE_ANSWERED, -1);
	http_place_set(&places.places[HTTP_MAX_ANSWERED], HTTP_PLACE_ANSWERED, 2000);
	check_surplus(HTTP_PLACE_WAITING, -1);
	check_surplus(HTTP_PLACE_ANSWERED, 100 + HTTP_MAX_ANSWERED - 1);
}

static void an_ending_connection_has_a_place_and_is_not_ended_twice(void **state)
{
	(void)state;
	add(HTTP_MAX_WAITING + 1, 1, 100);
	http_place_set(http_places_surplus(&places, HTTP_PLACE_WAITING), HTTP_PLACE_ENDING, 0);
	check_surplus(HTTP_PLACE_WAITING, -1);
	assert_int_equal(places.places[0].fd, 100);
	assert_int_equal(places.places[0].state, HTTP_PLACE_ENDING);
	add(1, 1, 600);
	check_surplus(HTTP_PLACE_WAITING, 101);
	http_place_remove(&places.places[0]);
	add(1, 1, 700);
	assert_int_equal(places.places[0].fd, 700);
}

static void a_place_past_all_is_none(void **state)
{
	(void)state;
	add(HTTP_MAX_CONNECTIONS, 1, 100);
	assert_null(http_places_add(&places, 1, 1, 1));
}

static void each_state_has_its_time(void **state)
{
	const uint64_t began = 1000;
	struct http_place *place = http_places_add(&places, 7, 1, began);

	(void)state;
	assert_null(http_places_expired(&places, began + HTTP_MAX_HEAD_NS - 1));
	assert_ptr_equal(http_places_expired(&places, began + HTTP_MAX_HEAD_NS), place);
	http_place_set(place, HTTP_PLACE_ANSWERED, began + 500);
	assert_null(http_places_expired(&places, began + 500 + HTTP_MAX_ANSWER_NS - 1));
	assert_ptr_equal(http_places_expired(&places, began + 500 + HTTP_MAX_ANSWER_NS), place);
	http_place_set(place, HTTP_PLACE_ENDING, 0);
	assert_null(http_places_expired(&places, UINT64_MAX));
}

static uint64_t peer_of(const char *text)
{
	struct sockaddr_storage addr = {0};
	struct sockaddr_in *four = (struct sockaddr_in *)&addr;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&addr;

	addr.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
	assert_int_equal(inet_pton(addr.ss_family, text,
				   addr.ss_family == AF_INET6 ? (void *)&six->sin6_addr
							      : (void *)&four->sin_addr),
			 1);
	return http_peer_of((const struct sockaddr *)&addr);
}

static void addresses_that_one_client_can_have_are_one_peer(void **state)
{
	(void)state;
	assert_true(peer_of("127.0.0.1") == peer_of("127.9.8.7"));
	assert_true(peer_of("10.0.0.1") != peer_of("10.0.0.2"));
	assert_true(peer_of("126.0.0.1") != peer_of("127.0.0.1"));
	assert_true(peer_of("2001:db8::1") == peer_of("2001:db8::ffff:1"));
	assert_true(peer_of("2001:db8::1") != peer_of("2001:db8:0:1::1"));
}

/* An answer of so many bytes, which began so long after the start. */
static struct http_place *add_answer(int fd, uint64_t peer, uint64_t bytes, uint64_t since_ns)
{
	struct http_place *const place = http_places_add(&places, fd, peer, 0);

	http_place_set(place, HTTP_PLACE_ANSWERED, since_ns);
	place->bytes = bytes;
	return place;
}

static void long_answers_have_more_time(void **state)
{
	const uint64_t second = UINT64_C(1000000000);

	add_answer(7, 1, 20 * HTTP_LEAST_RATE, 0);
	assert_null(http_places_expired(&places, HTTP_MAX_ANSWER_NS + 20 * second - 1));
	assert_int_equal(http_places_expired(&places, HTTP_MAX_ANSWER_NS + 20 * second)->fd, 7);
}

static void answers_that_are_made_have_no_time_and_lose_no_place(void **state)
{
	for (int i = 0; i < HTTP_MAX_WORKING; i++)
		http_place_set(http_places_add(&places, i, 1, 0), HTTP_PLACE_WORKING, 0);
	assert_null(http_places_expired(&places, UINT64_MAX / 2));
	add(HTTP_MAX_WAITING, 2, 100);
	check_surplus(HTTP_PLACE_WAITING, -1);
	check_surplus(HTTP_PLACE_ANSWERED, -1);
}

static void the_longest_answer_of_whoever_has_the_most_makes_room(void **state)
{
	const uint64_t now = HTTP_MAX_ANSWER_NS + 100;

	add_answer(1, 1, 900, 0);
	add_answer(2, 2, 500, 0);
	add_answer(3, 2, 600, 0);
	add_answer(4, 2, 700, 200); /* has not lasted long enough */
	add_answer(5, 3, 0, 0);	    /* short */
	assert_int_equal(http_places_heaviest(&places, now)->fd, 3);
	assert_null(http_places_heaviest(&places, HTTP_MAX_ANSWER_NS - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nobody_goes_while_there_is_room, set_up),
		cmocka_unit_test_setup(the_oldest_of_one_peer_goes, set_up),
		cmocka_unit_test_setup(the_greediest_peer_pays_though_another_is_older, set_up),
		cmocka_unit_test_setup(the_newest_never_goes, set_up),
		cmocka_unit_test_setup(answers_take_no_place_of_those_that_wait, set_up),
		cmocka_unit_test_setup(an_ending_connection_has_a_place_and_is_not_ended_twice,
				       set_up),
		cmocka_unit_test_setup(a_place_past_all_is_none, set_up),
		cmocka_unit_test_setup(each_state_has_its_time, set_up),
		cmocka_unit_test(addresses_that_one_client_can_have_are_one_peer),
		cmocka_unit_test_setup(long_answers_have_more_time, set_up),
		cmocka_unit_test_setup(answers_that_are_made_have_no_time_and_lose_no_place,
				       set_up),
		cmocka_unit_test_setup(the_longest_answer_of_whoever_has_the_most_makes_room,
				       set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
