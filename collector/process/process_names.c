// SPDX-License-Identifier: Apache-2.0
/* The names of one process's code and methods, see process.h and name_pool.h. */
#include "process/process.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "code/java_text.h"
#include "guard/heap_bytes.h"

#include <string.h>

#define MOVED_AT_ONCE 128 /* ranges and methods of which a step moves the names */

/* A move of names from the process's pool to a fresh pool, which has all new names meanwhile. */
struct name_move {
	struct process *process;
	struct name_pool to;
	uint64_t began_ns; /* the caller's time */
	uint64_t took_ns;  /* of the processor */
};

static struct name_pool *pool_of(struct process *process)
{
	return process->name_move ? &process->name_move->to : &process->names;
}

const char *process_name_utf8(struct process *process, const char *text)
{
	return name_pool_add(pool_of(process), text, strlen(text));
}

const char *process_name(struct process *process, const char *text, size_t len)
{
	struct name_pool *const pool = pool_of(process);
	char utf8[WIRE_STRING_MAX_BYTES];
	const char *name;

	if (len == 0 || len > sizeof(utf8))
		return NULL;
	len = java_text_to_utf8(text, len, utf8);
	len = utf8_cut(utf8, len, PROCESS_MAX_NAME_BYTES);
	name = name_pool_add(pool, utf8, len);
	process->jvm->name_limit_hits += name == pool->limit_text;
	return name;
}

size_t process_name_bytes(const struct process *process)
{
	const struct name_move *const move = process->name_move;

	return name_pool_bytes(&process->names) +
	       (move ? heap_bytes(sizeof(*move)) + name_pool_bytes(&move->to) : 0);
}

void process_free_names(struct process *process)
{
	if (process->name_move)
		name_pool_fini(&process->name_move->to);
	free(process->name_move);
	process->name_move = NULL;
	name_pool_fini(&process->names);
}

static const char *move_name(void *arg, const char *name)
{
	struct name_move *move = arg;
	const char *moved = name_pool_add(&move->to, name, strlen(name));

	if (moved == move->to.limit_text && name != moved &&
	    name != move->process->names.limit_text)
		move->process->jvm->name_limit_hits++;
	return moved;
}

static void begin_move(struct process *process, uint64_t now_ns)
{
	struct name_move *move = calloc(1, sizeof(*move));

	if (!move)
		return;
	if (name_pool_init(&move->to) < 0) {
		free(move);
		return;
	}
	move->process = process;
	move->began_ns = now_ns;
	process->name_move = move;
	code_map_begin_rename(process->code, move_name, move);
	code_methods_begin_rename(&process->methods, move_name, move);
}

/* The last step, of names that are few: those of threads and of interpreted methods. */
static void end_move(struct process *process)
{
	struct name_move *const move = process->name_move;
	struct map64 *const threads = &process->thread_names;

	java_methods_rename(&process->java_methods, move_name, move);
	for (size_t i = 0; i < threads->size; i++) {
		struct thread_full_names *const names = threads->slots[i].value;

		for (unsigned n = 0; names && n < names->count; n++)
			names->names[n].text = move_name(move, names->names[n].text);
	}
	move->to.kept_bytes = name_pool_bytes(&move->to);
	move->to.moved_ns = move->began_ns;
	move->to.took_ns = move->took_ns;
	name_pool_fini(&process->names);
	process->names = move->to;
	process->name_move = NULL;
	free(move);
}

/*
 * A process may have millions of names, so a call moves some of them: it comes after each record,
 * and once a second. Whatever is added meanwhile gets names of the new pool.
 */
void process_compact_names(struct process *process, uint64_t now_ns)
{
	struct name_move *move = process->name_move;
	uint64_t began_ns;
	size_t n;

	if (!move && !name_pool_is_due(&process->names, now_ns))
		return;
	began_ns = clock_thread_ns();
	if (!move)
		begin_move(process, now_ns);
	move = process->name_move;
	if (!move)
		return;
	/* Code comes last, because new code may have the names of an old method. */
	n = code_methods_rename_some(&process->methods, MOVED_AT_ONCE);
	if (n < MOVED_AT_ONCE)
		code_map_rename_some(process->code, MOVED_AT_ONCE - n);
	move->took_ns += clock_thread_ns() - began_ns;
	if (n < MOVED_AT_ONCE && !code_map_is_renaming(process->code))
		end_move(process);
}

void process_move_names(struct process *process, uint64_t now_ns, uint64_t until_ns)
{
	while (process->name_move && clock_now_ns() < until_ns)
		process_compact_names(process, now_ns);
}

void process_move_new_code(struct process *process)
{
	if (process->name_move)
		code_map_begin_rename(process->code, move_name, process->name_move);
}

static const char *name_method(void *arg, const char *text, size_t len)
{
	return process_name(arg, text, len);
}

const struct java_method *process_java_method(struct process *process, uint64_t addr,
					      uint64_t now_ns, enum java_methods_reason *ret_reason)
{
	const struct jvm *const jvm = process->jvm;

	*ret_reason = JAVA_METHODS_NO_LAYOUT;
	if (jvm && vm_layout_has_methods(&jvm->layout)) {
		const struct java_methods_source source = {.pid = process->pid,
							   .is_gone = process->gone_ns != 0,
							   .layout = &jvm->layout,
							   .name = name_method,
							   .arg = process};

		return java_methods_find(&process->java_methods, &source, addr, now_ns, ret_reason);
	}
	return NULL;
}

void process_count_unnamed(struct process *process, const uint32_t unnamed[JAVA_METHODS_REASONS])
{
	for (size_t i = 0; process && process->jvm && i < JAVA_METHODS_REASONS; i++)
		process->jvm->unnamed_methods[i] += unnamed[i];
}
