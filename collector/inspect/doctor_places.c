// SPDX-License-Identifier: Apache-2.0
/*
 * The directory of the agents' socket and the directory of perf maps. Agents run as any user, so
 * every user must be able to enter the directory and to write to the socket.
 */
#include "inspect/doctor.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#define LITTLE_BYTES (UINT64_C(16) << 20)

/* The directory of the agents' socket, borrowed until the next call. */
static const char *socket_dir(const struct doctor *doctor)
{
	static char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", doctor->socket_path);
	slash = strrchr(dir, '/');
	if (!slash)
		return ".";
	slash[slash == dir] = '\0';
	return dir;
}

static void check_socket_path(struct doctor *doctor)
{
	const char *path = doctor->socket_path;
	const size_t max = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;
	const struct finding bad = {
		.check = "agents-socket", .state = FINDING_PROBLEM, .object = path};
	struct stat st;

	if (strlen(path) > max)
		doctor_say(doctor, &bad, "choose a shorter --socket, and socket= of the agents",
			   "is longer than the %zu bytes that a socket's path may have", max);
	else if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
		doctor_say(doctor, &bad, "remove it, or choose another --socket",
			   "is there, and is no socket");
	else if (lstat(path, &st) == 0 && (st.st_mode & 0222) != 0222)
		doctor_say(doctor, &bad, "chmod 666 that socket, or start the collector anew",
			   "has mode %04o: agents of other users cannot connect",
			   st.st_mode & 07777u);
}

static void check_socket_dir(struct doctor *doctor)
{
	const char *dir = socket_dir(doctor);
	struct finding finding = {
		.check = "agents-directory", .state = FINDING_PROBLEM, .object = dir};
	struct stat st;

	if (stat(dir, &st) < 0 && errno == ENOENT) {
		finding.state = FINDING_NOTE;
		doctor_say(doctor, &finding, "start 'fgcollect --watch' before the containers",
			   "is not there: it is made when the collector starts, and a container "
			   "that was started before sees another one");
	} else if (stat(dir, &st) < 0) {
		doctor_say(doctor, &finding, "run as root, or choose another --socket",
			   "cannot be looked into: %s", strerror(errno));
	} else if (!S_ISDIR(st.st_mode)) {
		doctor_say(doctor, &finding, "remove it, or choose another --socket",
			   "is no directory");
	} else if ((st.st_mode & 0011) != 0011) {
		doctor_say(doctor, &finding, "chmod 755 it",
			   "has mode %04o: agents of other users cannot reach the socket",
			   st.st_mode & 07777u);
	} else if (access(dir, W_OK) < 0) {
		doctor_say(doctor, &finding, "run as root, or choose another --socket",
			   "this user cannot make a socket in it: %s", strerror(errno));
	} else {
		finding.state = FINDING_OK;
		doctor_say(doctor, &finding, NULL, "agents of all users can connect");
	}
}

/* Makes a file without a name in the directory. */
static int try_file(const char *dir)
{
	const int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	const int err = fd < 0 && errno != EOPNOTSUPP && errno != EISDIR ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return err;
}

static void check_maps(struct doctor *doctor)
{
	const char *dir = doctor->map_dir;
	struct finding finding = {
		.check = "map-directory", .state = FINDING_PROBLEM, .object = dir};
	struct statvfs room;
	int err = try_file(dir);

	if (err) {
		doctor_say(doctor, &finding, "choose another with --map-dir",
			   "perf maps cannot be written to it: %s", strerror(-err));
		return;
	}
	if (statvfs(dir, &room) == 0 && (uint64_t)room.f_bavail * room.f_frsize < LITTLE_BYTES) {
		doctor_say(doctor, &finding, "make room, or choose another with --map-dir",
			   "there are %llu KiB left, and a perf map may need several MiB",
			   (unsigned long long)room.f_bavail * room.f_frsize >> 10);
		return;
	}
	finding.state = FINDING_OK;
	doctor_say(doctor, &finding, NULL, "perf maps can be written");
}

void doctor_check_places(struct doctor *doctor)
{
	check_socket_dir(doctor);
	check_socket_path(doctor);
	check_maps(doctor);
}
