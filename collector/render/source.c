// SPDX-License-Identifier: Apache-2.0
/* Paths of source files, see source.h. A package is taken only from a name with slashes. */
#include "render/source.h"

#include <string.h>

static size_t package_len(const char *name)
{
	const size_t class_len = strcspn(name, ".(: ");
	size_t len = class_len;

	while (len > 0 && name[len - 1] != '/')
		len--;
	return len;
}

void source_path(struct bytes *out, const struct profile_node *node)
{
	if (frame_kind_is_java((enum frame_kind)node->kind) && !strchr(node->file, '/'))
		bytes_add(out, node->name, package_len(node->name));
	bytes_add(out, node->file, strlen(node->file));
}
