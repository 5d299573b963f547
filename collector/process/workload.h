// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's container and its agent's hello -> the names and labels that operators know
 *          the process by: container, pod, namespace, image
 * units:   none
 * threads: one, the model's
 * errors:  labels without room are left out and counted in labels.left_out
 * source:  container.h; the agent's attributes, see jvmti-agent/README.md; OpenTelemetry's names of
 *          resource attributes
 *
 * Names and labels identify nothing: a process is identified by its PID and its start time. What
 * the host's files say goes before what the agent says. The image is the label WORKLOAD_IMAGE: what
 * the container's or the agent's labels say of it by that name or as container.image.name, else
 * what the container's engine says. The service is the label WORKLOAD_SERVICE: what
 * OTEL_SERVICE_NAME or another label by that name says, else what the JVM's command line sets as
 * the name of its application for OpenTelemetry, Spring or Datadog. A workload is made when the
 * container or the hello changes, so that a sample costs nothing. Texts are safe to be shown, ""
 * where nothing is known, and live until the workload is made anew. A zero-filled struct workload
 * is valid and empty.
 */
#ifndef FG_PROCESS_WORKLOAD_H
#define FG_PROCESS_WORKLOAD_H

#include "code/jvm_hello.h"
#include "container/container.h"

#include <stdint.h>

#define WORKLOAD_IMAGE	 "image"
#define WORKLOAD_SERVICE "service.name"
#define WORKLOAD_CLASS	 "main.class" /* what a jar starts, see start_class.h */

struct workload {
	uint64_t version;		      /* no two workloads ever have the same version */
	char container[CONTAINER_NAME_BYTES]; /* the container's name */
	char pod[CONTAINER_NAME_BYTES];
	char name_space[CONTAINER_NAME_BYTES];
	struct label_set labels;
};

/* Makes the workload anew of the agent's hello and of the container; either may be NULL. */
void workload_make(struct workload *workload, const struct jvm_hello *hello,
		   const struct container *container);
void workload_fini(struct workload *workload);

/* The reference of the container's image; "" where it is not known. */
const char *workload_image(const struct workload *workload);

/* Gives the workload a new version, because something else that selectors ask for has changed. */
void workload_touch(struct workload *workload);

#endif
