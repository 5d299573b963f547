// SPDX-License-Identifier: Apache-2.0
/*
 * Polls the loop's descriptors, see loop_wait.h. The descriptors of side rings are the last of
 * the set, so that a wait can do without them.
 */
#include "loop/loop_wait.h"

#include "base/clock.h"
#include "loop/pace.h"

#include <poll.h>
#include <time.h>

#define MAX_POLL_FDS	 1024
#define SIDE_INTERVAL_NS (10 * CLOCK_NS_PER_MS) /* between looks at processes' events */
#define SIDE_MOST_NS	 (50 * CLOCK_NS_PER_MS)
#define MAX_SIDES	 64 /* of recordings; the others' are looked at by the clock */

struct polled {
	struct pollfd fds[MAX_POLL_FDS]; /* the first are those of struct loop_fds */
	size_t n_main;			 /* all but those of sides */
	size_t n;
	bool hears; /* each recording's side wakes the loop */
};

/*
 * Adds descriptors up to the limit. The ring buffers of the others are read by the clock, as all
 * ring buffers are.
 */
static size_t add_fds(struct pollfd *fds, size_t n, const int *added, size_t n_added)
{
	for (size_t i = 0; i < n_added && n < MAX_POLL_FDS - MAX_SIDES; i++)
		fds[n++] = (struct pollfd){.fd = added[i], .events = POLLIN};
	return n;
}

static void fill(const struct loop_fds *from, const struct recording *recordings,
		 struct polled *ret)
{
	struct pollfd *const fds = ret->fds;
	size_t n = add_fds(fds, 0, from->fds, from->n);

	for (const struct recording *r = recordings; r; r = r->next) {
		const int *added;
		size_t n_added;

		if (r->is_done || r->is_hung_up)
			continue;
		n_added = sampler_fds(r->sampler, &added);
		n = add_fds(fds, n, added, n_added);
	}
	ret->n_main = ret->n = n;
	ret->hears = true;
	for (const struct recording *r = recordings; r; r = r->next) {
		if (r->is_done)
			continue;
		ret->hears &= sampler_side_fd(r->sampler) >= 0 && ret->n < n + MAX_SIDES;
		if (ret->n < n + MAX_SIDES)
			fds[ret->n++] = (struct pollfd){.fd = sampler_side_fd(r->sampler),
							.events = POLLIN};
	}
}

/* Whether the kernel has reported something that happened to processes. */
static bool has_side(const struct recording *recordings)
{
	for (const struct recording *r = recordings; r; r = r->next) {
		if (!r->is_done && sampler_has_side(r->sampler))
			return true;
	}
	return false;
}

static int poll_until(struct pollfd *fds, size_t n, uint64_t until_ns)
{
	const uint64_t now_ns = clock_now_ns(), wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	const struct timespec timeout = {.tv_sec = (time_t)(wait_ns / CLOCK_NS_PER_SEC),
					 .tv_nsec = (long)(wait_ns % CLOCK_NS_PER_SEC)};

	return ppoll(fds, n, &timeout, NULL);
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* Sides may wake the loop from side_ns on. */
static int wait_hearing(struct polled *polled, uint64_t side_ns, uint64_t until_ns)
{
	int ready = 0;

	if (clock_now_ns() < side_ns)
		ready = poll_until(polled->fds, polled->n_main, earlier(until_ns, side_ns));
	return ready != 0 || side_ns > until_ns ? ready
						: poll_until(polled->fds, polled->n, until_ns);
}

/* While something is recorded, the wait looks now and then at the sides, which wake nobody. */
static int wait_looking(const struct recording *recordings, struct polled *polled,
			uint64_t interval_ns, uint64_t until_ns)
{
	for (;;) {
		const uint64_t look_ns = clock_now_ns() + interval_ns;
		const int ready =
			poll_until(polled->fds, polled->n_main, earlier(until_ns, look_ns));

		if (ready != 0 || clock_now_ns() >= until_ns || has_side(recordings))
			return ready;
	}
}

/*
 * Notes descriptors that hang up: the event of one process hangs up for good when the process ends.
 * poll would return at once from then on.
 */
static void notice_hang_ups(struct recording *recordings, const struct polled *polled, size_t first)
{
	bool is_hung_up = false;

	for (size_t i = first; i < polled->n_main; i++)
		is_hung_up |= (polled->fds[i].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
	for (struct recording *r = recordings; is_hung_up && r; r = r->next)
		r->is_hung_up = true; /* ring buffers are also read by the clock, which is enough */
}

/* Returns whether a side woke the loop. All rings are read now, so sides start anew. */
static bool notice_sides(struct recording *recordings, const struct polled *polled)
{
	size_t i = polled->n_main;
	bool has_woken = false;

	for (struct recording *r = recordings; r && i < polled->n; r = r->next) {
		if (r->is_done || polled->fds[i++].revents == 0)
			continue;
		has_woken = true;
		sampler_clear_side(r->sampler);
	}
	return has_woken;
}

void loop_wait(struct loop_wait *wait, struct loop_fds *fds, struct recording *recordings,
	       uint64_t took_ns, uint64_t for_ns)
{
	const uint64_t interval_ns = pace_wait_ns(took_ns, SIDE_INTERVAL_NS, SIDE_MOST_NS);
	const uint64_t until_ns = clock_now_ns() + for_ns;
	struct polled polled;
	int ready;

	fill(fds, recordings, &polled);
	ready = polled.hears ? wait_hearing(&polled, wait->side_ns, until_ns)
			     : wait_looking(recordings, &polled, interval_ns, until_ns);
	for (size_t i = 0; i < fds->n; i++)
		fds->ready[i] = ready > 0 && polled.fds[i].revents != 0;
	if (ready <= 0)
		return;
	notice_hang_ups(recordings, &polled, fds->n);
	if (notice_sides(recordings, &polled))
		wait->side_ns = clock_now_ns() + interval_ns;
}
