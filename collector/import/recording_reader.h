// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a recording of our own -> a profile and, if wanted, its timeline and facts
 * units:   those of profile/recording_format.h
 * threads: one at a time
 * errors:  -EINVAL damaged, cut short or of another version; -EFBIG past a limit; -EOVERFLOW;
 *          -ENOMEM; the report's first_reason explains
 * source:  profile/recording_format.h
 */
#ifndef FG_IMPORT_RECORDING_READER_H
#define FG_IMPORT_RECORDING_READER_H

#include "import/import_target.h"
#include "import/lines.h"

#define RECORDING_MAX_BYTES ((uint64_t)2 << 30) /* unzipped */
#define RECORDING_MAX_DEPTH 131072u
/* frames of all stacks, as text formats would write them */
#define RECORDING_MAX_WORK ((uint64_t)1 << 32)

int recording_file_read(struct lines *lines, struct import_target *target);

#endif
