// SPDX-License-Identifier: Apache-2.0
/*
 * Looks for listening agents, see finder.h.
 *
 * The listing of /proc has the inode number of /proc/<pid>, which differs between processes that
 * have had one PID. Now and then the kernel gives a process another inode number; this process is
 * then looked into again for nothing.
 */
#include "intake/finder.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/process_stat.h"
#include "guard/pool.h"
#include "guard/heap_bytes.h"
#include "intake/announcement.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS		(3 * CLOCK_NS_PER_MS)
#define LOOK_NS		(2 * CLOCK_NS_PER_MS) /* of a look, in a step */
#define REST_FACTOR	4
#define LOOKS		9   /* looks at one program, */
#define LAST_LOOK	128 /* the last one in this round */
#define MAX_LATE	32
#define MAX_FORGOTTEN	4096 /* in one round */
#define PROGRAM_ROUNDS	4
#define EXPECT_FIRST_NS (20 * CLOCK_NS_PER_MS)
#define EXPECT_TRIES	30 /* each wait is a quarter longer than the one before; 60 s in all */

struct seen {
	ino_t inode;
	uint64_t program;     /* see process_stat_program_at */
	uint32_t first_round; /* the round in which the program was first seen */
	uint32_t last_round;  /* the round in which the program was last seen */
	uint8_t looks;
	uint8_t late;	/* looks that were late, and do not count */
	uint64_t group; /* 0: not asked for yet, which is done when room gets scarce */
};

size_t finder_bytes(const struct finder *finder)
{
	return finder->seen.count * heap_bytes(sizeof(struct seen)) + map64_bytes(&finder->seen);
}

void finder_init(struct finder *finder, const char *proc_dir)
{
	*finder = (struct finder){.proc_dir = proc_dir, .max_seen = FINDER_MAX_PROCESSES};
}

void finder_set_group(struct finder *finder, finder_group_fn group, void *arg)
{
	finder->group = group;
	finder->group_arg = arg;
}

static uint64_t group_of(const struct finder *finder, pid_t pid)
{
	return finder->group ? finder->group(finder->group_arg, pid) : 0;
}

static void end_going(struct finder *finder)
{
	announcement_free(finder->going.search);
	finder->going.search = NULL;
	close(finder->going.proc_fd);
}

void finder_fini(struct finder *finder)
{
	map64_fini_all(&finder->seen, free);
	if (finder->dir)
		closedir(finder->dir);
	finder->dir = NULL;
	if (finder->going.search)
		end_going(finder);
}

enum look { LOOK_NONE, LOOK_FOUND, LOOK_REFUSED, LOOK_LATER, LOOK_LATE };

/* The end of a look. */
static enum look take_look(struct finder *finder, struct finder_found *found, int err, finder_fn fn,
			   void *arg)
{
	finder->stats.denied += err == -EACCES || err == -EPERM;
	finder->stats.too_large += err == -EFBIG;
	if (err || process_stat_start_ticks_at(found->proc_fd, found->pid, &found->start_ticks) < 0)
		return LOOK_NONE;
	return fn(arg, found) ? LOOK_FOUND : LOOK_REFUSED;
}

/* Looks for the process's agent. */
static enum look look(struct finder *finder, pid_t pid, finder_fn fn, void *arg)
{
	char dir[64], path[ANNOUNCEMENT_PATH_BYTES];
	struct finder_found found = {.pid = pid, .path = path};
	enum look ended = LOOK_LATER;
	struct announcement *search;
	int err;

	snprintf(dir, sizeof(dir), "%s/%d", finder->proc_dir, (int)pid);
	found.proc_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	search = found.proc_fd >= 0 ? announcement_new(found.proc_fd, pid) : NULL;
	err = search ? announcement_step(&search, LOOK_NS, path) : -ENOENT;
	finder->stats.looks += found.proc_fd >= 0;
	if (err > 0 && !finder->going.search) {
		finder->going.search = search;
		finder->going.proc_fd = found.proc_fd;
		finder->going.pid = pid;
		finder->going.due_ns = clock_now_ns() + REST_FACTOR * LOOK_NS;
		return LOOK_NONE;
	}
	announcement_free(search);
	if (err > 0 || err == -ETIMEDOUT)
		finder->stats.put_off++;
	else
		ended = take_look(finder, &found, err, fn, arg);
	if (found.proc_fd >= 0)
		close(found.proc_fd);
	return err == -ETIMEDOUT ? LOOK_LATE : ended;
}

/* A look without an answer in time is none, MAX_LATE times. */
static void look_again(struct seen *seen)
{
	if (seen->looks == 0 || seen->late >= MAX_LATE)
		return;
	seen->late++;
	seen->looks--;
}

/* The last look is made anew. */
static void look_later(const struct finder *finder, struct seen *seen)
{
	seen->looks = LOOKS - 1;
	seen->first_round = finder->round + FINDER_AGAIN_ROUNDS - LAST_LOOK;
}

static void end_look(const struct finder *finder, struct seen *seen, enum look ended)
{
	switch (ended) {
	case LOOK_FOUND:
		seen->looks = LOOKS;
		break;
	case LOOK_REFUSED:
		look_later(finder, seen);
		break;
	case LOOK_LATER:
		seen->looks--;
		break;
	case LOOK_LATE:
		look_again(seen);
		break;
	case LOOK_NONE:
		break;
	}
}

/* Goes on with the look that takes several steps. */
static void look_on(struct finder *finder, finder_fn fn, void *arg)
{
	char path[ANNOUNCEMENT_PATH_BYTES];
	struct finder_found found = {
		.pid = finder->going.pid, .proc_fd = finder->going.proc_fd, .path = path};
	enum look ended;
	struct seen *seen;
	int err;

	err = announcement_step(&finder->going.search, LOOK_NS, path);
	finder->going.due_ns = clock_now_ns() + REST_FACTOR * LOOK_NS;
	if (err > 0)
		return;
	ended = err == -ETIMEDOUT ? LOOK_LATE : take_look(finder, &found, err, fn, arg);
	seen = map64_find(&finder->seen, (uint64_t)found.pid);
	if (seen)
		end_look(finder, seen, ended);
	end_going(finder);
}

static uint64_t program_of(const struct finder *finder, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "%d/status", (int)pid);
	return process_stat_program_at(dirfd(finder->dir), path);
}

/* Whether there is a place for the process, which has none yet. */
static bool has_room(struct finder *finder, pid_t pid)
{
	const bool is_full = finder->seen.count >= finder->max_seen;

	if (!is_full && (!finder->greedy || group_of(finder, pid) != finder->greedy))
		return true;
	finder->is_short = true;
	finder->is_full |= is_full;
	return false;
}

static struct seen *find_or_add(struct finder *finder, pid_t pid)
{
	struct seen *seen = map64_find(&finder->seen, (uint64_t)pid);

	if (!seen) {
		seen = has_room(finder, pid) ? calloc(1, sizeof(*seen)) : NULL;
		if (!seen || map64_put(&finder->seen, (uint64_t)pid, seen) < 0) {
			finder->stats.untracked++;
			free(seen);
			return NULL;
		}
	}
	if (!seen->group && finder->seen.count >= finder->max_seen / 2)
		seen->group = group_of(finder, pid);
	return seen;
}

static bool is_look_due(const struct finder *finder, const struct seen *seen)
{
	const uint32_t rounds = finder->round - seen->first_round;

	return seen->looks == 0 ||
	       (seen->looks < LOOKS && rounds >= UINT32_C(1) << (seen->looks - 1));
}

static void consider(struct finder *finder, pid_t pid, ino_t inode, finder_fn fn, void *arg)
{
	struct seen *seen = find_or_add(finder, pid);
	bool is_other;

	if (!seen)
		return;
	is_other = seen->inode != inode;
	if (is_other || (finder->round + (uint32_t)pid) % PROGRAM_ROUNDS == 0) {
		const uint64_t program = program_of(finder, pid);

		is_other |= seen->program != program;
		seen->program = program;
	}
	if (is_other) {
		seen->inode = inode;
		seen->first_round = finder->round;
		seen->looks = seen->late = 0;
	}
	seen->last_round = finder->round;
	if (!is_look_due(finder, seen))
		return;
	seen->looks++;
	end_look(finder, seen, look(finder, pid, fn, arg));
}

/*
 * Forgets processes that were not seen in this round. Past MAX_FORGOTTEN the rest is forgotten in
 * later rounds.
 */
static void forget_ended(struct finder *finder)
{
	uint64_t ended[MAX_FORGOTTEN], pid;
	size_t pos = 0, n = 0;
	void *value;

	while (n < MAX_FORGOTTEN && map64_next(&finder->seen, &pos, &pid, &value)) {
		const struct seen *seen = value;

		if (seen->last_round != finder->round)
			ended[n++] = pid;
	}
	for (size_t i = 0; i < n; i++)
		free(map64_remove(&finder->seen, ended[i]));
}

/* Of the group that has the most, a quarter at most: others find places in the next round. */
static void forget_greedy(struct finder *finder)
{
	_cleanup_(pool_fini) struct pool pool = {0};
	uint64_t forgotten[MAX_FORGOTTEN], most, pid;
	size_t n = 0, pos = 0;
	void *value;

	while (map64_next(&finder->seen, &pos, &pid, &value))
		pool_charge(&pool, ((const struct seen *)value)->group, 1);
	finder->greedy = pool_greediest(&pool, &most);
	pos = 0;
	while (n < MAX_FORGOTTEN && n < most / 4 && map64_next(&finder->seen, &pos, &pid, &value)) {
		if (((const struct seen *)value)->group == finder->greedy)
			forgotten[n++] = pid;
	}
	for (size_t i = 0; i < n; i++)
		free(map64_remove(&finder->seen, forgotten[i]));
}

/* The PID of an entry of /proc, or 0 for entries that are not processes. */
static pid_t pid_of(const char *name)
{
	char *end;
	const long pid = strtol(name, &end, 10);

	return *end || name[0] < '1' || name[0] > '9' || pid > INT_MAX ? 0 : (pid_t)pid;
}

/* Goes on with the round until until_ns. False: the round is over. */
static bool walk(struct finder *finder, uint64_t until_ns, finder_fn fn, void *arg)
{
	const struct dirent *entry;

	while ((entry = readdir(finder->dir))) {
		const pid_t pid = pid_of(entry->d_name);

		if (pid > 0)
			consider(finder, pid, entry->d_ino, fn, arg);
		if (pid > 0 && clock_now_ns() > until_ns)
			return true;
	}
	return false;
}

static void end_round(struct finder *finder)
{
	closedir(finder->dir);
	finder->dir = NULL;
	forget_ended(finder);
	if (finder->is_full)
		forget_greedy(finder);
	else if (!finder->is_short || finder->seen.count < finder->max_seen - finder->max_seen / 8)
		finder->greedy = 0;
	finder->is_full = finder->is_short = false;
	finder->next_ns = finder->round_began_ns + FINDER_ROUND_NS;
}

static void go_round(struct finder *finder, uint64_t began_ns, finder_fn fn, void *arg)
{
	uint64_t now;
	bool has_more;

	if (!finder->dir) {
		finder->dir = opendir(finder->proc_dir);
		finder->round_began_ns = began_ns;
		finder->round++;
		finder->stats.rounds++;
	}
	if (!finder->dir) {
		finder->next_ns = began_ns + FINDER_ROUND_NS;
		return;
	}
	has_more = walk(finder, began_ns + STEP_NS, fn, arg);
	if (!has_more)
		end_round(finder);
	now = clock_now_ns();
	if (has_more || finder->next_ns < now + (now - began_ns) * REST_FACTOR)
		finder->next_ns = now + (now - began_ns) * REST_FACTOR;
}

static void look_at_expected(struct finder *finder, uint64_t now_ns, finder_fn fn, void *arg)
{
	for (size_t i = 0; i < FINDER_MAX_EXPECTED; i++) {
		uint64_t wait_ns = EXPECT_FIRST_NS;

		if (finder->expected[i].pid == 0 || finder->expected[i].due_ns > now_ns)
			continue;
		for (unsigned try = 0; try < finder->expected[i].tries; try++)
			wait_ns += wait_ns / 4;
		finder->expected[i].due_ns = now_ns + wait_ns;
		if (look(finder, finder->expected[i].pid, fn, arg) == LOOK_FOUND ||
		    ++finder->expected[i].tries == EXPECT_TRIES)
			finder->expected[i].pid = 0;
	}
}

void finder_step(struct finder *finder, uint64_t now_ns, finder_fn fn, void *arg)
{
	const uint64_t began_ns = clock_now_ns();
	/* Processor time shows the finder's cost even on a machine with other work. */
	uint64_t began_cpu_ns;

	if (finder_next_ns(finder) > now_ns)
		return;
	began_cpu_ns = clock_thread_ns();
	if (finder->going.search && finder->going.due_ns <= now_ns)
		look_on(finder, fn, arg);
	look_at_expected(finder, now_ns, fn, arg);
	if (finder->next_ns <= now_ns)
		go_round(finder, began_ns, fn, arg);
	finder->stats.steps++;
	finder->stats.spent_ns += clock_thread_ns() - began_cpu_ns;
}

uint64_t finder_next_ns(const struct finder *finder)
{
	uint64_t next_ns = finder->next_ns;

	if (finder->going.search && finder->going.due_ns < next_ns)
		next_ns = finder->going.due_ns;
	for (size_t i = 0; i < FINDER_MAX_EXPECTED; i++) {
		if (finder->expected[i].pid && finder->expected[i].due_ns < next_ns)
			next_ns = finder->expected[i].due_ns;
	}
	return next_ns;
}

void finder_look_later(struct finder *finder, pid_t pid)
{
	struct seen *const seen = map64_find(&finder->seen, (uint64_t)pid);

	if (seen)
		look_later(finder, seen);
}

/*
 * The place of a process of the group that has the most, which has been looked at most often; none:
 * no group has more than this one is to have.
 */
static size_t choose_place(const struct finder *finder, uint64_t group)
{
	_cleanup_(pool_fini) struct pool pool = {0};
	size_t at = FINDER_MAX_EXPECTED;
	uint64_t greediest;

	for (size_t i = 0; i < FINDER_MAX_EXPECTED; i++)
		pool_charge(&pool, finder->expected[i].group, 1);
	if (!pool_choose(&pool, group, 1, &greediest))
		return at;
	for (size_t i = 0; i < FINDER_MAX_EXPECTED; i++) {
		if (finder->expected[i].group == greediest &&
		    (at == FINDER_MAX_EXPECTED ||
		     finder->expected[i].tries > finder->expected[at].tries))
			at = i;
	}
	return at;
}

void finder_expect(struct finder *finder, pid_t pid, uint64_t now_ns)
{
	const uint64_t group = group_of(finder, pid);
	size_t at = FINDER_MAX_EXPECTED;

	for (size_t i = 0; i < FINDER_MAX_EXPECTED; i++) {
		const bool is_free = finder->expected[i].pid == 0 && at == FINDER_MAX_EXPECTED;

		/* A process that is there already runs another program now. */
		if (finder->expected[i].pid == pid || is_free)
			at = i;
	}
	if (at == FINDER_MAX_EXPECTED) {
		finder->stats.unexpected++; /* this one, or the one whose place it takes */
		at = choose_place(finder, group);
	}
	if (at == FINDER_MAX_EXPECTED)
		return;
	finder->expected[at].pid = pid;
	finder->expected[at].group = group;
	finder->expected[at].tries = 0;
	finder->expected[at].due_ns = now_ns + EXPECT_FIRST_NS;
}

static const struct counter counters[] = {
	COUNTER_SUM(struct finder_stats, rounds, "listening_agents.rounds",
		    "listening_agents_rounds_total", "Searches through all processes."),
	COUNTER_SUM(struct finder_stats, looks, "listening_agents.processes_read",
		    "listening_agents_processes_read_total",
		    "Processes that were looked into for a listening agent."),
	COUNTER_SUM(struct finder_stats, denied, "listening_agents.processes_denied",
		    "listening_agents_processes_denied_total",
		    "Processes that may not be looked into."),
	COUNTER_SUM(struct finder_stats, too_large, "listening_agents.too_large",
		    "listening_agents_too_large_total",
		    "Processes with more mappings than are read."),
	COUNTER_SUM(struct finder_stats, put_off, "listening_agents.put_off",
		    "listening_agents_put_off_total",
		    "Looks that came later, because one with many mappings went on."),
	COUNTER_SUM(struct finder_stats, untracked, "listening_agents.not_looked_at",
		    "listening_agents_not_looked_at_total",
		    "Processes for which there was no room in the search.",
		    COUNTER_PLUS(offsetof(struct finder_stats, unexpected))),
	COUNTER_SUM(struct finder_stats, spent_ns, "listening_agents.search_ms",
		    "listening_agents_search_seconds_total",
		    "Time spent in searches for listening agents.", .unit = COUNTER_NS_IN_MS),
};

const struct counters finder_counters = COUNTERS(struct finder_stats, counters);
