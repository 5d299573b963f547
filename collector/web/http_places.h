// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   connections, their peers and ages -> the connection that has to go
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  none
 * source:  unix(7): SO_PEERCRED
 *
 * A connection has two states, and each state has its own number of places: the connection waits
 * for the head of its request, or its request is being answered. One connection past the places of
 * a state makes another one go: the oldest one of the peer that has the most in that state.
 * Connections whose answer is being made (web_queue.h) have places of their own, which no other
 * connection takes, and no time.
 *
 * So clients that hold connections, however many, keep nobody out: not even clients from the same
 * address, such as a probe over loopback. A client that sends its request at once needs its place
 * for less time than it takes to open HTTP_MAX_WAITING further connections. Clients that do not
 * read their answers take no place of those that have not asked yet, and the reverse.
 */
#ifndef FG_WEB_HTTP_PLACES_H
#define FG_WEB_HTTP_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define HTTP_MAX_WAITING  128
#define HTTP_MAX_ANSWERED 64
/* Connections that are answered or were told to end have a place until they have ended. */
#define HTTP_MAX_ENDING 32
/* As many as web_queue.h has, and some that are about to be answered. */
#define HTTP_MAX_WORKING 64
#define HTTP_MAX_CONNECTIONS                                                                       \
	(HTTP_MAX_WAITING + HTTP_MAX_ANSWERED + HTTP_MAX_ENDING + HTTP_MAX_WORKING)
/* A head that is not whole after this time is not waited for any longer, however it comes in. */
#define HTTP_MAX_HEAD_NS UINT64_C(3000000000)
/*
 * An answer that is not taken after this time, or a longer one for its bytes, is not sent further.
 */
#define HTTP_MAX_ANSWER_NS UINT64_C(10000000000)
#define HTTP_LEAST_RATE	   65536 /* bytes a second at which long answers have to be taken */

enum http_place_state {
	HTTP_PLACE_FREE, /* a zero-filled struct http_places is valid */
	HTTP_PLACE_WAITING,
	HTTP_PLACE_ANSWERED,
	HTTP_PLACE_WORKING, /* the answer is being made */
	HTTP_PLACE_ENDING,
};

struct http_place {
	enum http_place_state state;
	int fd;
	uint64_t peer;
	uint64_t since_ns; /* when the state began */
	uint64_t bytes;	   /* of a long answer; 0: it is short */
};

struct http_places {
	struct http_place places[HTTP_MAX_CONNECTIONS];
};

/*
 * The peer at an address. All of loopback is one peer, and so is a /64 of IPv6, because one client
 * has all of these addresses.
 */
uint64_t http_peer_of(const struct sockaddr *addr);
/* The peer of a connection over a Unix socket: a user. */
uint64_t http_peer_of_unix(int fd);

/* A place that waits, or NULL if all HTTP_MAX_CONNECTIONS are taken. Good until it is removed. */
struct http_place *http_places_add(struct http_places *places, int fd, uint64_t peer,
				   uint64_t now_ns);
void http_place_set(struct http_place *place, enum http_place_state state, uint64_t now_ns);
void http_place_remove(struct http_place *place);

/* The place that has to go because that state has more than its number; NULL: none has to. */
struct http_place *http_places_surplus(struct http_places *places, enum http_place_state state);
/*
 * The place of the longest answer of the peer whose answers have the most bytes, of those that have
 * taken HTTP_MAX_ANSWER_NS already; NULL: there is none.
 */
struct http_place *http_places_heaviest(struct http_places *places, uint64_t now_ns);
/* A place whose time is over; NULL: there is none. */
struct http_place *http_places_expired(struct http_places *places, uint64_t now_ns);

#endif
