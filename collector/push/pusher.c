// SPDX-License-Identifier: Apache-2.0
/* Makes profiles of periods for targets, see pusher.h. */
#include "push/pusher.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "lazy/lazy_curl.h"
#include "push/push_message.h"
#include "push/push_pools.h"
#include "push/push_sender.h"
#include "push/spool_files.h"
#include "sinks/period_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_MEMORY ((size_t)8 << 20) /* of profiles of a target that wait in memory */

struct pusher {
	struct pusher_options options; /* the facts' texts are the pusher's copies */
	struct push_sender *senders[PUSH_MAX_TARGETS];
	size_t n_senders;
	int lock_fd; /* of the spool; -1 without */
	struct period_worker worker;
	struct push_stats stats; /* under the worker's lock */
};

/* A kind of a graph that is being pushed. */
struct job {
	const struct push_kind *kind;
	const struct profile_info *info;
	const struct push_labels *labels;
	struct push_stacks stacks;
	bool is_wanted;		   /* by rules, whole or a pool of it */
	struct push_stats counted; /* added to the pusher's at the end */
};

/* ---- bodies ---- */

static int encode(enum push_protocol protocol, const struct push_message *message,
		  struct bytes *ret, uint64_t *ret_plain)
{
	return protocol == PUSH_OTLP ? push_otlp_encode(message, ret, ret_plain)
				     : push_pprof_encode(message, ret, ret_plain);
}

static bool is_used(const struct pusher *pusher, enum push_protocol protocol)
{
	const struct push_config *const config = &pusher->options.push->config;

	for (size_t i = 0; i < config->count; i++)
		if (config->targets[i].url.protocol == protocol)
			return true;
	return false;
}

/* Encodes for all protocols in use. -EFBIG: more than a server takes. */
static int encode_all(const struct pusher *pusher, const struct job *job,
		      const struct profile *profile, struct bytes bodies[PUSH_PROTOCOLS])
{
	const struct push_message message = {
		.kind = job->kind, .profile = profile, .info = job->info, .labels = job->labels};
	int err = 0;

	for (unsigned p = 0; !err && p < PUSH_PROTOCOLS; p++) {
		uint64_t plain = 0;

		if (!is_used(pusher, (enum push_protocol)p))
			continue;
		err = encode((enum push_protocol)p, &message, &bodies[p], &plain);
		if (!err && plain > PUSH_MAX_PLAIN)
			err = -EFBIG;
	}
	return err;
}

static void hand_over(struct pusher *pusher, const struct job *job, const struct profile *profile,
		      const struct bytes bodies[PUSH_PROTOCOLS])
{
	const bool is_cpu = job->kind->kind == &profile_kind_cpu;
	const struct push_config *const config = &pusher->options.push->config;

	for (size_t i = 0; i < pusher->n_senders; i++)
		push_sender_add(pusher->senders[i], &bodies[config->targets[i].url.protocol],
				is_cpu ? profile->quality.samples : 0);
}

/* Makes bodies of n stacks. -EFBIG: the stacks are too many for one profile. */
static int push_slice(struct pusher *pusher, struct job *job, size_t first, size_t n)
{
	struct bytes bodies[PUSH_PROTOCOLS] = {0};
	struct profile profile;
	uint64_t cut = 0;
	int err = n > PUSH_MAX_STACKS ? -EFBIG
				      : push_stacks_slice(&job->stacks, first, n, &profile, &cut);

	if (err)
		return err;
	err = encode_all(pusher, job, &profile, bodies);
	if (!err) {
		hand_over(pusher, job, &profile, bodies);
		job->counted.stacks_cut += cut;
	}
	profile_fini(&profile);
	for (unsigned p = 0; p < PUSH_PROTOCOLS; p++)
		bytes_fini(&bodies[p]);
	return err;
}

/* Halves what is too much. The stacks have at most 20 halvings. */
static void push_stacks(struct pusher *pusher, struct job *job, size_t first, size_t n)
{
	const int err = push_slice(pusher, job, first, n);

	if (err == -EFBIG && n > 1) {
		job->counted.profiles_split++;
		push_stacks(pusher, job, first, n / 2);
		push_stacks(pusher, job, first + n / 2, n - n / 2);
	} else if (err == -EFBIG) {
		job->counted.stacks_too_large++;
	} else if (err) {
		job->counted.profiles_unmade++;
	}
}

/* ---- graphs ---- */

static void add_quality(uint64_t to[PUSH_QUALITIES], const struct profile_quality *quality)
{
	to[PUSH_ALL] += quality->samples;
	to[PUSH_UNNAMED] += quality->unnamed_samples;
	to[PUSH_NOT_ROOTED] += quality->unrooted_samples;
	to[PUSH_OVERFLOW] += quality->overflow_samples;
}

static void count_job(struct pusher *pusher, const struct job *job)
{
	struct push_stats *const stats = &pusher->stats;

	THREAD_HOLD(&pusher->worker.lock);
	stats->stacks_cut += job->counted.stacks_cut;
	stats->profiles_split += job->counted.profiles_split;
	stats->profiles_unmade += job->counted.profiles_unmade;
	stats->stacks_too_large += job->counted.stacks_too_large;
	if (job->is_wanted && job->kind->kind == &profile_kind_cpu)
		add_quality(stats->samples, &job->info->quality);
}

/* Whether rules keep the series. pool: of threads; NULL for all. */
static bool set_labels(const struct pusher *pusher, const struct period_graph *graph,
		       const char *pool, struct push_labels *labels)
{
	const struct push_options *const push = pusher->options.push;

	if (pool)
		push_labels_set(labels, PUSH_THREAD, pool);
	push_labels_add_graph(labels, graph, pusher->options.facts.host);
	for (size_t i = 0; i < push->n_labels; i++)
		push_labels_set(labels, push->labels[i].name, push->labels[i].value);
	if (!push_relabel_apply(push->relabel, labels))
		return false;
	push_labels_finish(labels, period_graph_title(graph));
	return true;
}

/* Whether the series is pushed. */
static bool make_labels(struct pusher *pusher, const struct period_graph *graph, const char *pool,
			struct push_labels *labels)
{
	const bool is_wanted = set_labels(pusher, graph, pool, labels);

	THREAD_HOLD(&pusher->worker.lock);
	pusher->stats.series_unwanted += !is_wanted;
	pusher->stats.labels_left_out += labels->left_out;
	pusher->stats.profiles_unmade += labels->failed;
	return is_wanted && !labels->failed;
}

static void push_part(struct pusher *pusher, const struct profile_part *part,
		      const struct push_labels *labels)
{
	struct job job = {.kind = push_kind_of(part->kind),
			  .info = part->info,
			  .labels = labels,
			  .is_wanted = true};

	if (!job.kind)
		return;
	if (push_stacks_init(&job.stacks, part->profile) < 0)
		job.counted.profiles_unmade++;
	else if (job.stacks.count > 0)
		push_stacks(pusher, &job, 0, job.stacks.count);
	push_stacks_fini(&job.stacks);
	count_job(pusher, &job);
}

/* A series of each thread pool. */
static void push_part_by_pool(struct pusher *pusher, const struct period_graph *graph,
			      const struct profile_part *part)
{
	struct job job = {.kind = push_kind_of(part->kind), .info = part->info};
	struct push_pools pools;

	if (!job.kind)
		return;
	if (push_pools_init(&pools, part->profile, part->timeline) < 0)
		job.counted.profiles_unmade++;
	job.stacks = pools.stacks;
	for (size_t i = 0; i < pools.count; i++) {
		const struct push_pool *const pool = &pools.pools[i];
		_cleanup_(push_labels_fini) struct push_labels labels = {0};

		job.labels = &labels;
		if (!make_labels(pusher, graph, pool->name, &labels))
			continue;
		job.is_wanted = true;
		push_stacks(pusher, &job, pool->first, pool->n);
	}
	push_pools_fini(&pools);
	count_job(pusher, &job);
}

static void push_graph(struct pusher *pusher, const struct period *period,
		       struct period_graph *graph)
{
	const bool by_pool = pusher->options.push->by_pool;
	_cleanup_(push_labels_fini) struct push_labels labels = {0};
	struct period_parts parts;

	if (!by_pool && !make_labels(pusher, graph, NULL, &labels))
		return;
	period_parts_make(&parts, &pusher->options.facts, period, graph, false);
	for (size_t i = 0; i < parts.n; i++) {
		if (by_pool)
			push_part_by_pool(pusher, graph, &parts.parts[i]);
		else
			push_part(pusher, &parts.parts[i], &labels);
	}
}

static void push_period(void *arg, const struct period *period)
{
	for (struct period_graph *graph = period->graphs; graph; graph = graph->next)
		push_graph(arg, period, graph);
}

static const struct period_work work = {.work = push_period};

/* ---- opening and closing ---- */

static int open_spool(struct pusher *pusher)
{
	const char *const dir = pusher->options.push->spool_dir;
	int err;

	if (!dir)
		return 0;
	err = spool_files_lock(dir, &pusher->lock_fd);
	if (err == -EBUSY)
		log_error("--push-spool %s: in use by another daemon: give each a directory of "
			  "its own",
			  dir);
	else if (err)
		log_error("--push-spool %s: %s", dir, strerror(-err));
	return err;
}

static int open_senders(struct pusher *pusher)
{
	const struct push_options *const push = pusher->options.push;
	const size_t memory = pusher->options.max_bytes / push->config.count;
	const uint64_t share = push->spool_bytes / push->config.count;

	for (size_t i = 0; i < push->config.count; i++) {
		const struct push_target *const target = &push->config.targets[i];
		const struct push_spool_options spool = {
			.dir = push->spool_dir,
			.name = target->url.name,
			.max_bytes = share,
			.max_age_ns = push->spool_age_sec * CLOCK_NS_PER_SEC,
			.max_memory = memory > LEAST_MEMORY ? memory : LEAST_MEMORY,
		};
		const int err = push_sender_open(target, &spool, &pusher->senders[i]);

		if (err) {
			log_error("--push %s: %s", target->url.name, strerror(-err));
			return err;
		}
		pusher->n_senders++;
	}
	return 0;
}

/* False: a sender's thread is abandoned. */
static bool close_senders(struct pusher *pusher, uint64_t until_ns)
{
	bool is_done = true;

	for (size_t i = 0; i < pusher->n_senders; i++)
		push_sender_finish(pusher->senders[i]);
	for (size_t i = 0; i < pusher->n_senders; i++)
		push_sender_wait(pusher->senders[i], until_ns);
	for (size_t i = 0; i < pusher->n_senders; i++)
		is_done &= push_sender_close(pusher->senders[i], until_ns) == 0;
	pusher->n_senders = 0;
	return is_done;
}

static void free_pusher(struct pusher *pusher)
{
	if (pusher->lock_fd >= 0)
		close(pusher->lock_fd);
	period_worker_fini(&pusher->worker);
	period_facts_free(&pusher->options.facts);
	free(pusher);
}

int pusher_open(const struct pusher_options *options, struct pusher **ret)
{
	struct pusher *const pusher = calloc(1, sizeof(*pusher));
	int err;

	if (!pusher)
		return -ENOMEM;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	pusher->options = *options;
	pusher->lock_fd = -1;
	period_worker_init(&pusher->worker, options->max_bytes);
	err = period_facts_copy(&pusher->options.facts);
	if (!err)
		err = open_spool(pusher);
	if (!err)
		err = open_senders(pusher);
	if (!err) {
		err = period_worker_start(&pusher->worker, &work, pusher);
		if (err)
			log_error("--push: cannot start a thread: %s", strerror(-err));
	}
	if (err) {
		close_senders(pusher, clock_now_ns());
		free_pusher(pusher);
		return err;
	}
	*ret = pusher;
	return 0;
}

void pusher_take(struct pusher *pusher, struct period *period)
{
	const size_t dropped = period_worker_take(&pusher->worker, period);

	if (dropped)
		log_error("--push: %zu graphs of whoever has the most are dropped: earlier ones "
			  "are still being made ready; is the disk of the spool too slow, or gone?",
			  dropped);
}

void pusher_set_max_bytes(struct pusher *pusher, size_t bytes)
{
	period_worker_set_max_bytes(&pusher->worker, bytes);
}

void pusher_stats(struct pusher *pusher, struct push_stats *ret)
{
	pthread_mutex_lock(&pusher->worker.lock);
	*ret = pusher->stats;
	ret->graphs_dropped = pusher->worker.dropped;
	ret->waiting_bytes = pusher->worker.queue.bytes;
	pthread_mutex_unlock(&pusher->worker.lock);
	ret->n_targets = pusher->n_senders;
	for (size_t i = 0; i < pusher->n_senders; i++)
		push_sender_stats(pusher->senders[i], &ret->targets[i]);
}

bool pusher_close(struct pusher *pusher, uint64_t patience_ns)
{
	const uint64_t until_ns = clock_now_ns() + patience_ns;

	if (!pusher)
		return true;
	if (!period_worker_stop(&pusher->worker, until_ns)) {
		log_error("--push: the last profiles could not be made ready in time");
		return false;
	}
	if (!close_senders(pusher, until_ns))
		return false;
	free_pusher(pusher);
	return true;
}
