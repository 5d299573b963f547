// SPDX-License-Identifier: Apache-2.0
/* The names of one process's code, methods and threads, see process.h and name_pool.h. */
#include "process/process.h"

#include "base/utf8.h"
#include "code/java_text.h"

#include <string.h>

const char *process_name(struct process *process, const char *text, size_t len)
{
	char utf8[WIRE_STRING_MAX_BYTES];
	const char *name;

	if (len == 0 || len > sizeof(utf8))
		return NULL;
	len = java_text_to_utf8(text, len, utf8);
	len = utf8_cut(utf8, len, PROCESS_MAX_NAME_BYTES);
	name = name_pool_add(&process->names, utf8, len);
	process->jvm->name_limit_hits += name == process->names.limit_text;
	return name;
}

/* A move of names from the process's pool to a fresh pool. */
struct move {
	struct process *process;
	struct name_pool to;
};

static const char *move_name(void *arg, const char *name)
{
	struct move *move = arg;
	const char *moved = name_pool_add(&move->to, name, strlen(name));

	if (moved == move->to.limit_text && name != move->process->names.limit_text)
		move->process->jvm->name_limit_hits++;
	return moved;
}

void process_compact_names(struct process *process, uint64_t now_ns)
{
	struct move move = {.process = process};
	struct map64 *threads = &process->thread_names;

	if (!name_pool_is_due(&process->names, now_ns) || name_pool_init(&move.to) < 0)
		return;
	code_map_rename(process->code, move_name, &move);
	code_methods_rename(&process->methods, move_name, &move);
	java_methods_rename(&process->java_methods, move_name, &move);
	for (size_t i = 0; i < threads->size; i++) {
		if (threads->slots[i].value)
			threads->slots[i].value =
				(void *)(uintptr_t)move_name(&move, threads->slots[i].value);
	}
	move.to.kept_bytes = name_pool_bytes(&move.to);
	move.to.moved_ns = now_ns;
	name_pool_fini(&process->names);
	process->names = move.to;
}

static const char *name_method(void *arg, const char *text, size_t len)
{
	return process_name(arg, text, len);
}

const struct java_method *process_java_method(struct process *process, uint64_t addr,
					      uint64_t now_ns, const char **ret_reason)
{
	enum java_methods_reason reason = JAVA_METHODS_NO_LAYOUT;
	const struct java_method *method = NULL;
	struct jvm *jvm = process->jvm;

	if (jvm && vm_layout_has_methods(&jvm->layout)) {
		const struct java_methods_source source = {.pid = process->pid,
							   .is_gone = process->gone_ns != 0,
							   .layout = &jvm->layout,
							   .name = name_method,
							   .arg = process};

		method = java_methods_find(&process->java_methods, &source, addr, now_ns, &reason);
	}
	if (method)
		return method;
	if (jvm)
		jvm->unnamed_methods[reason]++;
	*ret_reason = java_methods_reason_name(reason);
	return NULL;
}
