// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the REP socket of libnng -> one request at a time, and its answer
 * units:   bytes
 * threads: publish_inbox_next and publish_inbox_pass are the model's; the other functions are one
 *          other thread's; libnng has threads of its own
 * errors:  negative errno
 * source:  nng_rep(7), nng_recv_aio(3)
 *
 * A request is heard only after the one before was answered: so however many ask, one of them waits
 * for the model, and the others wait in libnng, one request of each, in the order in which they
 * came. An answer that its client does not take is lost, and nobody waits.
 */
#ifndef FG_PUBLISH_PUBLISH_INBOX_H
#define FG_PUBLISH_PUBLISH_INBOX_H

#include "publish/publish_socket.h"

enum publish_inbox_state {
	PUBLISH_INBOX_IDLE, /* nothing is awaited, which publish_inbox_step changes */
	PUBLISH_INBOX_LISTENS,
	PUBLISH_INBOX_ASKED,	/* a request waits for the model */
	PUBLISH_INBOX_ANSWERED, /* the model makes an answer, or has made it */
};

struct publish_inbox {
	struct publish_socket socket;
	nng_aio *aio;
	int wake_fd;	      /* an eventfd, borrowed: is written to when a request has come */
	pthread_mutex_t lock; /* guards the members below */
	enum publish_inbox_state state;
	size_t len;
	char text[PUBLISH_REQUEST_BYTES];
};

/* The address must not change until publish_inbox_close. */
int publish_inbox_open(struct publish_inbox *inbox, const struct publish_paths *paths, int wake_fd,
		       uint64_t now_ns);
void publish_inbox_close(struct publish_inbox *inbox);

/* Copies the request that waits. False: none does. Each request has to have an answer. */
bool publish_inbox_next(struct publish_inbox *inbox, char text[PUBLISH_REQUEST_BYTES],
			size_t *ret_len);
/* Sends the answer, which is taken in any case; NULL: there is none. */
int publish_inbox_answer(struct publish_inbox *inbox, nng_msg *answer);
/* The request has no answer. Of the model's thread, while no answer is on its way. */
void publish_inbox_pass(struct publish_inbox *inbox);
/* To be called about once a second. */
void publish_inbox_step(struct publish_inbox *inbox, uint64_t now_ns);

#endif
