// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   URLs and a YAML file -> the targets that profiles are pushed to
 * units:   seconds
 * threads: one at a time; constant once they are read
 * errors:  said on stderr with file and line; -EINVAL
 * source:  docs/push.md
 *
 * The file has a key targets with a list. A target has url, and may have tenant or tenant_file,
 * bearer_token_file, username with password_file, ca_file, cert_file with key_file, and timeout.
 * Credentials are in files, which are read again before each request.
 */
#ifndef FG_PUSH_PUSH_CONFIG_H
#define FG_PUSH_PUSH_CONFIG_H

#include "push/push_stats.h"
#include "push/push_url.h"

#define PUSH_DEFAULT_TIMEOUT_SEC 10
#define PUSH_MOST_TIMEOUT_SEC	 60

/* Texts are NULL where they are not given. */
struct push_target {
	struct push_url url;
	char *tenant, *tenant_file, *token_file;
	char *user, *password_file;
	char *ca_file, *cert_file, *key_file;
	unsigned timeout_sec;
};

struct push_config {
	struct push_target targets[PUSH_MAX_TARGETS];
	size_t count;
};

/* Adds a target without credentials. */
int push_config_add(struct push_config *config, const char *url);
/* Adds the targets of a file. */
int push_config_read(struct push_config *config, const char *path);
void push_config_fini(struct push_config *config);

#endif
