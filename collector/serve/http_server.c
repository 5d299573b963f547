// SPDX-License-Identifier: Apache-2.0
/*
 * The HTTP server, see http_server.h. libmicrohttpd counts the references of a response. The
 * response with the metrics is made when they are published, and all clients share it until the
 * next one is.
 */
#include "serve/http_server.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "serve/http_places.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKLOG	     1024
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct http_server {
	struct MHD_Daemon *daemon;
	struct http_hosts hosts;
	char url[INET6_ADDRSTRLEN + 24];
	pthread_mutex_t lock;	      /* guards the members below */
	struct MHD_Response *metrics; /* NULL: no metrics were published yet */
	uint64_t published_ns;
	const char *trouble; /* NULL: no trouble */
	struct http_places places;
	struct http_stats stats;
	struct log_limit misdirected;
};

static struct MHD_Response *response_of(char *text, size_t len, const char *type)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);

	if (!response) {
		free(text);
		return NULL;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	return response;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
				   const char *text)
{
	char *copy = strdup(text);
	struct MHD_Response *response =
		copy ? response_of(copy, strlen(copy), "text/plain; charset=utf-8") : NULL;
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
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
			: answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "starting\n");
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
		return answer_text(connection, MHD_HTTP_OK, "ok\n");
	return answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

static enum MHD_Result refuse(struct http_server *server, struct MHD_Connection *connection,
			      unsigned status, const char *text)
{
	pthread_mutex_lock(&server->lock);
	server->stats.refused++;
	pthread_mutex_unlock(&server->lock);
	return answer_text(connection, status, text);
}

static enum MHD_Result refuse_host(struct http_server *server, struct MHD_Connection *connection,
				   const char *host)
{
	bool is_logged;

	pthread_mutex_lock(&server->lock);
	server->stats.misdirected++;
	is_logged = log_limit_allows(&server->misdirected, clock_now_ns());
	pthread_mutex_unlock(&server->lock);
	if (is_logged)
		log_warning("--http: refused a request for the host \"%.64s\", which is no name of "
			    "this host: ask by address, or allow the name with --http-host",
			    host);
	return answer_text(connection, MHD_HTTP_MISDIRECTED_REQUEST,
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

static enum MHD_Result answer(struct http_server *server, struct MHD_Connection *connection,
			      const char *url, const char *method)
{
	struct host_headers hosts = {0};

	/* The library refuses a request of HTTP/1.1 without that header; HTTP/1.0 has none. */
	MHD_get_connection_values(connection, MHD_HEADER_KIND, see_header, &hosts);
	if (hosts.count > 1)
		return refuse(server, connection, MHD_HTTP_BAD_REQUEST,
			      "more than one Host header\n");
	if (hosts.count == 1 && !http_hosts_have(&server->hosts, hosts.value))
		return refuse_host(server, connection, hosts.value);
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
		return refuse(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
	if (strcmp(url, "/metrics") == 0)
		return answer_metrics(server, connection);
	if (strcmp(url, "/healthz") == 0)
		return answer_health(server, connection);
	return refuse(server, connection, MHD_HTTP_NOT_FOUND, "there are /metrics and /healthz\n");
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

static struct http_place *place_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* Answers when the head of a request has come. The rest is not read, and the connection ends. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *body,
				  size_t *body_len, void **request)
{
	struct http_place *place = place_of(connection);
	struct http_server *server = arg;

	(void)version, (void)body, (void)body_len, (void)request;
	pthread_mutex_lock(&server->lock);
	if (place && place->state == HTTP_PLACE_WAITING) {
		http_place_set(place, HTTP_PLACE_ANSWERED, clock_now_ns());
		make_room(server, HTTP_PLACE_ANSWERED);
	}
	pthread_mutex_unlock(&server->lock);
	return answer(server, connection, url, method);
}

/*
 * Takes a connection whose answer the kernel has from those that are being answered. The library
 * closes such connections only after it has looked at all others.
 */
static void on_answered(void *arg, struct MHD_Connection *connection, void **request,
			enum MHD_RequestTerminationCode code)
{
	struct http_place *place = place_of(connection);
	struct http_server *server = arg;

	(void)request, (void)code;
	pthread_mutex_lock(&server->lock);
	if (place && place->state == HTTP_PLACE_ANSWERED)
		http_place_set(place, HTTP_PLACE_ENDING, 0);
	pthread_mutex_unlock(&server->lock);
}

static struct http_place *add_connection(struct http_server *server,
					 struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *fd =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *peer =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct http_place *place = NULL;

	if (fd && peer)
		place = http_places_add(&server->places, fd->connect_fd,
					http_peer_of(peer->client_addr), clock_now_ns());
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
	struct http_server *server = arg;

	pthread_mutex_lock(&server->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*socket_context = add_connection(server, connection);
	else
		remove_connection(server, *socket_context);
	pthread_mutex_unlock(&server->lock);
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
}

void http_server_publish(struct http_server *server, char *text, size_t len, const char *trouble)
{
	struct MHD_Response *response = text ? response_of(text, len, METRICS_TYPE) : NULL, *old;

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
}

const char *http_server_url(const struct http_server *server)
{
	return server->url;
}

/*
 * Drops the library's messages about errors of clients. The library would write each of them to
 * stderr.
 */
static void ignore_message(void *arg, const char *format, va_list args)
{
	(void)arg, (void)format, (void)args;
}

static void write_url(struct http_server *server, const struct sockaddr_storage *addr)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
	const bool is_six = addr->ss_family == AF_INET6;
	char host[INET6_ADDRSTRLEN] = "";

	if (is_six)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)addr)->sin6_addr, host,
			  sizeof(host));
	else
		inet_ntop(AF_INET, &((const struct sockaddr_in *)addr)->sin_addr, host,
			  sizeof(host));
	snprintf(server->url, sizeof(server->url), is_six ? "http://[%s]:%u" : "http://%s:%u", host,
		 info ? (unsigned)info->port : 0);
}

/*
 * poll, because libmicrohttpd 0.9.75 loses time with epoll: when one call of epoll_wait returns
 * exactly as many events as the library asks for, 128, the library waits for further ones, with all
 * its patience, before it looks at these.
 */
static struct MHD_Daemon *start(struct http_server *server, const struct sockaddr_storage *addr)
{
	const unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG |
			       (addr->ss_family == AF_INET6 ? MHD_USE_IPv6 : 0u);

	return MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER,
		ignore_message, NULL, MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)addr,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_MAX_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_SILENCE_SEC,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_MAX_REQUEST_BYTES,
		MHD_OPTION_LISTEN_BACKLOG_SIZE, (unsigned)BACKLOG,
		MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_NOTIFY_COMPLETED,
		on_answered, server, MHD_OPTION_END);
}

/*
 * Has the kernel drop what clients do not take, also of connections that the library has closed.
 * Connections inherit the option.
 */
static void bound_unread(struct http_server *server)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_LISTEN_FD);
	const unsigned most_ms = HTTP_MAX_ANSWER_NS / CLOCK_NS_PER_MS;

	if (info)
		setsockopt(info->listen_fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &most_ms,
			   sizeof(most_ms));
}

int http_server_open(const struct sockaddr_storage *addr, const struct http_hosts *hosts,
		     struct http_server **ret)
{
	struct http_server *server = calloc(1, sizeof(*server));
	int err;

	if (!server)
		return -ENOMEM;
	pthread_mutex_init(&server->lock, NULL);
	server->hosts = *hosts;
	server->published_ns = clock_now_ns();
	errno = 0;
	server->daemon = start(server, addr);
	if (!server->daemon) {
		err = errno ? -errno : -EADDRNOTAVAIL;
		log_error("--http: cannot listen there: %s: choose another address or port",
			  strerror(-err));
		pthread_mutex_destroy(&server->lock);
		free(server);
		return err;
	}
	bound_unread(server);
	write_url(server, addr);
	*ret = server;
	return 0;
}

void http_server_close(struct http_server *server)
{
	if (!server)
		return;
	MHD_stop_daemon(server->daemon);
	if (server->metrics)
		MHD_destroy_response(server->metrics);
	pthread_mutex_destroy(&server->lock);
	free(server);
}
