// SPDX-License-Identifier: Apache-2.0
/* Reads and applies relabelling rules, see push_relabel.h. */
#include "push/push_relabel.h"

#include "base/cleanup.h"
#include "encode/bytes.h"
#include "push/push_yaml.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RULES   128
#define MAX_SOURCES 16
#define MAX_GROUPS  10

enum action { REPLACE, KEEP, DROP, LABELMAP, LABELDROP, LABELKEEP, LOWERCASE, UPPERCASE };

static const char *const action_names[] = {"replace",	"keep",	     "drop",	  "labelmap",
					   "labeldrop", "labelkeep", "lowercase", "uppercase"};

struct rule {
	enum action action;
	char *sources[MAX_SOURCES];
	size_t n_sources;
	char *separator, *target, *replacement;
	regex_t regex;
	bool has_regex;
};

struct push_relabel {
	struct rule rules[MAX_RULES];
	size_t count;
};

/* ---- reading ---- */

static const char *regex_flaw(const char *text)
{
	for (; *text; text++) {
		if (text[0] == '(' && text[1] == '?')
			return "groups that begin with (? are not known";
		if (text[0] != '\\')
			continue;
		text++;
		if (!*text)
			return "a backslash ends the expression";
		if (isalnum((unsigned char)*text) && !strchr("wWsSbB", *text))
			return "that escape is not known; write [0-9] for \\d";
	}
	return NULL;
}

static int set_regex(struct push_yaml *yaml, const yaml_node_t *node, struct rule *rule,
		     const char *text)
{
	_cleanup_(bytes_fini) struct bytes whole = {0};
	const char *const flaw = regex_flaw(text);

	if (flaw)
		return push_yaml_refuse(yaml, node, "regex", flaw);
	bytes_add(&whole, "^(", 2);
	bytes_add(&whole, text, strlen(text));
	bytes_add(&whole, ")$", 2);
	if (rule->has_regex)
		regfree(&rule->regex);
	rule->has_regex =
		!whole.failed && regcomp(&rule->regex, bytes_text(&whole), REG_EXTENDED) == 0;
	return rule->has_regex ? 0 : push_yaml_refuse(yaml, node, "regex", "no regular expression");
}

static int set_sources(struct push_yaml *yaml, yaml_node_t *node, struct rule *rule)
{
	yaml_node_t *item;

	for (size_t i = 0; (item = push_yaml_item(yaml, node, i)); i++) {
		const char *const text = push_yaml_text(item);

		if (!text || !text[0] || rule->n_sources == MAX_SOURCES)
			return push_yaml_refuse(yaml, item, "source_labels",
						"up to 16 names are needed");
		rule->sources[rule->n_sources] = strdup(text);
		if (!rule->sources[rule->n_sources++])
			return -ENOMEM;
	}
	return node->type == YAML_SEQUENCE_NODE
		       ? 0
		       : push_yaml_refuse(yaml, node, "source_labels", "a list is needed");
}

static int set_action(struct push_yaml *yaml, yaml_node_t *node, struct rule *rule,
		      const char *text)
{
	for (size_t i = 0; i < sizeof(action_names) / sizeof(*action_names); i++) {
		if (strcasecmp(text, action_names[i]) == 0) {
			rule->action = (enum action)i;
			return 0;
		}
	}
	return push_yaml_refuse(yaml, node, text,
				"no such action; there are replace, keep, drop, labelmap, "
				"labeldrop, labelkeep, lowercase and uppercase");
}

static int set_text(char **member, const char *text)
{
	free(*member);
	*member = strdup(text);
	return *member ? 0 : -ENOMEM;
}

static int set_key(struct push_yaml *yaml, struct rule *rule, const char *key, yaml_node_t *node)
{
	const char *const text = push_yaml_text(node);

	if (strcmp(key, "source_labels") == 0)
		return set_sources(yaml, node, rule);
	if (!text)
		return push_yaml_refuse(yaml, node, key, "a text is needed");
	if (strcmp(key, "action") == 0)
		return set_action(yaml, node, rule, text);
	if (strcmp(key, "regex") == 0)
		return set_regex(yaml, node, rule, text);
	if (strcmp(key, "separator") == 0)
		return set_text(&rule->separator, text);
	if (strcmp(key, "target_label") == 0)
		return set_text(&rule->target, text);
	if (strcmp(key, "replacement") == 0)
		return set_text(&rule->replacement, text);
	return push_yaml_refuse(yaml, node, key,
				"no such key; there are source_labels, separator, target_label, "
				"regex, replacement and action");
}

/* A reference is $ and a digit, or ${ and a digit and }. */
static const char *replacement_flaw(const char *text)
{
	while ((text = strchr(text, '$'))) {
		const bool is_braced = text[1] == '{';
		const char *const at = text + 1 + is_braced;

		if (text[1] != '$' && (!isdigit((unsigned char)*at) || (is_braced && at[1] != '}')))
			return "a group has a number of one digit: $1 or ${1}";
		text = at + 1;
	}
	return NULL;
}

static int check_rule(struct push_yaml *yaml, const yaml_node_t *node, const struct rule *rule)
{
	const bool sets =
		rule->action == REPLACE || rule->action == LOWERCASE || rule->action == UPPERCASE;
	const char *const flaw = replacement_flaw(rule->replacement);

	if (flaw)
		return push_yaml_refuse(yaml, node, "replacement", flaw);
	if (sets && !rule->target)
		return push_yaml_refuse(yaml, node, action_names[rule->action],
					"target_label is needed");
	if (sets && !push_label_is_name(rule->target))
		return push_yaml_refuse(yaml, node, "target_label", "no name of a label");
	return 0;
}

static int read_rule(struct push_yaml *yaml, yaml_node_t *node, struct rule *rule)
{
	const char *key;
	yaml_node_t *value;
	int err = set_text(&rule->separator, ";");

	if (!err)
		err = set_text(&rule->replacement, "$1");
	if (!err)
		err = set_regex(yaml, node, rule, "(.*)");
	if (!err && node->type != YAML_MAPPING_NODE)
		err = push_yaml_refuse(yaml, node, "a rule", "keys and values are needed");
	for (size_t i = 0; !err && push_yaml_pair(yaml, node, i, &key, &value); i++)
		err = push_yaml_is_repeated(yaml, node, i)
			      ? push_yaml_refuse(yaml, value, key, "is there twice")
			      : set_key(yaml, rule, key, value);
	return err ? err : check_rule(yaml, node, rule);
}

static int read_rules(struct push_yaml *yaml, struct push_relabel *rules)
{
	yaml_node_t *list = push_yaml_root(yaml), *item;
	const char *key;
	int err = 0;

	if (list && push_yaml_pair(yaml, list, 1, &key, &item))
		return push_yaml_refuse(yaml, item, key, "there is relabel_configs alone");
	if (list && push_yaml_pair(yaml, list, 0, &key, &item)) {
		if (strcmp(key, "relabel_configs") != 0)
			return push_yaml_refuse(yaml, item, key,
						"no such key; there is relabel_configs");
		list = item;
	}
	if (!list)
		return 0;
	if (list->type != YAML_SEQUENCE_NODE)
		return push_yaml_refuse(yaml, list, "rules", "a list is needed");
	for (size_t i = 0; !err && (item = push_yaml_item(yaml, list, i)); i++) {
		if (rules->count == MAX_RULES)
			return push_yaml_refuse(yaml, item, "rules", "there are more than 128");
		err = read_rule(yaml, item, &rules->rules[rules->count++]);
	}
	return err;
}

int push_relabel_read(const char *path, struct push_relabel **ret)
{
	_cleanup_(push_yaml_fini) struct push_yaml yaml = {0};
	struct push_relabel *rules;
	int err = push_yaml_read(path, &yaml);

	if (err)
		return err;
	rules = calloc(1, sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	err = read_rules(&yaml, rules);
	if (err)
		push_relabel_free(rules);
	else
		*ret = rules;
	return err;
}

void push_relabel_free(struct push_relabel *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++) {
		struct rule *const rule = &rules->rules[i];

		for (size_t j = 0; j < rule->n_sources; j++)
			free(rule->sources[j]);
		free(rule->separator);
		free(rule->target);
		free(rule->replacement);
		if (rule->has_regex)
			regfree(&rule->regex);
	}
	free(rules);
}

/* ---- applying ---- */

/* found[0] is the whole, found[n + 1] group n of the expression as it was written. */
struct match {
	const char *text;
	regmatch_t found[MAX_GROUPS + 1];
};

static bool fits(const struct rule *rule, const char *text, struct match *match)
{
	match->text = text;
	return regexec(&rule->regex, text, MAX_GROUPS + 1, match->found, 0) == 0;
}

static void add_group(struct bytes *out, const struct match *match, char digit)
{
	const regmatch_t *const found = &match->found[digit - '0' + 1];

	if (found->rm_so >= 0)
		bytes_add(out, match->text + found->rm_so, (size_t)(found->rm_eo - found->rm_so));
}

static void expand(struct bytes *out, const char *text, const struct match *match)
{
	for (; *text; text++) {
		if (text[0] != '$') {
			bytes_add_char(out, *text);
		} else if (text[1] == '$') {
			bytes_add_char(out, *++text);
		} else if (text[1] == '{') {
			add_group(out, match, text[2]);
			text += 3;
		} else {
			add_group(out, match, *++text);
		}
	}
}

static void join_sources(const struct rule *rule, const struct push_labels *labels,
			 struct bytes *ret)
{
	for (size_t i = 0; i < rule->n_sources; i++) {
		const char *const value = push_labels_find(labels, rule->sources[i]);

		if (i > 0)
			bytes_add(ret, rule->separator, strlen(rule->separator));
		if (value)
			bytes_add(ret, value, strlen(value));
	}
}

static void replace(const struct rule *rule, const char *joined, struct push_labels *labels)
{
	_cleanup_(bytes_fini) struct bytes value = {0};
	struct match match;

	if (!fits(rule, joined, &match))
		return;
	expand(&value, rule->replacement, &match);
	push_labels_set(labels, rule->target, bytes_text(&value));
	labels->failed |= value.failed;
}

static void change_case(const struct rule *rule, const char *joined, struct push_labels *labels)
{
	_cleanup_free_ char *text = strdup(joined);

	if (!text) {
		labels->failed = true;
		return;
	}
	for (char *at = text; *at; at++)
		*at = (char)(rule->action == LOWERCASE ? tolower((unsigned char)*at)
						       : toupper((unsigned char)*at));
	push_labels_set(labels, rule->target, text);
}

/* Labels that the rule adds are not looked at again. */
static void map_names(const struct rule *rule, struct push_labels *labels)
{
	const size_t count = labels->count;
	struct push_label before[PUSH_LABELS_MAX];

	memcpy(before, labels->items, count * sizeof(before[0]));
	for (size_t i = 0; i < count; i++) {
		_cleanup_(bytes_fini) struct bytes name = {0};
		struct match match;

		if (!fits(rule, before[i].name, &match))
			continue;
		expand(&name, rule->replacement, &match);
		push_labels_set(labels, bytes_text(&name), before[i].value);
		labels->failed |= name.failed;
	}
}

static void drop_names(const struct rule *rule, struct push_labels *labels)
{
	struct match match;

	for (size_t i = labels->count; i-- > 0;)
		if (fits(rule, labels->items[i].name, &match) == (rule->action == LABELDROP))
			push_labels_remove(labels, i);
}

static bool apply(const struct rule *rule, struct push_labels *labels)
{
	_cleanup_(bytes_fini) struct bytes joined = {0};
	struct match match;

	join_sources(rule, labels, &joined);
	labels->failed |= joined.failed;
	switch (rule->action) {
	case KEEP:
		return fits(rule, bytes_text(&joined), &match);
	case DROP:
		return !fits(rule, bytes_text(&joined), &match);
	case REPLACE:
		replace(rule, bytes_text(&joined), labels);
		break;
	case LOWERCASE:
	case UPPERCASE:
		change_case(rule, bytes_text(&joined), labels);
		break;
	case LABELMAP:
		map_names(rule, labels);
		break;
	case LABELDROP:
	case LABELKEEP:
		drop_names(rule, labels);
		break;
	}
	return true;
}

bool push_relabel_apply(const struct push_relabel *rules, struct push_labels *labels)
{
	for (size_t i = 0; rules && i < rules->count; i++)
		if (!apply(&rules->rules[i], labels))
			return false;
	return true;
}
