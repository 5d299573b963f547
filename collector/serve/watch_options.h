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

#include "push/push_options.h"
#include "render/render.h"
#include "web/http_hosts.h"
#include "web/http_server.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The sampling rate of a daemon without -F. It is a fifth of a recording's rate: ten minutes still
 * have 11,400 samples of each busy CPU, which shows a method of 1 % to within a tenth of its share.
 * Like 99 it has no common factor with the rates of timers.
 */
#define WATCH_DEFAULT_HZ 19

#define WATCH_DEFAULT_PERIOD_SEC   600
#define WATCH_DEFAULT_KEEP_SEC	   (7 * 24 * 60 * 60)
#define WATCH_DEFAULT_KEEP_BYTES   (UINT64_C(1) << 30)
#define WATCH_DEFAULT_MAP_BYTES	   (UINT64_C(1) << 30)
#define WATCH_DEFAULT_STORE_BYTES  (UINT64_C(2) << 30)
#define WATCH_DEFAULT_STORE_AGE	   (30 * 24 * 60 * 60)
#define WATCH_DEFAULT_STORE_WINDOW 10
#define WATCH_MAX_HTTP_HOSTS	   16 /* HTTP_HOSTS_MAX has the host's own names too */

struct watch_options {
	/* NULL for both, and nowhere to push to: the daemon samples only for clients */
	const char *output_dir; /* of graphs */
	const char *store_dir;
	enum render_format format;
	bool has_format; /* --format was given, which record accepts too */
	uint64_t period_ns;
	uint64_t keep_sec;
	uint64_t keep_bytes;
	uint64_t store_bytes, store_age_sec, store_window_ns;
	uint64_t map_bytes;    /* of all perf maps */
	uint64_t memory_bytes; /* of everything; 0: what the machine allows */
	struct push_options push;
	const char *publish_path; /* of the socket for events; or NULL */
	struct http_address http[HTTP_MAX_ADDRESSES];
	size_t n_http; /* 0: there is no server */
	const char *http_cert, *http_key, *http_client_ca, *http_token_file; /* or NULL */
	struct http_hosts http_hosts; /* that are given beside this host's own names */
	/*
	 * the first given of these options, so that commands that do not have them can refuse it;
	 * or NULL
	 */
	const char *first_given;
	const char *first_of_graphs; /* the first given that says something of graphs; or NULL */
	const char *first_of_http; /* the first given that says how --http does its work; or NULL */
	const char *first_of_store; /* the first given that says something of the store; or NULL */
};

void watch_options_init(struct watch_options *options);

/* Each parses the value of an option. */
int watch_options_set_format(struct watch_options *options, const char *text);
int watch_options_set_period(struct watch_options *options, const char *text);
int watch_options_set_keep(struct watch_options *options, const char *text);
int watch_options_set_keep_bytes(struct watch_options *options, const char *text);
int watch_options_set_store(struct watch_options *options, const char *text);
int watch_options_set_store_bytes(struct watch_options *options, const char *text);
int watch_options_set_store_age(struct watch_options *options, const char *text);
int watch_options_set_store_window(struct watch_options *options, const char *text);
int watch_options_set_map_bytes(struct watch_options *options, const char *text);
int watch_options_set_memory(struct watch_options *options, const char *text);
/* Each adds one more; one that is there already changes nothing. */
int watch_options_add_http(struct watch_options *options, const char *text);
int watch_options_set_http_cert(struct watch_options *options, const char *text);
int watch_options_set_http_key(struct watch_options *options, const char *text);
int watch_options_set_http_client_ca(struct watch_options *options, const char *text);
int watch_options_set_http_token_file(struct watch_options *options, const char *text);
int watch_options_add_http_host(struct watch_options *options, const char *text);

int watch_options_set_publish(struct watch_options *options, const char *text);
/* name: of the option, "--push-label" for instance. */
int watch_options_set_push(struct watch_options *options, const char *name, const char *text);

/*
 * Reads files that options name. -EINVAL if an option was given without another one that it needs,
 * or if a token would cross a network in the clear.
 */
int watch_options_check(struct watch_options *options);

#endif
