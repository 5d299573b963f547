// SPDX-License-Identifier: Apache-2.0
/*
 * Connections of the HTTP server, see http_places.h. All searches go through all places: these are
 * some hundred, and a search through them takes less time than accepting the connection took.
 */
#include "web/http_places.h"

#include <netinet/in.h>
#include <string.h>

#define NS_PER_SEC UINT64_C(1000000000)
#define UNIX_PEERS (UINT64_C(1) << 63) /* addresses of IPv6 with that bit are of no host */

uint64_t http_peer_of(const struct sockaddr *addr)
{
	uint64_t network = 0;
	uint32_t four;

	if (addr->sa_family == AF_INET6) {
		memcpy(&network, &((const struct sockaddr_in6 *)addr)->sin6_addr, sizeof(network));
		return network;
	}
	four = ntohl(((const struct sockaddr_in *)addr)->sin_addr.s_addr);
	return four >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET ? INADDR_LOOPBACK : four;
}

struct http_place *http_places_add(struct http_places *places, int fd, uint64_t peer,
				   uint64_t now_ns)
{
	for (size_t i = 0; i < HTTP_MAX_CONNECTIONS; i++) {
		struct http_place *place = &places->places[i];

		if (place->state != HTTP_PLACE_FREE)
			continue;
		*place = (struct http_place){HTTP_PLACE_WAITING, fd, peer, now_ns, 0};
		return place;
	}
	return NULL;
}

void http_place_set(struct http_place *place, enum http_place_state state, uint64_t now_ns)
{
	place->state = state;
	place->since_ns = now_ns;
	place->bytes = 0;
}

void http_place_remove(struct http_place *place)
{
	*place = (struct http_place){0};
}

uint64_t http_peer_of_unix(int fd)
{
	struct ucred cred = {.uid = (uid_t)-1};
	socklen_t len = sizeof(cred);

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len);
	return UNIX_PEERS | cred.uid;
}

/* How many places of that state the peer has. Peer NULL: all peers. */
static size_t count(const struct http_places *places, enum http_place_state state,
		    const uint64_t *peer)
{
	size_t found = 0;

	for (size_t i = 0; i < HTTP_MAX_CONNECTIONS; i++)
		found += places->places[i].state == state &&
			 (!peer || places->places[i].peer == *peer);
	return found;
}

struct http_place *http_places_surplus(struct http_places *places, enum http_place_state state)
{
	const size_t most = state == HTTP_PLACE_WAITING ? HTTP_MAX_WAITING : HTTP_MAX_ANSWERED;
	struct http_place *found = NULL;
	size_t found_count = 0;

	if (count(places, state, NULL) <= most)
		return NULL;
	for (size_t i = 0; i < HTTP_MAX_CONNECTIONS; i++) {
		struct http_place *place = &places->places[i];
		size_t own;

		if (place->state != state)
			continue;
		own = count(places, state, &place->peer);
		if (found && (own < found_count ||
			      (own == found_count && place->since_ns >= found->since_ns)))
			continue;
		found = place;
		found_count = own;
	}
	return found;
}

static uint64_t bytes_of(const struct http_places *places, uint64_t peer)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < HTTP_MAX_CONNECTIONS; i++)
		if (places->places[i].state == HTTP_PLACE_ANSWERED &&
		    places->places[i].peer == peer)
			bytes += places->places[i].bytes;
	return bytes;
}

struct http_place *http_places_heaviest(struct http_places *places, uint64_t now_ns)
{
	struct http_place *found = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < HTTP_MAX_CONNECTIONS; i++) {
		struct http_place *place = &places->places[i];
		uint64_t bytes;

		if (place->state != HTTP_PLACE_ANSWERED || place->bytes == 0 ||
		    now_ns < place->since_ns + HTTP_MAX_ANSWER_NS)
			continue;
		bytes = bytes_of(places, place->peer);
		if (bytes < most || (bytes == most && found && place->bytes <= found->bytes))
			continue;
		found = place;
		most = bytes;
	}
	return found;
}

static uint64_t most_ns_of(const struct http_place *place)
{
	if (place->state == HTTP_PLACE_WAITING)
		return HTTP_MAX_HEAD_NS;
	return HTTP_MAX_ANSWER_NS + place->bytes / HTTP_LEAST_RATE * NS_PER_SEC;
}

struct http_place *http_places_expired(struct http_places *places, uint64_t now_ns)
{
	for (size_t i = 0; i < HTTP_MAX_CONNECTIONS; i++) {
		struct http_place *place = &places->places[i];

		if ((place->state == HTTP_PLACE_WAITING || place->state == HTTP_PLACE_ANSWERED) &&
		    now_ns >= place->since_ns + most_ns_of(place))
			return place;
	}
	return NULL;
}
