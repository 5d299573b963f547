// SPDX-License-Identifier: Apache-2.0
/* Reads which targets there are, see push_config.h. */
#include "push/push_config.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "push/push_yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_known(const struct push_config *config, const struct push_url *url)
{
	for (size_t i = 0; i < config->count; i++)
		if (strcmp(config->targets[i].url.name, url->name) == 0)
			return true;
	return false;
}

/* *ret_why: valid for good. */
static int add(struct push_config *config, const char *text, struct push_target **ret,
	       const char **ret_why)
{
	struct push_url url;
	int err = push_url_parse(text, &url, ret_why);

	if (!err && is_known(config, &url)) {
		*ret_why = "that URL was given before";
		err = -EINVAL;
	}
	if (!err && config->count == PUSH_MAX_TARGETS) {
		*ret_why = "there are more than 8";
		err = -EINVAL;
	}
	if (err)
		return err;
	*ret = &config->targets[config->count++];
	**ret = (struct push_target){.url = url, .timeout_sec = PUSH_DEFAULT_TIMEOUT_SEC};
	return 0;
}

int push_config_add(struct push_config *config, const char *url)
{
	struct push_target *target;
	const char *why;
	const int err = add(config, url, &target, &why);

	if (err)
		log_error("--push %s: %s", url, why);
	return err;
}

/* 0: no time. */
static unsigned parse_timeout(const char *text)
{
	char *end;
	const unsigned long sec = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || (*end && strcmp(end, "s") != 0) ||
	    sec > PUSH_MOST_TIMEOUT_SEC)
		return 0;
	return (unsigned)sec;
}

static char **member_of(struct push_target *target, const char *key)
{
	const struct {
		const char *key;
		char **member;
	} members[] = {
		{"tenant", &target->tenant},
		{"tenant_file", &target->tenant_file},
		{"bearer_token_file", &target->token_file},
		{"username", &target->user},
		{"password_file", &target->password_file},
		{"ca_file", &target->ca_file},
		{"cert_file", &target->cert_file},
		{"key_file", &target->key_file},
	};

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (strcmp(members[i].key, key) == 0)
			return members[i].member;
	return NULL;
}

/* A line's end would end a header of HTTP too. */
static bool has_controls(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

static int set_key(struct push_yaml *yaml, struct push_target *target, const char *key,
		   const yaml_node_t *node)
{
	const char *const text = push_yaml_text(node);
	char **const member = member_of(target, key);

	if (strcmp(key, "url") == 0)
		return 0;
	if (!text || !text[strspn(text, " \t")])
		return push_yaml_refuse(yaml, node, key, "a text is needed");
	if (has_controls(text))
		return push_yaml_refuse(yaml, node, key, "a text has control characters");
	if (strcmp(key, "timeout") == 0) {
		target->timeout_sec = parse_timeout(text);
		return target->timeout_sec
			       ? 0
			       : push_yaml_refuse(yaml, node, key, "from 1s to 60s is needed");
	}
	if (!member)
		return push_yaml_refuse(yaml, node, key,
					"no such key; there are url, tenant, tenant_file, "
					"bearer_token_file, username, password_file, ca_file, "
					"cert_file, key_file and timeout");
	free(*member);
	*member = strdup(text);
	return *member ? 0 : -ENOMEM;
}

/* What goes together with something else. */
static const char *flaw_of(const struct push_target *target)
{
	if (!target->user != !target->password_file)
		return "username and password_file go together";
	if (target->user && target->token_file)
		return "there is either a user or a token";
	if (target->tenant && target->tenant_file)
		return "there is either tenant or tenant_file";
	if (target->key_file && !target->cert_file)
		return "key_file goes with cert_file";
	return NULL;
}

static int read_target(struct push_yaml *yaml, yaml_node_t *node, struct push_config *config)
{
	struct push_target *target = NULL;
	const char *key, *why = "url is needed";
	yaml_node_t *value;
	int err = -EINVAL;

	for (size_t i = 0; push_yaml_pair(yaml, node, i, &key, &value); i++) {
		if (push_yaml_is_repeated(yaml, node, i))
			return push_yaml_refuse(yaml, value, key, "is there twice");
		if (strcmp(key, "url") == 0 && push_yaml_text(value))
			err = add(config, push_yaml_text(value), &target, &why);
	}
	if (err)
		return push_yaml_refuse(yaml, node, "a target", why);
	for (size_t i = 0; !err && push_yaml_pair(yaml, node, i, &key, &value); i++)
		err = set_key(yaml, target, key, value);
	if (!err && flaw_of(target))
		err = push_yaml_refuse(yaml, node, "a target", flaw_of(target));
	return err;
}

/* *ret_list: NULL if there is none. */
static int find_list(struct push_yaml *yaml, yaml_node_t *root, yaml_node_t **ret_list)
{
	yaml_node_t *value;
	const char *key;

	*ret_list = NULL;
	for (size_t i = 0; push_yaml_pair(yaml, root, i, &key, &value); i++) {
		if (push_yaml_is_repeated(yaml, root, i))
			return push_yaml_refuse(yaml, value, key, "is there twice");
		if (strcmp(key, "targets") != 0)
			return push_yaml_refuse(yaml, value, key, "no such key; there is targets");
		if (value->type == YAML_SEQUENCE_NODE)
			*ret_list = value;
	}
	return 0;
}

int push_config_read(struct push_config *config, const char *path)
{
	_cleanup_(push_yaml_fini) struct push_yaml yaml = {0};
	yaml_node_t *root, *list = NULL, *item;
	int err = push_yaml_read(path, &yaml);

	if (err)
		return err;
	root = push_yaml_root(&yaml);
	if (root)
		err = find_list(&yaml, root, &list);
	if (!err && !list) {
		log_error("%s: a key targets with a list is needed", path);
		return -EINVAL;
	}
	for (size_t i = 0; !err && (item = push_yaml_item(&yaml, list, i)); i++)
		err = read_target(&yaml, item, config);
	return err;
}

static void target_fini(struct push_target *target)
{
	char *const texts[] = {target->tenant,	  target->tenant_file,	 target->token_file,
			       target->user,	  target->password_file, target->ca_file,
			       target->cert_file, target->key_file};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		free(texts[i]);
}

void push_config_fini(struct push_config *config)
{
	for (size_t i = 0; i < config->count; i++)
		target_fini(&config->targets[i]);
	*config = (struct push_config){0};
}
