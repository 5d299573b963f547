// SPDX-License-Identifier: Apache-2.0
/* The options that choose targets by name, see target_options.h. */
#include "app/target_options.h"

#include "base/log.h"

#include <errno.h>
#include <string.h>

typedef const char *set_part(struct selector *selector, const char *text);

static const struct part {
	int option;
	const char *name;
	set_part *set;
} parts[] = {
	{TARGET_OPTION_CONTAINER, "container", selector_set_container},
	{TARGET_OPTION_POD, "pod", selector_set_pod},
	{TARGET_OPTION_LABEL, "label", selector_add_label},
	{TARGET_OPTION_COMM, "comm", selector_set_comm},
	{TARGET_OPTION_JVM, "jvm", selector_set_jvm},
};

bool target_options_are(int option)
{
	return option >= TARGET_OPTION_CONTAINER && option < TARGET_OPTIONS_END;
}

int target_options_apply(struct selector *selector, int option, const char *text)
{
	const struct part *part = &parts[option - TARGET_OPTION_CONTAINER];
	const char *why = part->set(selector, text);

	if (!why)
		return 0;
	log_error("--%s %s: %s", part->name, text, why);
	return -EINVAL;
}

static void put(json_t *object, const char *key, const char *text)
{
	if (text[0])
		json_object_set_new(object, key, json_string(text));
}

void target_options_to_json(const struct selector *selector, json_t *object)
{
	json_t *labels = json_array();

	put(object, "container", selector->container);
	put(object, "pod", selector->pod);
	put(object, "comm", selector->comm);
	put(object, "jvm", selector->jvm);
	for (size_t i = 0; i < selector->n_labels; i++)
		json_array_append_new(labels, json_sprintf("%s=%s", selector->labels[i].key,
							   selector->labels[i].value));
	if (selector->n_labels > 0)
		json_object_set(object, "label", labels);
	json_decref(labels);
}

/* An older client asks for no container with "". */
static int take(const json_t *value, set_part *set, struct selector *selector)
{
	const char *text = json_string_value(value);

	if (!value || (text && !text[0]))
		return 0;
	return text && !set(selector, text) ? 0 : -EINVAL;
}

int target_options_from_json(const json_t *object, struct selector *ret)
{
	struct selector selector = {0};
	json_t *value, *label;
	size_t i;

	for (size_t n = 0; n < sizeof(parts) / sizeof(parts[0]); n++) {
		value = json_object_get(object, parts[n].name);
		if (!json_is_array(value)) {
			if (take(value, parts[n].set, &selector) < 0)
				return -EINVAL;
			continue;
		}
		json_array_foreach (value, i, label) {
			if (parts[n].option != TARGET_OPTION_LABEL ||
			    take(label, parts[n].set, &selector) < 0)
				return -EINVAL;
		}
	}
	*ret = selector;
	return 0;
}
