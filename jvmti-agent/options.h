// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   "key=value,key=value" -> struct options
 * units:   buffer_bytes in bytes, delay_s in seconds
 * threads: none; read in Agent_OnLoad, constant afterwards
 * errors:  an unknown key or a bad value causes one call of warn and is otherwise ignored
 * source:  jvmti-agent/README.md, "Options"
 *
 * All texts are copied into struct options: neither the JVM's option string nor the environment is
 * referred to later.
 */
#ifndef FGAGENT_OPTIONS_H
#define FGAGENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_SOCKET_DEFAULT	     "/run/fgcollect/agent.sock"
#define OPTIONS_SOCKET_MAX_BYTES     108 /* size of sun_path with the terminator, unix(7) */
#define OPTIONS_BUFFER_DEFAULT_BYTES (256u << 10)
#define OPTIONS_BUFFER_MIN_BYTES     (16u << 10)
#define OPTIONS_BUFFER_MAX_BYTES     (16u << 20)
#define OPTIONS_LABELS_MAX	     8
#define OPTIONS_DELAY_MAX_S	     3600

enum options_framepointer {
	OPTIONS_FP_AUTO, /* switch it on unless the user has set the flag */
	OPTIONS_FP_ON,	 /* switch it on in any case */
	OPTIONS_FP_OFF,	 /* never change it; the default */
};

struct options_label {
	char key[64];
	char value[192];
};

struct options {
	bool idle; /* "off", or a path that cannot be dialled: the agent does nothing at all */
	/* the agent listens at socket and the collector dials; else the agent dials */
	bool listens;
	bool threads;
	bool lines;
	enum options_framepointer framepointer;
	uint32_t buffer_bytes;
	uint32_t delay_s; /* from the JVM's start until code events are enabled */
	char socket[OPTIONS_SOCKET_MAX_BYTES];
	size_t n_labels;
	struct options_label labels[OPTIONS_LABELS_MAX];
};

typedef void options_warn(const char *format, ...);

/* Sets the defaults. */
void options_init(struct options *options);

/*
 * Applies text to options; NULL and "" change nothing. Called for the options of -agentpath, then
 * for FGAGENT_OPTS, so that the environment wins. source names the text in warnings.
 */
void options_read(struct options *options, const char *text, const char *source,
		  options_warn *warn);

#endif
