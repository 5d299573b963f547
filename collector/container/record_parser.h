// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the text of a record -> a parser (confine/zygote.h) that reads it -> members of a
 *          container
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time, which waits: that of names_reader.h
 * errors:  those of container_records.h; -EAGAIN: no parser can be started now, or there were too
 *          many waits; -EPROTO: the parser has died or lied, or was killed because it was late
 * source:  record_answer.h
 *
 * A record may have secrets of its container. So each record has a parser of its own, which ends
 * with it. In a program without a zygote records are parsed by the caller.
 *
 * A wait ends after RECORD_PARSER_NS, and RECORD_PARSER_BYTE_NS more for each byte. A parser that
 * waits ready has answered for a small record after less than a millisecond; on a busy host it has
 * to wait for its turn, some tens of milliseconds. Samples are held for 250 ms, so that the names
 * of samples are not late by one wait. Waits that are counted together end after half of the time.
 */
#ifndef FG_CONTAINER_RECORD_PARSER_H
#define FG_CONTAINER_RECORD_PARSER_H

#include "container/container.h"

#define RECORD_PARSER_NS	UINT64_C(200000000)
#define RECORD_PARSER_BYTE_NS	40
#define RECORD_PARSER_PERIOD_NS UINT64_C(2000000000)
#define RECORD_PARSER_WAITS_NS	UINT64_C(1000000000) /* of all waits in a period */

enum container_record_kind {
	RECORD_DOCKER,	/* container_records_docker */
	RECORD_STORAGE, /* container_records_storage */
	RECORD_OCI,	/* container_records_oci */
	RECORD_KINDS,
};

/*
 * Waits in the current period, which the caller counts together. A zero-filled struct is a valid
 * start.
 */
struct record_waits {
	uint64_t began_ns, waited_ns;
	uint64_t patience_ns; /* of each wait whatever there was before; 0: as is said above */
};

/*
 * As the function of that kind. ret_runs: NULL, or receives what container_records_docker_runs
 * says.
 */
int record_parser_read(struct record_waits *waits, enum container_record_kind kind,
		       const char *text, size_t len, struct container *container, bool *ret_runs);

/* The parser's side, a parser_fn. */
void record_parser_serve(int sock);

#endif
