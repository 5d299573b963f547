// SPDX-License-Identifier: Apache-2.0
/* Reads events/<system>/<name>/id of a trace file system, see tracepoint.h. */
#include "sample/tracepoint.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/mount.h and sys/mount.h cannot both be included, and old C libraries have neither. */
#define FSOPEN_CLOSE_ON_EXEC	   1u
#define FSMOUNT_CLOSE_ON_EXEC	   1u
#define FSCONFIG_MAKE		   6u	/* FSCONFIG_CMD_CREATE of linux/mount.h */
#define MOUNT_ATTR_READ_NOSUID_ALL 0xfu /* read-only, no setuid, no devices, no programs */

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* Makes an instance of tracefs that is not mounted in any directory. */
static int make_instance(void)
{
	_cleanup_close_ int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOSE_ON_EXEC);
	int fd;

	if (context < 0)
		return -errno;
	if (syscall(SYS_fsconfig, context, FSCONFIG_MAKE, NULL, NULL, 0) < 0)
		return -errno;
	fd = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOSE_ON_EXEC, MOUNT_ATTR_READ_NOSUID_ALL);
	return fd < 0 ? -errno : fd;
}

static int read_id(int dir, const char *path, uint64_t *ret)
{
	char text[32];
	char *end;
	uint64_t id;
	const ssize_t len = file_read_small_at(dir, path, text, sizeof(text));

	if (len < 0)
		return (int)len;
	id = strtoull(text, &end, 10);
	if (end == text)
		return -EBADMSG;
	*ret = id;
	return 0;
}

int tracepoint_find(const char *system, const char *name, uint64_t *ret)
{
	_cleanup_close_ int instance = -1;
	char path[256];

	snprintf(path, sizeof(path), "events/%s/%s/id", system, name);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		_cleanup_close_ int dir =
			open(places[i], O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

		/* Without tracefs the directory is empty. */
		if (dir >= 0 && read_id(dir, path, ret) == 0)
			return 0;
	}
	instance = make_instance();
	return instance < 0 ? instance : read_id(instance, path, ret);
}
