// SPDX-License-Identifier: Apache-2.0
/* Publishes what is known of all JVMs, see publish_rounds.h. */
#include "announce/publish_rounds.h"

#include "base/json_value.h"
#include "base/process_stat.h"
#include "inspect/jvm_names.h"
#include "announce/publish_range.h"

#include <errno.h>
#include <stdlib.h>

int publish_round_begin(struct publish_round *round, const struct targets *targets)
{
	const struct process *process;
	size_t pos = 0;

	publish_round_fini(round);
	round->pids = calloc(targets->n_jvms + 1, sizeof(*round->pids));
	if (!round->pids)
		return -ENOMEM;
	while ((process = targets_next(targets, &pos)) && round->count < targets->n_jvms)
		if (process_is_jvm(process))
			round->pids[round->count++] = process->pid;
	return 0;
}

void publish_round_fini(struct publish_round *round)
{
	free(round->pids);
	*round = (struct publish_round){0};
}

/* ---- summaries ---- */

static json_t *losses_of(const struct jvm *jvm)
{
	json_t *const losses = json_object();

	for (uint16_t reason = 1; reason < WIRE_LOSS_REASONS; reason++)
		if (jvm->lost[reason])
			json_value_put_count(losses, wire_loss_reason_name(reason),
					     jvm->lost[reason]);
	return losses;
}

static json_t *quality_of(const struct jvm *jvm)
{
	json_t *const quality = json_object();
	uint64_t unnamed = 0;

	for (int reason = 0; reason < JAVA_METHODS_REASONS; reason++)
		unnamed += jvm->unnamed_methods[reason];
	json_object_set_new(quality, "lost_by_agent", losses_of(jvm));
	json_value_put_count(quality, "gaps", jvm->gaps);
	json_value_put_count(quality, "bad_records", jvm->bad_records);
	json_value_put_count(quality, "unknown_records", jvm->unknown_records);
	json_value_put_count(quality, "name_limit_hits", jvm->name_limit_hits);
	json_value_put_count(quality, "lost_inline_tables", jvm->lost_inlines);
	json_value_put_count(quality, "lost_frame_facts", jvm->lost_frames);
	json_value_put_count(quality, "unnamed_interpreted", unnamed);
	return quality;
}

/*
 * What was sampled is said only where the daemon samples. Nobody knows whose a sample was that the
 * kernel had no room for.
 */
static void add_samples(json_t *line, json_t *quality, const struct process *process,
			const uint64_t *lost_samples)
{
	if (!lost_samples)
		return;
	json_value_put_count(line, "samples", process->samples.samples);
	json_value_put_count(line, "host_lost_samples", *lost_samples);
	json_value_put_count(quality, "unnamed_samples", process->samples.unnamed);
	json_value_put_count(quality, "unrooted_samples", process->samples.unrooted);
}

/* The process's clock is found by its PID, which another process may have by now. */
static void add_cpu_time(json_t *line, const struct process *process)
{
	const uint64_t cpu_ns = process_stat_cpu_ns(process->pid);
	uint64_t inode = process->proc_inode;

	if (!process_stat_is_gone(process->pid, process->start_ticks, &inode))
		json_value_put_count(line, "cpu_ns", cpu_ns);
}

static json_t *summary_of(const struct process *process, const struct published_jvm *published,
			  const uint64_t *lost_samples)
{
	json_t *const quality = quality_of(process->jvm);
	json_t *const line = json_object();
	struct code_map_stats code;

	code_map_stats(process->code, &code);
	json_value_put_count(line, "pid", (uint64_t)process->pid);
	json_value_put_count(line, "start_ticks", process->start_ticks);
	json_object_set_new(line, "state", json_value_new_text(jvm_state_name(process->jvm)));
	json_value_put_count(line, "methods", code.live);
	json_value_put_count(line, "code_bytes", code.live_bytes);
	json_value_put_count(line, "loads", code.loads);
	json_value_put_count(line, "drops", code.unloads + code.evicted + code.buried);
	json_value_put_count(line, "resyncs", process->jvm->resyncs);
	json_value_put_count(line, "unpublished", published ? published->unpublished : 0);
	json_value_put_count(line, "snapshots", published ? published->snapshots : 0);
	add_cpu_time(line, process);
	add_samples(line, quality, process, lost_samples);
	json_object_set_new(line, "quality", quality);
	json_object_set_new(line, "container", json_value_new_text(process->container_id));
	jvm_names_add(line, process);
	return line;
}

/* The JVM that is next in the round; NULL: it is gone. */
static const struct process *next_of(const struct publish_round *round,
				     const struct publish_context *context)
{
	const struct process *const process =
		targets_find(context->targets, round->pids[round->next]);

	return process && process_is_jvm(process) ? process : NULL;
}

void publish_round_summarize(struct publish_round *round, const struct publish_context *context,
			     size_t most)
{
	if (round->count == 0)
		publisher_add_none(context->publisher, PUBLISH_SUMMARY);
	for (; most > 0 && !publish_round_is_over(round); most--, round->next++) {
		const struct process *const process = next_of(round, context);

		if (process)
			publisher_add_line(
				context->publisher, PUBLISH_SUMMARY, owner_group(process->owner),
				summary_of(process, context->published(context->arg, process),
					   context->lost_samples));
	}
}

/* ---- snapshots ---- */

static bool add(struct publish_round *round, const struct publish_context *context,
		const struct process *process, struct publish_entry *entry, bool is_whole)
{
	bool is_added = is_whole;

	entry->pid = process->pid;
	entry->start_ticks = process->start_ticks;
	if (is_added) {
		is_added = publisher_add_entry(context->publisher, PUBLISH_SNAPSHOT,
					       owner_group(process->owner), entry);
	} else {
		publisher_lose(context->publisher, PUBLISH_SNAPSHOT);
	}
	round->is_broken |= !is_added;
	return is_added;
}

static void add_mark(struct publish_round *round, const struct publish_context *context,
		     const struct process *process, enum wire_kind kind)
{
	struct publish_entry entry = {.time_ns = context->now_ns, .level = CODE_LEVEL_UNKNOWN};
	uint8_t bytes[64];
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};

	wire_encode_resync(
		&buf, kind,
		&(struct wire_resync){.time_ns = context->now_ns,
				      .epoch = round->epoch,
				      .complete = kind == WIRE_RESYNC_END && !round->is_broken});
	entry.record = publish_range_record(&buf);
	add(round, context, process, &entry, !buf.overflow);
}

static bool add_range(struct publish_round *round, const struct publish_context *context,
		      const struct process *process, const struct code_range *range)
{
	struct publish_entry entry = {0};
	struct publish_range_room room;

	return add(round, context, process, &entry, publish_range_set(&entry, range, &room));
}

static void begin_snapshot(struct publish_round *round, const struct publish_context *context,
			   const struct process *process)
{
	struct published_jvm *const published = context->published(context->arg, process);

	round->code = process->code;
	round->start_ticks = process->start_ticks;
	round->pos = 0;
	round->epoch = published ? ++published->snapshots : 0;
	round->is_broken = process->jvm->state != JVM_CURRENT;
	add_mark(round, context, process, WIRE_RESYNC_BEGIN);
}

static void end_snapshot(struct publish_round *round, const struct publish_context *context,
			 const struct process *process)
{
	round->is_broken |= process->jvm->state != JVM_CURRENT;
	add_mark(round, context, process, WIRE_RESYNC_END);
	round->has_broken |= round->is_broken;
	if (!round->is_broken)
		publisher_count_snapshot(context->publisher);
	round->code = NULL;
	round->next++;
}

/* Whether it is the process whose snapshot is under way. */
static bool is_same(const struct publish_round *round, const struct process *process)
{
	return process && process->code == round->code &&
	       process->start_ticks == round->start_ticks;
}

/*
 * Goes to the next JVM without a snapshot of this one. In a resync it is not known what the agent
 * will not name again: such a JVM has its snapshot in the next round.
 */
static void pass_over(struct publish_round *round, const struct process *process)
{
	round->has_broken |= process && process->jvm->state < JVM_CURRENT;
	round->code = NULL;
	round->next++;
}

void publish_round_snapshot(struct publish_round *round, const struct publish_context *context,
			    size_t most)
{
	const struct process *const process = next_of(round, context);
	const bool is_current =
		process && process->jvm->state == JVM_CURRENT && process->jvm->has_hello;
	const struct code_range *range;
	bool ends = false;
	size_t until;

	/* What the process was, or its code, is gone: the snapshot has no end then. */
	if (round->code ? !is_same(round, process) : !is_current) {
		pass_over(round, process);
		return;
	}
	if (round->code && !is_current) {
		end_snapshot(round, context, process);
		return;
	}
	if (!round->code)
		begin_snapshot(round, context, process);
	until = round->pos + PUBLISH_LOOKED_AT;
	while (most-- > 0 && round->pos < until &&
	       (range = code_map_next_living(process->code, &round->pos, until - round->pos,
					     &ends)))
		add_range(round, context, process, range);
	if (ends)
		end_snapshot(round, context, process);
}
