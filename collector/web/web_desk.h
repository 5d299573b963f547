// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   requests -> answers made of a store, by threads of lower priority
 * units:   bytes; CLOCK_MONOTONIC nanoseconds
 * threads: any gives requests; WEB_WORKERS of its own answer
 * errors:  an answer says what is wrong
 * source:  sched(7): SCHED_BATCH; setpriority(2)
 *
 * Life cycle of a job: the caller fills it in and gives it to web_desk_add; job->done is called
 * once, by any thread and maybe before web_desk_add returns, and the job is the caller's again.
 * Whoever is not waited for any more (job->is_gone) is not answered. A request that takes longer
 * than WEB_MOST_NS ends between two segments.
 */
#ifndef FG_WEB_WEB_DESK_H
#define FG_WEB_WEB_DESK_H

#include "base/counters.h"
#include "web/web_answer.h"
#include "web/web_parameters.h"
#include "web/web_query.h"
#include "web/web_queue.h"

#define WEB_MOST_NS   UINT64_C(30000000000)
#define WEB_CHORE_NS  UINT64_C(1000000000)
#define WEB_RETRY_SEC 2u
#define WEB_NICE      10

/* Requests for what the store has. */
struct web_stats {
	uint64_t queries;		   /* that came, with those of the next three */
	uint64_t refused;		   /* for which there was no place, or that lost it */
	uint64_t cancelled;		   /* that nobody waited for any more */
	uint64_t failed;		   /* that could not be answered */
	uint64_t time_ns;		   /* that answering took */
	uint64_t waiting, begun;	   /* now */
	uint64_t answer_bytes, work_bytes; /* now: of answers, and for those that are made */
};
extern const struct counters web_counters;

struct web_job {
	struct web_queued queued; /* the first member; the caller sets its peer */
	enum web_what what;
	struct web_parameters parameters; /* the caller's */
	bool (*is_gone)(struct web_job *job);
	void (*done)(struct web_job *job);
	struct web_answer answer; /* the caller ends it; status 0: nobody waited for it */
	uint64_t end_ns;	  /* the desk's */
	struct web_desk *desk;	  /* the desk's */
};

struct web_desk_options {
	const char *dir;    /* the store's */
	uint64_t window_ns; /* of the store */
	uint64_t max_bytes; /* of all answers, and of all that is made on the way */
	/* Called by a thread about once in WEB_CHORE_NS, for what may take long; NULL: none. */
	void (*chore)(void *arg);
	/* Called where answers that wait leave no room for another one; NULL: nobody asks. */
	void (*make_room)(void *arg);
	void *arg;
};

struct web_desk; /* opaque */

/* Texts are copied. */
int web_desk_open(const struct web_desk_options *options, struct web_desk **ret);
/*
 * Ends what is asked for, and waits for threads for patience_ns. False: one has not ended, as when
 * a disk does not answer; the desk and its jobs must then stay.
 */
bool web_desk_stop(struct web_desk *desk, uint64_t patience_ns);
/* To be called when no answer is left. NULL is legal. */
void web_desk_free(struct web_desk *desk);

void web_desk_add(struct web_desk *desk, struct web_job *job);
/* Ends requests that wait and whose clients are gone. To be called about once a second. */
void web_desk_sweep(struct web_desk *desk);
void web_desk_set_max_bytes(struct web_desk *desk, uint64_t max_bytes);
void web_desk_stats(struct web_desk *desk, struct web_stats *ret);

#endif
