// SPDX-License-Identifier: Apache-2.0
/* Makes paths free, and refuses those that containers see; see publish_places.h. */
#include "announce/publish_places.h"

#include "base/log.h"
#include "intake/intake.h"
#include "intake/listen.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DIRECTORY "/run/fgcollect-publish"

/* The real path of a directory, of which the last part may be missing. */
static bool find_real(const char *directory, char ret[PATH_MAX])
{
	const char *const slash = strrchr(directory, '/');
	char above[PATH_MAX], real[PATH_MAX];

	if (realpath(directory, ret))
		return true;
	if (errno != ENOENT || !slash)
		return false;
	snprintf(above, sizeof(above), "%.*s", (int)(slash - directory), directory);
	return realpath(above[0] ? above : "/", real) &&
	       snprintf(ret, PATH_MAX, "%s%s", strcmp(real, "/") == 0 ? "" : real, slash) <
		       PATH_MAX;
}

/* The real path of the directory that the path is in. */
static bool find_directory(const char *path, char ret[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX];

	if (!slash)
		return realpath(".", ret);
	while (slash > path && slash[-1] == '/')
		slash--;
	if (snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path) >=
	    (int)sizeof(directory))
		return false;
	return find_real(directory[0] ? directory : "/", ret);
}

/* Whether the path is in the directory of the agents' socket, or below it. */
static bool is_with_agents(const char *path, const char *agent_socket)
{
	char own[PATH_MAX], agents[PATH_MAX];
	size_t len;

	if (!find_directory(path, own) || !find_directory(agent_socket, agents))
		return false;
	len = strlen(agents);
	return strncmp(own, agents, len) == 0 && (own[len] == '/' || !own[len] || len <= 1);
}

/*
 * Containers have the directory of the agents' socket, and what is below it, and so root's
 * processes there have it too: a mount that is read-only keeps nobody from connecting. They have
 * the directory in which agents look by themselves also while this daemon's socket is elsewhere.
 */
static int refuse_agents_directory(const char *option, const char *path, const char *agent_socket)
{
	if (is_with_agents(path, agent_socket))
		log_error("%s ipc://%s: containers have the directory of %s mounted: choose "
			  "another directory, such as " DIRECTORY,
			  option, path, agent_socket);
	else if (is_with_agents(path, INTAKE_DEFAULT_SOCKET))
		log_error("%s ipc://%s: agents that are told of no other place look for %s, "
			  "so containers have its directory mounted: choose another directory, "
			  "such as " DIRECTORY,
			  option, path, INTAKE_DEFAULT_SOCKET);
	else
		return 0;
	return -EINVAL;
}

int publish_places_prepare(const struct publish_paths *paths, const char *agent_socket)
{
	int err = 0;

	for (size_t i = 0; !err && i < paths->count; i++) {
		err = refuse_agents_directory(paths->option, paths->paths[i], agent_socket);
		if (!err)
			err = listen_prepare_private(paths->paths[i], paths->option);
	}
	return err;
}

bool publish_places_are_free(const struct publish_paths *paths)
{
	bool are_free = true;
	struct stat st;

	for (size_t i = 0; i < paths->count; i++) {
		if (lstat(paths->paths[i], &st) < 0 && errno == ENOENT)
			continue;
		log_error("%s ipc://%s: something else is there now: remove it", paths->option,
			  paths->paths[i]);
		are_free = false;
	}
	return are_free;
}
