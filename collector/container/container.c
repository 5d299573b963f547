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
 * without ".scope". Containers in containers have nested paths: the last ID is that of the
 * innermost container, and only the first ID can be the word of the host's root.
 */
#include "container/container.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "container/pod_uid.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_CGROUP_BYTES (256u << 10)
#define ID_DIGITS	 64
#define ECS_DIGITS	 32
#define SHORT_DIGITS	 12
#define ID_MAX_BYTES	 79 /* without what says whose word the ID is */
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
	return hex_tail(head) == ECS_DIGITS && ECS_DIGITS + 1 + number <= ID_MAX_BYTES
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

/* The IDs in the path of one line. */
struct line_ids {
	struct part outer, inner; /* empty: no ID; they may be the same */
	const char *outer_at;	  /* the component with the outer ID */
	const char *outer_end;
};

static bool is_equal(struct part part, const char *text)
{
	return part.len == strlen(text) && starts_with(part, text);
}

/* Whether the component is no container, though an ID is in its name. */
static bool is_other_thing(struct part part, struct part parent)
{
	/*
	 * A monitor is outside of the container whose ID its name has. A build step is not a
	 * container. A pod of Podman's has an ID too.
	 */
	return starts_with(parent, "buildkit") ||
	       (is_equal(parent, "libpod_parent") && part.len == ID_DIGITS) ||
	       starts_with(part, "crio-conmon-") || starts_with(part, "libpod-conmon-");
}

static void find_ids(struct part path, struct line_ids *ret)
{
	const char *at = path.at, *end = path.at + path.len;
	struct part part, parent = {.at = ""};

	*ret = (struct line_ids){0};
	while (next_part(&at, end, &part)) {
		const struct part whole = part;
		size_t len;

		strip_suffix(&part, " (deleted)");
		strip_suffix(&part, ".scope");
		len = id_tail(part);
		if (len > 0 && !is_other_thing(part, parent)) {
			ret->inner = (struct part){part.at + part.len - len, len};
			if (ret->outer.len == 0) {
				ret->outer = ret->inner;
				ret->outer_at = whole.at;
				ret->outer_end = part.at + part.len;
			}
		}
		parent = part;
	}
}

bool container_is_id(const char *text)
{
	const struct part part = {text, strlen(text)};

	return part.len > 0 && id_tail(part) == part.len;
}

size_t container_owner_len(const char *id)
{
	return strcspn(id, ":");
}

int container_short_len(const char *id)
{
	const char *const colon = strchr(id, ':');

	return (int)(colon ? colon + 1 - id : 0) + SHORT_DIGITS;
}

const char *container_engine_id(const struct container *container)
{
	const char *const colon = strchr(container->id, ':');

	return colon ? colon + 1 : container->id;
}

/* Composes the ID of its namer and the innermost ID. */
static int set_id(struct container *container, const struct line_ids *ids)
{
	char namer[32] = "";
	int len;

	if (container->namer == CONTAINER_NAMED_BY_USER && container->user == CGROUP_TREE_NOBODY)
		strcpy(namer, "others:");
	else if (container->namer == CONTAINER_NAMED_BY_USER)
		snprintf(namer, sizeof(namer), "user-%u:", (unsigned)container->user);
	else if (ids->inner.at != ids->outer.at)
		snprintf(namer, sizeof(namer), "in-%.*s:", SHORT_DIGITS, ids->outer.at);
	len = snprintf(container->id, sizeof(container->id), "%s%.*s", namer, (int)ids->inner.len,
		       ids->inner.at);
	return len < (int)sizeof(container->id) ? 0 : -ENAMETOOLONG;
}

/* The pod UID in the part of the path that root has named. */
static void set_pod_uid(struct container *container, const char *path, const char *end)
{
	char text[PATH_MAX];
	const size_t len = (size_t)(end - path);

	if (container->namer == CONTAINER_NAMED_BY_USER || len >= sizeof(text))
		return;
	memcpy(text, path, len);
	text[len] = '\0';
	pod_uid_parse(text, container->pod_uid); /* on failure pod_uid stays "" */
}

/* Splits a line into its fields "number:controllers:path". False: it has another form. */
static bool split(struct part line, struct part *ret_key, struct part *ret_path)
{
	const char *const end = line.at + line.len;
	const char *const first = memchr(line.at, ':', line.len);
	const char *const second = first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;

	if (!second)
		return false;
	*ret_key = (struct part){first + 1, (size_t)(second - first - 1)};
	*ret_path = (struct part){second + 1, (size_t)(end - second - 1)};
	return true;
}

/* -ENOENT: the line has no ID; another error: it cannot be said whose word the ID is. */
static int parse_line(struct part line, const struct cgroup_tree *tree, struct container *ret)
{
	const struct cgroup_hierarchy *hierarchy;
	struct container container = {.namer = CONTAINER_NAMED_BY_ANYONE};
	struct line_ids ids;
	struct part key, path;
	const char *at;
	int err = 0;

	if (!split(line, &key, &path))
		return -ENOENT;
	at = path.at;
	hierarchy = cgroup_tree_find(tree, key.at, key.len, &at);
	path = (struct part){at, path.len - (size_t)(at - path.at)};
	find_ids(path, &ids);
	if (ids.inner.len == 0)
		return -ENOENT;
	if (hierarchy) {
		err = cgroup_tree_owner(hierarchy, path.at, (size_t)(ids.outer_at - path.at),
					&container.user);
		container.namer = container.user != 0		 ? CONTAINER_NAMED_BY_USER
				  : ids.inner.at == ids.outer.at ? CONTAINER_NAMED_BY_ROOT
								 : CONTAINER_NAMED_BY_CONTAINER;
	}
	if (!err)
		err = set_id(&container, &ids);
	if (err)
		return err;
	set_pod_uid(&container, path.at, ids.outer_end);
	*ret = container;
	return 0;
}

/*
 * Of several, what is certain goes before what others have said. Of equals the last counts, which
 * is version 2's, where there is one.
 */
static bool is_as_good(enum container_namer namer, enum container_namer as)
{
	static const int ranks[] = {[CONTAINER_NAMED_BY_ROOT] = 0,
				    [CONTAINER_NAMED_BY_CONTAINER] = 1,
				    [CONTAINER_NAMED_BY_USER] = 2,
				    [CONTAINER_NAMED_BY_ANYONE] = 3};

	return ranks[namer] <= ranks[as];
}

int container_parse(const char *text, const struct cgroup_tree *tree, struct container *ret)
{
	struct container best, container;
	int err = -ENOENT;

	while (*text) {
		const size_t len = strcspn(text, "\n");

		if (parse_line((struct part){text, len}, tree, &container) == 0 &&
		    (err || is_as_good(container.namer, best.namer))) {
			best = container;
			err = 0;
		}
		text += len + (text[len] == '\n');
	}
	if (!err)
		*ret = best;
	return err;
}

static ssize_t read_cgroup(pid_t pid, char **ret)
{
	char path[sizeof("/proc/-2147483648/cgroup")];

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	return file_read_whole(path, MAX_CGROUP_BYTES, ret);
}

int container_read(pid_t pid, struct container *ret)
{
	_cleanup_free_ char *text = NULL;
	const ssize_t len = read_cgroup(pid, &text);

	return len < 0 ? (int)len : container_parse(text, cgroup_tree_of_host(), ret);
}

void container_fini(struct container *container)
{
	label_set_fini(&container->labels);
	*container = (struct container){0};
}
