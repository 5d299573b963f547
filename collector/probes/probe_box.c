// SPDX-License-Identifier: Apache-2.0
/* Events that belong together, asked for by a thread of the guard; see probe_box.h. */
#include "probes/probe_box.h"

#include "base/guarded.h"
#include "base/reach.h"
#include "probes/event_holder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_FD 3 /* 0 is no program */

/* An event that is to be opened, or is open. */
struct box_event {
	uint64_t file_off, semaphore_off;
	int program;
	int program_fd; /* the program itself, if events are links; 0: they are not */
	struct uprobe uprobe;
	enum uprobe_way way; /* once it is open */
	int fd;
};

struct probe_box {
	unsigned refs; /* the arm, and the call that opens */
	bool is_done;  /* the call has run: what follows is the arm's then */
	int file;
	pid_t pid;
	struct event_holder *holder; /* NULL: the guard's thread opens and closes */
	struct box_event events[PROBE_BOX_MAX_EVENTS];
	size_t n_events, n_begun, n_open;
	int err;
	char why[UPROBE_WHY_BYTES];
};

struct opening {
	struct guarded_call call; /* first */
	struct probe_box *box;
};

/* ---- on any thread ---- */

static void close_program(struct box_event *event)
{
	if (event->program_fd > 0)
		close(event->program_fd);
	event->program_fd = 0;
}

static void unref(struct probe_box *box)
{
	if (__atomic_sub_fetch(&box->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	for (size_t i = 0; i < box->n_open; i++)
		close(box->events[i].fd);
	event_holder_end(box->holder); /* which closes last, and may have to wait */
	for (size_t i = 0; i < box->n_begun; i++)
		uprobe_fini(&box->events[i].uprobe);
	for (size_t i = 0; i < box->n_events; i++)
		close_program(&box->events[i]);
	if (box->file >= 0)
		close(box->file);
	free(box);
}

static int open_event(struct probe_box *box, struct box_event *event)
{
	const struct uprobe_place place = {.file_fd = box->file,
					   .file_off = event->file_off,
					   .semaphore_off = event->semaphore_off};
	const struct uprobe_who who = {.pid = box->pid,
				       .cpu = -1,
				       .is_disabled = event->program < 0,
				       .program_fd = event->program_fd};
	int fd;

	if (box->holder) {
		fd = event_holder_open(box->holder, &place, &who, &event->way, box->why);
	} else {
		uprobe_init(&event->uprobe, &place, UPROBE_ANY);
		box->n_begun++;
		fd = uprobe_open_event(&event->uprobe, &who, box->why);
		event->way = event->uprobe.way;
	}
	close_program(event);
	if (fd < 0)
		return fd;
	event->fd = fd;
	box->n_open++;
	return 0;
}

/* The box goes without one only where nobody makes processes, as in tests of one stage. */
static int start_holder(struct probe_box *box)
{
	const int err = event_holder_start(box->file, box->pid, &box->holder);

	if (err)
		snprintf(box->why, sizeof(box->why), "no process can be had that opens probes: %s",
			 strerror(-err));
	return err;
}

static void run_opening(struct guarded_call *call)
{
	struct probe_box *const box = ((struct opening *)(void *)call)->box;

	if (!box->err && reach_is_begun())
		box->err = start_holder(box);
	for (size_t i = 0; !box->err && i < box->n_events; i++)
		box->err = open_event(box, &box->events[i]);
	__atomic_store_n(&box->is_done, true, __ATOMIC_RELEASE);
}

static void run_nothing(struct guarded_call *call)
{
	(void)call;
}

static void free_opening(struct guarded_call *call)
{
	struct opening *const opening = (struct opening *)(void *)call;

	unref(opening->box);
	free(opening);
}

/* ---- on the model's ---- */

/* The guard runs the call now or later, or frees it: the box is then let go of. */
static bool leave(pid_t pid, struct probe_box *box, void (*run)(struct guarded_call *call))
{
	struct opening *const opening = calloc(1, sizeof(*opening));

	if (!opening)
		return false;
	*opening = (struct opening){
		.call = {.run = run, .free = free_opening, .opens = run == run_opening},
		.box = box};
	guarded_leave(pid, &opening->call);
	return true;
}

struct probe_box *probe_box_new(void)
{
	struct probe_box *const box = calloc(1, sizeof(*box));

	if (!box)
		return NULL;
	box->refs = 1;
	box->file = -1;
	return box;
}

bool probe_box_add(struct probe_box *box, uint64_t file_off, uint64_t semaphore_off, int program)
{
	if (box->n_events >= PROBE_BOX_MAX_EVENTS)
		return false;
	box->events[box->n_events++] = (struct box_event){
		.file_off = file_off, .semaphore_off = semaphore_off, .program = program};
	return true;
}

bool probe_box_is_empty(const struct probe_box *box)
{
	return box->n_events == 0;
}

/* The call may come late, when the sampler is gone: the box has descriptors of its own. */
static void take_programs(struct probe_box *box, const struct sampler *sampler)
{
	for (size_t i = 0; i < box->n_events; i++) {
		const int fd = sampler_probe_program(sampler, box->events[i].program);

		if (fd > 0)
			box->events[i].program_fd = fcntl(fd, F_DUPFD_CLOEXEC, LEAST_FD);
		if (box->events[i].program_fd < 0) {
			box->err = -errno;
			snprintf(box->why, sizeof(box->why), "%s", strerror(errno));
			return;
		}
	}
}

bool probe_box_open(pid_t pid, struct probe_box *box, const struct sampler *sampler, int file)
{
	box->pid = pid;
	box->file = file;
	take_programs(box, sampler);
	box->refs = 2;
	if (leave(pid, box, run_opening))
		return true;
	box->refs = 1;
	unref(box);
	return false;
}

enum probe_box_state probe_box_take(const struct probe_box *box, const struct sampler *sampler,
				    char why[UPROBE_WHY_BYTES])
{
	/* Before is_done, which the call sets before it lets go of the box. */
	const bool is_held = __atomic_load_n(&box->refs, __ATOMIC_ACQUIRE) > 1;

	if (!__atomic_load_n(&box->is_done, __ATOMIC_ACQUIRE))
		return is_held ? PROBE_BOX_OPENS : PROBE_BOX_NOT_RUN;
	if (box->err) {
		memcpy(why, box->why, UPROBE_WHY_BYTES);
		return PROBE_BOX_FAILED;
	}
	for (size_t i = 0; i < box->n_open; i++) {
		const struct box_event *const event = &box->events[i];

		if (event->program < 0 || event->way == UPROBE_LINK ||
		    sampler_attach_probe(sampler, event->fd, (unsigned)event->program) == 0)
			continue;
		snprintf(why, UPROBE_WHY_BYTES,
			 "the kernel has not taken the BPF program for the probe");
		return PROBE_BOX_FAILED;
	}
	return PROBE_BOX_IS_OPEN;
}

/* By a call too: the kernel may have to wait for all CPUs. */
void probe_box_close(pid_t pid, struct probe_box *box)
{
	if (box && !leave(pid, box, run_nothing))
		unref(box);
}
