// SPDX-License-Identifier: Apache-2.0
/* Listens by libnng, see publish_listener.h. */
#include "publish/publish_listener.h"

#include "base/log.h"
#include "shared/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int start(struct publish_listener *listener)
{
	struct stat st;
	char url[sizeof("ipc://") + sizeof(((struct sockaddr_un *)0)->sun_path)];
	int err;

	snprintf(url, sizeof(url), "ipc://%s", listener->path);
	err = nng_listener_create(&listener->listener, listener->socket, url);
	if (err)
		return err;
	atomic_store(&listener->id, nng_listener_id(listener->listener));
	err = nng_listener_set_int(listener->listener, NNG_OPT_IPC_PERMISSIONS, 0600);
	if (!err)
		err = nng_listener_start(listener->listener, 0);
	if (err) {
		nng_listener_close(listener->listener);
		return err;
	}
	listener->inode = lstat(listener->path, &st) == 0 ? st.st_ino : 0;
	return 0;
}

int publish_listener_open(struct publish_listener *listener, uint64_t now_ns)
{
	listener->check_fd = -1;
	listener->check_ns = now_ns + PUBLISH_CHECK_NS;
	return listener->path ? start(listener) : NNG_ENOMEM;
}

void publish_listener_fini(struct publish_listener *listener)
{
	if (listener->path && listener->check_fd >= 0)
		close(listener->check_fd);
	free(listener->path);
	listener->path = NULL;
}

/* Puts another listener at the path, unless the path is somebody else's by now. */
static void renew(struct publish_listener *listener)
{
	struct stat st;
	int err;

	if (lstat(listener->path, &st) == 0 && st.st_ino != listener->inode) {
		log_error("%s ipc://%s: something else is there now: nobody can connect until it "
			  "is removed",
			  listener->option, listener->path);
		return;
	}
	nng_listener_close(listener->listener); /* removes the path */
	err = start(listener);
	if (err) {
		log_error("%s ipc://%s: cannot listen anew: %s", listener->option, listener->path,
			  nng_strerror(err));
		return;
	}
	listener->renewed++;
	log_warning("%s ipc://%s: listening anew, because a client that went away while it was "
		    "greeted has ended libnng's listener, or the socket was removed: clients have "
		    "to connect again",
		    listener->option, listener->path);
}

/* ---- the check ---- */

static int connect_to(const struct publish_listener *listener)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	uint8_t greeting[WIRE_SP_GREETING_BYTES];

	if (fd < 0)
		return -errno;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", listener->path);
	wire_encode_greeting(greeting, listener->peer);
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0 &&
	    send(fd, greeting, sizeof(greeting), MSG_NOSIGNAL) == sizeof(greeting))
		return fd;
	close(fd);
	return -ECONNREFUSED;
}

static void end_check(struct publish_listener *listener, uint64_t now_ns)
{
	if (listener->check_fd >= 0)
		close(listener->check_fd);
	listener->check_fd = -1;
	atomic_store(&listener->check, PUBLISH_CHECK_NONE);
	listener->check_ns = now_ns + PUBLISH_CHECK_NS;
}

static void begin_check(struct publish_listener *listener, uint64_t now_ns)
{
	atomic_store(&listener->check, PUBLISH_CHECK_BEGUN);
	listener->check_fd = connect_to(listener);
	if (listener->check_fd >= 0) {
		listener->check_ns = now_ns;
		return;
	}
	if (listener->check_fd == -ECONNREFUSED)
		renew(listener);
	end_check(listener, now_ns);
}

bool publish_listener_take_check(struct publish_listener *listener, nng_pipe pipe)
{
	int begun = PUBLISH_CHECK_BEGUN;

	return nng_listener_id(nng_pipe_listener(pipe)) == atomic_load(&listener->id) &&
	       atomic_compare_exchange_strong(&listener->check, &begun, PUBLISH_CHECK_SEEN);
}

void publish_listener_step(struct publish_listener *listener, uint64_t now_ns)
{
	if (listener->check_fd < 0) {
		if (now_ns >= listener->check_ns)
			begin_check(listener, now_ns);
	} else if (atomic_load(&listener->check) == PUBLISH_CHECK_SEEN) {
		end_check(listener, now_ns);
	} else if (now_ns >= listener->check_ns + PUBLISH_CHECK_WAIT_NS) {
		renew(listener);
		end_check(listener, now_ns);
	}
}
