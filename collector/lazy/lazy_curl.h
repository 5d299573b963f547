// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   libcurl -> its functions, for requests of --push
 * units:   as of the library
 * threads: any for load; otherwise as of the library
 * errors:  NULL, or why the library cannot be loaded
 * source:  libcurl
 *
 * In place of the library's own header, see lazy/lazy_library.h.
 */
#ifndef FG_LAZY_LAZY_CURL_H
#define FG_LAZY_LAZY_CURL_H

#include "lazy/lazy_library.h"

#include <curl/curl.h>

#define LAZY_CURL(X)                                                                               \
	X(curl_easy_cleanup)                                                                       \
	X(curl_easy_getinfo)                                                                       \
	X(curl_easy_init)                                                                          \
	X(curl_easy_setopt)                                                                        \
	X(curl_easy_strerror)                                                                      \
	X(curl_free)                                                                               \
	X(curl_getdate)                                                                            \
	X(curl_global_init)                                                                        \
	X(curl_multi_add_handle)                                                                   \
	X(curl_multi_cleanup)                                                                      \
	X(curl_multi_info_read)                                                                    \
	X(curl_multi_init)                                                                         \
	X(curl_multi_perform)                                                                      \
	X(curl_multi_poll)                                                                         \
	X(curl_multi_remove_handle)                                                                \
	X(curl_multi_wakeup)                                                                       \
	X(curl_slist_append)                                                                       \
	X(curl_slist_free_all)                                                                     \
	X(curl_url)                                                                                \
	X(curl_url_cleanup)                                                                        \
	X(curl_url_get)                                                                            \
	X(curl_url_set)

extern struct lazy_curl {
	LAZY_CURL(LAZY_MEMBER)
} lazy_curl;

/* Before the first call of any. */
const char *lazy_curl_load(void);

#define curl_easy_cleanup	 lazy_curl.curl_easy_cleanup
#define curl_easy_init		 lazy_curl.curl_easy_init
#define curl_easy_strerror	 lazy_curl.curl_easy_strerror
#define curl_free		 lazy_curl.curl_free
#define curl_getdate		 lazy_curl.curl_getdate
#define curl_global_init	 lazy_curl.curl_global_init
#define curl_multi_add_handle	 lazy_curl.curl_multi_add_handle
#define curl_multi_cleanup	 lazy_curl.curl_multi_cleanup
#define curl_multi_info_read	 lazy_curl.curl_multi_info_read
#define curl_multi_init		 lazy_curl.curl_multi_init
#define curl_multi_perform	 lazy_curl.curl_multi_perform
#define curl_multi_poll		 lazy_curl.curl_multi_poll
#define curl_multi_remove_handle lazy_curl.curl_multi_remove_handle
#define curl_multi_wakeup	 lazy_curl.curl_multi_wakeup
#define curl_slist_append	 lazy_curl.curl_slist_append
#define curl_slist_free_all	 lazy_curl.curl_slist_free_all
#define curl_url		 lazy_curl.curl_url
#define curl_url_cleanup	 lazy_curl.curl_url_cleanup
#define curl_url_get		 lazy_curl.curl_url_get
#define curl_url_set		 lazy_curl.curl_url_set

#endif
