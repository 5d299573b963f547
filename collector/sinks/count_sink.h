// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   samples of processor time -> how many each process has had, and how whole they are
 * units:   samples
 * threads: the model's
 * errors:  -ENOMEM
 * source:  none
 *
 * The counts are in struct process, and go with it. They are of the processes that are known: a
 * sample of a process that is gone counts nowhere here.
 */
#ifndef FG_SINKS_COUNT_SINK_H
#define FG_SINKS_COUNT_SINK_H

#include "sinks/sink.h"

int count_sink_new(struct sink **ret);

#endif
