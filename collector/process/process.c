// SPDX-License-Identifier: Apache-2.0
/* One process: its mappings and its JVM's state, see process.h. */
#include "process/process.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/process_stat.h"
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
	map64_fini_all(&process->threads, free);
	map64_fini_all(&process->thread_names, free);
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
	map64_fini_all(&process->thread_names, free);
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
