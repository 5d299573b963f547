// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   libnng -> its functions, for the sockets of --publish and --publish-state
 * units:   as of the library
 * threads: any for load; otherwise as of the library
 * errors:  NULL, or why the library cannot be loaded
 * source:  libnng
 *
 * In place of the library's own header, see lazy/lazy_library.h.
 */
#ifndef FG_LAZY_LAZY_NNG_H
#define FG_LAZY_LAZY_NNG_H

#include "lazy/lazy_library.h"

#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>
#include <nng/protocol/reqrep0/rep.h>

#define LAZY_NNG(X)                                                                                \
	X(nng_aio_alloc)                                                                           \
	X(nng_aio_free)                                                                            \
	X(nng_aio_get_msg)                                                                         \
	X(nng_aio_result)                                                                          \
	X(nng_aio_stop)                                                                            \
	X(nng_close)                                                                               \
	X(nng_listener_close)                                                                      \
	X(nng_listener_create)                                                                     \
	X(nng_listener_id)                                                                         \
	X(nng_listener_set_int)                                                                    \
	X(nng_listener_start)                                                                      \
	X(nng_msg_alloc)                                                                           \
	X(nng_msg_append)                                                                          \
	X(nng_msg_body)                                                                            \
	X(nng_msg_free)                                                                            \
	X(nng_msg_len)                                                                             \
	X(nng_pipe_close)                                                                          \
	X(nng_pipe_get_uint64)                                                                     \
	X(nng_pipe_id)                                                                             \
	X(nng_pipe_listener)                                                                       \
	X(nng_pipe_notify)                                                                         \
	X(nng_pub0_open)                                                                           \
	X(nng_recv_aio)                                                                            \
	X(nng_rep0_open)                                                                           \
	X(nng_sendmsg)                                                                             \
	X(nng_socket_set_int)                                                                      \
	X(nng_socket_set_size)                                                                     \
	X(nng_strerror)

extern struct lazy_nng {
	LAZY_NNG(LAZY_MEMBER)
} lazy_nng;

/* Before the first call of any. */
const char *lazy_nng_load(void);

#define nng_aio_alloc	     lazy_nng.nng_aio_alloc
#define nng_aio_free	     lazy_nng.nng_aio_free
#define nng_aio_get_msg	     lazy_nng.nng_aio_get_msg
#define nng_aio_result	     lazy_nng.nng_aio_result
#define nng_aio_stop	     lazy_nng.nng_aio_stop
#define nng_close	     lazy_nng.nng_close
#define nng_listener_close   lazy_nng.nng_listener_close
#define nng_listener_create  lazy_nng.nng_listener_create
#define nng_listener_id	     lazy_nng.nng_listener_id
#define nng_listener_set_int lazy_nng.nng_listener_set_int
#define nng_listener_start   lazy_nng.nng_listener_start
#define nng_msg_alloc	     lazy_nng.nng_msg_alloc
#define nng_msg_append	     lazy_nng.nng_msg_append
#define nng_msg_body	     lazy_nng.nng_msg_body
#define nng_msg_free	     lazy_nng.nng_msg_free
#define nng_msg_len	     lazy_nng.nng_msg_len
#define nng_pipe_close	     lazy_nng.nng_pipe_close
#define nng_pipe_get_uint64  lazy_nng.nng_pipe_get_uint64
#define nng_pipe_id	     lazy_nng.nng_pipe_id
#define nng_pipe_listener    lazy_nng.nng_pipe_listener
#define nng_pipe_notify	     lazy_nng.nng_pipe_notify
#define nng_pub0_open	     lazy_nng.nng_pub0_open
#define nng_recv_aio	     lazy_nng.nng_recv_aio
#define nng_rep0_open	     lazy_nng.nng_rep0_open
#define nng_sendmsg	     lazy_nng.nng_sendmsg
#define nng_socket_set_int   lazy_nng.nng_socket_set_int
#define nng_socket_set_size  lazy_nng.nng_socket_set_size
#define nng_strerror	     lazy_nng.nng_strerror

#endif
