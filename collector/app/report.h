// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a recording's figures -> the lines that people and graphs show
 * units:   samples, per cent
 * threads: any
 * errors:  none
 * source:  none
 */
#ifndef FG_APP_REPORT_H
#define FG_APP_REPORT_H

#include "app/recording.h"

#include <stddef.h>

#define REPORT_BYTES 512

/* "quality: 1,980 samples, 99.9 % named, 100.0 % of Java named, 71.2 % rooted, 0 lost" */
void report_quality(const struct profile_quality *quality, char ret[REPORT_BYTES]);

/* "1,980 samples of cpu-clock at 99 Hz in 10.0 s, 2 JVMs" */
void report_subtitle(const struct recording_status *status, unsigned hz, char ret[REPORT_BYTES]);

/* A share in per cent; 100.0 only if nothing is missing, and 0.0 only if nothing is there. */
double report_percent(uint64_t part, uint64_t whole);

/* 1234567 -> "1,234,567" */
const char *report_count(uint64_t count, char ret[32]);

#endif
