// SPDX-License-Identifier: Apache-2.0
/* Hears requests by libnng, see publish_inbox.h. */
#include "publish/publish_inbox.h"

#include "base/thread.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void set_state(struct publish_inbox *inbox, enum publish_inbox_state state)
{
	THREAD_HOLD(&inbox->lock);

	inbox->state = state;
}

/* libnng allows no longer message. */
static void take_text(struct publish_inbox *inbox, nng_msg *msg)
{
	const size_t len = nng_msg_len(msg);

	THREAD_HOLD(&inbox->lock);
	inbox->len = len < sizeof(inbox->text) ? len : sizeof(inbox->text);
	memcpy(inbox->text, nng_msg_body(msg), inbox->len);
	inbox->state = PUBLISH_INBOX_ASKED;
}

/* Called in libnng's threads. */
static void on_request(void *arg)
{
	struct publish_inbox *const inbox = arg;
	const uint64_t one = 1;
	nng_msg *msg;

	if (nng_aio_result(inbox->aio) != 0) {
		set_state(inbox, PUBLISH_INBOX_IDLE); /* the next step tries again */
		return;
	}
	msg = nng_aio_get_msg(inbox->aio);
	take_text(inbox, msg);
	nng_msg_free(msg);
	if (write(inbox->wake_fd, &one, sizeof(one)) < 0)
		return; /* it is full: the loop is woken anyway */
}

static void hear(struct publish_inbox *inbox)
{
	set_state(inbox, PUBLISH_INBOX_LISTENS);
	nng_recv_aio(inbox->socket.socket, inbox->aio);
}

int publish_inbox_open(struct publish_inbox *inbox, const struct publish_paths *paths, int wake_fd,
		       uint64_t now_ns)
{
	int err;

	*inbox = (struct publish_inbox){.wake_fd = wake_fd};
	err = publish_socket_open(&inbox->socket, PUBLISH_REP, paths, 0, now_ns);
	if (err)
		return err;
	pthread_mutex_init(&inbox->lock, NULL);
	err = nng_aio_alloc(&inbox->aio, on_request, inbox);
	if (err) {
		publish_socket_close(&inbox->socket);
		return -ENOMEM;
	}
	hear(inbox);
	return 0;
}

void publish_inbox_close(struct publish_inbox *inbox)
{
	nng_aio_stop(inbox->aio); /* on_request has returned then */
	publish_socket_close(&inbox->socket);
	nng_aio_free(inbox->aio);
	pthread_mutex_destroy(&inbox->lock);
}

bool publish_inbox_next(struct publish_inbox *inbox, char text[PUBLISH_REQUEST_BYTES],
			size_t *ret_len)
{
	THREAD_HOLD(&inbox->lock);

	if (inbox->state != PUBLISH_INBOX_ASKED)
		return false;
	memcpy(text, inbox->text, inbox->len);
	*ret_len = inbox->len;
	inbox->state = PUBLISH_INBOX_ANSWERED;
	return true;
}

void publish_inbox_pass(struct publish_inbox *inbox)
{
	set_state(inbox, PUBLISH_INBOX_IDLE); /* the next step listens */
}

int publish_inbox_answer(struct publish_inbox *inbox, nng_msg *answer)
{
	const int err = answer ? publish_socket_send(&inbox->socket, answer) : -ENOMEM;

	hear(inbox);
	return err;
}

void publish_inbox_step(struct publish_inbox *inbox, uint64_t now_ns)
{
	bool is_idle;

	publish_socket_step(&inbox->socket, now_ns);
	pthread_mutex_lock(&inbox->lock);
	is_idle = inbox->state == PUBLISH_INBOX_IDLE;
	pthread_mutex_unlock(&inbox->lock);
	if (is_idle)
		hear(inbox);
}
