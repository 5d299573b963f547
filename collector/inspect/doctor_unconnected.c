// SPDX-License-Identifier: Apache-2.0
/*
 * Looks at what an agent that has not connected sees, through its process's root directory and its
 * environment, see agent_fault.h. Texts of processes are hostile; they are only compared and shown.
 */
#include "inspect/agent_fault.h"
#include "inspect/agent_holder.h"
#include "inspect/agent_words.h"
#include "inspect/doctor_patient.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/process_stat.h"
#include "base/root_file.h"
#include "container/mount_info.h"
#include "intake/dial.h"
#include "intake/intake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BEHIND_OPTION " \t\n\"'"
#define LISTEN	      "listen:"

/* ---- where the agent looks ---- */

/* The value of socket= in a list of options that ends as one of a JVM's options does, or NULL. */
static const char *value_of_socket(const char *options)
{
	static const char key[] = "socket=";
	const char *const end = options + strcspn(options, BEHIND_OPTION);

	while (options < end) {
		if (strncmp(options, key, strlen(key)) == 0)
			return options + strlen(key);
		options += strcspn(options, "," BEHIND_OPTION);
		options += *options == ',';
	}
	return NULL;
}

/*
 * The value of socket= in a word, or NULL: behind the path of any agent, because the agent's file
 * may have any name, and in FGAGENT_OPTS.
 */
static const char *find_value(const char *word)
{
	static const char variable[] = "FGAGENT_OPTS=", option[] = "-agent";
	const char *value = NULL;

	if (strncmp(word, variable, strlen(variable)) == 0)
		return value_of_socket(word + strlen(variable));
	while (!value && (word = strstr(word, option))) {
		word += strcspn(word, "=" BEHIND_OPTION);
		if (*word == '=')
			value = value_of_socket(++word);
	}
	return value;
}

bool doctor_find_socket(const char *text, size_t len, char *ret, size_t size)
{
	for (size_t at = 0; at < len; at += strlen(text + at) + 1) {
		const char *const value = find_value(text + at);

		if (!value)
			continue;
		snprintf(ret, size, "%.*s", (int)strcspn(value, "," BEHIND_OPTION), value);
		return true;
	}
	return false;
}

/* Where the agent looks for the socket: its socket= if that can be read, else the default. */
static void agent_socket(const struct patient *patient, char *ret, size_t size)
{
	bool is_found = false;

	for (enum patient_text i = 0; i < PATIENT_TEXTS && !is_found; i++) {
		_cleanup_free_ char *text = NULL;
		const ssize_t n = patient_read(patient, i, &text);

		is_found = n > 0 && doctor_find_socket(text, (size_t)n, ret, size);
	}
	if (!is_found)
		snprintf(ret, size, "%s", INTAKE_DEFAULT_SOCKET);
}

/* ---- what it sees there ---- */

/* Opens the directory of the path in the JVM's root, with O_PATH. */
static int open_directory_of(const struct patient *patient, const char *path)
{
	_cleanup_free_ char *dir = strdup(path);
	char *const slash = dir ? strrchr(dir, '/') : NULL;

	if (!slash)
		return -ENOENT;
	slash[slash == dir] = '\0';
	return root_file_open(patient->pid, dir, O_PATH | O_DIRECTORY);
}

/* Whether the open directory is the one in which the collector's socket is, or is to be. */
static bool is_directory_of(int fd, const char *socket_path)
{
	_cleanup_free_ char *dir = strdup(socket_path);
	char *const slash = dir ? strrchr(dir, '/') : NULL;
	struct stat seen, ours;

	if (!slash || slash == dir)
		return false;
	*slash = '\0';
	return fstat(fd, &seen) == 0 && stat(dir, &ours) == 0 && seen.st_dev == ours.st_dev &&
	       seen.st_ino == ours.st_ino;
}

static bool is_mounted(const struct patient *patient, const char *path)
{
	_cleanup_free_ char *text = NULL;
	char file[64];

	snprintf(file, sizeof(file), "/proc/%d/mountinfo", (int)patient->pid);
	return file_read_whole(file, MOUNT_INFO_MAX_BYTES, &text) > 0 &&
	       agent_words_have_mount(text, path);
}

bool patient_has_lone_socket(const struct patient *patient)
{
	char path[PATH_MAX];

	agent_socket(patient, path, sizeof(path));
	return path[0] == '/' && is_mounted(patient, path);
}

static bool is_off(const struct patient *patient)
{
	_cleanup_free_ char *text = NULL;
	const ssize_t n = patient_read(patient, PATIENT_ENVIRON, &text);

	return n > 0 && agent_words_are_off(text, (size_t)n);
}

/* Looks at the path of the socket, or with listen: at the path where one is to be. */
static void look_at_path(const struct doctor *doctor, const struct patient *patient,
			 const char *path, struct agent_sight *ret)
{
	_cleanup_close_ const int fd = root_file_open(patient->pid, path, O_PATH);
	_cleanup_close_ const int dir_fd = open_directory_of(patient, path);
	struct stat seen, ours;

	ret->has_directory = dir_fd >= 0;
	ret->is_our_directory = dir_fd >= 0 && is_directory_of(dir_fd, doctor->socket_path);
	ret->has_our_socket = stat(doctor->socket_path, &ours) == 0;
	ret->open_error = fd < 0 ? fd : 0;
	if (fd < 0)
		return;
	if (fstat(fd, &seen) < 0) {
		ret->open_error = -errno;
		return;
	}
	ret->is_socket = S_ISSOCK(seen.st_mode);
	ret->is_mounted_alone = is_mounted(patient, path);
	ret->is_our_socket =
		ret->has_our_socket && seen.st_dev == ours.st_dev && seen.st_ino == ours.st_ino;
}

/* ---- what is said of it ---- */

/* The agent's path, without listen:, which is in the container. */
static void say_place(const struct agent_fault_text *text, const char *path, struct doctor *doctor,
		      const struct patient *patient)
{
	char what[PATH_MAX + 256];

	snprintf(what, sizeof(what),
		 "has an agent that is to listen at %.400s, and the directory is not there in its "
		 "container",
		 path);
	patient_say(doctor, patient, text->state, text->fix, what);
}

/* No socket is at the agent's path: there is no directory, or not the collector's. */
static void say_nothing_there(enum agent_fault fault, const char *path, struct doctor *doctor,
			      const struct patient *patient)
{
	const char *const ours = doctor->socket_path;
	const char *const slash = strrchr(path, '/'), *const our_slash = strrchr(ours, '/');
	const int dir = slash ? (int)(slash - path) : 0;
	const int our_dir = our_slash ? (int)(our_slash - ours) : 0;
	const bool is_old = fault == AGENT_OLD_DIRECTORY;
	char what[PATH_MAX + 256], fix[2 * PATH_MAX + 512];

	snprintf(what, sizeof(what),
		 "has the agent, which finds no socket at %.200s in its container%s", path,
		 is_old ? ": the directory there is not the collector's, because it was made anew "
			  "after the container began, or is another"
			: "");
	snprintf(fix, sizeof(fix),
		 "%slet the container see the directory, docker run -v %.*s:%.*s:ro (Kubernetes: a "
		 "hostPath volume), and the collector run with --socket %s",
		 is_old ? "start the container again, if it has the directory mounted, which must "
			  "not be removed meanwhile; else "
			: "",
		 our_dir, ours, dir, path, ours);
	patient_say(doctor, patient, agent_fault_text(fault)->state, fix, what);
}

static void say_unreached(const struct agent_fault_text *text, const struct agent_sight *sight,
			  const char *path, struct doctor *doctor, const struct patient *patient)
{
	char what[512];

	snprintf(what, sizeof(what),
		 "has an agent that listens at %s in its container and cannot be reached: %s", path,
		 dial_reason(sight->dial_error));
	patient_say(doctor, patient, text->state, dial_remedy(sight->dial_error), what);
}

static void say_held(const struct agent_fault_text *text, pid_t holder, struct doctor *doctor,
		     const struct patient *patient)
{
	char comm[PROCESS_COMM_BYTES], what[256];

	if (holder > 0) {
		process_stat_comm(holder, holder, comm, sizeof(comm));
		snprintf(what, sizeof(what),
			 "has an agent that listens, and serves another collector: PID %d (%s)",
			 (int)holder, comm);
	} else {
		snprintf(
			what, sizeof(what),
			"has an agent that listens, and serves another collector, whose PID is not "
			"seen here");
	}
	patient_say(doctor, patient, text->state, text->fix, what);
}

void patient_check_unconnected(struct doctor *doctor, const struct patient *patient)
{
	char path[PATH_MAX], listens_at[ANNOUNCEMENT_PATH_BYTES] = "";
	struct agent_sight sight = {0};
	const struct agent_fault_text *text;
	enum agent_fault fault;
	const char *place;

	agent_socket(patient, path, sizeof(path));
	sight.is_to_listen = strncmp(path, LISTEN, strlen(LISTEN)) == 0;
	place = sight.is_to_listen ? path + strlen(LISTEN) : path;
	sight.is_off = is_off(patient);
	look_at_path(doctor, patient, place, &sight);
	sight.dial_error = dial_try(patient->pid, listens_at);
	if (sight.dial_error != -ENODATA)
		sight.holder = agent_holder_find(patient->pid, listens_at);
	fault = agent_fault_of(&sight);
	text = agent_fault_text(fault);
	if (fault == AGENT_HELD)
		say_held(text, sight.holder, doctor, patient);
	else if (fault == AGENT_UNREACHED)
		say_unreached(text, &sight, listens_at, doctor, patient);
	else if (fault == AGENT_NO_PLACE)
		say_place(text, place, doctor, patient);
	else if (fault == AGENT_NO_DIRECTORY || fault == AGENT_OLD_DIRECTORY)
		say_nothing_there(fault, path, doctor, patient);
	else
		patient_say(doctor, patient, text->state, text->fix, text->what);
}
