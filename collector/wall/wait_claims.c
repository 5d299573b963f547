// SPDX-License-Identifier: Apache-2.0
/* Shares blocked time among waits, see wait_claims.h. */
#include "wall/wait_claims.h"

#include "sample/sample_regs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SHORT_NS INT64_C(1000000000)

/* A wait, and in words its registers, the kernel's chain and the stack. */
struct claim {
	struct claim *next;
	struct claim *waker; /* owned: the stack of who has ended it; NULL: not known */
	size_t bytes;	     /* of all of this */
	uint64_t claim_ns;
	struct wait_reading wait;
	uint64_t words[];
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static struct claim *copy_of(const struct wait_reading *from, size_t bytes, size_t n_regs)
{
	struct claim *const claim = malloc(bytes);
	struct wait_reading *to;
	uint64_t *words;

	if (!claim)
		return NULL;
	claim->next = claim->waker = NULL;
	claim->bytes = bytes;
	claim->wait = *from;
	to = &claim->wait;
	words = claim->words;
	if (n_regs)
		to->regs = memcpy(words, from->regs, n_regs * sizeof(*words));
	words += n_regs;
	if (from->kernel.len)
		to->kernel.addrs =
			memcpy(words, from->kernel.addrs, from->kernel.len * sizeof(*words));
	words += from->kernel.len;
	if (from->stack_len)
		to->stack = memcpy(words, from->stack, from->stack_len);
	return claim;
}

static void drop(struct wait_claims *claims, struct claim *claim)
{
	if (claim)
		claims->bytes -= claim->bytes;
	free(claim);
}

static void drop_early(struct wait_claims *claims)
{
	claims->wakers_left_out += claims->early != NULL;
	drop(claims, claims->early);
	claims->early = NULL;
}

/* A wait is read a moment before its waker's stack, or behind it. */
static void add_waker(struct wait_claims *claims, struct claim *claim)
{
	struct claim *of = claims->first;

	while (of && of->wait.since_ns != claim->wait.since_ns)
		of = of->next;
	if (of && !of->waker) {
		of->waker = claim;
		return;
	}
	drop_early(claims);
	claims->early = claim;
}

static void add_wait(struct wait_claims *claims, struct claim *claim)
{
	if (claims->last)
		claims->last->next = claim;
	else
		claims->first = claim;
	claims->last = claim;
	if (!claims->early || claims->early->wait.since_ns != claim->wait.since_ns)
		return;
	claim->waker = claims->early;
	claims->early = NULL;
}

bool wait_claims_add(struct wait_claims *claims, const struct wait_reading *wait, size_t most_bytes)
{
	const size_t n_regs = wait->regs ? SAMPLE_REGS_COUNT : 0;
	const size_t bytes = sizeof(struct claim) + (n_regs + wait->kernel.len) * sizeof(uint64_t) +
			     wait->stack_len;
	struct claim *const claim = bytes <= most_bytes ? copy_of(wait, bytes, n_regs) : NULL;

	if (!claim)
		return false;
	claims->bytes += bytes;
	if (wait->is_waker)
		add_waker(claims, claim);
	else
		add_wait(claims, claim);
	return true;
}

static void drop_first(struct wait_claims *claims)
{
	struct claim *const claim = claims->first;

	claims->first = claim->next;
	if (!claims->first)
		claims->last = NULL;
	drop(claims, claim->waker);
	drop(claims, claim);
}

void wait_claims_fini(struct wait_claims *claims)
{
	while (claims->first)
		drop_first(claims);
	drop_early(claims);
}

/* The part of the wait's weight that lies behind from_ns. */
static uint64_t claim_behind(const struct wait_reading *wait, uint64_t from_ns)
{
	const uint64_t behind_ns = wait->time_ns > from_ns ? wait->time_ns - from_ns : 0;

	if (behind_ns >= wait->blocked_ns)
		return wait->weight_ns;
	return (uint64_t)((double)wait->weight_ns * (double)behind_ns / (double)wait->blocked_ns);
}

/* Says what each wait claims that has ended by the stretch's end, and returns the sum. */
static uint64_t sum_up(struct wait_claims *claims, const struct wait_stretch *stretch)
{
	uint64_t sum_ns = 0;

	for (struct claim *claim = claims->first; claim && claim->wait.time_ns <= stretch->end_ns;
	     claim = claim->next) {
		/* One that was heard of late belongs to the stretch before. */
		const bool is_late = claim->wait.time_ns <= stretch->begin_ns;

		claim->claim_ns =
			claim_behind(&claim->wait, is_late ? claims->begin_ns : stretch->begin_ns);
		sum_ns += claim->claim_ns;
	}
	return sum_ns;
}

/* What the claims get of the stretch, in microseconds. */
static uint64_t settle(struct wait_claims *claims, const struct wait_stretch *stretch,
		       uint64_t sum_ns)
{
	const int64_t due_ns = (int64_t)sum_ns + claims->short_ns;
	const uint64_t due_us = due_ns > 0 ? (uint64_t)due_ns / 1000 : 0;
	uint64_t given_us = least(due_us, stretch->us);

	if ((stretch->us - given_us) * 1000 < stretch->quantum_ns)
		given_us = stretch->us;
	claims->short_ns = due_ns - (int64_t)given_us * 1000;
	if (claims->short_ns > MOST_SHORT_NS)
		claims->short_ns = MOST_SHORT_NS;
	return given_us;
}

/* The number says to which wait the stack belongs. */
static void emit_waker(const struct claim *claim, const struct wait_stretch *stretch,
		       uint32_t number, wait_claims_fn emit, void *arg)
{
	const struct wait_reading *const waker = &claim->wait;
	const struct record record = {
		.kind = RECORD_SAMPLE,
		.time_ns = stretch->end_ns,
		.pid = waker->pid,
		.tid = waker->tid,
		.sample = {.kind = SAMPLE_OF_WAKER,
			   .weight = 1,
			   .regs = waker->regs,
			   .stack = waker->stack,
			   .stack_len = waker->stack_len,
			   .waker = {.pid = stretch->pid, .tid = stretch->tid},
			   .waker_stack = number},
	};

	emit(arg, &record);
}

static void emit_claim(struct wait_claims *claims, const struct wait_stretch *stretch, uint64_t us,
		       wait_claims_fn emit, void *arg)
{
	const struct claim *const waker = claims->first->waker;
	const struct wait_reading *const wait = &claims->first->wait;
	struct record record = {
		.kind = RECORD_SAMPLE,
		.time_ns = stretch->end_ns,
		.pid = stretch->pid,
		.tid = stretch->tid,
		.sample = {.kind = SAMPLE_OF_WALL,
			   .state = THREAD_BLOCKED,
			   .syscall_plus_one = (uint32_t)(wait->syscall + 1),
			   .period = stretch->end_ns - stretch->begin_ns,
			   .weight = us,
			   .kernel = wait->kernel,
			   .regs = wait->regs,
			   .stack = wait->stack,
			   .stack_len = wait->stack_len,
			   .waker = wait->waker,
			   .waker_stack = waker ? ++claims->last_number : 0},
	};

	if (us == 0)
		return;
	snprintf(record.sample.comm, sizeof(record.sample.comm), "%s",
		 wait->comm[0] ? wait->comm : stretch->comm);
	if (waker)
		emit_waker(waker, stretch, claims->last_number, emit, arg);
	emit(arg, &record);
}

uint64_t wait_claims_share(struct wait_claims *claims, const struct wait_stretch *stretch,
			   wait_claims_fn emit, void *arg)
{
	const uint64_t sum_ns = sum_up(claims, stretch);
	const uint64_t given_us = sum_ns ? settle(claims, stretch, sum_ns) : 0;
	uint64_t so_far_ns = 0, so_far_us = 0;

	while (claims->first && claims->first->wait.time_ns <= stretch->end_ns) {
		const struct claim *const claim = claims->first;
		uint64_t up_to_us;

		so_far_ns += claim->claim_ns;
		up_to_us =
			so_far_ns == sum_ns
				? given_us
				: (uint64_t)((double)given_us * (double)so_far_ns / (double)sum_ns);
		emit_claim(claims, stretch, up_to_us - so_far_us, emit, arg);
		so_far_us = up_to_us;
		drop_first(claims);
	}
	claims->begin_ns = stretch->begin_ns;
	return stretch->us - given_us;
}
