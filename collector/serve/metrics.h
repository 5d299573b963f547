// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the content of list --json -> text for Prometheus
 * units:   Prometheus's units: seconds, bytes
 * threads: any
 * errors:  NULL when memory is out
 * source:  Prometheus: exposition formats, metric and label naming
 *
 * Every number of the list is a metric, with the name and the help text of its declaration
 * (base/counters.h). The metrics of a JVM have the labels pid and
 * container. Other names of a JVM, such as its container's name and its pod, are labels of
 * fgcollect_jvm_info alone. JVMs beyond METRICS_MAX_JVMS are left out and counted, because a
 * Prometheus server keeps a series for each label.
 */
#ifndef FG_SERVE_METRICS_H
#define FG_SERVE_METRICS_H

#include <jansson.h>
#include <stddef.h>

#define METRICS_MAX_JVMS 256

/* The text, terminated; the caller frees it. */
char *metrics_text(const json_t *list, size_t *ret_len);

#endif
