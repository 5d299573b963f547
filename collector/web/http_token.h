// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file with a token -> whether a text is the token
 * units:   bytes
 * threads: any
 * errors:  negative errno, said on stderr
 * source:  RFC 6750, 2.1
 *
 * The token is the file's first line, of HTTP_TOKEN_LEAST to HTTP_TOKEN_MOST characters without
 * blanks before and behind. The file must not be readable or writable by others, and is read again
 * when it has changed. While the file is bad, no text is the token.
 */
#ifndef FG_WEB_HTTP_TOKEN_H
#define FG_WEB_HTTP_TOKEN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_TOKEN_LEAST 16u
#define HTTP_TOKEN_MOST	 255u

struct http_token {
	char *path;
	pthread_mutex_t lock;
	char text[HTTP_TOKEN_MOST + 1]; /* filled up with zeros; "": there is none */
	uint64_t seen;			/* a hash of what tells the file's states from each other */
	int err;			/* the last that was said */
};

int http_token_open(struct http_token *token, const char *path);
void http_token_close(struct http_token *token); /* a zero-filled struct is legal */

/* Reads the file if it has changed. May take as long as the file's disk does. */
void http_token_refresh(struct http_token *token);
/* The time that this takes does not depend on where the texts differ. */
bool http_token_is(struct http_token *token, const char *text);

#endif
