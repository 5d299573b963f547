// SPDX-License-Identifier: Apache-2.0
/* Dials agents that listen, and keeps their sessions alive, see dialer.h. */
#include "intake/dialer.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "base/process_stat.h"
#include "guard/pool.h"
#include "guard/heap_bytes.h"
#include "intake/dial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_WAIT_NS (50 * CLOCK_NS_PER_MS)
#define LOOK_NS	      (2 * CLOCK_NS_PER_MS)   /* of a look whether an agent still listens, */
#define LOOK_ON_NS    (10 * CLOCK_NS_PER_MS)  /* so often */
#define DIAL_CHECK_NS (5 * CLOCK_NS_PER_MS)   /* between looks whether it is connected, at first */
#define DIAL_NS	      (10 * CLOCK_NS_PER_SEC) /* past which the socket is said not to answer */
#define CHECK_NS      (100 * CLOCK_NS_PER_MS) /* between checks for a greeting or the end */
#define CALM_CHECK_NS (30 * CLOCK_NS_PER_SEC) /* between checks of a session */

static void free_agent(void *value)
{
	struct dialer_agent *const agent = value;

	if (agent) {
		announcement_free(agent->search);
		dial_forget(agent->dialling);
	}
	free(agent);
}

static uint64_t group_of(void *arg, pid_t pid)
{
	return intake_group(arg, pid);
}

void dialer_init(struct dialer *dialer, struct intake *intake, const char *proc_dir)
{
	*dialer = (struct dialer){.intake = intake, .max_agents = DIALER_MAX_AGENTS};
	finder_init(&dialer->finder, proc_dir);
	if (intake) /* else nothing is dialled */
		finder_set_group(&dialer->finder, group_of, intake);
}

void dialer_fini(struct dialer *dialer)
{
	map64_fini_all(&dialer->agents, free_agent);
	finder_fini(&dialer->finder);
}

/*
 * A try that fails once may be that of a JVM that is about to end, as each run of jcmd is in a
 * container whose JVMs listen: the same error has to come again.
 */
static void say_lasting(struct dialer_agent *agent, int err)
{
	static struct log_limit limit;

	agent->is_told = agent->is_told && err == agent->err;
	if (err != agent->err || agent->is_told || err == -ESRCH)
		return;
	agent->is_told = true;
	if (!log_limit_allows(&limit, agent->group, clock_now_ns()))
		return;
	log_warning("PID %d: its agent listens at %s in its container, but cannot be reached: %s: "
		    "%s",
		    (int)agent->pid, agent->path, dial_reason(err), dial_remedy(err));
}

static void back_off(struct dialer *dialer, struct dialer_agent *agent, uint64_t now_ns)
{
	agent->session = 0;
	agent->is_greeted = false;
	agent->next_ns = now_ns + agent->wait_ns;
	agent->wait_ns *= 2;
	if (agent->wait_ns > DIALER_MAX_WAIT_NS)
		agent->wait_ns = DIALER_MAX_WAIT_NS;
	if (agent->next_ns < dialer->next_ns)
		dialer->next_ns = agent->next_ns;
}

static void put_off(struct dialer *dialer, struct dialer_agent *agent, int err, uint64_t now_ns)
{
	dialer->stats.failed++;
	dialer->stats.not_theirs += err == -ESTALE;
	say_lasting(agent, err);
	agent->err = err;
	back_off(dialer, agent, now_ns);
}

/* fd: what dialling has given, a connection or an error. */
static void take_connection(struct dialer *dialer, struct dialer_agent *agent, int fd,
			    uint64_t now_ns)
{
	int err = fd < 0 ? fd : intake_add(dialer->intake, fd, agent->pid, &agent->session);

	if (err) {
		if (fd >= 0)
			close(fd);
		put_off(dialer, agent, err, now_ns);
		return;
	}
	agent->is_greeted = false;
	agent->next_ns = now_ns + CHECK_NS;
}

/* A socket's file system that does not answer is said to be so once, and is waited for. */
static void wait_on(struct dialer *dialer, struct dialer_agent *agent, uint64_t now_ns)
{
	const uint64_t waited_ns = now_ns - agent->dialled_ns;

	agent->next_ns = now_ns + (waited_ns < CLOCK_NS_PER_SEC ? DIAL_CHECK_NS : CHECK_NS);
	if (waited_ns < DIAL_NS || agent->err == -ETIMEDOUT)
		return;
	dialer->stats.failed++;
	agent->err = -ETIMEDOUT;
	say_lasting(agent, -ETIMEDOUT);
}

/* Returns false if the agent is to be forgotten. */
static bool go_on(struct dialer *dialer, struct dialer_agent *agent, uint64_t now_ns)
{
	int fd;

	if (dial_take(&agent->dialling, &fd))
		take_connection(dialer, agent, fd, now_ns);
	else if (process_stat_is_over(agent->pid))
		return false;
	else
		wait_on(dialer, agent, now_ns);
	return true;
}

/*
 * Dials the agent. The caller has checked since opening proc_fd that proc_fd is the agent's
 * process.
 */
static void dial(struct dialer *dialer, struct dialer_agent *agent, int proc_fd, uint64_t now_ns)
{
	const int err = dial_begin(proc_fd, agent->pid, agent->path, &agent->dialling);

	dialer->stats.dialled++;
	agent->dialled_ns = now_ns;
	if (err)
		put_off(dialer, agent, err, now_ns);
	else
		(void)go_on(dialer, agent, now_ns);
}

/*
 * Opens the process in which the agent was found. -ESRCH: the process is gone, even if its PID is
 * in use.
 */
static int open_process(const struct dialer *dialer, const struct dialer_agent *agent)
{
	_cleanup_close_ int fd = -1;
	char path[64];
	uint64_t ticks;
	int ret;

	snprintf(path, sizeof(path), "%s/%d", dialer->finder.proc_dir, (int)agent->pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	ret = process_stat_start_ticks_at(fd, agent->pid, &ticks);
	if (ret < 0)
		return ret;
	if (ticks != agent->start_ticks)
		return -ESRCH;
	ret = fd;
	fd = -1;
	return ret;
}

/* 1: there is more to look at another time. */
static int look_again(struct dialer_agent *agent, int proc_fd, char path[ANNOUNCEMENT_PATH_BYTES])
{
	if (!agent->search)
		agent->search = announcement_new(proc_fd, agent->pid);
	return agent->search ? announcement_step(&agent->search, LOOK_NS, path) : -ENOMEM;
}

/* Returns false if the agent is to be forgotten. */
static bool dial_again(struct dialer *dialer, struct dialer_agent *agent, uint64_t now_ns)
{
	_cleanup_close_ int fd = open_process(dialer, agent);
	char path[ANNOUNCEMENT_PATH_BYTES];
	int err;

	if (fd == -ESRCH)
		return false;
	if (fd < 0) {
		put_off(dialer, agent, fd, now_ns);
		return true;
	}
	/*
	 * The process may run another program by now. A JVM that ends takes its listening region
	 * back.
	 */
	err = look_again(agent, fd, path);
	if (err > 0) {
		agent->next_ns = now_ns + LOOK_ON_NS;
		return true;
	}
	if (err == -ENOENT || (!err && strcmp(path, agent->path) != 0))
		return false;
	if (err)
		put_off(dialer, agent, err, now_ns);
	else
		dial(dialer, agent, fd, now_ns);
	return true;
}

static void end_session(struct dialer *dialer, struct dialer_agent *agent, uint64_t now_ns)
{
	if (now_ns >= agent->opened_ns + DIALER_LASTING_NS)
		agent->wait_ns = FIRST_WAIT_NS;
	back_off(dialer, agent, now_ns);
}

static bool check(struct dialer *dialer, struct dialer_agent *agent, uint64_t now_ns)
{
	bool is_greeted;

	if (agent->dialling)
		return go_on(dialer, agent, now_ns);
	if (!agent->session)
		return dial_again(dialer, agent, now_ns);
	if (intake_has(dialer->intake, agent->session, &is_greeted))
		agent->next_ns = now_ns + (is_greeted ? CALM_CHECK_NS : CHECK_NS);
	else if (agent->is_greeted)
		end_session(dialer, agent, now_ns);
	else
		put_off(dialer, agent, -EPROTO, now_ns);
	return true;
}

static void check_due(struct dialer *dialer, uint64_t now_ns)
{
	uint64_t gone[64], pid;
	size_t pos = 0, n = 0;
	void *value;

	dialer->next_ns = UINT64_MAX;
	while (map64_next(&dialer->agents, &pos, &pid, &value)) {
		struct dialer_agent *agent = value;

		if (agent->next_ns <= now_ns && n < sizeof(gone) / sizeof(*gone) &&
		    !check(dialer, agent, now_ns))
			gone[n++] = pid;
		if (agent->next_ns < dialer->next_ns)
			dialer->next_ns = agent->next_ns;
	}
	for (size_t i = 0; i < n; i++)
		free_agent(map64_remove(&dialer->agents, gone[i]));
}

/* Whether the first one is rather to go: it never greeted, or has no session, or came later. */
static bool goes_before(const struct dialer_agent *agent, const struct dialer_agent *other)
{
	if ((agent->opened_ns == 0) != (other->opened_ns == 0))
		return agent->opened_ns == 0;
	if (agent->is_greeted != other->is_greeted)
		return !agent->is_greeted;
	return agent->nth > other->nth;
}

/*
 * The agent that makes room for one more of the group: one of the group that has the most. NULL: no
 * group has more than this one is to have.
 */
static struct dialer_agent *choose_payer(const struct dialer *dialer, uint64_t group)
{
	_cleanup_(pool_fini) struct pool pool = {0};
	struct dialer_agent *payer = NULL;
	uint64_t greediest, pid;
	size_t pos = 0;
	void *value;

	while (map64_next(&dialer->agents, &pos, &pid, &value))
		pool_charge(&pool, ((const struct dialer_agent *)value)->group, 1);
	if (!pool_choose(&pool, group, 1, &greediest))
		return NULL;
	pos = 0;
	while (map64_next(&dialer->agents, &pos, &pid, &value)) {
		struct dialer_agent *const agent = value;

		if (agent->group == greediest && (!payer || goes_before(agent, payer)))
			payer = agent;
	}
	return payer;
}

static void evict(struct dialer *dialer, struct dialer_agent *payer)
{
	static struct log_limit limit;

	dialer->stats.evicted++;
	if (log_limit_allows(&limit, payer->group, clock_now_ns()))
		log_warning("PID %d: its listening agent makes room for others': of all containers "
			    "and users, its own has the most",
			    (int)payer->pid);
	if (payer->session)
		intake_end_session(dialer->intake, payer->session);
	finder_look_later(&dialer->finder, payer->pid);
	free_agent(map64_remove(&dialer->agents, (uint64_t)payer->pid));
}

static bool has_room(struct dialer *dialer, uint64_t group)
{
	struct dialer_agent *payer;

	if (dialer->agents.count < dialer->max_agents)
		return true;
	payer = choose_payer(dialer, group);
	if (payer)
		evict(dialer, payer);
	return payer != NULL;
}

static struct dialer_agent *find_or_add(struct dialer *dialer, pid_t pid, uint64_t group)
{
	struct dialer_agent *agent = map64_find(&dialer->agents, (uint64_t)pid);

	if (agent)
		return agent;
	if (has_room(dialer, group))
		agent = calloc(1, sizeof(*agent));
	if (!agent || map64_put(&dialer->agents, (uint64_t)pid, agent) < 0) {
		dialer->stats.refused++;
		free(agent);
		return NULL;
	}
	return agent;
}

static bool on_found(void *arg, const struct finder_found *found)
{
	struct dialer *dialer = arg;
	const uint64_t group = intake_group(dialer->intake, found->pid), now = clock_now_ns();
	struct dialer_agent *agent = find_or_add(dialer, found->pid, group);

	if (!agent)
		return false;
	if (agent->start_ticks == found->start_ticks && strcmp(agent->path, found->path) == 0)
		return true;
	announcement_free(agent->search);
	dial_forget(agent->dialling);
	*agent = (struct dialer_agent){.pid = found->pid,
				       .start_ticks = found->start_ticks,
				       .wait_ns = FIRST_WAIT_NS,
				       .group = group,
				       .nth = ++dialer->n_found};
	memcpy(agent->path, found->path, strlen(found->path) + 1);
	dial(dialer, agent, found->proc_fd, now);
	if (agent->next_ns < dialer->next_ns)
		dialer->next_ns = agent->next_ns;
	return true;
}

void dialer_heard(struct dialer *dialer, const struct intake_event *event)
{
	struct dialer_agent *agent =
		event->session->is_dialled
			? map64_find(&dialer->agents, (uint64_t)event->session->pid)
			: NULL;

	if (!agent || agent->session != event->session->id)
		return;
	if (event->kind == INTAKE_OPENED) {
		agent->is_greeted = true;
		agent->err = 0;
		agent->is_told = false;
		agent->opened_ns = clock_now_ns();
	} else if (event->kind == INTAKE_CLOSED) {
		end_session(dialer, agent, clock_now_ns());
	}
}

void dialer_step(struct dialer *dialer, uint64_t now_ns)
{
	finder_step(&dialer->finder, now_ns, on_found, dialer);
	if (dialer->agents.count > 0 && dialer->next_ns <= now_ns)
		check_due(dialer, now_ns);
}

uint64_t dialer_next_ns(const struct dialer *dialer)
{
	const uint64_t found_ns = finder_next_ns(&dialer->finder);

	if (dialer->agents.count == 0 || found_ns < dialer->next_ns)
		return found_ns;
	return dialer->next_ns;
}

void dialer_expect(struct dialer *dialer, pid_t pid, uint64_t now_ns)
{
	struct dialer_agent *agent = map64_find(&dialer->agents, (uint64_t)pid);

	if (agent && !agent->session && !agent->dialling &&
	    agent->next_ns > now_ns + FIRST_WAIT_NS) {
		agent->wait_ns = FIRST_WAIT_NS;
		agent->next_ns = dialer->next_ns = now_ns;
	}
	finder_expect(&dialer->finder, pid, now_ns);
}

const struct dialer_agent *dialer_find(const struct dialer *dialer, pid_t pid)
{
	return map64_find(&dialer->agents, (uint64_t)pid);
}

static const struct dialer_agent *next_agent(const struct dialer *dialer, size_t *pos)
{
	uint64_t pid;
	void *agent;

	return map64_next(&dialer->agents, pos, &pid, &agent) ? agent : NULL;
}

size_t dialer_bytes(const struct dialer *dialer)
{
	return dialer->agents.count * heap_bytes(sizeof(struct dialer_agent)) +
	       map64_bytes(&dialer->agents) + finder_bytes(&dialer->finder);
}

void dialer_stats(const struct dialer *dialer, struct dialer_stats *ret)
{
	const struct dialer_agent *agent;
	size_t pos = 0;

	*ret = dialer->stats;
	ret->finder = dialer->finder.stats;
	ret->agents = dialer->agents.count;
	while ((agent = next_agent(dialer, &pos)))
		ret->reached += agent->session && agent->is_greeted;
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct dialer_stats, agents, "listening_agents.known", "listening_agents",
		      "Processes whose agent listens."),
	COUNTER_GAUGE(struct dialer_stats, reached, "listening_agents.connected",
		      "listening_agents_connected", "Of these, those that are connected."),
	COUNTER_SUM(struct dialer_stats, dialled, "listening_agents.dialled",
		    "listening_agents_dialled_total", "Times that one was dialled."),
	COUNTER_SUM(struct dialer_stats, failed, "listening_agents.failed",
		    "listening_agents_failed_total", "Of these, those that failed."),
	COUNTER_SUM(struct dialer_stats, not_theirs, "listening_agents.not_theirs",
		    "listening_agents_not_theirs_total",
		    "Sockets at which another process listened."),
	COUNTER_SUM(struct dialer_stats, refused, "listening_agents.refused",
		    "listening_agents_refused_total", "Agents for which there was no room."),
	COUNTER_SUM(struct dialer_stats, evicted, "listening_agents.evicted",
		    "listening_agents_evicted_total", "Agents that have made room for others'."),
};

const struct counters dialer_counters = COUNTERS(struct dialer_stats, counters);
