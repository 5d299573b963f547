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

#include "publish/publish_paths.h"
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
	struct publish_paths publish, publish_state; /* sockets for events and for requests */
	struct http_address http[HTTP_MAX_ADDRESSES];
	size_t n_http; /* 0: there is no server */
	const char *http_cert, *http_key, *http_client_ca, *http_token_file; /* or NULL */
	struct http_hosts http_hosts; /* that are given beside this host's own names */
};

void watch_options_init(struct watch_options *options);

/* Each reads the text of an option; told is the option's name, for messages. */
int watch_options_set_format(struct watch_options *options, const char *told, const char *text);
/* Each adds one more; one that is there already changes nothing. */
int watch_options_add_http(struct watch_options *options, const char *told, const char *text);
int watch_options_add_publish(struct watch_options *options, const char *told, const char *text);
int watch_options_add_publish_state(struct watch_options *options, const char *told,
				    const char *text);
int watch_options_add_http_host(struct watch_options *options, const char *told, const char *text);

/*
 * Reads files that options name. -EINVAL if TLS has no address, or if a token would cross a network
 * in the clear.
 */
int watch_options_check(struct watch_options *options);

#endif
