// SPDX-License-Identifier: Apache-2.0
/*
 * Perf maps of all JVMs and the jitdump, see map_outputs.h. An output is due when its perf map or
 * its part of the jitdump is; the heap has the first of them, so that neither a wait nor a turn
 * looks at all processes.
 */
#include "maps/map_outputs.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "guard/heap_bytes.h"
#include "maps/perf_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN_NS		  (5 * CLOCK_NS_PER_MS) /* of the loop's time */
#define SHARE_INTERVAL_NS CLOCK_NS_PER_SEC

static uint64_t sooner_of(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a; /* 0: never */
}

/*
 * Sets when the output is due; not before not_before_ns, so that one with much to do lets others
 * have their turn.
 */
static void set_due(struct map_outputs *outputs, struct map_output *output, uint64_t not_before_ns)
{
	uint64_t due_ns =
		sooner_of(map_writer_due_ns(&output->map), jitdump_target_due_ns(&output->jitdump));

	if (due_ns && due_ns < not_before_ns)
		due_ns = not_before_ns;
	due_heap_set(&outputs->heap, &output->due, due_ns);
}

/* ---- perf maps ---- */

static const char *advice(int err)
{
	return is_shortage(err) ? ": it is written once there is room"
				: ": choose another place with --map-dir";
}

static void fail_map(struct map_outputs *outputs, struct map_output *output, int err)
{
	static struct log_limit limit;

	/* The perf map is written again later, but for a process that is gone. */
	if (output->process->gone_ns)
		map_writer_give_up(&output->map);
	outputs->failures++;
	if (output->map.failures == 1 &&
	    log_limit_allows(&limit, output->process->group, output->map.written_ns))
		log_error("cannot write %s/perf-%d.map: %s%s", outputs->dir,
			  (int)output->process->pid,
			  err == -EEXIST ? "other programs' files are there and beside"
					 : strerror(-err),
			  advice(err));
}

static void write_map(struct map_outputs *outputs, struct map_output *output, uint64_t now_ns)
{
	int err;

	output->map.style = outputs->style;
	map_store_allow(&outputs->store, &output->map);
	err = map_writer_step(&output->map, outputs->dir, output->process->pid,
			      output->process->code, now_ns);
	outputs->writes += err != 0;
	if (err < 0)
		fail_map(outputs, output, err);
}

static void say_shadow(const struct process *process, const char *path, bool is_used,
		       uint64_t now_ns)
{
	static struct log_limit limit;

	if (!log_limit_allows(&limit, process->group, now_ns))
		return;
	if (is_used)
		log_warning("PID %d has another map at %s, which perf reads rather than ours: if "
			    "a second code generator of the process writes it, perf has the names "
			    "of both with --jitdump",
			    (int)process->pid, path);
	else
		log_warning("PID %d has another file at %s: perf prefers it to our map, even when "
			    "it is empty: remove it",
			    (int)process->pid, path);
}

/* Finds what perf reads rather than the process's perf map. */
static void check_shadow(const struct map_outputs *outputs, struct map_output *output,
			 uint64_t now_ns)
{
	const struct process *const process = output->process;
	const char *const beside = output->map.is_beside ? outputs->dir : NULL;
	char path[PATH_MAX] = "";
	const int found =
		perf_map_find_shadow(process->pid, process->inner_pid, beside, path, sizeof(path));

	if (found == -ETIMEDOUT)
		return; /* what was known last stays */
	if (found <= 0)
		path[0] = '\0';
	if (path[0] && !output->shadow_path)
		say_shadow(process, path, found == PERF_MAP_SHADOW_USED, now_ns);
	output->shadow_is_used = found == PERF_MAP_SHADOW_USED;
	free(output->shadow_path);
	output->shadow_path = path[0] ? strdup(path) : NULL;
}

void map_output_path(const struct process *process, char ret[PATH_MAX])
{
	const struct map_output *const output = process->output;
	const struct map_outputs *const outputs = output ? process->listener->arg : NULL;
	const struct perf_map_name name = output && output->map.is_beside
						  ? perf_map_name_beside(process->pid)
						  : perf_map_name_of(process->pid);

	ret[0] = '\0';
	if (output)
		snprintf(ret, PATH_MAX, "%s/%s", outputs->dir, name.text);
}

/* ---- one process's code ---- */

/* Without memory for it nothing is written of the process, as its list says. */
static void begin(struct map_outputs *outputs, struct process *process)
{
	struct map_output *const output = due_heap_reserve(&outputs->heap, outputs->count + 1) < 0
						  ? NULL
						  : calloc(1, sizeof(*output));

	if (!output)
		return;
	output->process = process;
	output->jitdump.dump = outputs->jitdump;
	process->output = output;
	outputs->count++;
}

static void free_output(struct map_outputs *outputs, struct map_output *output)
{
	due_heap_set(&outputs->heap, &output->due, 0);
	output->process->output = NULL;
	map_writer_fini(&output->map);
	jitdump_target_fini(&output->jitdump);
	free(output->shadow_path);
	free(output);
	outputs->count--;
}

/* Whether nothing of the process is to stay. */
static bool is_unwanted(const struct map_outputs *outputs, const struct process *process)
{
	return !outputs->keeps_tools && process_is_passing(process);
}

static void end(struct map_outputs *outputs, struct map_output *output)
{
	if (is_unwanted(outputs, output->process))
		map_writer_give_up(&output->map);
	else
		map_writer_hurry(&output->map);
}

static void forget(struct map_outputs *outputs, struct map_output *output)
{
	const struct process *const process = output->process;

	if (is_unwanted(outputs, process)) {
		map_store_drop(&outputs->store, process->pid, &output->map);
	} else {
		outputs->unfinished += output->map.changed_ns != 0;
		map_store_keep(&outputs->store, process->pid, process->owner, &output->map);
	}
	free_output(outputs, output);
}

static void hear(void *arg, struct process *process, const struct code_event *event)
{
	struct map_outputs *const outputs = arg;
	struct map_output *output;

	if (event->news == CODE_BEGINS && !process->output)
		begin(outputs, process);
	output = process->output;
	if (!output)
		return;
	switch (event->news) {
	case CODE_BEGINS:
		break;
	case CODE_ADDED:
		map_writer_mark(&output->map, process->code, event->range, event->now_ns);
		jitdump_target_add(&output->jitdump, process->pid, event->range, event->begin_ns,
				   event->now_ns);
		break;
	case CODE_CHANGED:
		map_writer_mark(&output->map, process->code, NULL, event->now_ns);
		break;
	case CODE_REPLACED:
		map_writer_restart(&output->map, event->now_ns);
		jitdump_target_fini(&output->jitdump);
		break;
	case CODE_SWEPT:
		check_shadow(outputs, output, event->now_ns);
		return;
	case CODE_ENDED:
		end(outputs, output);
		break;
	case CODE_FORGOTTEN:
		forget(outputs, output);
		return;
	}
	set_due(outputs, output, 0);
}

static uint32_t number(void *arg)
{
	const struct map_outputs *const outputs = arg;

	return outputs->jitdump ? jitdump_number(outputs->jitdump) : 0;
}

static size_t bytes_of(const struct process *process)
{
	const struct map_output *const output = process->output;

	return output ? heap_bytes(sizeof(*output)) + map_writer_heap_bytes(&output->map) +
				address_space_bytes(&output->jitdump.known)
		      : 0;
}

/* ---- those of all ---- */

static bool writes_map(void *arg, pid_t pid)
{
	const struct process *const process = targets_find(arg, pid);

	return process && process->output;
}

void map_outputs_init(struct map_outputs *outputs, struct targets *targets, const char *dir)
{
	*outputs = (struct map_outputs){
		.targets = targets,
		.dir = dir,
		.turn_ns = TURN_NS,
		.listener = {.hear = hear, .number = number, .bytes = bytes_of, .arg = outputs},
	};
	map_store_init(&outputs->store, dir, MAP_STORE_BYTES, writes_map, targets);
	targets->listener = &outputs->listener;
}

void map_outputs_fini(struct map_outputs *outputs)
{
	struct process *process;
	size_t pos = 0;

	if (!outputs->targets)
		return;
	while ((process = targets_next(outputs->targets, &pos))) {
		if (process->output)
			free_output(outputs, process->output);
		process->listener = NULL;
	}
	outputs->targets->listener = NULL;
	map_store_fini(&outputs->store);
	jitdump_close(outputs->jitdump);
	due_heap_fini(&outputs->heap);
}

uint64_t map_outputs_due_ns(const struct map_outputs *outputs)
{
	const struct due *const first = due_heap_first(&outputs->heap);
	uint64_t due_ns = map_store_due_ns(&outputs->store);

	if (outputs->jitdump)
		due_ns = sooner_of(due_ns, jitdump_due_ns(outputs->jitdump));
	return first ? sooner_of(due_ns, first->at_ns) : due_ns;
}

/* Shares the room for files anew, after which other perf maps may be due. */
static void share(struct map_outputs *outputs, uint64_t now_ns)
{
	_cleanup_free_ struct map_store_live *live = calloc(outputs->count + 1, sizeof(*live));
	struct process *process;
	size_t n = 0, pos = 0;

	while (live && (process = targets_next(outputs->targets, &pos))) {
		if (process->output)
			live[n++] = (struct map_store_live){process->owner, &process->output->map,
							    process->code};
	}
	if (live)
		map_store_share(&outputs->store, live, n, now_ns);
	for (pos = 0; (process = targets_next(outputs->targets, &pos));) {
		if (process->output)
			set_due(outputs, process->output, 0);
	}
}

/* What the time is too short for is due at once in the next turn. */
static void write_due(struct map_outputs *outputs, uint64_t now_ns)
{
	const uint64_t began_ns = clock_now_ns();
	uint64_t took_ns = 0;
	struct due *first;

	while (took_ns < outputs->turn_ns && (first = due_heap_first(&outputs->heap)) &&
	       first->at_ns <= now_ns) {
		struct map_output *const output = (struct map_output *)first;

		if (map_writer_due_ns(&output->map))
			write_map(outputs, output, now_ns + took_ns);
		if (output->process->code)
			jitdump_target_step(&output->jitdump, output->process->pid,
					    output->process->code, now_ns);
		set_due(outputs, output, now_ns + 1);
		took_ns = clock_now_ns() - began_ns;
	}
}

void map_outputs_step(struct map_outputs *outputs, uint64_t now_ns)
{
	write_due(outputs, now_ns);
	if (outputs->jitdump)
		jitdump_step(outputs->jitdump, now_ns);
	if (now_ns >= outputs->next_share_ns) {
		outputs->next_share_ns = now_ns + SHARE_INTERVAL_NS;
		share(outputs, now_ns);
	}
	map_store_search(&outputs->store, now_ns);
}

size_t map_outputs_bytes(const struct map_outputs *outputs)
{
	return map_store_heap_bytes(&outputs->store) + due_heap_bytes(&outputs->heap);
}

void map_output_stats(const struct process *process, struct map_output_stats *ret)
{
	const struct map_output *const output = process->output;

	*ret = (struct map_output_stats){0};
	if (output)
		*ret = (struct map_output_stats){.cut = output->map.cut,
						 .failures = output->map.failures,
						 .bytes = map_writer_bytes(&output->map)};
}

static const struct counter output_rows[] = {
	COUNTER_SUM(struct map_output_stats, cut, "map_cut", "jvm_map_cut_total",
		    "Lines that the perf map had no room for."),
	COUNTER_SUM(struct map_output_stats, failures, "map_failures", "jvm_map_failures_total",
		    "Times that the perf map could not be written."),
	COUNTER_GAUGE(struct map_output_stats, bytes, "map_bytes", "jvm_map_bytes",
		      "Bytes of the perf map's files."),
};

const struct counters map_output_counters = COUNTERS(struct map_output_stats, output_rows);

static const struct counter rows[] = {
	COUNTER_SUM(struct map_outputs, failures, "map_failures", "map_failures_total",
		    "Perf maps that could not be written."),
	COUNTER_SUM(struct map_outputs, unfinished, "map_unfinished", "map_unfinished_total",
		    "JVMs that were forgotten before their last code was in their perf map."),
};

const struct counters map_outputs_counters = COUNTERS(struct map_outputs, rows);
