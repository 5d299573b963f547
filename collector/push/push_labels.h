// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a graph of a period -> the labels of its series, by their names in Prometheus
 * units:   bytes
 * threads: one at a time
 * errors:  kept in failed: no memory. Labels without room are left out and counted
 * source:  labels of Grafana's collectors; Pyroscope's limits of labels; Prometheus: data model
 *
 * service_name  OTEL_SERVICE_NAME or service.name of the agent, else the annotation
 *               profiles.grafana.com/service_name or resource.opentelemetry.io/service.name, else
 *               the main class or jar, else the name of the program; never missing
 * namespace, pod, container, node, image, version  as far as they are known
 * thread        the pool of threads, where each has a series
 *
 * Labels that begin with "__meta_fgcollect_" are for relabelling alone: pid, comm, title,
 * container_id, pod_uid, runtime, and label_<name> for each label of the container or the agent.
 * Names and values come from containers: they are labels and identify nothing.
 *
 * A zero-filled struct push_labels is valid and empty.
 */
#ifndef FG_PUSH_PUSH_LABELS_H
#define FG_PUSH_PUSH_LABELS_H

#include "base/arena.h"
#include "sinks/period.h"

#include <stdbool.h>

#define PUSH_LABELS_MAX	  128u /* while they are made */
#define PUSH_LABELS_SENT  28u  /* beside __name__ and __delta__: Pyroscope takes 30 */
#define PUSH_NAME_BYTES	  1024u
#define PUSH_VALUE_BYTES  2048u
#define PUSH_META	  "__meta_fgcollect_"
#define PUSH_SERVICE_NAME "service_name"
#define PUSH_THREAD	  "thread"

struct push_label {
	const char *name, *value; /* owned by the labels */
};

struct push_labels {
	struct arena texts;
	struct push_label items[PUSH_LABELS_MAX];
	size_t count;
	uint64_t left_out;
	bool failed;
};

/* Whether Prometheus takes the text as a name of a label. */
bool push_label_is_name(const char *text);

/* Sets a label, or removes it if value is "". Characters that no name has become "_". */
void push_labels_set(struct push_labels *labels, const char *name, const char *value);
const char *push_labels_find(const struct push_labels *labels, const char *name); /* or NULL */
void push_labels_remove(struct push_labels *labels, size_t at);
void push_labels_fini(struct push_labels *labels);

/* Adds what is known of the graph's process. host: the host's name. */
void push_labels_add_graph(struct push_labels *labels, const struct period_graph *graph,
			   const char *host);
/*
 * Makes of them what is sent: without names that begin with "__", sorted, no more than
 * PUSH_LABELS_SENT, of which service_name and thread are not left out. service_name is there
 * whatever became of it: fallback is its value then.
 */
void push_labels_finish(struct push_labels *labels, const char *fallback);

#endif
