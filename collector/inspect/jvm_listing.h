// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the known JVMs -> the list of jvm_list.h, made in steps
 * units:   JVMs
 * threads: the model's
 * errors:  NULL and -ENOMEM when memory is out
 * source:  none
 *
 * Thousands of JVMs take more time than a turn has. Each step adds some rows. Each row is whole. A
 * JVM that is forgotten between two steps is left out, and one that comes is not added.
 */
#ifndef FG_INSPECT_JVM_LISTING_H
#define FG_INSPECT_JVM_LISTING_H

#include "inspect/jvm_list.h"

#define JVM_LISTING_ROWS 128 /* of a step: some 4 ms */

struct jvm_listing; /* opaque */

/* options: which JVMs are meant, as jvm_list_select has it; borrowed. */
int jvm_listing_new(const struct recording_options *options, const struct targets *targets,
		    struct jvm_listing **ret);
/*
 * A list of at most so many JVMs. Containers, and users of the host, share the places
 * (guard/fair.h). The list's "jvms_left_out" is the number of the other JVMs.
 */
int jvm_listing_new_of_most(size_t most, const struct targets *targets, struct jvm_listing **ret);
void jvm_listing_free(struct jvm_listing *listing); /* NULL is legal */

/* Adds at most JVM_LISTING_ROWS rows. False: all have been added. */
bool jvm_listing_step(struct jvm_listing *listing, const struct targets *targets);
/* The list, whose rows are taken from listing. Takes collector over, as jvm_list_with does. */
json_t *jvm_listing_take(struct jvm_listing *listing, json_t *collector);

#endif
