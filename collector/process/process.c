// SPDX-License-Identifier: Apache-2.0
/* One process: its mappings, threads, names and its JVM's state, see process.h. */
#include "process/process.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/process_stat.h"
#include "code/java_text.h"
#include "memory/space_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * exec maps the new program before the kernel reports the exec. The time between is shorter than
 * this, unless exec has to wait for the file. A new mapping that is then taken for the old
 * program's is read again when a sample hits it.
 */
#define EXEC_NS (50 * CLOCK_NS_PER_MS)

/* Reads /proc/<pid>/timens_offsets, with lines "monotonic <seconds> <nanoseconds>". */
static int64_t read_clock_offset(pid_t pid)
{
	char path[64], text[256];
	const char *line;
	long long sec, ns;

	snprintf(path, sizeof(path), "/proc/%d/timens_offsets", (int)pid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, "monotonic");
	if (!line || sscanf(line, "monotonic %lld %lld", &sec, &ns) != 2)
		return 0;
	return sec * 1000000000LL + ns;
}

static void end_reading(struct process *process)
{
	space_reader_free(process->reader);
	process->reader = NULL;
}

/* What the kernel has reported while the reader read may be missing in what was read. */
static void take_space(struct process *process)
{
	struct address_space before = process->space;

	process->space = (struct address_space){0};
	space_reader_take(process->reader, &process->space);
	for (size_t i = 0; i < before.count; i++) {
		if (before.mappings[i].since_ns >= process->space_read_ns)
			address_space_add(&process->space, &before.mappings[i]);
	}
	address_space_fini(&before);
}

static int begin_reading(struct process *process, uint64_t now_ns)
{
	process->space_read_ns = now_ns;
	process->space_due_ns = 0;
	process->reader = space_reader_new(process->pid);
	return process->reader ? 0 : -ENOMEM;
}

void process_note_late_space(struct process *process, uint64_t now_ns)
{
	if (process->space_late < PROCESS_LATE_READS)
		process->space_due_ns = now_ns + (PROCESS_LATE_NS << process->space_late++);
}

void process_read_space_soon(struct process *process, uint64_t now_ns)
{
	const uint64_t next_ns = process->space_read_ns + PROCESS_LATE_NS;
	const bool is_being_read = process->reader && now_ns < process->space_read_ns;

	if (!is_being_read && !process->space_due_ns)
		process->space_due_ns = now_ns > next_ns ? now_ns : next_ns;
}

static int read_on(struct process *process, uint64_t for_ns)
{
	int more;

	if (!process->reader || for_ns == 0)
		return 0;
	more = space_reader_step(process->reader, for_ns);
	if (more > 0)
		return 0;
	if (more == 0) {
		take_space(process);
		process->space_late = 0;
	} else if (more == -ETIMEDOUT) {
		process_note_late_space(process, clock_now_ns());
	}
	end_reading(process);
	return more;
}

int process_new(pid_t pid, uint64_t start_ticks, uint64_t for_ns, struct process **ret)
{
	struct process *process = calloc(1, sizeof(*process));
	struct container container;
	int err = 0;

	if (!process)
		return -ENOMEM;
	process->pid = pid;
	process->start_ticks = start_ticks;
	if (!start_ticks)
		err = process_stat_begin(pid, &process->start_ticks, &process->proc_inode);
	if (err) {
		free(process);
		return err;
	}
	process->inner_pid = process_stat_inner_pid(pid, pid);
	process->clock_offset_ns = read_clock_offset(pid);
	process_stat_comm(pid, pid, process->comm, sizeof(process->comm));
	if (container_read(pid, &container) == 0) {
		strcpy(process->container_id, container.id);
		strcpy(process->pod_uid, container.pod_uid);
	}
	err = begin_reading(process, clock_now_ns());
	if (!err)
		err = read_on(process, for_ns);
	if (err == -ENOMEM || err == -ENOENT || err == -ESRCH) {
		process_free(process);
		return err == -ENOMEM ? err : -ESRCH;
	}
	*ret = process; /* a process whose mappings may not be read is still useful */
	return 0;
}

int process_new_replayed(pid_t pid, uint64_t start_ticks, struct process **ret)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process)
		return -ENOMEM;
	process->pid = process->inner_pid = pid;
	process->start_ticks = start_ticks;
	process->is_replayed = true;
	*ret = process;
	return 0;
}

static void free_values(struct map64 *map)
{
	map64_fini_all(map, free);
}

static void clear_hello(struct jvm *jvm)
{
	jvm_hello_fini(&jvm->hello);
	jvm->layout = (struct vm_layout){0};
}

static void jvm_free(struct jvm *jvm)
{
	if (!jvm)
		return;
	clear_hello(jvm);
	free(jvm);
}

void process_tell(struct process *process, enum code_news news, uint64_t now_ns)
{
	const struct code_event event = {.news = news, .now_ns = now_ns};

	if (process->listener)
		process->listener->hear(process->listener->arg, process, &event);
}

void process_close(struct process *process)
{
	end_reading(process);
	foreign_reader_close(&process->foreign);
	outside_process_free(process->outside);
	process->outside = NULL;
}

void process_free(struct process *process)
{
	if (!process)
		return;
	process_close(process);
	foreign_reader_fini(&process->foreign);
	address_space_fini(&process->space);
	code_map_free(process->code);
	code_methods_fini(&process->methods); /* after the code's tables, which use them */
	java_methods_clear(&process->java_methods);
	jvm_free(process->jvm);
	process_forget_program(process);
	free_values(&process->threads);
	free_values(&process->thread_names);
	process_free_names(process);
	workload_fini(&process->workload);
	free(process);
}

int process_add_jvm(struct process *process)
{
	if (!process->code) {
		const int err = code_map_new(&process->code);

		if (err)
			return err;
	}
	if (!process->names.limit_text) {
		const int err = name_pool_init(&process->names);

		if (err)
			return err;
	}
	if (!process->jvm)
		process->jvm = calloc(1, sizeof(*process->jvm));
	return process->jvm ? 0 : -ENOMEM;
}

bool process_has_agent(const struct process *process)
{
	return process->jvm && (!process->jvm->is_outside || process->jvm->had_agent);
}

void process_open_session(struct process *process, uint32_t session, uint64_t now_ns)
{
	struct jvm *jvm = process->jvm;

	jvm->session = session;
	jvm->had_agent |= session != 0;
	jvm->opened_ns = now_ns;
	jvm->state = JVM_RESYNCING;
	jvm->has_hello = jvm->is_resyncing = jvm->is_replaced = jvm->is_outside = false;
	code_map_resync_end(process->code, false); /* ends a resync left unfinished */
	code_methods_forget_ids(&process->methods);
	process->gone_ns = 0;
}

void process_read_space(struct process *process, uint64_t now_ns, uint64_t for_ns)
{
	if (process->reader || begin_reading(process, now_ns) == 0)
		read_on(process, for_ns);
}

void process_read_on(struct process *process, uint64_t for_ns)
{
	if (!process->reader && process->space_due_ns)
		begin_reading(process, clock_now_ns());
	read_on(process, for_ns);
}

/* Forgets all code of the old program. The new program's code may have the same addresses. */
static void end_jvm(struct process *process, uint64_t time_ns)
{
	struct code_map *empty;

	process->jvm->state = JVM_ENDED;
	process->jvm->is_replaced = true;
	process->jvm_mapped_ns = 0;
	java_methods_clear(&process->java_methods);
	clear_hello(process->jvm); /* otherwise its texts would become the new program's title */
	process->start_class[0] = '\0';
	process_identify(process);
	if (code_map_new(&empty) == 0) {
		code_map_free(process->code);
		process->code = empty;
		process_move_new_code(process);
	} else {
		code_map_resync_begin(process->code, time_ns);
		code_map_resync_end(process->code, true);
	}
	free_values(&process->thread_names);
	process_tell(process, CODE_REPLACED, time_ns);
}

/* Otherwise its texts would become the new program's title. */
static void end_program(struct process *process)
{
	process_forget_program(process);
	process->start_class[0] = '\0';
	process_identify(process);
}

bool process_exec(struct process *process, uint64_t time_ns)
{
	/*
	 * Records of several CPUs are read one CPU after the other, so this record may be older
	 * than the mappings.
	 */
	if (time_ns >= process->space_read_ns) {
		address_space_forget_before(&process->space, time_ns - EXEC_NS);
		process->space_read_ns = process->space_due_ns = 0;
		process->space_late = 0;
		end_reading(process);
		process_forget_threads(process);
		foreign_reader_restart(&process->foreign);
		outside_process_free(process->outside);
		process->outside = NULL;
		if (process->program)
			end_program(process);
	}
	if (!process->jvm || process->jvm->opened_ns > time_ns)
		return false;
	end_jvm(process, time_ns);
	return true;
}

int process_set_hello(struct process *process, const struct wire_hello *hello)
{
	struct jvm *jvm = process->jvm;
	int err;

	java_methods_clear(&process->java_methods);
	clear_hello(jvm);
	jvm->hello_flags = hello->flags;
	err = jvm_hello_set(&jvm->hello, hello, &jvm->bad_records);
	if (err)
		return err;
	vm_layout_init(&jvm->layout, &jvm->hello);
	process_forget_program(process); /* the hello says it all */
	process_identify(process);
	return 0;
}

struct owner process_owner(const struct process *process)
{
	return owner_of_process(process->pid, process->container_id,
				container_owner_len(process->container_id));
}

bool process_value(const struct process *process, const char *key, int64_t *ret)
{
	return process->jvm && jvm_hello_value(&process->jvm->hello, key, ret);
}

static bool is_told(const struct thread_at *at)
{
	return at->comm && at->comm[0];
}

/* What is read is newer than the sample, so that a name that the sample tells goes before. */
static void read_thread(const struct process *process, struct thread *thread,
			const struct thread_at *at)
{
	char comm[PROCESS_COMM_BYTES] = "";
	pid_t inner;

	if (process->is_replayed)
		return;
	if (!process_stat_thread_names(process->pid, thread->tid, &inner, comm, sizeof(comm)))
		return; /* what is known of the thread stays */
	thread->inner_tid = inner;
	thread_comms_note(&thread->comms, is_told(at) ? at->comm : comm, at->time_ns);
}

static struct thread *find_or_add_thread(struct process *process, const struct thread_at *at)
{
	struct thread *thread = map64_find(&process->threads, (uint64_t)at->tid);

	if (thread)
		return thread;
	if (process->threads.count >= PROCESS_MAX_THREADS) {
		process_forget_threads(process);
		process->threads_forgotten++;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = at->tid;
	read_thread(process, thread, at);
	if (map64_put(&process->threads, (uint64_t)at->tid, thread) < 0) {
		free(thread);
		return NULL;
	}
	return thread;
}

static const char *comm_utf8(struct thread *thread, const char *comm)
{
	const size_t len = strnlen(comm, sizeof(thread->name) - 1);

	thread->name[java_text_to_utf8(comm, len, thread->name)] = '\0';
	return thread->name;
}

const char *process_thread_name_at(struct process *process, const struct thread_at *at,
				   const char **ret_cut)
{
	struct thread *const thread = find_or_add_thread(process, at);
	const char *comm, *full, *cut = NULL;

	if (ret_cut)
		*ret_cut = NULL;
	if (!thread)
		return "";
	full = thread_history_at(&thread->comms,
				 map64_find(&process->thread_names, (uint64_t)thread->inner_tid),
				 at->time_ns, at->comm, &comm);
	if (!full)
		return comm_utf8(thread, comm);
	if (thread_history_is_cut_from(comm, full))
		cut = comm_utf8(thread, comm);
	if (ret_cut)
		*ret_cut = cut;
	return full;
}

const char *process_thread_name(struct process *process, pid_t tid)
{
	const struct thread_at now = {.tid = tid, .time_ns = UINT64_MAX};

	find_or_add_thread(process, &(struct thread_at){.tid = tid});
	return process_thread_name_at(process, &now, NULL);
}

static void set_process_comm(struct process *process, const char *comm)
{
	if (strcmp(process->comm, comm) == 0)
		return;
	snprintf(process->comm, sizeof(process->comm), "%s", comm);
	workload_touch(&process->workload);
}

void process_see_thread(struct process *process, const struct thread_at *at)
{
	struct thread *thread = map64_find(&process->threads, (uint64_t)at->tid);
	const bool is_due = !thread || at->time_ns >= thread->read_ns + PROCESS_NAME_AGE_NS;
	const char *last;

	if (!thread)
		thread = find_or_add_thread(process, at);
	else if (is_due)
		read_thread(process, thread, at);
	if (!thread)
		return;
	thread->seen_ns = at->time_ns;
	if (is_due)
		thread->read_ns = at->time_ns;
	if (is_told(at))
		thread_comms_note(&thread->comms, at->comm, at->time_ns);
	last = thread_comms_last(&thread->comms);
	if (at->tid == process->pid && last[0])
		set_process_comm(process, last);
}

void process_read_comm(struct process *process)
{
	char comm[PROCESS_COMM_BYTES];

	process_stat_comm(process->pid, process->pid, comm, sizeof(comm));
	if (comm[0])
		process_set_comm(process, process->pid, comm, clock_now_ns());
}

void process_set_comm(struct process *process, pid_t tid, const char *comm, uint64_t time_ns)
{
	struct thread *thread = find_or_add_thread(process, &(struct thread_at){.tid = tid});

	if (thread)
		thread_comms_note(&thread->comms, comm, time_ns);
	if (tid == process->pid)
		set_process_comm(process, comm);
}

/* The one name that a capture has told of the thread so far, if the new name continues that one. */
static const char *told_cut(const struct process *process, pid_t tid, const char *name)
{
	const struct thread_full_names *const names =
		map64_find(&process->thread_names, (uint64_t)tid);

	return names && names->count > 0 && strlen(names->names[0].text) < PROCESS_COMM_BYTES &&
			       thread_history_is_cut_from(names->names[0].text, name)
		       ? names->names[0].text
		       : NULL;
}

int process_set_thread(struct process *process, pid_t tid, const char *name)
{
	struct thread *thread = find_or_add_thread(process, &(struct thread_at){.tid = tid});
	const char *cut;

	if (!thread)
		return -ENOMEM;
	thread->inner_tid = tid;
	thread->comms = (struct thread_comms){0};
	if (!process->names.limit_text) {
		thread_comms_note(&thread->comms, name, 0);
		return 0;
	}
	cut = told_cut(process, tid, name);
	if (cut)
		thread_comms_note(&thread->comms, cut, 0);
	free(map64_remove(&process->thread_names, (uint64_t)tid));
	return process_set_thread_name(process, tid, process_name_utf8(process, name), 0);
}

void process_remove_thread(struct process *process, pid_t tid)
{
	struct thread *thread = map64_remove(&process->threads, (uint64_t)tid);

	if (!thread)
		return;
	free(map64_remove(&process->thread_names, (uint64_t)thread->inner_tid));
	free(thread);
}

void process_forget_threads(struct process *process)
{
	free_values(&process->threads);
}

/* Makes room for one thread more. */
static int add_full_names(struct process *process, uint64_t key, struct thread_full_names **ret)
{
	struct thread_full_names *names;

	/*
	 * Not every end of a thread is reported, and these names do not show whose thread has
	 * ended.
	 */
	if (process->thread_names.count >= PROCESS_MAX_THREADS) {
		process_forget_threads(process);
		free_values(&process->thread_names);
		process->threads_forgotten++;
	}
	names = calloc(1, sizeof(*names));
	if (!names || map64_put(&process->thread_names, key, names) < 0) {
		free(names);
		return -ENOMEM;
	}
	*ret = names;
	return 0;
}

int process_set_thread_name(struct process *process, pid_t inner_tid, const char *name,
			    uint64_t time_ns)
{
	const uint64_t key = (uint64_t)inner_tid;
	struct thread_full_names *names = map64_find(&process->thread_names, key);
	const int err = names ? 0 : add_full_names(process, key, &names);

	if (!err)
		thread_full_names_note(names, name, time_ns);
	return err;
}

/*
 * The only function that names a pod, for all code that shows a pod: by name if a name is known,
 * else by UID.
 */
const char *process_pod(const struct process *process)
{
	return process->workload.pod[0] ? process->workload.pod : process->pod_uid;
}

void process_identify(struct process *process)
{
	const struct container_entry *entry = process->container;

	process->container_version = entry ? entry->version : 0;
	workload_make(&process->workload, process_hello(process), entry ? &entry->container : NULL);
	if (process->start_class[0] && !label_set_find(&process->workload.labels, WORKLOAD_CLASS))
		label_set_add(&process->workload.labels, WORKLOAD_CLASS, process->start_class);
}

void process_set_start_class(struct process *process, const char *text)
{
	const uint64_t version = process->workload.version;

	snprintf(process->start_class, sizeof(process->start_class), "%s", text);
	process_identify(process);
	if (process->called_version == version)
		process->called_version = process->workload.version;
	if (process->parted_version == version)
		process->parted_version = process->workload.version;
}

const char *jvm_state_name(const struct jvm *jvm)
{
	if (jvm->is_outside && jvm->state <= JVM_CURRENT)
		return "read from outside";
	switch (jvm->state) {
	case JVM_RESYNCING:
		return "resyncing";
	case JVM_CURRENT:
		return "current";
	case JVM_DISCONNECTED:
		return "disconnected";
	case JVM_ENDED:
		return "ended";
	}
	return "unknown";
}
