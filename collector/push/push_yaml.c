// SPDX-License-Identifier: Apache-2.0
/* Reads YAML files, see push_yaml.h. */
#include "push/push_yaml.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>

int push_yaml_read(const char *path, struct push_yaml *ret)
{
	_cleanup_free_ char *text = NULL;
	const ssize_t len = file_read_whole(path, PUSH_YAML_BYTES, &text);
	const char *const why = lazy_yaml_load();
	yaml_parser_t parser;
	int err = 0;

	*ret = (struct push_yaml){.path = path};
	if (len < 0) {
		log_error("%s: %s", path, strerror((int)-len));
		return (int)len;
	}
	if (why) {
		log_error("%s: %s", path, why);
		return -ELIBACC;
	}
	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, (size_t)len);
	if (yaml_parser_load(&parser, &ret->document)) {
		ret->has_document = true;
	} else {
		log_error("%s:%zu: %s", path, parser.problem_mark.line + 1,
			  parser.problem ? parser.problem : "no YAML");
		err = -EINVAL;
	}
	yaml_parser_delete(&parser);
	return err;
}

void push_yaml_fini(struct push_yaml *yaml)
{
	if (yaml->has_document)
		yaml_document_delete(&yaml->document);
	*yaml = (struct push_yaml){0};
}

yaml_node_t *push_yaml_root(struct push_yaml *yaml)
{
	return yaml_document_get_root_node(&yaml->document);
}

bool push_yaml_pair(struct push_yaml *yaml, const yaml_node_t *mapping, size_t i,
		    const char **ret_key, yaml_node_t **ret_value)
{
	const yaml_node_pair_t *pair;

	if (mapping->type != YAML_MAPPING_NODE)
		return false;
	pair = mapping->data.mapping.pairs.start + i;
	if (pair >= mapping->data.mapping.pairs.top)
		return false;
	*ret_key = push_yaml_text(yaml_document_get_node(&yaml->document, pair->key));
	if (!*ret_key)
		*ret_key = "";
	*ret_value = yaml_document_get_node(&yaml->document, pair->value);
	return true;
}

bool push_yaml_is_repeated(struct push_yaml *yaml, const yaml_node_t *mapping, size_t i)
{
	const char *key, *earlier;
	yaml_node_t *value;

	if (!push_yaml_pair(yaml, mapping, i, &key, &value))
		return false;
	for (size_t n = 0; n < i; n++)
		if (push_yaml_pair(yaml, mapping, n, &earlier, &value) && strcmp(earlier, key) == 0)
			return true;
	return false;
}

yaml_node_t *push_yaml_item(struct push_yaml *yaml, const yaml_node_t *list, size_t i)
{
	const yaml_node_item_t *item;

	if (list->type != YAML_SEQUENCE_NODE)
		return NULL;
	item = list->data.sequence.items.start + i;
	return item < list->data.sequence.items.top ? yaml_document_get_node(&yaml->document, *item)
						    : NULL;
}

const char *push_yaml_text(const yaml_node_t *node)
{
	const char *text;

	if (!node || node->type != YAML_SCALAR_NODE)
		return NULL;
	text = (const char *)node->data.scalar.value;
	return strlen(text) == node->data.scalar.length ? text : NULL;
}

int push_yaml_refuse(const struct push_yaml *yaml, const yaml_node_t *node, const char *what,
		     const char *why)
{
	log_error("%s:%zu: %s: %s", yaml->path, node->start_mark.line + 1, what, why);
	return -EINVAL;
}
