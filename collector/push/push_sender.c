// SPDX-License-Identifier: Apache-2.0
/* The thread that sends to a target, see push_sender.h. */
#include "push/push_sender.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "base/thread.h"
#include "push/push_http.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define IDLE_NS	     (60 * CLOCK_NS_PER_SEC) /* then ages and what failed are looked at */
#define LAST_LOOK_NS (2 * CLOCK_NS_PER_SEC)  /* for the thread to end after its request */
#define SAID_TEXT    320
#define MOST_BYTES   (UINT64_C(8) << 20) /* under way; one more may start below that */
#define UNASKED	     8 /* each so many failures a profile goes out without a question */
/* Of a turn. Profiles that cannot be read are not under way, and a failing disk takes its time. */
#define MOST_STARTS (2 * PUSH_HTTP_REQUESTS)

/* What was said last. */
struct said {
	bool is_valid;
	long status;
	char text[SAID_TEXT];
};

/* A request under way: of a profile, or the question whether the server is ready. */
struct sending {
	bool is_used;
	struct push_entry *entry; /* NULL: the question */
	struct bytes body;
	unsigned round; /* of the sender, when the request began */
	int64_t sent_sec;
};

struct push_sender {
	const struct push_target *target;
	struct push_spool *spool;
	bool is_on_disk;
	struct push_http *http;
	/* Used by the thread only, down to thread. */
	struct sending sendings[PUSH_HTTP_REQUESTS];
	unsigned n_sendings;
	unsigned window;   /* how many may be under way */
	uint64_t bytes;	   /* under way */
	unsigned round;	   /* changes with each failure */
	unsigned failures; /* in a row */
	bool is_cut_short; /* the turn was, by MOST_STARTS */
	bool is_ready;	   /* the server said so since the last failure */
	uint64_t next_try_ns;
	uint64_t next_retry_ns; /* of the spool */
	struct said trouble, refusal;
	struct log_limit said; /* lines that the server can cause */
	bool has_said_skew;
	bool has_said_doubt;
	pthread_t thread;
	bool is_joined;		  /* the owner's, not the thread's */
	atomic_bool stop;	  /* requests end at once */
	atomic_bool is_finishing; /* nothing is waited for, and nothing added */
	pthread_mutex_t lock;	  /* guards the members below */
	bool is_failing;
	int64_t skew_sec;
};

/* ---- what is said, once ---- */

/* HTTP's number, or what the library says. */
static void describe(const struct push_reply *reply, char ret[SAID_TEXT])
{
	if (reply->status)
		snprintf(ret, SAID_TEXT, "answers %ld%s%s", reply->status,
			 reply->text[0] ? ": " : "", reply->text);
	else
		snprintf(ret, SAID_TEXT, "%s", reply->text);
	ret[strcspn(ret, "\r\n")] = '\0';
}

static const char *remedy_of(const struct push_reply *reply)
{
	switch (reply->status) {
	case 401:
	case 403:
		return "; are token, password and tenant right? Their files are read again";
	case 407:
		return "; the proxy of the environment asks for a user and a password";
	case 429:
		return "; a limit of the server is reached";
	default:
		return "";
	}
}

/* Lengths of time and the like differ each time. */
static bool is_same_but_numbers(const char *a, const char *b)
{
	static const char digits[] = "0123456789";

	while (*a || *b) {
		a += strspn(a, digits);
		b += strspn(b, digits);
		if (*a != *b)
			return false;
		a += *a != '\0';
		b += *b != '\0';
	}
	return true;
}

/* Whether it is to be said: it is not what was said last. */
static bool is_new(struct push_sender *sender, struct said *said, const struct push_reply *reply,
		   const char *text)
{
	if (said->is_valid && said->status == reply->status &&
	    is_same_but_numbers(said->text, text))
		return false;
	said->is_valid = true;
	said->status = reply->status;
	strcpy(said->text, text);
	return log_limit_allows(&sender->said, 0, clock_now_ns());
}

static void say_failure(struct push_sender *sender, const struct push_reply *reply)
{
	char text[SAID_TEXT];

	describe(reply, text);
	if (!is_new(sender, &sender->trouble, reply, text))
		return;
	log_warning("%s: %s%s; profiles wait, %s", sender->target->url.name, text, remedy_of(reply),
		    sender->is_on_disk ? "in the spool" : "in memory: --push-spool keeps more");
}

static void say_refusal(struct push_sender *sender, const struct push_reply *reply)
{
	char text[SAID_TEXT];

	describe(reply, text);
	if (!is_new(sender, &sender->refusal, reply, text))
		return;
	log_warning("%s: %s; profiles that the server refuses are counted%s",
		    sender->target->url.name, text,
		    sender->is_on_disk ? ", and the last ones kept in the spool" : "");
}

static void say_doubt(struct push_sender *sender, const struct push_reply *reply)
{
	char text[SAID_TEXT];

	if (sender->has_said_doubt)
		return;
	sender->has_said_doubt = true;
	describe(reply, text);
	log_warning("%s: %s; whether the profile has arrived is not known, so it is not sent again",
		    sender->target->url.name, text);
}

static void say_success(struct push_sender *sender)
{
	if (sender->trouble.is_valid && log_limit_allows(&sender->said, 0, clock_now_ns()))
		log_info("%s: takes profiles again", sender->target->url.name);
	sender->trouble.is_valid = false;
}

static void note_skew(struct push_sender *sender, const struct push_reply *reply, int64_t sent_sec)
{
	const int64_t now_sec = (int64_t)(clock_unix_now_ns() / CLOCK_NS_PER_SEC);
	const int64_t skew = push_skew_of(reply, sent_sec, now_sec);

	if (!reply->date_sec)
		return;
	pthread_mutex_lock(&sender->lock);
	sender->skew_sec = skew;
	pthread_mutex_unlock(&sender->lock);
	if (skew && !sender->has_said_skew)
		log_warning("%s: the server's clock is %lld s %s this host's: servers refuse "
			    "profiles by their time",
			    sender->target->url.name, (long long)llabs(skew),
			    skew > 0 ? "ahead of" : "behind");
	sender->has_said_skew = skew != 0;
}

/* ---- sending ---- */

static uint32_t random_number(void)
{
	uint32_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		return (uint32_t)clock_now_ns();
	return number;
}

static void say_fate(struct push_sender *sender, enum push_fate fate,
		     const struct push_reply *reply)
{
	if (fate == PUSH_AGAIN)
		say_failure(sender, reply);
	else if (fate == PUSH_IN_DOUBT)
		say_doubt(sender, reply);
	else if (fate == PUSH_REFUSED)
		say_refusal(sender, reply);
	else
		say_success(sender);
}

static void set_failing(struct push_sender *sender, bool is_failing)
{
	THREAD_HOLD(&sender->lock);

	sender->is_failing = is_failing;
}

/* The server is not asked at once again. Requests that are under way are of an earlier round. */
static void back_off(struct push_sender *sender, const struct push_reply *reply)
{
	sender->failures++;
	sender->round++;
	sender->window = 1;
	sender->is_ready = false;
	sender->next_try_ns =
		clock_now_ns() +
		push_wait_ns(sender->failures, reply->retry_after_sec, random_number());
	set_failing(sender, true);
}

/*
 * What is in doubt is a failure too. How a request of an earlier round ended changes nothing more:
 * of several under way at a server's end all fail, which is one failure. What has become of a
 * profile for good is said all the same.
 */
static void note_fate(struct push_sender *sender, unsigned round, enum push_fate fate,
		      const struct push_reply *reply)
{
	if (round == sender->round || fate == PUSH_REFUSED || fate == PUSH_IN_DOUBT)
		say_fate(sender, fate, reply);
	if (round != sender->round)
		return;
	if (fate == PUSH_AGAIN || fate == PUSH_IN_DOUBT) {
		back_off(sender, reply);
		return;
	}
	sender->failures = 0;
	sender->next_try_ns = 0;
	sender->window += sender->window < PUSH_HTTP_REQUESTS;
	set_failing(sender, false);
}

static struct sending *new_sending(struct push_sender *sender, struct push_entry *entry)
{
	struct sending *sending = sender->sendings;

	while (sending->is_used)
		sending++;
	*sending = (struct sending){
		.is_used = true,
		.entry = entry,
		.round = sender->round,
		.sent_sec = (int64_t)(clock_unix_now_ns() / CLOCK_NS_PER_SEC),
	};
	sender->n_sendings++;
	return sending;
}

/* The sending is over, and the request with it. */
static void settle(struct push_sender *sender, struct sending *sending,
		   const struct push_reply *reply)
{
	enum push_fate fate = push_fate_of(reply);
	char why[SAID_TEXT];

	if (sending->entry) {
		describe(reply, why);
		push_spool_settle(sender->spool, sending->entry, fate, why);
		note_fate(sender, sending->round, fate, reply);
		note_skew(sender, reply, sending->sent_sec);
	} else if (atomic_load(&sender->stop)) {
		/* The question was cut short. */
	} else if (reply->status >= 500 || reply->status == 0) {
		/* 502 and 504 are of a proxy before a server that is not there. */
		push_spool_count_try(sender->spool);
		note_fate(sender, sending->round, PUSH_AGAIN, reply);
	} else {
		/* Also a proxy that knows no such path. */
		sender->is_ready = true;
	}
	sender->bytes -= sending->body.len;
	bytes_fini(&sending->body);
	sending->is_used = false;
	sender->n_sendings--;
}

static void start(struct push_sender *sender, struct sending *sending)
{
	struct push_reply reply;

	sender->bytes += sending->body.len;
	if (push_http_start(sender->http, sending->entry ? &sending->body : NULL, sending, &reply) <
	    0)
		settle(sender, sending, &reply);
}

/* Begins to send the oldest. False: none waits. */
static bool send_first(struct push_sender *sender)
{
	const struct push_reply unread = {.text = "no memory or descriptors to read its file"};
	struct push_entry *const entry = push_spool_take(sender->spool, clock_unix_now_ns());
	struct bytes body = {0};
	struct sending *sending;
	int err;

	if (!entry)
		return false;
	err = push_spool_load(sender->spool, entry, &body);
	if (err) {
		bytes_fini(&body);
		if (err == -EAGAIN)
			note_fate(sender, sender->round, PUSH_AGAIN, &unread);
		return true;
	}
	sending = new_sending(sender, entry);
	sending->body = body;
	start(sender, sending);
	return true;
}

/*
 * A Pyroscope that starts or ends answers 500, after which a profile is in doubt; one that hangs
 * does not answer. So after a failure it is asked first. Now and then it is not, because what
 * answers may be a proxy that does not know the path.
 */
static bool is_to_be_asked(const struct push_sender *sender)
{
	return sender->target->url.protocol == PUSH_PYROSCOPE && !sender->is_ready &&
	       sender->failures > 0 && sender->failures % UNASKED != 0;
}

/* Starts what may be under way. False: no profile waits. */
static bool start_some(struct push_sender *sender, uint64_t now_ns)
{
	bool is_there = true;
	unsigned n = 0;

	push_spool_expire(sender->spool, clock_unix_now_ns());
	if (now_ns >= sender->next_retry_ns) {
		push_spool_retry(sender->spool);
		sender->next_retry_ns = now_ns + IDLE_NS;
	}
	while (is_there && n++ < MOST_STARTS && !atomic_load(&sender->stop) &&
	       sender->n_sendings < sender->window && sender->bytes < MOST_BYTES &&
	       sender->next_try_ns <= now_ns) {
		if (is_to_be_asked(sender))
			start(sender, new_sending(sender, NULL));
		else
			is_there = send_first(sender);
	}
	sender->is_cut_short = n > MOST_STARTS;
	return is_there;
}

static uint64_t patience_of(const struct push_sender *sender, uint64_t now_ns)
{
	if (sender->is_cut_short)
		return 0;
	return sender->next_try_ns > now_ns ? sender->next_try_ns - now_ns : IDLE_NS;
}

static void *run(void *arg)
{
	struct push_sender *const sender = arg;
	struct push_reply reply;
	void *sending;

	while (!atomic_load(&sender->stop)) {
		/* Read first: what was added before is seen. */
		const bool is_finishing = atomic_load(&sender->is_finishing);
		/* One time for both: what is due between two would wait for the next turn. */
		const uint64_t now_ns = clock_now_ns();
		const bool is_there = start_some(sender, now_ns);

		if (is_finishing && sender->n_sendings == 0 &&
		    (!is_there || sender->next_try_ns > now_ns))
			break;
		if (push_http_wait(sender->http, patience_of(sender, now_ns), &sending, &reply))
			settle(sender, sending, &reply);
	}
	while (push_http_abandon(sender->http, &sending, &reply))
		settle(sender, sending, &reply);
	return NULL;
}

/* ---- from outside ---- */

static void free_sender(struct push_sender *sender)
{
	push_http_close(sender->http);
	push_spool_close(sender->spool);
	pthread_mutex_destroy(&sender->lock);
	free(sender);
}

int push_sender_open(const struct push_target *target, const struct push_spool_options *spool,
		     struct push_sender **ret)
{
	struct push_sender *const sender = calloc(1, sizeof(*sender));
	int err;

	if (!sender)
		return -ENOMEM;
	pthread_mutex_init(&sender->lock, NULL);
	sender->target = target;
	sender->window = 1;
	sender->is_on_disk = spool->dir != NULL;
	err = push_spool_open(spool, &sender->spool);
	if (!err)
		err = push_http_open(target, &sender->http);
	if (!err)
		err = thread_start(&sender->thread, run, sender);
	if (err) {
		free_sender(sender);
		return err;
	}
	*ret = sender;
	return 0;
}

void push_sender_add(struct push_sender *sender, const struct bytes *body, uint64_t samples)
{
	push_spool_add(sender->spool, body, samples, clock_unix_now_ns());
	push_http_wake(sender->http);
}

void push_sender_stats(struct push_sender *sender, struct push_target_stats *ret)
{
	const uint64_t now_ns = clock_unix_now_ns();

	push_spool_stats(sender->spool, ret);
	if (ret->oldest_unix_ns && ret->oldest_unix_ns < now_ns)
		ret->lag_sec = (now_ns - ret->oldest_unix_ns) / CLOCK_NS_PER_SEC;
	THREAD_HOLD(&sender->lock);
	ret->clock_skew_sec = sender->skew_sec;
	ret->is_failing = sender->is_failing;
}

void push_sender_finish(struct push_sender *sender)
{
	atomic_store(&sender->is_finishing, true);
	push_http_wake(sender->http);
}

/* By CLOCK_MONOTONIC. Whether the thread has ended. */
static bool join(struct push_sender *sender, uint64_t until_ns)
{
	if (!sender->is_joined)
		sender->is_joined = thread_join_until(sender->thread, until_ns);
	return sender->is_joined;
}

static void say_rest(struct push_sender *sender)
{
	struct push_target_stats stats;
	uint64_t lost;

	push_sender_stats(sender, &stats);
	lost = stats.waiting.profiles;
	if (lost == 0)
		return;
	if (sender->is_on_disk && stats.memory_bytes == 0)
		log_info("%s: %llu profiles stay in the spool", sender->target->url.name,
			 (unsigned long long)lost);
	else
		log_warning("%s: up to %llu profiles with %llu samples of processor time are "
			    "lost: they could not be sent in time, and wait in memory",
			    sender->target->url.name, (unsigned long long)lost,
			    (unsigned long long)stats.waiting.samples);
}

void push_sender_wait(struct push_sender *sender, uint64_t until_ns)
{
	push_sender_finish(sender);
	if (join(sender, until_ns))
		return;
	atomic_store(&sender->stop, true);
	push_http_wake(sender->http);
}

int push_sender_close(struct push_sender *sender, uint64_t until_ns)
{
	if (!sender)
		return 0;
	push_sender_wait(sender, until_ns);
	if (!join(sender, until_ns + LAST_LOOK_NS)) {
		log_error("%s: a request does not end", sender->target->url.name);
		return -ETIMEDOUT;
	}
	say_rest(sender);
	free_sender(sender);
	return 0;
}
