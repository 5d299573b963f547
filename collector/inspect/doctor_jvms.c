// SPDX-License-Identifier: Apache-2.0
/*
 * Each process that maps libjvm: whether it has the agent, and whether the agent has connected. Why
 * an agent has not, doctor_unconnected.c says. Texts of processes are hostile; they are only
 * compared and shown.
 */
#include "inspect/doctor_patient.h"
#include "inspect/agent_words.h"
#include "inspect/diagnose_process.h"
#include "inspect/jvm_names.h"
#include "inspect/jvm_release.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json_value.h"
#include "base/process_stat.h"
#include "container/place_name.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGENT_LINE     "-agentpath:/opt/fgcollect/libfgagent.so"
#define TEXT_MAX_BYTES (1u << 20) /* limit of a command line or an environment */
#define JDK8_SAFE      382
#define BEHIND_OPTION  " \t\n\"'"

void patient_say(struct doctor *doctor, const struct patient *patient, enum finding_state state,
		 const char *fix, const char *what)
{
	const struct finding finding = {.check = "jvm", .state = state, .object = patient->object};

	doctor_say(doctor, &finding, fix, "%s", what);
}

ssize_t patient_read(const struct patient *patient, enum patient_text text, char **ret)
{
	static const char *const files[PATIENT_TEXTS] = {"cmdline", "environ"};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)patient->pid, files[text]);
	return file_read_whole(path, TEXT_MAX_BYTES, ret);
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
		patient_say(doctor, patient, FINDING_PROBLEM, "update it to 8u382 or later", what);
		return true;
	}
	minor = 0;
	if (sscanf(version, "%d.%d.%d", &major, &minor, &patch) < 1)
		return false;
	if (major >= 11 && major < 17)
		patient_say(doctor, patient, FINDING_NOTE, "prefer JDK 17 or later, if you can",
			    "is of a line (11 to 16) where a method's event can race with its end "
			    "(JDK-8245877, JDK-8268524), which was seen in other tools");
	if (major == 21 || major == 22)
		patient_say(
			doctor, patient, FINDING_NOTE,
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
		patient_say(doctor, patient, FINDING_NOTE,
			    "buffer=1m in the agent's options, if it grows", what);
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
		snprintf(fix, sizeof(fix),
			 "for perf --jitdump, if a second code generator of the "
			 "process writes the file; else remove it");
	else
		snprintf(fix, sizeof(fix), "rm /proc/%d/root%.200s", (int)patient->pid, shadow);
	patient_say(doctor, patient, is_used ? FINDING_NOTE : FINDING_PROBLEM, fix, what);
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
		patient_say(doctor, patient, FINDING_NOTE, "use the same version in the image",
			    what);
	}
	check_losses(doctor, patient);
	if (patient_has_lone_socket(patient))
		patient_say(doctor, patient, FINDING_NOTE,
			    "mount the directory: -v /run/fgcollect:/run/fgcollect:ro",
			    "its container has the socket mounted by itself: a collector that is "
			    "started anew makes another socket, which the agent never sees");
	if (strstr(json_value_text(patient->known, "jvm"), " Zero VM"))
		patient_say(
			doctor, patient, FINDING_PROBLEM, "start the program with -server",
			"is a Zero VM, whose interpreter is C++ and has no frames of Java: no Java "
			"method has a name");
	if (strcmp(json_value_text(patient->known, "state"), "current") == 0)
		patient_say(doctor, patient, FINDING_OK, NULL,
			    "its agent is connected, all code is known");
	else
		patient_say(doctor, patient, FINDING_NOTE, "wait a moment",
			    "its agent is still telling");
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

	for (enum patient_text i = 0; i < PATIENT_TEXTS && !option; i++) {
		_cleanup_free_ char *text = NULL;
		const ssize_t n = patient_read(patient, i, &text);

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
	patient_say(doctor, patient, FINDING_NOTE,
		    "write the archive without the agent (env -u JAVA_TOOL_OPTIONS java ...), and "
		    "start "
		    "with -XX:SharedArchiveFile= alone; JDK 25's -XX:AOTCache takes agents",
		    what);
}

/* Says that a variable was replaced, if one was. */
static bool say_replaced(struct doctor *doctor, const struct patient *patient)
{
	_cleanup_free_ char *text = NULL;
	const ssize_t n = patient_read(patient, PATIENT_ENVIRON, &text);
	const char *const name = n > 0 ? agent_words_replaced(text, (size_t)n) : NULL;
	char what[256], fix[256];

	if (!name)
		return false;
	snprintf(what, sizeof(what),
		 "is a JVM without the agent: its variable %s has other options; what a container "
		 "is given (-e, env:) replaces the image's variable, and is not added to it",
		 name);
	snprintf(fix, sizeof(fix), "add " AGENT_LINE " to that %s, and start it again", name);
	patient_say(doctor, patient, FINDING_PROBLEM, fix, what);
	return true;
}

static void say_no_agent(struct doctor *doctor, const struct patient *patient)
{
	const char *const option = dumping_option(patient);
	char what[256];

	if (!option && say_replaced(doctor, patient))
		return;
	if (!option) {
		patient_say(
			doctor, patient, FINDING_PROBLEM,
			"add " AGENT_LINE
			" to its options (JAVA_TOOL_OPTIONS in an image) and start it "
			"again",
			"is a JVM without the agent: names of its methods are read from outside, "
			"by record -p PID and record -a; with the agent they are exact while "
			"code comes and goes, and there are allocations, locks and exceptions");
		return;
	}
	snprintf(what, sizeof(what),
		 "is a JVM without the agent, and has %s, with which HotSpot refuses any native "
		 "agent: names of its methods can only be read from outside",
		 option);
	patient_say(
		doctor, patient, FINDING_PROBLEM,
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
		patient_check_unconnected(doctor, patient);
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

void doctor_say_counts(struct doctor *doctor, size_t jvms, size_t unseen)
{
	struct finding finding = {.check = "jvm", .state = FINDING_NOTE};

	if (unseen > 0) {
		finding.state = FINDING_PROBLEM;
		doctor_say(doctor, &finding, "run as root, or grant CAP_SYS_PTRACE",
			   "%zu processes are called java, and this user may not look into them",
			   unseen);
	} else if (jvms == 0) {
		doctor_say(doctor, &finding, "start one with " AGENT_LINE, "none is running");
	}
}

void doctor_check_jvms(struct doctor *doctor, const json_t *list)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	const struct dirent *entry;
	size_t jvms = 0, unseen = 0;

	while (dir && (entry = readdir(dir))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		const int is_jvm = pid > 0 ? check_process(doctor, list, pid) : 0;

		jvms += is_jvm > 0;
		unseen += is_jvm < 0;
	}
	doctor_say_counts(doctor, jvms, unseen);
}
