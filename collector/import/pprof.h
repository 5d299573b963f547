// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a profile of pprof, gzipped or plain -> a profile
 * units:   those of the file's kinds of samples, see pprof_kinds.h
 * threads: any
 * errors:  -EINVAL no profile, or a damaged one; -EFBIG past a limit; -EOVERFLOW; -ENOMEM; the
 *          report's first_reason explains. Samples of negative value that have no place, and
 *          samples whose stack is too deep, are counted as ignored
 * source:  github.com/google/pprof, proto/profile.proto and proto/README.md
 *
 * A file may hold several values for each sample. Each type of values is a kind of samples, see
 * pprof_kinds.h; without the target's open, the first kind alone is read.
 */
#ifndef FG_IMPORT_PPROF_H
#define FG_IMPORT_PPROF_H

#include "import/import_target.h"

#define IMPORT_PPROF_MAX_BYTES ((size_t)512 << 20) /* unzipped */
#define IMPORT_PPROF_MAX_DEPTH ((size_t)128 << 10)
/* bytes of names, each as often as it occurs in a stack */
#define IMPORT_PPROF_MAX_WORK ((uint64_t)16 << 30)

/*
 * Adds the file's stacks to target. Samples of negative value, which a difference of two profiles
 * has, are added to target's before, if there is one. On an error some stacks may have been added.
 */
int import_pprof(const void *data, size_t len, struct import_target *target);

#endif
