// SPDX-License-Identifier: Apache-2.0
/* Publishes JVMs and their code, see publishing.h. */
#include "serve/publishing.h"

#include "base/clock.h"
#include "base/json_value.h"
#include "base/log.h"
#include "code/code_name.h"
#include "inspect/jvm_list.h"
#include "intake/intake.h"
#include "intake/listen.h"
#include "serve/publish_rounds.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUMMARY_NS   (1 * CLOCK_NS_PER_SEC)
#define BUSY_NS	     (10 * CLOCK_NS_PER_MS) /* between turns while a round is under way */
#define TOLD_NONE    (-1)
#define TOLD_MOST    8	 /* states of a JVM in a second */
#define RESYNC_BYTES 16u /* the fields of a record of a resync */
#define DIRECTORY    "/run/fgcollect-publish"

struct publishing {
	struct publisher *publisher;
	struct engine *engine;
	struct map64 jvms; /* PID -> struct published_jvm */
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

	if (!publisher_is_heard(publishing->publisher))
		return;
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

/* Tells of the JVM's state if it is another one than subscribers know. */
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
	if (!jvm || (int)state == jvm->told)
		return;
	/*
	 * An agent that resyncs without end is told of some times a second; the sweep tells the
	 * rest.
	 */
	if (state <= JVM_CURRENT && !may_tell(jvm))
		return;
	/*
	 * Nothing is known of a JVM before its hello, and nobody waits for the end of an unknown
	 * one.
	 */
	if (state <= JVM_CURRENT ? !process->jvm->has_hello : jvm->told == TOLD_NONE)
		return;
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

static void hear(void *arg, const struct intake_event *event)
{
	struct publishing *const publishing = arg;
	const struct targets *const targets = &publishing->engine->targets;
	const struct process *const process = targets_find(targets, event->session->pid);

	if (!process || !process->jvm || process->jvm->session != event->session->id)
		return;
	if (event->kind == INTAKE_RECORD && process->jvm->has_hello &&
	    map64_find(&targets->sessions, event->session->id) == process &&
	    publisher_is_heard(publishing->publisher))
		publish_code(publishing, process, &event->record);
	tell_state(publishing, process);
}

/* ---- rounds ---- */

static struct publish_context context_of(struct publishing *publishing, uint64_t now_ns)
{
	return (struct publish_context){.publisher = publishing->publisher,
					.targets = &publishing->engine->targets,
					.published = find_for,
					.arg = publishing,
					.now_ns = now_ns};
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

	if (now_ns >= publishing->next_summary_ns &&
	    publish_round_is_over(&publishing->summaries)) {
		publishing->next_summary_ns = now_ns + SUMMARY_NS;
		publish_round_begin(&publishing->summaries, &publishing->engine->targets);
	}
	if (!publish_round_is_over(&publishing->summaries))
		publish_round_summarize(&publishing->summaries, &context, PUBLISHING_ROWS);
}

void publishing_step(struct publishing *publishing, uint64_t now_ns)
{
	if (now_ns >= publishing->next_summary_ns)
		sweep(publishing);
	if (publisher_is_heard(publishing->publisher)) {
		step_summaries(publishing, now_ns);
		step_snapshots(publishing, now_ns);
	} else if (now_ns >= publishing->next_summary_ns) {
		publishing->next_summary_ns = now_ns + SUMMARY_NS;
	}
	publisher_flush(publishing->publisher, now_ns);
}

uint64_t publishing_wait_ns(const struct publishing *publishing, uint64_t now_ns)
{
	const uint64_t next_ns = publishing->next_summary_ns;
	const bool is_busy = !publish_round_is_over(&publishing->summaries) ||
			     !publish_round_is_over(&publishing->snapshots);

	if (is_busy && publisher_is_heard(publishing->publisher))
		return BUSY_NS;
	return next_ns > now_ns ? next_ns - now_ns : BUSY_NS;
}

/* ---- life ---- */

/* The real path of a directory, of which the last part may be missing. */
static bool find_real(const char *directory, char ret[PATH_MAX])
{
	const char *const slash = strrchr(directory, '/');
	char above[PATH_MAX], real[PATH_MAX];

	if (realpath(directory, ret))
		return true;
	if (errno != ENOENT || !slash)
		return false;
	snprintf(above, sizeof(above), "%.*s", (int)(slash - directory), directory);
	return realpath(above[0] ? above : "/", real) &&
	       snprintf(ret, PATH_MAX, "%s%s", strcmp(real, "/") == 0 ? "" : real, slash) <
		       PATH_MAX;
}

/* The real path of the directory that the path is in. */
static bool find_directory(const char *path, char ret[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX];

	if (!slash)
		return realpath(".", ret);
	while (slash > path && slash[-1] == '/')
		slash--;
	if (snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path) >=
	    (int)sizeof(directory))
		return false;
	return find_real(directory[0] ? directory : "/", ret);
}

/* Whether the path is in the directory of the agents' socket, or below it. */
static bool is_with_agents(const char *path, const char *agent_socket)
{
	char own[PATH_MAX], agents[PATH_MAX];
	size_t len;

	if (!find_directory(path, own) || !find_directory(agent_socket, agents))
		return false;
	len = strlen(agents);
	return strncmp(own, agents, len) == 0 && (own[len] == '/' || !own[len] || len <= 1);
}

/*
 * Containers have the directory of the agents' socket, and what is below it, and so root's
 * processes there have it too: a mount that is read-only keeps nobody from connecting. They have
 * the directory in which agents look by themselves also while this daemon's socket is elsewhere.
 */
static int refuse_agents_directory(const char *path, const char *agent_socket)
{
	if (is_with_agents(path, agent_socket))
		log_error("--publish ipc://%s: containers have the directory of %s mounted: choose "
			  "another directory, such as " DIRECTORY,
			  path, agent_socket);
	else if (is_with_agents(path, INTAKE_DEFAULT_SOCKET))
		log_error("--publish ipc://%s: agents that are told of no other place look for %s, "
			  "so containers have its directory mounted: choose another directory, "
			  "such as " DIRECTORY,
			  path, INTAKE_DEFAULT_SOCKET);
	else
		return 0;
	return -EINVAL;
}

int publishing_open(struct engine *engine, const char *path, const char *agent_socket,
		    struct publishing **ret)
{
	struct publishing *publishing;
	int err = refuse_agents_directory(path, agent_socket);

	if (!err)
		err = listen_prepare_private(path, "--publish");
	if (err)
		return err;
	publishing = calloc(1, sizeof(*publishing));
	if (!publishing)
		return -ENOMEM;
	err = publisher_open(path, engine->budget.publish, &publishing->publisher);
	if (err) {
		free(publishing);
		return err;
	}
	publishing->engine = engine;
	engine->listener = (struct engine_listener){.heard = hear, .arg = publishing};
	*ret = publishing;
	return 0;
}

void publishing_close(struct publishing *publishing)
{
	if (!publishing)
		return;
	publishing->engine->listener = (struct engine_listener){0};
	publisher_close(publishing->publisher);
	publish_round_fini(&publishing->summaries);
	publish_round_fini(&publishing->snapshots);
	map64_fini_all(&publishing->jvms, free);
	free(publishing);
}

void publishing_set_max_bytes(struct publishing *publishing, size_t max_bytes)
{
	publisher_set_max_bytes(publishing->publisher, max_bytes);
}

void publishing_stats(struct publishing *publishing, struct publish_stats *ret)
{
	publisher_stats(publishing->publisher, ret);
}
