// SPDX-License-Identifier: Apache-2.0
/* Judges what is seen of an agent that has not connected, see agent_fault.h. */
#include "inspect/agent_fault.h"

#include <errno.h>

#define START_AGAIN                                                                                \
	"start the container again; the directory must not be removed while containers have it "   \
	"mounted; or mount the collector's, if it is another"

static const struct agent_fault_text texts[AGENT_FAULTS] = {
	[AGENT_HELD] = {FINDING_PROBLEM, NULL,
			"end that one; or let it be a daemon (fgcollect --watch), which serves "
			"record, top and list"},
	[AGENT_UNCALLED] = {FINDING_NOTE,
			    "has an agent that listens, to which no collector has connected",
			    "start 'fgcollect --watch', and ask again"},
	[AGENT_UNREACHED] = {FINDING_PROBLEM, NULL, NULL},
	[AGENT_OFF] =
		{FINDING_PROBLEM,
		 "has the agent, which its variable FGAGENT_OPTS=off has switched off",
		 "start it again without that variable, or with FGAGENT_OPTS= and its options"},
	[AGENT_NO_PLACE] =
		{FINDING_PROBLEM, NULL,
		 "make the directory in the image, or choose one that is there and that "
		 "the program may write to, such as socket=listen:/tmp/.fgagent-%p.sock"},
	[AGENT_DEAF] = {FINDING_PROBLEM, "has an agent that is to listen, and does not",
			"look at its stderr for a line of fgagent, which says why"},
	[AGENT_HIDDEN] = {FINDING_NOTE,
			  "has the agent, which has not connected; this user may not look why",
			  "run as root, or grant CAP_SYS_PTRACE"},
	[AGENT_LATE] =
		{FINDING_NOTE,
		 "has the agent and sees the socket's directory, but has not connected while "
		 "this was asked",
		 "start 'fgcollect --watch', and ask again"},
	[AGENT_OLD_DIRECTORY] = {FINDING_PROBLEM, NULL, NULL},
	[AGENT_NO_DIRECTORY] = {FINDING_PROBLEM, NULL, NULL},
	[AGENT_NO_SOCKET] =
		{FINDING_PROBLEM,
		 "has the agent, and where it looks for the socket there is another file",
		 "remove that file from the image"},
	[AGENT_LONE_SOCKET] =
		{FINDING_PROBLEM,
		 "has the agent, and its container has the socket mounted by itself: a "
		 "collector that is started anew makes another socket, which the agent "
		 "never sees",
		 "mount the directory of the socket, and start the container again: -v "
		 "/run/fgcollect:/run/fgcollect:ro"},
	[AGENT_NO_COLLECTOR] = {FINDING_NOTE, "has the agent, and no collector is running here",
				"start 'fgcollect --watch', and ask again"},
	[AGENT_FOREIGN_SOCKET] =
		{FINDING_PROBLEM,
		 "has the agent, which sees a socket that is not the collector's: "
		 "the directory was made anew after the container began, or another "
		 "collector's is mounted",
		 START_AGAIN},
	[AGENT_SILENT] =
		{FINDING_PROBLEM,
		 "has the agent and sees the collector's socket, but has not connected",
		 "look at its stderr for a line of fgagent; use agent and collector of one "
		 "version; see whether a security module forbids to connect"},
};

const struct agent_fault_text *agent_fault_text(enum agent_fault fault)
{
	return &texts[fault];
}

/* The agent listens, and its socket was dialled. */
static enum agent_fault fault_of_listening(const struct agent_sight *sight)
{
	if (sight->holder > 0 || sight->dial_error == -EAGAIN)
		return AGENT_HELD;
	return sight->dial_error ? AGENT_UNREACHED : AGENT_UNCALLED;
}

/* The agent looks for a socket, and nothing is at its path. */
static enum agent_fault fault_of_nothing(const struct agent_sight *sight)
{
	if (sight->open_error == -EACCES || sight->open_error == -EPERM)
		return AGENT_HIDDEN;
	if (sight->is_our_directory)
		return AGENT_LATE;
	return sight->has_directory ? AGENT_OLD_DIRECTORY : AGENT_NO_DIRECTORY;
}

enum agent_fault agent_fault_of(const struct agent_sight *sight)
{
	if (sight->dial_error != -ENODATA)
		return fault_of_listening(sight);
	if (sight->is_off)
		return AGENT_OFF;
	if (sight->is_to_listen)
		return sight->has_directory ? AGENT_DEAF : AGENT_NO_PLACE;
	if (sight->open_error)
		return fault_of_nothing(sight);
	if (!sight->is_socket)
		return AGENT_NO_SOCKET;
	if (sight->is_mounted_alone)
		return AGENT_LONE_SOCKET;
	if (!sight->has_our_socket)
		return AGENT_NO_COLLECTOR;
	return sight->is_our_socket ? AGENT_SILENT : AGENT_FOREIGN_SOCKET;
}
