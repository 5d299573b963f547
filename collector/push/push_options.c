// SPDX-License-Identifier: Apache-2.0
/* Options of pushing, see push_options.h. */
#include "push/push_options.h"

#include "base/clock.h"
#include "base/log.h"
#include "encode/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_INTERVAL_SEC 10
#define MOST_INTERVAL_SEC  60
#define LEAST_SPOOL_BYTES  (UINT64_C(64) << 20)
#define MOST_SPOOL_BYTES   (UINT64_C(1) << 40)
#define LEAST_AGE_SEC	   60
#define MOST_AGE_SEC	   (UINT64_C(30) * 24 * 60 * 60)

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

static int bad_value(const char *name, const char *text, const char *why)
{
	log_error("%s %s: %s", name, text, why);
	return -EINVAL;
}

static int add_label(struct push_options *options, const char *name, const char *text)
{
	const char *const equals = strchr(text, '=');
	struct push_label label;

	if (!equals || !equals[1] || strlen(equals + 1) > PUSH_VALUE_BYTES)
		return bad_value(name, text, "KEY=VALUE is needed");
	if (options->n_labels == PUSH_MAX_LABELS)
		return bad_value(name, text, "there are more than 16");
	label.name = strndup(text, (size_t)(equals - text));
	label.value = strdup(equals + 1);
	if (!label.name || !label.value)
		return -ENOMEM;
	options->labels[options->n_labels++] = label;
	return push_label_is_name(label.name)
		       ? 0
		       : bad_value(name, text,
				   "a key of letters, digits and _ is needed, such as env");
}

static int set_interval(struct push_options *options, const char *name, const char *text)
{
	uint64_t seconds;

	if (!quantity_parse_time(text, &seconds) || seconds < LEAST_INTERVAL_SEC ||
	    seconds > MOST_INTERVAL_SEC)
		return bad_value(name, text, "from 10s to 60s is needed, such as 15s");
	options->interval_ns = seconds * CLOCK_NS_PER_SEC;
	return 0;
}

static int set_spool_bytes(struct push_options *options, const char *name, const char *text)
{
	uint64_t bytes;

	if (!quantity_parse_size(text, &bytes) || bytes < LEAST_SPOOL_BYTES ||
	    bytes > MOST_SPOOL_BYTES)
		return bad_value(name, text,
				 "how much room the spool may take is needed, from 64M on, such "
				 "as 1G");
	options->spool_bytes = bytes;
	return 0;
}

static int set_spool_age(struct push_options *options, const char *name, const char *text)
{
	uint64_t seconds;

	if (!quantity_parse_time(text, &seconds) || seconds < LEAST_AGE_SEC ||
	    seconds > MOST_AGE_SEC)
		return bad_value(name, text,
				 "how old profiles in the spool become is needed, from 1m to 30d, "
				 "such as 1h");
	options->spool_age_sec = seconds;
	return 0;
}

static int set_path(const char **path, const char *name, const char *text)
{
	if (!text[0])
		return bad_value(name, text, "a path is needed");
	*path = text;
	return 0;
}

int push_options_set(struct push_options *options, const char *name, const char *text)
{
	if (strcmp(name, "--push") == 0)
		return push_config_add(&options->config, text);
	if (strcmp(name, "--push-config") == 0)
		return set_path(&options->config_path, name, text);
	if (!options->first_given)
		options->first_given = name;
	if (strcmp(name, "--push-label") == 0)
		return add_label(options, name, text);
	if (strcmp(name, "--push-threads") == 0) {
		options->by_pool = true;
		return 0;
	}
	if (strcmp(name, "--push-interval") == 0)
		return set_interval(options, name, text);
	if (strcmp(name, "--push-relabel") == 0)
		return set_path(&options->relabel_path, name, text);
	if (strcmp(name, "--push-spool") == 0)
		return set_path(&options->spool_dir, name, text);
	if (strcmp(name, "--push-spool-bytes") == 0)
		return set_spool_bytes(options, name, text);
	if (strcmp(name, "--push-spool-age") == 0)
		return set_spool_age(options, name, text);
	return -EINVAL;
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
	if (options->first_given && !push_options_is_on(options)) {
		log_error("%s goes with --push URL or --push-config FILE: without one of them "
			  "nothing is pushed",
			  options->first_given);
		return -EINVAL;
	}
	return check_labels(options);
}

bool push_options_is_on(const struct push_options *options)
{
	return options->config.count > 0;
}
