// SPDX-License-Identifier: Apache-2.0
/*
 * Looks at pending signals, see signal_watch.h. A signal that somebody reads is pending no more;
 * the thread itself reads none.
 */
#include "loop/signal_watch.h"

#include "base/clock.h"
#include "base/thread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STEP_MS	   50
#define MAX_UNREAD (SIGNAL_WATCH_NS / (STEP_MS * CLOCK_NS_PER_MS))
#define MAX_ENDING (SIGNAL_WATCH_END_NS / (STEP_MS * CLOCK_NS_PER_MS))

struct signal_watch {
	pthread_t thread;
	int signal_fd, wake_fd;
	atomic_bool is_taken, is_stopping;
};

static bool pending(void)
{
	sigset_t set;

	return sigpending(&set) == 0 && (sigismember(&set, SIGTERM) || sigismember(&set, SIGINT));
}

/* The log may be what the loop stands in. */
static _Noreturn void end(void)
{
	static const char text[] =
		"fgcollect: told to end, and does not come to that: ended at once; what was "
		"recorded last is lost\n";
	struct pollfd err = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (poll(&err, 1, 0) > 0 && (err.revents & POLLOUT))
		(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(EXIT_FAILURE);
}

static void *look(void *arg)
{
	struct signal_watch *const watch = arg;
	struct pollfd polled[] = {{.fd = watch->wake_fd, .events = POLLIN},
				  {.fd = watch->signal_fd, .events = POLLIN}};
	unsigned unread = 0, ending = 0;
	uint64_t value;

	while (!atomic_load(&watch->is_stopping)) {
		const bool counts = unread > 0 || ending > 0;

		/* Without a signal the thread sleeps. SIGHUP is looked at until it is read. */
		poll(polled, counts ? 1 : 2, counts ? STEP_MS : -1);
		if (polled[0].revents)
			(void)!read(watch->wake_fd, &value, sizeof(value));
		ending += atomic_load(&watch->is_taken);
		unread = ending == 0 && pending() ? unread + 1 : 0;
		if (unread > MAX_UNREAD || ending > MAX_ENDING)
			end();
		if (!counts && unread == 0 && polled[1].revents)
			poll(polled, 1, STEP_MS);
	}
	return NULL;
}

int signal_watch_start(int signal_fd, struct signal_watch **ret)
{
	struct signal_watch *watch = calloc(1, sizeof(*watch));
	int err;

	if (!watch)
		return -ENOMEM;
	watch->signal_fd = signal_fd;
	watch->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = watch->wake_fd < 0 ? -errno : thread_start(&watch->thread, look, watch);
	if (!err) {
		*ret = watch;
		return 0;
	}
	if (watch->wake_fd >= 0)
		close(watch->wake_fd);
	free(watch);
	return err;
}

static void tell(struct signal_watch *watch, atomic_bool *what)
{
	const uint64_t one = 1;

	atomic_store(what, true);
	(void)!write(watch->wake_fd, &one, sizeof(one));
}

void signal_watch_take(struct signal_watch *watch)
{
	tell(watch, &watch->is_taken);
}

void signal_watch_stop(struct signal_watch *watch)
{
	if (!watch)
		return;
	tell(watch, &watch->is_stopping);
	pthread_join(watch->thread, NULL);
	close(watch->wake_fd);
	free(watch);
}
