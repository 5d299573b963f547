// SPDX-License-Identifier: Apache-2.0
/* What engines and the kernel say of containers; the first byte says which of the readers. */
#include "fuzzer.h"

#include "container/container_records.h"
#include "container/mount_info.h"

#include <stdlib.h>
#include <string.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct cgroup_tree no_tree; /* paths are taken as they stand */

static void read_mounts(char *text)
{
	char type[16], *copy = strdup(text), *at = text;
	struct mount_info mount;

	while (mount_info_next(&at, &mount))
		;
	if (copy)
		mount_info_type_of(copy, "/home/u/x", type, sizeof(type));
	free(copy);
}

static void read_as(unsigned which, char *text, size_t len, struct container *container)
{
	struct container parsed;

	switch (which % 7) {
	case 0:
		container_parse(text, &no_tree, &parsed);
		return;
	case 1:
		read_mounts(text);
		return;
	case 2:
		container_records_docker(text, len, container);
		container_records_docker_runs(text, len);
		return;
	case 3:
		container_records_storage(text, len, container);
		return;
	case 4:
		container_records_oci(text, len, container);
		return;
	case 5:
		container_records_log_dir(text, container);
		return;
	default:
		container_records_log_link(text, container);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct container container = {.id = ID};
	char *text;

	if (size == 0)
		return 0;
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (data[0] & 0x80)
		strcpy(container.pod_uid, "6efe8f0e-3b4c-4d5e-9f00-112233445566");
	read_as(data[0] & 0x7f, text, size - 1, &container);
	for (const char *at = container.name; *at; at++) {
		if ((unsigned char)*at < 0x20)
			abort();
	}
	container_fini(&container);
	free(text);
	return 0;
}
