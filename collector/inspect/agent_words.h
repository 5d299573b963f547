// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a JVM's command line, environment or mounts -> what they say of its agent
 * units:   bytes
 * threads: any
 * errors:  none
 * source:  proc(5), proc_pid_mountinfo(5), the java launcher's variables
 *
 * A command line or an environment is words that end with NUL, the last one too.
 */
#ifndef FG_INSPECT_AGENT_WORDS_H
#define FG_INSPECT_AGENT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The variable of a JVM without the agent that has options for java, and no agent among them; a
 * static text. NULL: there is none. An image's variable is replaced by one that its container is
 * given, and not added to.
 */
const char *agent_words_replaced(const char *text, size_t len);

/* Whether the environment says FGAGENT_OPTS=off. */
bool agent_words_are_off(const char *text, size_t len);

/*
 * Whether something is mounted at that very path, such as a socket by itself. The text is that of
 * mountinfo, and is changed.
 */
bool agent_words_have_mount(char *text, const char *path);

#endif
