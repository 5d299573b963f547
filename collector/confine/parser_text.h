// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a text that the collector has read -> a file in memory -> a copy in a parser
 * units:   bytes
 * threads: any
 * errors:  negative errno; -EBADMSG: the other end has died, or has sent something else
 * source:  memfd_create(2), unix(7) SCM_RIGHTS
 *
 * A text may be longer than the buffer of a socket. So a text is written to a file in memory, and
 * the sender never waits for the parser. The head is what the parser has to know besides.
 */
#ifndef FG_CONFINE_PARSER_TEXT_H
#define FG_CONFINE_PARSER_TEXT_H

#include <stddef.h>

#define PARSER_TEXT_HEAD_BYTES 4096

/* Sends both to a parser that was just begun. head_len is at most PARSER_TEXT_HEAD_BYTES. */
int parser_text_send(int sock, const void *head, size_t head_len, const char *text, size_t len);

/*
 * The parser's side. head receives exactly head_len bytes; the caller frees *ret, which is
 * terminated.
 */
int parser_text_receive(int sock, void *head, size_t head_len, char **ret, size_t *ret_len);

#endif
