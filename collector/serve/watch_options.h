// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the daemon's options on the command line -> values
 * units:   nanoseconds, bytes, seconds
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_SERVE_WATCH_OPTIONS_H
#define FG_SERVE_WATCH_OPTIONS_H

#include "render/render.h"
#include "serve/http_hosts.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The sampling rate of a daemon without -F. It is a fifth of a recording's rate: ten minutes still
 * have 11,400 samples of each busy CPU, which shows a method of 1 % to within a tenth of its share.
 * Like 99 it has no common factor with the rates of timers.
 */
#define WATCH_DEFAULT_HZ 19

#define WATCH_DEFAULT_PERIOD_SEC 600
#define WATCH_DEFAULT_KEEP_SEC	 (7 * 24 * 60 * 60)
#define WATCH_DEFAULT_KEEP_BYTES (UINT64_C(1) << 30)
#define WATCH_DEFAULT_MAP_BYTES	 (UINT64_C(1) << 30)
#define WATCH_MAX_HTTP_HOSTS	 16 /* HTTP_HOSTS_MAX has the host's own names too */

struct watch_options {
	const char *output_dir; /* NULL: the daemon samples only for clients */
	enum render_format format;
	bool has_format; /* --format was given, which record accepts too */
	uint64_t period_ns;
	uint64_t keep_sec;
	uint64_t keep_bytes;
	uint64_t map_bytes;    /* of all perf maps */
	uint64_t memory_bytes; /* of everything; 0: what the machine allows */
	bool has_http;
	struct sockaddr_storage http;
	struct http_hosts http_hosts; /* that are given beside this host's own names */
	/*
	 * the first given of these options, so that commands that do not have them can refuse it;
	 * or NULL
	 */
	const char *first_given;
	const char *first_of_graphs; /* the first given that says something of graphs; or NULL */
};

void watch_options_init(struct watch_options *options);

/* Each parses the value of an option. */
int watch_options_set_format(struct watch_options *options, const char *text);
int watch_options_set_period(struct watch_options *options, const char *text);
int watch_options_set_keep(struct watch_options *options, const char *text);
int watch_options_set_keep_bytes(struct watch_options *options, const char *text);
int watch_options_set_map_bytes(struct watch_options *options, const char *text);
int watch_options_set_memory(struct watch_options *options, const char *text);
int watch_options_set_http(struct watch_options *options, const char *text);
int watch_options_add_http_host(struct watch_options *options, const char *text);

/* -EINVAL if an option was given without another one that it needs. */
int watch_options_check(const struct watch_options *options);

#endif
