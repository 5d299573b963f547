// SPDX-License-Identifier: Apache-2.0
/*
 * Says which names there are, see diagnose_names.h. A name without a JVM may belong to a JVM that
 * has not connected, to a stopped container, or to a container without a JVM. Each of these is
 * looked for before the name is called unknown.
 */
#include "inspect/diagnose_names.h"

#include "base/process_stat.h"
#include "container/place_name.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_LIFE_NS UINT64_C(5000000000)
#define LIST_BYTES    (DIAGNOSE_BYTES / 4 * 3) /* for names; the number left out stands behind */

struct text {
	char *at;
	size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->at + text->len, text->size - text->len, format, args);
	va_end(args);
	if (n > 0)
		text->len +=
			(size_t)n < text->size - text->len ? (size_t)n : text->size - text->len - 1;
}

/*
 * Writes "web (0123456789ab)", "app (0123456789ab) of pod shop/api-1", or the process if it is
 * outside of containers.
 */
static void say_process(struct text *text, const struct selector *selector,
			const struct process *process)
{
	const struct workload *workload = &process->workload;
	char called[PLACE_NAME_BYTES];

	process_write_called(process, called, sizeof(called));
	if (selector->jvm[0] || selector->comm[0]) {
		say(text, "PID %d %s", (int)process->pid,
		    selector->jvm[0] ? called : process->comm);
		return;
	}
	if (selector->n_labels > 0 && workload->labels.count > 0) {
		for (size_t i = 0; i < workload->labels.count; i++)
			say(text, "%s%s=%s", i ? " " : "", workload->labels.labels[i].key,
			    workload->labels.labels[i].value);
		return;
	}
	if (process->container_id[0] && !(selector->pod[0] && workload->pod[0]))
		say(text, "%s%s%.*s%s", workload->container, workload->container[0] ? " (" : "",
		    container_short_len(process->container_id), process->container_id,
		    workload->container[0] ? ")" : "");
	else if (!workload->pod[0])
		say(text, "PID %d %s", (int)process->pid, called);
	if (workload->pod[0])
		say(text, "%s%s%s%s", selector->pod[0] ? "" : " of pod ", workload->name_space,
		    workload->name_space[0] ? "/" : "", workload->pod);
}

/* Whether the list lacks the name. Several processes may have one name. */
static bool is_new(const struct text *list, const char *name)
{
	const size_t len = strlen(name);
	const char *at = list->at;

	while ((at = strstr(at, name))) {
		const char before = at == list->at ? ' ' : at[-1], after = at[len];

		if (before == ' ' && (after == ',' || after == '\0'))
			return false;
		at += len;
	}
	return true;
}

/* Whether the process runs. It may have ended a moment ago, before anything has told of the end. */
static bool is_running(const struct process *process)
{
	uint64_t ticks;

	return !process->gone_ns && process_stat_start_ticks(process->pid, &ticks) != -ESRCH;
}

static bool is_there(const struct process *process)
{
	if (!is_running(process))
		return false;
	return process_is_jvm(process) ? process->jvm->state <= JVM_CURRENT
				       : process_has_program(process);
}

/* Writes the names of all known processes, or of those that fit best. */
static void say_names(struct text *text, const struct selection *selection, enum selector_fit best,
		      const struct targets *targets)
{
	char names[LIST_BYTES] = "", name[LIST_BYTES / 4];
	struct text list = {.at = names, .size = sizeof(names)};
	const struct process *process;
	unsigned left_out = 0;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos))) {
		struct text one = {.at = name, .size = sizeof(name)};

		if (best > SELECTOR_UNFIT ? !selection_could_mean(selection, best, process)
					  : !is_there(process))
			continue;
		name[0] = '\0';
		say_process(&one, &selection->selector, process);
		if (one.len == 0 || !is_new(&list, name))
			continue;
		if (list.len + one.len + 4 > list.size)
			left_out++;
		else
			say(&list, "%s%s", list.len ? ", " : "", name);
	}
	say(text, "%s", list.len ? names : "none");
	if (left_out > 0)
		say(text, ", and %u more", left_out);
}

static int say_several(const struct selection *selection, const struct targets *targets,
		       char ret[DIAGNOSE_BYTES])
{
	struct text text = {.at = ret, .size = DIAGNOSE_BYTES};
	char asked[512];

	selector_say(&selection->selector, asked, sizeof(asked));
	say(&text, "%s fits several: ", asked);
	say_names(&text, selection, selection_best(selection, targets), targets);
	say(&text, selection->selector.container[0]
			   ? ": give the whole name, more of the ID, or --pod too"
			   : ": give the whole name, with NAMESPACE/ in front");
	return -EAGAIN;
}

static int say_none(const struct selection *selection, const struct targets *targets,
		    char ret[DIAGNOSE_BYTES])
{
	struct text text = {.at = ret, .size = DIAGNOSE_BYTES};
	char asked[512];

	selector_say(&selection->selector, asked, sizeof(asked));
	say(&text, "no JVM fits %s; there are: ", asked);
	say_names(&text, selection, SELECTOR_UNFIT, targets);
	if (selection->selector.pod[0])
		say(&text, "; pods of another node are recorded there");
	return -EAGAIN;
}

/*
 * Whether the process is a JVM that can be recorded as it is: one without an agent, or one whose
 * agent has not come although the caller has waited for the agent.
 */
static bool is_outside(const struct process *process, bool has_waited)
{
	return !process_has_agent(process) && process_has_libjvm(process) &&
	       (has_waited || !diagnose_has_agent(process));
}

/* Looks for processes that fit and are not known as JVMs. Returns the PID of one that is a JVM. */
static pid_t find_unknown(const struct selection *selection, struct targets *targets,
			  pid_t *ret_other)
{
	struct process *process;
	pid_t jvm = 0;
	size_t pos = 0;

	*ret_other = 0;
	targets_want_all(targets);
	targets_read_all(targets);
	targets_settle_names(targets);
	while ((process = targets_next(targets, &pos))) {
		if (!selection_fits(selection, process) || !is_running(process))
			continue;
		process_read_on(process, DIAGNOSE_READ_NS);
		if (process_has_libjvm(process))
			jvm = process->pid;
		else
			*ret_other = process->pid;
	}
	targets_unwant_all(targets);
	return jvm;
}

static void say_other(const struct selection *selection, pid_t pid, char ret[DIAGNOSE_BYTES])
{
	char asked[512];

	selector_say(&selection->selector, asked, sizeof(asked));
	snprintf(ret, DIAGNOSE_BYTES,
		 "%s: no JVM runs there, PID %d is none: use -a too, to record what is no JVM",
		 asked, (int)pid);
}

static bool say_stopped(const struct selection *selection, struct targets *targets,
			char ret[DIAGNOSE_BYTES])
{
	struct container container;

	if (!selection->selector.container[0] ||
	    containers_find_stopped(&targets->containers, selection->selector.container,
				    targets->names_wait_ns, &container) < 0)
		return false;
	snprintf(ret, DIAGNOSE_BYTES, "container %s (%.*s) does not run: start it", container.name,
		 container_short_len(container.id), container.id);
	container_fini(&container);
	return true;
}

static int judge(struct selection *selection, struct targets *targets, char ret[DIAGNOSE_BYTES])
{
	int err;

	if (ret)
		targets_settle_names(targets);
	err = selection_narrow(selection, targets);
	if (err == -ENOTUNIQ && ret)
		err = say_several(selection, targets, ret);
	return err;
}

/* What a recording lacks of a JVM without its agent. */
const char *diagnose_lack_outside(const struct recording_options *options)
{
	if (!recording_has_probes(options))
		return "names of Java code are read from outside";
	if (!(recording_kinds(options) & ~PROBES_OF_ANY))
		return "there will be no samples";
	return "names of Java code are read from outside, and there will be no alloc, lock or "
	       "exceptions";
}

/* What a recording of a JVM without an agent lacks. */
static int say_outside(const struct recording_options *options, pid_t pid, const char *socket_path,
		       char ret[DIAGNOSE_BYTES])
{
	char what[DIAGNOSE_BYTES / 2];

	if (!ret)
		return 0;
	diagnose_pid(pid, socket_path, DIAGNOSE_READ_NS, ret);
	snprintf(what, sizeof(what), "%.*s", (int)sizeof(what) - 1, ret);
	snprintf(ret, DIAGNOSE_BYTES, "%s: %s", diagnose_lack_outside(options), what);
	return 0;
}

/* Returns 0 if a process that fits can be recorded, else an error and the reason. */
static int check_connected(const struct selection *selection,
			   const struct recording_options *options, struct targets *targets,
			   const char *socket_path, char ret[DIAGNOSE_BYTES])
{
	const struct process *process, *other = NULL, *outside = NULL;
	size_t pos = 0;

	while ((process = targets_next(targets, &pos))) {
		if (!selection_fits(selection, process) || !is_running(process))
			continue;
		if (is_outside(process, ret != NULL))
			outside = process;
		else if (process_is_jvm(process) && process->jvm->state == JVM_CURRENT)
			return 0;
		else if (process_is_jvm(process))
			other = process;
	}
	if (outside)
		return say_outside(options, outside->pid, socket_path, ret);
	if (other && ret)
		return diagnose_process(other, socket_path, ret);
	return other ? -EAGAIN : -ENOENT;
}

/* Nothing that is known fits. Returns 0 if a JVM is found, else -EAGAIN and the reason. */
static int diagnose_unknown(const struct selection *selection,
			    const struct recording_options *options, struct targets *targets,
			    const char *socket_path, char ret[DIAGNOSE_BYTES])
{
	pid_t other;
	const pid_t jvm = find_unknown(selection, targets, &other);

	if (jvm)
		return say_outside(options, jvm, socket_path, ret);
	if (other)
		say_other(selection, other, ret);
	else if (!say_stopped(selection, targets, ret))
		say_none(selection, targets, ret);
	return -EAGAIN;
}

int diagnose_names(const struct recording_options *options, struct targets *targets,
		   const char *socket_path, char ret[DIAGNOSE_BYTES])
{
	const bool reads_all = options->all || ret;
	struct selection selection;
	int err = selection_init(&selection, &options->select);

	if (err && !ret)
		return err;
	if (err) {
		snprintf(ret, DIAGNOSE_BYTES, "--jvm %s: not a regular expression",
			 options->select.jvm);
		return -EAGAIN;
	}
	selection.only_jvms = !options->all;
	if (reads_all) {
		targets_want_all(targets);
		targets_read_all(targets);
	}
	if (!options->all)
		selection_read_on(&selection, targets, DIAGNOSE_READ_NS);
	err = judge(&selection, targets, ret);
	if (!err && !options->all)
		err = check_connected(&selection, options, targets, socket_path, ret);
	if (err == -ENOENT && ret)
		err = diagnose_unknown(&selection, options, targets, socket_path, ret);
	if (reads_all)
		targets_unwant_all(targets);
	selection_fini(&selection);
	return err;
}

bool diagnose_may_end_soon(const struct recording_options *options, struct targets *targets)
{
	const struct process *process;
	struct selection selection;
	bool may_end = false;
	size_t pos = 0;

	if (selection_init(&selection, &options->select) < 0)
		return false;
	selection.only_jvms = true;
	while (!may_end && (process = targets_next(targets, &pos)))
		may_end = process_stat_ticks_age_ns(process->start_ticks) < SHORT_LIFE_NS &&
			  selection_fits(&selection, process) && is_running(process) &&
			  is_outside(process, false);
	selection_fini(&selection);
	return may_end;
}
