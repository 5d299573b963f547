// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the kinds of samples that are wanted, and all other options -> whether these go together
 * units:   none
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_CLI_KIND_OPTIONS_H
#define FG_CLI_KIND_OPTIONS_H

#include "cli/options.h"

/* Whether the options of sampling go with the kinds, and one with another. */
int kind_options_check(const struct options *options);
/* Whether each output has room for all kinds. To be called once the forms of outputs are known. */
int kind_options_check_outputs(const struct options *options);

#endif
