// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the scripts and the style of the page over the store -> one HTML document, and its
 *          policy
 * units:   bytes
 * threads: any
 * errors:  -ENOMEM
 * source:  Content Security Policy Level 3; CMakeLists.txt says which files those are
 *
 * The policy allows that script and that style by their hashes, and requests to the server that the
 * page is of: nothing else, whatever a name contains.
 */
#ifndef FG_WEB_WEB_PAGE_H
#define FG_WEB_WEB_PAGE_H

#include <stddef.h>

/* The document; the caller frees *ret. */
int web_page_make(char **ret, size_t *ret_len);
/* The value of Content-Security-Policy; the caller frees it. NULL: there is no memory. */
char *web_page_policy(void);

#endif
