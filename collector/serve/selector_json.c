// SPDX-License-Identifier: Apache-2.0
/* A selector as JSON and back, see selector_json.h. */
#include "serve/selector_json.h"

#include <errno.h>

static void put(json_t *object, const char *key, const char *text)
{
	if (text[0])
		json_object_set_new(object, key, json_string(text));
}

/* Makes a member that is a text an array of texts, and adds one. */
static void add(json_t *object, const char *key, const char *text)
{
	json_t *names = json_object_get(object, key);

	if (json_is_string(names)) {
		names = json_pack("[O]", names);
		json_object_set_new(object, key, names);
	}
	json_array_append_new(names, json_string(text));
}

void selector_to_json(const struct selector *selector, json_t *object)
{
	json_t *labels = json_array();

	put(object, "container", selector->container);
	for (size_t i = 0; i < selector->n_more_containers; i++)
		add(object, "container", selector->more_containers[i]);
	put(object, "pod", selector->pod);
	for (size_t i = 0; i < selector->n_more_pods; i++)
		add(object, "pod", selector->more_pods[i]);
	put(object, "comm", selector->comm);
	put(object, "jvm", selector->jvm);
	for (size_t i = 0; i < selector->n_labels; i++)
		json_array_append_new(labels, json_sprintf("%s=%s", selector->labels[i].key,
							   selector->labels[i].value));
	if (selector->n_labels > 0)
		json_object_set(object, "label", labels);
	json_decref(labels);
}

static int take(const json_t *value, const struct selector_part *part, struct selector *selector)
{
	const char *text = json_string_value(value);

	if (!value)
		return 0;
	return text && !part->set(selector, text) ? 0 : -EINVAL;
}

int selector_from_json(const json_t *object, struct selector *ret)
{
	struct selector selector = {0};
	json_t *value, *label;
	size_t i;

	for (size_t n = 0; n < SELECTOR_PARTS; n++) {
		const struct selector_part *part = &selector_parts[n];

		value = json_object_get(object, part->name);
		if (!json_is_array(value)) {
			if (take(value, part, &selector) < 0)
				return -EINVAL;
			continue;
		}
		json_array_foreach (value, i, label) {
			if (n == SELECTOR_COMM || n == SELECTOR_JVM ||
			    take(label, part, &selector) < 0)
				return -EINVAL;
		}
	}
	*ret = selector;
	return 0;
}
