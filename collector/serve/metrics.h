// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what list --json says -> the text that Prometheus reads
 * units:   Prometheus's: seconds, bytes
 * threads: any
 * errors:  NULL when memory is out
 * source:  Prometheus: exposition formats, metric and label naming
 *
 * Every number of the list is there: those that metrics_table.h describes by that name and help,
 * any other by its path, as a gauge. JVMs have the labels pid and container; past
 * METRICS_MAX_JVMS the rest is left out, and counted, because every label is a series that a
 * server keeps. What else a JVM is called, its container's name and its pod among that, are labels
 * of fgcollect_jvm_info alone.
 */
#ifndef FG_SERVE_METRICS_H
#define FG_SERVE_METRICS_H

#include <jansson.h>
#include <stddef.h>

#define METRICS_MAX_JVMS 256

/* Terminated; the caller frees it. */
char *metrics_text(const json_t *list, size_t *ret_len);

#endif
