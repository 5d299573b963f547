// SPDX-License-Identifier: Apache-2.0
/*
 * Parses the daemon's options, see watch_options.h:
 *
 *   quantities  durations and sizes as in encode/quantity.h
 *   addresses   PORT, :PORT, ADDRESS:PORT, [ADDRESS]:PORT; no host names, because any host may
 *               answer for a name; unix:PATH is a socket
 */
#include "serve/watch_options.h"

#include "base/clock.h"
#include "base/log.h"
#include "encode/quantity.h"
#include "guard/budget.h"
#include "web/http_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PERIOD_SEC  60
#define MOST_PERIOD_SEC	  (60 * 60)
#define LEAST_KEEP_SEC	  60
#define MOST_KEEP_SEC	  (UINT64_C(10) * 366 * 24 * 60 * 60)
#define LEAST_KEEP_BYTES  (UINT64_C(1) << 20)
#define MOST_KEEP_BYTES	  (UINT64_C(1) << 60)
#define LEAST_STORE_BYTES (UINT64_C(16) << 20)
#define MOST_WINDOW_SEC	  60
#define LEAST_MAP_BYTES	  (UINT64_C(1) << 20)
#define MOST_MAP_BYTES	  (UINT64_C(1) << 40)
#define UNIX		  "unix:"
#define IPC		  "ipc://"

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
	};
	push_options_init(&options->push);
}

static int bad_value(const char *option, const char *text, const char *why)
{
	log_error("%s %s: %s", option, text, why);
	return -EINVAL;
}

static void note(struct watch_options *options, const char *option)
{
	if (!options->first_given)
		options->first_given = option;
}

static void note_graphs(struct watch_options *options, const char *option)
{
	note(options, option);
	if (!options->first_of_graphs)
		options->first_of_graphs = option;
}

static void note_store(struct watch_options *options, const char *option)
{
	note(options, option);
	if (!options->first_of_store)
		options->first_of_store = option;
}

int watch_options_set_format(struct watch_options *options, const char *text)
{
	char name[64];
	const int len = snprintf(name, sizeof(name), "x.%s", text);

	options->has_format = true;
	if (len < (int)sizeof(name) && render_format_of(name, &options->format) == 0)
		return 0;
	log_error("--format %s: no such format; there are, without the dot: %s", text,
		  render_suffixes());
	return -EINVAL;
}

int watch_options_set_period(struct watch_options *options, const char *text)
{
	uint64_t seconds;

	note_graphs(options, "--period");
	if (!quantity_parse_time(text, &seconds) || seconds < LEAST_PERIOD_SEC ||
	    seconds > MOST_PERIOD_SEC)
		return bad_value("--period", text, "from 60s to 1h is needed, such as 10m");
	options->period_ns = seconds * CLOCK_NS_PER_SEC;
	return 0;
}

int watch_options_set_keep(struct watch_options *options, const char *text)
{
	uint64_t seconds;

	note_graphs(options, "--keep");
	if (!quantity_parse_time(text, &seconds) || seconds < LEAST_KEEP_SEC ||
	    seconds > MOST_KEEP_SEC)
		return bad_value("--keep", text,
				 "how old graphs become is needed, from 1m on, such as 7d");
	options->keep_sec = seconds;
	return 0;
}

int watch_options_set_keep_bytes(struct watch_options *options, const char *text)
{
	uint64_t bytes;

	note_graphs(options, "--keep-bytes");
	if (!quantity_parse_size(text, &bytes) || bytes < LEAST_KEEP_BYTES ||
	    bytes > MOST_KEEP_BYTES)
		return bad_value("--keep-bytes", text,
				 "how much room graphs may take is needed, from 1M on, such as 2G");
	options->keep_bytes = bytes;
	return 0;
}

int watch_options_set_store(struct watch_options *options, const char *text)
{
	if (!text[0])
		return bad_value("--store", text, "a directory is needed");
	options->store_dir = text;
	return 0;
}

int watch_options_set_store_bytes(struct watch_options *options, const char *text)
{
	uint64_t bytes;

	note_store(options, "--store-bytes");
	if (!quantity_parse_size(text, &bytes) || bytes < LEAST_STORE_BYTES ||
	    bytes > MOST_KEEP_BYTES)
		return bad_value("--store-bytes", text,
				 "how much room the store may take is needed, from 16M on, such as "
				 "2G");
	options->store_bytes = bytes;
	return 0;
}

int watch_options_set_store_age(struct watch_options *options, const char *text)
{
	uint64_t seconds;

	note_store(options, "--store-age");
	if (!quantity_parse_time(text, &seconds) || seconds < LEAST_KEEP_SEC ||
	    seconds > MOST_KEEP_SEC)
		return bad_value("--store-age", text,
				 "how old samples become is needed, from 1m on, such as 30d");
	options->store_age_sec = seconds;
	return 0;
}

int watch_options_set_store_window(struct watch_options *options, const char *text)
{
	uint64_t seconds;

	note_store(options, "--store-window");
	if (!quantity_parse_time(text, &seconds) || seconds < 1 || seconds > MOST_WINDOW_SEC)
		return bad_value("--store-window", text, "from 1s to 60s is needed, such as 10s");
	options->store_window_ns = seconds * CLOCK_NS_PER_SEC;
	return 0;
}

int watch_options_set_map_bytes(struct watch_options *options, const char *text)
{
	uint64_t bytes;

	note(options, "--map-bytes");
	if (!quantity_parse_size(text, &bytes) || bytes < LEAST_MAP_BYTES || bytes > MOST_MAP_BYTES)
		return bad_value("--map-bytes", text,
				 "how much room perf maps may take is needed, from 1M to 1T, such "
				 "as 2G");
	options->map_bytes = bytes;
	return 0;
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

int watch_options_set_memory(struct watch_options *options, const char *text)
{
	uint64_t bytes;

	note(options, "--memory");
	if (!quantity_parse_size(text, &bytes) || bytes < BUDGET_LEAST || bytes > MOST_MAP_BYTES)
		return bad_value("--memory", text,
				 "a number of bytes from 64M to 1T is needed, such as 1G: so much "
				 "is kept of everything together");
	options->memory_bytes = bytes;
	return 0;
}

static bool is_same(const struct http_address *a, const struct http_address *b)
{
	if (a->unix_path || b->unix_path)
		return a->unix_path && b->unix_path && strcmp(a->unix_path, b->unix_path) == 0;
	return memcmp(&a->addr, &b->addr, sizeof(a->addr)) == 0;
}

int watch_options_add_http(struct watch_options *options, const char *text)
{
	struct http_address address = {0};

	note(options, "--http");
	if (strncmp(text, UNIX, strlen(UNIX)) == 0 && text[strlen(UNIX)] == '/')
		address.unix_path = text + strlen(UNIX);
	else if (!parse_address(text, &address.addr))
		return bad_value("--http", text,
				 "PORT, ADDRESS:PORT or [ADDRESS]:PORT is needed, with an address "
				 "in numbers, such as 127.0.0.1:9464; or unix:/PATH");
	for (size_t i = 0; i < options->n_http; i++)
		if (is_same(&options->http[i], &address))
			return 0;
	if (options->n_http == HTTP_MAX_ADDRESSES)
		return bad_value("--http", text, "there are 4 addresses at most");
	options->http[options->n_http++] = address;
	return 0;
}

static int set_http_file(struct watch_options *options, const char *option, const char *text,
			 const char **ret)
{
	note(options, option);
	if (!options->first_of_http)
		options->first_of_http = option;
	*ret = text;
	return text[0] ? 0 : bad_value(option, text, "a file is needed");
}

int watch_options_set_http_cert(struct watch_options *options, const char *text)
{
	return set_http_file(options, "--http-cert", text, &options->http_cert);
}

int watch_options_set_http_key(struct watch_options *options, const char *text)
{
	return set_http_file(options, "--http-key", text, &options->http_key);
}

int watch_options_set_http_client_ca(struct watch_options *options, const char *text)
{
	return set_http_file(options, "--http-client-ca", text, &options->http_client_ca);
}

int watch_options_set_http_token_file(struct watch_options *options, const char *text)
{
	return set_http_file(options, "--http-token-file", text, &options->http_token_file);
}

int watch_options_add_http_host(struct watch_options *options, const char *text)
{
	int err = options->http_hosts.count < WATCH_MAX_HTTP_HOSTS
			  ? http_hosts_add(&options->http_hosts, text)
			  : -ENOSPC;

	note(options, "--http-host");
	if (err == -ENOSPC)
		return bad_value("--http-host", text, "there are more than 16: give *.DOMAIN or *");
	if (err)
		return bad_value("--http-host", text,
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
	if (!options->http_cert != !options->http_key) {
		log_error("--http-cert and --http-key go together");
		return -EINVAL;
	}
	if (options->http_client_ca && !options->http_cert) {
		log_error("--http-client-ca goes with --http-cert and --http-key: certificates are "
			  "shown in TLS");
		return -EINVAL;
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

int watch_options_set_push(struct watch_options *options, const char *name, const char *text)
{
	note(options, name);
	return push_options_set(&options->push, name, text);
}

int watch_options_set_publish(struct watch_options *options, const char *text)
{
	const size_t len = strlen(IPC);

	note(options, "--publish");
	if (strncmp(text, IPC, len) != 0 || text[len] != '/' || text[strlen(text) - 1] == '/')
		return bad_value("--publish", text,
				 "ipc:// and the absolute path of a socket are needed, such as "
				 "ipc:///run/fgcollect-publish/events");
	options->publish_path = text + len;
	return 0;
}

int watch_options_check(struct watch_options *options)
{
	const char *given = options->has_format ? "--format" : options->first_of_graphs;

	if ((options->http_hosts.count || options->first_of_http) && !options->n_http) {
		log_error("%s goes with --http: without it no server is there",
			  options->first_of_http ? options->first_of_http : "--http-host");
		return -EINVAL;
	}
	if (options->n_http && check_http(options) < 0)
		return -EINVAL;
	if (options->first_of_store && !options->store_dir) {
		log_error("%s goes with --store DIR: without it nothing is stored",
			  options->first_of_store);
		return -EINVAL;
	}
	if (given && !options->output_dir) {
		log_error("%s goes with --output DIR: without it no graphs are written", given);
		return -EINVAL;
	}
	return push_options_finish(&options->push);
}
