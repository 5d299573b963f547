// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what is written to a stream -> the bytes of an answer, in a memory file, with its head
 * units:   bytes
 * threads: one at a time; a pool is any thread's
 * errors:  negative errno; -EFBIG: the answer is larger than one may be; -ENOBUFS: all answers
 *          together are
 * source:  memfd_create(2), fopencookie(3)
 *
 * Answers wait in memory until their clients have taken them. A pool bounds their bytes.
 */
#ifndef FG_WEB_WEB_ANSWER_H
#define FG_WEB_WEB_ANSWER_H

#include "base/log.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define WEB_FILE_NAME_BYTES 160u
#define WEB_TYPE_JSON	    "application/json"
#define WEB_ANSWER_JSON	    (JSON_COMPACT | JSON_REAL_PRECISION(13)) /* how json_dumpf writes */

/* What all answers have. */
struct web_pool {
	pthread_mutex_t lock;
	uint64_t bytes, max_bytes;
	uint64_t max_answer; /* the most of one */
};

struct web_answer {
	unsigned status;
	const char *type;		     /* a static text */
	const char *policy;		     /* Content-Security-Policy, a static text; or NULL */
	char file_name[WEB_FILE_NAME_BYTES]; /* by which the answer is saved; "": it is shown */
	char warning[LOG_CATCH_BYTES];	     /* what is not whole of it; "": it is */
	unsigned retry_sec;		     /* after which the client may ask again; 0: at once */
	struct web_pool *pool;
	FILE *stream; /* while it is written */
	int fd;	      /* -1: there is no body */
	uint64_t bytes;
	int err; /* the first of writing */
};

void web_pool_init(struct web_pool *pool, uint64_t max_bytes);
void web_pool_fini(struct web_pool *pool);
void web_pool_set_max_bytes(struct web_pool *pool, uint64_t max_bytes);
uint64_t web_pool_bytes(struct web_pool *pool);

/* Begins an answer with a body. */
int web_answer_open(struct web_answer *answer, struct web_pool *pool);
/* Ends writing; an error of it, or err if that is one. */
int web_answer_close(struct web_answer *answer, int err);
/* Gives its bytes back; to be called once, also after an error. */
void web_answer_fini(struct web_answer *answer);

/* Writes a whole answer; takes value over, which is NULL where memory was missing. */
int web_answer_json(struct web_answer *answer, struct web_pool *pool, json_t *value);
/* Makes an answer {"error": text}, whatever was written before. Without memory it has no body. */
void web_answer_error(struct web_answer *answer, struct web_pool *pool, unsigned status,
		      const char *text);

/* Up to len bytes of the body from at on; 0: there are no more. Negative errno. */
ssize_t web_answer_read(const struct web_answer *answer, uint64_t at, char *ret, size_t len);

#endif
