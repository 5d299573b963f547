// SPDX-License-Identifier: Apache-2.0
/* Where the socket, maps and the jitdump are, see place_options.h. */
#include "cli/place_options.h"

#include "options/tables.h"

static int set_path(const char **ret, const char *option, const char *path)
{
	if (!path[0])
		return options_bad_value(option, path, "a path is needed");
	*ret = path;
	return 0;
}

int place_options_apply(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_SOCKET:
		return set_path(&options->socket_path, "--socket", value);
	case OPTION_MAP_DIR:
		return set_path(&options->map_dir, "--map-dir", value);
	case OPTION_JITDUMP:
		return set_path(&options->jitdump_dir, "--jitdump", value);
	default:
		return 1;
	}
}
