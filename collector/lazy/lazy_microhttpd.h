// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   libmicrohttpd -> its functions, for --http
 * units:   as of the library
 * threads: any for load; otherwise as of the library
 * errors:  NULL, or why the library cannot be loaded
 * source:  libmicrohttpd
 *
 * In place of the library's own header, see lazy/lazy_library.h.
 */
#ifndef FG_LAZY_LAZY_MICROHTTPD_H
#define FG_LAZY_LAZY_MICROHTTPD_H

#include "lazy/lazy_library.h"

#include <microhttpd.h>

#define LAZY_MICROHTTPD(X)                                                                         \
	X(MHD_add_response_header)                                                                 \
	X(MHD_basic_auth_get_username_password)                                                    \
	X(MHD_create_response_from_buffer)                                                         \
	X(MHD_create_response_from_callback)                                                       \
	X(MHD_destroy_response)                                                                    \
	X(MHD_free)                                                                                \
	X(MHD_get_connection_info)                                                                 \
	X(MHD_get_connection_values)                                                               \
	X(MHD_get_connection_values_n)                                                             \
	X(MHD_get_daemon_info)                                                                     \
	X(MHD_lookup_connection_value)                                                             \
	X(MHD_queue_response)                                                                      \
	X(MHD_resume_connection)                                                                   \
	X(MHD_start_daemon)                                                                        \
	X(MHD_stop_daemon)                                                                         \
	X(MHD_suspend_connection)

extern struct lazy_microhttpd {
	LAZY_MICROHTTPD(LAZY_MEMBER)
} lazy_microhttpd;

/* Before the first call of any. */
const char *lazy_microhttpd_load(void);

#define MHD_add_response_header		     lazy_microhttpd.MHD_add_response_header
#define MHD_basic_auth_get_username_password lazy_microhttpd.MHD_basic_auth_get_username_password
#define MHD_create_response_from_buffer	     lazy_microhttpd.MHD_create_response_from_buffer
#define MHD_create_response_from_callback    lazy_microhttpd.MHD_create_response_from_callback
#define MHD_destroy_response		     lazy_microhttpd.MHD_destroy_response
#define MHD_free			     lazy_microhttpd.MHD_free
#define MHD_get_connection_info		     lazy_microhttpd.MHD_get_connection_info
#define MHD_get_connection_values	     lazy_microhttpd.MHD_get_connection_values
#define MHD_get_connection_values_n	     lazy_microhttpd.MHD_get_connection_values_n
#define MHD_get_daemon_info		     lazy_microhttpd.MHD_get_daemon_info
#define MHD_lookup_connection_value	     lazy_microhttpd.MHD_lookup_connection_value
#define MHD_queue_response		     lazy_microhttpd.MHD_queue_response
#define MHD_resume_connection		     lazy_microhttpd.MHD_resume_connection
#define MHD_start_daemon		     lazy_microhttpd.MHD_start_daemon
#define MHD_stop_daemon			     lazy_microhttpd.MHD_stop_daemon
#define MHD_suspend_connection		     lazy_microhttpd.MHD_suspend_connection

#endif
