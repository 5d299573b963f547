// SPDX-License-Identifier: Apache-2.0
/* Publishes JVMs and their code, see publishing.h. */
#include "announce/publishing.h"

#include "base/clock.h"
#include "base/json_value.h"
#include "base/log.h"
#include "code/code_name.h"
#include "inspect/jvm_list.h"
#include "intake/intake.h"
#include "announce/publish_answers.h"
#include "announce/publish_places.h"
#include "announce/publish_rounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUMMARY_NS   (1 * CLOCK_NS_PER_SEC)
#define BUSY_NS	     (10 * CLOCK_NS_PER_MS) /* between turns while a round is under way */
#define TOLD_NONE    (-1)
#define TOLD_MOST    8	 /* states of a JVM in a second */
#define RESYNC_BYTES 16u /* the fields of a record of a resync */

struct publishing {
	struct publisher *publisher; /* NULL: libnng could not be started yet */
	struct engine *engine;
	struct publishing_options options;
	uint64_t starts_failed;
	uint64_t next_start_ns;
	uint64_t next_answer_ns; /* when the next request may be answered */
	int wake_fd;		 /* wakes the loop for a request; -1: none does now */
	struct map64 jvms;	 /* PID -> struct published_jvm */
	struct publish_round summaries, snapshots;
	uint64_t next_summary_ns;
	uint64_t next_ranges_ns; /* when a snapshot may go on */
	uint64_t last_round_ns;	 /* when the last round of snapshots ended */
	uint64_t joined;	 /* subscribers that a round has begun for */
	bool has_dropped;	 /* code of some JVM, since the last round began */
};

/* ---- JVMs ---- */

static struct published_jvm *find(struct publishing *publishing, const struct process *process)
{
	struct published_jvm *const jvm = map64_find(&publishing->jvms, (uint64_t)process->pid);

	return jvm && jvm->start_ticks == process->start_ticks ? jvm : NULL;
}

static struct published_jvm *find_for(void *arg, const struct process *process)
{
	return find(arg, process);
}

static struct published_jvm *add(struct publishing *publishing, const struct process *process)
{
	struct published_jvm *const jvm = calloc(1, sizeof(*jvm));

	if (!jvm)
		return NULL;
	jvm->pid = process->pid;
	jvm->start_ticks = process->start_ticks;
	jvm->told = TOLD_NONE;
	if (map64_put(&publishing->jvms, (uint64_t)process->pid, jvm) == 0)
		return jvm;
	free(jvm);
	return NULL;
}

/* What subscribers are told when a JVM's state has become another one. */
static const char *event_of(int told, enum jvm_state state)
{
	switch (state) {
	case JVM_RESYNCING:
		return told == JVM_CURRENT ? "resyncs" : "comes";
	case JVM_CURRENT:
		return "current";
	case JVM_DISCONNECTED:
		return "leaves";
	default:
		return "goes";
	}
}

/* process NULL: it is not known any more. */
static void tell(struct publishing *publishing, const struct published_jvm *jvm,
		 const struct process *process, const char *event)
{
	json_t *line;

	if (!publisher_is_heard(publishing->publisher)) {
		publisher_skip(publishing->publisher, PUBLISH_JVM);
		return;
	}
	line = process && process_is_jvm(process) ? jvm_list_row(process) : json_object();
	json_object_set_new(line, "event", json_string(event));
	json_value_put_count(line, "pid", (uint64_t)jvm->pid);
	json_value_put_count(line, "start_ticks", jvm->start_ticks);
	json_value_put_count(line, "at_ns", clock_now_ns());
	publisher_add_line(publishing->publisher, PUBLISH_JVM,
			   process ? owner_group(process->owner) : 0, line);
}

static void end_jvm(struct publishing *publishing, struct published_jvm *jvm)
{
	if (jvm->told != TOLD_NONE && jvm->told != JVM_ENDED)
		tell(publishing, jvm, NULL, "goes");
	map64_remove(&publishing->jvms, (uint64_t)jvm->pid);
	free(jvm);
}

static bool may_tell(struct published_jvm *jvm)
{
	const uint64_t now_ns = clock_now_ns();

	if (now_ns >= jvm->second_ns + CLOCK_NS_PER_SEC) {
		jvm->second_ns = now_ns;
		jvm->told_in_second = 0;
	}
	return jvm->told_in_second++ < TOLD_MOST;
}

/*
 * An agent that resyncs without end, or a container that is renamed without end, is told of some
 * times a second; the sweep tells the rest.
 */
static void tell_names(struct publishing *publishing, struct published_jvm *jvm,
		       const struct process *process)
{
	if (jvm->told < 0 || jvm->told > JVM_CURRENT ||
	    jvm->named_version == process->workload.version || !may_tell(jvm))
		return;
	jvm->named_version = process->workload.version;
	tell(publishing, jvm, process, "named");
}

/* Tells of the JVM's state, and of its names, if they are others than subscribers know. */
static void tell_state(struct publishing *publishing, const struct process *process)
{
	struct published_jvm *jvm = map64_find(&publishing->jvms, (uint64_t)process->pid);
	const enum jvm_state state = process->jvm->state;

	if (jvm && jvm->start_ticks != process->start_ticks) {
		end_jvm(publishing, jvm);
		jvm = NULL;
	}
	if (!jvm)
		jvm = add(publishing, process);
	if (!jvm)
		return;
	if ((int)state == jvm->told) {
		tell_names(publishing, jvm, process);
		return;
	}
	if (state <= JVM_CURRENT && !may_tell(jvm))
		return;
	/*
	 * Nothing is known of a JVM before its hello, and nobody waits for the end of an unknown
	 * one.
	 */
	if (state <= JVM_CURRENT ? !process->jvm->has_hello : jvm->told == TOLD_NONE)
		return;
	jvm->named_version = process->workload.version;
	if (state == JVM_CURRENT && jvm->told != JVM_RESYNCING)
		tell(publishing, jvm, process, "comes");
	tell(publishing, jvm, process, event_of(jvm->told, state));
	jvm->told = (int)state;
}

/* Tells of JVMs that have gone without a word of their agents. */
static void sweep(struct publishing *publishing)
{
	struct published_jvm *gone[64];
	size_t pos = 0, n = 0;
	uint64_t pid;
	void *value;

	while (n < sizeof(gone) / sizeof(*gone) &&
	       map64_next(&publishing->jvms, &pos, &pid, &value)) {
		struct published_jvm *const jvm = value;
		const struct process *const process =
			targets_find(&publishing->engine->targets, jvm->pid);

		if (!process || !process_is_jvm(process) ||
		    process->start_ticks != jvm->start_ticks)
			gone[n++] = jvm;
		else
			tell_state(publishing, process); /* changes no key */
	}
	while (n > 0)
		end_jvm(publishing, gone[--n]);
}

/* ---- code ---- */

/* Times of agents are of their clock, which may be another namespace's. */
static uint64_t host_time(const struct process *process, uint64_t time_ns)
{
	const uint64_t now_ns = clock_now_ns();
	const uint64_t host = time_ns - (uint64_t)process->clock_offset_ns;

	return host < now_ns ? host : now_ns;
}

/* False: the model has not taken the load. */
static bool set_load(const struct process *process, uint64_t addr, uint32_t size,
		     struct publish_entry *entry, char *name)
{
	const struct code_range *const range = code_map_living(process->code, addr);

	if (!range || range->size != size)
		return false;
	publish_entry_set_range(entry, range, name);
	return true;
}

/* Sets what the record tells. False: it is of no use, or tells nothing of code. */
static bool set_entry(const struct process *process, const struct wire_record *record,
		      struct publish_entry *entry, char *name)
{
	struct wire_method_unload unload;
	struct wire_method_load load;
	struct wire_resync resync;
	struct wire_stub stub;

	switch (record->kind) {
	case WIRE_METHOD_LOAD:
		if (wire_decode_method_load(record, &load) < 0)
			return false;
		entry->time_ns = host_time(process, load.time_ns);
		return set_load(process, load.addr, load.size, entry, name);
	case WIRE_STUB:
		if (wire_decode_stub(record, &stub) < 0)
			return false;
		entry->time_ns = host_time(process, stub.time_ns);
		return set_load(process, stub.addr, stub.size, entry, name);
	case WIRE_METHOD_UNLOAD:
		if (wire_decode_method_unload(record, &unload) < 0)
			return false;
		entry->time_ns = host_time(process, unload.time_ns);
		entry->addr = unload.addr;
		return true;
	case WIRE_RESYNC_BEGIN:
	case WIRE_RESYNC_END:
		if (wire_decode_resync(record, &resync) < 0)
			return false;
		/* What is behind the fields is an agent's own, and may be long. */
		entry->record.len = RESYNC_BYTES;
		entry->time_ns = host_time(process, resync.time_ns);
		return true;
	default:
		return false;
	}
}

static void publish_code(struct publishing *publishing, const struct process *process,
			 const struct wire_record *record)
{
	struct publish_entry entry = {.pid = process->pid,
				      .start_ticks = process->start_ticks,
				      .level = CODE_LEVEL_UNKNOWN,
				      .record = *record};
	struct published_jvm *jvm;
	char name[CODE_NAME_MAX_BYTES];

	if (!set_entry(process, record, &entry, name) ||
	    publisher_add_entry(publishing->publisher, PUBLISH_EVENT, owner_group(process->owner),
				&entry))
		return;
	publishing->has_dropped = true;
	/* The snapshot under way may be past the place. */
	if (publishing->snapshots.code && publishing->snapshots.code == process->code)
		publishing->snapshots.is_broken = true;
	jvm = find(publishing, process);
	if (jvm)
		jvm->unpublished++;
}

/* What nobody hears leaves a gap, for who has asked for the state before. */
static void hear_code(struct publishing *publishing, const struct process *process,
		      const struct wire_record *record)
{
	if (publisher_is_heard(publishing->publisher))
		publish_code(publishing, process, record);
	else
		publisher_skip(publishing->publisher, PUBLISH_EVENT);
}

static void hear(void *arg, const struct intake_event *event)
{
	struct publishing *const publishing = arg;
	const struct targets *const targets = &publishing->engine->targets;
	const struct process *const process = targets_find(targets, event->session->pid);

	if (!publishing->publisher || !process || !process->jvm ||
	    process->jvm->session != event->session->id)
		return;
	if (event->kind == INTAKE_RECORD && process->jvm->has_hello &&
	    map64_find(&targets->sessions, event->session->id) == process)
		hear_code(publishing, process, &event->record);
	tell_state(publishing, process);
}

/* What was read of a JVM without an agent, or beside one, is told as what an agent tells. */
static void hear_read(void *arg, const struct process *process, const struct wire_record *record)
{
	struct publishing *const publishing = arg;

	if (!publishing->publisher || !process->jvm)
		return;
	if (process->jvm->has_hello)
		hear_code(publishing, process, record);
	tell_state(publishing, process);
}

/* ---- requests ---- */

/*
 * Answers at most one request each BUSY_NS, so that those who ask do not take the loop's time from
 * others. Meanwhile a request does not wake the loop.
 */
static void step_requests(struct publishing *publishing, uint64_t now_ns)
{
	char text[PUBLISH_REQUEST_BYTES];
	size_t len;

	publishing->wake_fd = -1;
	if (now_ns < publishing->next_answer_ns)
		return;
	if (!publisher_next_request(publishing->publisher, text, &len)) {
		publishing->wake_fd = publisher_wake_fd(publishing->publisher);
		return;
	}
	publishing->next_answer_ns = now_ns + BUSY_NS;
	publisher_answer(publishing->publisher,
			 publish_answer(&publishing->engine->targets, text, len), now_ns);
}

/* ---- rounds ---- */

static struct publish_context context_of(struct publishing *publishing, uint64_t now_ns)
{
	return (struct publish_context){.publisher = publishing->publisher,
					.targets = &publishing->engine->targets,
					.published = find_for,
					.arg = publishing,
					.now_ns = now_ns,
					.lost_samples = publishing->options.lost_samples};
}

/* A subscriber that comes during a round has missed its begin, and so gets another round. */
static bool is_round_due(const struct publishing *publishing, uint64_t now_ns)
{
	const uint64_t pause_ns =
		publishing->has_dropped ? PUBLISHING_HURRY_NS : PUBLISHING_ROUND_NS;

	return publisher_joined(publishing->publisher) != publishing->joined ||
	       now_ns >= publishing->last_round_ns + pause_ns;
}

static void step_snapshots(struct publishing *publishing, uint64_t now_ns)
{
	const struct publish_context context = context_of(publishing, now_ns);
	struct publish_round *const round = &publishing->snapshots;

	if (now_ns < publishing->next_ranges_ns)
		return;
	publishing->next_ranges_ns = now_ns + BUSY_NS;
	if (publish_round_is_over(round)) {
		if (!is_round_due(publishing, now_ns))
			return;
		publishing->joined = publisher_joined(publishing->publisher);
		publishing->has_dropped = false;
		publish_round_begin(round, &publishing->engine->targets);
	}
	if (!publish_round_is_over(round))
		publish_round_snapshot(round, &context, PUBLISHING_RANGES);
	if (publish_round_is_over(round)) {
		publishing->last_round_ns = now_ns;
		publishing->has_dropped |= round->has_broken;
	}
}

static void step_summaries(struct publishing *publishing, uint64_t now_ns)
{
	const struct publish_context context = context_of(publishing, now_ns);
	const bool is_over = publish_round_is_over(&publishing->summaries);

	if (is_over && now_ns < publishing->next_summary_ns)
		return;
	if (is_over) {
		publishing->next_summary_ns = now_ns + SUMMARY_NS;
		publish_round_begin(&publishing->summaries, &publishing->engine->targets);
	}
	publish_round_summarize(&publishing->summaries, &context, PUBLISHING_ROWS);
}

/* Starts libnng, or notes when to try again: there may be no threads or no memory for it now. */
static int start(struct publishing *publishing)
{
	int err;

	publishing->options.publisher.max_bytes = publishing->engine->budget.publish;
	err = publisher_open(&publishing->options.publisher, &publishing->publisher);
	if (!err) {
		publishing->wake_fd = publisher_wake_fd(publishing->publisher);
		return 0;
	}
	publishing->starts_failed++;
	publishing->next_start_ns = clock_now_ns() + PUBLISHING_START_NS;
	if (err != -EAGAIN && err != -ENOMEM)
		return err;
	if (publishing->starts_failed == 1)
		log_warning("%s ipc://%s: %s: libnng cannot be started, and nothing is published; "
			    "it is tried again each 10 s: raise the limit of tasks (pids.max of "
			    "the cgroup, TasksMax of the service)",
			    publishing->options.publisher.events.option,
			    publishing->options.publisher.events.paths[0], strerror(-err));
	return 0;
}

/* The places were free when the daemon began. libnng would remove what has come there since. */
static void start_again(struct publishing *publishing)
{
	const struct publisher_options *const options = &publishing->options.publisher;

	if (publish_places_are_free(&options->events) && publish_places_are_free(&options->state)) {
		start(publishing);
		return;
	}
	publishing->starts_failed++;
	publishing->next_start_ns = clock_now_ns() + PUBLISHING_START_NS;
}

void publishing_step(struct publishing *publishing, uint64_t now_ns)
{
	if (!publishing->publisher && now_ns >= publishing->next_start_ns)
		start_again(publishing);
	if (!publishing->publisher)
		return;
	if (now_ns >= publishing->next_summary_ns)
		sweep(publishing);
	if (publisher_is_heard(publishing->publisher)) {
		step_summaries(publishing, now_ns);
		step_snapshots(publishing, now_ns);
	} else if (now_ns >= publishing->next_summary_ns) {
		publishing->next_summary_ns = now_ns + SUMMARY_NS;
	}
	publisher_flush(publishing->publisher, now_ns);
	step_requests(publishing, now_ns);
}

static uint64_t until(uint64_t then_ns, uint64_t now_ns)
{
	return then_ns > now_ns ? then_ns - now_ns : BUSY_NS;
}

uint64_t publishing_wait_ns(const struct publishing *publishing, uint64_t now_ns)
{
	const uint64_t second_ns = until(publishing->next_summary_ns, now_ns);
	const bool is_busy = !publish_round_is_over(&publishing->summaries) ||
			     !publish_round_is_over(&publishing->snapshots);

	if (!publishing->publisher)
		return until(publishing->next_start_ns, now_ns);
	if (is_busy && publisher_is_heard(publishing->publisher))
		return BUSY_NS;
	if (now_ns < publishing->next_answer_ns && publishing->next_answer_ns - now_ns < second_ns)
		return publishing->next_answer_ns - now_ns;
	return second_ns;
}

/* ---- life ---- */

static int wake_fd_of(const void *arg)
{
	return publishing_wake_fd(arg);
}

int publishing_wake_fd(const struct publishing *publishing)
{
	return publishing->wake_fd;
}

int publishing_open(struct engine *engine, const struct publishing_options *options,
		    struct publishing **ret)
{
	struct publishing *publishing;
	int err = publish_places_prepare(&options->publisher.events, options->agent_socket);

	if (!err)
		err = publish_places_prepare(&options->publisher.state, options->agent_socket);
	if (err)
		return err;
	publishing = calloc(1, sizeof(*publishing));
	if (!publishing)
		return -ENOMEM;
	publishing->options = *options;
	publishing->engine = engine;
	publishing->wake_fd = -1;
	err = start(publishing);
	if (err) {
		free(publishing);
		return err;
	}
	engine->listener = (struct engine_listener){.heard = hear, .arg = publishing};
	engine->targets.on_read = hear_read;
	engine->targets.on_read_arg = publishing;
	engine_add_part(engine,
			&(struct part){.stage = TURN_CALLER, .fd = wake_fd_of, .arg = publishing});
	*ret = publishing;
	return 0;
}

void publishing_close(struct publishing *publishing)
{
	if (!publishing)
		return;
	publishing->engine->listener = (struct engine_listener){0};
	publishing->engine->targets.on_read = NULL;
	engine_remove_part(publishing->engine, publishing);
	publisher_close(publishing->publisher);
	publish_round_fini(&publishing->summaries);
	publish_round_fini(&publishing->snapshots);
	map64_fini_all(&publishing->jvms, free);
	free(publishing);
}

void publishing_set_max_bytes(struct publishing *publishing, size_t max_bytes)
{
	if (publishing->publisher)
		publisher_set_max_bytes(publishing->publisher, max_bytes);
}

void publishing_stats(struct publishing *publishing, struct publish_stats *ret)
{
	*ret = (struct publish_stats){0};
	if (publishing->publisher)
		publisher_stats(publishing->publisher, ret);
	ret->starts_failed = publishing->starts_failed;
}
