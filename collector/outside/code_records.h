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

#include "code/vm_layout.h"
#include "outside/code_blob.h"
#include "vm/program_texts.h"
#include "shared/wire.h"

struct code_records {
	struct wire_buf buf;
	uint64_t time_ns; /* when what is told of has come or gone */
	bool is_resync;	  /* it may have come long ago */
};

void code_records_init(struct code_records *records, uint8_t *data, size_t size);

/* Who says hello. */
struct code_records_who {
	uint32_t inner_pid;
	const struct program_texts *texts; /* NULL: they are not known */
};

/*
 * The hello that an agent would have sent, and the layout that whoever takes the hello makes of it.
 * Negative errno; a text that cannot be read is left out.
 */
int code_records_hello(struct code_records *records, struct vm_memory *memory,
		       const struct vm_tables *tables, const struct code_records_who *who,
		       struct vm_layout *ret_layout);
bool code_records_begin(struct code_records *records, uint64_t now_ns);
bool code_records_end(struct code_records *records, uint64_t now_ns);
/*
 * An nmethod. The section of the record names its method; len 0: it could not be named. guest: as
 * of guest_names.h, or "".
 */
bool code_records_method(struct code_records *records, const struct code_blob *blob,
			 const uint8_t *section, size_t len, const char *guest);
/* A blob that is no nmethod, or a part of it, which has no frame of its own. */
bool code_records_stub(struct code_records *records, const struct code_blob *blob,
		       const char *name);
bool code_records_part(struct code_records *records, uint64_t addr, uint32_t size,
		       const char *name);
/* A thread by its inner ID; name in modified UTF-8. */
bool code_records_thread(struct code_records *records, uint32_t tid, const char *name, size_t len);
bool code_records_gone(struct code_records *records, const struct code_blob *blob);

#endif
