// SPDX-License-Identifier: Apache-2.0
/*
 * Parses the daemon's options, see watch_options.h:
 *
 *   addresses   PORT, :PORT, ADDRESS:PORT, [ADDRESS]:PORT; no host names, because any host may
 *               answer for a name; unix:PATH is a socket
 */
#include "serve/watch_options.h"

#include "base/clock.h"
#include "base/log.h"
#include "options/option_value.h"
#include "web/http_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNIX "unix:"
#define IPC  "ipc://"

void watch_options_init(struct watch_options *options)
{
	*options = (struct watch_options){
		.format = RENDER_HTML,
		.period_ns = WATCH_DEFAULT_PERIOD_SEC * CLOCK_NS_PER_SEC,
		.keep_sec = WATCH_DEFAULT_KEEP_SEC,
		.keep_bytes = WATCH_DEFAULT_KEEP_BYTES,
		.map_bytes = WATCH_DEFAULT_MAP_BYTES,
		.store_bytes = WATCH_DEFAULT_STORE_BYTES,
		.store_age_sec = WATCH_DEFAULT_STORE_AGE,
		.store_window_ns = WATCH_DEFAULT_STORE_WINDOW * CLOCK_NS_PER_SEC,
		.publish = {.option = "--publish"},
		.publish_state = {.option = "--publish-state"},
	};
	push_options_init(&options->push);
}

int watch_options_set_format(struct watch_options *options, const char *told, const char *text)
{
	char name[64];
	const int len = snprintf(name, sizeof(name), "x.%s", text);

	options->has_format = true;
	if (len < (int)sizeof(name) && render_format_of(name, &options->format) == 0)
		return 0;
	log_error("%s %s: no such format; there are, without the dot: %s", told, text,
		  render_suffixes());
	return -EINVAL;
}

static bool parse_port(const char *text, in_port_t *ret)
{
	unsigned long port;
	char *end;

	errno = 0;
	port = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || port > UINT16_MAX)
		return false;
	*ret = htons((uint16_t)port);
	return true;
}

/* host "" is loopback. */
static bool parse_host(const char *host, in_port_t port, struct sockaddr_storage *ret)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;
	struct sockaddr_in *four = (struct sockaddr_in *)ret;

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, host[0] ? host : "127.0.0.1", &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = port;
		return true;
	}
	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1)
		return false;
	six->sin6_family = AF_INET6;
	six->sin6_port = port;
	return true;
}

static bool parse_address(const char *text, struct sockaddr_storage *ret)
{
	const char *colon = strrchr(text, ':');
	const char *port_text = colon ? colon + 1 : text;
	size_t len = colon ? (size_t)(colon - text) : 0;
	char host[INET6_ADDRSTRLEN];
	in_port_t port;

	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	} else if (memchr(text, ':', len)) {
		return false; /* it is not clear which colon is in front of the port */
	}
	if (len >= sizeof(host) || !parse_port(port_text, &port))
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	return parse_host(host, port, ret);
}

static bool is_same(const struct http_address *a, const struct http_address *b)
{
	if (a->unix_path || b->unix_path)
		return a->unix_path && b->unix_path && strcmp(a->unix_path, b->unix_path) == 0;
	return memcmp(&a->addr, &b->addr, sizeof(a->addr)) == 0;
}

int watch_options_add_http(struct watch_options *options, const char *told, const char *text)
{
	struct http_address address = {0};

	if (strncmp(text, UNIX, strlen(UNIX)) == 0 && text[strlen(UNIX)] == '/')
		address.unix_path = text + strlen(UNIX);
	else if (!parse_address(text, &address.addr))
		return option_bad_value(
			told, text,
			"PORT, ADDRESS:PORT or [ADDRESS]:PORT is needed, with an address "
			"in numbers, such as 127.0.0.1:9464; or unix:/PATH");
	for (size_t i = 0; i < options->n_http; i++)
		if (is_same(&options->http[i], &address))
			return 0;
	if (options->n_http == HTTP_MAX_ADDRESSES)
		return option_bad_value(told, text, "there are 4 addresses at most");
	options->http[options->n_http++] = address;
	return 0;
}

int watch_options_add_http_host(struct watch_options *options, const char *told, const char *text)
{
	int err = options->http_hosts.count < WATCH_MAX_HTTP_HOSTS
			  ? http_hosts_add(&options->http_hosts, text)
			  : -ENOSPC;

	if (err == -ENOSPC)
		return option_bad_value(told, text, "there are more than 16: give *.DOMAIN or *");
	if (err)
		return option_bad_value(
			told, text,
			"a name without a port is needed, such as node1.example.com, or "
			"*.DOMAIN, or * for any");
	return 0;
}

static int check_http(const struct watch_options *options)
{
	bool has_network = false, is_all_local = true; /* network: an address, and no Unix socket */

	for (size_t i = 0; i < options->n_http; i++) {
		has_network |= !options->http[i].unix_path;
		is_all_local &= http_is_local(&options->http[i]);
	}
	if (!has_network && options->http_cert) {
		log_error("--http-cert goes with an address: over a Unix socket there is no TLS");
		return -EINVAL;
	}
	if (options->http_token_file && !options->http_cert && !is_all_local) {
		log_error("--http-token-file: everybody on the way could read the token: give "
			  "--http-cert and --http-key too, or listen on 127.0.0.1");
		return -EINVAL;
	}
	return 0;
}

static bool has_path(const struct publish_paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->count; i++)
		if (strcmp(paths->paths[i], path) == 0)
			return true;
	return false;
}

/* others: those of the other socket. */
static int add_path(struct publish_paths *paths, const struct publish_paths *others,
		    const char *told, const char *text)
{
	const size_t len = strlen(IPC);

	if (strncmp(text, IPC, len) != 0 || text[len] != '/' || text[strlen(text) - 1] == '/')
		return option_bad_value(
			told, text,
			"ipc:// and the absolute path of a socket are needed, such as "
			"ipc:///run/fgcollect-publish/events");
	if (has_path(others, text + len))
		return option_bad_value(told, text,
					"events and state are two sockets: give each its own path");
	if (has_path(paths, text + len))
		return 0;
	if (paths->count == PUBLISH_MAX_PATHS)
		return option_bad_value(told, text, "there are 4 sockets at most");
	paths->paths[paths->count++] = text + len;
	return 0;
}

int watch_options_add_publish(struct watch_options *options, const char *told, const char *text)
{
	return add_path(&options->publish, &options->publish_state, told, text);
}

int watch_options_add_publish_state(struct watch_options *options, const char *told,
				    const char *text)
{
	return add_path(&options->publish_state, &options->publish, told, text);
}

int watch_options_check(struct watch_options *options)
{
	const int err = options->n_http ? check_http(options) : 0;

	return err ? err : push_options_finish(&options->push);
}
