// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   blobs that have come or gone -> records of the wire
 * units:   CLOCK_MONOTONIC nanoseconds of the JVM's clock
 * threads: any, a value
 * errors:  false: there was no room, and nothing was written
 * source:  shared/README.md
 */
#ifndef FG_OUTSIDE_CODE_RECORDS_H
#define FG_OUTSIDE_CODE_RECORDS_H

#include "outside/code_blob.h"
#include "outside/method_batch.h"
#include "shared/wire.h"

struct code_records {
	struct wire_buf buf;
	uint64_t time_ns; /* when what is told of has come or gone */
	bool is_resync;	  /* it may have come long ago */
};

void code_records_init(struct code_records *records, uint8_t *data, size_t size);

bool code_records_begin(struct code_records *records, uint64_t now_ns);
bool code_records_end(struct code_records *records, uint64_t now_ns);
/* An nmethod; method NULL: it could not be named. guest: as of guest_names.h, or "". */
bool code_records_method(struct code_records *records, const struct code_blob *blob,
			 const struct method_batch_entry *method, const char *guest);
bool code_records_stub(struct code_records *records, const struct code_blob *blob,
		       const char *name);
bool code_records_gone(struct code_records *records, const struct code_blob *blob);

#endif
