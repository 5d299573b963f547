// SPDX-License-Identifier: Apache-2.0
/* Divides the time between two readings by the scheduler's counters, see thread_account.h. */
#include "wall/thread_account.h"

#define MOST_OWED_NS INT64_C(1000000000)

static uint64_t gain(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static int64_t limit(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/*
 * What of a counter's gain the time that is left has room for. *owed_ns: what was not given, to be
 * given later; or what was given before the counter said so.
 */
static int64_t give(uint64_t gained_ns, int64_t left_ns, int64_t *owed_ns)
{
	const int64_t due_ns = (int64_t)gained_ns + *owed_ns;
	const int64_t given_ns = limit(due_ns, 0, left_ns);

	*owed_ns = limit(due_ns - given_ns, INT64_MIN, MOST_OWED_NS);
	return given_ns;
}

/* Whether the thread has wanted to run all the time since the last reading. */
static bool was_never_blocked(const struct thread_account *account,
			      const struct thread_reading *reading)
{
	return account->state != THREAD_BLOCKED && reading->state != THREAD_BLOCKED &&
	       account->voluntary == reading->voluntary;
}

/*
 * Gives the time that no counter has told of. A thread that was not blocked has spent it in its
 * state, and that state's counter has yet to say so.
 */
static void give_rest(struct thread_account *account, const struct thread_reading *reading,
		      int64_t left_ns, uint64_t ret_ns[THREAD_ACCOUNT_STATES])
{
	if (!was_never_blocked(account, reading)) {
		ret_ns[THREAD_BLOCKED] = (uint64_t)left_ns;
		return;
	}
	ret_ns[reading->state] += (uint64_t)left_ns;
	if (reading->state == THREAD_RUNNING)
		account->run_owed_ns -= left_ns;
	else
		account->delay_owed_ns -= left_ns;
}

static void note(struct thread_account *account, const struct thread_reading *reading)
{
	account->time_ns = reading->time_ns;
	account->run_ns = reading->run_ns;
	account->delay_ns = reading->delay_ns;
	account->switches = reading->switches;
	account->voluntary = reading->voluntary;
	account->state = reading->state;
}

void thread_account_begin(struct thread_account *account, const struct thread_reading *reading,
			  bool is_new)
{
	*account = (struct thread_account){.state = reading->state};
	if (!is_new)
		note(account, reading);
}

void thread_account_divide(struct thread_account *account, const struct thread_reading *reading,
			   uint64_t ret_ns[THREAD_ACCOUNT_STATES])
{
	const bool is_same =
		reading->switches == account->switches && reading->state == account->state;
	int64_t left_ns = (int64_t)gain(account->time_ns, reading->time_ns), ran_ns, delayed_ns;

	ran_ns = give(gain(account->run_ns, reading->run_ns), left_ns, &account->run_owed_ns);
	left_ns -= ran_ns;
	delayed_ns =
		give(gain(account->delay_ns, reading->delay_ns), left_ns, &account->delay_owed_ns);
	left_ns -= delayed_ns;
	if (!is_same) {
		/* The counters have said all by now of the state that was left. */
		account->run_owed_ns = limit(account->run_owed_ns, 0, MOST_OWED_NS);
		account->delay_owed_ns = limit(account->delay_owed_ns, 0, MOST_OWED_NS);
	}
	ret_ns[THREAD_RUNNING] = (uint64_t)ran_ns;
	ret_ns[THREAD_RUNNABLE] = (uint64_t)delayed_ns;
	ret_ns[THREAD_BLOCKED] = 0;
	give_rest(account, reading, left_ns, ret_ns);
	note(account, reading);
}
