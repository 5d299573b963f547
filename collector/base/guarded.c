// SPDX-License-Identifier: Apache-2.0
/* Hands calls to the guard, if there is one, see guarded.h. */
#include "base/guarded.h"

#include <stdlib.h>
#include <unistd.h>

static const struct guarded_runner *used;

enum guarded_end guarded_run(pid_t pid, struct guarded_call *call)
{
	if (used)
		return used->run(used->arg, pid, call);
	call->run(call);
	return GUARDED_DONE;
}

void guarded_leave(pid_t pid, struct guarded_call *call)
{
	if (used) {
		used->leave(used->arg, pid, call);
		return;
	}
	call->run(call);
	guarded_free(call);
}

struct close_call {
	struct guarded_call base;
	int fd;
};

static void run_close(struct guarded_call *base)
{
	close(((struct close_call *)base)->fd);
}

void guarded_close(pid_t pid, int fd)
{
	struct close_call *call = malloc(sizeof(*call));

	if (!call) {
		close(fd);
		return;
	}
	*call = (struct close_call){.base = {.run = run_close}, .fd = fd};
	guarded_leave(pid, &call->base);
}

void guarded_use(const struct guarded_runner *runner)
{
	used = runner;
}
