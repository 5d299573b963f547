// SPDX-License-Identifier: Apache-2.0
/*
 * Parses the daemon's options, see watch_options.h:
 *
 *   durations   a number and s, m, h or d; without a letter, seconds
 *   sizes       a number and k, M, G or T; without a letter, bytes
 *   addresses   PORT, :PORT, ADDRESS:PORT, [ADDRESS]:PORT; no host names, because any host may
 *               answer for a name
 */
#include "serve/watch_options.h"

#include "base/clock.h"
#include "base/log.h"
#include "guard/budget.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PERIOD_SEC 60
#define MOST_PERIOD_SEC	 (60 * 60)
#define LEAST_KEEP_SEC	 60
#define MOST_KEEP_SEC	 (UINT64_C(10) * 366 * 24 * 60 * 60)
#define LEAST_KEEP_BYTES (UINT64_C(1) << 20)
#define MOST_KEEP_BYTES	 (UINT64_C(1) << 60)
#define LEAST_MAP_BYTES	 (UINT64_C(1) << 20)
#define MOST_MAP_BYTES	 (UINT64_C(1) << 40)

struct unit {
	char letter;
	uint64_t factor;
};

static const struct unit durations[] = {
	{'s', 1}, {'m', 60}, {'h', 60 * 60}, {'d', 24 * 60 * 60}, {0}};
static const struct unit sizes[] = {{'k', UINT64_C(1) << 10}, {'K', UINT64_C(1) << 10},
				    {'M', UINT64_C(1) << 20}, {'G', UINT64_C(1) << 30},
				    {'T', UINT64_C(1) << 40}, {0}};

void watch_options_init(struct watch_options *options)
{
	*options = (struct watch_options){
		.format = RENDER_HTML,
		.period_ns = WATCH_DEFAULT_PERIOD_SEC * CLOCK_NS_PER_SEC,
		.keep_sec = WATCH_DEFAULT_KEEP_SEC,
		.keep_bytes = WATCH_DEFAULT_KEEP_BYTES,
		.map_bytes = WATCH_DEFAULT_MAP_BYTES,
	};
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

static bool parse_quantity(const char *text, const struct unit *units, uint64_t *ret)
{
	unsigned long long number;
	uint64_t factor = 1;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || errno)
		return false;
	if (*end) {
		while (units->letter && units->letter != *end)
			units++;
		if (!units->letter || end[1])
			return false;
		factor = units->factor;
	}
	if (number > UINT64_MAX / factor)
		return false;
	*ret = number * factor;
	return true;
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
	if (!parse_quantity(text, durations, &seconds) || seconds < LEAST_PERIOD_SEC ||
	    seconds > MOST_PERIOD_SEC)
		return bad_value("--period", text, "from 60s to 1h is needed, such as 10m");
	options->period_ns = seconds * CLOCK_NS_PER_SEC;
	return 0;
}

int watch_options_set_keep(struct watch_options *options, const char *text)
{
	uint64_t seconds;

	note_graphs(options, "--keep");
	if (!parse_quantity(text, durations, &seconds) || seconds < LEAST_KEEP_SEC ||
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
	if (!parse_quantity(text, sizes, &bytes) || bytes < LEAST_KEEP_BYTES ||
	    bytes > MOST_KEEP_BYTES)
		return bad_value("--keep-bytes", text,
				 "how much room graphs may take is needed, from 1M on, such as 2G");
	options->keep_bytes = bytes;
	return 0;
}

int watch_options_set_map_bytes(struct watch_options *options, const char *text)
{
	uint64_t bytes;

	note(options, "--map-bytes");
	if (!parse_quantity(text, sizes, &bytes) || bytes < LEAST_MAP_BYTES ||
	    bytes > MOST_MAP_BYTES)
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
	if (!parse_quantity(text, sizes, &bytes) || bytes < BUDGET_LEAST || bytes > MOST_MAP_BYTES)
		return bad_value("--memory", text,
				 "a number of bytes from 64M to 1T is needed, such as 1G: so much "
				 "is kept of everything together");
	options->memory_bytes = bytes;
	return 0;
}

int watch_options_set_http(struct watch_options *options, const char *text)
{
	note(options, "--http");
	if (!parse_address(text, &options->http))
		return bad_value("--http", text,
				 "PORT, ADDRESS:PORT or [ADDRESS]:PORT is needed, with an address "
				 "in numbers, such as 127.0.0.1:9464");
	options->has_http = true;
	return 0;
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

int watch_options_check(const struct watch_options *options)
{
	const char *given = options->has_format ? "--format" : options->first_of_graphs;

	if (options->http_hosts.count && !options->has_http) {
		log_error("--http-host goes with --http: without it no server is there");
		return -EINVAL;
	}
	if (!given || options->output_dir)
		return 0;
	log_error("%s goes with --output DIR: without it no graphs are written", given);
	return -EINVAL;
}
