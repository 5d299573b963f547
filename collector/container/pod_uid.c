// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the pod's UID in a line of /proc/<pid>/cgroup, see pod_uid.h. The forms:
 *
 *	0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice/...
 *	0::/kubepods/besteffort/pod<uid>/<container>
 *	11:cpu:/system.slice/containerd.service/kubepods-pod<uid>.slice:cri-containerd:<container>
 *
 * <uid> is 8-4-4-4-12 hexadecimal digits, with '_' for '-' if systemd makes the slice, because '-'
 * separates the levels of slices. For a pod that the API server did not make, <uid> is a hash of 32
 * digits.
 */
#include "container/pod_uid.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define MARK	   "pod"
#define PARTED_LEN 36u
#define HASH_LEN   32u

static bool is_dash_at(size_t i)
{
	return i == 8 || i == 13 || i == 18 || i == 23;
}

/* The length of the UID at the start of text; 0: no UID is there. */
static size_t uid_len(const char *text)
{
	const size_t len = strspn(text, "0123456789abcdef-_");

	if (len == HASH_LEN && strcspn(text, "-_") >= len)
		return len;
	if (len != PARTED_LEN)
		return 0;
	for (size_t i = 0; i < len; i++)
		if ((ascii_hex_lower(text[i]) >= 0) == is_dash_at(i))
			return 0;
	return len;
}

static bool is_alone(const char *text, const char *mark, size_t len)
{
	const char *const end = mark + strlen(MARK) + len;

	return mark > text && (mark[-1] == '/' || mark[-1] == '-') &&
	       (*end == '\0' || strchr("/:. \n", *end));
}

int pod_uid_parse(const char *text, char ret[POD_UID_BYTES])
{
	const char *found = NULL;
	size_t found_len = 0;

	for (const char *at = text; (at = strstr(at, MARK)); at++) {
		const size_t len = uid_len(at + strlen(MARK));

		if (len == 0 || !is_alone(text, at, len))
			continue;
		found = at + strlen(MARK);
		found_len = len;
	}
	if (!found)
		return -ENOENT;
	for (size_t i = 0; i < found_len; i++)
		ret[i] = found[i] == '_' ? '-' : found[i];
	ret[found_len] = '\0';
	return 0;
}
