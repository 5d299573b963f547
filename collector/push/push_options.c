// SPDX-License-Identifier: Apache-2.0
/* Options of pushing, see push_options.h. */
#include "push/push_options.h"

#include "base/clock.h"
#include "base/log.h"
#include "options/option_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void push_options_init(struct push_options *options)
{
	*options = (struct push_options){
		.interval_ns = PUSH_DEFAULT_INTERVAL * CLOCK_NS_PER_SEC,
		.spool_bytes = PUSH_DEFAULT_SPOOL_BYTES,
		.spool_age_sec = PUSH_DEFAULT_SPOOL_AGE,
	};
}

void push_options_fini(struct push_options *options)
{
	for (size_t i = 0; i < options->n_labels; i++) {
		free((void *)(uintptr_t)options->labels[i].name);
		free((void *)(uintptr_t)options->labels[i].value);
	}
	push_config_fini(&options->config);
	push_relabel_free(options->relabel);
	push_options_init(options);
}

int push_options_add_label(struct push_options *options, const char *told, const char *text)
{
	const char *const equals = strchr(text, '=');
	struct push_label label;

	if (!equals || !equals[1] || strlen(equals + 1) > PUSH_VALUE_BYTES)
		return option_bad_value(told, text, "KEY=VALUE is needed");
	if (options->n_labels == PUSH_MAX_LABELS)
		return option_bad_value(told, text, "there are more than 16");
	label.name = strndup(text, (size_t)(equals - text));
	label.value = strdup(equals + 1);
	if (!label.name || !label.value)
		return -ENOMEM;
	options->labels[options->n_labels++] = label;
	return push_label_is_name(label.name)
		       ? 0
		       : option_bad_value(told, text,
					  "a key of letters, digits and _ is needed, such as env");
}

int push_options_add_target(struct push_options *options, const char *told, const char *text)
{
	(void)told; /* what is wrong with a target is said of files alike */
	return push_config_add(&options->config, text);
}

static int check_labels(const struct push_options *options)
{
	for (size_t i = 0; options->by_pool && i < options->n_labels; i++) {
		if (strcmp(options->labels[i].name, PUSH_THREAD) != 0)
			continue;
		log_error(
			"--push-label %s=%s: the label is --push-threads's: give only one of them",
			PUSH_THREAD, options->labels[i].value);
		return -EINVAL;
	}
	return 0;
}

int push_options_finish(struct push_options *options)
{
	int err =
		options->config_path ? push_config_read(&options->config, options->config_path) : 0;

	if (!err && options->relabel_path)
		err = push_relabel_read(options->relabel_path, &options->relabel);
	if (err)
		return err;
	return check_labels(options);
}

bool push_options_is_on(const struct push_options *options)
{
	return options->config.count > 0;
}
