// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the bytes of one record of a perf ring buffer -> the record, decoded
 * units:   bytes
 * threads: any
 * errors:  a record that is shorter than its type needs is -EBADMSG and counted by the caller
 * source:  perf_event_open(2), include/uapi/linux/perf_event.h
 */
#ifndef FG_SAMPLE_PERF_PARSE_H
#define FG_SAMPLE_PERF_PARSE_H

#include "sample/record.h"

#include <linux/perf_event.h>

/* The fields of a sample, as they are asked for. */
#define PARSED_TYPE                                                                                \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                   \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define PARSED_TYPE_STACK (PARSED_TYPE | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
/* The fields of a sample of the tracepoint of exec. */
#define PARSED_TYPE_EXEC (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/*
 * Decodes one record as the kernel writes it with sample_id_all and sample_type, which is
 * PARSED_TYPE, PARSED_TYPE_STACK or PARSED_TYPE_EXEC above; a sample of PARSED_TYPE_EXEC
 * is a RECORD_EXEC. Returns 1 and *ret, which borrows from data; 0 for a record that no stage
 * needs, a thread's new name for instance; or -EBADMSG. data is aligned to 8 bytes and len bytes
 * long, perf_event_header included.
 */
int perf_parse(const void *data, size_t len, uint64_t sample_type, struct record *ret);

/*
 * Finds the two parts of a call chain as perf has it: addresses, leaf first, behind marks that say
 * whose they are. Parts of hypervisors and guests are left out.
 */
void perf_split_chain(const uint64_t *chain, uint32_t len, struct sample *ret);

#endif
