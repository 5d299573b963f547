// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a pprof profile, gzipped or plain -> a profile
 * units:   samples where the file counts them, else those of its default type (see below)
 * threads: any
 * errors:  -EINVAL no profile, or a damaged one; -EFBIG larger than a limit; -EOVERFLOW; -ENOMEM;
 *          the report's first_reason says which. Samples of negative value, where there is no
 *          before, and those of stacks that are too deep are counted as ignored
 * source:  github.com/google/pprof, proto/profile.proto and proto/README.md
 *
 * A file may hold several values a sample. Taken is its default type, which is the last one if it
 * does not say; where that is a time and the file counts samples/count too, the count is taken, so
 * that samples stay samples.
 */
#ifndef FG_IMPORT_PPROF_H
#define FG_IMPORT_PPROF_H

#include "import/import_target.h"

#define IMPORT_PPROF_MAX_BYTES ((size_t)512 << 20) /* when unzipped */
#define IMPORT_PPROF_MAX_DEPTH ((size_t)128 << 10)
#define IMPORT_PPROF_MAX_WORK  ((uint64_t)16 << 30) /* bytes of names, each as often as it stands */

/*
 * Adds the file's stacks to target: those of negative values, which a difference of two profiles
 * has, to what is before, if that is wanted. On an error some may have been added.
 */
int import_pprof(const void *data, size_t len, struct import_target *target);

#endif
