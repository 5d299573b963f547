// SPDX-License-Identifier: Apache-2.0
/*
 * The HTTP server, see http_server.h. libmicrohttpd counts the references of a response. The
 * response with the metrics is made when they are published, and all clients share it until the
 * next one is.
 */
#include "web/http_server.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "base/thread.h"
#include "lazy/lazy_microhttpd.h"
#include "web/http_access.h"
#include "web/http_listen.h"
#include "web/http_places.h"
#include "web/http_query.h"
#include "web/http_reply.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define STOP_NS	     (5 * CLOCK_NS_PER_SEC) /* that threads have to end */

/* An address at which the server listens. What its connections are is with the server. */
struct listener {
	struct http_server *server;
	struct MHD_Daemon *daemon;
	char *unix_path; /* NULL: it has an address */
	bool is_local;	 /* loopback, or a Unix socket */
	char url[HTTP_URL_BYTES];
};

struct http_server {
	struct listener listeners[HTTP_MAX_ADDRESSES];
	size_t n_listeners;
	struct web_desk *desk;
	struct http_hosts hosts;
	struct http_access access;
	struct http_tls tls;
	struct MHD_Response *page;    /* NULL: there is no store */
	pthread_mutex_t lock;	      /* guards the members below */
	struct MHD_Response *metrics; /* NULL: no metrics were published yet */
	uint64_t published_ns;
	const char *trouble; /* NULL: no trouble */
	struct http_places places;
	struct http_stats stats;
	struct log_limit misdirected;
};

static struct http_place *place_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static enum MHD_Result answer_metrics(struct http_server *server, struct MHD_Connection *connection)
{
	enum MHD_Result result = MHD_NO;
	bool is_there;

	pthread_mutex_lock(&server->lock);
	is_there = server->metrics != NULL;
	if (is_there) {
		server->stats.scrapes++;
		result = MHD_queue_response(connection, MHD_HTTP_OK, server->metrics);
	}
	pthread_mutex_unlock(&server->lock);
	return is_there ? result
			: http_reply_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "starting\n");
}

static enum MHD_Result answer_health(struct http_server *server, struct MHD_Connection *connection)
{
	const uint64_t now = clock_now_ns();
	uint64_t published;
	const char *trouble;
	char text[256];

	pthread_mutex_lock(&server->lock);
	published = server->published_ns;
	trouble = server->trouble;
	pthread_mutex_unlock(&server->lock);
	if (now > published + HTTP_STALE_NS)
		snprintf(text, sizeof(text), "nothing has been done for %llu s\n",
			 (unsigned long long)((now - published) / CLOCK_NS_PER_SEC));
	else if (trouble)
		snprintf(text, sizeof(text), "%s\n", trouble);
	else
		return http_reply_text(connection, MHD_HTTP_OK, "ok\n");
	return http_reply_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

static void count_refused(struct http_server *server)
{
	THREAD_HOLD(&server->lock);

	server->stats.refused++;
}

static enum MHD_Result refuse(struct http_server *server, struct MHD_Connection *connection,
			      unsigned status, const char *text)
{
	count_refused(server);
	return http_reply_text(connection, status, text);
}

static enum MHD_Result refuse_host(struct http_server *server, struct MHD_Connection *connection,
				   const char *host)
{
	bool is_logged;

	pthread_mutex_lock(&server->lock);
	server->stats.misdirected++;
	is_logged = log_limit_allows(&server->misdirected, 0, clock_now_ns());
	pthread_mutex_unlock(&server->lock);
	if (is_logged)
		log_warning("--http: refused a request for the host \"%.64s\", which is no name of "
			    "this host: ask by address, or allow the name with --http-host",
			    host);
	return http_reply_text(connection, MHD_HTTP_MISDIRECTED_REQUEST,
			       "the Host header of this request has no name of this host: ask by "
			       "address, or start the daemon with --http-host and the name\n");
}

struct host_headers {
	const char *value; /* of the first one, or NULL */
	unsigned count;
};

static enum MHD_Result see_header(void *arg, enum MHD_ValueKind kind, const char *key,
				  const char *value)
{
	struct host_headers *hosts = arg;

	(void)kind;
	if (strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0 && hosts->count++ == 0)
		hosts->value = value ? value : "";
	return MHD_YES;
}

/* Begins to answer a request for what the store has, or says why not. */
static enum MHD_Result answer_query(struct http_server *server, struct MHD_Connection *connection,
				    enum web_what what, void **request)
{
	struct http_place *const place = place_of(connection);
	struct http_query *query = NULL;
	int err =
		place ? http_query_new(connection, what, place->fd, place->peer, &query) : -ENOMEM;

	if (err == -ENOMEM)
		return MHD_NO;
	if (err) {
		count_refused(server);
		return http_reply_error(connection, MHD_HTTP_BAD_REQUEST,
					err == -E2BIG ? "there are more than 1,024 parameters"
						      : "a parameter has a NUL character");
	}
	pthread_mutex_lock(&server->lock);
	http_place_set(place, HTTP_PLACE_WORKING, 0);
	pthread_mutex_unlock(&server->lock);
	*request = query;
	http_query_begin(query, server->desk);
	return MHD_YES;
}

/* Requests for the page and for what the store has. */
static enum MHD_Result answer_guarded(struct listener *listener, struct MHD_Connection *connection,
				      const char *url, void **request)
{
	struct http_server *const server = listener->server;
	const bool is_page = strcmp(url, "/") == 0;
	const enum http_verdict verdict =
		http_access_check(&server->access, connection, listener->is_local, !is_page);
	enum web_what what;

	if (verdict != HTTP_ALLOWED) {
		pthread_mutex_lock(&server->lock);
		server->stats.denied++;
		pthread_mutex_unlock(&server->lock);
		return http_reply_error(connection,
					verdict == HTTP_ASKED ? MHD_HTTP_UNAUTHORIZED
							      : MHD_HTTP_FORBIDDEN,
					http_access_say(verdict));
	}
	if (server->desk && is_page)
		return MHD_queue_response(connection, MHD_HTTP_OK, server->page);
	if (server->desk && web_query_what(url, &what) == 0)
		return answer_query(server, connection, what, request);
	count_refused(server);
	return http_reply_error(
		connection, MHD_HTTP_NOT_FOUND,
		server->desk ? "there are store, processes, heat, graph and diff below " WEB_API
			     : "this daemon has no store: start it with --store DIR; there are "
			       "/metrics and /healthz");
}

static bool is_guarded(const char *url)
{
	return strcmp(url, "/") == 0 || strncmp(url, "/api/", strlen("/api/")) == 0;
}

static enum MHD_Result answer(struct listener *listener, struct MHD_Connection *connection,
			      const char *url, const char *method, void **request)
{
	struct http_server *const server = listener->server;
	struct host_headers hosts = {0};

	/* The library refuses a request of HTTP/1.1 without that header; HTTP/1.0 has none. */
	MHD_get_connection_values(connection, MHD_HEADER_KIND, see_header, &hosts);
	if (hosts.count > 1)
		return refuse(server, connection, MHD_HTTP_BAD_REQUEST,
			      "more than one Host header\n");
	/* A port that is forwarded to a Unix socket (ssh -L) is reached by names of others, too. */
	if (hosts.count == 1 && (!listener->unix_path || is_guarded(url)) &&
	    !http_hosts_have(&server->hosts, hosts.value))
		return refuse_host(server, connection, hosts.value);
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return refuse(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			      "only GET and HEAD\n");
	if (strcmp(url, "/metrics") == 0)
		return answer_metrics(server, connection);
	if (strcmp(url, "/healthz") == 0)
		return answer_health(server, connection);
	if (is_guarded(url))
		return answer_guarded(listener, connection, url, request);
	return refuse(server, connection, MHD_HTTP_NOT_FOUND,
		      "there are /, /api/v1/, /metrics and /healthz\n");
}

/*
 * Has the library end a connection, which the library does when it looks at the connection next. A
 * reset leaves no unread answer behind in the kernel. The library reports an end before it closes
 * the descriptor, so a descriptor that is shut down is always one of this server.
 */
static void end_connection(struct http_place *place)
{
	static const struct linger at_once = {.l_onoff = 1};

	setsockopt(place->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	shutdown(place->fd, SHUT_RDWR);
	http_place_set(place, HTTP_PLACE_ENDING, 0);
}

static void make_room(struct http_server *server, enum http_place_state state)
{
	struct http_place *place = http_places_surplus(&server->places, state);

	if (!place)
		return;
	end_connection(place);
	server->stats.evicted++;
}

/* Gives a connection the place of one that is answered. bytes: of a long answer. */
static void begin_answer(struct http_server *server, struct http_place *place, uint64_t bytes)
{
	THREAD_HOLD(&server->lock);

	if (place && (place->state == HTTP_PLACE_WAITING || place->state == HTTP_PLACE_WORKING)) {
		http_place_set(place, HTTP_PLACE_ANSWERED, clock_now_ns());
		place->bytes = bytes;
		make_room(server, HTTP_PLACE_ANSWERED);
	}
}

/*
 * Answers when the head of a request has come. The rest is not read, and the connection ends. It is
 * called once more for a request whose answer had to be made.
 */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *body,
				  size_t *body_len, void **request)
{
	struct listener *const listener = arg;
	struct http_server *const server = listener->server;
	struct web_answer *made;
	enum MHD_Result result;

	(void)version, (void)body, (void)body_len;
	if (*request) {
		made = http_query_answer(*request);
		begin_answer(server, place_of(connection), made->bytes);
		return http_reply_answer(connection, made);
	}
	result = answer(listener, connection, url, method, request);
	if (!*request)
		begin_answer(server, place_of(connection), 0);
	return result;
}

/*
 * Takes a connection whose answer the kernel has from those that are being answered. The library
 * closes such connections only after it has looked at all others.
 */
static void on_answered(void *arg, struct MHD_Connection *connection, void **request,
			enum MHD_RequestTerminationCode code)
{
	struct http_place *place = place_of(connection);
	struct http_server *const server = ((struct listener *)arg)->server;

	(void)code;
	http_query_free(*request);
	*request = NULL;
	THREAD_HOLD(&server->lock);
	if (place && place->state == HTTP_PLACE_ANSWERED)
		http_place_set(place, HTTP_PLACE_ENDING, 0);
}

/* The places are of all listeners together: a connection for which there is none ends. */
static struct http_place *add_connection(const struct listener *listener,
					 struct MHD_Connection *connection)
{
	struct http_server *const server = listener->server;
	const union MHD_ConnectionInfo *fd =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *peer =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct http_place *place = NULL;

	if (fd && listener->unix_path)
		place = http_places_add(&server->places, fd->connect_fd,
					http_peer_of_unix(fd->connect_fd), clock_now_ns());
	else if (fd && peer)
		place = http_places_add(&server->places, fd->connect_fd,
					http_peer_of(peer->client_addr), clock_now_ns());
	if (fd && !place) {
		shutdown(fd->connect_fd, SHUT_RDWR);
		server->stats.evicted++;
	}
	server->stats.connections++;
	server->stats.open++;
	make_room(server, HTTP_PLACE_WAITING);
	return place;
}

static void remove_connection(struct http_server *server, struct http_place *place)
{
	server->stats.open--;
	if (!place)
		return;
	server->stats.unfinished += place->state == HTTP_PLACE_WAITING;
	http_place_remove(place);
}

/* Notes new and ended connections. */
static void on_connection(void *arg, struct MHD_Connection *connection, void **socket_context,
			  enum MHD_ConnectionNotificationCode code)
{
	const struct listener *const listener = arg;
	struct http_server *const server = listener->server;

	THREAD_HOLD(&server->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*socket_context = add_connection(listener, connection);
	else
		remove_connection(server, *socket_context);
}

void http_server_expire(struct http_server *server, uint64_t now_ns)
{
	struct http_place *place;

	pthread_mutex_lock(&server->lock);
	while ((place = http_places_expired(&server->places, now_ns))) {
		end_connection(place);
		server->stats.expired++;
	}
	pthread_mutex_unlock(&server->lock);
	if (server->desk)
		web_desk_sweep(server->desk);
}

void http_server_set_max_bytes(struct http_server *server, uint64_t max_bytes)
{
	if (server->desk)
		web_desk_set_max_bytes(server->desk, max_bytes);
}

/* Ends the longest answer of whoever has the most, where others have no room. */
static void make_room_for_answers(void *arg)
{
	struct http_server *server = arg;
	struct http_place *place;

	THREAD_HOLD(&server->lock);
	place = http_places_heaviest(&server->places, clock_now_ns());
	if (place) {
		end_connection(place);
		server->stats.crowded++;
	}
}

static void refresh_token(void *arg)
{
	struct http_server *server = arg;

	http_token_refresh(&server->access.token);
}

void http_server_publish(struct http_server *server, char *text, size_t len, const char *trouble)
{
	struct MHD_Response *response = text ? http_reply_of(text, len, METRICS_TYPE) : NULL, *old;

	pthread_mutex_lock(&server->lock);
	old = response ? server->metrics : NULL;
	if (response)
		server->metrics = response;
	server->published_ns = clock_now_ns();
	server->trouble = trouble;
	pthread_mutex_unlock(&server->lock);
	if (old)
		MHD_destroy_response(old);
}

void http_server_stats(struct http_server *server, struct http_stats *ret)
{
	pthread_mutex_lock(&server->lock);
	*ret = server->stats;
	pthread_mutex_unlock(&server->lock);
	if (server->desk)
		web_desk_stats(server->desk, &ret->web);
}

const char *http_server_url(const struct http_server *server, size_t which)
{
	return which < server->n_listeners ? server->listeners[which].url : NULL;
}

static int open_access(struct http_server *server, const struct http_server_options *options)
{
	struct http_access *const access = &server->access;
	int err = 0;

	access->has_token = options->token_file != NULL;
	access->has_ca = options->client_ca != NULL;
	if (options->cert)
		err = http_tls_read(&server->tls, options->cert, options->key, options->client_ca);
	if (!err && options->token_file)
		err = http_token_open(&access->token, options->token_file);
	return err;
}

static int open_desk(struct http_server *server, const struct http_server_options *options)
{
	const struct web_desk_options how = {
		.dir = options->store_dir,
		.window_ns = options->window_ns,
		.max_bytes = options->max_bytes,
		.chore = options->token_file ? refresh_token : NULL,
		.make_room = make_room_for_answers,
		.arg = server,
	};

	if (!options->store_dir)
		return 0;
	server->page = http_reply_page();
	if (!server->page)
		return -ENOMEM;
	return web_desk_open(&how, &server->desk);
}

static int start_listener(struct http_server *server, const struct http_address *address)
{
	struct listener *const listener = &server->listeners[server->n_listeners++];
	struct http_address at = *address; /* with the copy of the path */
	const struct http_listen_options how = {
		.address = &at,
		.tls = &server->tls,
		.on_request = on_request,
		.on_connection = on_connection,
		.on_answered = on_answered,
		.arg = listener,
	};

	listener->server = server;
	listener->is_local = http_is_local(address);
	if (address->unix_path) {
		at.unix_path = listener->unix_path = strdup(address->unix_path);
		if (!at.unix_path)
			return -ENOMEM;
	}
	return http_listen(&how, &listener->daemon, listener->url);
}

int http_server_open(const struct http_server_options *options, struct http_server **ret)
{
	const char *const why = lazy_microhttpd_load();
	struct http_server *server;
	int err;

	if (why) {
		log_error("--http: %s", why);
		return -ELIBACC;
	}
	server = calloc(1, sizeof(*server));
	if (!server)
		return -ENOMEM;
	pthread_mutex_init(&server->lock, NULL);
	server->hosts = *options->hosts;
	server->published_ns = clock_now_ns();
	err = open_access(server, options);
	if (!err)
		err = open_desk(server, options);
	for (size_t i = 0; !err && i < options->n_addresses; i++)
		err = start_listener(server, &options->addresses[i]);
	if (err) {
		http_server_close(server);
		return err;
	}
	*ret = server;
	return 0;
}

static void stop_listener(struct listener *listener)
{
	if (listener->daemon) {
		MHD_stop_daemon(listener->daemon);
		if (listener->unix_path)
			unlink(listener->unix_path);
	}
	free(listener->unix_path);
}

/* A thread that does not end may still use all of it. */
void http_server_close(struct http_server *server)
{
	if (!server)
		return;
	if (server->desk && !web_desk_stop(server->desk, STOP_NS)) {
		log_error("--http: the store does not answer, and is left");
		return;
	}
	for (size_t i = 0; i < server->n_listeners; i++)
		stop_listener(&server->listeners[i]);
	web_desk_free(server->desk);
	if (server->metrics)
		MHD_destroy_response(server->metrics);
	if (server->page)
		MHD_destroy_response(server->page);
	http_token_close(&server->access.token);
	http_tls_fini(&server->tls);
	pthread_mutex_destroy(&server->lock);
	free(server);
}

static const struct counter counters[] = {
	COUNTER_SUM(struct http_stats, scrapes, "watch.scrapes", "http_scrapes_total",
		    "Answers to GET /metrics."),
	COUNTER_SUM(struct http_stats, refused, "watch.http_refused", "http_refused_total",
		    "Requests of other methods, for other paths, or with two Host headers."),
	COUNTER_SUM(struct http_stats, misdirected, "watch.http_misdirected",
		    "http_misdirected_total", "Requests for other hosts, which were refused."),
	COUNTER_SUM(struct http_stats, evicted, "watch.http_evicted", "http_evicted_total",
		    "Connections that were ended because others needed their place."),
	COUNTER_SUM(struct http_stats, expired, "watch.http_expired", "http_expired_total",
		    "Connections that were ended because they lasted too long."),
	COUNTER_SUM(struct http_stats, unfinished, "watch.http_unfinished", "http_unfinished_total",
		    "Connections that ended without a whole request."),
	COUNTER_SUM(struct http_stats, connections, "watch.http_connections",
		    "http_connections_total", "Connections of HTTP clients."),
	COUNTER_GAUGE(struct http_stats, open, "watch.http_open", "http_connections_open",
		      "Connections of HTTP clients that are open."),
	COUNTER_SUM(struct http_stats, denied, "watch.http_denied", "http_denied_total",
		    "Requests of those who may not see the store, or from pages of other sites."),
	COUNTER_SUM(struct http_stats, crowded, "watch.http_crowded", "http_crowded_total",
		    "Connections ended because their answers had the room of others."),
};

const struct counters http_counters = COUNTERS(struct http_stats, counters);
