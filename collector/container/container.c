// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the container ID in a line of /proc/<pid>/cgroup, see container.h. The forms:
 *
 *	0::/kubepods.slice/kubepods-pod<uid>.slice/cri-containerd-<id>.scope
 *	0::/system.slice/docker-<id>.scope/init
 *	11:cpu:/system.slice/containerd.service/kubepods-pod<uid>.slice:cri-containerd:<id>
 *	4:memory:/ecs/<task>/<32 digits>-<decimal number>
 *
 * A component of the path may end in an ID of 64 hexadecimal digits or of ECS's form, with or
 * without ".scope". Containers in containers have nested paths, so the last ID is that of the
 * innermost container.
 */
#include "container/container.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "container/pod_uid.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define MAX_CGROUP_BYTES (256u << 10)
#define ID_DIGITS	 64
#define ECS_DIGITS	 32
#define UID_BYTES	 36 /* a UID with its four dashes */
#define NAME_BYTES	 253

struct part {
	const char *at;
	size_t len;
};

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool is_decimal(char c)
{
	return c >= '0' && c <= '9';
}

static bool starts_with(struct part part, const char *prefix)
{
	const size_t len = strlen(prefix);

	return part.len >= len && memcmp(part.at, prefix, len) == 0;
}

static void strip_suffix(struct part *part, const char *suffix)
{
	const size_t len = strlen(suffix);

	if (part->len >= len && memcmp(part->at + part->len - len, suffix, len) == 0)
		part->len -= len;
}

/* The number of hexadecimal digits at the end of part. */
static size_t hex_tail(struct part part)
{
	size_t n = 0;

	while (n < part.len && is_hex(part.at[part.len - 1 - n]))
		n++;
	return n;
}

static size_t decimal_tail(struct part part)
{
	size_t n = 0;

	while (n < part.len && is_decimal(part.at[part.len - 1 - n]))
		n++;
	return n;
}

/* The length of the ID at the end of part; 0: no ID is there. */
static size_t id_tail(struct part part)
{
	const size_t number = decimal_tail(part);
	struct part head = part;

	if (hex_tail(part) == ID_DIGITS)
		return ID_DIGITS;
	if (number == 0 || number == part.len || part.at[part.len - number - 1] != '-')
		return 0;
	head.len -= number + 1;
	return hex_tail(head) == ECS_DIGITS && ECS_DIGITS + 1 + number < CONTAINER_ID_BYTES
		       ? ECS_DIGITS + 1 + number
		       : 0;
}

/* Reads the next component behind *at. False: the line has no more. */
static bool next_part(const char **at, const char *end, struct part *ret)
{
	const char *start = *at;

	while (start < end && *start == '/')
		start++;
	*at = start;
	while (*at < end && **at != '/')
		++*at;
	*ret = (struct part){start, (size_t)(*at - start)};
	return ret->len > 0;
}

bool container_is_pod_uid(const char *text, size_t len)
{
	if (len != UID_BYTES && len != ECS_DIGITS)
		return false;
	for (size_t i = 0; i < len; i++) {
		const bool is_dash = len == UID_BYTES && (i == 8 || i == 13 || i == 18 || i == 23);

		if (is_dash ? text[i] != '-' : !is_hex(text[i]))
			return false;
	}
	return true;
}

bool container_is_pod_name(const char *text, size_t len)
{
	if (len == 0 || len > NAME_BYTES || text[0] == '.' || text[0] == '-')
		return false;
	for (size_t i = 0; i < len; i++) {
		const char c = text[i];

		if (!(c >= 'a' && c <= 'z') && !is_decimal(c) && c != '-' && c != '.')
			return false;
	}
	return true;
}

/* Writes the last ID of a line to ret. A line without an ID leaves ret unchanged. */
static void parse_line(struct part line, struct part *ret)
{
	const char *at = line.at, *end = line.at + line.len;
	bool is_build = false;
	struct part part;

	while (next_part(&at, end, &part)) {
		size_t len;

		strip_suffix(&part, " (deleted)");
		strip_suffix(&part, ".scope");
		len = id_tail(part);
		/*
		 * A monitor is outside of the container whose ID its name has. A build step is not
		 * a container.
		 */
		if (len > 0 && !is_build && !starts_with(part, "crio-conmon-") &&
		    !starts_with(part, "libpod-conmon-"))
			*ret = (struct part){part.at + part.len - len, len};
		is_build = starts_with(part, "buildkit");
	}
}

static int take_id(struct part id, char ret[CONTAINER_ID_BYTES])
{
	if (id.len == 0)
		return -ENOENT;
	memcpy(ret, id.at, id.len);
	ret[id.len] = '\0';
	return 0;
}

int container_id_parse(const char *text, char ret[CONTAINER_ID_BYTES])
{
	struct part id = {0};

	while (*text) {
		const size_t len = strcspn(text, "\n");

		parse_line((struct part){text, len}, &id);
		text += len + (text[len] == '\n');
	}
	return take_id(id, ret);
}

int container_id_of_path(const char *path, char ret[CONTAINER_ID_BYTES])
{
	struct part id = {0};

	parse_line((struct part){path, strlen(path)}, &id);
	return take_id(id, ret);
}

int container_parse(const char *text, struct container *ret)
{
	char id[CONTAINER_ID_BYTES];
	const int err = container_id_parse(text, id);

	if (err)
		return err;
	*ret = (struct container){0};
	memcpy(ret->id, id, sizeof(ret->id));
	pod_uid_parse(text, ret->pod_uid); /* on failure pod_uid stays "" */
	return 0;
}

static ssize_t read_cgroup(pid_t pid, char **ret)
{
	char path[sizeof("/proc/-2147483648/cgroup")];

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	return file_read_whole(path, MAX_CGROUP_BYTES, ret);
}

int container_id_read(pid_t pid, char ret[CONTAINER_ID_BYTES])
{
	_cleanup_free_ char *text = NULL;
	const ssize_t len = read_cgroup(pid, &text);

	return len < 0 ? (int)len : container_id_parse(text, ret);
}

int container_read(pid_t pid, struct container *ret)
{
	_cleanup_free_ char *text = NULL;
	const ssize_t len = read_cgroup(pid, &text);

	return len < 0 ? (int)len : container_parse(text, ret);
}

void container_fini(struct container *container)
{
	label_set_fini(&container->labels);
	*container = (struct container){0};
}
