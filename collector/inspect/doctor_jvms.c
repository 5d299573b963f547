// SPDX-License-Identifier: Apache-2.0
/*
 * Each process that maps libjvm: whether it has the agent, whether the agent has connected, and if
 * not, what the process sees at the socket's path. Texts of processes are hostile; they are only
 * compared and shown.
 */
#include "inspect/doctor.h"
#include "inspect/diagnose_process.h"
#include "inspect/jvm_names.h"
#include "inspect/jvm_release.h"
#include "intake/intake.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json_value.h"
#include "base/process_stat.h"
#include "base/root_file.h"
#include "container/place_name.h"
#include "intake/dial.h"
#include "process/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AGENT_LINE     "-agentpath:/opt/fgcollect/libfgagent.so"
#define TEXT_MAX_BYTES (1u << 20) /* limit of a command line or an environment */
#define JDK8_SAFE      382
#define OPTION_FILES   2
#define BEHIND_OPTION  " \t\n\"'"
#define OBJECT_BYTES   160

/* One JVM that is looked at. */
struct patient {
	pid_t pid;
	char object[OBJECT_BYTES];
	const struct process *process;
	const json_t *known; /* from 'fgcollect list'; NULL: the agent is not connected */
};

static void say(struct doctor *doctor, const struct patient *patient, enum finding_state state,
		const char *fix, const char *what)
{
	const struct finding finding = {.check = "jvm", .state = state, .object = patient->object};

	doctor_say(doctor, &finding, fix, "%s", what);
}

/* ---- versions ---- */

/* Says what is known of the JVM's version. True: because of the version the agent does nothing. */
static bool check_version(struct doctor *doctor, const struct patient *patient)
{
	char version[64], what[256];
	int major, minor, patch, update = 0;

	jvm_release_read(patient->process, version, sizeof(version));
	if (sscanf(version, "1.%d.%d_%d", &major, &patch, &update) >= 1 && major == 8 &&
	    update < JDK8_SAFE) {
		snprintf(what, sizeof(what),
			 "is JDK %s, which can crash when it tells of compiled methods "
			 "(JDK-8173361, JDK-8305165): the agent leaves it alone",
			 version);
		say(doctor, patient, FINDING_PROBLEM, "update it to 8u382 or later", what);
		return true;
	}
	minor = 0;
	if (sscanf(version, "%d.%d.%d", &major, &minor, &patch) < 1)
		return false;
	if (major >= 11 && major < 17)
		say(doctor, patient, FINDING_NOTE, "prefer JDK 17 or later, if you can",
		    "is of a line (11 to 16) where a method's event can race with its end "
		    "(JDK-8245877, JDK-8268524), which was seen in other tools");
	if (major == 21 || major == 22)
		say(doctor, patient, FINDING_NOTE,
		    "nothing, unless it lives from virtual threads: then JDK 23 or later",
		    "mounts virtual threads more slowly with any JVMTI agent (JDK-8330969)");
	return false;
}

/* ---- agents that are connected ---- */

static void check_losses(struct doctor *doctor, const struct patient *patient)
{
	json_t *losses = json_object_get(patient->known, "lost_by_agent"), *value;
	const char *key;
	char what[256];

	json_object_foreach (losses, key, value) {
		snprintf(what, sizeof(what),
			 "its agent has lost %lld events (%.100s); they have been repeated since",
			 (long long)json_integer_value(value), key);
		say(doctor, patient, FINDING_NOTE, "buffer=1m in the agent's options, if it grows",
		    what);
	}
}

/* What perf reads rather than the perf map: a path in the container, or on the host. */
static void check_shadow(struct doctor *doctor, const struct patient *patient)
{
	const char *const shadow = json_value_text(patient->known, "shadowed_by");
	const bool is_used = json_is_true(json_object_get(patient->known, "shadow_is_used"));
	char what[512], fix[512];

	if (!shadow[0])
		return;
	if (is_used)
		snprintf(what, sizeof(what),
			 "has another perf map at %.200s, which perf reads rather than ours; "
			 "profiles of fgcollect have the names of both",
			 shadow);
	else
		snprintf(what, sizeof(what),
			 "has another file at %.200s, which perf prefers to our map, even when it "
			 "is empty",
			 shadow);
	if (is_used)
		snprintf(fix, sizeof(fix), "for perf --jitdump, if a second code generator of the "
					   "process writes the file; else remove it");
	else
		snprintf(fix, sizeof(fix), "rm /proc/%d/root%.200s", (int)patient->pid, shadow);
	say(doctor, patient, is_used ? FINDING_NOTE : FINDING_PROBLEM, fix, what);
}

static void check_known(struct doctor *doctor, const struct patient *patient)
{
	const char *agent = json_value_text(patient->known, "agent_version");
	char what[512];

	check_shadow(doctor, patient);
	if (strcmp(agent, FG_VERSION) != 0) {
		snprintf(what, sizeof(what),
			 "its agent is version %.40s, the collector is " FG_VERSION
			 ": they understand each other, but what only one of them knows is missing",
			 agent[0] ? agent : "unknown");
		say(doctor, patient, FINDING_NOTE, "use the same version in the image", what);
	}
	check_losses(doctor, patient);
	if (strstr(json_value_text(patient->known, "jvm"), " Zero VM"))
		say(doctor, patient, FINDING_PROBLEM, "start the program with -server",
		    "is a Zero VM, whose interpreter is C++ and has no frames of Java: no Java "
		    "method has a name");
	if (strcmp(json_value_text(patient->known, "state"), "current") == 0)
		say(doctor, patient, FINDING_OK, NULL, "its agent is connected, all code is known");
	else
		say(doctor, patient, FINDING_NOTE, "wait a moment", "its agent is still telling");
}

/* ---- agents that are not ---- */

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

/* Reads the i-th text in which the JVM's options are. Its length, or less than 1. */
static ssize_t read_options(const struct patient *patient, size_t i, char **ret)
{
	static const char *const files[OPTION_FILES] = {"cmdline", "environ"};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)patient->pid, files[i]);
	return file_read_whole(path, TEXT_MAX_BYTES, ret);
}

/* Where the agent looks for the socket: its socket= if that can be read, else the default. */
static void agent_socket(const struct patient *patient, char *ret, size_t size)
{
	bool is_found = false;

	for (size_t i = 0; i < OPTION_FILES && !is_found; i++) {
		_cleanup_free_ char *text = NULL;
		const ssize_t n = read_options(patient, i, &text);

		is_found = n > 0 && doctor_find_socket(text, (size_t)n, ret, size);
	}
	if (!is_found)
		snprintf(ret, size, "%s", INTAKE_DEFAULT_SOCKET);
}

/*
 * Whether the socket's directory in the JVM's root is our directory. The directory may have no
 * socket now.
 */
static bool sees_directory(const struct patient *patient, const char *path, const char *ours)
{
	_cleanup_free_ char *dir = strdup(path), *our_dir = strdup(ours);
	char *slash = dir ? strrchr(dir, '/') : NULL;
	char *our_slash = our_dir ? strrchr(our_dir, '/') : NULL;
	struct stat seen, our;

	if (!slash || slash == dir || !our_slash || our_slash == our_dir)
		return false;
	*slash = *our_slash = '\0';

	_cleanup_close_ const int fd = root_file_open(patient->pid, dir, O_PATH);

	return fd >= 0 && fstat(fd, &seen) == 0 && stat(our_dir, &our) == 0 &&
	       seen.st_dev == our.st_dev && seen.st_ino == our.st_ino;
}

static void say_missing_socket(struct doctor *doctor, const struct patient *patient,
			       const char *path)
{
	const char *ours = doctor->socket_path;
	const char *slash = strrchr(path, '/'), *our_slash = strrchr(ours, '/');
	const int dir = slash ? (int)(slash - path) : 0;
	const int our_dir = our_slash ? (int)(our_slash - ours) : 0;
	char what[PATH_MAX + 256], fix[2 * PATH_MAX + 256];

	snprintf(what, sizeof(what),
		 "has the agent, which finds no socket at %.200s in its container", path);
	snprintf(fix, sizeof(fix),
		 "let the container see the directory, docker run -v %.*s:%.*s:ro (Kubernetes: a "
		 "hostPath volume), and the collector run with --socket %s",
		 our_dir, ours, dir, path, ours);
	say(doctor, patient, FINDING_PROBLEM, fix, what);
}

/* Says whether the file at the socket's path is the collector's socket. */
static void check_seen_socket(struct doctor *doctor, const struct patient *patient,
			      const struct stat *seen)
{
	struct stat ours;

	if (!S_ISSOCK(seen->st_mode))
		say(doctor, patient, FINDING_PROBLEM, "remove that file from the image",
		    "has the agent, and where it looks for the socket there is another file");
	else if (stat(doctor->socket_path, &ours) < 0)
		say(doctor, patient, FINDING_NOTE, "start 'fgcollect --watch', and ask again",
		    "has the agent, and no collector is running here");
	else if (seen->st_dev != ours.st_dev || seen->st_ino != ours.st_ino)
		say(doctor, patient, FINDING_PROBLEM,
		    "start the container again; the directory must not be removed while "
		    "containers have it mounted",
		    "has the agent, which sees a socket that is not the collector's: the directory "
		    "was made anew after the container began, or another collector's is mounted");
	else
		say(doctor, patient, FINDING_PROBLEM,
		    "look at its stderr for a line of fgagent; use agent and collector of one "
		    "version; see whether a security module forbids connect(2)",
		    "has the agent and sees the collector's socket, but has not connected");
}

/* Whether the agent listens. Nothing else is left to say then. */
static bool check_listening(struct doctor *doctor, const struct patient *patient)
{
	char path[BEACON_PATH_BYTES], what[512];
	const int err = dial_try(patient->pid, path);

	if (err == -ENODATA)
		return false;
	if (err == 0) {
		say(doctor, patient, FINDING_NOTE, "start 'fgcollect --watch', and ask again",
		    "has an agent that listens, to which no collector has connected");
		return true;
	}
	snprintf(what, sizeof(what),
		 "has an agent that listens at %s in its container and cannot be reached: %s", path,
		 dial_reason(err));
	say(doctor, patient, FINDING_PROBLEM, dial_remedy(err), what);
	return true;
}

static void check_unconnected(struct doctor *doctor, const struct patient *patient)
{
	char path[PATH_MAX];
	struct stat seen;

	if (check_listening(doctor, patient))
		return;
	agent_socket(patient, path, sizeof(path));
	_cleanup_close_ const int fd = root_file_open(patient->pid, path, O_PATH);

	if (strncmp(path, "listen:", strlen("listen:")) == 0)
		say(doctor, patient, FINDING_PROBLEM,
		    "look at its stderr for a line of fgagent, which says why",
		    "has an agent that is to listen, and does not");
	else if (fd == -EACCES || fd == -EPERM)
		say(doctor, patient, FINDING_NOTE, "run as root, or grant CAP_SYS_PTRACE",
		    "has the agent, which has not connected; this user may not look why");
	else if (fd < 0 && sees_directory(patient, path, doctor->socket_path))
		say(doctor, patient, FINDING_NOTE, "start 'fgcollect --watch', and ask again",
		    "has the agent and sees the socket's directory, but has not connected while "
		    "this was asked");
	else if (fd < 0 || fstat(fd, &seen) < 0)
		say_missing_socket(doctor, patient, path);
	else
		check_seen_socket(doctor, patient, &seen);
}

/* ---- class archives ---- */

const char *doctor_find_dumping(const char *text, size_t len)
{
	static const char *const options[] = {
		"-XX:+AutoCreateSharedArchive",
		"-XX:ArchiveClassesAtExit=", "-XX:+RecordDynamicDumpInfo", "-Xshare:dump"};

	for (size_t at = 0; at < len; at += strlen(text + at) + 1) {
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
			const char *const found = strstr(text + at, options[i]);

			if (found && (found == text + at || strchr("=" BEHIND_OPTION, found[-1])))
				return options[i];
		}
	}
	return NULL;
}

static const char *dumping_option(const struct patient *patient)
{
	const char *option = NULL;

	for (size_t i = 0; i < OPTION_FILES && !option; i++) {
		_cleanup_free_ char *text = NULL;
		const ssize_t n = read_options(patient, i, &text);

		option = n > 0 ? doctor_find_dumping(text, (size_t)n) : NULL;
	}
	return option;
}

/* A JVM that runs with the agent does not dump now, and may when it is started again. */
static void check_dumping(struct doctor *doctor, const struct patient *patient)
{
	const char *const option = dumping_option(patient);
	char what[256];

	if (!option)
		return;
	snprintf(what, sizeof(what),
		 "has %s and the agent: whenever HotSpot is to write the class archive, it refuses "
		 "to start with any native agent",
		 option);
	say(doctor, patient, FINDING_NOTE,
	    "write the archive without the agent (env -u JAVA_TOOL_OPTIONS java ...), and start "
	    "with -XX:SharedArchiveFile= alone; JDK 25's -XX:AOTCache takes agents",
	    what);
}

static void say_no_agent(struct doctor *doctor, const struct patient *patient)
{
	const char *const option = dumping_option(patient);
	char what[256];

	if (!option) {
		say(doctor, patient, FINDING_PROBLEM,
		    "add " AGENT_LINE
		    " to its options (JAVA_TOOL_OPTIONS in an image) and start it "
		    "again",
		    "is a JVM without the agent: names of its methods are read from outside, by "
		    "record -p PID and record -a; with the agent they are exact while code comes "
		    "and goes, and there are allocations, locks and exceptions");
		return;
	}
	snprintf(what, sizeof(what),
		 "is a JVM without the agent, and has %s, with which HotSpot refuses any native "
		 "agent: names of its methods can only be read from outside",
		 option);
	say(doctor, patient, FINDING_PROBLEM,
	    "nothing, if it is there to write the archive; else leave that option out, use the "
	    "archive by -XX:SharedArchiveFile=, and add " AGENT_LINE,
	    what);
}

/* ---- all of them ---- */

static void check_jvm(struct doctor *doctor, const struct patient *patient)
{
	if (check_version(doctor, patient))
		return;
	if (patient->known)
		check_known(doctor, patient);
	else if (diagnose_has_agent(patient->process))
		check_unconnected(doctor, patient);
	else
		say_no_agent(doctor, patient);
	if (patient->known || diagnose_has_agent(patient->process))
		check_dumping(doctor, patient);
}

static const json_t *find_known(const json_t *list, pid_t pid)
{
	json_t *jvm;
	size_t i;

	json_array_foreach (json_object_get(list, "jvms"), i, jvm) {
		if (json_value_int(jvm, "pid") == pid &&
		    strcmp(json_value_text(jvm, "state"), "ended") != 0)
			return jvm;
	}
	return NULL;
}

/* Names the JVM as 'fgcollect list' does, or by the comm if it is not in the list. */
static void name_patient(struct patient *patient, const char *comm)
{
	const struct process *const process = patient->process;
	char called[PLACE_NAME_BYTES];

	if (patient->known)
		jvm_names_write_called(patient->known, called, sizeof(called));
	else
		snprintf(called, sizeof(called), "%s", comm);
	snprintf(patient->object, sizeof(patient->object), "PID %d (%.100s)%s%.*s",
		 (int)patient->pid, called, process->container_id[0] ? " in container " : "",
		 container_short_len(process->container_id), process->container_id);
}

/* Returns 1 if the process is a JVM, 0 if not, -EACCES if that cannot be seen. */
static int check_process(struct doctor *doctor, const json_t *list, pid_t pid)
{
	struct patient patient = {.pid = pid, .known = find_known(list, pid)};
	struct process *process;
	char comm[PROCESS_COMM_BYTES];
	int is_jvm;

	if (process_new(pid, 0, PROCESS_READ_ALL, &process) < 0)
		return 0;
	process_stat_comm(pid, pid, comm, sizeof(comm));
	patient.process = process;
	name_patient(&patient, comm);
	is_jvm = patient.known || process_has_libjvm(process);
	if (is_jvm)
		check_jvm(doctor, &patient);
	else if (process->space.count == 0 && strcmp(comm, "java") == 0)
		is_jvm = -EACCES;
	process_free(process);
	return is_jvm;
}

void doctor_check_jvms(struct doctor *doctor, const json_t *list)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	struct finding finding = {.check = "jvm", .state = FINDING_NOTE};
	const struct dirent *entry;
	size_t jvms = 0, unseen = 0;

	while (dir && (entry = readdir(dir))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		const int is_jvm = pid > 0 ? check_process(doctor, list, pid) : 0;

		jvms += is_jvm > 0;
		unseen += is_jvm < 0;
	}
	if (unseen > 0) {
		finding.state = FINDING_PROBLEM;
		doctor_say(doctor, &finding, "run as root, or grant CAP_SYS_PTRACE",
			   "%zu processes are called java, and this user may not look into them",
			   unseen);
	} else if (jvms == 0) {
		doctor_say(doctor, &finding, "start one with " AGENT_LINE, "none is running");
	}
}
