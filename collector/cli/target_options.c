// SPDX-License-Identifier: Apache-2.0
/* Chooses processes by number, by name, or all, see target_options.h. */
#include "cli/target_options.h"

#include "options/tables.h"

#include <errno.h>
#include <math.h>

#define MAX_PID 4194304

static int set_pid(struct options *options, const char *text)
{
	struct recording_options *const recording = &options->recording;
	double pid;

	if (!options_parse_number(text, 1, MAX_PID, &pid) || pid != floor(pid))
		return options_bad_value("-p", text, "a PID is needed");
	if (recording->pid == 0)
		recording->pid = (pid_t)pid;
	else if (recording->n_more_pids < RECORDING_MORE_PIDS)
		recording->more_pids[recording->n_more_pids++] = (pid_t)pid;
	else
		return options_bad_value("-p", text, "that is one PID too many: 8 can be given");
	return 0;
}

static int set_name(struct options *options, enum selector_part_number number, const char *text)
{
	const struct selector_part *part = &selector_parts[number];
	const char *why = part->set(&options->recording.select, text);

	if (!why)
		return 0;
	log_error("--%s %s: %s", part->name, text, why);
	return -EINVAL;
}

int target_options_apply(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_PID:
		return set_pid(options, value);
	case OPTION_ALL:
		options->recording.all = true;
		return 0;
	case OPTION_CONTAINER:
		return set_name(options, SELECTOR_CONTAINER, value);
	case OPTION_POD:
		return set_name(options, SELECTOR_POD, value);
	case OPTION_LABEL:
		return set_name(options, SELECTOR_LABEL, value);
	case OPTION_COMM:
		return set_name(options, SELECTOR_COMM, value);
	case OPTION_JVM:
		return set_name(options, SELECTOR_JVM, value);
	default:
		return 1;
	}
}
